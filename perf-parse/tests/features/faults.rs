//! Faults of sections, with their offsets.

use perf_parse::ErrorKind;
use perf_parse::abi::endian::Endian;
use perf_parse::abi::feature::Feature;
use perf_parse::feature::FeatureData;
use perf_parse::file::{FileError, FileErrorKind};

use crate::{big, in_both_orders};
use compare::feature::{decode, section};
use testdata::Bytes;
use testdata::features::{self as every, event};

/// The offset of the sections.
const OFFSET: u64 = 0x1000;

in_both_orders![
    truncated_at_every_length,
    truncated_fields,
    counts_out_of_proportion,
    strings,
    residue,
    versions,
    build_ids,
    event_desc,
    bpf_prog_info,
    cpu_topology_of_another_machine,
    features_without_a_form,
];

/// Returns the error of a section, with its offset in the section.
fn fault<O: Endian>(feature: Feature, bytes: Bytes) -> (FileErrorKind, u64) {
    let bytes = bytes.out;
    let error = decode(&section::<O>(feature, OFFSET, &bytes), every::NR_CPUS).unwrap_err();
    (error.kind, error.offset - OFFSET)
}

/// Returns what [`fault`] returns for an error within a feature.
fn at(feature: Feature, kind: ErrorKind, offset: u32) -> (FileErrorKind, u64) {
    let error = perf_parse::Error { kind, offset };
    (FileErrorKind::Feature { feature, error }, u64::from(offset))
}

fn truncated(field: &'static str, needed: u64, available: u64) -> ErrorKind {
    ErrorKind::Truncated { field, needed, available }
}

fn truncated_at_every_length<O: Endian>() {
    let examples = every::examples(big::<O>());
    for example in &examples {
        for len in 0..=example.bytes.len() {
            let bytes = &example.bytes[..len];
            let decoded = decode(&section::<O>(example.feature, OFFSET, bytes), every::NR_CPUS);
            assert_eq!(decoded.is_ok(), example.whole.contains(&len), "{:?} of {len}", example.feature);
            if let Err(FileError { offset, kind: FileErrorKind::Feature { feature, error } }) = decoded {
                assert_eq!((feature, offset), (example.feature, OFFSET + u64::from(error.offset)));
                assert!(u64::from(error.offset) <= len as u64);
            }
            // As another feature the bytes may be anything, but must not cause a panic.
            for other in (0..Feature::LAST).chain(Feature::SIMPLEPERF_START..Feature::SIMPLEPERF_START + 8) {
                let _ = decode(&section::<O>(Feature(other), OFFSET, bytes), every::NR_CPUS);
            }
        }
    }
}

fn truncated_fields<O: Endian>() {
    let cases: [(Feature, Bytes, ErrorKind, u32); 9] = [
        (Feature::HOSTNAME, Bytes::of::<O>().u16(0), truncated("string", 4, 2), 0),
        (Feature::NRCPUS, Bytes::of::<O>().u32(1), truncated("nr_cpus_online", 4, 0), 4),
        (Feature::TOTAL_MEM, Bytes::of::<O>().u32(1), truncated("total_mem", 8, 4), 0),
        (Feature::NUMA_TOPOLOGY, Bytes::of::<O>().u32(1).u32(0).u32(0), truncated("mem_total", 8, 4), 8),
        (Feature::CACHE, Bytes::of::<O>().u32(1), truncated("nr", 4, 0), 4),
        (Feature::CLOCK_DATA, Bytes::of::<O>().u32(1), truncated("clockid", 4, 0), 4),
        (Feature::COMPRESSED, Bytes::of::<O>().u32(0).u32(1), truncated("level", 4, 0), 8),
        (Feature::CPU_DOMAIN_INFO, Bytes::of::<O>().u32(17), truncated("max_sched_domains", 4, 0), 4),
        (Feature::E_MACHINE, Bytes::of::<O>().u32(62), truncated("e_flags", 4, 0), 4),
    ];
    for (feature, bytes, kind, offset) in cases {
        assert_eq!(fault::<O>(feature, bytes), at(feature, kind, offset));
    }
}

fn counts_out_of_proportion<O: Endian>() {
    let max = u32::MAX;
    let cases: [(Feature, Bytes, ErrorKind, u32); 7] = [
        (Feature::CMDLINE, Bytes::of::<O>().u32(max), truncated("string", 4, 0), 4),
        (Feature::AUXTRACE, Bytes::of::<O>().u64(2).u64(0), truncated("entries", 32, 8), 8),
        (Feature::AUXTRACE, Bytes::of::<O>().u64(u64::MAX), truncated("entries", u64::MAX, 0), 8),
        (
            Feature::MEM_TOPOLOGY,
            Bytes::of::<O>().u64(1).u64(0).u64(1).u64(0).u64(0).u64(u64::MAX).u64(0),
            truncated("bitmap", 1 << 61, 8),
            48,
        ),
        (Feature::BPF_BTF, Bytes::of::<O>().u32(1).u32(2).u32(max), truncated("btf", max.into(), 0), 12),
        (Feature::PMU_CAPS, Bytes::of::<O>().u32(max).u32(max), truncated("name", 4, 0), 8),
        (Feature::CPU_TOPOLOGY, Bytes::of::<O>().u32(0).u32(max), truncated("thread_siblings", 4, 0), 8),
    ];
    for (feature, bytes, kind, offset) in cases {
        assert_eq!(fault::<O>(feature, bytes), at(feature, kind, offset));
    }
}

fn strings<O: Endian>() {
    let hostname = Feature::HOSTNAME;
    assert_eq!(
        fault::<O>(hostname, Bytes::of::<O>().u32(5).raw(b"host")),
        at(hostname, truncated("string", 5, 4), 4)
    );
    let unterminated = ErrorKind::Unterminated { field: "string" };
    assert_eq!(fault::<O>(hostname, Bytes::of::<O>().u32(4).raw(b"host")), at(hostname, unterminated, 4));
    assert_eq!(fault::<O>(hostname, Bytes::of::<O>().u32(0)), at(hostname, unterminated, 4));
}

fn residue<O: Endian>() {
    let residue = |bytes| ErrorKind::Residue { bytes };
    let total_mem = || Bytes::of::<O>().u64(1);
    assert_eq!(fault::<O>(Feature::TOTAL_MEM, total_mem().zeros(1)), at(Feature::TOTAL_MEM, residue(1), 8));
    assert_eq!(fault::<O>(Feature::TOTAL_MEM, total_mem().zeros(8)), at(Feature::TOTAL_MEM, residue(8), 8));
    assert_eq!(fault::<O>(Feature::STAT, Bytes::of::<O>().raw(&[1])), at(Feature::STAT, residue(1), 0));
    let cln_size = Bytes::of::<O>().u32(64).raw(&[0, 0, 0, 1]);
    assert_eq!(fault::<O>(Feature::CLN_SIZE, cln_size), at(Feature::CLN_SIZE, residue(4), 4));
    for example in every::examples(big::<O>()) {
        let whole = Bytes::of::<O>().raw(&example.bytes).raw(&[0xff; 3]);
        let (kind, _) = fault::<O>(example.feature, whole);
        assert!(matches!(kind, FileErrorKind::Feature { .. }), "{:?}: {kind:?}", example.feature);
    }
}

fn versions<O: Endian>() {
    let invalid = |field, value| {
        (FileErrorKind::Invalid { field, value, must: "1, the only version that this crate knows" }, 0)
    };
    assert_eq!(fault::<O>(Feature::CACHE, Bytes::of::<O>().u32(2)), invalid("cache.version", 2));
    assert_eq!(fault::<O>(Feature::CLOCK_DATA, Bytes::of::<O>().u32(0)), invalid("clock_data.version", 0));
    assert_eq!(
        fault::<O>(Feature::MEM_TOPOLOGY, Bytes::of::<O>().u64(1 << 32)),
        invalid("mem_topology.version", 1 << 32)
    );
}

fn build_ids<O: Endian>() {
    let feature = Feature::BUILD_ID;
    let behind_two = |bytes: Bytes| every::build_ids(big::<O>()).raw(&bytes.out);
    let entry = |misc, size| Bytes::of::<O>().u32(0).u16(misc).u16(size);

    // A fault loses everything after it and nothing before it.
    let bytes = behind_two(entry(1, 0)).zeros(100).out;
    let section = section::<O>(feature, OFFSET, &bytes);
    let (Some(FeatureData::BuildId(ids)), Some(error)) = section.decode_until_fault() else { panic!() };
    assert_eq!(ids.iter().map(|it| it.pid).collect::<Vec<_>>(), [-1, 77]);
    assert_eq!((error.kind, error.offset - OFFSET), at(feature, ErrorKind::RecordSize { size: 0 }, 134));
    assert_eq!(section.decode(), Err(error));

    let cases = [
        (entry(1, 7).zeros(8), ErrorKind::RecordSize { size: 7 }, 6),
        (entry(1, 64).zeros(55), truncated("build_id", 56, 55), 8),
        (entry(1, 35).zeros(27), truncated("build_id", 28, 27), 8),
        (Bytes::of::<O>().u32(0), truncated("header", 8, 4), 0),
        (entry(1, 36).zeros(28), ErrorKind::Unterminated { field: "filename" }, 36),
        (
            entry(0x8001, 40).zeros(24).raw(&[21]).zeros(7),
            ErrorKind::OutOfRange { field: "build_id.size", value: 21, max: 20 },
            32,
        ),
    ];
    for (bytes, kind, offset) in cases {
        assert_eq!(fault::<O>(feature, behind_two(bytes)), at(feature, kind, offset + 128));
    }

    // Entries without a pid are shorter.
    let old = || entry(1, 56).zeros(24).raw(b"[kernel.kallsyms]\0\0\0\0\0\0\0");
    let short = Bytes::of::<O>().raw(&old().out).u32(0).u16(2).u16(31).zeros(23);
    assert_eq!(fault::<O>(feature, short), at(feature, truncated("build_id", 24, 23), 64));
}

fn event_desc<O: Endian>() {
    let feature = Feature::EVENT_DESC;
    let attr = || Bytes::of::<O>().u32(1).u32(64).attr(&event(1, 2), 64);
    let cases = [
        (Bytes::of::<O>().u32(1), truncated("attr_size", 4, 0), 4),
        (Bytes::of::<O>().u32(1).u32(64).zeros(63), truncated("attr", 64, 63), 8),
        (attr().u16(0), truncated("nr_ids", 4, 2), 72),
        (attr().u32(0).u32(1).raw(b"c"), ErrorKind::Unterminated { field: "name" }, 80),
        (attr().u32(2).u32(1).raw(b"\0").u64(7), truncated("ids", 16, 8), 81),
        (attr().u32(0).u32(1).raw(b"\0").raw(b"\0"), ErrorKind::Residue { bytes: 1 }, 81),
    ];
    for (bytes, kind, offset) in cases {
        assert_eq!(fault::<O>(feature, bytes), at(feature, kind, offset));
    }
    // The size of an attr is larger than the attr.
    let (kind, offset) = fault::<O>(feature, Bytes::of::<O>().u32(1).u32(64).u32(1).u32(72).zeros(56));
    assert!(matches!(kind, FileErrorKind::Attr(_)), "{kind:?}");
    assert_eq!(offset, 8);
}

fn bpf_prog_info<O: Endian>() {
    let feature = Feature::BPF_PROG_INFO;
    let program = |info_len, data_len| Bytes::of::<O>().u32(1).u32(info_len).u32(data_len).u64(0);
    let cases = [
        (program(128, 0).zeros(127), truncated("info", 128, 127), 20),
        (program(127, 0).zeros(127), truncated("info", 128, 127), 20),
        (program(128, 9).zeros(136), truncated("data", 9, 8), 148),
    ];
    for (bytes, kind, offset) in cases {
        assert_eq!(fault::<O>(feature, bytes), at(feature, kind, offset));
    }
}

fn cpu_topology_of_another_machine<O: Endian>() {
    let bytes = every::cpu_topology(big::<O>()).out;
    let section = section::<O>(Feature::CPU_TOPOLOGY, OFFSET, &bytes);
    for nr_cpus in [0, 1, 3, u32::MAX] {
        assert!(section.with_nr_cpus(nr_cpus).decode().is_err(), "{nr_cpus}");
    }
}

fn features_without_a_form<O: Endian>() {
    for feature in [0, 1, 35, 255].map(Feature) {
        let section = section::<O>(feature, OFFSET, b"what it is");
        assert_eq!(decode(&section, every::NR_CPUS), Ok(()));
        assert_eq!(section.bytes, b"what it is");
    }
}
