//! Header data, markers, and records that contain other bytes.

use perf_parse::ByteStr;
use perf_parse::abi::attr::{AttrFlags, AttrVersion};
use perf_parse::abi::event::EventType;
use perf_parse::abi::feature::Feature;
use perf_parse::abi::record::{CpuMode, Misc};

use super::*;

both! { header_attr header_event_type header_tracing_data header_build_id markers header_feature compressed compressed2 bpf_metadata a_newer_type }

fn header_attr<O: Endian>() {
    let freq = match O::ENDIANNESS {
        Endianness::Little => B64(1 << 10),
        Endianness::Big => B64(1 << 53),
    };
    let bytes = record::<O>(
        RecordType::HEADER_ATTR,
        0,
        &[
            B32(1),          // attr.type: software
            B32(72),         // attr.size: the second version
            B64(9),          // attr.config
            B64(4000),       // attr.sample_freq
            B64(0x10001),    // attr.sample_type: IP, IDENTIFIER
            B64(4),          // attr.read_format: ID
            freq,            // attr flags: freq
            B32(1),          // attr.wakeup_events
            B32(0),          // attr.bp_type
            B64(0x11),       // attr.config1
            B64(0x22),       // attr.config2
            B64(7),          // id[0]
            B64(0x12345678), // id[1]
        ],
    );
    let it = expect!(&bytes, O, HeaderAttr);
    assert_eq!(it.bytes, &bytes[8..80]);
    assert_eq!(it.ids.iter().collect::<Vec<_>>(), [7, 0x12345678]);
    let read = it.attr();
    assert_eq!((read.attr.kind, read.attr.size, read.attr.config), (EventType::SOFTWARE, 72, 9));
    assert_eq!((read.attr.sample_freq(), read.attr.flags), (Some(4000), AttrFlags::FREQ));
    assert_eq!((read.attr.config2, read.attr.config3), (0x22, 0));
    assert!(read.tail.is_empty());
    let expected = [
        (8, "Truncated attr@8"),
        (80, "ok"),
        (81, "Residue @80"),
        (88, "ok"),
        (89, "Residue @88"),
        (96, "ok"),
    ];
    assert_cut::<O>(&bytes, &expected);

    // Other sizes: 0 means the first version; the size of a newer kernel keeps its tail; a size below the first
    // version is invalid.
    let of_size = |size: u32, len: usize| {
        record::<O>(RecordType::HEADER_ATTR, 0, &[B32(0), B32(size), Pad(len - 9), B8(0xaa), B64(5)])
    };
    let bytes = of_size(0, 64);
    let it = expect!(&bytes, O, HeaderAttr);
    assert_eq!((it.bytes.len(), it.attr().attr.size, it.ids.first()), (64, 0, Some(5)));
    let newest = AttrVersion::NEWEST.size();
    let bytes = of_size(newest + 16, newest as usize + 16);
    let it = expect!(&bytes, O, HeaderAttr);
    assert_eq!((it.attr().tail.len(), it.attr().tail[15], it.ids.first()), (16, 0xaa, Some(5)));
    let error = decode::<O>(&of_size(63, 64)).unwrap_err();
    assert_eq!(error, Error { kind: ErrorKind::AttrSize { size: 63 }, offset: 12 });
    assert_eq!(
        error.to_string(),
        "byte 12: attr.size: is 63, smaller than the 64 bytes of the first version"
    );
    let error = decode::<O>(&of_size(u32::MAX, 64)).unwrap_err();
    let needed = u64::from(u32::MAX);
    assert_eq!(error.kind, ErrorKind::Truncated { field: "attr", needed, available: 72 });
}

fn header_event_type<O: Endian>() {
    let bytes = record::<O>(
        RecordType::HEADER_EVENT_TYPE,
        0,
        &[
            B64(3),             // event_id
            Bytes(b"cycles\0"), // name
            Bytes(b"x"),        // after its NUL
        ],
    );
    let it = expect!(&bytes, O, HeaderEventType);
    assert_eq!((it.event_id, it.name), (3, &b"cycles"[..]));
    assert_cut::<O>(&bytes, &[(8, "Truncated event_id@8"), (16, "ok")]);
    // perf cut names at a multiple of 8 bytes, even if that left no NUL.
    let bytes = resized::<O>(&bytes, 20);
    assert_eq!(expect!(&bytes, O, HeaderEventType).name, b"cycl");
}

fn header_tracing_data<O: Endian>() {
    let bytes = record::<O>(
        RecordType::HEADER_TRACING_DATA,
        0,
        &[
            B32(5368), // size
            B32(0),    // pad, not in old records
        ],
    );
    let it = expect!(&bytes, O, HeaderTracingData);
    assert_eq!((it.size, it.rest.len()), (5368, 4));
    let old = resized::<O>(&bytes, 12);
    let it = expect!(&old, O, HeaderTracingData);
    assert_eq!((it.size, it.rest.len()), (5368, 0));
    assert_cut::<O>(&bytes, &[(8, "Truncated size@8"), (12, "ok")]);
}

fn header_build_id<O: Endian>() {
    let fields = [
        B32(u32::MAX),                  // pid: the host
        Bytes(b"0123456789abcdefghij"), // build_id
        B8(16),                         // size
        B8(0),                          // reserved1__
        B16(0),                         // reserved2__
        Bytes(b"[kernel.kallsyms]\0"),  // filename
        Pad(6),                         // to a multiple of 8
    ];
    let bytes = record::<O>(RecordType::HEADER_BUILD_ID, Misc::BUILD_ID_SIZE.0 | 1, &fields);
    let it = expect!(&bytes, O, HeaderBuildId);
    assert_eq!((it.pid, it.cpumode()), (-1, CpuMode::KERNEL));
    assert_eq!((it.build_id, it.filename), (&b"0123456789abcdef"[..], ByteStr::new(b"[kernel.kallsyms]")));
    assert_cut::<O>(&bytes, &[(8, "Truncated build_id@8"), (36, "Unterminated filename@36"), (54, "ok")]);
    // Without the bit in `misc` the length is not recorded.
    let bytes = record::<O>(RecordType::HEADER_BUILD_ID, 2, &fields);
    assert_eq!(expect!(&bytes, O, HeaderBuildId).build_id.len(), 20);
    let mut bytes = record::<O>(RecordType::HEADER_BUILD_ID, Misc::BUILD_ID_SIZE.0, &fields);
    bytes[32] = 21;
    let kind = ErrorKind::OutOfRange { field: "build_id.size", value: 21, max: 20 };
    assert_eq!(decode::<O>(&bytes).unwrap_err(), Error { kind, offset: 32 });
}

fn markers<O: Endian>() {
    let round = record::<O>(RecordType::FINISHED_ROUND, 0, &[B64(0)]);
    assert!(matches!(decode::<O>(&resized::<O>(&round, 8)), Ok(UserRecord::FinishedRound)));
    assert_cut::<O>(&round, &[(8, "ok"), (9, "Residue @8")]);
    let init = record::<O>(RecordType::FINISHED_INIT, 0, &[B64(0)]);
    assert!(matches!(decode::<O>(&resized::<O>(&init, 8)), Ok(UserRecord::FinishedInit)));
    assert_cut::<O>(&init, &[(8, "ok"), (9, "Residue @8")]);
}

fn header_feature<O: Endian>() {
    let bytes = record::<O>(
        RecordType::HEADER_FEATURE,
        0,
        &[
            B64(3),           // feat_id: HOSTNAME
            B32(4),           // the section: length of a string
            Bytes(b"vm\0\0"), // the section: the string
        ],
    );
    let it = expect!(&bytes, O, HeaderFeature);
    assert_eq!((it.feat_id, it.feature(), it.data), (3, Some(Feature::HOSTNAME), &bytes[16..]));
    assert_cut::<O>(&bytes, &[(8, "Truncated feat_id@8"), (16, "ok")]);
    let bytes = record::<O>(RecordType::HEADER_FEATURE, 0, &[B64(1 << 32)]);
    assert_eq!(expect!(&bytes, O, HeaderFeature).feature(), None);
}

fn compressed<O: Endian>() {
    let bytes = record::<O>(RecordType::COMPRESSED, 0, &[Bytes(b"\x28\xb5\x2f\xfd\x01")]);
    assert_eq!(expect!(&bytes, O, Compressed), b"\x28\xb5\x2f\xfd\x01");
    assert_cut::<O>(&bytes, &[(8, "ok")]);
}

fn compressed2<O: Endian>() {
    let bytes = record::<O>(
        RecordType::COMPRESSED2,
        0,
        &[
            B64(5),                         // data_size
            Bytes(b"\x28\xb5\x2f\xfd\x01"), // data
            Bytes(b"\0\0\x07"),             // to a multiple of 8
        ],
    );
    let it = expect!(&bytes, O, Compressed2);
    assert_eq!((it.data, it.rest), (&b"\x28\xb5\x2f\xfd\x01"[..], &b"\0\0\x07"[..]));
    assert_cut::<O>(&bytes, &[(8, "Truncated data_size@8"), (16, "Truncated data@16"), (21, "ok")]);
    let bytes = record::<O>(RecordType::COMPRESSED2, 0, &[B64(9), B64(0)]);
    let kind = ErrorKind::Truncated { field: "data", needed: 9, available: 8 };
    assert_eq!(decode::<O>(&bytes).unwrap_err(), Error { kind, offset: 16 });
}

fn bpf_metadata<O: Endian>() {
    let bytes = record::<O>(
        RecordType::BPF_METADATA,
        0,
        &[
            Bytes(b"bpf_prog_1_f\0"), // prog_name
            Pad(499),                 // prog_name, to its end
            B64(1),                   // nr_entries
            Bytes(b"version"),        // entries[0].key
            Pad(57),                  // entries[0].key, to its end
            Bytes(b"1.2"),            // entries[0].value
            Pad(253),                 // entries[0].value, to its end
            B8(1),                    // of a newer perf
        ],
    );
    let it = expect!(&bytes, O, BpfMetadata);
    assert_eq!((it.prog_name, it.entries.len(), it.rest), (&b"bpf_prog_1_f"[..], 1, &[1][..]));
    assert!(it.entries[0].key.starts_with(b"version\0") && it.entries[0].value.starts_with(b"1.2\0"));
    assert_cut::<O>(&bytes, &[(8, "Truncated prog_name@8"), (528, "Truncated entries@528"), (848, "ok")]);
}

fn a_newer_type<O: Endian>() {
    let bytes = record::<O>(RecordType(RecordType::HEADER_MAX), 0, &[B64(1)]);
    let raw = expect!(&bytes, O, Other);
    assert_eq!((raw.kind(), raw.payload()), (RecordType(87), &bytes[8..]));
    assert_cut::<O>(&bytes, &[(8, "ok")]);
}
