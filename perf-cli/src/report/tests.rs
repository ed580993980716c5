//! Reports within small limits.

use std::cell::RefCell;
use std::io::{Cursor, Write};
use std::path::Path;
use std::rc::Rc;

use perf_abi::attr::Attr;
use perf_abi::callchain::CallchainContext;
use perf_abi::endian::LittleEndian;
use perf_abi::record::Misc;
use perf_parse::SampleLayout;
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use perf_parse::write::{self, SampleFields};

use super::*;
use crate::args::{Args, Verb};
use crate::{Streams, streams};
use perf_abi::event::EventType;
use perf_abi::sample_type::SampleType;

#[derive(Clone, Default)]
struct SharedOutput(Rc<RefCell<Vec<u8>>>);

impl Write for SharedOutput {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Writes a capture of samples of three threads, with stacks of 1 to 8 frames whose innermost one is at one of `places`.
fn write(path: &Path, samples: u64, places: u64) {
    let attr = Attr {
        kind: EventType::SOFTWARE,
        sample_type: SampleType::IP | SampleType::TID | SampleType::CALLCHAIN,
        ..Attr::default()
    };
    let event = EventFields { attr, ..EventFields::default() };
    let out = Cursor::new(Vec::new());
    let mut writer = FileWriter::new(out, &[event], &WriteOptions::default()).unwrap();
    let layout = SampleLayout::new(&attr).unwrap();
    for n in 0..samples {
        let frames = (0..n % 8 + 1).map(|depth| 0x1000 + n % places * 16 + depth * 256);
        let chain: Vec<_> = [CallchainContext::USER.0].into_iter().chain(frames).collect();
        let tid = 100 + (n % 3) as i32;
        let fields = SampleFields {
            ip: Some(chain[1]),
            pid_tid: Some((tid, tid)),
            callchain: Some(chain),
            ..SampleFields::default()
        };
        let mut record = Vec::new();
        // PERF_RECORD_MISC_USER
        write::sample::<LittleEndian>(&mut record, &layout, Misc(2), &fields).unwrap();
        writer.record(&record).unwrap();
    }
    std::fs::write(path, writer.finish().unwrap().into_inner()).unwrap();
}

/// Returns the limits of a report.
fn report_limits() -> Limits {
    perf_profile::report::Options::default().limits
}

/// Returns the report of a small capture within limits.
fn text(limits: Limits) -> String {
    printed(&["--sort", "comm,sym", "-n", "-g", "none"], limits, 150, 11)
}

/// Returns the report of a capture that [`write`] makes.
fn printed(args: &[&str], limits: Limits, samples: u64, places: u64) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    write(&path, samples, places);
    let args = [&["perfdata", "report", "--no-symbols"], args].concat();
    let args = args.into_iter().map(Into::into).chain([path.into_os_string()]);
    let Verb::Report(args) = Args::read(args).unwrap().verb else { panic!("another verb") };
    let output = SharedOutput::default();
    let streams = Streams {
        input: Box::new(std::io::empty()),
        output: Box::new(output.clone()),
        errors: Box::new(std::io::sink()),
    };
    let run = || {
        crate::input::read(&args.files.0[0], |reader, memory| {
            let outcome = report(&reader, memory, &args, limits);
            assert_eq!(outcome.unwrap(), Outcome::Clean);
            Ok(Outcome::Clean)
        })
    };
    assert!(streams::with(Some(streams), run).is_ok());
    let text = output.0.borrow().clone();
    String::from_utf8(text).unwrap()
}

/// Returns the samples of all rows, those of the row beyond the limits, and those that the last comment reports.
fn counts(text: &str) -> (u64, u64, u64) {
    let rows = || text.lines().filter(|line| line.starts_with("  "));
    let samples = |line: &str| {
        line.split_whitespace().nth(2).unwrap().parse::<u64>().unwrap_or_else(|_| panic!("{line}"))
    };
    let beyond = rows().filter(|line| line.contains("[beyond the limits]")).map(samples).sum();
    let said = text.lines().find_map(|line| line.strip_prefix("# ")?.split_once(" samples are beyond"));
    (rows().map(samples).sum(), beyond, said.map_or(0, |(number, _)| number.parse().unwrap()))
}

#[test]
fn samples_beyond_each_limit_have_a_row_of_their_own() {
    let all = report_limits();
    let (samples, beyond, said) = counts(&text(all));
    assert!(samples > 100 && (beyond, said) == (0, 0), "{samples} {beyond} {said}");
    let set: [fn(&mut Limits, usize); 4] = [
        |limits, frames| limits.frames = frames,
        |limits, nodes| limits.stack_nodes = nodes,
        |limits, samples| limits.samples = samples,
        |limits, bytes| limits.texts = bytes,
    ];
    for set in set {
        let with = |limit: usize| {
            let mut limits = report_limits();
            set(&mut limits, limit);
            limits
        };
        // Without room for anything, all samples are beyond the limit; with more room, fewer.
        assert_eq!(counts(&text(with(0))), (samples, samples, samples));
        let (of_rows, beyond, said) = counts(&text(with(1)));
        assert!(of_rows == samples && beyond == said && beyond > 0);
        let enough = (0..17).map(|power| 1 << power).find(|&room| counts(&text(with(room))).1 == 0).unwrap();
        assert_eq!(text(with(enough)), text(all));
    }
}

/// Many rows with two stacks each, and three rows that each have more stacks than a block has room for.
#[test]
fn blocks_of_rows_are_printed_in_their_order() {
    for (sort, rows) in [("comm,sym", 2991), ("tid", 3)] {
        let of = |args: &[&str]| {
            let args = [&["--no-children", "--sort", sort], args].concat();
            printed(&args, report_limits(), 6000, 997)
        };
        let table = of(&["-g", "none"]);
        assert_eq!(table.lines().filter(|line| line.starts_with("  ")).count(), rows, "{sort}");
        let one = of(&["--threads", "1"]);
        assert!(one.len() > table.len(), "{sort}: it has call graphs");
        assert!(one == of(&["--threads", "2"]) && one == of(&["--threads", "5"]), "{sort}");
    }
}
