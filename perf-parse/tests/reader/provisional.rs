//! Captures of a development kernel: samples with the registers of the ABI in review, and attrs that ask for them.

use std::io::Cursor;

use perf_parse::abi::attr::{Attr, AttrFlags, AttrVersion};
use perf_parse::abi::endian::Endianness;
use perf_parse::abi::provisional::simd_regs::{ATTR_SIZE, SimdRegsAttr};
use perf_parse::abi::regs::{RegsAbi, x86};
use perf_parse::abi::sample_type::SampleType;
use perf_parse::file::{FileErrorKind, Limits};
use perf_parse::rewrite::{Edit, RepairOrder, repair};
use perf_parse::{ErrorKind, Reader};
use testdata::Bytes;
use testdata::file::Builder;

use crate::{Trickle, pipe};

/// The attr of the case, and what it asks for.
fn attr() -> (Attr, SimdRegsAttr) {
    let sample_type = SampleType::IDENTIFIER
        | SampleType::IP
        | SampleType::TID
        | SampleType::TIME
        | SampleType::REGS_USER
        | SampleType::REGS_INTR;
    let attr = Attr {
        sample_type,
        flags: AttrFlags::SAMPLE_ID_ALL,
        sample_regs_user: 0b11,
        sample_regs_intr: 1 << 40,
        size: ATTR_SIZE,
        ..Attr::default()
    };
    let simd = SimdRegsAttr {
        regs_enabled: 1,
        vec_reg_qwords: 2,
        vec_reg_user: 1 << 5,
        vec_reg_intr: 1,
        pred_reg_intr: 0b11,
        ..SimdRegsAttr::default()
    };
    (attr, simd)
}

fn endianness(big: bool) -> Endianness {
    if big { Endianness::Big } else { Endianness::Little }
}

/// The bytes of the attr, of 176 bytes.
fn attr_bytes(big: bool) -> Vec<u8> {
    let (attr, simd) = attr();
    let known = Bytes::new(big).attr(&attr, ATTR_SIZE as usize).out;
    [&known[..144], &simd.to_bytes(endianness(big))].concat()
}

/// A sample: AX and BX, a vector register; SSP, a vector register and two predicate registers.
fn sample(big: bool, time: u64) -> Vec<u8> {
    let user = Bytes::new(big).u64s(&[5, 0x1000]).i32(7).i32(7).u64(time).u64s(&[6, 0xa, 0xb]);
    let user = user.u16(1).u16(2).u16(0).u16(0).u64s(&[0x11, 0x22]);
    let intr = user.u64s(&[6, 0x55]).u16(1).u16(2).u16(2).u16(1);
    intr.u64s(&[0x33, 0x44, 0xf0, 0xf1]).record(9, 2)
}

/// A stream whose event comes after the first record.
fn stream(big: bool) -> Vec<u8> {
    let comm = Bytes::new(big).i32(7).i32(7).raw(b"sh\0\0\0\0\0\0").u64s(&[1, 4]).record(3, 0);
    let attr = Bytes::new(big).raw(&attr_bytes(big)).u64(5).record(64, 0);
    let (plain, _) = self::attr();
    let first = pipe::attr(
        big,
        &Attr {
            sample_type: SampleType::TIME | SampleType::IDENTIFIER,
            sample_regs_user: 0,
            sample_regs_intr: 0,
            ..plain
        },
        &[4],
    );
    [pipe::header(big), first, comm, attr, sample(big, 2), sample(big, 3)].concat()
}

/// A file with two samples.
fn file(big: bool) -> Vec<u8> {
    let (attr, simd) = attr();
    let data = [sample(big, 1), sample(big, 2)].concat();
    let mut built =
        Builder { version: AttrVersion::VER9, ..Builder::new(big) }.event(attr, &[5]).data(data).build();
    let simd_at = built.attrs + 144;
    built.bytes.splice(simd_at..simd_at, simd.to_bytes(endianness(big)));
    let size = Bytes::new(big).u32(ATTR_SIZE).out;
    built.bytes[built.attrs + 4..built.attrs + 8].copy_from_slice(&size);
    let (stride, data) = (built.stride as u64 + 32, built.data as u64 + 32);
    built.put(16, stride).put(32, stride).put(40, data).bytes
}

/// Checks the samples of a capture that decodes them. Returns their number.
fn check(reader: &Reader<'_>, big: bool) -> usize {
    let mut records = reader.records();
    let mut samples = 0;
    for record in records.by_ref() {
        let record = record.unwrap();
        let Some(sample) = record.sample() else { continue };
        samples += 1;
        let tail = sample.tail().unwrap();
        let (user, intr) = (tail.regs_user.unwrap(), tail.regs_intr.unwrap());
        assert_eq!((user.abi, user.get(x86::Reg::BX), intr.get(40)), (RegsAbi(6), Some(0xb), Some(0x55)));
        let (user, intr) = (tail.simd_regs_user.unwrap(), tail.simd_regs_intr.unwrap());
        let words = |it: perf_parse::list::List<'_, u64>| it.iter().collect::<Vec<_>>();
        assert_eq!(user.vectors().map(words).collect::<Vec<_>>(), [[0x11, 0x22]]);
        assert_eq!(user.predicates().count(), 0);
        assert_eq!(intr.vectors().map(words).collect::<Vec<_>>(), [[0x33, 0x44]]);
        assert_eq!(intr.predicates().map(words).collect::<Vec<_>>(), [[0xf0], [0xf1]]);
        let event = record.event().unwrap();
        assert_eq!(SimdRegsAttr::read(endianness(big), &event.attr_tail), Some(attr().1));
    }
    assert!(records.account().is_clean());
    samples
}

#[test]
fn every_mode_decodes_it_if_asked_to() {
    for big in [false, true] {
        let (file, stream) = (file(big), stream(big));
        for bytes in [&file, &stream] {
            assert_eq!(check(&Reader::new(bytes).unwrap().with_provisional_abi(), big), 2);
        }
        let windows = Reader::from_seekable(Cursor::new(&file)).unwrap();
        assert_eq!(check(&windows.with_provisional_abi(), big), 2);
        let trickle = Trickle { bytes: &stream, most: 9, fails: None };
        assert_eq!(check(&Reader::stream(trickle).unwrap().with_provisional_abi(), big), 2);
        // The attr is found only in the walk.
        let mut limits = Limits::default();
        limits.look_ahead = 0;
        let reader = Reader::new_within(&stream, &limits).unwrap().with_provisional_abi();
        assert_eq!(check(&reader, big), 2);
    }
}

#[test]
fn it_is_refused_by_default() {
    for big in [false, true] {
        for bytes in [file(big), stream(big)] {
            let reader = Reader::new(&bytes).unwrap();
            let errors: Vec<_> = reader
                .records()
                .filter_map(|record| record.unwrap().tail().err())
                .map(|error| error.kind)
                .collect();
            assert_eq!(errors.len(), 2);
            for kind in errors {
                let FileErrorKind::Record { error, .. } = kind else { panic!("{kind:?}") };
                assert_eq!(error.kind, ErrorKind::Provisional { field: "regs_user.abi", bits: 4 });
                assert_eq!(error.offset, 40);
            }
        }
    }
}

#[test]
fn a_capture_cut_anywhere_is_read_up_to_there() {
    for big in [false, true] {
        for bytes in [file(big), stream(big)] {
            for size in 0..bytes.len() {
                let Ok(reader) = Reader::new(&bytes[..size]) else { continue };
                let reader = reader.with_provisional_abi();
                let decoded =
                    reader.records().flatten().filter(|record| matches!(record.tail(), Ok(Some(_))));
                assert!(decoded.count() <= 2);
            }
        }
    }
}

#[test]
fn edits_keep_it_and_remove_it() {
    for big in [false, true] {
        let bytes = file(big);
        let reader = Reader::new(&bytes).unwrap().with_provisional_abi();
        let out = || Cursor::new(Vec::new());
        let repaired = repair(&reader, RepairOrder::Capture, out(), |_| {}).unwrap().out.into_inner();
        assert_eq!(check(&Reader::new(&repaired).unwrap().with_provisional_abi(), big), 2);

        for (removed, user, intr) in
            [(SampleType::REGS_USER, false, true), (SampleType::REGS_INTR, true, false)]
        {
            let edited = Edit::new().remove(removed).write_file(&reader, out(), |_| {}).unwrap();
            assert_eq!((edited.written, edited.dropped), (2, 0));
            let bytes = edited.out.into_inner();
            let edited = Reader::new(&bytes).unwrap().with_provisional_abi();
            for record in edited.records() {
                let tail = record.unwrap().tail().unwrap().map(|it| {
                    (
                        it.simd_regs_user.is_some(),
                        it.simd_regs_intr.map(|it| it.data.iter().collect::<Vec<_>>()),
                    )
                });
                assert_eq!(tail, Some((user, intr.then(|| vec![0x33, 0x44, 0xf0, 0xf1]))));
            }
        }
    }
}
