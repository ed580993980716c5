//! Samples a command while it runs, and prints the files that its stacks are in: `live COMMAND [ARGUMENT...]`.
//!
//! ```text
//! cargo run --release -p perf-session --example live -- gzip -k big
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;

use perf_open::abi::event::SwId;
use perf_open::abi::sample_type::SampleType;
use perf_open::workload::Workload;
use perf_open::{Builder, EventSpec, Ring, Target};
use perf_parse::EventRecord;
use perf_parse::event::{Events, RecordPosition};
use perf_session::Session;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let Some(program) = arguments.next() else { return Err("live COMMAND [ARGUMENT...]".into()) };
    let mut workload = Workload::prepare(&program, arguments)?;

    let clock = Builder::new(EventSpec::software(SwId::CPU_CLOCK))
        .sample_freq(1000)
        .sample_type(SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::CALLCHAIN)
        .exclude_kernel(true)
        .mmap(true)
        .mmap2(true)
        .comm(true)
        .comm_exec(true)
        .enable_on_exec(true)
        .disabled(true)
        .open(&Target::pid(workload.pid()))?;
    let mut ring = Ring::map(&clock, 64)?;
    let events: Events = [(*clock.attr(), vec![])].into_iter().collect();

    let mut session = Session::new();
    let mut files = BTreeMap::<String, u64>::new();
    workload.start()?;
    loop {
        let has_ended = workload.try_wait()?.is_some();
        ring.wait(Some(Duration::from_millis(100)))?;
        let mut drain = ring.read()?;
        while let Some(record) = drain.next_with_event() {
            let record =
                EventRecord::with_event(record?.raw.untyped(), &events[0], RecordPosition::default());
            let Some(at) = session.update_at(&record)? else { continue };
            for frame in at.stack(None)? {
                let name = frame.mapping.map_or(&b"[unknown]"[..], |mapping| mapping.dso().name());
                *files.entry(String::from_utf8_lossy(name).into_owned()).or_default() += 1;
            }
        }
        if has_ended {
            break;
        }
    }
    for (file, frames) in files {
        println!("{frames:8} frames in {file}");
    }
    Ok(())
}
