//! A writer and a reader that use a small ring at the same time.

use core::time::Duration;
use std::thread;

use perf_open::Ring;
use perf_open::abi::record::RecordType;
use perf_open::parse::{RawRecord, abi::endian::NativeEndian};
use perf_open::ring::loopback::{self, RingWriter};

use crate::{attr, record};

/// Returns the number of records to write. Set it lower for a checker that makes the test slow.
fn records() -> u64 {
    let usual = if cfg!(miri) { 300 } else { 2_000_000 };
    std::env::var("STRESS_RECORDS").map_or(usual, |number| number.parse().expect("a number"))
}

/// Waits for a wakeup, but not for long.
fn wait(ring: &mut Ring) {
    if cfg!(miri) {
        thread::yield_now(); // Miri has no poll.
    } else {
        ring.wait(Some(Duration::from_millis(1))).unwrap();
    }
}

/// Returns the record with number `number`: one to seven words, which all contain the number.
fn numbered(number: u64) -> Vec<u8> {
    record(RecordType(1000), &vec![number; 1 + number as usize % 7])
}

/// Returns the number of a record, after checking that each of its words contains it.
fn number(raw: &RawRecord<'_, NativeEndian>) -> u64 {
    let words = raw.payload().chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap()));
    let words: Vec<u64> = words.collect();
    assert_eq!(words.len(), 1 + words[0] as usize % 7);
    assert!(words.iter().all(|&word| word == words[0]), "a torn record: {words:?}");
    words[0]
}

/// Reads until `until` records were read or reported as lost. Checks that the numbers have no gap.
fn read(mut ring: Ring, until: u64) -> Ring {
    let mut expected = 0;
    while expected < until {
        let mut drain = ring.read().unwrap();
        while let Some(raw) = drain.next_record() {
            let raw = raw.unwrap();
            if raw.kind() == RecordType::LOST {
                expected += u64::from_ne_bytes(raw.payload()[8..16].try_into().unwrap());
            } else {
                assert_eq!(number(&raw), expected);
                expected += 1;
            }
        }
        drop(drain);
        if expected < until {
            wait(&mut ring);
        }
    }
    assert_eq!(expected, until);
    assert!(ring.read().unwrap().next_record().is_none());
    ring
}

/// Writes all records, and waits for room if the ring is full.
fn write_all(mut writer: RingWriter, until: u64) {
    for number in 0..until {
        let record = numbered(number);
        while !writer.write(&record) {
            writer.wake();
            thread::yield_now();
        }
    }
    writer.wake();
}

/// Writes like the kernel: counts the records that find no room, and reports them in a LOST record before the next one
/// that fits.
fn write_or_lose(mut writer: RingWriter, until: u64) {
    let mut lost = 0;
    for number in 0..until {
        let mut next = numbered(number);
        if lost > 0 {
            next = [record(RecordType::LOST, &[0, lost]), next].concat();
        }
        lost = if writer.write(&next) { 0 } else { lost + 1 };
        if number % 64 == 0 {
            writer.wake();
        }
    }
    while lost > 0 && !writer.write(&record(RecordType::LOST, &[0, lost])) {
        thread::yield_now();
    }
    writer.wake();
}

#[test]
fn every_record_comes_once_and_in_order() {
    let until = records();
    let (ring, writer) = loopback::ring(&attr(), 1).unwrap();
    let account = thread::scope(|scope| {
        let reader = scope.spawn(move || read(ring, until));
        write_all(writer, until);
        reader.join().unwrap().account()
    });
    assert_eq!((account.records, account.lost), (until, 0));
}

#[test]
fn every_record_comes_once_or_is_told_lost() {
    let until = records();
    let (ring, writer) = loopback::ring(&attr(), 1).unwrap();
    let (account, bytes) = thread::scope(|scope| {
        let reader = scope.spawn(move || read(ring, until));
        write_or_lose(writer, until);
        let ring = reader.join().unwrap();
        (ring.account(), ring.page().data_head)
    });
    assert_eq!(account.bytes, bytes, "all that was written was taken");
    assert!(account.records + account.lost >= until);
}

#[test]
fn a_ring_that_is_overwritten_meanwhile_gives_whole_records() {
    let until = if cfg!(miri) { records() } else { records() / 20 };
    let (mut ring, mut writer) = loopback::overwrite(&attr(), 1).unwrap();
    thread::scope(|scope| {
        let writing = scope.spawn(move || {
            for number in 0..until {
                let record = numbered(number);
                while !writer.write(&record) {
                    thread::yield_now();
                }
            }
        });
        let mut pauses = 0;
        while !writing.is_finished() || pauses == 0 {
            let mut paused = ring.pause().unwrap();
            let mut records = paused.records().unwrap();
            let mut newer = None;
            while let Some(raw) = records.next_record() {
                let number = number(&raw.unwrap());
                assert!(newer.is_none_or(|newer| newer == number + 1));
                newer = Some(number);
            }
            pauses += 1;
            drop(paused);
            thread::sleep(Duration::from_micros(200));
        }
    });
}
