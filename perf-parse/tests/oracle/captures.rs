//! Every capture of the repository: kernel records, records of the perf tool, feature sections and formats of tracepoints.

use std::fs;
use std::path::{Path, PathBuf};

use perf_parse::abi::endian::Endian;
use perf_parse::abi::feature::Feature;
use perf_parse::file::{AnyReader, Reader, Source};

use compare::{check_with, feature, format, is_big, user};

/// What was compared.
#[derive(Debug, Default)]
struct Compared {
    kernel: usize,
    user: usize,
    features: usize,
    formats: usize,
}

impl Compared {
    fn capture(&mut self, bytes: &[u8]) {
        match AnyReader::open(bytes) {
            Ok(AnyReader::Little(reader)) => self.reader(reader),
            Ok(AnyReader::Big(reader)) => self.reader(reader),
            Err(_) => {}
        }
    }

    fn reader<O: Endian, S: Source>(&mut self, mut reader: Reader<'_, O, S>) {
        loop {
            let Ok(record) = reader.next() else { continue };
            let Some(record) = record else { break };
            if record.raw.kind().is_user() {
                self.user += usize::from(user::check(&record.raw));
            } else if let Some(event) = record.event() {
                let mut bytes = Vec::new();
                record.raw.write(&mut bytes);
                let accepted = check_with(&event.attr, &event.layout, is_big::<O>(), &bytes);
                self.kernel += usize::from(accepted.is_some());
            }
        }
        let nr_cpus = reader.features().nr_cpus().and_then(Result::ok).map_or(0, |it| it.available);
        for section in reader.features() {
            if section.feature == Feature::TRACING_DATA {
                self.formats += format::check(section.bytes);
            } else {
                self.features += usize::from(feature::check(&section, nr_cpus));
            }
        }
    }
}

fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, all);
        } else {
            all.push(path);
        }
    }
}

#[test]
fn of_captures() {
    let mut compared = Compared::default();
    for folder in ["captures", "foreign", "synthetic"] {
        let mut all = Vec::new();
        files(&testdata::path("..").join(folder), &mut all);
        for path in all {
            compared.capture(&fs::read(&path).unwrap());
        }
    }
    assert!(compared.kernel > 10_000 && compared.user > 700, "{compared:?}");
    assert!(compared.features > 500 && compared.formats > 5, "{compared:?}");
}
