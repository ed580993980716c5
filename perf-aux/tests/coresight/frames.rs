//! Frames: what a formatter wrote is found again, and every byte of any trace is accounted for.

use perf_abi::aux_area::{AuxFlags, AuxFormat};
use perf_aux::coresight::{CsFrames, CsPart, CsTraceId, has_frames};
use proptest::prelude::*;

use crate::formatter;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    what_a_formatter_wrote,
    what_a_trace_port_wrote,
    any_trace,
    every_even_byte_and_bit,
    barriers,
    traces_that_continue,
    syncs_and_incomplete_frames,
    formats,
];

fn ids() -> impl Strategy<Value = u8> {
    prop_oneof![Just(0x10_u8), Just(0x12), Just(0x6f), Just(1), Just(0x55)]
}

fn sources() -> impl Strategy<Value = Vec<(u8, u8)>> {
    let run = (ids(), prop::collection::vec(any::<u8>(), 1..20));
    let runs = prop::collection::vec(run, 0..20);
    runs.prop_map(|runs| {
        runs.into_iter().flat_map(|(id, run)| run.into_iter().map(move |it| (id, it))).collect()
    })
}

/// The bytes of all sources but padding, in order, with their ids.
fn found(parts: impl Iterator<Item = CsPart>) -> Vec<(u8, u8)> {
    let mut found = Vec::new();
    for part in parts {
        let CsPart::Slice(slice) = part else { panic!("{part:?}") };
        assert!((1..=15).contains(&slice.bytes().len()));
        let id = slice.id.map_or(u8::MAX, |id| id.0);
        found.extend(slice.bytes().iter().filter(|_| id != 0).map(|byte| (id, *byte)));
    }
    found
}

fn what_a_formatter_wrote() {
    proptest!(|(bytes in sources(), choices in prop::collection::vec(any::<bool>(), 1..50))| {
        let mut choices = choices.iter().copied().cycle();
        let trace = formatter::frames(&bytes, || choices.next().unwrap());
        prop_assert_eq!(trace.len() % 16, 0);
        prop_assert_eq!(found(CsFrames::new(&trace)), bytes);
    });
}

/// Synchronisation words at each place that they may have change nothing.
fn what_a_trace_port_wrote() {
    let places = prop::collection::vec(0..10_u8, 1..50);
    proptest!(|(bytes in sources(), places in places, junk in prop::collection::vec(0..0x7f_u8, 0..9))| {
        let trace = formatter::frames(&bytes, || false);
        let mut places = places.into_iter().cycle();
        let mut port = junk.clone();
        port.extend([0xff, 0xff, 0xff, 0x7f]);
        let half = |port: &mut Vec<u8>, place| (0..place).for_each(|_| port.extend([0xff, 0x7f]));
        for frame in trace.chunks(16) {
            for pair in frame.chunks(2) {
                half(&mut port, places.next().unwrap().saturating_sub(7));
                port.extend(pair);
            }
            half(&mut port, places.next().unwrap().saturating_sub(8));
            (0..places.next().unwrap().saturating_sub(8)).for_each(|_| port.extend([0xff, 0xff, 0xff, 0x7f]));
        }
        let mut parts = CsFrames::with_syncs(&port);
        if !junk.is_empty() {
            prop_assert_eq!(parts.next(), Some(CsPart::Incomplete { offset: 0, len: junk.len() }));
        }
        prop_assert_eq!(found(parts), bytes);
    });
}

/// A frame by the words of the specification, byte by byte: the source, offset and value of each byte of data.
fn model(frame: &[u8], start: usize, id: &mut Option<u8>) -> Vec<(Option<u8>, usize, u8)> {
    let mut data = Vec::new();
    let mut later = None;
    for (at, &byte) in frame[..15].iter().enumerate() {
        let bit = frame[15] >> (at / 2) & 1;
        if at % 2 == 0 && byte & 1 == 1 {
            match (bit, at) {
                (1, 0..14) => later = Some(byte >> 1),
                _ => *id = Some(byte >> 1),
            }
            continue;
        }
        data.push((*id, start + at, if at % 2 == 0 { byte | bit } else { byte }));
        if at % 2 == 1 {
            *id = later.take().or(*id);
        }
    }
    data
}

fn check(trace: &[u8]) {
    const SYNC: &[u8] = &[0xff, 0xff, 0xff, 0x7f];
    let (mut expected, mut id) = (Vec::new(), None);
    let mut frames = trace.chunks_exact(16);
    for (index, frame) in frames.by_ref().enumerate() {
        if frame == SYNC.repeat(4) {
            id = None;
            expected.push((None, index * 16, None));
        } else {
            let data = model(frame, index * 16, &mut id);
            expected.extend(data.into_iter().map(|(id, offset, byte)| (id, offset, Some(byte))));
        }
    }
    let mut parts = CsFrames::new(trace);
    let mut seen = Vec::new();
    let mut incomplete = 0;
    for part in parts.by_ref() {
        match part {
            CsPart::Slice(slice) => {
                for (offset, byte) in (slice.offset..).zip(slice.bytes()) {
                    seen.push((slice.id.map(|id| id.0), offset, Some(*byte)));
                }
            }
            CsPart::Barrier { offset } => seen.push((None, offset, None)),
            CsPart::Incomplete { offset, len } => {
                assert_eq!((offset, incomplete), (trace.len() - len, 0));
                incomplete = len;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(seen, expected);
    assert_eq!(incomplete, frames.remainder().len());
    assert_eq!(parts.id().map(|id| id.0), id);
}

fn any_trace() {
    let byte = prop_oneof![3 => any::<u8>(), 1 => Just(0xff_u8), 1 => Just(0x7f)];
    proptest!(|(trace in prop::collection::vec(byte, 0..200))| {
        check(&trace);
        // With synchronisation words: parts are in order, do not overlap, and the gaps are ids, last bytes and words.
        let mut end = 0;
        for part in CsFrames::with_syncs(&trace) {
            let (offset, len) = match part {
                CsPart::Slice(slice) => (slice.offset, slice.bytes().len()),
                CsPart::Incomplete { offset, len } => (offset, len),
                other => panic!("{other:?}"),
            };
            prop_assert!(len > 0 && offset >= end && offset + len <= trace.len());
            end = offset + len;
        }
    });
}

/// Each value of an even byte at each place, with its bit set and clear: 8,192 frames.
fn every_even_byte_and_bit() {
    for place in (0..15).step_by(2) {
        for byte in 0..=u8::MAX {
            for low_bits in [0, 1 << (place / 2), !(1 << (place / 2)), u8::MAX] {
                let mut trace = [0xa5_u8; 32].map(|byte| byte & 0xfe);
                trace[place] = byte;
                trace[15] = low_bits;
                check(&trace);
            }
        }
    }
}

fn barriers() {
    let barrier = [0xff, 0xff, 0xff, 0x7f].repeat(4);
    let frame = [[0x21; 1].as_slice(), &[2; 15]].concat();
    let trace = [&frame, &barrier, &barrier, &frame[1..], &[2]].concat();
    check(&trace);
    let parts: Vec<_> = CsFrames::new(&trace).collect();
    assert_eq!(parts.len(), 1 + 2 + 1);
    assert_eq!(parts[1..3], [CsPart::Barrier { offset: 16 }, CsPart::Barrier { offset: 32 }]);
    // The source after a barrier is unknown until the next id.
    assert!(matches!(parts[3], CsPart::Slice(slice) if slice.id.is_none()));
}

fn traces_that_continue() {
    let trace = formatter::frames(&[(0x10, 1); 40], || false);
    let (first, second) = trace.split_at(16);
    let mut parts = CsFrames::new(first);
    assert_eq!(parts.by_ref().count(), 1);
    assert_eq!(parts.id(), Some(CsTraceId(0x10)));
    assert_eq!(found(CsFrames::new(first).chain(CsFrames::new(second).after(parts.id()))), [(0x10, 1); 40]);
    assert!(found(CsFrames::new(second)).iter().any(|(id, _)| *id == u8::MAX));
}

fn syncs_and_incomplete_frames() {
    let incomplete = |offset, len| CsPart::Incomplete { offset, len };
    for len in 1..16 {
        assert_eq!(CsFrames::new(&[2; 16][..len]).collect::<Vec<_>>(), [incomplete(0, len)]);
        assert_eq!(CsFrames::with_syncs(&[2; 16][..len]).collect::<Vec<_>>(), [incomplete(0, len)]);
    }
    assert_eq!(CsFrames::new(&[]).next(), None);
    assert_eq!(CsFrames::with_syncs(&[]).next(), None);
    let full: &[u8] = &[0xff, 0xff, 0xff, 0x7f];
    let half: &[u8] = &[0xff, 0x7f];
    let parts = |pieces: &[&[u8]]| CsFrames::with_syncs(&pieces.concat()).collect::<Vec<_>>();
    // Only synchronisation words, of both kinds and at odd offsets.
    assert_eq!(parts(&[full, full, half, full, half]), []);
    assert_eq!(parts(&[&[2; 5], full]), [incomplete(0, 5)]);
    // A frame that a word interrupts, and one that the end does, also within a pair.
    let all = parts(&[full, &[0; 6], full, &[0; 16], half, &[0; 3]]);
    assert_eq!(all.len(), 3);
    assert_eq!((all[0], all[2]), (incomplete(4, 6), incomplete(32, 3)));
    assert!(matches!(all[1], CsPart::Slice(slice) if slice.offset == 14 && slice.bytes() == [0; 15]));
    // A half word splits a slice.
    let split = parts(&[full, &[2; 4], half, &[2; 12]]);
    let places = split.iter().map(|part| match part {
        CsPart::Slice(slice) => (slice.offset, slice.bytes().len()),
        other => panic!("{other:?}"),
    });
    assert_eq!(places.collect::<Vec<_>>(), [(4, 4), (10, 11)]);
}

fn formats() {
    assert!(has_frames(AuxFlags::NONE) && has_frames(AuxFlags::NONE.with_pmu_format_type(AuxFormat(2))));
    assert!(!has_frames(AuxFlags::PARTIAL.with_pmu_format_type(AuxFormat::RAW)));
    let sources = (0..=u8::MAX).filter(|id| CsTraceId(*id).is_source()).collect::<Vec<_>>();
    assert_eq!(sources, (1..0x70).collect::<Vec<_>>());
}
