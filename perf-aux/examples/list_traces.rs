//! Lists the AUX traces of a capture: `list_traces perf.data`.

use perf_aux::trace::AuxTrace;
use perf_parse::Reader;

fn main() -> Result<(), Box<dyn core::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: list_traces FILE")?;
    let bytes = std::fs::read(path)?;
    let reader = Reader::new(&bytes)?;
    let trace = AuxTrace::of(&reader);
    if let Some(info) = trace.info() {
        println!("{} of PMU {:?}", info.kind, info.pmu_type());
    }
    for queue in trace.queues() {
        println!("queue {}, CPU {:?}, thread {:?} of {:?}", queue.idx, queue.cpu, queue.tid, queue.pid);
        for slice in trace.slices(&reader, queue) {
            let slice = slice?;
            println!(
                "  {:#x}: {} bytes, reference {:#x}, time {:?}, {}, left out {}, padding {}, gap {}{}, {} AUX records",
                slice.offset,
                slice.bytes().len(),
                slice.reference,
                slice.time,
                if slice.is_consecutive { "consecutive" } else { "new" },
                slice.left_out,
                slice.padding,
                slice.gap,
                if slice.follows_loss { ", after a loss" } else { "" },
                slice.ranges.len(),
            );
        }
    }
    println!("{} context switches, {} errors", trace.switches().len(), trace.errors().len());
    println!("{:#?}", trace.account());
    Ok(())
}
