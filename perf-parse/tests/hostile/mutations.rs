//! Captures truncated at every length, and mutated at random with a fixed seed.

use crate::captures::captures;
use crate::drive::{drive, limit};

/// Captures up to this size are truncated at every length and mutated thousands of times.
const SMALL: usize = 3500;

/// Returns the number of mutations of a capture. Those of a larger one have a tenth of the bytes that those of a small one
/// have.
fn mutations(len: usize) -> usize {
    let of_small = if testdata::is_thorough() { 10_000 } else { 2_500 };
    if len <= SMALL { of_small } else { (of_small * SMALL / 10 / len).max(20) }
}

#[test]
fn every_capture_is_read_within_the_bounds() {
    let (mut opened, mut records) = (0, 0);
    for capture in captures(usize::MAX) {
        println!("{}: {} bytes", capture.name, capture.bytes.len());
        if let Ok(steps) = drive(&capture.bytes) {
            opened += 1;
            records += steps.records;
        }
    }
    assert!(opened > 80 && records > 5000, "{opened} captures, {records} records");
}

#[test]
fn a_small_capture_is_cut_at_every_length() {
    for capture in captures(SMALL) {
        for len in 0..capture.bytes.len() {
            let cut = drive(&capture.bytes[..len]);
            assert!(len >= 16 || cut.is_err(), "{} opens by {len} bytes", capture.name);
        }
    }
}

#[test]
fn a_large_capture_is_cut_at_a_hundred_lengths() {
    let mut random = Random::new(2);
    for capture in captures(usize::MAX).iter().filter(|it| it.bytes.len() > SMALL) {
        let cuts = if capture.bytes.len() > 100_000 { 10 } else { 100 };
        for _ in 0..cuts {
            let _ = drive(&capture.bytes[..random.below(capture.bytes.len())]);
        }
    }
}

/// Mutates every `turns`th capture, because the tests run in parallel.
fn mutate_captures(turn: usize, turns: usize) {
    let (mut opened, mut all) = (0_u64, 0_u64);
    for (index, capture) in captures(usize::MAX).iter().enumerate().filter(|(index, _)| index % turns == turn)
    {
        let mut random = Random::new(index as u64);
        let mut mutated = Vec::new();
        for _ in 0..mutations(capture.bytes.len()) {
            mutated.clear();
            mutated.extend_from_slice(&capture.bytes);
            random.mutate(&mut mutated);
            opened += u64::from(drive(&mutated).is_ok());
            all += 1;
        }
    }
    println!("{all} mutations, of which {opened} open");
    assert!(opened > all / 4, "{opened} of {all} mutations open: most fail too early to try anything");
}

#[test]
fn mutations_of_every_capture_1_of_4() {
    mutate_captures(0, 4);
}

#[test]
fn mutations_of_every_capture_2_of_4() {
    mutate_captures(1, 4);
}

#[test]
fn mutations_of_every_capture_3_of_4() {
    mutate_captures(2, 4);
}

#[test]
fn mutations_of_every_capture_4_of_4() {
    mutate_captures(3, 4);
}

/// The limit detects excessive memory.
#[test]
#[should_panic(expected = "bytes live")]
fn more_than_the_limit_fails() {
    let bytes = &captures(usize::MAX)[0].bytes;
    let _ = crate::drive::drive_within(bytes, limit(bytes.len()) >> 20);
}

/// Xorshift: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 16) as usize % end.max(1)
    }

    /// Changes one to four places.
    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(4) {
            // Half of the changes are in the header, the attrs and the first records.
            let near = if self.below(2) == 0 { bytes.len().min(512) } else { bytes.len() };
            let at = self.below(near);
            match self.below(8) {
                0 => self.set(bytes, at, 1),
                1 => self.set(bytes, at & !1, 2),
                2 => self.set(bytes, at & !3, 4),
                3 | 4 => self.set(bytes, at & !7, 8),
                5 => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte ^= 1 << self.below(8);
                    }
                }
                6 => {
                    let end = (at + self.below(64)).min(bytes.len());
                    bytes.drain(at..end);
                }
                _ => {
                    let end = (at + self.below(64)).min(bytes.len());
                    let copy = bytes[at..end].to_vec();
                    let to = self.below(bytes.len());
                    bytes.splice(to..to, copy);
                }
            }
        }
    }

    /// Sets a little-endian word to a limit of its range, to a value near the size of the capture, or to any value.
    fn set(&mut self, bytes: &mut [u8], at: usize, width: usize) {
        let len = bytes.len() as u64;
        let value = match self.below(8) {
            0 => 0,
            1 => 1,
            2 => u64::MAX,
            3 => u64::MAX - 1,
            4 => i64::MAX as u64,
            5 => len + 1,
            6 => len.wrapping_sub(self.below(64) as u64),
            _ => self.next(),
        };
        for (byte, new) in bytes.iter_mut().skip(at).zip(value.to_le_bytes()).take(width) {
            *byte = new;
        }
    }
}
