//! Prints each frame of each sample as `perf script -F tid,time,ip,sym,symoff,dso` does, inlined functions before the
//! function that they are inlined into: `names CAPTURE [--lines]`.

use std::error::Error;
use std::io::{self, BufWriter, Write};

use perf_parse::abi::record::CpuMode;
use perf_parse::event::Events;
use perf_parse::file::DeferredSamples;
use perf_parse::{EventRecord, Reader};
use perf_session::{Periods, Session};
use perf_symbol::{SymbolOptions, Symbolizer};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("names CAPTURE [--lines]")?;
    let has_lines = std::env::args_os().nth(2).is_some_and(|argument| argument == "--lines");
    let reader = Reader::open(path)?;
    let mut session = Session::new();
    session.add_features(reader.features());
    let mut periods = Periods::default();
    let mut options = SymbolOptions::default();
    options.inlines = has_lines;
    let mut symbolizer = Symbolizer::new(options);
    let mut out = BufWriter::new(io::stdout().lock());
    let mut print = |record: &EventRecord<'_>, user: Option<&[u64]>, events: &Events| {
        let Some(at) = session.update_at(record)? else { return Ok::<_, Box<dyn Error>>(()) };
        // A sample of a group is one for each of its events.
        for _ in periods.of(&at, events)? {
            let time = at.sample().time();
            let nanoseconds = time.unwrap_or_default();
            writeln!(
                out,
                "{:5} {:5}.{:06}: ",
                at.thread().tid(),
                nanoseconds / 1_000_000_000,
                nanoseconds / 1000 % 1_000_000
            )?;
            for (depth, frame) in at.stack(user)?.enumerate() {
                // perf prints the offset in the file, and for the kernel the address.
                let is_kernel = frame.mode == CpuMode::KERNEL;
                let offset = frame
                    .mapping
                    .filter(|_| !is_kernel)
                    .map_or(frame.ip, |mapping| mapping.offset_of(frame.ip));
                write!(out, "{offset:16x} ")?;
                let functions = symbolizer.functions_at(&at, &frame, depth > 0);
                if functions.is_empty() {
                    write!(out, "[unknown]")?;
                }
                for function in functions {
                    let name = function.name.as_deref().unwrap_or(b"[unknown]");
                    write!(out, "{}", String::from_utf8_lossy(name))?;
                    if let Some(offset) = function.offset {
                        write!(out, "+{offset:#x}")?;
                    }
                    if let (true, Some(file), Some(line)) = (has_lines, &function.file, function.line) {
                        write!(out, " {}:{line}", String::from_utf8_lossy(file))?;
                    }
                    if function.is_inlined {
                        write!(out, " (inlined) ")?;
                    }
                }
                let dso = frame.mapping.map_or(&b"[unknown]"[..], |mapping| mapping.dso().name());
                writeln!(out, " ({})", String::from_utf8_lossy(dso))?;
            }
            writeln!(out)?;
        }
        Ok(())
    };
    let mut waiting = DeferredSamples::within(reader.limits());
    let mut records = reader.records().in_time_order();
    while let Some(record) = records.next() {
        let record = record?;
        if waiting.hold(&record) {
            continue;
        }
        if let Some(ended) = waiting.end(&record) {
            for sample in &ended.samples {
                print(&sample.record, ended.user_of(sample), records.events())?;
            }
        }
        print(&record, None, records.events())?;
    }
    for sample in waiting.take_all() {
        print(&sample.record, None, records.events())?;
    }
    for looked in symbolizer.lookups() {
        if let Some(why) = looked.why {
            eprintln!("{}: {why}", looked.dso.name().escape_ascii());
        }
    }
    Ok(())
}
