//! Samples with every field, in both byte orders, and the trailer with every field.

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::branch::BranchSampleType;
use perf_abi::read_format::ReadFormat;
use perf_abi::sample_type::SampleType;

use super::{attr, resized, sample};
use crate::oracle::*;

/// Every field except `WEIGHT`, which cannot be combined with `WEIGHT_STRUCT`.
#[test]
fn every_field() {
    const LITTLE: &[u8] = &[
        9, 0, 0, 0, // type: SAMPLE
        2, 0x40, // misc: USER | EXACT_IP
        0x80, 1, // size: 384
        8, 7, 6, 5, 4, 3, 2, 1, // identifier
        0, 0x10, 0x40, 0, 0, 0, 0, 0, // ip
        0x34, 0x12, 0, 0, // pid
        0xff, 0xff, 0xff, 0xff, // tid
        0xdd, 0xcc, 0xbb, 0xaa, 0x99, 0, 0, 0, // time
        0x33, 0x22, 0x11, 0, 0xff, 0x7f, 0, 0, // addr
        7, 0, 0, 0, 0, 0, 0, 0, // id
        8, 0, 0, 0, 0, 0, 0, 0, // stream_id
        3, 0, 0, 0, // cpu
        0, 0, 0, 0, // res
        0xe8, 3, 0, 0, 0, 0, 0, 0, // period
        2, 0, 0, 0, 0, 0, 0, 0, // read.nr
        0x32, 0, 0, 0, 0, 0, 0, 0, // read.time_enabled
        0x28, 0, 0, 0, 0, 0, 0, 0, // read.time_running
        0x6f, 0, 0, 0, 0, 0, 0, 0, // read.value
        7, 0, 0, 0, 0, 0, 0, 0, // read.id
        1, 0, 0, 0, 0, 0, 0, 0, // read.lost
        0xde, 0, 0, 0, 0, 0, 0, 0, // read.value
        9, 0, 0, 0, 0, 0, 0, 0, // read.id
        0, 0, 0, 0, 0, 0, 0, 0, // read.lost
        3, 0, 0, 0, 0, 0, 0, 0, // callchain.nr
        0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, // callchain.ips: PERF_CONTEXT_USER
        0, 0x10, 0x40, 0, 0, 0, 0, 0, // callchain.ips
        0, 0x20, 0x40, 0, 0, 0, 0, 0, // callchain.ips
        0x0c, 0, 0, 0, // raw.size
        1, 2, 3, 4, 5, 6, 7, 8, 9, 0x0a, 0x0b, 0x0c, // raw.data
        1, 0, 0, 0, 0, 0, 0, 0, // branch_stack.nr
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, // branch_stack.hw_idx
        0, 0x11, 0x40, 0, 0, 0, 0, 0, // branch_stack.from
        0, 0x12, 0x40, 0, 0, 0, 0, 0, // branch_stack.to
        0x45, 0x23, 0x51, 0xe6, 2, 0, 0, 0x80, // branch_stack.flags
        0x55, 0, 0, 0, 0, 0, 0, 0, // branch_stack.counters
        2, 0, 0, 0, 0, 0, 0, 0, // regs_user.abi
        0x11, 0, 0, 0, 0, 0, 0, 0, // regs_user.values
        0x22, 0, 0, 0, 0, 0, 0, 0, // regs_user.values
        8, 0, 0, 0, 0, 0, 0, 0, // stack_user.size
        0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, // stack_user.data
        6, 0, 0, 0, 0, 0, 0, 0, // stack_user.dyn_size
        1, 0, 0, 0, 2, 0, 3, 0, // weight_struct
        0x21, 0, 8, 5, 0x1e, 0, 0, 0, // data_src
        3, 0, 0, 0, 5, 0, 0, 0, // transaction
        1, 0, 0, 0, 0, 0, 0, 0, // regs_intr.abi
        0x33, 0, 0, 0, 0, 0, 0, 0, // regs_intr.values
        0, 0x10, 0, 0, 0, 0, 0, 0, // phys_addr
        0x2a, 0, 0, 0, 0, 0, 0, 0, // cgroup
        0, 0x10, 0, 0, 0, 0, 0, 0, // data_page_size
        0, 0, 0x20, 0, 0, 0, 0, 0, // code_page_size
        8, 0, 0, 0, 0, 0, 0, 0, // aux.size
        0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, // aux.data
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 9, // type: SAMPLE
        0x40, 2, // misc: USER | EXACT_IP
        1, 0x80, // size: 384
        1, 2, 3, 4, 5, 6, 7, 8, // identifier
        0, 0, 0, 0, 0, 0x40, 0x10, 0, // ip
        0, 0, 0x12, 0x34, // pid
        0xff, 0xff, 0xff, 0xff, // tid
        0, 0, 0, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, // time
        0, 0, 0x7f, 0xff, 0, 0x11, 0x22, 0x33, // addr
        0, 0, 0, 0, 0, 0, 0, 7, // id
        0, 0, 0, 0, 0, 0, 0, 8, // stream_id
        0, 0, 0, 3, // cpu
        0, 0, 0, 0, // res
        0, 0, 0, 0, 0, 0, 3, 0xe8, // period
        0, 0, 0, 0, 0, 0, 0, 2, // read.nr
        0, 0, 0, 0, 0, 0, 0, 0x32, // read.time_enabled
        0, 0, 0, 0, 0, 0, 0, 0x28, // read.time_running
        0, 0, 0, 0, 0, 0, 0, 0x6f, // read.value
        0, 0, 0, 0, 0, 0, 0, 7, // read.id
        0, 0, 0, 0, 0, 0, 0, 1, // read.lost
        0, 0, 0, 0, 0, 0, 0, 0xde, // read.value
        0, 0, 0, 0, 0, 0, 0, 9, // read.id
        0, 0, 0, 0, 0, 0, 0, 0, // read.lost
        0, 0, 0, 0, 0, 0, 0, 3, // callchain.nr
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe, 0, // callchain.ips: PERF_CONTEXT_USER
        0, 0, 0, 0, 0, 0x40, 0x10, 0, // callchain.ips
        0, 0, 0, 0, 0, 0x40, 0x20, 0, // callchain.ips
        0, 0, 0, 0x0c, // raw.size
        1, 2, 3, 4, 5, 6, 7, 8, 9, 0x0a, 0x0b, 0x0c, // raw.data
        0, 0, 0, 0, 0, 0, 0, 1, // branch_stack.nr
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, // branch_stack.hw_idx
        0, 0, 0, 0, 0, 0x40, 0x11, 0, // branch_stack.from
        0, 0, 0, 0, 0, 0x40, 0x12, 0, // branch_stack.to
        0xa1, 0x23, 0x45, 0xa5, 0xc0, 0, 0, 1, // branch_stack.flags
        0, 0, 0, 0, 0, 0, 0, 0x55, // branch_stack.counters
        0, 0, 0, 0, 0, 0, 0, 2, // regs_user.abi
        0, 0, 0, 0, 0, 0, 0, 0x11, // regs_user.values
        0, 0, 0, 0, 0, 0, 0, 0x22, // regs_user.values
        0, 0, 0, 0, 0, 0, 0, 8, // stack_user.size
        0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, // stack_user.data
        0, 0, 0, 0, 0, 0, 0, 6, // stack_user.dyn_size
        0, 3, 0, 2, 0, 0, 0, 1, // weight_struct
        0, 0, 0, 0x1e, 5, 8, 0, 0x21, // data_src
        0, 0, 0, 5, 0, 0, 0, 3, // transaction
        0, 0, 0, 0, 0, 0, 0, 1, // regs_intr.abi
        0, 0, 0, 0, 0, 0, 0, 0x33, // regs_intr.values
        0, 0, 0, 0, 0, 0, 0x10, 0, // phys_addr
        0, 0, 0, 0, 0, 0, 0, 0x2a, // cgroup
        0, 0, 0, 0, 0, 0, 0x10, 0, // data_page_size
        0, 0, 0, 0, 0, 0x20, 0, 0, // code_page_size
        0, 0, 0, 0, 0, 0, 0, 8, // aux.size
        0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, // aux.data
    ];
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
    for (bytes, big) in [(LITTLE, false), (BIG, true)] {
        assert_eq!(record(&attr, big, bytes).as_ref(), Ok(&expected), "big: {big}");
        for size in (8..384).chain([385, 392]) {
            let result = record(&attr, big, &resized(bytes, big, size));
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
    const LITTLE: &[u8] = &[
        0x0c, 0, 0, 0, // type: ITRACE_START
        0, 0, // misc: none
        0x40, 0, // size: 64
        1, 0, 0, 0, // pid
        2, 0, 0, 0, // tid
        3, 0, 0, 0, // sample_id.pid
        0xff, 0xff, 0xff, 0xff, // sample_id.tid
        5, 0, 0, 0, 0, 0, 0, 0, // sample_id.time
        6, 0, 0, 0, 0, 0, 0, 0, // sample_id.id
        7, 0, 0, 0, 0, 0, 0, 0, // sample_id.stream_id
        8, 0, 0, 0, // sample_id.cpu
        0, 0, 0, 0, // sample_id.res
        8, 7, 6, 5, 4, 3, 2, 1, // sample_id.identifier
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 0x0c, // type: ITRACE_START
        0, 0, // misc: none
        0, 0x40, // size: 64
        0, 0, 0, 1, // pid
        0, 0, 0, 2, // tid
        0, 0, 0, 3, // sample_id.pid
        0xff, 0xff, 0xff, 0xff, // sample_id.tid
        0, 0, 0, 0, 0, 0, 0, 5, // sample_id.time
        0, 0, 0, 0, 0, 0, 0, 6, // sample_id.id
        0, 0, 0, 0, 0, 0, 0, 7, // sample_id.stream_id
        0, 0, 0, 8, // sample_id.cpu
        0, 0, 0, 0, // sample_id.res
        1, 2, 3, 4, 5, 6, 7, 8, // sample_id.identifier
    ];
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
    assert_eq!(record(&attr, false, LITTLE).as_ref(), Ok(&expected));
    assert_eq!(record(&attr, true, BIG).as_ref(), Ok(&expected));
}

#[test]
fn sample_id_is_up_to_the_attr() {
    let bytes = super::words_record(13, 0, &[5 /* lost */], false);
    let of = |attr: &Attr| record(attr, false, &bytes).unwrap().sample_id;
    assert_eq!(of(&attr(SampleType::TIME)), None);
    let no_fields = Attr { flags: AttrFlags::SAMPLE_ID_ALL, ..attr(SampleType::IP) };
    assert_eq!(of(&no_fields), Some(SampleId::default()));
}
