//! Unwinds the copied user stacks of a capture: `unwind [--symfs DIR] [--time] CAPTURE`.
//!
//! Prints each sample's thread and time, then its frames: the address, the offset in the file, and the file; and how the stack
//! ends. With `--time`, it prints no stacks, but unwinds the capture several times, and prints how many stacks a second unwinding
//! alone made: without reading records and files.
//!
//! ```text
//! cargo run --release -p perf-symbol --example unwind -- perf.data
//! ```

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use perf_abi::record::CpuMode;
use perf_abi::regs::Arch;
use perf_parse::Reader;
use perf_parse::feature::FeatureData;
use perf_session::{Dso, Session};
use perf_symbol::FileBytes;
use perf_symbol::unwind::{FrameSource, Module, Unwinder};

fn main() -> Result<(), Box<dyn Error>> {
    let (mut symfs, mut is_timed, mut path) = (PathBuf::new(), false, None);
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--symfs") => symfs = arguments.next().ok_or("--symfs DIR")?.into(),
            Some("--time") => is_timed = true,
            _ => path = Some(PathBuf::from(argument)),
        }
    }
    let path = path.ok_or("unwind [--symfs DIR] [--time] CAPTURE")?;
    let reader = Reader::open(&path)?;
    let mut session = Session::new();
    session.add_features(reader.features());
    let arch = reader
        .features()
        .get(perf_abi::feature::Feature::ARCH)
        .and_then(|section| match section.decode() {
            Ok(FeatureData::Arch(name)) => Arch::from_machine(name.to_str().ok()?),
            _ => None,
        })
        .ok_or("the capture does not have its architecture")?;
    if is_timed {
        return time(&reader, arch, &symfs);
    }
    let mut module_of = |dso: &Dso| module_of(&symfs, dso);
    let mut unwinder = Unwinder::new(arch);

    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut frames = Vec::new();
    let mut ends = BTreeMap::<&str, u64>::new();
    for record in reader.records().in_time_order() {
        let record = record?;
        session.update(&record)?;
        let Some(at) = session.at(&record) else { continue };
        frames.clear();
        let Some(unwound) = unwinder.unwind(&at, None, &mut module_of, &mut frames)? else { continue };
        *ends.entry(unwound.end.name()).or_default() += 1;
        let (thread, time) = (at.thread(), at.sample().time().unwrap_or(0));
        writeln!(out, "{} {}/{} {time}:", thread.comm().escape_ascii(), thread.pid(), thread.tid())?;
        for frame in &frames {
            let mapping = at.find(frame.mode, frame.ip.wrapping_sub(u64::from(frame.is_return)));
            let is_user = frame.mode == CpuMode::USER;
            let offset = mapping.filter(|_| is_user).map_or(frame.ip, |it| it.offset_of(frame.ip));
            let name = mapping.map_or(&b"[unknown]"[..], |mapping| mapping.dso().name());
            let mark = match frame.source {
                FrameSource::FramePointer => " guessed",
                FrameSource::Signal => " interrupted",
                FrameSource::Chain if is_user => " spliced",
                FrameSource::Earlier => " earlier",
                _ => "",
            };
            writeln!(out, "\t{:x} {offset:x} {}{mark}", frame.ip, name.escape_ascii())?;
        }
        writeln!(out, "\t= {}{}\n", unwound.end, if unwound.spliced { " spliced" } else { "" })?;
    }
    out.flush()?;
    let count: u64 = ends.values().sum();
    eprintln!("{count} stacks: {ends:?}");
    Ok(())
}

/// Unwinds a capture several times.
fn time(reader: &Reader<'_>, arch: Arch, symfs: &Path) -> Result<(), Box<dyn Error>> {
    let mut files = HashMap::<Dso, Option<Arc<Module>>>::new();
    for pass in 1..=5 {
        let mut unwinder = Unwinder::new(arch);
        let mut session = Session::new();
        let (mut stacks, mut frames, mut spent) = (0_u32, Vec::new(), Duration::ZERO);
        for record in reader.records().in_time_order() {
            let record = record?;
            session.update(&record)?;
            let Some(at) = session.at(&record) else { continue };
            let mut loading = Duration::ZERO;
            let mut module_of = |dso: &Dso| {
                let start = Instant::now();
                let module = files.entry(dso.clone()).or_insert_with(|| module_of(symfs, dso)).clone();
                loading += start.elapsed();
                module
            };
            let before = frames.len();
            let start = Instant::now();
            let unwound = unwinder.unwind(&at, None, &mut module_of, &mut frames)?;
            spent += start.elapsed().saturating_sub(loading);
            stacks += u32::from(unwound.is_some());
            if before > 1 << 16 {
                frames.clear();
            }
        }
        println!("pass {pass}: {stacks} stacks, {:.0} a second", f64::from(stacks) / spent.as_secs_f64());
    }
    Ok(())
}

/// Reads the file of a DSO.
fn module_of(symfs: &Path, dso: &Dso) -> Option<Arc<Module>> {
    let path = std::str::from_utf8(dso.path()).ok()?;
    let bytes = std::fs::read(symfs.join(path.trim_start_matches(if symfs.as_os_str().is_empty() {
        ""
    } else {
        "/"
    })))
    .ok()?;
    Some(Arc::new(Module::parse(FileBytes::new(bytes)).ok()?))
}
