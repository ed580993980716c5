//! Each kind of record in both byte orders, with a time as the trailer.

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::read_format::ReadFormat;
use perf_abi::sample_type::SampleType;

use super::resized;
use crate::Bytes;
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

/// Decodes a record in both byte orders and compares every field with the expected value.
fn check(bytes: impl Fn(bool) -> Vec<u8>, (kind, misc): (u32, u16), body: &Body) {
    for big in [false, true] {
        let bytes = bytes(big);
        let sample_id = Some(SampleId { time: Some(TIME), ..SampleId::default() });
        let size = bytes.len() as u16;
        let expected = Ok(Record { kind, misc, size: size.into(), body: body.clone(), sample_id });
        assert_eq!(record(&attr(), big, &bytes), expected, "big-endian: {big}");
    }
}

/// Does [`check`], and checks that the record is refused with fewer or more bytes.
fn check_exact(bytes: impl Fn(bool) -> Vec<u8>, header: (u32, u16), body: &Body) {
    check(&bytes, header, body);
    for big in [false, true] {
        let bytes = bytes(big);
        for size in (8..bytes.len()).chain([bytes.len() + 1, bytes.len() + 8]) {
            let result = record(&attr(), big, &resized(&bytes, big, size));
            assert!(result.is_err(), "{size} bytes: {result:?}");
        }
    }
}

#[test]
fn mmap() {
    let bytes = |big| {
        Bytes::new(big)
            .u32(1) // type: MMAP
            .u16(0x2002) // misc: USER | MMAP_DATA
            .u16(0x38) // size: 56
            .u32(0x1234) // pid
            .u32(0x5678) // tid
            .u64(0x7f00_1122_3344) // addr
            .u64(0x2_1000) // len
            .u64(0x3000) // pgoff
            .raw(b"/bin/ls\0") // filename
            .u64(TIME) // sample_id.time
            .out
    };
    check(
        bytes,
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
    let bytes = |big| {
        Bytes::new(big)
            .u32(2) // type: LOST
            .u16(0) // misc: none
            .u16(0x20) // size: 32
            .u64(0x1122_3344_5566_7788) // id
            .u64(3) // lost
            .u64(TIME) // sample_id.time
            .out
    };
    check_exact(bytes, (2, 0x0), &Body::Lost { id: 0x1122_3344_5566_7788, lost: 3 });
}

#[test]
fn comm() {
    let bytes = |big| {
        Bytes::new(big)
            .u32(3) // type: COMM
            .u16(0x2000) // misc: COMM_EXEC
            .u16(0x28) // size: 40
            .u32(0xffff_ffff) // pid
            .u32(0x5678) // tid
            .raw(b"kworker/0:1\0\0\0\0\0") // comm
            .u64(TIME) // sample_id.time
            .out
    };
    check(bytes, (3, 0x2000), &Body::Comm { pid: -1, tid: 0x5678, comm: b"kworker/0:1".to_vec() });
}

#[test]
fn exit() {
    let bytes = |big| {
        Bytes::new(big)
            .u32(4) // type: EXIT
            .u16(0) // misc: none
            .u16(0x28) // size: 40
            .u32(0x1234) // pid
            .u32(1) // ppid
            .u32(0x5678) // tid
            .u32(2) // ptid
            .u64(0x99_aabb_ccdd) // time
            .u64(TIME) // sample_id.time
            .out
    };
    check_exact(
        bytes,
        (4, 0x0),
        &Body::Exit { pid: 0x1234, ppid: 1, tid: 0x5678, ptid: 2, time: 0x99_aabb_ccdd },
    );
}

#[test]
fn throttle() {
    let bytes = |big| {
        Bytes::new(big)
            .u32(5) // type: THROTTLE
            .u16(0) // misc: none
            .u16(0x28) // size: 40
            .u64(0x99_aabb_ccdd) // time
            .u64(7) // id
            .u64(0x102_0304_0506_0708) // stream_id
            .u64(TIME) // sample_id.time
            .out
    };
    check_exact(
        bytes,
        (5, 0x0),
        &Body::Throttle { time: 0x99_aabb_ccdd, id: 7, stream_id: 0x0102_0304_0506_0708 },
    );
}

#[test]
fn unthrottle() {
    let bytes = |big| {
        Bytes::new(big)
            .u32(6) // type: UNTHROTTLE
            .u16(0) // misc: none
            .u16(0x28) // size: 40
            .u64(0x99_aabb_ccdd) // time
            .u64(7) // id
            .u64(0x102_0304_0506_0708) // stream_id
            .u64(TIME) // sample_id.time
            .out
    };
    check_exact(
        bytes,
        (6, 0x0),
        &Body::Unthrottle { time: 0x99_aabb_ccdd, id: 7, stream_id: 0x0102_0304_0506_0708 },
    );
}

#[test]
fn fork() {
    let bytes = |big| {
        Bytes::new(big)
            .u32(7) // type: FORK
            .u16(0x2000) // misc: FORK_EXEC
            .u16(0x28) // size: 40
            .u32(0x1234) // pid
            .u32(1) // ppid
            .u32(0x5678) // tid
            .u32(2) // ptid
            .u64(0x99_aabb_ccdd) // time
            .u64(TIME) // sample_id.time
            .out
    };
    check_exact(
        bytes,
        (7, 0x2000),
        &Body::Fork { pid: 0x1234, ppid: 1, tid: 0x5678, ptid: 2, time: 0x99_aabb_ccdd },
    );
}

#[test]
fn read() {
    let bytes = |big| {
        Bytes::new(big)
            .u32(8) // type: READ
            .u16(0) // misc: none
            .u16(0x28) // size: 40
            .u32(0x1234) // pid
            .u32(0x5678) // tid
            .u64(0x102_0304_0506_0708) // value
            .u64(9) // id
            .u64(TIME) // sample_id.time
            .out
    };
    check_exact(
        bytes,
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
    let bytes = |big| {
        Bytes::new(big)
            .u32(0xa) // type: MMAP2
            .u16(2) // misc: USER
            .u16(0x58) // size: 88
            .u32(0x1234) // pid
            .u32(0x5678) // tid
            .u64(0x7f00_1122_3344) // addr
            .u64(0x2_1000) // len
            .u64(0x3000) // pgoff
            .u32(8) // maj
            .u32(0x102) // min
            .u64(0x11_2233_4455) // ino
            .u64(6) // ino_generation
            .u32(5) // prot
            .u32(0x2002) // flags
            .raw(b"//anon\0\0") // filename
            .u64(TIME) // sample_id.time
            .out
    };
    check(
        bytes,
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
            fits_both: false,
            filename: b"//anon".to_vec(),
        },
    );
}

#[test]
fn mmap2_build_id() {
    let bytes = |big| {
        Bytes::new(big)
            .u32(0xa) // type: MMAP2
            .u16(0x4002) // misc: USER | MMAP_BUILD_ID
            .u16(0x58) // size: 88
            .u32(0x1234) // pid
            .u32(0x5678) // tid
            .u64(0x7f00_1122_3344) // addr
            .u64(0x2_1000) // len
            .u64(0x3000) // pgoff
            .raw(&[0x14]) // build_id_size
            .u8(0) // reserved_1
            .u16(0) // reserved_2
            .raw(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 0xa, 0xb, 0xc, 0xd, 0xe, 0xf, 0x10]) // build_id
            .raw(&[0x11, 0x12, 0x13, 0x14])
            .u32(5) // prot
            .u32(2) // flags
            .raw(b"/bin/ls\0") // filename
            .u64(TIME) // sample_id.time
            .out
    };
    check(
        bytes,
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
            fits_both: false,
            filename: b"/bin/ls".to_vec(),
        },
    );
}

#[test]
fn mmap2_before_3_16() {
    let bytes = |big| {
        Bytes::new(big)
            .u32(0xa) // type: MMAP2
            .u16(2) // misc: USER
            .u16(0x58) // size: 88
            .u32(0x1234) // pid
            .u32(0x5678) // tid
            .u64(0x7f00_1122_3344) // addr
            .u64(0x2_1000) // len
            .u64(0x3000) // pgoff
            .u32(8) // maj
            .u32(0x102) // min
            .u64(0x11_2233_4455) // ino
            .u64(6) // ino_generation
            .raw(b"/usr/bin/ls\0\0\0\0\0") // filename
            .u64(TIME) // sample_id.time
            .out
    };
    check(
        bytes,
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
            fits_both: true,
            filename: b"/usr/bin/ls".to_vec(),
        },
    );
}

#[test]
fn aux() {
    let bytes = |big| {
        Bytes::new(big)
            .u32(0xb) // type: AUX
            .u16(0) // misc: none
            .u16(0x28) // size: 40
            .u64(0x102_0304_0506_0708) // aux_offset
            .u64(0x1000) // aux_size
            .u64(1) // flags
            .u64(TIME) // sample_id.time
            .out
    };
    check_exact(
        bytes,
        (11, 0x0),
        &Body::Aux { aux_offset: 0x0102_0304_0506_0708, aux_size: 0x1000, flags: 1 },
    );
}

#[test]
fn itrace_start() {
    let bytes = |big| {
        Bytes::new(big)
            .u32(0xc) // type: ITRACE_START
            .u16(0) // misc: none
            .u16(0x18) // size: 24
            .u32(0x1234) // pid
            .u32(0x5678) // tid
            .u64(TIME) // sample_id.time
            .out
    };
    check_exact(bytes, (12, 0x0), &Body::ItraceStart { pid: 0x1234, tid: 0x5678 });
}

#[test]
fn lost_samples() {
    let bytes = |big| {
        Bytes::new(big)
            .u32(0xd) // type: LOST_SAMPLES
            .u16(0) // misc: none
            .u16(0x18) // size: 24
            .u64(0x102_0304_0506_0708) // lost
            .u64(TIME) // sample_id.time
            .out
    };
    check_exact(bytes, (13, 0x0), &Body::LostSamples { lost: 0x0102_0304_0506_0708 });
}

#[test]
fn switch() {
    let bytes = |big| {
        Bytes::new(big)
            .u32(0xe) // type: SWITCH
            .u16(0x6000) // misc: SWITCH_OUT | SWITCH_OUT_PREEMPT
            .u16(0x10) // size: 16
            .u64(TIME) // sample_id.time
            .out
    };
    check_exact(bytes, (14, 0x6000), &Body::Switch);
}

#[test]
fn switch_cpu_wide() {
    let bytes = |big| {
        Bytes::new(big)
            .u32(0xf) // type: SWITCH_CPU_WIDE
            .u16(0x2000) // misc: SWITCH_OUT
            .u16(0x18) // size: 24
            .u32(0x1234) // next_prev_pid
            .u32(0xffff_ffff) // next_prev_tid
            .u64(TIME) // sample_id.time
            .out
    };
    check_exact(bytes, (15, 0x2000), &Body::SwitchCpuWide { next_prev_pid: 0x1234, next_prev_tid: -1 });
}

#[test]
fn namespaces() {
    let bytes = |big| {
        Bytes::new(big)
            .u32(0x10) // type: NAMESPACES
            .u16(0) // misc: none
            .u16(0x40) // size: 64
            .u32(0x1234) // pid
            .u32(0x5678) // tid
            .u64(2) // nr_namespaces
            .u64(4) // dev
            .u64(0xf000_0098) // ino
            .u64(0) // dev
            .u64(0) // ino
            .u64(TIME) // sample_id.time
            .out
    };
    check_exact(
        bytes,
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
    let bytes = |big| {
        Bytes::new(big)
            .u32(0x11) // type: KSYMBOL
            .u16(0) // misc: none
            .u16(0x30) // size: 48
            .u64(0xffff_ffff_c000_1000) // addr
            .u32(0x2c) // len
            .u16(1) // ksym_type: BPF
            .u16(1) // flags: UNREGISTER
            .raw(b"bpf_prog\0\0\0\0\0\0\0\0") // name
            .u64(TIME) // sample_id.time
            .out
    };
    check(
        bytes,
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
    let bytes = |big| {
        Bytes::new(big)
            .u32(0x12) // type: BPF_EVENT
            .u16(0) // misc: none
            .u16(0x20) // size: 32
            .u16(1) // type: PROG_LOAD
            .u16(0) // flags
            .u32(0x102_0304) // id
            .raw(&[0xa0, 1, 2, 3, 4, 5, 6, 7]) // tag
            .u64(TIME) // sample_id.time
            .out
    };
    let body = Body::BpfEvent { r#type: 1, flags: 0, id: 0x0102_0304, tag: [0xa0, 1, 2, 3, 4, 5, 6, 7] };
    check(bytes, (18, 0x0), &body);
    for big in [false, true] {
        let bytes = bytes(big);
        for size in (8..bytes.len()).chain([bytes.len() + 1]) {
            assert!(record(&attr(), big, &resized(&bytes, big, size)).is_err(), "{size} bytes");
        }
        // Words that the kernel did not write.
        let longer = record(&attr(), big, &resized(&bytes, big, bytes.len() + 8)).unwrap();
        assert_eq!((longer.body, longer.sample_id.unwrap().time), (body.clone(), Some(TIME)));
    }
}

#[test]
fn cgroup() {
    let bytes = |big| {
        Bytes::new(big)
            .u32(0x13) // type: CGROUP
            .u16(0) // misc: none
            .u16(0x28) // size: 40
            .u64(0x102_0304_0506_0708) // id
            .raw(b"/a.slice\0\0\0\0\0\0\0\0") // path
            .u64(TIME) // sample_id.time
            .out
    };
    check(bytes, (19, 0x0), &Body::Cgroup { id: 0x0102_0304_0506_0708, path: b"/a.slice".to_vec() });
}

#[test]
fn text_poke() {
    let bytes = |big| {
        Bytes::new(big)
            .u32(0x14) // type: TEXT_POKE
            .u16(1) // misc: KERNEL
            .u16(0x28) // size: 40
            .u64(0xffff_ffff_8100_0000) // addr
            .u16(5) // old_len
            .u16(2) // new_len
            .raw(&[0xf, 0x1f, 0x44, 0, 0]) // old
            .raw(&[0xeb, 3]) // new
            .raw(&[0, 0, 0, 0, 0]) // padding
            .u64(TIME) // sample_id.time
            .out
    };
    check_exact(
        bytes,
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
    let bytes = |big| {
        Bytes::new(big)
            .u32(0x14) // type: TEXT_POKE
            .u16(1) // misc: KERNEL
            .u16(0x20) // size: 32
            .u64(0xffff_ffff_8100_0000) // addr
            .u16(0) // old_len
            .u16(4) // new_len
            .raw(&[1, 2, 3, 4]) // new
            .u64(TIME) // sample_id.time
            .out
    };
    check_exact(
        bytes,
        (20, 0x1),
        &Body::TextPoke { addr: 0xffff_ffff_8100_0000, old: vec![], new: vec![1, 2, 3, 4] },
    );
}

#[test]
fn aux_output_hw_id() {
    let bytes = |big| {
        Bytes::new(big)
            .u32(0x15) // type: AUX_OUTPUT_HW_ID
            .u16(0) // misc: none
            .u16(0x18) // size: 24
            .u64(0x102_0304_0506_0708) // hw_id
            .u64(TIME) // sample_id.time
            .out
    };
    check_exact(bytes, (21, 0x0), &Body::AuxOutputHwId { hw_id: 0x0102_0304_0506_0708 });
}

#[test]
fn callchain_deferred() {
    let bytes = |big| {
        Bytes::new(big)
            .u32(0x16) // type: CALLCHAIN_DEFERRED
            .u16(2) // misc: USER
            .u16(0x30) // size: 48
            .u64(0x102_0304_0506_0708) // cookie
            .u64(2) // nr
            .u64(0x40_1000) // ips
            .u64(0x40_2000) // ips
            .u64(TIME) // sample_id.time
            .out
    };
    check_exact(
        bytes,
        (22, 0x2),
        &Body::CallchainDeferred { cookie: 0x0102_0304_0506_0708, ips: vec![0x401000, 0x402000] },
    );
}

#[test]
fn other() {
    let bytes = |big| {
        Bytes::new(big)
            .u32(0x17) // type: 23, which no kernel has yet
            .u16(0x8000) // misc: EXT_RESERVED
            .u16(0x18) // size: 24
            .raw(&[1, 2, 3, 4, 5, 6, 7, 8]) // unknown
            .u64(TIME) // sample_id.time
            .out
    };
    check(bytes, (23, 0x8000), &Body::Other(vec![1, 2, 3, 4, 5, 6, 7, 8]));
}
