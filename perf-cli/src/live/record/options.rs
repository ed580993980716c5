//! The options of a recording, from the command line.

use std::os::unix::ffi::OsStringExt;

use perf_open::abi::event::HwId;
use perf_open::abi::sample_type::SampleType;
use perf_open::{EventGroup, EventSpec};
use perf_record::{CallGraph, Options};

use crate::Failure;
use crate::args::live::record::RecordArgs;
use crate::live::events::asked_for;

/// Returns the events of the command line; cycles if it has none.
pub(super) fn events(args: &RecordArgs) -> Result<Vec<EventGroup>, Failure> {
    let mut groups = asked_for(&args.events, "for counting, not for samples")?;
    if args.events.is_empty() {
        let mut cycles = EventSpec::hardware(HwId::CPU_CYCLES).with_name("cycles");
        // As precise as the PMU can be, as perf's `cycles:P`.
        cycles.precise_max = true;
        groups.push(cycles.into());
    }
    Ok(groups)
}

/// Returns the options of the command line.
pub(super) fn of(args: &RecordArgs) -> Options {
    let mut sample_type = SampleType::NONE;
    if args.sample_cpu {
        sample_type |= SampleType::CPU;
    }
    Options {
        freq: args.freq,
        count: args.count,
        call_graph: args.call_graph.or(args.frame_pointers.then_some(CallGraph::Fp)),
        data: args.data,
        sample_type,
        switch_events: args.switch_events,
        namespaces: args.namespaces,
        clockid: args.clockid.map(|clock| clock.id()),
        inherit: !args.no_inherit,
        mmap_pages: args.mmap_pages,
        overwrite: args.overwrite,
        build_ids: !args.no_buildid,
        command_line: std::env::args_os().map(OsStringExt::into_vec).collect(),
        version: concat!("perfdata ", env!("CARGO_PKG_VERSION")).to_owned(),
        ..Options::default()
    }
}
