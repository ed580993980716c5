//! Each record is in exactly one chunk, which lists its time, CPU and thread, and whose walk returns it.

use std::fs;
use std::path::Path;

use perf_parse::abi::record::RecordType;
use perf_parse::index::OtherRecord;
use perf_parse::{Index, Reader};

use crate::{captures, index, records, ring, several_chunks};

/// Compares an index with a walk over the capture.
fn check(name: &Path, reader: &Reader<'_>, index: &Index) {
    let all = records(reader);
    let mut rest = all.as_slice();
    for chunk in index.chunks() {
        let (own, after) = rest.split_at(chunk.records() as usize);
        rest = after;
        assert_eq!(own[0].position(), chunk.position(), "{name:?}");
        for record in own {
            let (time, tid) = (record.time(), record.pid_tid().map(|(_, tid)| tid));
            if let Some(time) = time {
                assert!(chunk.times().unwrap().contains(&time), "{name:?}");
                assert!(chunk.may_hold(&(time..=time), record.cpu(), tid), "{name:?}");
            }
            assert!(chunk.may_hold(&.., record.cpu(), tid), "{name:?}");
            assert!(record.offset() >> 16 <= chunk.position().offset >> 16, "{name:?}");
        }
        let times: Vec<_> = own.iter().filter_map(|record| record.time()).collect();
        let span = times.iter().min().zip(times.iter().max());
        assert_eq!(chunk.times(), span.map(|(first, last)| *first..=*last), "{name:?}");
        if let Some(cpus) = chunk.cpus() {
            let mut expected: Vec<_> = own.iter().filter_map(|record| record.cpu()).collect();
            expected.sort_unstable();
            expected.dedup();
            assert_eq!(cpus.collect::<Vec<_>>(), expected, "{name:?}");
        }
        if let Some(threads) = chunk.threads() {
            let mut expected: Vec<_> = own.iter().filter_map(|it| Some(it.pid_tid()?.1 as u32)).collect();
            expected.sort_unstable();
            expected.dedup();
            assert!(threads.eq(expected.into_iter().map(|tid| tid as i32)), "{name:?}");
        }
        let others: Vec<_> = own
            .iter()
            .filter(|record| record.kind() != RecordType::SAMPLE)
            .map(|record| OtherRecord {
                position: record.position(),
                time: record.time(),
                kind: record.kind(),
            })
            .collect();
        assert_eq!(chunk.samples(), (own.len() - others.len()) as u64, "{name:?}");
        assert_eq!(chunk.others().expect("few records").collect::<Vec<_>>(), others, "{name:?}");
        let places = own.iter().map(|record| (record.position(), record.raw().payload()));
        let walked: Vec<_> = chunk.walk(reader).filter_map(Result::ok).collect();
        assert!(
            walked.iter().map(|record| (record.position(), record.raw().payload())).eq(places),
            "{name:?}"
        );
    }
    assert!(rest.is_empty(), "{name:?}");
}

#[test]
fn of_every_capture() {
    for (path, bytes) in captures() {
        let reader = Reader::new(&bytes).unwrap();
        check(&path, &reader, &index(&reader));
    }
}

#[test]
fn of_damaged_captures() {
    for (path, mut bytes) in captures() {
        let size = bytes.len();
        bytes[size / 2..].iter_mut().take(16).for_each(|byte| *byte = 0);
        bytes.truncate(size - size / 5);
        if let Ok(reader) = Reader::new(&bytes) {
            check(&path, &reader, &index(&reader));
        }
    }
}

#[test]
fn of_a_file_read_by_windows() {
    for (path, bytes) in captures() {
        let in_memory = Reader::new(&bytes).unwrap();
        let by_windows = Reader::open(&path).unwrap();
        let index = index(&by_windows);
        assert_eq!(index, crate::index(&in_memory), "{path:?}");
        check(&path, &by_windows, &index);
    }
}

#[test]
fn of_a_folder() {
    let folder = testdata::path("threads.dir");
    let reader = Reader::open(&folder).unwrap();
    let index = index(&reader);
    assert!(index.chunks().map(|chunk| chunk.position().data_file).max() > Some(0));
    check(&folder, &reader, &index);

    let bytes: Vec<_> = ["data", "data.0", "data.1"].map(|it| fs::read(folder.join(it)).unwrap()).into();
    let mut in_memory = Reader::new(&bytes[0]).unwrap();
    bytes[1..].iter().for_each(|file| in_memory.add_data(file));
    check(&folder, &in_memory, &crate::index(&in_memory));
}

#[test]
fn of_several_chunks() {
    let data = several_chunks();
    let reader = ring(&data);
    let index = index(&reader);
    assert_eq!(index.chunks().count(), data.len().div_ceil(1 << 16));
    check(Path::new("several chunks"), &reader, &index);
}

#[test]
fn a_walk_continues_over_an_error_in_the_chunk_and_stops_at_its_last_record() {
    let mut data = several_chunks();
    data[680..688].fill(0);
    let reader = ring(&data);
    let index = index(&reader);
    let first = index.chunks().next().unwrap();
    let (errors, found): (Vec<_>, Vec<_>) = first.walk(&reader).partition(Result::is_err);
    assert_eq!((errors.len(), found.len() as u64), (2, first.records()));
}
