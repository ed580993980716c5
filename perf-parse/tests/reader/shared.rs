//! The reader and its records are shared by threads and walks, and records outlive the walk that returned them.

use std::thread;

use perf_parse::file::{Blocks, EventRecords, FileErrorKind};
use perf_parse::{EventRecord, FileError, Reader};

use crate::blocks::assert_same;
use crate::{Trickle, capture, read, walk};

fn is_send<T: Send>() {}
fn is_sync<T: Sync>() {}

#[test]
fn what_can_be_sent_and_shared() {
    is_send::<Reader<'_>>();
    is_sync::<Reader<'_>>();
    is_send::<EventRecord<'_>>();
    is_sync::<EventRecord<'_>>();
    is_send::<EventRecords<'_>>();
    is_send::<Blocks<'_>>();
}

/// Compares records that were kept with those of a new walk in memory, also in another thread.
fn compare(kept: Vec<Result<EventRecord<'_>, FileError>>, memory: EventRecords<'_>, what: &str) {
    let expected: Vec<_> = memory.collect();
    assert!(expected.len() > 10, "{what}");
    let check = || {
        assert_eq!(kept.len(), expected.len(), "{what}");
        kept.iter().zip(&expected).for_each(|(one, other)| assert_same(one, other, &what));
    };
    check();
    thread::scope(|scope| scope.spawn(check).join()).unwrap();
    // A record is the same after it was moved and cloned, and after the records before it are gone.
    let last = thread::scope(|scope| scope.spawn(|| kept.into_iter().next_back().unwrap()).join()).unwrap();
    assert_same(&last.clone(), &expected[expected.len() - 1], &what);
}

#[test]
fn records_outlive_the_walk() {
    for name in ["tracing.pipe.data", "buildid.pipe.data"] {
        let bytes = capture(name);
        let memory = Reader::new(&bytes).unwrap();
        for most in [7, 4096] {
            let open = || Reader::stream(Trickle { bytes: &bytes, most, fails: None }).unwrap();
            let stream = open();
            compare(stream.records().collect(), memory.records(), name);
            let stream = open();
            compare(stream.records().in_time_order().collect(), memory.records().in_time_order(), name);
        }
    }
}

#[cfg(any(feature = "ruzstd", feature = "zstd"))]
#[test]
fn decompressed_records_outlive_the_walk() {
    for name in ["touch.zstd.data", "compressed.zstd.pipe.data"] {
        let bytes = capture(name);
        let reader = Reader::new(&bytes).unwrap();
        compare(reader.records().collect(), reader.records(), name);
        compare(reader.records().in_time_order().collect(), reader.records().in_time_order(), name);
        let by_the_walk = read(&bytes);
        let kept: Vec<_> = reader.records().collect();
        for (record, seen) in kept.iter().zip(&by_the_walk.seen) {
            assert_eq!(record.as_ref().unwrap().raw().as_bytes(), seen.raw, "{name}");
        }
    }
    let bytes = capture("compressed.zstd.pipe.data");
    let (stream, memory) = (Reader::stream(bytes.as_slice()).unwrap(), Reader::new(&bytes).unwrap());
    compare(stream.records().in_time_order().collect(), memory.records().in_time_order(), "stream");
}

#[test]
fn two_walks_of_a_reader_at_the_same_time() {
    for name in ["everything.data", "tracing.pipe.data", "touch.zstd.data"] {
        let bytes = capture(name);
        let reader = Reader::new(&bytes).unwrap();
        let expected: Vec<_> = reader.records().in_time_order().collect();
        let (mut one, mut ahead) = (reader.records().in_time_order(), reader.records().in_time_order());
        let mut first = ahead.by_ref().take(expected.len() / 2).collect::<Vec<_>>();
        for expected in &expected {
            assert_same(&one.next().unwrap(), expected, &name);
            first.extend(ahead.next());
        }
        assert!(one.next().is_none() && ahead.next().is_none());
        assert_eq!(one.account(), ahead.account());
        first.iter().zip(&expected).for_each(|(one, other)| assert_same(one, other, &name));
        assert_eq!(first.len(), expected.len());
        // In threads.
        let whole = walk(reader.records());
        thread::scope(|scope| {
            let walks = [(); 2].map(|()| scope.spawn(|| walk(reader.records())));
            for one in walks.map(|walk| walk.join().unwrap()) {
                assert_eq!((&one.seen, &one.account), (&whole.seen, &whole.account), "{name}");
            }
        });
    }
}

#[test]
fn a_second_walk_of_a_stream_fails() {
    let bytes = capture("tracing.pipe.data");
    let stream = Reader::stream(bytes.as_slice()).unwrap();
    assert!(!stream.can_walk_again());
    assert_eq!(walk(stream.records()).seen, read(&bytes).seen);
    let again = walk(stream.records());
    let kind = FileErrorKind::Io(std::io::ErrorKind::Unsupported);
    assert_eq!((again.seen.len(), again.kinds()), (0, vec![kind]));
    assert_eq!(again.account.diagnostics, again.errors);
    // The walk that is dropped was the only one, too.
    let stream = Reader::stream(bytes.as_slice()).unwrap();
    drop(stream.records());
    assert_eq!(walk(stream.records()).kinds(), [kind]);
    assert!(stream.deferred_chains().is_empty());
}
