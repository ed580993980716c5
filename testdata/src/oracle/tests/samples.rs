//! Samples with every field, in both byte orders, and the trailer with every field.

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::branch::BranchSampleType;
use perf_abi::read_format::ReadFormat;
use perf_abi::sample_type::SampleType;

use super::{attr, resized, sample};
use crate::Bytes;
use crate::oracle::*;

/// Every field except `WEIGHT`, which cannot be combined with `WEIGHT_STRUCT`.
#[test]
fn every_field() {
    let bytes = |big| {
        Bytes::new(big)
            .u32(9) // type: SAMPLE
            .u16(0x4002) // misc: USER | EXACT_IP
            .u16(0x180) // size: 384
            .u64(0x102_0304_0506_0708) // identifier
            .u64(0x40_1000) // ip
            .u32(0x1234) // pid
            .u32(0xffff_ffff) // tid
            .u64(0x99_aabb_ccdd) // time
            .u64(0x7fff_0011_2233) // addr
            .u64(7) // id
            .u64(8) // stream_id
            .u32(3) // cpu
            .u32(0) // res
            .u64(0x3e8) // period
            .u64(2) // read.nr
            .u64(0x32) // read.time_enabled
            .u64(0x28) // read.time_running
            .u64(0x6f) // read.value
            .u64(7) // read.id
            .u64(1) // read.lost
            .u64(0xde) // read.value
            .u64(9) // read.id
            .u64(0) // read.lost
            .u64(3) // callchain.nr
            .u64(0xffff_ffff_ffff_fe00) // callchain.ips: PERF_CONTEXT_USER
            .u64(0x40_1000) // callchain.ips
            .u64(0x40_2000) // callchain.ips
            .u32(0xc) // raw.size
            .raw(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 0xa, 0xb, 0xc]) // raw.data
            .u64(1) // branch_stack.nr
            .u64(0xffff_ffff_ffff_ffff) // branch_stack.hw_idx
            .u64(0x40_1100) // branch_stack.from
            .u64(0x40_1200) // branch_stack.to
            .raw(if big {
                &[0xa1, 0x23, 0x45, 0xa5, 0xc0, 0, 0, 1]
            } else {
                &[0x45, 0x23, 0x51, 0xe6, 2, 0, 0, 0x80]
            }) // branch_stack.flags
            .u64(0x55) // branch_stack.counters
            .u64(2) // regs_user.abi
            .u64(0x11) // regs_user.values
            .u64(0x22) // regs_user.values
            .u64(8) // stack_user.size
            .raw(&[0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7]) // stack_user.data
            .u64(6) // stack_user.dyn_size
            .u64(0x3_0002_0000_0001) // weight_struct
            .u64(0x1e_0508_0021) // data_src
            .u64(0x5_0000_0003) // transaction
            .u64(1) // regs_intr.abi
            .u64(0x33) // regs_intr.values
            .u64(0x1000) // phys_addr
            .u64(0x2a) // cgroup
            .u64(0x1000) // data_page_size
            .u64(0x20_0000) // code_page_size
            .u64(8) // aux.size
            .raw(&[0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7]) // aux.data
            .out
    };
    let attr = Attr {
        sample_type: SampleType(0x1ff_ffff & !SampleType::WEIGHT.0),
        read_format: ReadFormat(0x1f),
        branch_sample_type: BranchSampleType::HW_INDEX | BranchSampleType::COUNTERS,
        sample_regs_user: 0b101,
        sample_stack_user: 8,
        sample_regs_intr: 0b10,
        flags: AttrFlags::SAMPLE_ID_ALL,
        ..Attr::default()
    };
    let expected = Sample {
        identifier: Some(0x0102_0304_0506_0708),
        ip: Some(0x401000),
        pid: Some(0x1234),
        tid: Some(-1),
        time: Some(0x99_aabb_ccdd),
        addr: Some(0x7fff_0011_2233),
        id: Some(7),
        stream_id: Some(8),
        cpu: Some(3),
        period: Some(1000),
        read: Some(Read {
            group: true,
            time_enabled: Some(50),
            time_running: Some(40),
            values: vec![
                ReadValue { value: 111, id: Some(7), lost: Some(1) },
                ReadValue { value: 222, id: Some(9), lost: Some(0) },
            ],
        }),
        callchain: Some(vec![0xffff_ffff_ffff_fe00, 0x401000, 0x402000]),
        raw: Some(vec![1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
        branch_stack: Some(BranchStack {
            hw_idx: Some(u64::MAX),
            entries: vec![Branch {
                from: 0x401100,
                to: 0x401200,
                mispred: true,
                predicted: false,
                in_tx: true,
                abort: false,
                cycles: 0x1234,
                r#type: 5,
                spec: 2,
                new_type: 9,
                r#priv: 3,
                reserved: 0x4000_0001,
            }],
            counters: Some(vec![0x55]),
        }),
        regs_user: Some(Regs { abi: 2, values: vec![0x11, 0x22] }),
        simd_regs_user: None,
        simd_regs_intr: None,
        stack_user: Some(Stack {
            size: 8,
            data: vec![0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7],
            dyn_size: Some(6),
        }),
        weight: None,
        weight_struct: Some(WeightStruct { var1_dw: 1, var2_w: 2, var3_w: 3 }),
        data_src: Some(0x1e_0508_0021),
        transaction: Some(0x5_0000_0003),
        regs_intr: Some(Regs { abi: 1, values: vec![0x33] }),
        phys_addr: Some(0x1000),
        cgroup: Some(0x2a),
        data_page_size: Some(4096),
        code_page_size: Some(0x200000),
        aux: Some(vec![0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7]),
        readings: Readings { counters: Some(true), fits: 1, ..Readings::default() },
    };
    let expected =
        Record { kind: 9, misc: 0x4002, size: 384, body: Body::Sample(Box::new(expected)), sample_id: None };
    for big in [false, true] {
        let bytes = bytes(big);
        assert_eq!(record(&attr, big, &bytes).as_ref(), Ok(&expected), "big: {big}");
        for size in (8..384).chain([385, 392]) {
            let result = record(&attr, big, &resized(&bytes, big, size));
            assert!(result.is_err(), "{size} bytes: {result:?}");
        }
    }
}

#[test]
fn no_field() {
    let expected = Sample { readings: Readings { fits: 1, ..Readings::default() }, ..Sample::default() };
    assert_eq!(sample(&attr(SampleType(0)), 2, &[]), Ok(expected));
}

#[test]
fn weight() {
    let sample = sample(&attr(SampleType::WEIGHT), 0, &[0x0003_0002_0000_0001 /* weight */]).unwrap();
    assert_eq!((sample.weight, sample.weight_struct), (Some(0x0003_0002_0000_0001), None));
}

#[test]
fn read_of_one_event() {
    let attr = |read_format| Attr { read_format, ..attr(SampleType::READ) };
    let words = [
        111, // value
        50,  // time_enabled
        40,  // time_running
        7,   // id
        1,   // lost
    ];
    let expected = Read {
        group: false,
        time_enabled: Some(50),
        time_running: Some(40),
        values: vec![ReadValue { value: 111, id: Some(7), lost: Some(1) }],
    };
    let all = ReadFormat(0x1f & !ReadFormat::GROUP.0);
    assert_eq!(sample(&attr(all), 0, &words).unwrap().read, Some(expected));

    let expected = Read {
        group: false,
        time_enabled: None,
        time_running: None,
        values: vec![ReadValue { value: 111, id: None, lost: None }],
    };
    assert_eq!(sample(&attr(ReadFormat(0)), 0, &words[..1]).unwrap().read, Some(expected));
}

#[test]
fn read_of_a_group() {
    let attr = Attr {
        read_format: ReadFormat::GROUP | ReadFormat::TOTAL_TIME_RUNNING | ReadFormat::LOST,
        ..attr(SampleType::READ)
    };
    let words = [
        2,   // nr
        40,  // time_running
        111, // value
        1,   // lost
        222, // value
        0,   // lost
    ];
    let expected = Read {
        group: true,
        time_enabled: None,
        time_running: Some(40),
        values: vec![
            ReadValue { value: 111, id: None, lost: Some(1) },
            ReadValue { value: 222, id: None, lost: Some(0) },
        ],
    };
    assert_eq!(sample(&attr, 0, &words).unwrap().read, Some(expected));
}

/// The size of a tracepoint's raw data can leave the next field unaligned.
#[test]
fn raw_is_not_aligned() {
    let attr = Attr { sample_type: SampleType::RAW | SampleType::CGROUP, ..Attr::default() };
    let bytes = [
        9, 0, 0, 0, // type: SAMPLE
        0, 0, // misc
        22, 0, // size
        2, 0, 0, 0, // raw.size
        0xaa, 0xbb, // raw.data
        1, 2, 3, 4, 5, 6, 7, 8, // cgroup
    ];
    let Ok(Record { body: Body::Sample(sample), .. }) = record(&attr, false, &bytes) else { panic!() };
    assert_eq!((sample.raw, sample.cgroup), (Some(vec![0xaa, 0xbb]), Some(0x0807_0605_0403_0201)));
}

/// The words that a C compiler lays out for the bit-fields on a big-endian machine.
#[test]
fn branch_flags_big_endian() {
    type Get = fn(&Branch) -> u64;
    let vectors: [(u64, u64, Get); 9] = [
        (0x8000_0000_0000_0000, 1, |branch| branch.mispred.into()),
        (0x4000_0000_0000_0000, 1, |branch| branch.predicted.into()),
        (0x0000_1000_0000_0000, 1, |branch| branch.cycles.into()),
        (0x0123_4000_0000_0000, 0x1234, |branch| branch.cycles.into()),
        (0x0000_0100_0000_0000, 1, |branch| branch.r#type.into()),
        (0x0000_0040_0000_0000, 1, |branch| branch.spec.into()),
        (0x0000_0004_0000_0000, 1, |branch| branch.new_type.into()),
        (0x0000_0000_8000_0000, 1, |branch| branch.r#priv.into()),
        (0x0000_0000_0000_0001, 1, |branch| branch.reserved.into()),
    ];
    for (flags, value, get) in vectors {
        let words = [
            1,     // branch_stack.nr
            0,     // branch_stack.from
            0,     // branch_stack.to
            flags, // branch_stack.flags
        ];
        let bytes = super::words_record(9, 0, &words, true);
        let record = record(&attr(SampleType::BRANCH_STACK), true, &bytes).unwrap();
        let Body::Sample(sample) = record.body else { panic!("{record:?}") };
        let branch = &sample.branch_stack.unwrap().entries[0];
        assert_eq!(get(branch), value, "{flags:#x}: {branch:?}");
        let fields = [
            branch.mispred.into(),
            branch.predicted.into(),
            branch.in_tx.into(),
            branch.abort.into(),
            branch.cycles.into(),
            branch.r#type.into(),
            branch.spec.into(),
            branch.new_type.into(),
            branch.r#priv.into(),
            u64::from(branch.reserved),
        ];
        assert_eq!(fields.iter().sum::<u64>(), value, "{flags:#x}: {branch:?}");
    }
}

#[test]
fn sample_id_of_every_field() {
    let bytes = |big| {
        Bytes::new(big)
            .u32(0xc) // type: ITRACE_START
            .u16(0) // misc: none
            .u16(0x40) // size: 64
            .u32(1) // pid
            .u32(2) // tid
            .u32(3) // sample_id.pid
            .u32(0xffff_ffff) // sample_id.tid
            .u64(5) // sample_id.time
            .u64(6) // sample_id.id
            .u64(7) // sample_id.stream_id
            .u32(8) // sample_id.cpu
            .u32(0) // sample_id.res
            .u64(0x102_0304_0506_0708) // sample_id.identifier
            .out
    };
    let attr = Attr { flags: AttrFlags::SAMPLE_ID_ALL, ..attr(SampleType(0x1ff_ffff)) };
    let expected = Record {
        kind: 12,
        misc: 0,
        size: 64,
        body: Body::ItraceStart { pid: 1, tid: 2 },
        sample_id: Some(SampleId {
            pid: Some(3),
            tid: Some(-1),
            time: Some(5),
            id: Some(6),
            stream_id: Some(7),
            cpu: Some(8),
            identifier: Some(0x0102_0304_0506_0708),
        }),
    };
    assert_eq!(record(&attr, false, &bytes(false)).as_ref(), Ok(&expected));
    assert_eq!(record(&attr, true, &bytes(true)).as_ref(), Ok(&expected));
}

#[test]
fn sample_id_is_up_to_the_attr() {
    let bytes = super::words_record(13, 0, &[5 /* lost */], false);
    let of = |attr: &Attr| record(attr, false, &bytes).unwrap().sample_id;
    assert_eq!(of(&attr(SampleType::TIME)), None);
    let no_fields = Attr { flags: AttrFlags::SAMPLE_ID_ALL, ..attr(SampleType::IP) };
    assert_eq!(of(&no_fields), Some(SampleId::default()));
}
