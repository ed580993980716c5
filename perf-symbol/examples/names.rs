//! Prints each frame of each sample as `perf script -F tid,time,ip,sym,symoff,dso` does, inlined functions before the function that
//! they are inlined into: `names CAPTURE [--lines]`.

use std::io::{self, BufWriter, Write};

use perf_parse::Reader;
use perf_parse::abi::record::CpuMode;
use perf_session::Session;
use perf_symbol::{Options, Symbolizer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("names CAPTURE [--lines]")?;
    let has_lines = std::env::args_os().nth(2).is_some_and(|argument| argument == "--lines");
    let reader = Reader::open(path)?;
    let mut session = Session::new();
    session.add_features(reader.features());
    let mut options = Options::default();
    options.inlines = has_lines;
    let mut symbolizer = Symbolizer::new(options);
    let mut out = BufWriter::new(io::stdout().lock());
    for record in reader.records().in_time_order() {
        let record = record?;
        session.update(&record)?;
        let Some(at) = session.at(&record) else { continue };
        let time = at.sample().time();
        let nanoseconds = time.unwrap_or_default();
        writeln!(
            out,
            "{:5} {:5}.{:06}: ",
            at.thread().tid(),
            nanoseconds / 1_000_000_000,
            nanoseconds / 1000 % 1_000_000
        )?;
        for (depth, frame) in at.stack(None)?.enumerate() {
            // perf prints the offset in the file, and for the kernel the address.
            let is_kernel = frame.mode == CpuMode::KERNEL;
            let offset =
                frame.mapping.filter(|_| !is_kernel).map_or(frame.ip, |mapping| mapping.offset_of(frame.ip));
            write!(out, "{offset:16x} ")?;
            let functions = symbolizer.functions(&session, &frame, depth > 0, time);
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
    for looked in symbolizer.looked() {
        if let Some(why) = looked.why {
            eprintln!("{}: {why}", looked.dso.name().escape_ascii());
        }
    }
    Ok(())
}
