//! What is found in records while they are written.

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::endian::NativeEndian;
use perf_abi::record::Misc;
use perf_abi::sample_type::SampleType;
use perf_parse::record::{FileId, Mmap2};
use perf_parse::write::{self, SampleFields, SampleIdFields};
use perf_parse::{RawRecord, Record, SampleLayout};

use crate::survey::Survey;

/// Returns the records of a mapping and of a sample.
fn records(layout: &SampleLayout, misc: Misc, time: u64) -> Vec<u8> {
    let id = FileId::Inode { maj: 0xfe, min: 1, ino: 77, ino_generation: 0 };
    let (filename, prot_flags) = (&b"/bin/x"[..], Some((5, 2)));
    let map = Mmap2 { pid: 5, tid: 5, addr: 0x1000, len: 0x1000, pgoff: 0, id, prot_flags, filename };
    let mut bytes = Vec::new();
    let trailer = SampleIdFields::default();
    write::record::<NativeEndian>(&mut bytes, layout, Misc(2), &Record::Mmap2(map), &trailer).unwrap();
    bytes[4..6].copy_from_slice(&misc.0.to_ne_bytes());
    let fields =
        SampleFields { ip: Some(1), pid_tid: Some((5, 5)), time: Some(time), ..SampleFields::default() };
    write::sample::<NativeEndian>(&mut bytes, layout, Misc(2), &fields).unwrap();
    bytes
}

fn attr(flags: AttrFlags) -> Attr {
    let sample_type = SampleType::IP | SampleType::TID | SampleType::TIME;
    Attr { sample_type, flags: AttrFlags::SAMPLE_ID_ALL | flags, ..Attr::default() }
}

#[test]
fn samples_and_their_times() {
    let attr = attr(AttrFlags::NONE);
    let layout = SampleLayout::new(&attr).unwrap();
    let mut survey = Survey::new([&attr, &attr], &attr, layout, (true, false));
    for time in [7, 3, 9] {
        assert!(!survey.look(&records(&layout, Misc(2), time)));
    }
    assert_eq!((survey.samples, survey.times), (3, Some((3, 9))));
    // Events that differ in the place of the time.
    let other = Attr { sample_type: attr.sample_type | SampleType::IDENTIFIER, ..attr };
    let mut survey = Survey::new([&attr, &other], &attr, layout, (false, false));
    survey.look(&records(&layout, Misc(2), 7));
    assert_eq!((survey.samples, survey.times), (1, None));
}

/// Another recorder makes the kernel say that our mappings have build ids.
#[test]
fn a_build_id_that_is_none() {
    let plain = attr(AttrFlags::NONE);
    let layout = SampleLayout::new(&plain).unwrap();
    let (good, wrong) = (records(&layout, Misc(2), 1), records(&layout, Misc(2) | Misc::MMAP_BUILD_ID, 1));
    let mut survey = Survey::new([&plain], &plain, layout, (true, false));
    assert!(!survey.look(&good) && survey.look(&wrong));
    assert_eq!(survey.mended(&wrong), good);
    let (record, _) = RawRecord::<NativeEndian>::parse(&wrong).unwrap();
    assert!(record.decode(&layout).is_err());
    // Ours may have some.
    let with = attr(AttrFlags::BUILD_ID);
    assert!(!Survey::new([&with], &with, layout, (true, false)).look(&wrong));
}
