//! Decodes one capture in one way. `count.sh` counts the instructions.

mod capture;
mod hand;
mod named;
mod parse;
mod ring;
mod sums;
mod way;
mod workloads;

use std::error::Error;
use std::hint::black_box;

use capture::Capture;
use way::{Outcome, Way};
use workloads::WORKLOADS;

const USAGE: &str = "\
usage: bench count INPUT WAY    decodes a capture in one way; prints the number of its records
       bench count --list       prints the inputs and ways, one pair per line
       bench count --agree      decodes all captures in all ways; all ways must find the same";

/// Runs the verb `count` with its arguments.
pub(crate) fn main(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--list"] => {
            list();
            Ok(())
        }
        ["--agree"] => WORKLOADS.iter().try_for_each(|it| it.agree(&(it.capture)())),
        [input, way] => run(input, way),
        _ => Err(USAGE.into()),
    }
}

fn list() {
    for input in WORKLOADS {
        input.ways().for_each(|way| println!("{} {}", input.name, way.name));
    }
}

/// Decodes `input` in all ways, which must agree, and then once more in the `way` to count. By that time the dynamic
/// linker has resolved all symbols.
fn run(input: &str, way: &str) -> Result<(), Box<dyn Error>> {
    let input = WORKLOADS.iter().find(|it| it.name == input).ok_or(USAGE)?;
    let way = input.ways().find(|it| it.name == way).ok_or(USAGE)?;
    let capture = (input.capture)();
    input.agree(&capture)?;
    counted(black_box(way), black_box(&capture))?;
    println!("{}", capture.records);
    Ok(())
}

/// The function that is counted: all instructions from its entry to its return.
#[inline(never)]
fn counted(way: &Way, capture: &Capture) -> Outcome {
    // Without `black_box`, the call would become a jump, and this function would return before the decoding begins.
    black_box((way.run)(capture))
}
