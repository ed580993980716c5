//! AUX data: its place, in one piece or two, and data that was overwritten.

use perf_parse::abi::aux_area::AuxFlags;
use perf_parse::record::Aux;
use perf_parse::ring::{AuxArea, RingError, RingErrorKind};
use proptest::prelude::*;

use super::invalid;

fn record(aux_offset: u64, aux_size: u64, flags: AuxFlags) -> Aux {
    Aux { aux_offset, aux_size, flags }
}

fn area() -> [u8; 64] {
    core::array::from_fn(|at| at as u8)
}

/// Returns the data of the record: both pieces.
fn bytes(area: &AuxArea<'_>, it: &Aux) -> Result<Vec<u8>, RingError> {
    area.data(it).map(|data| [data.first, data.second].concat())
}

#[test]
fn pieces() {
    let data = area();
    let area = AuxArea::new(&data, 100, 140).unwrap();
    assert_eq!((area.head(), area.bytes()), (140, &data[..]));
    let flags = AuxFlags::TRUNCATED | AuxFlags::PARTIAL | AuxFlags::COLLISION;
    let one = area.data(&record(100, 20, flags)).unwrap();
    assert_eq!((one.position, one.first, one.second), (100, &data[36..56], &[][..]));
    assert_eq!((one.flags, one.is_released), (flags, false));
    let two = area.data(&record(120, 20, AuxFlags::NONE)).unwrap();
    assert_eq!((two.first, two.second), (&data[56..64], &data[0..12]));
    let none = area.data(&record(140, 0, AuxFlags::TRUNCATED)).unwrap();
    assert_eq!((none.first, none.second, none.is_released), (&[][..], &[][..], false));
    // The whole area, whose older part the reader had released.
    let all = area.data(&record(76, 64, AuxFlags::NONE)).unwrap();
    assert_eq!((all.first, all.second, all.is_released), (&data[12..], &data[..12], true));
}

#[test]
fn snapshots_end_where_others_begin() {
    let data = area();
    let area = AuxArea::new(&data, 0, 1000).unwrap();
    let snapshot = area.data(&record(1000, 16, AuxFlags::OVERWRITE)).unwrap();
    assert_eq!((snapshot.position, snapshot.first, snapshot.second), (984, &data[24..40], &[][..]));
    assert!(!snapshot.is_released);
    // A driver that counts within the area and reports all of it.
    let area = AuxArea::new(&data, 0, 24).unwrap();
    let all = area.data(&record(24, 64, AuxFlags::OVERWRITE)).unwrap();
    assert_eq!((all.position, all.first, all.second), (40_u64.wrapping_neg(), &data[24..], &data[..24]));
}

#[test]
fn errors() {
    let data = area();
    let new = |size: usize, tail, head| AuxArea::new(&data[..size], tail, head).map(drop).unwrap_err();
    assert_eq!(new(24, 0, 0), invalid("aux_size", 24, "a power of two", 1080));
    assert_eq!(new(0, 0, 0), invalid("aux_size", 0, "a power of two", 1080));
    assert_eq!(new(64, 5, 4), invalid("aux_tail", 5, "at most aux_head", 1064));
    assert_eq!(new(64, 1, 66), invalid("aux_head", 66, "at most aux_size beyond aux_tail", 1056));
    assert!(AuxArea::new(&data, 1, 65).is_ok() && AuxArea::new(&data, 0, 66).is_ok());

    let area = AuxArea::new(&data, 90, 140).unwrap();
    let error = |offset, size, flags| area.data(&record(offset, size, flags)).unwrap_err();
    assert_eq!(
        error(100, 65, AuxFlags::NONE),
        invalid("aux_size", 65, "at most the size of the AUX area", 100)
    );
    assert_eq!(
        error(100, u64::MAX, AuxFlags::NONE),
        invalid("aux_size", u64::MAX, "at most the size of the AUX area", 100)
    );
    assert_eq!(error(121, 20, AuxFlags::NONE), invalid("aux_offset", 121, "at most aux_head", 121));
    assert_eq!(error(141, 1, AuxFlags::OVERWRITE), invalid("aux_offset", 141, "at most aux_head", 140));
    assert_eq!(
        error(u64::MAX, 2, AuxFlags::NONE),
        invalid("aux_offset", u64::MAX, "at most aux_head", u64::MAX)
    );
    let gone = |value, needed, position| {
        let kind = RingErrorKind::Overwritten { field: "aux_offset", value, needed, available: 64 };
        RingError { kind, position }
    };
    assert_eq!(error(75, 20, AuxFlags::NONE), gone(75, 65, 75));
    assert_eq!(error(100, 25, AuxFlags::OVERWRITE), gone(100, 65, 75));
    assert!(area.data(&record(76, 20, AuxFlags::NONE)).is_ok());
}

proptest! {
    /// Compared with the bytes as they were written one by one.
    #[test]
    fn the_bytes_are_those_written(log in 0_u32..8, head in 0_u64..600, back in 0_u64..300, size in 0_u64..300) {
        let length = 1_usize << log;
        let mut data = vec![0; length];
        let written: Vec<u8> = (0..head).map(|at| (at * 7 + at / 256) as u8).collect();
        written.iter().enumerate().for_each(|(at, &byte)| data[at % length] = byte);
        let area = AuxArea::new(&data, 0, head).unwrap();
        let Some(offset) = head.checked_sub(back) else { return Ok(()) };
        let held = back <= length as u64 && size <= back;
        let read = bytes(&area, &record(offset, size, AuxFlags::NONE));
        if held {
            let from = offset as usize;
            prop_assert_eq!(read.as_deref(), Ok(&written[from..from + size as usize]));
            // A snapshot has the same data by its end.
            prop_assert_eq!(bytes(&area, &record(offset + size, size, AuxFlags::OVERWRITE)), read);
        } else {
            prop_assert!(read.is_err());
        }
    }

    #[test]
    fn nothing_panics(tail: u64, head: u64, offset: u64, size: u64, flags: u64) {
        let data = area();
        for mask in [u64::MAX, 0xff, 0x3f] {
            if let Ok(area) = AuxArea::new(&data, tail & mask, head & mask) {
                if let Ok(found) = area.data(&record(offset & mask, size & mask, AuxFlags(flags))) {
                    prop_assert_eq!((found.first.len() + found.second.len()) as u64, size & mask);
                }
            }
        }
    }
}
