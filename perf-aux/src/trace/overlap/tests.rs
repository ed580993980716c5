use alloc::vec::Vec;

use proptest::prelude::*;

use super::psb::PSB;
use super::*;

/// Tries each length, as perf does.
fn longest_by_trial(last: &[u8], next: &[u8], unit: usize) -> usize {
    let most = last.len().min(next.len()) / unit;
    (1..=most)
        .rev()
        .map(|units| units * unit)
        .find(|&len| next[..len] == last[last.len() - len..])
        .unwrap_or(0)
}

/// Few different bytes, so that data repeats itself.
fn few() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(0..2_u8, 0..40)
}

/// Parts of a trace of Intel PT: packets of which some are cut, and time stamps that repeat and go back.
fn part() -> impl Strategy<Value = Vec<u8>> {
    let stamp = prop_oneof![
        (0..4_u8).prop_map(|low| [0x19, low, 0, 0, 0, 0, 0, 0]),
        Just([0x19, 0, 0, 0, 0, 0, 0, 0x80])
    ];
    prop_oneof![
        3 => stamp.prop_map(|stamp| [&PSB[..], &stamp, &[2, 0x23]].concat()),
        1 => Just([&PSB[..], &[2, 3, 9, 0, 0, 0, 2, 0x23]].concat()),
        1 => Just([&PSB[..], &[2, 0x73, 1, 2, 3, 4, 5, 2, 0x43, 1, 2, 3, 4, 5, 6, 0x19, 3, 0, 0, 0, 0, 0, 0]].concat()),
        1 => Just(PSB.to_vec()),
        1 => (1..40_usize).prop_map(|bytes| [2, 0x82].iter().copied().cycle().take(bytes).collect()),
        1 => prop::collection::vec(0..4_u8, 0..9),
        1 => (1..9_usize).prop_map(|bytes| alloc::vec![0; bytes]),
    ]
}

/// perf's search, step by step: each time stamp is looked for from each PSB on.
fn by_trial(last: &[u8], next: &[u8], has_tsc: bool) -> NewData {
    let other = |start| NewData { start, is_consecutive: false };
    let psbs = |bytes: &[u8]| {
        let at = bytes.windows(16).enumerate().filter(|(_, window)| **window == PSB);
        at.map(|(at, _)| at).collect::<Vec<_>>()
    };
    let (of_next, of_last) = (psbs(next), psbs(last));
    let Some(&first) = of_next.first() else { return other(next.len()) };
    if of_last.is_empty() {
        return other(first);
    }
    if !has_tsc {
        let found = of_last.iter().map(|&psb| &last[psb..]).find(|tail| next[first..].starts_with(tail));
        return found
            .map_or(other(first), |tail| NewData { start: first + tail.len(), is_consecutive: true });
    }
    let stamp = |bytes: &[u8], psb: usize| first_tsc(bytes, psb);
    let mut end = last.len();
    let complete = |end: usize| psbs(&last[..end]).last().copied();
    let Some(mut psb) = complete(end) else { return other(first) };
    if stamp(&last[..end], psb).is_none() {
        end = psb;
        psb = match complete(end) {
            Some(psb) => psb,
            None => return other(first),
        };
    }
    let Some(last_stamp) = stamp(&last[..end], psb) else { return other(first) };
    for psb in of_next {
        let Some(it) = stamp(next, psb) else { continue };
        let after = end - last_stamp.at;
        if it.tsc == last_stamp.tsc && next.len() - it.at >= after {
            let start = it.at + after;
            let same = (1..=7).rev().take_while(|back| next[start - back] == last[end - back]).count();
            return NewData { start: start - 7 + same, is_consecutive: true };
        }
        let half = 1 << 55;
        let distance = it.tsc.wrapping_sub(last_stamp.tsc) & ((1 << 56) - 1);
        if it.tsc != last_stamp.tsc && (distance < half || (distance == half && last_stamp.tsc > it.tsc)) {
            return other(psb);
        }
    }
    other(next.len())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_longest_overlap_is_that_of_all_lengths(last in few(), next in few(), unit in 1..4_usize) {
        prop_assert_eq!(longest_overlap(&last, &next, unit), longest_by_trial(&last, &next, unit));
    }

    #[test]
    fn repeated_data_is_found_as_if_step_by_step(
        parts in prop::collection::vec(part(), 0..8),
        other in prop::collection::vec(part(), 0..5),
        [from, to, begin] in any::<[prop::sample::Index; 3]>(),
        has_tsc in any::<bool>(),
    ) {
        let trace = parts.concat();
        let last = &trace[..to.index(trace.len() + 1)];
        let last = &last[from.index(last.len() + 1)..];
        let next = [&trace[begin.index(trace.len() + 1)..], &other.concat()].concat();
        prop_assert_eq!(intel_pt(last, &next, has_tsc), by_trial(last, &next, has_tsc));
    }
}

#[test]
fn time_stamps_that_wrap() {
    const LAST: u64 = (1 << 56) - 1;
    assert!(is_earlier(1, 2) && !is_earlier(2, 1) && !is_earlier(3, 3));
    assert!(is_earlier(LAST, 0) && !is_earlier(0, LAST));
    assert!(is_earlier(0, (1 << 55) - 1) && !is_earlier(0, 1 << 55) && is_earlier(1 << 55, 0));
}

/// The packets that come between PSB and a time stamp, each of which is skipped as a whole.
#[test]
fn packets_before_a_time_stamp() {
    let stamp = [0x19, 1, 2, 3, 4, 5, 6, 7];
    for packet in [
        &[0][..],
        &[2, 3, 0x19, 0],
        &[2, 0x43, 0x19, 0x19, 0x19, 0x19, 0x19, 0x19],
        &[2, 0x73, 0x19, 0x19, 0x19, 0x19, 0x19],
        &[2, 0xc8, 0x19, 0x19, 0x19, 0x19, 0x19],
        &[2, 0xf3],
        &[2, 0xc3, 0x88, 0x19, 0x19, 0x19, 0x19, 0x19, 0x19, 0x19, 0x19],
        &[0x59, 0x19],
        &[0x99, 0x19],
        &[0x1d],
        &[0x3d, 0x19, 0x19],
        &[0x5d, 0x19, 0x19, 0x19, 0x19],
        &[0x7d, 0x19, 0x19, 0x19, 0x19, 0x19, 0x19],
        &[0x9d, 0x19, 0x19, 0x19, 0x19, 0x19, 0x19],
        &[0xdd, 0x19, 0x19, 0x19, 0x19, 0x19, 0x19, 0x19, 0x19],
        &[0x0b],
        &[0x0f, 0x19, 0x18],
    ] {
        let bytes = [&PSB[..], packet, &stamp].concat();
        let found = first_tsc(&bytes, 0);
        assert_eq!(
            found.map(|it| (it.tsc, it.at)),
            Some((0x07_0605_0403_0201, 16 + packet.len())),
            "{packet:x?}"
        );
        // Each packet, and the time stamp, must be whole.
        for end in 16..bytes.len() {
            assert_eq!(first_tsc(&bytes[..end], 0), None, "{packet:x?}");
        }
    }
    // PSBEND, another PSB, TNT, reserved addresses, CYC without an end.
    for packet in [&[2, 0x23][..], &PSB, &[4], &[0xbd], &[0xfd], &[0x0f; 20], &[2, 0x99]] {
        assert_eq!(first_tsc(&[&PSB[..], packet, &stamp].concat(), 0), None, "{packet:x?}");
    }
}
