//! The walk over a capture to its end, and the decoding of a record.

use core::fmt::{self, Debug, Write};

use perf_parse::file::EventRecords;
use perf_parse::{EventRecord, Record};

/// Walks to the end and calls `f` with each record. `len` is the size of the capture in bytes.
pub fn walk<'r, T>(
    records: &mut EventRecords<'r>,
    len: usize,
    mut f: impl FnMut(&EventRecord<'r>) -> T,
) -> Vec<T> {
    let mut all = Vec::new();
    let mut errors = 0;
    for record in records.by_ref() {
        match record {
            Ok(record) => all.push(f(&record)),
            Err(error) => {
                assert!(!error.to_string().is_empty());
                errors += 1;
                // A lost boundary with the bytes skipped for it, or a record: each has at least one byte.
                assert!(errors <= 2 * len + 1, "no end");
            }
        }
    }
    assert!(records.next().is_none(), "a walk that has ended returns no more records");
    assert!(errors == 0 || !records.account().is_clean());
    all
}

/// Decodes everything in a record. Errors are within the record.
pub fn decode(record: &EventRecord<'_>) {
    // A record that was compressed has no place of its own, only that of its COMPRESSED record.
    let end = match record.position().decompressed {
        Some(_) => u64::MAX,
        None => record.offset() + u64::from(record.raw().size()),
    };
    let inside = record.offset()..=end;
    if let Err(error) = record.sample_id() {
        assert!(inside.contains(&error.offset), "{error}");
    }
    let _ = record.time();
    assert_eq!(record.event().is_some(), record.event_index().is_some());
    match record.decode() {
        Ok(Record::Sample(sample)) => {
            let _ = sample.callchain().map(|chain| chain.map(|chain| chain.frames().count()));
            match sample.tail() {
                Ok(tail) => show(&(sample, tail)),
                Err(error) => {
                    let error = record.error(error);
                    assert!(inside.contains(&error.offset), "{error}");
                }
            }
        }
        Ok(decoded) => show(&decoded),
        Err(error) => assert!(inside.contains(&error.offset), "{error}"),
    }
}

/// Formats a value without output, so that everything in it is read.
pub fn show(value: &dyn Debug) {
    let mut out = Count(0);
    write!(out, "{value:?}").expect("nothing is written");
    assert!(out.0 > 0);
}

/// Number of bytes formatted.
struct Count(usize);

impl Write for Count {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}
