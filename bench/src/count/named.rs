//! The ways that give stacks and names to samples, and write them: unwinding, symbols, lines, profiles.
//!
//! They measure these steps alone, with a session that knows the mappings already. So they are loops of their own, and not walks
//! of `perf-profile`, whose sessions begin without any. `perfdata` as a whole is in other races.

use std::collections::HashMap;
use std::io::{Write, sink};
use std::sync::Arc;

use perf_abi::endian::Endianness;
use perf_abi::regs::Arch;
use perf_export::{firefox, flamegraph, fold, pprof};
use perf_parse::Reader;
use perf_profile::{Limits, NamingOptions, Profile, ProfileBuilder, SampleDetail, TimeDetail};
use perf_session::{Dso, Session};
use perf_symbol::unwind::{Module, Unwinder};
use perf_symbol::{FileBytes, FileFinder, Kallsyms, ReadFiles, StackFinder, SymbolOptions, Symbolizer};

use super::capture::{Capture, I686, LINES, LINES_ADDRESS};
use super::sums::{Sums, add};
use super::way::Outcome;

/// Unwinds the one stack of the capture, as often as the capture counts records.
pub(crate) fn unwind(capture: &Capture) -> Outcome {
    let reader = Reader::new(&capture.bytes)?;
    let mut sums = Sums::default();
    let mut session = Session::new();
    session.add_features(reader.features());
    let mut unwinder = Unwinder::new(Arch::X86);
    let mut modules = HashMap::<Dso, Option<Arc<Module>>>::new();
    let mut module_of = |dso: &Dso| {
        let load = || Module::parse(FileBytes::new(std::fs::read(I686).ok()?)).ok().map(Arc::new);
        modules.entry(dso.clone()).or_insert_with(load).clone()
    };
    let mut frames = Vec::new();
    for record in reader.records().in_time_order() {
        let record = record?;
        session.update(&record)?;
        let Some(at) = session.at(&record) else { continue };
        for _ in 0..capture.records {
            frames.clear();
            unwinder.unwind(&at, None, &mut module_of, &mut frames)?;
            add(&mut sums.callchain, frames.len() as u64);
        }
    }
    if sums.callchain < 8 * capture.records { Err("the stack has 8 frames".into()) } else { Ok(sums) }
}

/// Reads the symbols of the kernel.
pub(crate) fn kallsyms(capture: &Capture) -> Outcome {
    let symbols =
        Kallsyms::parse(FileBytes::new(capture.bytes.clone()), &perf_symbol::SymbolLimits::default())?;
    Ok(Sums { samples: symbols.symtab().len() as u64, ..Sums::default() })
}

/// Reads them, and finds each by an address, in no order.
pub(crate) fn look_up(capture: &Capture) -> Outcome {
    let symbols =
        Kallsyms::parse(FileBytes::new(capture.bytes.clone()), &perf_symbol::SymbolLimits::default())?;
    let mut sums = Sums::default();
    for number in 0..capture.records {
        let address = super::capture::symbol(number * 7919 % capture.records) + 1;
        sums.samples += u64::from(symbols.symtab().find(address).is_some());
    }
    Ok(sums)
}

/// Finds the functions, the inlined functions and the lines of each address of a small file.
pub(crate) fn lines(capture: &Capture) -> Outcome {
    let mut symbolizer = Symbolizer::new(SymbolOptions::default());
    let mut sums = Sums::default();
    for address in LINES_ADDRESS..LINES_ADDRESS + capture.records {
        add(&mut sums.samples, symbolizer.functions_in(LINES.as_bytes(), address).len() as u64);
    }
    if sums.samples < capture.records { Err("each address has a function".into()) } else { Ok(sums) }
}

/// Collects the samples of a capture.
fn profile(capture: &Capture, detail: SampleDetail) -> Result<Profile, Box<dyn std::error::Error>> {
    let session = &mut *capture.session.borrow_mut();
    let finder = FileFinder::new(Arc::new(ReadFiles), Arc::new(SymbolOptions::default()));
    let mut stacks = StackFinder::new(Arch::X86, 127, finder);
    let mut builder = ProfileBuilder::new(detail, Limits::default());
    let mut frames = Vec::new();
    let reader = Reader::from_records(capture.events.clone(), Endianness::Little, &capture.bytes);
    for record in reader.records() {
        let record = record?;
        let at = session.update_at(&record)?.ok_or("a sample")?;
        let event = record.event().ok_or("an event")?;
        frames.clear();
        let end = stacks.push(&at, None, &mut frames)?;
        builder.sample(&at, event, at.sample().period().unwrap_or(0), &frames, end, None);
        // The frames borrow the session.
        frames = Vec::new();
    }
    Ok(builder.finish(session, &mut stacks, None, NamingOptions::default(), &mut |_, _| {}))
}

/// Writes a profile. Returns the number of samples.
fn written(
    capture: &Capture,
    detail: SampleDetail,
    write: impl FnOnce(&Profile, &mut dyn Write) -> std::io::Result<()>,
) -> Outcome {
    let profile = profile(capture, detail)?;
    write(&profile, &mut sink())?;
    Ok(Sums { samples: profile.samples().map(|it| it.total.samples).sum(), ..Sums::default() })
}

const SPANS: SampleDetail = SampleDetail { times: TimeDetail::Spans, cpus: false, max_stack: 127 };
const TIMES: SampleDetail = SampleDetail { times: TimeDetail::Each, ..SPANS };

pub(crate) fn collect(capture: &Capture) -> Outcome {
    written(capture, SampleDetail::default(), |_, _| Ok(()))
}

pub(crate) fn to_fold(capture: &Capture) -> Outcome {
    written(capture, SampleDetail::default(), |it, out| {
        fold::write(std::slice::from_ref(it), &fold::Options::default(), out)
    })
}

pub(crate) fn to_pprof(capture: &Capture) -> Outcome {
    written(capture, SampleDetail::default(), |it, out| {
        pprof::write(std::slice::from_ref(it), &pprof::Options::default(), out)
    })
}

pub(crate) fn to_flamegraph(capture: &Capture) -> Outcome {
    written(capture, SPANS, |it, out| {
        flamegraph::write(std::slice::from_ref(it), &flamegraph::Options::default(), out)
    })
}

pub(crate) fn to_firefox(capture: &Capture) -> Outcome {
    written(capture, TIMES, |it, out| {
        firefox::write(std::slice::from_ref(it), &firefox::Options::default(), out)
    })
}
