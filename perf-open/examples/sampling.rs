//! Samples a busy thread by the clock, with call chains, and prints the most frequent addresses.
//!
//! ```text
//! cargo run --release -p perf-open --example sampling
//! ```

extern crate alloc;

use alloc::collections::BTreeMap;
use core::error::Error;
use core::time::Duration;
use std::time::Instant;

use perf_open::abi::event::SwId;
use perf_open::abi::sample_type::SampleType;
use perf_open::parse::Record;
use perf_open::parse::sample::ChainFrame;
use perf_open::{Builder, EventSpec, Ring, Target};

fn main() -> Result<(), Box<dyn Error>> {
    let fields = SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::CALLCHAIN;
    let clock = Builder::new(EventSpec::software(SwId::CPU_CLOCK))
        .sample_freq(1000)
        .sample_type(fields)
        .exclude_kernel(true)
        .wakeup_events(50)
        .open(&Target::this_thread())?;
    let mut ring = Ring::map(&clock, 64)?;

    let mut leaves = BTreeMap::<u64, (u32, Vec<u64>)>::new();
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(1) {
        work();
        // A thread with nothing else to do would wait without a timeout.
        if !ring.wait(Some(Duration::ZERO))?.records {
            continue;
        }
        let mut drain = ring.read()?;
        while let Some(record) = drain.next_with_event() {
            let Record::Sample(sample) = record?.decode()? else { continue };
            let Some(chain) = sample.callchain()? else { continue };
            let (count, example) = leaves.entry(sample.ip().unwrap_or(0)).or_default();
            *count += 1;
            example.clear();
            example.extend(chain.frames().filter_map(|frame| match frame {
                ChainFrame::Ip { ip, .. } => Some(ip),
                _ => None,
            }));
        }
    }

    let mut busiest: Vec<_> = leaves.into_iter().collect();
    busiest.sort_by_key(|(_, (count, _))| core::cmp::Reverse(*count));
    for (ip, (count, chain)) in busiest.iter().take(5) {
        println!("{count:5} samples at {ip:#x}, called from {:x?}", chain.get(1..).unwrap_or_default());
    }
    println!("{:?}", ring.account());
    Ok(())
}

/// Works for about a millisecond.
fn work() {
    let sum: f64 = (0..100_000).map(f64::from).map(f64::sqrt).sum();
    core::hint::black_box(sum);
}
