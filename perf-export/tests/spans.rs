//! Pages of samples that were counted together.

#![cfg(feature = "flamegraph")]

use perf_abi::regs::Arch;
use perf_export::flamegraph;
use perf_parse::Reader;
use perf_profile::{Keep, Limits, Naming, Profile, ProfileBuilder, Times};
use perf_session::Session;
use perf_symbol::Stacks;

const CAPTURES: [&str; 4] = ["callchain.data", "everything.data", "system_wide.data", "group_read.data"];

/// Reads a capture of `testdata/captures`, without names.
fn profile(capture: &str, keep: Keep) -> Profile {
    let reader = Reader::open(testdata::path(capture)).unwrap();
    let mut session = Session::new();
    session.add_features(reader.features());
    let symbolizer = perf_symbol::Symbolizer::new(perf_symbol::Options::default());
    let mut finder = Stacks::new(Arch::X86, 127, symbolizer.finder().clone());
    let mut builder = ProfileBuilder::new(keep, Limits::default());
    for record in reader.records().in_time_order() {
        let record = record.unwrap();
        let Some(at) = session.update_at(&record).unwrap() else { continue };
        let Some(event) = record.event() else { continue };
        let mut stack = Vec::new();
        let end = finder.push(&at, None, &mut stack).unwrap();
        let period = at.sample().period().unwrap_or(event.attr.sample_period);
        builder.sample(&at, event, period, &stack, end, None);
    }
    builder.finish(&session, &mut finder, None, Naming::default(), &mut |_, _| {})
}

/// A page is the same whether its samples were counted together or not, as long as times are exact.
#[test]
fn pages_of_spans_are_those_of_each_sample() {
    for capture in CAPTURES {
        let page = |times| {
            let profile = profile(capture, Keep { times, ..Keep::default() });
            let mut page = Vec::new();
            flamegraph::write(&[profile], &flamegraph::Options::default(), &mut page).unwrap();
            page
        };
        assert!(page(Times::Spans) == page(Times::Each), "{capture}");
    }
}
