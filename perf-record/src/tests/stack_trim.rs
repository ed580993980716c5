//! Samples without the undefined bytes of their stacks.

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::endian::NativeEndian;
use perf_abi::event::{EventType, SwId};
use perf_abi::record::{Misc, RecordType};
use perf_abi::sample_type::SampleType;
use perf_abi::txn::Txn;
use perf_parse::record::Comm;
use perf_parse::write::{self, SampleFields, SampleIdFields, StackUserFields};
use perf_parse::{RawRecord, Record, SampleLayout};

use crate::stack_trim::StackTrim;

/// Returns the attr of an event whose samples have a field before the stack and one after it.
fn attr() -> Attr {
    let sample_type =
        SampleType::TID | SampleType::CALLCHAIN | SampleType::STACK_USER | SampleType::TRANSACTION;
    let flags = AttrFlags::SAMPLE_ID_ALL;
    Attr { sample_type, flags, sample_stack_user: 64, ..Attr::default() }
}

/// Returns a sample with room for 64 bytes of stack and the other fields. The kernel copied `copied` bytes of the stack.
fn sample(layout: &SampleLayout, copied: u64) -> Vec<u8> {
    let fields = SampleFields {
        pid_tid: Some((5, 6)),
        callchain: Some(vec![7, 8]),
        stack_user: Some(StackUserFields { data: (0..64).collect(), dyn_size: Some(copied) }),
        transaction: Some(Txn(9)),
        ..SampleFields::default()
    };
    let mut bytes = Vec::new();
    write::sample::<NativeEndian>(&mut bytes, layout, Misc(2), &fields).unwrap();
    bytes
}

fn comm(layout: &SampleLayout) -> Vec<u8> {
    let mut bytes = Vec::new();
    let comm = Record::Comm(Comm { pid: 5, tid: 6, comm: b"x" });
    write::record::<NativeEndian>(&mut bytes, layout, Misc(0), &comm, &SampleIdFields::default()).unwrap();
    bytes
}

#[test]
fn what_the_kernel_copied_is_kept() {
    let layout = SampleLayout::new(&attr()).unwrap();
    let mut trim = StackTrim::new([&attr()]).unwrap();
    let copies = [0, 1, 8, 9, 56, 57, 64];
    let whole: Vec<Vec<u8>> =
        copies.iter().flat_map(|&copied| [sample(&layout, copied), comm(&layout)]).collect();
    let whole = whole.concat();
    let mut records = trim.trimmed(&whole);
    for (copied, kept) in copies.into_iter().zip([8, 8, 8, 16, 56, 64, 64]) {
        let (raw, rest) = RawRecord::<NativeEndian>::parse(records).unwrap();
        assert_eq!(
            (raw.kind(), raw.as_bytes().len()),
            (RecordType::SAMPLE, sample(&layout, 64).len() - 64 + kept)
        );
        let Record::Sample(it) = raw.decode(&layout).unwrap() else { panic!("no sample") };
        let tail = it.tail().unwrap();
        let stack = tail.stack_user.unwrap();
        let expected: Vec<u8> = (0..kept as u8).collect();
        assert_eq!((stack.data, stack.dyn_size), (&*expected, Some(copied)), "{copied}");
        assert_eq!((it.pid(), it.tid(), tail.transaction), (Some(5), Some(6), Some(Txn(9))));
        let (raw, rest) = RawRecord::<NativeEndian>::parse(rest).unwrap();
        assert_eq!(raw.as_bytes(), comm(&layout));
        records = rest;
    }
    assert!(records.is_empty());
}

#[test]
fn what_cannot_be_decoded_is_left_alone() {
    let layout = SampleLayout::new(&attr()).unwrap();
    let mut trim = StackTrim::new([&attr()]).unwrap();
    // More bytes than there is room for.
    let wrong = sample(&layout, 64);
    let at = wrong.len() - 16;
    let mut wrong = wrong;
    wrong[at..at + 8].copy_from_slice(&65_u64.to_ne_bytes());
    assert_eq!(trim.trimmed(&wrong), wrong);
    assert_eq!(trim.trimmed(&wrong[..wrong.len() - 8]), b"", "only whole records are passed");
}

#[test]
fn events_that_differ_are_left_alone() {
    let plain = Attr { sample_type: SampleType::TID, ..attr() };
    let dummy = Attr { kind: EventType::SOFTWARE, config: SwId::DUMMY.0, ..plain };
    assert!(StackTrim::new([&attr(), &plain]).is_none() && StackTrim::new([&plain]).is_none());
    assert!(StackTrim::new([]).is_none());
    assert!(StackTrim::new([&dummy, &attr(), &attr()]).is_some());
}
