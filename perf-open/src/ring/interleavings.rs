//! A ring's writer and reader in every order of their steps, with every value that the memory model allows a load to
//! return. loom runs them: see `interleavings/Cargo.toml`.
//!
//! The reader is that of the crate. The memory is heap, whose words loom knows: [`crate::sys::tracked`]. Rings have few
//! words, so that they are full and wrap after few records.

mod areas;
mod forward;
mod overwrite;

use alloc::sync::Arc;
use core::sync::atomic::{AtomicU64, Ordering};

use loom::thread;
use perf_abi::endian::NativeEndian;
use perf_abi::record::RecordType;
use perf_parse::RawRecord;

use super::Ring;
use crate::sys::consumer::ControlArea;
use crate::sys::kernel_writer::header;

/// Words of the reader's stack: room for the buffer of a ring. What loom gives by default is less.
const STACK: usize = 1 << 16;

/// Runs `test` in every interleaving, and returns their number.
fn every_interleaving(test: impl Fn() + Send + Sync + 'static) -> u64 {
    let (runs, test) = (Arc::new(AtomicU64::new(0)), Arc::new(test));
    let counter = runs.clone();
    let mut builder = loom::model::Builder::new();
    builder.max_branches = 10_000;
    builder.check(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        let test = test.clone();
        let reader = thread::Builder::new().stack_size(STACK).spawn(move || test());
        reader.unwrap().join().unwrap();
    });
    let runs = runs.load(Ordering::Relaxed);
    println!("{runs} interleavings");
    runs
}

/// Returns the words of the record with number `number`: a header, and one or two words that contain the number.
fn numbered(number: u64) -> Vec<u64> {
    let words = 1 + number % 2;
    let header = u64::from_ne_bytes(header(RecordType(1000), 8 + 8 * words as u16));
    [vec![header], vec![number; words as usize]].concat()
}

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Returns the words of a record's payload.
fn words(raw: &RawRecord<'_, NativeEndian>) -> Vec<u64> {
    let words = raw.payload().chunks_exact(8);
    words.map(|word| u64::from_ne_bytes(word.try_into().unwrap())).collect()
}

/// Returns the number of a record, after checking that it is whole.
fn number(raw: &RawRecord<'_, NativeEndian>) -> u64 {
    let words = words(raw);
    assert_eq!(raw.as_bytes(), bytes(&numbered(words[0])), "a torn record");
    words[0]
}

/// Returns the head and the tail in the control page.
fn positions(ring: &Ring, area: ControlArea) -> [u64; 2] {
    [area.head(), area.tail()].map(|at| ring.control().load(at))
}

/// Something that must happen in some interleavings, or the test shows nothing.
#[derive(Debug, Default)]
struct Reached(AtomicU64);

impl Reached {
    fn note(&self, is_reached: bool) {
        self.0.fetch_add(is_reached.into(), Ordering::Relaxed);
    }

    fn times(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
