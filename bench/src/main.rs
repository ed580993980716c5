//! Races perf-parse, perf-open, perf-symbol and perfdata against handwritten loops and against their peers.
//!
//! All contestants of a race must find the same values; only that decides the exit status. The program prints
//! the times next to the goals.

mod allocations;
mod args;
mod capture;
mod count;
mod failure;
mod floor;
mod folder;
mod inputs;
mod ours;
mod peers;
mod perfdata;
mod processes;
mod race;
mod races;
mod random;
mod status;
mod sums;
mod symbolizers;
mod system;
mod table;

use std::process::ExitCode;

use args::Args;
use failure::Failure;
use inputs::Inputs;
use races::{Context, RACES};

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(("count", rest)) = arguments.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        return match count::main(rest) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    match args::parse(arguments.into_iter()) {
        Ok(Some(args)) => match run(args) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => {
                eprintln!("{failure}");
                ExitCode::FAILURE
            }
        },
        Ok(None) => {
            println!("{}", args::HELP);
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("{failure}\n\n{}", args::HELP);
            ExitCode::FAILURE
        }
    }
}

fn run(args: Args) -> Result<(), Failure> {
    let inputs = if args.quick { Inputs::small() } else { Inputs::of(args.inputs.as_deref())? };
    let rounds = if args.quick { 1 } else { args.rounds };
    let Args { size, binary, addresses, quick, .. } = args;
    let context = Context { inputs, rounds, size, binary, addresses, quick };
    let chosen = |name: &str| args.races.is_empty() || args.races.iter().any(|race| race == name);
    for (name, race) in RACES.into_iter().filter(|&(name, _)| chosen(name)) {
        println!("## {name}\n");
        for table in race(&context)? {
            if context.quick {
                println!("all agree: {}", table.title);
            } else {
                println!("{table}");
            }
        }
        println!();
    }
    Ok(())
}
