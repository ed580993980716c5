//! Counts of perf stat, and properties of events.

use perf_parse::abi::record::{EventUpdateType, StatConfigTerm, StatRoundType};

use super::*;

both! { stat_config stat stat_round event_unit event_scale event_name event_cpus event_update_of_another_kind }

fn stat_config<O: Endian>() {
    let bytes = record::<O>(
        RecordType::STAT_CONFIG,
        0,
        &[
            B64(2),   // nr
            B64(1),   // data[0].tag: INTERVAL
            B64(20),  // data[0].val
            B64(3),   // data[1].tag: AGGR_LEVEL
            B64(257), // data[1].val
            B64(6),   // of a newer perf
        ],
    );
    let it = expect!(&bytes, O, StatConfig);
    let entries: Vec<_> = it.entries.iter().map(|entry| (entry.tag, entry.val)).collect();
    assert_eq!(it.entries.len(), 2);
    assert_eq!(entries, [(StatConfigTerm::INTERVAL, 20), (StatConfigTerm::AGGR_LEVEL, 257)]);
    assert_eq!(it.rest, &bytes[48..]);
    assert_cut::<O>(&bytes, &[(8, "Truncated nr@8"), (16, "Truncated data@16"), (48, "ok")]);
}

fn stat<O: Endian>() {
    let bytes = record::<O>(
        RecordType::STAT,
        0,
        &[
            B64(855),        // id
            B32(u32::MAX),   // cpu: any
            B32(2),          // thread
            B64(u64::MAX),   // val
            B64(19_691_233), // ena
            B64(19_691_232), // run
        ],
    );
    let it = expect!(&bytes, O, Stat);
    assert_eq!((it.id, it.cpu, it.thread), (855, -1, 2));
    assert_eq!((it.val, it.ena, it.run), (u64::MAX, 19_691_233, 19_691_232));
    assert!(it.rest.is_empty());
    assert_cut::<O>(&bytes, &[(8, "Truncated id@8"), (48, "ok")]);
}

fn stat_round<O: Endian>() {
    let bytes = record::<O>(
        RecordType::STAT_ROUND,
        0,
        &[
            B64(1),          // type: FINAL
            B64(20_103_924), // time
            B8(1),           // of a newer perf
        ],
    );
    let it = expect!(&bytes, O, StatRound);
    assert_eq!((it.kind, it.time, it.rest), (StatRoundType::FINAL, 20_103_924, &[1][..]));
    assert_cut::<O>(&bytes, &[(8, "Truncated type@8"), (24, "ok")]);
}

fn event_unit<O: Endian>() {
    let bytes = record::<O>(
        RecordType::EVENT_UPDATE,
        0,
        &[
            B64(0),           // type: UNIT
            B64(530),         // id
            Bytes(b"msec\0"), // unit
            Pad(19),          // padding of perf
        ],
    );
    let it = expect!(&bytes, O, EventUpdate);
    assert_eq!((it.kind(), it.id, it.rest.len()), (EventUpdateType::UNIT, 530, 0));
    assert!(matches!(it.data, EventUpdateData::Unit(b"msec")));
    assert_cut::<O>(&bytes, &[(8, "Truncated type@8"), (24, "Unterminated unit@24"), (29, "ok")]);
}

fn event_scale<O: Endian>() {
    let bytes = record::<O>(
        RecordType::EVENT_UPDATE,
        0,
        &[
            B64(1),                     // type: SCALE
            B64(530),                   // id
            B64(0x3eb0_c6f7_a0b5_ed8d), // scale: 1e-6
            Pad(16),                    // padding of perf
        ],
    );
    let it = expect!(&bytes, O, EventUpdate);
    let EventUpdateData::Scale(scale) = it.data else { panic!("{it:?}") };
    assert_eq!((it.kind(), scale.to_bits()), (EventUpdateType::SCALE, 1e-6_f64.to_bits()));
    assert_eq!(it.rest, [0; 16]);
    assert_cut::<O>(&bytes, &[(8, "Truncated type@8"), (24, "Truncated scale@24"), (32, "ok")]);
}

fn event_name<O: Endian>() {
    let bytes = record::<O>(
        RecordType::EVENT_UPDATE,
        0,
        &[
            B64(2),                  // type: NAME
            B64(899),                // id
            Bytes(b"page-faults\0"), // name
            Pad(4),                  // to a multiple of 8
        ],
    );
    let it = expect!(&bytes, O, EventUpdate);
    assert_eq!((it.kind(), it.id), (EventUpdateType::NAME, 899));
    assert!(matches!(it.data, EventUpdateData::Name(b"page-faults")));
    assert_cut::<O>(&bytes, &[(8, "Truncated type@8"), (24, "Unterminated name@24"), (36, "ok")]);
}

fn event_cpus<O: Endian>() {
    let bytes = record::<O>(
        RecordType::EVENT_UPDATE,
        0,
        &[
            B64(3),    // type: CPUS
            B64(33),   // id
            B16(1),    // cpus.type: MASK
            B16(1),    // cpus.nr
            B16(8),    // cpus.long_size
            Pad(4),    // cpus.__pad
            B64(0xc0), // cpus.mask[0]
            Pad(6),    // to a multiple of 8
        ],
    );
    let it = expect!(&bytes, O, EventUpdate);
    let EventUpdateData::Cpus(cpus) = it.data else { panic!("{it:?}") };
    assert_eq!((it.kind(), it.id, it.rest.len()), (EventUpdateType::CPUS, 33, 6));
    assert_eq!(cpus.cpus().collect::<Vec<_>>(), [6, 7]);
    let expected = [
        (8, "Truncated type@8"),
        (26, "Truncated nr@26"),
        (30, "Truncated __pad@30"),
        (34, "Truncated mask@34"),
        (42, "ok"),
    ];
    let mut cut = cut::<O>(&bytes);
    // The type field of the set has the same name as that of the record.
    assert_eq!(cut.remove(1), (24, "Truncated type@24".to_owned()));
    let cut: Vec<_> = cut.iter().map(|(len, what)| (*len, what.as_str())).collect();
    assert_eq!(cut, expected);
}

fn event_update_of_another_kind<O: Endian>() {
    let bytes = record::<O>(
        RecordType::EVENT_UPDATE,
        0,
        &[
            B64(4),           // type: of a newer perf
            B64(33),          // id
            Bytes(b"opaque"), // its data, not known
        ],
    );
    let it = expect!(&bytes, O, EventUpdate);
    assert_eq!((it.kind(), it.id), (EventUpdateType(4), 33));
    assert!(matches!(it.data, EventUpdateData::Other { data: b"opaque", .. }));
    assert_cut::<O>(&bytes, &[(8, "Truncated type@8"), (24, "ok")]);
}
