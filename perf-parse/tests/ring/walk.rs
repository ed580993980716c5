//! The walkers equal the model in both directions and byte orders, wherever a record wraps, on any bytes.

use perf_parse::abi::endian::{BigEndian, Endian, Endianness, LittleEndian};
use perf_parse::ring::{OldestFirst, RingError, RingErrorKind, RingWalk, TornRecord};
use proptest::prelude::*;

use super::oracle::{End, Model, walk};
use super::{Seen, in_memory_order, oldest, record};

fn is_big<O: Endian>() -> bool {
    O::ENDIANNESS == Endianness::Big
}

/// Returns the error and the torn record of this end.
fn reported(end: End) -> (Option<RingError>, Option<TornRecord>) {
    match end {
        End::Whole | End::Unwritten => (None, None),
        End::Torn { position, bytes } => (None, Some(TornRecord { position, bytes })),
        End::Size { position, size, unread } => {
            (Some(RingError { kind: RingErrorKind::RecordSize { size, unread }, position }), None)
        }
        End::Beyond { position, size, left } => {
            (Some(super::truncated("header.size", u64::from(size), left, position)), None)
        }
    }
}

fn forward_equals<O: Endian>(data: &[u8], tail: u64, head: u64) -> Vec<Seen> {
    let (expected, end) = walk(data, tail, head - tail, is_big::<O>(), false);
    let (error, _) = reported(end);
    let mut ring = RingWalk::<O>::forward(data, tail, head).unwrap();
    let seen = in_memory_order(&mut ring);
    assert_eq!(seen, (expected.clone(), error));
    assert!(expected.len() <= data.len() / 8);
    let walked: u64 = expected.iter().map(|(_, bytes)| bytes.len() as u64).sum();
    assert_eq!((ring.position(), ring.unread()), (tail + walked, head - tail - walked));
    expected
}

fn backward_equals<O: Endian>(data: &[u8], head: u64) -> Vec<Seen> {
    let (size, written) = (data.len() as u64, head.wrapping_neg());
    let (mut expected, end) = walk(data, head, written.min(size), is_big::<O>(), written > size);
    let (error, torn) = reported(end);
    let mut ring = RingWalk::<O>::backward(data, head).unwrap();
    let mut reversed = OldestFirst::<O>::new(data, head).unwrap();
    assert_eq!(in_memory_order(&mut ring), (expected.clone(), error));
    assert_eq!(ring.torn(), torn);
    let unread =
        if error.is_some() { head.wrapping_add(written.min(size)).wrapping_sub(ring.position()) } else { 0 };
    assert_eq!(ring.unread(), unread);
    assert!(expected.len() <= data.len() / 8);

    let newest_first = expected.clone();
    expected.reverse();
    assert_eq!(oldest(&mut reversed), (expected, error));
    assert_eq!((reversed.torn(), reversed.position()), (torn, head));
    newest_first
}

/// Returns sizes of records in multiples of 8 bytes, mostly small.
fn sizes() -> impl Strategy<Value = Vec<u16>> {
    let size = prop_oneof![8 => 1_u16..8, 3 => 8_u16..64, 1 => 64_u16..512].prop_map(|words| words * 8);
    prop::collection::vec(size, 0..60)
}

fn a_ring_written_forward<O: Endian>(size: usize, start: u64, sizes: &[u16]) {
    let mut model = Model::new(size, start * 8);
    let mut boundaries = vec![model.head];
    let mut written = Vec::new();
    for (mark, &length) in sizes.iter().enumerate().filter(|&(_, &length)| usize::from(length) <= size) {
        let record = record(is_big::<O>(), 9, length, mark as u8);
        written.push((model.head, record.clone()));
        model.push_forward(&record);
        boundaries.push(model.head);
    }
    for tail in boundaries.into_iter().filter(|tail| model.head - tail <= size as u64) {
        let seen = forward_equals::<O>(&model.data, tail, model.head);
        let expected: Vec<_> = written.iter().filter(|(at, _)| *at >= tail).cloned().collect();
        assert_eq!(seen, expected);
    }
}

fn a_ring_written_backward<O: Endian>(size: usize, sizes: &[u16]) {
    let mut model = Model::new(size, 0);
    let mut written: Vec<Seen> = Vec::new();
    for (mark, &length) in sizes.iter().enumerate().filter(|&(_, &length)| usize::from(length) <= size) {
        let record = record(is_big::<O>(), 9, length, mark as u8);
        model.push_backward(&record);
        written.insert(0, (model.head, record));
        // After every write: the newest records that are completely in the area.
        let mut left = size;
        let kept = written.iter().take_while(|(_, bytes)| {
            let fits = bytes.len() <= left;
            left = left.saturating_sub(bytes.len());
            fits
        });
        let kept: Vec<_> = kept.cloned().collect();
        assert_eq!(backward_equals::<O>(&model.data, model.head), kept);
    }
}

/// Returns bytes many of which are valid headers.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        4 => (any::<u32>(), 0_u16..12).prop_map(|(kind, words)| (u64::from(kind), words * 8)),
        1 => (any::<u32>(), any::<u16>()).prop_map(|(kind, size)| (u64::from(kind), size)),
        1 => Just((0, 0)),
    ];
    (0_u32..9).prop_flat_map(move |log| prop::collection::vec(word.clone(), 1 << log)).prop_map(|words| {
        words.into_iter().flat_map(|(kind, size)| (kind | u64::from(size) << 48).to_le_bytes()).collect()
    })
}

/// Returns the same bytes with big-endian sizes.
fn swapped(data: &[u8]) -> Vec<u8> {
    let mut data = data.to_vec();
    data.chunks_exact_mut(8).for_each(|word| word.swap(6, 7));
    data
}

proptest! {
    #[test]
    fn forward_gives_what_was_written(log in 3_u32..13, start in 0_u64..1 << 50, sizes in sizes()) {
        a_ring_written_forward::<LittleEndian>(1 << log, start, &sizes);
        a_ring_written_forward::<BigEndian>(1 << log, start, &sizes);
    }

    #[test]
    fn backward_gives_the_newest_that_is_whole(log in 3_u32..13, sizes in sizes()) {
        a_ring_written_backward::<LittleEndian>(1 << log, &sizes);
        a_ring_written_backward::<BigEndian>(1 << log, &sizes);
    }

    #[test]
    fn any_bytes_are_walked_as_in_the_model(data in noise(), from in 0_u64..1 << 40, part in 0.0..=1.0) {
        let words = (data.len() as f64 / 8.0 * part) as u64;
        let (tail, head) = (from * 8, (from + words) * 8);
        forward_equals::<LittleEndian>(&data, tail, head);
        forward_equals::<BigEndian>(&swapped(&data), tail, head);
        for head in [head, head.wrapping_neg(), words.wrapping_neg().wrapping_mul(8)] {
            backward_equals::<LittleEndian>(&data, head);
            backward_equals::<BigEndian>(&swapped(&data), head);
        }
    }

    #[test]
    fn no_geometry_panics(data in prop::collection::vec(any::<u8>(), 0..80), tail: u64, head: u64) {
        for (tail, head) in [(tail, head), (tail & !7, head & !7), (tail & 0x3f, head & 0x3f)] {
            if let Ok(mut ring) = RingWalk::<LittleEndian>::forward(&data, tail, head) {
                assert!(in_memory_order(&mut ring).0.len() <= data.len() / 8);
            }
            if let Ok(mut ring) = RingWalk::<BigEndian>::backward(&data, head) {
                assert!(in_memory_order(&mut ring).0.len() <= data.len() / 8);
            }
        }
    }
}

/// Every content of a ring of four words, as far as the sizes of its headers differ, from every tail to every head.
#[test]
fn every_ring_of_four_words() {
    const SIZES: [u16; 8] = [0, 4, 8, 12, 16, 24, 32, 40];
    for number in (0_usize..SIZES.len().pow(4)).step_by(if cfg!(miri) { 97 } else { 1 }) {
        let sizes = [0, 3, 6, 9].map(|shift| SIZES[number >> shift & 7]);
        let words = sizes.iter().map(|size| if *size == 0 { 0 } else { 9 | u64::from(*size) << 48 });
        let little: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        let big = swapped(&little);
        for length in (0..=32).step_by(8) {
            for tail in [0, 8, 16, 24] {
                let seen = forward_equals::<LittleEndian>(&little, tail, tail + length);
                let seen_swapped = forward_equals::<BigEndian>(&big, tail, tail + length);
                assert!(seen.iter().map(|(at, _)| at).eq(seen_swapped.iter().map(|(at, _)| at)));
            }
        }
        for head in (1..=8).map(|words: u64| (8 * words).wrapping_neg()) {
            backward_equals::<LittleEndian>(&little, head);
            backward_equals::<BigEndian>(&big, head);
        }
    }
}

#[test]
fn the_longest_record_wraps() {
    for at in [8, 16, 32_768, 65_512, 65_520] {
        let mut model = Model::new(1 << 16, at);
        model.push_forward(&record(false, 9, 65_528, 7));
        assert_eq!(forward_equals::<LittleEndian>(&model.data, at, model.head).len(), 1);
    }
}

/// A 32-bit kernel counts down in 32 bits, so its head does not show how much was written.
#[test]
fn a_head_of_32_bits() {
    let mut model = Model::new(64, 0);
    model.push_backward(&record(false, 9, 16, 1));
    model.push_backward(&record(false, 9, 24, 2));
    let head = model.head & u64::from(u32::MAX);
    let mut ring = RingWalk::<LittleEndian>::backward(&model.data, head).unwrap();
    let (seen, error) = in_memory_order(&mut ring);
    assert_eq!(
        seen.iter().map(|(at, bytes)| (*at, bytes.len())).collect::<Vec<_>>(),
        [(head, 24), (head + 24, 16)]
    );
    assert_eq!((error, ring.torn(), ring.unread()), (None, None, 0));
}
