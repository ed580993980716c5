//! Errors of the perf tool's own records.

use perf_parse::Error;
use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::sample_type::SampleType;

use crate::{error, residue, truncated};

fn user(kind: u32, words: &[u64]) -> Error {
    // They have no trailer, whatever the attr says.
    let attr = Attr { sample_type: SampleType::TIME, flags: AttrFlags::SAMPLE_ID_ALL, ..Attr::default() };
    error(&attr, kind, 0, |bytes| bytes.u64s(words))
}

#[test]
fn marks() {
    assert_eq!(user(68, &[1]), residue(8, 8));
    assert_eq!(user(82, &[1]), residue(8, 8));
}

#[test]
fn id_index() {
    assert_eq!(user(69, &[]), truncated("nr", 8, 0, 8));
    assert_eq!(user(69, &[2, 1, 2, 3, 4]), truncated("entries", 64, 32, 16));
    assert_eq!(user(69, &[1, 1, 2, 3, 4, 5]), truncated("entries_2", 16, 8, 48));
    assert_eq!(user(69, &[1, 1, 2, 3, 4, 5, 6, 7]), residue(8, 64));
    assert_eq!(user(69, &[1 << 59]), truncated("entries", u64::MAX, 0, 16));
}

#[test]
fn auxtrace() {
    assert_eq!(user(70, &[]), truncated("type", 8, 0, 8));
    let odd = error(&Attr::default(), 70, 0, |bytes| bytes.u64s(&[1, 2]).u32(3));
    assert_eq!(odd, residue(4, 24));
    assert_eq!(user(71, &[1, 2, 3, 4]), truncated("size", 40, 32, 8));
    assert_eq!(user(71, &[1, 2, 3, 4, 5, 6]), residue(8, 48));
}

#[test]
fn thread_map() {
    assert_eq!(user(73, &[]), truncated("nr", 8, 0, 8));
    assert_eq!(user(73, &[2, 1, 2, 3]), truncated("entries", 48, 24, 16));
    assert_eq!(user(73, &[1, 1, 2, 3, 4]), residue(8, 40));
}

#[test]
fn time_conv() {
    assert_eq!(user(79, &[1, 2]), truncated("time_shift", 24, 16, 8));
    assert_eq!(user(79, &[1, 2, 3, 4]), truncated("time_cycles", 24, 8, 32));
    assert_eq!(user(79, &[1, 2, 3, 4, 5, 6, 7]), residue(8, 56));
}
