//! Vector and predicate registers of the ABI in review, which a layout decodes only if asked to.

use perf_parse::abi::attr::Attr;
use perf_parse::abi::endian::{BigEndian, Endianness, LittleEndian};
use perf_parse::abi::record::Misc;
use perf_parse::abi::regs::RegsAbi;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::write::{RecordEncoder, RegsFields, SampleFields, SimdRegsFields, StackUserFields};
use perf_parse::{Error, ErrorKind, RawRecord, Sample, SampleLayout};
use proptest::prelude::*;
use proptest::sample::select;
use testdata::{Bytes, oracle};

use crate::Random;
use crate::arbitrary::config;
use compare::{check, check_with};

/// Numbers and widths of vector and predicate registers: none, XMM, YMM, ZMM, those of Arm, odd ones, many.
const SHAPES: [[u16; 4]; 9] = [
    [0, 0, 0, 0],
    [0, 8, 0, 1],
    [1, 2, 0, 1],
    [16, 4, 0, 1],
    [32, 8, 8, 1],
    [0, 0, 8, 1],
    [3, 1, 2, 3],
    [32, 16, 16, 2],
    [1, 500, 300, 1],
];

fn simd([nr_vectors, vector_qwords, nr_pred, pred_qwords]: [u16; 4], random: &mut Random) -> SimdRegsFields {
    let words = |nr, qwords| usize::from(nr) * usize::from(qwords);
    let data = random.u64s(words(nr_vectors, vector_qwords) + words(nr_pred, pred_qwords));
    SimdRegsFields { nr_vectors, vector_qwords, nr_pred, pred_qwords, data }
}

/// A sample with the ABIs `user` and `intr`, each with its registers, and with a field between and after them.
fn made(user: (u64, [u16; 4]), intr: (u64, [u16; 4]), random: &mut Random) -> (Attr, SampleFields) {
    let sample_type = SampleType::IP
        | SampleType::REGS_USER
        | SampleType::STACK_USER
        | SampleType::REGS_INTR
        | SampleType::PHYS_ADDR;
    let attr = Attr {
        sample_type,
        sample_regs_user: 0b11,
        sample_regs_intr: 1 << 40,
        sample_stack_user: 16,
        ..Attr::default()
    };
    let regs = |abi: u64, count: usize, random: &mut Random| RegsFields {
        abi: RegsAbi(abi),
        values: random.u64s(if abi == 0 { 0 } else { count }),
    };
    let mut with = |(abi, shape)| (abi & 4 != 0).then(|| simd(shape, random));
    let (simd_regs_user, simd_regs_intr) = (with(user), with(intr));
    let fields = SampleFields {
        ip: Some(1),
        regs_user: Some(regs(user.0, 2, random)),
        stack_user: Some(StackUserFields { data: vec![7; 16], dyn_size: Some(8) }),
        regs_intr: Some(regs(intr.0, 1, random)),
        phys_addr: Some(3),
        simd_regs_user,
        simd_regs_intr,
        ..SampleFields::default()
    };
    (attr, fields)
}

fn endianness(big: bool) -> Endianness {
    if big { Endianness::Big } else { Endianness::Little }
}

fn fields(layout: &SampleLayout, big: bool, bytes: &[u8]) -> Result<SampleFields, Error> {
    if big {
        Sample::parse(layout, &RawRecord::<BigEndian>::parse(bytes)?.0)?.to_fields()
    } else {
        Sample::parse(layout, &RawRecord::<LittleEndian>::parse(bytes)?.0)?.to_fields()
    }
}

#[test]
fn every_shape_comes_back() {
    let mut random = Random::new(8);
    for user in SHAPES {
        for intr in SHAPES {
            for (user_abi, intr_abi, big) in
                [(6, 6, false), (6, 6, true), (5, 2, true), (2, 6, false), (0, 6, true)]
            {
                let (attr, fields) = made((user_abi, user), (intr_abi, intr), &mut random);
                let layout = SampleLayout::new(&attr).unwrap().with_provisional_abi();
                let mut bytes = Vec::new();
                let encoder = RecordEncoder::new_in(endianness(big), &layout);
                encoder.sample(&mut bytes, Misc(2), &fields).unwrap();
                assert_eq!(self::fields(&layout, big, &bytes).as_ref(), Ok(&fields));

                let record = check_with(&attr, &layout, big, &bytes).unwrap();
                let oracle::Body::Sample(sample) = record.body else { panic!("{record:?}") };
                for (given, decoded) in [
                    (fields.simd_regs_user, sample.simd_regs_user),
                    (fields.simd_regs_intr, sample.simd_regs_intr),
                ] {
                    let words = decoded.map(|it| [it.vectors.concat(), it.preds.concat()].concat());
                    assert_eq!(given.map(|it| it.data), words);
                }
            }
        }
    }
}

#[test]
fn refused_by_default() {
    let mut random = Random::new(9);
    let refused = |user, intr, field, offset, random: &mut Random| {
        let (attr, fields) = made((user, SHAPES[3]), (intr, SHAPES[4]), random);
        let layout = SampleLayout::new(&attr).unwrap();
        for big in [false, true] {
            let mut bytes = Vec::new();
            let provisional = layout.with_provisional_abi();
            RecordEncoder::new_in(endianness(big), &provisional)
                .sample(&mut bytes, Misc(2), &fields)
                .unwrap();
            assert!(check(&attr, big, &bytes).is_none());
            let kind = ErrorKind::Provisional { field, bits: 4 };
            assert_eq!(self::fields(&layout, big, &bytes), Err(Error { kind, offset }));
        }
    };
    // header, ip; user: abi, 2 registers; stack: 32 bytes.
    refused(6, 6, "regs_user.abi", 16, &mut random);
    refused(2, 6, "regs_intr.abi", 16 + 24 + 32, &mut random);
}

/// The bytes of a sample of only user registers: the ABI 6, one register, then `header` and `words`.
fn sample(big: bool, header: &[u16], words: usize) -> (Attr, Vec<u8>) {
    let attr = Attr { sample_type: SampleType::REGS_USER, sample_regs_user: 1, ..Attr::default() };
    let bytes = header.iter().fold(Bytes::new(big).u64s(&[6, 1]), |bytes, &it| bytes.u16(it));
    (attr, bytes.zeros(words * 8).record(9, 2))
}

#[test]
fn counts_that_do_not_fit() {
    let truncated =
        |needed, available| ErrorKind::Truncated { field: "simd_regs_user.data", needed, available };
    let must = "at least 1, because there are such registers";
    for big in [false, true] {
        for (header, words, kind, offset) in [
            (&[][..], 0, ErrorKind::Truncated { field: "simd_regs_user", needed: 8, available: 0 }, 24),
            (&[1, 2, 1], 0, ErrorKind::Truncated { field: "simd_regs_user", needed: 8, available: 6 }, 24),
            (&[1, 2, 1, 1], 2, truncated(24, 16), 32),
            (&[1, 2, 1, 1], 4, ErrorKind::Residue { bytes: 8 }, 56),
            (&[u16::MAX; 4], 100, truncated(2 * 65_535 * 65_535 * 8, 800), 32),
            (&[0, 0, u16::MAX, u16::MAX], 0, truncated(65_535 * 65_535 * 8, 0), 32),
            (&[0, 0, 0, 0], 1, ErrorKind::Residue { bytes: 8 }, 32),
            (
                &[u16::MAX, 0, 0, 0],
                0,
                ErrorKind::Malformed { field: "simd_regs_user.vector_qwords", must },
                26,
            ),
            (&[1, 1, 1, 0], 1, ErrorKind::Malformed { field: "simd_regs_user.pred_qwords", must }, 30),
        ] {
            let (attr, bytes) = sample(big, header, words);
            let layout = SampleLayout::new(&attr).unwrap().with_provisional_abi();
            assert!(check_with(&attr, &layout, big, &bytes).is_none(), "{header:?}");
            assert_eq!(fields(&layout, big, &bytes), Err(Error { kind, offset }), "{header:?}");
        }
        // At the limit: the largest record.
        let (attr, bytes) = sample(big, &[1, 8187, 0, 0], 8187);
        assert_eq!(bytes.len(), 65_528);
        let layout = SampleLayout::new(&attr).unwrap().with_provisional_abi();
        assert!(check_with(&attr, &layout, big, &bytes).is_some());
        let (attr, bytes) = sample(big, &[1, 8188, 0, 0], 8187);
        assert!(check_with(&attr, &layout, big, &bytes).is_none(), "{attr:?}");
    }
}

/// The kernel's stray word after an empty user stack moves the end of the registers out of the sample.
#[test]
fn registers_whose_end_is_cut_off() {
    let attr = Attr {
        sample_type: SampleType::REGS_USER | SampleType::STACK_USER | SampleType::REGS_INTR,
        sample_regs_intr: 1,
        ..Attr::default()
    };
    let layout = SampleLayout::new(&attr).unwrap().with_provisional_abi();
    for big in [false, true] {
        // regs_user.abi; size of the stack, stray word; regs_intr.abi, a register; registers without their last word.
        let start = || Bytes::new(big).u64s(&[2, 0, 0, 6, 9]);
        let whole = start().u16(1).u16(2).u16(1).u16(1).u64s(&[1, 2]).record(9, 1);
        let record = check_with(&attr, &layout, big, &whole).unwrap();
        let oracle::Body::Sample(sample) = record.body else { panic!("{record:?}") };
        let expected = oracle::SimdRegs { vectors: vec![vec![1, 2]], preds: vec![Vec::new()] };
        assert_eq!(sample.simd_regs_intr, Some(expected));
        // Even the header is cut off.
        let record = check_with(&attr, &layout, big, &start().record(9, 1)).unwrap();
        let oracle::Body::Sample(sample) = record.body else { panic!("{record:?}") };
        assert_eq!((sample.simd_regs_intr, sample.regs_intr.unwrap().values), (None, vec![9]));
    }
}

proptest! {
    #![proptest_config(config(3000))]

    /// Samples that no kernel wrote: the view and the oracle accept the same ones, with and without the ABI.
    #[test]
    fn any_registers(
        sample_type in proptest::bits::u64::masked(
            (SampleType::REGS_USER | SampleType::STACK_USER | SampleType::REGS_INTR | SampleType::AUX).0,
        ),
        masks in (select(vec![0_u64, 1, 0b101]), select(vec![0_u64, 1 << 63])),
        stack in select(vec![0_u32, 16]),
        words in prop::collection::vec(
            prop_oneof![
                3 => select(vec![0_u64, 2, 6, 4]).prop_map(|word| [0, 0, 0, word as u16]),
                3 => prop::array::uniform4(0_u16..3),
                1 => prop::array::uniform4(any::<u16>()),
            ],
            0..14,
        ),
        misc in 0_u16..3,
        big: bool,
    ) {
        let attr = Attr {
            sample_type: SampleType(sample_type),
            sample_regs_user: masks.0,
            sample_regs_intr: masks.1,
            sample_stack_user: stack,
            ..Attr::default()
        };
        let bytes = words.iter().flatten().fold(Bytes::new(big), |bytes, &half| bytes.u16(half));
        let bytes = bytes.record(9, misc);
        let layout = SampleLayout::new(&attr).unwrap();
        check_with(&attr, &layout.with_provisional_abi(), big, &bytes);
        check_with(&attr, &layout, big, &bytes);
    }
}
