//! The contents of records, collected while they are written.

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::endian::NativeEndian;
use perf_abi::ksymbol::{BpfEventType, KsymbolFlags, KsymbolType};
use perf_abi::record::Misc;
use perf_abi::sample_type::SampleType;
use perf_parse::record::{BpfEvent, FileId, Ksymbol};
use perf_parse::write::{self, SampleFields, SampleIdFields};
use perf_parse::{RawRecord, Record, SampleLayout};

use super::mapping;
use crate::survey::RecordSurvey;

/// Returns the records of a mapping and of a sample.
fn records(layout: &SampleLayout, misc: Misc, time: u64) -> Vec<u8> {
    let id = FileId::Inode { maj: 0xfe, min: 1, ino: 77, ino_generation: 0 };
    let filename = b"/bin/x";
    let map = mapping(id, filename);
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
    let mut survey = RecordSurvey::new([&attr, &attr], &attr, layout, (true, false));
    for time in [7, 3, 9] {
        assert!(!survey.look(&records(&layout, Misc(2), time)));
    }
    assert_eq!((survey.samples, survey.times), (3, Some((3, 9))));
    // Events that differ in the place of the time.
    let other = Attr { sample_type: attr.sample_type | SampleType::IDENTIFIER, ..attr };
    let mut survey = RecordSurvey::new([&attr, &other], &attr, layout, (false, false));
    survey.look(&records(&layout, Misc(2), 7));
    assert_eq!((survey.samples, survey.times), (1, None));
}

/// Another recorder makes the kernel say that our mappings have build ids.
#[test]
fn a_build_id_that_is_none() {
    let plain = attr(AttrFlags::NONE);
    let layout = SampleLayout::new(&plain).unwrap();
    let (good, wrong) = (records(&layout, Misc(2), 1), records(&layout, Misc(2) | Misc::MMAP_BUILD_ID, 1));
    let mut survey = RecordSurvey::new([&plain], &plain, layout, (true, false));
    assert!(!survey.look(&good) && survey.look(&wrong));
    assert_eq!(survey.mended(&wrong), good);
    let (record, _) = RawRecord::<NativeEndian>::parse(&wrong).unwrap();
    assert!(record.decode(&layout).is_err());
    // Ours may have some.
    let with = attr(AttrFlags::BUILD_ID);
    assert!(!RecordSurvey::new([&with], &with, layout, (true, false)).look(&wrong));
}

/// Another recorder makes the kernel write records that are too long for our event.
#[test]
fn records_with_stale_bytes() {
    let attr = attr(AttrFlags::BUILD_ID);
    let layout = SampleLayout::new(&attr).unwrap();
    let symbol = Ksymbol {
        addr: 0x1000,
        len: 64,
        ksym_type: KsymbolType::BPF,
        flags: KsymbolFlags::NONE,
        name: b"bpf_prog_x",
    };
    let program = BpfEvent { kind: BpfEventType::PROG_UNLOAD, flags: 0, id: 5, tag: [7; 8] };
    let trailer = SampleIdFields { pid: 5, tid: 5, time: 9, ..SampleIdFields::default() };
    let mapping = records(&layout, Misc(2) | Misc::MMAP_BUILD_ID, 1);
    let (mut good, mut long) = (mapping.clone(), mapping);
    for record in [Record::Ksymbol(symbol), Record::BpfEvent(program)] {
        let (start, end) = (good.len(), long.len());
        write::record::<NativeEndian>(&mut good, &layout, Misc(0), &record, &trailer).unwrap();
        long.extend_from_slice(&good[start..]);
        long.extend_from_slice(&[0xa5; 24]);
        let size = (long.len() - end) as u16;
        long[end + 6..end + 8].copy_from_slice(&size.to_ne_bytes());
    }
    let mut survey = RecordSurvey::new([&attr], &attr, layout, (true, true));
    assert!(!survey.look(&good) && survey.look(&long));
    assert_eq!(survey.mended(&long), good);
    // What is no record stays as it is.
    long.extend_from_slice(b"rest");
    assert!(survey.mended(&long).ends_with(b"rest"));
}
