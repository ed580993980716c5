//! The example of the manual page: the number of instructions that one print takes. On a machine without a PMU that
//! counts instructions, it counts nanoseconds.
//!
//! `cargo run -p perf-open --example count`

use perf_open::abi::event::{HwId, SwId};
use perf_open::{Builder, Counter, Error, EventSpec, Target};

fn open(event: EventSpec) -> Result<Counter, Error> {
    Builder::new(event).disabled(true).exclude_kernel(true).exclude_hv(true).open(&Target::this_thread())
}

fn main() -> Result<(), Error> {
    let (counter, unit) = match open(EventSpec::hardware(HwId::INSTRUCTIONS)) {
        Ok(counter) => (counter, "instructions"),
        Err(error) => {
            eprintln!("{error}");
            (open(EventSpec::software(SwId::TASK_CLOCK))?, "nanoseconds")
        }
    };
    counter.reset()?;
    counter.enable()?;
    println!("Counting the {unit} of this line");
    counter.disable()?;
    println!("It took {} {unit}", counter.read()?.value);
    Ok(())
}
