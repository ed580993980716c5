//! Attrs without a valid layout.

use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::read_format::ReadFormat;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::{Error, ErrorKind, SampleLayout};

use crate::error;

#[test]
fn unknown_sample_type() {
    for bit in 25..64 {
        let attr = Attr { sample_type: SampleType(1 << bit | 1), ..Attr::default() };
        let kind = ErrorKind::UnknownBits { field: "sample_type", bits: 1 << bit };
        assert_eq!(SampleLayout::new(&attr), Err(Error { kind, offset: 24 }));
    }
}

#[test]
fn both_weights() {
    let attr = Attr { sample_type: SampleType::WEIGHT_TYPE, ..Attr::default() };
    assert_eq!(SampleLayout::new(&attr), Err(Error { kind: ErrorKind::BothWeights, offset: 24 }));
}

#[test]
fn unknown_read_format_in_samples_and_reads() {
    let attr = Attr {
        sample_type: SampleType::IP | SampleType::READ,
        read_format: ReadFormat(1 << 5 | 1 << 63 | 1),
        flags: AttrFlags::SAMPLE_ID_ALL,
        ..Attr::default()
    };
    let kind = ErrorKind::UnknownBits { field: "read_format", bits: 1 << 5 | 1 << 63 };
    assert_eq!(error(&attr, 9, 0, |bytes| bytes.u64s(&[1, 2, 3])), Error { kind, offset: 16 });
    assert_eq!(error(&attr, 8, 0, |bytes| bytes.u64s(&[1, 2, 3])), Error { kind, offset: 16 });
}

#[test]
fn what_a_layout_says() {
    let all = |sample_type| Attr { sample_type, flags: AttrFlags::SAMPLE_ID_ALL, ..Attr::default() };
    let id = all(SampleType::ID | SampleType::IP | SampleType::TIME | SampleType::CPU);
    let layout = SampleLayout::new(&id).unwrap();
    // ip, time, id, cpu; time, id, cpu
    assert_eq!((layout.sample_id_offset(), layout.trailer_id_offset()), (Some(16), Some(16)));
    assert_eq!((layout.sample_type(), layout.read_format()), (id.sample_type, ReadFormat::NONE));
    let layout = SampleLayout::new(&all(id.sample_type | SampleType::IDENTIFIER)).unwrap();
    assert_eq!((layout.sample_id_offset(), layout.trailer_id_offset()), (Some(0), Some(8)));
    let layout = SampleLayout::new(&all(SampleType::IP | SampleType::TIME)).unwrap();
    assert_eq!((layout.sample_id_offset(), layout.trailer_id_offset()), (None, None));
    assert_eq!(layout.sample_id_size(), 8);
    let layout = SampleLayout::new(&Attr { flags: AttrFlags::NONE, ..id }).unwrap();
    assert_eq!((layout.sample_id_offset(), layout.trailer_id_offset()), (Some(16), None));
    assert_eq!(layout.sample_id_size(), 0);
}
