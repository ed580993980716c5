//! Every capture of the repository: kernel records, records of the perf tool, feature sections and formats of tracepoints.

use std::fs;

use perf_parse::abi::endian::{BigEndian, Endian, Endianness, LittleEndian};
use perf_parse::abi::feature::Feature;
use perf_parse::file::EventRecords;
use perf_parse::{RawRecord, Reader};

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
        let Ok(reader) = Reader::new(bytes) else { return };
        match reader.endianness() {
            Endianness::Little => self.records::<LittleEndian>(reader.records()),
            Endianness::Big => self.records::<BigEndian>(reader.records()),
        }
    }

    fn records<O: Endian>(&mut self, mut records: EventRecords<'_>) {
        for record in records.by_ref().flatten() {
            let bytes = record.raw().as_bytes();
            if record.kind().is_user() {
                self.user += usize::from(user::check(&RawRecord::<O>::parse(bytes).unwrap().0));
            } else if let Some(event) = record.event() {
                let accepted = check_with(&event.attr, &event.layout, is_big::<O>(), bytes);
                self.kernel += usize::from(accepted.is_some());
            }
        }
        let nr_cpus = records.features().nr_cpus().ok().flatten().map_or(0, |it| it.available);
        for section in records.features() {
            if section.feature == Feature::TRACING_DATA {
                self.formats += format::check(section.bytes);
            } else {
                self.features += usize::from(feature::check(&section, nr_cpus));
            }
        }
    }
}

#[test]
fn of_captures() {
    let mut compared = Compared::default();
    let writers = testdata::files_below(&testdata::path("../writers"));
    for path in testdata::captures().into_iter().chain(writers) {
        compared.capture(&fs::read(&path).unwrap());
    }
    assert!(compared.kernel > 10_000 && compared.user > 700, "{compared:?}");
    assert!(compared.features > 500 && compared.formats > 5, "{compared:?}");
}
