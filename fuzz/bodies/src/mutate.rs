//! Mutations of captures that know the fields, so that most results can still be read far beyond the mutation.

use core::ops::Range;

use super::shape::{BITMAP, DATA_SIZE, FILE_HEADER, Shape, number, put};

/// Pseudorandom numbers, the same for the same seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Returns the numbers of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`; 0 if `end` is 0.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % (end as u64).max(1)) as usize
    }

    fn is_one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn one_of<'t, T>(&mut self, all: &'t [T]) -> Option<&'t T> {
        all.get(self.below(all.len()))
    }
}

/// Types of records that are made.
const EVENT_UPDATE: usize = 78;
const COMPRESSED: u64 = 81;

/// Changes a capture in one to three places.
pub fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(3) {
        let shape = Shape::of(bytes);
        match random.below(20) {
            0 => header(bytes, &shape, random),
            1..4 => attr(bytes, &shape, random),
            4..7 => record_header(bytes, &shape, random),
            7..10 => payload(bytes, &shape, random),
            10..13 => feature(bytes, &shape, random),
            13..17 => records(bytes, &shape, random),
            17 => compress(bytes, &shape, random),
            _ => noise(bytes, random),
        }
    }
}

/// Returns a value to replace `old`.
fn value(bytes: &[u8], shape: &Shape, old: u64, random: &mut Random) -> u64 {
    match random.below(12) {
        0 => 0,
        1 => 1,
        2 => u64::MAX,
        3 => bytes.len() as u64 + random.below(2) as u64,
        4 => old.wrapping_add(1),
        5 => old.wrapping_sub(1),
        6 => old.wrapping_add(8),
        7 => old.wrapping_sub(8),
        8 => random.below(300) as u64,
        9 => number(bytes, shape.big, random.below(bytes.len() / 8) * 8, 8),
        10 => random.one_of(&shape.ids).copied().unwrap_or(1),
        _ => old ^ 1 << random.below(64),
    }
}

/// Replaces `width` bytes with another number.
fn change(bytes: &mut [u8], shape: &Shape, at: usize, width: usize, random: &mut Random) {
    let old = number(bytes, shape.big, at, width);
    let new = value(bytes, shape, old, random);
    let new = if width < 8 && random.is_one_in(2) { old ^ 1 << random.below(8 * width) } else { new };
    put(bytes, shape.big, at, width, new);
}

fn header(bytes: &mut [u8], shape: &Shape, random: &mut Random) {
    change(bytes, shape, 8 * random.below(13), 8, random);
    if random.is_one_in(2) {
        let (at, bit) = (BITMAP + 8 * random.below(2), random.below(64));
        let old = number(bytes, shape.big, at, 8);
        put(bytes, shape.big, at, 8, old ^ 1 << bit);
    }
}

/// Changes a field of an attr or the place of its ids.
fn attr(bytes: &mut [u8], shape: &Shape, random: &mut Random) {
    let Some(attr) = random.one_of(&shape.attrs).cloned() else { return };
    match random.below(8) {
        0 => change(bytes, shape, attr.start, 4, random),
        1 => change(bytes, shape, attr.start + 4, 4, random),
        2 => change(bytes, shape, attr.end + 8 * random.below(2), 8, random),
        // Changes a bit that determines the layout of samples: sample_type, read_format, flags.
        3..6 => {
            let at = attr.start + 24 + 8 * random.below(3);
            let bits = if random.is_one_in(3) { 64 } else { 26 };
            let bit = random.below(bits);
            let old = number(bytes, shape.big, at, 8);
            put(bytes, shape.big, at, 8, old ^ 1 << bit);
        }
        _ => change(bytes, shape, attr.start + 8 + 8 * random.below(attr.len() / 8), 8, random),
    }
}

fn record_header(bytes: &mut [u8], shape: &Shape, random: &mut Random) {
    let Some(at) = random.one_of(&shape.records).map(|record| record.start) else { return };
    match random.below(4) {
        0 => put(bytes, shape.big, at, 4, 1 + random.below(24) as u64),
        1 => put(bytes, shape.big, at, 4, 64 + random.below(24) as u64),
        2 => change(bytes, shape, at + 4, 2, random),
        _ => change(bytes, shape, at + 6, 2, random),
    }
}

/// Changes a word of a record or a byte of a string in it.
fn payload(bytes: &mut [u8], shape: &Shape, random: &mut Random) {
    let Some(record) = random.one_of(&shape.records).cloned() else { return };
    inside(bytes, shape, record.start + 8..record.end, random);
}

/// Changes a word of a feature, an entry of the table, or a byte of a string.
fn feature(bytes: &mut [u8], shape: &Shape, random: &mut Random) {
    if random.is_one_in(4) {
        let Some(&entry) = random.one_of(&shape.entries) else { return };
        if random.is_one_in(3) {
            // Uses the section of another feature.
            let other = random.one_of(&shape.entries).copied().unwrap_or(entry);
            bytes.copy_within(other..other + 16, entry);
        } else {
            change(bytes, shape, entry + 8 * random.below(2), 8, random);
        }
        return;
    }
    let Some(section) = random.one_of(&shape.features).cloned() else { return };
    inside(bytes, shape, section, random);
}

/// Bytes with a special meaning for terminals, JSON or C.
const BYTES: &[u8] = b"\0\n\t\r\x1b\x7f\x80\xff\"\\/ %{}a0\xc2\x9b";

/// Changes a number, more often near the start of `place`, or a byte.
fn inside(bytes: &mut [u8], shape: &Shape, place: Range<usize>, random: &mut Random) {
    if place.is_empty() {
        return;
    }
    let far = if random.is_one_in(2) { place.len() } else { place.len().min(48) };
    match random.below(3) {
        0 => change(bytes, shape, place.start + random.below(far / 8) * 8, 8, random),
        1 => change(bytes, shape, place.start + random.below(far / 4) * 4, 4, random),
        _ => {
            let at = place.start + random.below(place.len());
            for byte in bytes.iter_mut().skip(at).take(1 + random.below(3)) {
                *byte = random.one_of(BYTES).copied().unwrap_or_default();
            }
        }
    }
}

/// Removes, inserts or resizes a record. Nearly always everything else stays consistent.
fn records(bytes: &mut Vec<u8>, shape: &Shape, random: &mut Random) {
    let Some(record) = random.one_of(&shape.records).cloned() else { return };
    let other = random.one_of(&shape.records).cloned().unwrap_or(record.clone());
    let old = bytes.get(record.clone()).unwrap_or_default().to_vec();
    let other = bytes.get(other).unwrap_or_default().to_vec();
    let new = match random.below(8) {
        0 => Vec::new(),
        1 => [&*other, &old].concat(),
        2 => other,
        3 => {
            // Makes the record shorter or longer and adjusts its size.
            let len = (old.len() + 8 * random.below(5)).saturating_sub(16).clamp(8, 65528);
            let mut new = old;
            new.resize(len, 0);
            put(&mut new, shape.big, 6, 2, len as u64);
            new
        }
        4 => [&*made(shape, 0, random), &old].concat(),
        5 => [&*old, &made(shape, 0, random)].concat(),
        6 => {
            // Uses the bytes of one record with the type of another.
            let mut new = other;
            put(&mut new, shape.big, 0, 4, any_type(random) as u64);
            [&*new, &old].concat()
        }
        _ => [&*made(shape, EVENT_UPDATE, random), &old].concat(),
    };
    replace(bytes, shape, record, new, random);
}

/// Returns a type of the kernel, of perf or of simpleperf, known or not.
fn any_type(random: &mut Random) -> usize {
    match random.below(4) {
        0 | 1 => 1 + random.below(24),
        2 => 64 + random.below(24),
        _ => 32768 + random.below(12),
    }
}

/// Makes a record of a type, or of any type for 0: an EVENT_UPDATE of a known event, or numbers and a text.
fn made(shape: &Shape, kind: usize, random: &mut Random) -> Vec<u8> {
    let kind = if kind == 0 { any_type(random) } else { kind };
    let mut new = vec![0; 8 + 8 * random.below(6)];
    let word = |random: &mut Random| match random.below(3) {
        0 => random.one_of(&shape.ids).copied().unwrap_or_default(),
        1 => random.below(5) as u64,
        _ => random.next() >> random.below(64),
    };
    for at in (8..new.len()).step_by(8) {
        put(&mut new, shape.big, at, 8, word(random));
    }
    if random.is_one_in(2) {
        let text = (0..8 * random.below(4)).map(|_| random.one_of(BYTES).copied().unwrap_or_default());
        new.extend(text.collect::<Vec<_>>());
        new.extend([0; 8]);
    }
    if kind == EVENT_UPDATE {
        new.resize(new.len().max(32), b'n');
        put(&mut new, shape.big, 8, 8, random.below(5) as u64);
        put(&mut new, shape.big, 16, 8, random.one_of(&shape.ids).copied().unwrap_or_default());
    }
    put(&mut new, shape.big, 0, 4, kind as u64);
    let len = new.len() as u64;
    put(&mut new, shape.big, 6, 2, len);
    new
}

/// Replaces records with `new` and adjusts the offsets in the file that refer to later places.
fn replace(bytes: &mut Vec<u8>, shape: &Shape, old: Range<usize>, new: Vec<u8>, random: &mut Random) {
    let (big, grown) = (shape.big, (new.len() as u64).wrapping_sub(old.len() as u64));
    let add = |bytes: &mut [u8], at| put(bytes, big, at, 8, number(bytes, big, at, 8).wrapping_add(grown));
    if !shape.is_pipe && !random.is_one_in(16) {
        for &entry in &shape.entries {
            add(bytes, entry);
        }
        if number(bytes, big, DATA_SIZE, 8) != 0 {
            add(bytes, DATA_SIZE);
        }
        // Includes the offsets of the attrs and their ids if they come later.
        if number(bytes, big, 24, 8) > old.start as u64 {
            add(bytes, 24);
        }
        for attr in &shape.attrs {
            if number(bytes, big, attr.end, 8) > old.start as u64 {
                add(bytes, attr.end);
            }
        }
    }
    bytes.splice(old, new);
}

/// Moves consecutive records into one or two COMPRESSED records: a zstd frame with one block that is not compressed
/// further.
fn compress(bytes: &mut Vec<u8>, shape: &Shape, random: &mut Random) {
    let first = random.below(shape.records.len());
    let last = (first + random.below(12)).min(shape.records.len().saturating_sub(1));
    let (Some(from), Some(to)) = (shape.records.get(first), shape.records.get(last)) else { return };
    let place = from.start..to.end;
    let run = bytes.get(place.clone()).unwrap_or_default();
    if run.len() > 32_000 {
        return;
    }
    let [low, middle, high, _] = ((run.len() as u32) << 3 | 1).to_le_bytes();
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 6 << 3, low, middle, high];
    frame.extend_from_slice(run);
    if random.is_one_in(4) {
        let at = random.below(frame.len());
        frame[at] ^= 1 << random.below(8);
    }
    let cut = if random.is_one_in(2) { random.below(frame.len()) } else { frame.len() };
    let mut new = Vec::new();
    for piece in [&frame[..cut], &frame[cut..]] {
        if !piece.is_empty() {
            let mut record = [&[0; 8], piece].concat();
            let len = record.len() as u64;
            put(&mut record, shape.big, 0, 4, COMPRESSED);
            put(&mut record, shape.big, 6, 2, len);
            new.extend(record);
        }
    }
    replace(bytes, shape, place, new, random);
}

/// Mutations that do not know the fields.
fn noise(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len());
    match random.below(6) {
        0 => bytes.truncate(at.max(FILE_HEADER)),
        1 => drop(bytes.drain(at..(at + 1 + random.below(16)).min(bytes.len()))),
        2 => drop(bytes.splice(at..at, core::iter::repeat_n(random.next() as u8, 1 + random.below(16)))),
        3 => {
            let from = random.below(bytes.len());
            let len = random.below(64).min(bytes.len() - from.max(at));
            bytes.copy_within(from..from + len, at);
        }
        _ => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
    }
}
