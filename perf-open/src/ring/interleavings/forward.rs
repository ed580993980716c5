//! Rings that lose new records when they are full: each record is read once and in order, or counted as lost.

use alloc::sync::Arc;
use core::ops::ControlFlow;

use loom::thread;
use perf_abi::attr::Attr;
use perf_abi::endian::NativeEndian;
use perf_abi::record::RecordType;
use perf_abi::sample_type::SampleType;
use perf_parse::{RawRecord, Records};

use super::{Reached, bytes, every_interleaving, number, numbered, positions, words};
use crate::ring::loopback::ring_of_bytes;
use crate::ring::{Ring, merge};
use crate::sys::consumer::{Consumer, ControlArea, ReaderClaim};
use crate::sys::kernel_writer::{KernelWriter, header};
use crate::sys::mapping::page_size;

/// Bytes of the ring. A LOST record and a record fit, three records do not.
const SIZE: usize = 64;
/// Records that are written: more bytes than the ring has.
const RECORDS: u64 = 5;

/// The records that were read.
#[derive(Debug, Default)]
struct Received {
    /// The number of the next record.
    next: u64,
    /// Records of any kind, those that were counted as lost, bytes.
    records: u64,
    lost: u64,
    bytes: u64,
}

impl Received {
    fn take(&mut self, raw: &RawRecord<'_, NativeEndian>) {
        if raw.kind() == RecordType::LOST {
            self.lost += words(raw)[1];
            self.next += words(raw)[1];
        } else {
            assert_eq!(number(raw), self.next);
            self.next += 1;
        }
        self.records += 1;
        self.bytes += u64::from(raw.size());
    }
}

type Read = fn(&mut Ring, &mut Received);

/// Takes all records, and releases their room at the end.
fn read_all(ring: &mut Ring, received: &mut Received) {
    let mut drain = ring.read().unwrap();
    while let Some(raw) = drain.next_record() {
        received.take(&raw.unwrap());
    }
}

/// Releases the room of each record before the next.
fn read_and_release(ring: &mut Ring, received: &mut Received) {
    let mut drain = ring.read().unwrap();
    while let Some(raw) = drain.next_record() {
        received.take(&raw.unwrap());
        drain.release();
    }
}

/// Takes spans of records.
fn read_spans(ring: &mut Ring, received: &mut Received) {
    let mut drain = ring.read().unwrap();
    while let Some(span) = drain.next_span() {
        Records::<NativeEndian>::new(span.unwrap()).for_each(|raw| received.take(&raw.unwrap()));
    }
}

/// Takes all records but puts the last one back, unless it is the only one.
fn read_and_keep_last(ring: &mut Ring, received: &mut Received) {
    let mut drain = ring.read().unwrap();
    let mut taken: Vec<Vec<u8>> = Vec::new();
    while let Some(raw) = drain.next_record() {
        taken.push(raw.unwrap().as_bytes().to_vec());
    }
    if taken.len() > 1 {
        drain.keep_last();
        taken.pop();
    }
    drop(drain);
    for record in taken {
        received.take(&RawRecord::parse(&record).unwrap().0);
    }
}

/// Takes all records, puts them back, and takes them again.
fn cancel_and_read_all(ring: &mut Ring, received: &mut Received) {
    let mut drain = ring.read().unwrap();
    while let Some(raw) = drain.next_record() {
        raw.unwrap();
    }
    drain.cancel();
    read_all(ring, received);
}

/// Writes all records like the kernel while `read` is called `times` times; then reads the rest.
fn once_or_lost(read: Read, times: u32) {
    let (lost, wrapped) = (Arc::new(Reached::default()), Arc::new(Reached::default()));
    let (is_lost, has_wrapped) = (lost.clone(), wrapped.clone());
    every_interleaving(move || {
        let (mut ring, _) = ring_of_bytes(&Attr::default(), SIZE).unwrap();
        let mut writer = KernelWriter::new(ring.control().clone(), SIZE);
        let writing = thread::spawn(move || {
            (0..RECORDS).for_each(|number| writer.write(&numbered(number)));
            writer
        });
        let mut received = Received::default();
        (0..times).for_each(|_| read(&mut ring, &mut received));
        let writer = writing.join().unwrap();
        while received.next + writer.lost < RECORDS {
            let before = received.next;
            read(&mut ring, &mut received);
            assert!(received.next > before, "a record was lost");
        }
        assert_eq!(received.next + writer.lost, RECORDS);
        assert!(ring.read().unwrap().next_record().is_none());
        assert_eq!(positions(&ring, ControlArea::Data), [received.bytes; 2]);
        let account = ring.account();
        assert_eq!((account.records, account.bytes), (received.records, received.bytes));
        assert_eq!((account.lost, account.skipped), (received.lost, 0));
        assert_eq!(account.unreported(received.lost + writer.lost), writer.lost);
        is_lost.note(received.lost > 0);
        has_wrapped.note(received.bytes > SIZE as u64);
    });
    assert!(lost.times() > 0 && wrapped.times() > 0, "{lost:?} {wrapped:?}");
}

#[test]
fn each_record_is_read_once_or_lost() {
    once_or_lost(read_all, 2);
}

#[test]
fn each_record_is_read_once_if_its_room_is_released_at_once() {
    once_or_lost(read_and_release, 1);
}

#[test]
fn each_record_is_in_one_span() {
    once_or_lost(read_spans, 2);
}

#[test]
fn a_record_that_is_put_back_is_read_again() {
    once_or_lost(read_and_keep_last, 1);
}

#[test]
fn records_that_are_put_back_are_read_again() {
    once_or_lost(cancel_and_read_all, 1);
}

/// The program's own writer, which uses the whole ring and waits for no one.
#[test]
fn each_record_of_the_program_is_read_once() {
    let full = Arc::new(Reached::default());
    let is_full = full.clone();
    every_interleaving(move || {
        let (mut ring, mut writer) = ring_of_bytes(&Attr::default(), SIZE).unwrap();
        let writing = thread::spawn(move || {
            let mut written = 0;
            for _ in 0..RECORDS {
                written += u64::from(writer.write(&bytes(&numbered(written))));
            }
            written
        });
        let mut received = Received::default();
        read_all(&mut ring, &mut received);
        read_all(&mut ring, &mut received);
        let written = writing.join().unwrap();
        read_all(&mut ring, &mut received);
        assert_eq!((received.next, received.records), (written, written));
        is_full.note(written < RECORDS);
    });
    assert!(full.times() > 0);
}

/// Returns the words of a sample with a time.
fn timed(time: u64) -> [u64; 2] {
    [u64::from_ne_bytes(header(RecordType::SAMPLE, 16)), time]
}

#[test]
fn two_rings_are_merged_while_both_are_written() {
    const EACH: u64 = 3;
    let attr = Attr { sample_type: SampleType::TIME, ..Attr::default() };
    every_interleaving(move || {
        let (one, mut to_one) = ring_of_bytes(&attr, 32).unwrap();
        let (two, mut to_two) = ring_of_bytes(&attr, 32).unwrap();
        // Even times to the first ring, odd ones to the second.
        let write = |writer: &mut crate::ring::loopback::RingWriter, from: u64| {
            let times = (0..EACH).map(|number| 2 * number + from);
            times.filter(|&time| writer.write(&bytes(&timed(time)))).collect::<Vec<u64>>()
        };
        let first = thread::spawn(move || write(&mut to_one, 0));
        let mut rings = [one, two];
        let mut seen = [Vec::new(), Vec::new()];
        let mut read = |rings: &mut [Ring]| {
            let mut last = None;
            let broke = merge(rings, |record| {
                let record = record.unwrap();
                assert!(record.time() > last, "in time order within a call");
                last = record.time();
                seen[record.position().data_file].push(last.unwrap());
                ControlFlow::<()>::Continue(())
            });
            assert!(broke.is_none());
        };
        read(&mut rings);
        let second = write(&mut to_two, 1);
        read(&mut rings);
        let first = first.join().unwrap();
        read(&mut rings);
        assert_eq!(seen, [first, second]);
    });
}

#[test]
fn one_of_two_readers_has_the_ring_and_the_other_continues_after_it() {
    let (refused, handed_over) = (Arc::new(Reached::default()), Arc::new(Reached::default()));
    let (is_refused, is_handed_over) = (refused.clone(), handed_over.clone());
    every_interleaving(move || {
        let (ring, mut writer) = ring_of_bytes(&Attr::default(), 32).unwrap();
        let memory = ring.control().clone();
        drop(ring);
        for number in [0, 2] {
            assert!(writer.write(&bytes(&numbered(number))));
        }
        // Takes the first unread record.
        let read_one = move || -> Option<u64> {
            let claim = ReaderClaim::new(memory.clone(), ControlArea::Data)?;
            let mut consumer = Consumer::new(claim, memory.clone(), page_size(), 32)?;
            consumer.refresh().unwrap();
            let tail = consumer.tail();
            let taken = number(&RawRecord::parse(consumer.unread_in_one(tail)).unwrap().0);
            consumer.release(tail + 16);
            Some(taken)
        };
        let other = thread::spawn(read_one.clone());
        let ours = read_one();
        // The writer needs the room of the first record, whoever has read it.
        let reused = writer.write(&bytes(&numbered(4)));
        let theirs = other.join().unwrap();
        assert!(ours.is_some() || theirs.is_some());
        assert_ne!(ours, theirs, "a record was read twice");
        assert!(reused || ours.is_none());
        is_refused.note(ours.is_none() || theirs.is_none());
        is_handed_over.note(ours.is_some() && theirs.is_some());
    });
    assert!(refused.times() > 0 && handed_over.times() > 0, "{refused:?} {handed_over:?}");
}
