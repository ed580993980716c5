//! A watchpoint: the cpu watches a variable, counts the writes, and samples the instruction of each write.
//!
//! `cargo run -p perf-open --example watchpoint`

use core::sync::atomic::{AtomicU64, Ordering};

use perf_open::abi::breakpoint::BreakpointType;
use perf_open::abi::sample_type::SampleType;
use perf_open::parse::Record;
use perf_open::{Builder, EventSpec, Ring, Target};

static WATCHED: AtomicU64 = AtomicU64::new(0);

fn main() -> Result<(), Box<dyn core::error::Error>> {
    let event = EventSpec::breakpoint(&raw const WATCHED as u64, 8, BreakpointType::W)?;
    let counter = Builder::new(event)
        .exclude_kernel(true)
        .sample_period(1)
        .sample_type(SampleType::IP | SampleType::ADDR)
        .open(&Target::this_thread())?;
    let mut ring = Ring::map(&counter, 1)?;

    WATCHED.store(1, Ordering::Relaxed);
    let before = WATCHED.load(Ordering::Relaxed);
    WATCHED.store(before + 1, Ordering::Relaxed);
    counter.disable()?;

    println!("{} writes to {:p}", counter.read()?.value, &WATCHED);
    let mut records = ring.read()?;
    while let Some(record) = records.next_with_event() {
        if let Record::Sample(sample) = record?.decode()? {
            let (ip, addr) = (sample.ip().unwrap_or_default(), sample.addr().unwrap_or_default());
            println!("written at {addr:#x}, before the instruction at {ip:#x}");
        }
    }
    Ok(())
}
