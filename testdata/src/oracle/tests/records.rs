//! Each kind of record in both byte orders, with a time as the trailer.

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::read_format::ReadFormat;
use perf_abi::sample_type::SampleType;

use super::resized;
use crate::oracle::*;

const TIME: u64 = 0x0a0b_0c0d_0e0f_1011;

fn attr() -> Attr {
    Attr {
        sample_type: SampleType::TIME,
        read_format: ReadFormat::ID,
        flags: AttrFlags::SAMPLE_ID_ALL,
        ..Attr::default()
    }
}

/// Decodes a record and compares every field with the expected value.
fn check(little: &[u8], big: &[u8], (kind, misc): (u32, u16), body: &Body) {
    let sample_id = Some(SampleId { time: Some(TIME), ..SampleId::default() });
    let size = little.len() as u16;
    let expected = Ok(Record { kind, misc, size, body: body.clone(), sample_id });
    assert_eq!(record(&attr(), false, little), expected, "little-endian");
    assert_eq!(record(&attr(), true, big), expected, "big-endian");
}

/// Does [`check`], and checks that the record is refused with fewer or more bytes.
fn check_exact(little: &[u8], big: &[u8], header: (u32, u16), body: &Body) {
    check(little, big, header, body);
    for (bytes, is_big) in [(little, false), (big, true)] {
        for size in (8..bytes.len()).chain([bytes.len() + 1, bytes.len() + 8]) {
            let result = record(&attr(), is_big, &resized(bytes, is_big, size));
            assert!(result.is_err(), "{size} bytes: {result:?}");
        }
    }
}

#[test]
fn mmap() {
    const LITTLE: &[u8] = &[
        1, 0, 0, 0, // type: MMAP
        2, 0x20, // misc: USER | MMAP_DATA
        0x38, 0, // size: 56
        0x34, 0x12, 0, 0, // pid
        0x78, 0x56, 0, 0, // tid
        0x44, 0x33, 0x22, 0x11, 0, 0x7f, 0, 0, // addr
        0, 0x10, 2, 0, 0, 0, 0, 0, // len
        0, 0x30, 0, 0, 0, 0, 0, 0, // pgoff
        0x2f, 0x62, 0x69, 0x6e, 0x2f, 0x6c, 0x73, 0, // filename
        0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, // sample_id.time
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 1, // type: MMAP
        0x20, 2, // misc: USER | MMAP_DATA
        0, 0x38, // size: 56
        0, 0, 0x12, 0x34, // pid
        0, 0, 0x56, 0x78, // tid
        0, 0, 0x7f, 0, 0x11, 0x22, 0x33, 0x44, // addr
        0, 0, 0, 0, 0, 2, 0x10, 0, // len
        0, 0, 0, 0, 0, 0, 0x30, 0, // pgoff
        0x2f, 0x62, 0x69, 0x6e, 0x2f, 0x6c, 0x73, 0, // filename
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // sample_id.time
    ];
    check(
        LITTLE,
        BIG,
        (1, 0x2002),
        &Body::Mmap {
            pid: 0x1234,
            tid: 0x5678,
            addr: 0x7f00_1122_3344,
            len: 0x21000,
            pgoff: 0x3000,
            filename: b"/bin/ls".to_vec(),
        },
    );
}

#[test]
fn lost() {
    const LITTLE: &[u8] = &[
        2, 0, 0, 0, // type: LOST
        0, 0, // misc: none
        0x20, 0, // size: 32
        0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, // id
        3, 0, 0, 0, 0, 0, 0, 0, // lost
        0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, // sample_id.time
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 2, // type: LOST
        0, 0, // misc: none
        0, 0x20, // size: 32
        0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, // id
        0, 0, 0, 0, 0, 0, 0, 3, // lost
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // sample_id.time
    ];
    check_exact(LITTLE, BIG, (2, 0x0), &Body::Lost { id: 0x1122_3344_5566_7788, lost: 3 });
}

#[test]
fn comm() {
    const LITTLE: &[u8] = &[
        3, 0, 0, 0, // type: COMM
        0, 0x20, // misc: COMM_EXEC
        0x28, 0, // size: 40
        0xff, 0xff, 0xff, 0xff, // pid
        0x78, 0x56, 0, 0, // tid
        0x6b, 0x77, 0x6f, 0x72, 0x6b, 0x65, 0x72, 0x2f, 0x30, 0x3a, 0x31, 0, 0, 0, 0, 0, // comm
        0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, // sample_id.time
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 3, // type: COMM
        0x20, 0, // misc: COMM_EXEC
        0, 0x28, // size: 40
        0xff, 0xff, 0xff, 0xff, // pid
        0, 0, 0x56, 0x78, // tid
        0x6b, 0x77, 0x6f, 0x72, 0x6b, 0x65, 0x72, 0x2f, 0x30, 0x3a, 0x31, 0, 0, 0, 0, 0, // comm
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // sample_id.time
    ];
    check(LITTLE, BIG, (3, 0x2000), &Body::Comm { pid: -1, tid: 0x5678, comm: b"kworker/0:1".to_vec() });
}

#[test]
fn exit() {
    const LITTLE: &[u8] = &[
        4, 0, 0, 0, // type: EXIT
        0, 0, // misc: none
        0x28, 0, // size: 40
        0x34, 0x12, 0, 0, // pid
        1, 0, 0, 0, // ppid
        0x78, 0x56, 0, 0, // tid
        2, 0, 0, 0, // ptid
        0xdd, 0xcc, 0xbb, 0xaa, 0x99, 0, 0, 0, // time
        0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, // sample_id.time
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 4, // type: EXIT
        0, 0, // misc: none
        0, 0x28, // size: 40
        0, 0, 0x12, 0x34, // pid
        0, 0, 0, 1, // ppid
        0, 0, 0x56, 0x78, // tid
        0, 0, 0, 2, // ptid
        0, 0, 0, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, // time
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // sample_id.time
    ];
    check_exact(
        LITTLE,
        BIG,
        (4, 0x0),
        &Body::Exit { pid: 0x1234, ppid: 1, tid: 0x5678, ptid: 2, time: 0x99_aabb_ccdd },
    );
}

#[test]
fn throttle() {
    const LITTLE: &[u8] = &[
        5, 0, 0, 0, // type: THROTTLE
        0, 0, // misc: none
        0x28, 0, // size: 40
        0xdd, 0xcc, 0xbb, 0xaa, 0x99, 0, 0, 0, // time
        7, 0, 0, 0, 0, 0, 0, 0, // id
        8, 7, 6, 5, 4, 3, 2, 1, // stream_id
        0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, // sample_id.time
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 5, // type: THROTTLE
        0, 0, // misc: none
        0, 0x28, // size: 40
        0, 0, 0, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, // time
        0, 0, 0, 0, 0, 0, 0, 7, // id
        1, 2, 3, 4, 5, 6, 7, 8, // stream_id
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // sample_id.time
    ];
    check_exact(
        LITTLE,
        BIG,
        (5, 0x0),
        &Body::Throttle { time: 0x99_aabb_ccdd, id: 7, stream_id: 0x0102_0304_0506_0708 },
    );
}

#[test]
fn unthrottle() {
    const LITTLE: &[u8] = &[
        6, 0, 0, 0, // type: UNTHROTTLE
        0, 0, // misc: none
        0x28, 0, // size: 40
        0xdd, 0xcc, 0xbb, 0xaa, 0x99, 0, 0, 0, // time
        7, 0, 0, 0, 0, 0, 0, 0, // id
        8, 7, 6, 5, 4, 3, 2, 1, // stream_id
        0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, // sample_id.time
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 6, // type: UNTHROTTLE
        0, 0, // misc: none
        0, 0x28, // size: 40
        0, 0, 0, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, // time
        0, 0, 0, 0, 0, 0, 0, 7, // id
        1, 2, 3, 4, 5, 6, 7, 8, // stream_id
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // sample_id.time
    ];
    check_exact(
        LITTLE,
        BIG,
        (6, 0x0),
        &Body::Unthrottle { time: 0x99_aabb_ccdd, id: 7, stream_id: 0x0102_0304_0506_0708 },
    );
}

#[test]
fn fork() {
    const LITTLE: &[u8] = &[
        7, 0, 0, 0, // type: FORK
        0, 0x20, // misc: FORK_EXEC
        0x28, 0, // size: 40
        0x34, 0x12, 0, 0, // pid
        1, 0, 0, 0, // ppid
        0x78, 0x56, 0, 0, // tid
        2, 0, 0, 0, // ptid
        0xdd, 0xcc, 0xbb, 0xaa, 0x99, 0, 0, 0, // time
        0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, // sample_id.time
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 7, // type: FORK
        0x20, 0, // misc: FORK_EXEC
        0, 0x28, // size: 40
        0, 0, 0x12, 0x34, // pid
        0, 0, 0, 1, // ppid
        0, 0, 0x56, 0x78, // tid
        0, 0, 0, 2, // ptid
        0, 0, 0, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, // time
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // sample_id.time
    ];
    check_exact(
        LITTLE,
        BIG,
        (7, 0x2000),
        &Body::Fork { pid: 0x1234, ppid: 1, tid: 0x5678, ptid: 2, time: 0x99_aabb_ccdd },
    );
}

#[test]
fn read() {
    const LITTLE: &[u8] = &[
        8, 0, 0, 0, // type: READ
        0, 0, // misc: none
        0x28, 0, // size: 40
        0x34, 0x12, 0, 0, // pid
        0x78, 0x56, 0, 0, // tid
        8, 7, 6, 5, 4, 3, 2, 1, // value
        9, 0, 0, 0, 0, 0, 0, 0, // id
        0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, // sample_id.time
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 8, // type: READ
        0, 0, // misc: none
        0, 0x28, // size: 40
        0, 0, 0x12, 0x34, // pid
        0, 0, 0x56, 0x78, // tid
        1, 2, 3, 4, 5, 6, 7, 8, // value
        0, 0, 0, 0, 0, 0, 0, 9, // id
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // sample_id.time
    ];
    check_exact(
        LITTLE,
        BIG,
        (8, 0x0),
        &Body::Read {
            pid: 0x1234,
            tid: 0x5678,
            values: Read {
                group: false,
                time_enabled: None,
                time_running: None,
                values: vec![ReadValue { value: 0x0102_0304_0506_0708, id: Some(9), lost: None }],
            },
        },
    );
}

#[test]
fn mmap2() {
    const LITTLE: &[u8] = &[
        0x0a, 0, 0, 0, // type: MMAP2
        2, 0, // misc: USER
        0x58, 0, // size: 88
        0x34, 0x12, 0, 0, // pid
        0x78, 0x56, 0, 0, // tid
        0x44, 0x33, 0x22, 0x11, 0, 0x7f, 0, 0, // addr
        0, 0x10, 2, 0, 0, 0, 0, 0, // len
        0, 0x30, 0, 0, 0, 0, 0, 0, // pgoff
        8, 0, 0, 0, // maj
        2, 1, 0, 0, // min
        0x55, 0x44, 0x33, 0x22, 0x11, 0, 0, 0, // ino
        6, 0, 0, 0, 0, 0, 0, 0, // ino_generation
        5, 0, 0, 0, // prot
        2, 0x20, 0, 0, // flags
        0x2f, 0x2f, 0x61, 0x6e, 0x6f, 0x6e, 0, 0, // filename
        0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, // sample_id.time
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 0x0a, // type: MMAP2
        0, 2, // misc: USER
        0, 0x58, // size: 88
        0, 0, 0x12, 0x34, // pid
        0, 0, 0x56, 0x78, // tid
        0, 0, 0x7f, 0, 0x11, 0x22, 0x33, 0x44, // addr
        0, 0, 0, 0, 0, 2, 0x10, 0, // len
        0, 0, 0, 0, 0, 0, 0x30, 0, // pgoff
        0, 0, 0, 8, // maj
        0, 0, 1, 2, // min
        0, 0, 0, 0x11, 0x22, 0x33, 0x44, 0x55, // ino
        0, 0, 0, 0, 0, 0, 0, 6, // ino_generation
        0, 0, 0, 5, // prot
        0, 0, 0x20, 2, // flags
        0x2f, 0x2f, 0x61, 0x6e, 0x6f, 0x6e, 0, 0, // filename
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // sample_id.time
    ];
    check(
        LITTLE,
        BIG,
        (10, 0x2),
        &Body::Mmap2 {
            pid: 0x1234,
            tid: 0x5678,
            addr: 0x7f00_1122_3344,
            len: 0x21000,
            pgoff: 0x3000,
            file: Mmap2Id::Inode { maj: 8, min: 0x102, ino: 0x11_2233_4455, ino_generation: 6 },
            prot: Some(5),
            flags: Some(0x2002),
            filename: b"//anon".to_vec(),
        },
    );
}

#[test]
fn mmap2_build_id() {
    const LITTLE: &[u8] = &[
        0x0a, 0, 0, 0, // type: MMAP2
        2, 0x40, // misc: USER | MMAP_BUILD_ID
        0x58, 0, // size: 88
        0x34, 0x12, 0, 0, // pid
        0x78, 0x56, 0, 0, // tid
        0x44, 0x33, 0x22, 0x11, 0, 0x7f, 0, 0, // addr
        0, 0x10, 2, 0, 0, 0, 0, 0, // len
        0, 0x30, 0, 0, 0, 0, 0, 0,    // pgoff
        0x14, // build_id_size
        0,    // reserved_1
        0, 0, // reserved_2
        1, 2, 3, 4, 5, 6, 7, 8, 9, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, // build_id
        0x11, 0x12, 0x13, 0x14, //
        5, 0, 0, 0, // prot
        2, 0, 0, 0, // flags
        0x2f, 0x62, 0x69, 0x6e, 0x2f, 0x6c, 0x73, 0, // filename
        0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, // sample_id.time
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 0x0a, // type: MMAP2
        0x40, 2, // misc: USER | MMAP_BUILD_ID
        0, 0x58, // size: 88
        0, 0, 0x12, 0x34, // pid
        0, 0, 0x56, 0x78, // tid
        0, 0, 0x7f, 0, 0x11, 0x22, 0x33, 0x44, // addr
        0, 0, 0, 0, 0, 2, 0x10, 0, // len
        0, 0, 0, 0, 0, 0, 0x30, 0,    // pgoff
        0x14, // build_id_size
        0,    // reserved_1
        0, 0, // reserved_2
        1, 2, 3, 4, 5, 6, 7, 8, 9, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, // build_id
        0x11, 0x12, 0x13, 0x14, //
        0, 0, 0, 5, // prot
        0, 0, 0, 2, // flags
        0x2f, 0x62, 0x69, 0x6e, 0x2f, 0x6c, 0x73, 0, // filename
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // sample_id.time
    ];
    check(
        LITTLE,
        BIG,
        (10, 0x4002),
        &Body::Mmap2 {
            pid: 0x1234,
            tid: 0x5678,
            addr: 0x7f00_1122_3344,
            len: 0x21000,
            pgoff: 0x3000,
            file: Mmap2Id::BuildId { build_id_size: 20, build_id: core::array::from_fn(|i| i as u8 + 1) },
            prot: Some(5),
            flags: Some(2),
            filename: b"/bin/ls".to_vec(),
        },
    );
}

#[test]
fn mmap2_before_3_16() {
    const LITTLE: &[u8] = &[
        0x0a, 0, 0, 0, // type: MMAP2
        2, 0, // misc: USER
        0x58, 0, // size: 88
        0x34, 0x12, 0, 0, // pid
        0x78, 0x56, 0, 0, // tid
        0x44, 0x33, 0x22, 0x11, 0, 0x7f, 0, 0, // addr
        0, 0x10, 2, 0, 0, 0, 0, 0, // len
        0, 0x30, 0, 0, 0, 0, 0, 0, // pgoff
        8, 0, 0, 0, // maj
        2, 1, 0, 0, // min
        0x55, 0x44, 0x33, 0x22, 0x11, 0, 0, 0, // ino
        6, 0, 0, 0, 0, 0, 0, 0, // ino_generation
        0x2f, 0x75, 0x73, 0x72, 0x2f, 0x62, 0x69, 0x6e, 0x2f, 0x6c, 0x73, 0, 0, 0, 0, 0, // filename
        0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, // sample_id.time
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 0x0a, // type: MMAP2
        0, 2, // misc: USER
        0, 0x58, // size: 88
        0, 0, 0x12, 0x34, // pid
        0, 0, 0x56, 0x78, // tid
        0, 0, 0x7f, 0, 0x11, 0x22, 0x33, 0x44, // addr
        0, 0, 0, 0, 0, 2, 0x10, 0, // len
        0, 0, 0, 0, 0, 0, 0x30, 0, // pgoff
        0, 0, 0, 8, // maj
        0, 0, 1, 2, // min
        0, 0, 0, 0x11, 0x22, 0x33, 0x44, 0x55, // ino
        0, 0, 0, 0, 0, 0, 0, 6, // ino_generation
        0x2f, 0x75, 0x73, 0x72, 0x2f, 0x62, 0x69, 0x6e, 0x2f, 0x6c, 0x73, 0, 0, 0, 0, 0, // filename
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // sample_id.time
    ];
    check(
        LITTLE,
        BIG,
        (10, 0x2),
        &Body::Mmap2 {
            pid: 0x1234,
            tid: 0x5678,
            addr: 0x7f00_1122_3344,
            len: 0x21000,
            pgoff: 0x3000,
            file: Mmap2Id::Inode { maj: 8, min: 0x102, ino: 0x11_2233_4455, ino_generation: 6 },
            prot: None,
            flags: None,
            filename: b"/usr/bin/ls".to_vec(),
        },
    );
}

#[test]
fn aux() {
    const LITTLE: &[u8] = &[
        0x0b, 0, 0, 0, // type: AUX
        0, 0, // misc: none
        0x28, 0, // size: 40
        8, 7, 6, 5, 4, 3, 2, 1, // aux_offset
        0, 0x10, 0, 0, 0, 0, 0, 0, // aux_size
        1, 0, 0, 0, 0, 0, 0, 0, // flags
        0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, // sample_id.time
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 0x0b, // type: AUX
        0, 0, // misc: none
        0, 0x28, // size: 40
        1, 2, 3, 4, 5, 6, 7, 8, // aux_offset
        0, 0, 0, 0, 0, 0, 0x10, 0, // aux_size
        0, 0, 0, 0, 0, 0, 0, 1, // flags
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // sample_id.time
    ];
    check_exact(
        LITTLE,
        BIG,
        (11, 0x0),
        &Body::Aux { aux_offset: 0x0102_0304_0506_0708, aux_size: 0x1000, flags: 1 },
    );
}

#[test]
fn itrace_start() {
    const LITTLE: &[u8] = &[
        0x0c, 0, 0, 0, // type: ITRACE_START
        0, 0, // misc: none
        0x18, 0, // size: 24
        0x34, 0x12, 0, 0, // pid
        0x78, 0x56, 0, 0, // tid
        0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, // sample_id.time
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 0x0c, // type: ITRACE_START
        0, 0, // misc: none
        0, 0x18, // size: 24
        0, 0, 0x12, 0x34, // pid
        0, 0, 0x56, 0x78, // tid
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // sample_id.time
    ];
    check_exact(LITTLE, BIG, (12, 0x0), &Body::ItraceStart { pid: 0x1234, tid: 0x5678 });
}

#[test]
fn lost_samples() {
    const LITTLE: &[u8] = &[
        0x0d, 0, 0, 0, // type: LOST_SAMPLES
        0, 0, // misc: none
        0x18, 0, // size: 24
        8, 7, 6, 5, 4, 3, 2, 1, // lost
        0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, // sample_id.time
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 0x0d, // type: LOST_SAMPLES
        0, 0, // misc: none
        0, 0x18, // size: 24
        1, 2, 3, 4, 5, 6, 7, 8, // lost
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // sample_id.time
    ];
    check_exact(LITTLE, BIG, (13, 0x0), &Body::LostSamples { lost: 0x0102_0304_0506_0708 });
}

#[test]
fn switch() {
    const LITTLE: &[u8] = &[
        0x0e, 0, 0, 0, // type: SWITCH
        0, 0x60, // misc: SWITCH_OUT | SWITCH_OUT_PREEMPT
        0x10, 0, // size: 16
        0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, // sample_id.time
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 0x0e, // type: SWITCH
        0x60, 0, // misc: SWITCH_OUT | SWITCH_OUT_PREEMPT
        0, 0x10, // size: 16
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // sample_id.time
    ];
    check_exact(LITTLE, BIG, (14, 0x6000), &Body::Switch);
}

#[test]
fn switch_cpu_wide() {
    const LITTLE: &[u8] = &[
        0x0f, 0, 0, 0, // type: SWITCH_CPU_WIDE
        0, 0x20, // misc: SWITCH_OUT
        0x18, 0, // size: 24
        0x34, 0x12, 0, 0, // next_prev_pid
        0xff, 0xff, 0xff, 0xff, // next_prev_tid
        0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, // sample_id.time
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 0x0f, // type: SWITCH_CPU_WIDE
        0x20, 0, // misc: SWITCH_OUT
        0, 0x18, // size: 24
        0, 0, 0x12, 0x34, // next_prev_pid
        0xff, 0xff, 0xff, 0xff, // next_prev_tid
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // sample_id.time
    ];
    check_exact(LITTLE, BIG, (15, 0x2000), &Body::SwitchCpuWide { next_prev_pid: 0x1234, next_prev_tid: -1 });
}

#[test]
fn namespaces() {
    const LITTLE: &[u8] = &[
        0x10, 0, 0, 0, // type: NAMESPACES
        0, 0, // misc: none
        0x40, 0, // size: 64
        0x34, 0x12, 0, 0, // pid
        0x78, 0x56, 0, 0, // tid
        2, 0, 0, 0, 0, 0, 0, 0, // nr_namespaces
        4, 0, 0, 0, 0, 0, 0, 0, // dev
        0x98, 0, 0, 0xf0, 0, 0, 0, 0, // ino
        0, 0, 0, 0, 0, 0, 0, 0, // dev
        0, 0, 0, 0, 0, 0, 0, 0, // ino
        0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, // sample_id.time
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 0x10, // type: NAMESPACES
        0, 0, // misc: none
        0, 0x40, // size: 64
        0, 0, 0x12, 0x34, // pid
        0, 0, 0x56, 0x78, // tid
        0, 0, 0, 0, 0, 0, 0, 2, // nr_namespaces
        0, 0, 0, 0, 0, 0, 0, 4, // dev
        0, 0, 0, 0, 0xf0, 0, 0, 0x98, // ino
        0, 0, 0, 0, 0, 0, 0, 0, // dev
        0, 0, 0, 0, 0, 0, 0, 0, // ino
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // sample_id.time
    ];
    check_exact(
        LITTLE,
        BIG,
        (16, 0x0),
        &Body::Namespaces {
            pid: 0x1234,
            tid: 0x5678,
            namespaces: vec![Namespace { dev: 4, ino: 0xf000_0098 }, Namespace { dev: 0, ino: 0 }],
        },
    );
}

#[test]
fn ksymbol() {
    const LITTLE: &[u8] = &[
        0x11, 0, 0, 0, // type: KSYMBOL
        0, 0, // misc: none
        0x30, 0, // size: 48
        0, 0x10, 0, 0xc0, 0xff, 0xff, 0xff, 0xff, // addr
        0x2c, 0, 0, 0, // len
        1, 0, // ksym_type: BPF
        1, 0, // flags: UNREGISTER
        0x62, 0x70, 0x66, 0x5f, 0x70, 0x72, 0x6f, 0x67, 0, 0, 0, 0, 0, 0, 0, 0, // name
        0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, // sample_id.time
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 0x11, // type: KSYMBOL
        0, 0, // misc: none
        0, 0x30, // size: 48
        0xff, 0xff, 0xff, 0xff, 0xc0, 0, 0x10, 0, // addr
        0, 0, 0, 0x2c, // len
        0, 1, // ksym_type: BPF
        0, 1, // flags: UNREGISTER
        0x62, 0x70, 0x66, 0x5f, 0x70, 0x72, 0x6f, 0x67, 0, 0, 0, 0, 0, 0, 0, 0, // name
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // sample_id.time
    ];
    check(
        LITTLE,
        BIG,
        (17, 0x0),
        &Body::Ksymbol {
            addr: 0xffff_ffff_c000_1000,
            len: 0x2c,
            ksym_type: 1,
            flags: 1,
            name: b"bpf_prog".to_vec(),
        },
    );
}

#[test]
fn bpf_event() {
    const LITTLE: &[u8] = &[
        0x12, 0, 0, 0, // type: BPF_EVENT
        0, 0, // misc: none
        0x20, 0, // size: 32
        1, 0, // type: PROG_LOAD
        0, 0, // flags
        4, 3, 2, 1, // id
        0xa0, 1, 2, 3, 4, 5, 6, 7, // tag
        0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, // sample_id.time
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 0x12, // type: BPF_EVENT
        0, 0, // misc: none
        0, 0x20, // size: 32
        0, 1, // type: PROG_LOAD
        0, 0, // flags
        1, 2, 3, 4, // id
        0xa0, 1, 2, 3, 4, 5, 6, 7, // tag
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // sample_id.time
    ];
    check_exact(
        LITTLE,
        BIG,
        (18, 0x0),
        &Body::BpfEvent { r#type: 1, flags: 0, id: 0x0102_0304, tag: [0xa0, 1, 2, 3, 4, 5, 6, 7] },
    );
}

#[test]
fn cgroup() {
    const LITTLE: &[u8] = &[
        0x13, 0, 0, 0, // type: CGROUP
        0, 0, // misc: none
        0x28, 0, // size: 40
        8, 7, 6, 5, 4, 3, 2, 1, // id
        0x2f, 0x61, 0x2e, 0x73, 0x6c, 0x69, 0x63, 0x65, 0, 0, 0, 0, 0, 0, 0, 0, // path
        0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, // sample_id.time
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 0x13, // type: CGROUP
        0, 0, // misc: none
        0, 0x28, // size: 40
        1, 2, 3, 4, 5, 6, 7, 8, // id
        0x2f, 0x61, 0x2e, 0x73, 0x6c, 0x69, 0x63, 0x65, 0, 0, 0, 0, 0, 0, 0, 0, // path
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // sample_id.time
    ];
    check(LITTLE, BIG, (19, 0x0), &Body::Cgroup { id: 0x0102_0304_0506_0708, path: b"/a.slice".to_vec() });
}

#[test]
fn text_poke() {
    const LITTLE: &[u8] = &[
        0x14, 0, 0, 0, // type: TEXT_POKE
        1, 0, // misc: KERNEL
        0x28, 0, // size: 40
        0, 0, 0, 0x81, 0xff, 0xff, 0xff, 0xff, // addr
        5, 0, // old_len
        2, 0, // new_len
        0x0f, 0x1f, 0x44, 0, 0, // old
        0xeb, 3, // new
        0, 0, 0, 0, 0, // padding
        0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, // sample_id.time
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 0x14, // type: TEXT_POKE
        0, 1, // misc: KERNEL
        0, 0x28, // size: 40
        0xff, 0xff, 0xff, 0xff, 0x81, 0, 0, 0, // addr
        0, 5, // old_len
        0, 2, // new_len
        0x0f, 0x1f, 0x44, 0, 0, // old
        0xeb, 3, // new
        0, 0, 0, 0, 0, // padding
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // sample_id.time
    ];
    check_exact(
        LITTLE,
        BIG,
        (20, 0x1),
        &Body::TextPoke {
            addr: 0xffff_ffff_8100_0000,
            old: vec![0x0f, 0x1f, 0x44, 0, 0],
            new: vec![0xeb, 3],
        },
    );
}

#[test]
fn text_poke_without_padding() {
    const LITTLE: &[u8] = &[
        0x14, 0, 0, 0, // type: TEXT_POKE
        1, 0, // misc: KERNEL
        0x20, 0, // size: 32
        0, 0, 0, 0x81, 0xff, 0xff, 0xff, 0xff, // addr
        0, 0, // old_len
        4, 0, // new_len
        1, 2, 3, 4, // new
        0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, // sample_id.time
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 0x14, // type: TEXT_POKE
        0, 1, // misc: KERNEL
        0, 0x20, // size: 32
        0xff, 0xff, 0xff, 0xff, 0x81, 0, 0, 0, // addr
        0, 0, // old_len
        0, 4, // new_len
        1, 2, 3, 4, // new
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // sample_id.time
    ];
    check_exact(
        LITTLE,
        BIG,
        (20, 0x1),
        &Body::TextPoke { addr: 0xffff_ffff_8100_0000, old: vec![], new: vec![1, 2, 3, 4] },
    );
}

#[test]
fn aux_output_hw_id() {
    const LITTLE: &[u8] = &[
        0x15, 0, 0, 0, // type: AUX_OUTPUT_HW_ID
        0, 0, // misc: none
        0x18, 0, // size: 24
        8, 7, 6, 5, 4, 3, 2, 1, // hw_id
        0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, // sample_id.time
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 0x15, // type: AUX_OUTPUT_HW_ID
        0, 0, // misc: none
        0, 0x18, // size: 24
        1, 2, 3, 4, 5, 6, 7, 8, // hw_id
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // sample_id.time
    ];
    check_exact(LITTLE, BIG, (21, 0x0), &Body::AuxOutputHwId { hw_id: 0x0102_0304_0506_0708 });
}

#[test]
fn callchain_deferred() {
    const LITTLE: &[u8] = &[
        0x16, 0, 0, 0, // type: CALLCHAIN_DEFERRED
        2, 0, // misc: USER
        0x30, 0, // size: 48
        8, 7, 6, 5, 4, 3, 2, 1, // cookie
        2, 0, 0, 0, 0, 0, 0, 0, // nr
        0, 0x10, 0x40, 0, 0, 0, 0, 0, // ips
        0, 0x20, 0x40, 0, 0, 0, 0, 0, // ips
        0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, // sample_id.time
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 0x16, // type: CALLCHAIN_DEFERRED
        0, 2, // misc: USER
        0, 0x30, // size: 48
        1, 2, 3, 4, 5, 6, 7, 8, // cookie
        0, 0, 0, 0, 0, 0, 0, 2, // nr
        0, 0, 0, 0, 0, 0x40, 0x10, 0, // ips
        0, 0, 0, 0, 0, 0x40, 0x20, 0, // ips
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // sample_id.time
    ];
    check_exact(
        LITTLE,
        BIG,
        (22, 0x2),
        &Body::CallchainDeferred { cookie: 0x0102_0304_0506_0708, ips: vec![0x401000, 0x402000] },
    );
}

#[test]
fn other() {
    const LITTLE: &[u8] = &[
        0x17, 0, 0, 0, // type: 23, which no kernel has yet
        0, 0x80, // misc: EXT_RESERVED
        0x18, 0, // size: 24
        1, 2, 3, 4, 5, 6, 7, 8, // unknown
        0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, // sample_id.time
    ];
    const BIG: &[u8] = &[
        0, 0, 0, 0x17, // type: 23, which no kernel has yet
        0x80, 0, // misc: EXT_RESERVED
        0, 0x18, // size: 24
        1, 2, 3, 4, 5, 6, 7, 8, // unknown
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // sample_id.time
    ];
    check(LITTLE, BIG, (23, 0x8000), &Body::Other(vec![1, 2, 3, 4, 5, 6, 7, 8]));
}
