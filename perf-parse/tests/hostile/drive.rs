//! Reads a capture by every method and decodes all of it, within the promised bounds.

use perf_parse::file::{EventRecords, FileError};
use perf_parse::record::user::UserRecord;
use perf_parse::{EventRecord, Reader, Record, Sample};

use crate::peak;

/// Maximum number of live bytes while a capture is read.
pub(crate) fn limit(len: usize) -> usize {
    4 * len + (1 << 20)
}

/// The result of reading a capture.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    /// Calls of `next` in one order.
    pub(crate) calls: usize,
    pub(crate) records: usize,
    pub(crate) errors: usize,
    /// Decompressed bytes of compressed records.
    pub(crate) inflated: u64,
}

/// Reads `bytes` in file order, in time order and, if a pipe wrote them, as a stream. Panics if a bound is exceeded.
pub(crate) fn drive(bytes: &[u8]) -> Result<Steps, FileError> {
    drive_within(bytes, limit(bytes.len()))
}

/// Does the same as [`drive`] with another limit for the live bytes of uncompressed data.
pub(crate) fn drive_within(bytes: &[u8], most: usize) -> Result<Steps, FileError> {
    let (result, taken) = peak(|| {
        by_time(bytes)?;
        in_file_order(bytes)
    });
    // Time order copies decompressed records, and the window is kept as it grows.
    let inflated = result.as_ref().map_or(0, |steps| steps.inflated as usize);
    let most = most + 8 * inflated + 3 * window(bytes);
    assert!(taken <= most, "{taken} bytes live for a capture of {}, more than {most}", bytes.len());
    if let Ok(reader) = Reader::stream(bytes) {
        // A stream keeps the bytes it has read, a copy of its features and, in time order, the held records.
        let (_, taken) = peak(|| walk(reader.records(), bytes.len()));
        assert!(taken <= most, "{taken} bytes live for a stream of {}, more than {most}", bytes.len());
    }
    result
}

/// Returns the largest accepted window of the zstd frames in `bytes`.
fn window(bytes: &[u8]) -> usize {
    let mut largest = 0;
    for frame in bytes.windows(15).filter(|frame| frame.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])) {
        let window = match frame[4] >> 5 & 1 {
            0 => (1_usize << 10 << (frame[5] >> 3)) / 8 * (8 + usize::from(frame[5] & 7)),
            _ => usize::from_le_bytes(frame[5..13].try_into().unwrap()),
        };
        largest = largest.max(window.min(1 << 27));
    }
    largest
}

fn in_file_order(bytes: &[u8]) -> Result<Steps, FileError> {
    let reader = Reader::new(bytes)?;
    Ok(walk(reader.records(), bytes.len()))
}

fn by_time(bytes: &[u8]) -> Result<Steps, FileError> {
    let reader = Reader::new(bytes)?;
    Ok(walk(reader.records().in_time_order(), bytes.len()))
}

/// Reads to the end and decodes everything.
fn walk(mut records: EventRecords<'_>, len: usize) -> Steps {
    // The last call returns no record.
    let mut steps = Steps { calls: 1, ..Steps::default() };
    for record in &mut records {
        steps.calls += 1;
        match record {
            Ok(record) => {
                steps.records += 1;
                if let Some(position) = record.position().decompressed {
                    steps.inflated = steps.inflated.max(position + u64::from(record.raw().size()));
                }
                let _ = decode(&record);
            }
            Err(error) => {
                steps.errors += 1;
                assert!(error.offset <= len as u64, "{error}: beyond the {len} bytes");
            }
        }
        // A record has at least 8 bytes; a lost boundary and the bytes skipped for it have at least one.
        let visited = len as u64 + steps.inflated;
        assert!(steps.records as u64 <= visited / 8, "{steps:?} of {len} bytes");
        assert!(steps.errors as u64 <= 2 * visited + 2, "{steps:?} of {len} bytes");
    }
    assert!(records.next().is_none(), "the end stays the end");
    let account = records.account();
    assert!(account.bytes <= len as u64, "{account:?}");
    assert!(account.bytes_skipped <= 2 * (len as u64 + (64 << 20)), "{account:?}");
    let nr_cpus = records.features().nr_cpus().ok().flatten().map_or(0, |it| it.available);
    for section in records.features() {
        let _ = compare::feature::decode(&section, nr_cpus);
    }
    steps
}

/// Decodes a record with every element of every list.
fn decode(record: &EventRecord<'_>) -> Result<(), FileError> {
    let _ = record.time();
    record.sample_id()?;
    match record.decode()? {
        Record::Sample(sample) => {
            let words = words(&sample).map_err(|error| record.error(error))?;
            assert!(8 * words <= record.raw().as_bytes().len(), "{words} words in {:?}", record.raw());
            Ok(())
        }
        Record::User(user, _) => {
            user_fields(&user);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Returns the number of words in the lists of a sample, each of which is read.
fn words(sample: &Sample<'_>) -> Result<usize, perf_parse::Error> {
    let tail = sample.tail()?;
    let values = tail.read.map_or(0, |read| read.values().count());
    let frames = tail.callchain.map_or(0, |chain| chain.frames().count());
    let branches = tail.branch_stack.map_or(0, |stack| stack.entries.len());
    let regs = [tail.regs_user, tail.regs_intr].into_iter().flatten().map(|regs| regs.iter().count());
    Ok(values + frames + 3 * branches + regs.sum::<usize>())
}

fn user_fields(user: &UserRecord<'_>) {
    if let UserRecord::CpuMap(map) = user {
        // A range has 16-bit numbers; a mask has one bit for each CPU.
        assert!(map.data.cpus().count() <= 8 * 65_536);
    }
}
