//! AUX data, and the clock of its time stamps.

use perf_parse::abi::auxtrace::{AuxtraceType, IntelBtsWord};
use perf_parse::abi::record::AuxtraceErrorType;

use super::*;

both! { auxtrace_info auxtrace auxtrace_error_without_time auxtrace_error_with_time auxtrace_error_of_a_guest time_conv time_conv_of_a_short_clock }

fn auxtrace_info<O: Endian>() {
    let bytes = record::<O>(
        RecordType::AUXTRACE_INFO,
        0,
        &[
            B32(2),          // type: INTEL_BTS
            B32(0),          // reserved__
            B64(6),          // priv[0]: PMU_TYPE
            B64(31),         // priv[1]: TIME_SHIFT
            B64(0x22a1cda2), // priv[2]: TIME_MULT
        ],
    );
    let it = expect!(&bytes, O, AuxtraceInfo);
    assert_eq!((it.kind, it.words.len()), (AuxtraceType::INTEL_BTS, 3));
    assert_eq!(it.words.get(IntelBtsWord::TIME_MULT.0), Some(0x22a1cda2));
    let expected = [
        (8, "Truncated type@8"),
        (16, "ok"),
        (17, "Residue @16"),
        (24, "ok"),
        (25, "Residue @24"),
        (32, "ok"),
        (33, "Residue @32"),
        (40, "ok"),
    ];
    assert_cut::<O>(&bytes, &expected);
}

fn auxtrace<O: Endian>() {
    let bytes = record::<O>(
        RecordType::AUXTRACE,
        0,
        &[
            B64(0x1000),        // size
            B64(0x1_0000_0000), // offset
            B64(0xabcd),        // reference
            B32(3),             // idx
            B32(u32::MAX),      // tid: none
            B32(2),             // cpu
            B32(0),             // reserved__
            B64(9),             // of a newer perf
        ],
    );
    let it = expect!(&bytes, O, Auxtrace);
    assert_eq!((it.size, it.offset, it.reference), (0x1000, 0x1_0000_0000, 0xabcd));
    assert_eq!((it.idx, it.tid, it.cpu, it.rest), (3, -1, 2, &bytes[48..]));
    assert_cut::<O>(&bytes, &[(8, "Truncated size@8"), (48, "ok")]);
}

/// Returns the fields of AUXTRACE_ERROR in all formats.
fn auxtrace_error(fmt: u32) -> [Field<'static>; 7] {
    [
        B32(1),        // type: ITRACE
        B32(5),        // code
        B32(u32::MAX), // cpu: not known
        B32(100),      // pid
        B32(101),      // tid
        B32(fmt),      // fmt
        B64(0x4000),   // ip
    ]
}

fn auxtrace_error_without_time<O: Endian>() {
    let mut fields = Vec::from(auxtrace_error(0));
    fields.push(Bytes(b"lost\0\0\0\0")); // msg
    let bytes = record::<O>(RecordType::AUXTRACE_ERROR, 0, &fields);
    let it = expect!(&bytes, O, AuxtraceError);
    assert_eq!((it.kind, it.code, it.cpu), (AuxtraceErrorType(1), 5, -1));
    assert_eq!((it.pid, it.tid, it.ip), (100, 101, 0x4000));
    assert_eq!((it.time, it.msg, it.guest, it.rest), (None, &b"lost"[..], None, &[][..]));
    assert_cut::<O>(&bytes, &[(8, "Truncated type@8"), (40, "Unterminated msg@40"), (45, "ok")]);
}

fn auxtrace_error_with_time<O: Endian>() {
    for fmt in [1, 2] {
        // Format 2 without room for the guest is read as format 1.
        let mut fields = Vec::from(auxtrace_error(fmt));
        fields.push(B64(123_456_789)); // time
        fields.push(Bytes(b"lost\0\0\0\0")); // msg
        let bytes = record::<O>(RecordType::AUXTRACE_ERROR, 0, &fields);
        let it = expect!(&bytes, O, AuxtraceError);
        assert_eq!((it.fmt, it.time, it.msg), (fmt, Some(123_456_789), &b"lost"[..]));
        assert_eq!((it.guest, it.rest), (None, &[][..]));
        let expected =
            [(8, "Truncated type@8"), (40, "Truncated time@40"), (48, "Unterminated msg@48"), (53, "ok")];
        assert_cut::<O>(&bytes, &expected);
    }
}

fn auxtrace_error_of_a_guest<O: Endian>() {
    for fmt in [2, 3] {
        // A future format begins like the last known one.
        let mut fields = Vec::from(auxtrace_error(fmt));
        fields.push(B64(123_456_789)); // time
        fields.push(Bytes(b"overflow")); // msg
        fields.push(Pad(56)); // msg, to its end
        fields.push(B32(4000)); // machine_pid
        fields.push(B32(1)); // vcpu
        fields.push(B64(8)); // of a newer perf
        let bytes = record::<O>(RecordType::AUXTRACE_ERROR, 0, &fields);
        let it = expect!(&bytes, O, AuxtraceError);
        assert_eq!((it.time, it.msg, it.rest), (Some(123_456_789), &b"overflow"[..], &bytes[120..]));
        assert_eq!(it.guest, Some((4000, 1)));
        let expected =
            [(8, "Truncated type@8"), (40, "Truncated time@40"), (48, "Unterminated msg@48"), (57, "ok")];
        assert_cut::<O>(&bytes, &expected);
        let short = resized::<O>(&bytes, 119);
        let it = expect!(&short, O, AuxtraceError);
        assert_eq!((it.guest, it.msg), (None, &b"overflow"[..]));
    }
    // A message that fills its field has no NUL.
    let mut fields = Vec::from(auxtrace_error(2));
    fields.extend([B64(0), Bytes(&[b'm'; 64]), B32(0), B32(u32::MAX)]);
    let bytes = record::<O>(RecordType::AUXTRACE_ERROR, 0, &fields);
    assert_eq!(expect!(&bytes, O, AuxtraceError).msg, [b'm'; 64]);
}

fn time_conv<O: Endian>() {
    // From a capture of an x86 machine, whose clock has all 64 bits.
    let bytes = record::<O>(
        RecordType::TIME_CONV,
        0,
        &[
            B64(31),                    // time_shift
            B64(0x22a1_cda2),           // time_mult
            B64(0xffff_fff7_da84_1e4f), // time_zero
            B64(0),                     // time_cycles
            B64(0),                     // time_mask
            B8(1),                      // cap_user_time_zero
            B8(0),                      // cap_user_time_short
            Pad(6),                     // reserved
            B64(1),                     // of a newer perf
        ],
    );
    let it = expect!(&bytes, O, TimeConv);
    assert_eq!((it.time_shift, it.time_mult), (31, 0x22a1_cda2));
    assert_eq!(it.time_zero, 0xffff_fff7_da84_1e4f);
    let short = it.short.unwrap();
    assert_eq!((short.cap_user_time_zero, short.cap_user_time_short), (1, 0));
    assert_eq!(it.rest, &bytes[56..]);
    assert_cut::<O>(
        &bytes,
        &[(8, "Truncated time_shift@8"), (32, "ok"), (33, "Truncated time_cycles@32"), (56, "ok")],
    );
    // Computed separately with integers of any width: (time_zero + (tsc * time_mult >> time_shift)) mod 2^64.
    let vectors = [
        (0, 0xffff_fff7_da84_1e4f),
        (1, 0xffff_fff7_da84_1e4f),
        (0x7fff_ffff, 18_446_744_039_301_966_832),
        (0x8000_0000, 18_446_744_039_301_966_833),
        (12_345_678_901_234, 3_305_293_373_398),
        (0x12_3456_7890_abcd, 1_386_354_880_212_081),
        (u64::MAX, 0x4543_9b3b_da84_1e4e),
    ];
    let old = resized::<O>(&bytes, 32);
    let old = expect!(&old, O, TimeConv);
    assert!(old.short.is_none());
    for (tsc, time) in vectors {
        assert_eq!(it.tsc_to_perf_time(tsc), time, "at {tsc}");
        assert_eq!(old.tsc_to_perf_time(tsc), time, "at {tsc}, old record");
    }
    let scaled = |shift: u64, mult: u64, tsc: u64| {
        let bytes = record::<O>(RecordType::TIME_CONV, 0, &[B64(shift), B64(mult), B64(10)]);
        expect!(&bytes, O, TimeConv).tsc_to_perf_time(tsc)
    };
    assert_eq!(scaled(0, 3, 7), 31);
    assert_eq!(scaled(1, 3, 7), 20);
    // The widths of the control page: 16 and 32 bits.
    assert_eq!(scaled(0x1_0001, 0x1_0000_0003, 7), 20);
    // The product of the counter's low half and the factor wraps, as in perf.
    assert_eq!(scaled(40, 0xffff_ffff, 0xff_ffff_ffff), 10 + 0xff_fffe);
    assert_eq!(scaled(63, 2, u64::MAX), 10 + 2 + 1);
    assert_eq!(scaled(64, 3, u64::MAX), 10);
    assert_eq!(scaled(0xffff, 3, u64::MAX), 10);
}

fn time_conv_of_a_short_clock<O: Endian>() {
    // From a capture of an arm64 machine, whose clock has 57 bits.
    let bytes = record::<O>(
        RecordType::TIME_CONV,
        0,
        &[
            B64(21),                    // time_shift
            B64(0x0180_0000),           // time_mult
            B64(0xffff_fb4c_4b94_ff9c), // time_zero
            B64(0x64_4f0e_c5c7),        // time_cycles
            B64(0x01ff_ffff_ffff_ffff), // time_mask
            B8(1),                      // cap_user_time_zero
            B8(1),                      // cap_user_time_short
            Pad(6),                     // reserved
        ],
    );
    let it = expect!(&bytes, O, TimeConv);
    let start = 0x64_4f0e_c5c7;
    let vectors = [
        (start, 4_605_168),
        (start + 24_000_000, 292_605_168),
        // After the clock has wrapped, the same low bits are a later time.
        (start + (1 << 57) + 5, 4_605_228),
        (start - 1, 1_729_382_256_914_875_620),
        (0, 1_729_377_087_037_702_044),
        (0x4f0e_c5c7, 1_729_377_102_954_120_432),
    ];
    for (tsc, time) in vectors {
        assert_eq!(it.tsc_to_perf_time(tsc), time, "at {tsc:#x}");
    }
}
