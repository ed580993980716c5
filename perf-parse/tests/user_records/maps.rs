//! Ids, threads and CPUs.

use perf_parse::abi::record::CpuMapType;

use super::*;

both! { id_index thread_map cpu_list cpu_mask_of_4 cpu_mask_of_8 cpu_range cpu_map_of_another_kind }

fn id_index<O: Endian>() {
    let bytes = record::<O>(
        RecordType::ID_INDEX,
        0,
        &[
            B64(2),                  // nr
            B64(530),                // entries[0].id
            B64(0),                  // entries[0].idx
            B64(1),                  // entries[0].cpu
            B64(u64::MAX),           // entries[0].tid: any
            B64(531),                // entries[1].id
            B64(4),                  // entries[1].idx
            B64(u64::MAX),           // entries[1].cpu: any
            B64(8465),               // entries[1].tid
            B64(77),                 // entries_2[0].machine_pid
            B64(3),                  // entries_2[0].vcpu
            B64(0),                  // entries_2[1].machine_pid
            B64(u64::MAX),           // entries_2[1].vcpu
            Bytes(b"something!new"), // of a newer perf
        ],
    );
    let it = expect!(&bytes, O, IdIndex);
    let entry = |index: usize| {
        let entry = it.entries.get(index).unwrap();
        (entry.id, entry.idx, entry.cpu, entry.tid)
    };
    assert_eq!((it.entries.len(), entry(0), entry(1)), (2, (530, 0, 1, -1), (531, 4, -1, 8465)));
    let guests: Vec<_> = it.guests.unwrap().iter().map(|guest| (guest.machine_pid, guest.vcpu)).collect();
    assert_eq!(guests, [(77, 3), (0, -1)]);
    assert_eq!(it.rest, b"something!new");
    assert_cut::<O>(&bytes, &[(8, "Truncated nr@8"), (16, "Truncated entries@16"), (80, "ok")]);
    // As in perf: without room for all guests there are none.
    for (len, guests, rest) in [(80, None, 0), (111, None, 31), (112, Some(2), 0)] {
        let bytes = resized::<O>(&bytes, len);
        let it = expect!(&bytes, O, IdIndex);
        assert_eq!((it.guests.map(|guests| guests.len()), it.rest.len()), (guests, rest), "of {len} bytes");
    }
    let none = record::<O>(RecordType::ID_INDEX, 0, &[B64(0)]);
    let it = expect!(&none, O, IdIndex);
    assert!(it.entries.is_empty() && it.guests.is_none());
    let hostile = record::<O>(RecordType::ID_INDEX, 0, &[B64(u64::MAX), Pad(64)]);
    let kind = ErrorKind::Truncated { field: "entries", needed: u64::MAX, available: 64 };
    assert_eq!(decode::<O>(&hostile).unwrap_err(), Error { kind, offset: 16 });
}

fn thread_map<O: Endian>() {
    let bytes = record::<O>(
        RecordType::THREAD_MAP,
        0,
        &[
            B64(2),                     // nr
            B64(u64::MAX),              // entries[0].pid: all
            Pad(16),                    // entries[0].comm
            B64(9026),                  // entries[1].pid
            Bytes(b"perf\0\0\0\0"),     // entries[1].comm
            Bytes(b"\0\0\0\0\0\0\0\0"), // entries[1].comm, to its end
            B8(1),                      // of a newer perf
        ],
    );
    let it = expect!(&bytes, O, ThreadMap);
    assert_eq!((it.entries.len(), it.rest), (2, &[1][..]));
    let [all, perf] = [0, 1].map(|index| it.entries.get(index).unwrap());
    assert_eq!((all.pid, all.comm(), &it.entries.as_bytes()[8..24]), (-1, &b""[..], &[0; 16][..]));
    assert_eq!((perf.pid, perf.comm()), (9026, &b"perf"[..]));
    assert_eq!(it.entries.as_bytes()[32..], *b"perf\0\0\0\0\0\0\0\0\0\0\0\0");
    assert_cut::<O>(&bytes, &[(8, "Truncated nr@8"), (16, "Truncated entries@16"), (64, "ok")]);
}

fn cpu_list<O: Endian>() {
    let bytes = record::<O>(
        RecordType::CPU_MAP,
        0,
        &[
            B16(0),        // type: CPUS
            B16(4),        // nr
            B16(u16::MAX), // cpu[0]: any
            B16(5),        // cpu[1]
            B16(65534),    // cpu[2]
            B16(0),        // cpu[3]
            Pad(4),        // to a multiple of 8
        ],
    );
    let it = expect!(&bytes, O, CpuMap);
    assert_eq!((it.data.kind(), it.rest), (CpuMapType::CPUS, &[0; 4][..]));
    assert_eq!(it.data.cpus().collect::<Vec<_>>(), [-1, 5, 65534, 0]);
    assert_cut::<O>(
        &bytes,
        &[(8, "Truncated type@8"), (10, "Truncated nr@10"), (12, "Truncated cpu@12"), (20, "ok")],
    );
}

fn cpu_mask_of_4<O: Endian>() {
    let bytes = record::<O>(
        RecordType::CPU_MAP,
        0,
        &[
            B16(1),           // type: MASK
            B16(3),           // nr
            B16(4),           // long_size
            B32(0x8000_0001), // mask[0]: CPUs 0 and 31
            B32(0),           // mask[1]
            B32(6),           // mask[2]: CPUs 65 and 66
            Pad(6),           // to a multiple of 8
        ],
    );
    let it = expect!(&bytes, O, CpuMap);
    assert!(matches!(it.data, CpuMapData::Mask32(words) if words.len() == 3));
    assert_eq!((it.data.kind(), it.rest.len()), (CpuMapType::MASK, 6));
    assert_eq!(it.data.cpus().collect::<Vec<_>>(), [0, 31, 65, 66]);
    assert_cut::<O>(
        &bytes,
        &[(8, "Truncated type@8"), (10, "Truncated nr@10"), (14, "Truncated mask@14"), (26, "ok")],
    );
}

fn cpu_mask_of_8<O: Endian>() {
    let bytes = record::<O>(
        RecordType::CPU_MAP,
        0,
        &[
            B16(1),            // type: MASK
            B16(2),            // nr
            B16(8),            // long_size
            Pad(4),            // __pad
            B64(0xff0),        // mask[0]: CPUs 4 to 11
            B64(1 << 63 | 2),  // mask[1]: CPUs 65 and 127
            Bytes(b"garbage"), // what perf did not clear
        ],
    );
    let it = expect!(&bytes, O, CpuMap);
    assert!(matches!(it.data, CpuMapData::Mask64(words) if words.len() == 2));
    assert_eq!(it.rest, b"garbage");
    assert_eq!(it.data.cpus().collect::<Vec<_>>(), [4, 5, 6, 7, 8, 9, 10, 11, 65, 127]);
    let expected = [
        (8, "Truncated type@8"),
        (10, "Truncated nr@10"),
        (14, "Truncated __pad@14"),
        (18, "Truncated mask@18"),
        (34, "ok"),
    ];
    assert_cut::<O>(&bytes, &expected);
}

fn cpu_range<O: Endian>() {
    let range = |any: u8, start: u16, end: u16| {
        record::<O>(
            RecordType::CPU_MAP,
            0,
            &[
                B16(2),     // type: RANGE_CPUS
                B8(any),    // any_cpu
                B8(0),      // __pad
                B16(start), // start_cpu
                B16(end),   // end_cpu
            ],
        )
    };
    let cpus = |bytes: &[u8]| expect!(bytes, O, CpuMap).data.cpus().collect::<Vec<_>>();
    assert_eq!(cpus(&range(0, 2, 5)), [2, 3, 4, 5]);
    assert_eq!(cpus(&range(1, 0, 1)), [-1, 0, 1]);
    assert_eq!(cpus(&range(1, 5, 4)), [-1]);
    let all = cpus(&range(255, 0, u16::MAX));
    assert_eq!((all.len(), all[0], all[65536]), (65537, -1, 65535));
    assert_cut::<O>(&range(0, 2, 5), &[(8, "Truncated type@8"), (10, "Truncated any_cpu@10"), (16, "ok")]);
}

fn cpu_map_of_another_kind<O: Endian>() {
    let bytes = record::<O>(
        RecordType::CPU_MAP,
        0,
        &[
            B16(3),           // type: of a newer perf
            Bytes(b"opaque"), // its data, not known
        ],
    );
    let it = expect!(&bytes, O, CpuMap);
    let CpuMapData::Other { kind, data } = it.data else { panic!("{it:?}") };
    assert_eq!((kind, data, it.data.cpus().count()), (CpuMapType(3), &b"opaque"[..], 0));
    assert_cut::<O>(&bytes, &[(8, "Truncated type@8"), (10, "ok")]);
    let bytes = record::<O>(
        RecordType::CPU_MAP,
        0,
        &[
            B16(1), // type: MASK
            B16(1), // nr
            B16(2), // long_size: no known word size
            B16(3), // mask[0]
        ],
    );
    let it = expect!(&bytes, O, CpuMap);
    let CpuMapData::Other { kind, data } = it.data else { panic!("{it:?}") };
    assert_eq!((kind, data, it.data.cpus().count()), (CpuMapType::MASK, &bytes[10..], 0));
}
