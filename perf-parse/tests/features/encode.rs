//! Encoded sections are decoded to the same values, in either byte order. Values that no section can hold are refused.

use perf_parse::ByteStr;
use perf_parse::abi::attr::{Attr, AttrVersion};
use perf_parse::abi::endian::{Endian, Endianness, LittleEndian};
use perf_parse::abi::feature::Feature;
use perf_parse::abi::record::Misc;
use perf_parse::feature::{
    Bitmap, BpfProgInfo, BuildId, ClockData, CpuDomains, CpuPlace, CpuTopology, Dies, DomainInfo,
    EncodeError, Entries, EventDesc, EventDescs, FeatureData, FeatureSection, Features, MemNode, MemTopology,
    SchedDomain,
};

use crate::{big, in_both_orders};
use compare::feature::section;
use testdata::features as every;

in_both_orders![
    every_feature_is_known_and_has_an_example,
    what_is_encoded_is_the_section_again,
    collections_decode_their_sections,
];

fn every_feature_is_known_and_has_an_example<O: Endian>() {
    let examples = every::examples(big::<O>());
    for name in Feature::NAMES.iter().filter(|name| name.value != 0) {
        let feature = Feature(u32::try_from(name.value).unwrap());
        assert!(FeatureData::KNOWN.contains(&feature), "{feature}");
        let example = examples.iter().find(|example| example.feature == feature);
        // Formats have tests of their own; the bytes of files have no format.
        let is_opaque = [Feature::TRACING_DATA, Feature::DEBUG_UNWIND_FILE].contains(&feature);
        assert_eq!(example.is_none(), is_opaque, "{feature}");
        let Some(example) = example else { continue };
        let section = section::<O>(feature, 0, &example.bytes).with_nr_cpus(every::NR_CPUS);
        let data = section.decode().unwrap();
        assert!(!matches!(data, FeatureData::Other { .. }), "{feature}");
        section.check(|error| panic!("{error}"));
    }
}

fn what_is_encoded_is_the_section_again<O: Endian>() {
    let other = if O::ENDIANNESS == Endianness::Little { Endianness::Big } else { Endianness::Little };
    for example in every::examples(big::<O>()) {
        let section = section::<O>(example.feature, 0, &example.bytes).with_nr_cpus(every::NR_CPUS);
        let data = section.decode().unwrap();
        let same = data.encode(O::ENDIANNESS).unwrap();
        // Two examples have strings that are not padded to 64 bytes, and one has no lengths of build ids.
        match example.feature {
            Feature::CPU_DOMAIN_INFO | Feature::CPU_TOPOLOGY => assert!(same.len() > example.bytes.len()),
            Feature::BUILD_ID => {}
            _ => assert_eq!(same, example.bytes, "{}", example.feature),
        }
        for (order, bytes) in [(O::ENDIANNESS, Ok(same)), (other, data.encode(other))] {
            if order == other && [Feature::BPF_PROG_INFO, Feature::INIT_MAP].contains(&example.feature) {
                let field = "endianness";
                let must = "that of the capture";
                assert_eq!(bytes, Err(EncodeError { feature: example.feature, field, must }));
                continue;
            }
            let bytes = bytes.unwrap();
            let again = FeatureSection::new(example.feature, 0, &bytes, order).with_nr_cpus(every::NR_CPUS);
            match (again.decode().unwrap(), data) {
                (FeatureData::BuildId(again), FeatureData::BuildId(ids)) => {
                    let with_size =
                        |it: BuildId<'_>| (it.misc.union(Misc::BUILD_ID_SIZE), it.build_id.to_vec());
                    assert!(again.iter().map(with_size).eq(ids.iter().map(with_size)));
                }
                (again, data) => assert_eq!(again, data),
            }
        }
    }
}

fn collections_decode_their_sections<O: Endian>() {
    let mut features = Features::new(O::ENDIANNESS);
    assert!(features.is_empty() && features.nr_cpus() == Ok(None) && !features.has_stat());
    let examples = every::examples(big::<O>());
    for example in examples.iter().rev() {
        features.set(example.feature, 7, &example.bytes);
        features.set(example.feature, 8, &example.bytes);
    }
    assert_eq!(features.len(), examples.len(), "a later section replaces an earlier one");
    assert!(features.iter().all(|section| section.offset == 8));
    // The example of NRCPUS has other CPUs than that of CPU_TOPOLOGY.
    for section in features.iter().filter(|section| section.feature != Feature::CPU_TOPOLOGY) {
        assert_eq!(section.decode().map(|it| it.feature()), Ok(section.feature));
    }
    assert_eq!(features.hostname(), Ok(Some(ByteStr::new(b"host"))));
    assert_eq!(features.arch(), Ok(Some(ByteStr::new(b"x86_64"))));
    assert_eq!(features.nr_cpus().unwrap().unwrap().available, 8);
    assert_eq!(features.build_ids().unwrap().unwrap().len(), 2);
    assert!(features.has_stat() && features.has_branch_stack());
}

#[test]
fn a_topology_needs_the_number_of_cpus() {
    let topology = every::cpu_topology(true).out;
    let mut features = Features::new(Endianness::Big);
    features.set(Feature::CPU_TOPOLOGY, 0, &topology);
    assert!(features.cpu_topology().is_err());
    features.set(Feature::NRCPUS, 1000, vec![0, 0, 0, 2, 0, 0, 0, 1]);
    assert_eq!(features.cpu_topology().unwrap().unwrap().cpus.len(), 2);
    features.set(Feature::NRCPUS, 1000, vec![0, 0, 0, 2]);
    assert_eq!(features.cpu_topology().unwrap_err().offset, 1004, "the fault of NRCPUS");
    assert_eq!(features.nr_cpus(), Err(features.cpu_topology().unwrap_err()));
}

#[test]
fn what_is_unknown_is_kept() {
    let section = section::<LittleEndian>(Feature(99), 0, b"of a newer perf");
    let data = section.decode().unwrap();
    assert_eq!(data, FeatureData::Other { feature: Feature(99), bytes: b"of a newer perf" });
    assert_eq!(data.encode(Endianness::Big).unwrap(), b"of a newer perf");
    let files = FeatureData::DebugUnwindFile(b"\x7fELF");
    assert_eq!(files.encode(Endianness::Big).unwrap(), b"\x7fELF");
    assert_eq!(files.feature(), Feature::DEBUG_UNWIND_FILE);
    let tracing_data = FeatureData::TracingData(b"formats");
    assert_eq!(tracing_data.encode(Endianness::Big).unwrap(), b"formats");
    assert_eq!(tracing_data.feature(), Feature::TRACING_DATA);
}

/// Returns the reason why data cannot be encoded.
fn refused(data: FeatureData<'_>) -> String {
    data.encode(Endianness::Little).unwrap_err().to_string()
}

#[test]
fn strings_and_versions() {
    let nul = FeatureData::Arch(ByteStr::new(b"a\0b"));
    assert_eq!(refused(nul), "feature ARCH: string: must be free of NULs");
    let clock = ClockData { version: 2, clockid: 0, wall_clock_ns: 0, clockid_time_ns: 0 };
    assert_eq!(refused(FeatureData::ClockData(clock)), "feature CLOCK_DATA: version: must be 1");
}

#[test]
fn dies_of_other_cpus() {
    let places = [CpuPlace { core_id: 0, socket_id: 0 }];
    let topology = |die_ids| CpuTopology {
        core_siblings: Entries::default(),
        thread_siblings: Entries::default(),
        cpus: Entries::from(&places),
        dies: Some(Dies { die_siblings: Entries::default(), die_ids }),
    };
    for die_ids in [&[][..], &[1, 2]] {
        let data = FeatureData::CpuTopology(topology(Entries::from(die_ids)));
        assert_eq!(
            refused(data),
            "feature CPU_TOPOLOGY: die_id: must be given for every cpu, and for no other"
        );
    }
    assert!(FeatureData::CpuTopology(topology(Entries::from(&[1]))).encode(Endianness::Little).is_ok());
}

#[test]
fn domains_with_and_without_names() {
    for (schedstat_version, dname, is_ok) in [
        (16, None, true),
        (16, Some(ByteStr::new(b"MC")), false),
        (17, None, false),
        (17, Some("MC".into()), true),
    ] {
        let domains = [SchedDomain { domain: 0, dname, cpumask: "1".into(), cpulist: "0".into() }];
        let cpus = [CpuDomains { cpu: 0, domains: Entries::from(&domains) }];
        let info = DomainInfo { schedstat_version, max_sched_domains: 1, cpus: Entries::from(&cpus) };
        let data = FeatureData::CpuDomainInfo(info);
        assert_eq!(data.encode(Endianness::Big).is_ok(), is_ok);
        if !is_ok {
            let must = "given from schedstat_version 17 on, and not before";
            assert_eq!(refused(data), format!("feature CPU_DOMAIN_INFO: dname: must be {must}"));
        }
    }
}

#[test]
fn sets_of_blocks() {
    let error = Bitmap::words_of(&[i32::MAX as u32]).unwrap_err().to_string();
    assert_eq!(error, "feature MEM_TOPOLOGY: blocks: must be below 2147483647");
    let words = Bitmap::words_of(&[0, 64, 3]).unwrap();
    assert_eq!(words, [0b1001, 1]);
    assert_eq!(Bitmap::new(&words).nbits, 65);
    assert_eq!(Bitmap::new(&[1 << 63]).nbits, 64);
    assert_eq!(Bitmap::new(&[0, 0]), Bitmap::new(&[]), "without a number there are no bits");

    let encode = |blocks| {
        let nodes = [MemNode::new(0, blocks)];
        let topology = MemTopology { block_size_bytes: 1, nodes: Entries::from(&nodes) };
        FeatureData::MemTopology(topology).encode(Endianness::Little).map_err(|error| error.to_string())
    };
    let bits = |nbits| Bitmap { nbits, words: Entries::from(&words) };
    assert!(encode(bits(65)).is_ok() && encode(bits(128)).is_ok());
    for nbits in [64, 129] {
        let must = "feature MEM_TOPOLOGY: bitmap: must be one word for 64 bits";
        assert_eq!(encode(bits(nbits)), Err(must.to_owned()));
    }
    assert_eq!(encode(bits(1 << 31)).unwrap_err(), error);
    assert_ne!(encode(bits((1 << 31) - 1)).unwrap_err(), error);
}

#[test]
fn a_bpf_program_that_differs_from_its_bytes() {
    let bytes = every::bpf_prog_info(false).out;
    let section = section::<LittleEndian>(Feature::BPF_PROG_INFO, 0, &bytes);
    let Ok(FeatureData::BpfProgInfo(programs)) = section.decode() else { panic!("{section:?}") };
    let first = programs.iter().next().unwrap();
    let mut renamed = first.program;
    renamed.id += 1;
    for changed in [BpfProgInfo { program: renamed, ..first }, BpfProgInfo { info: b"short", ..first }] {
        let error = refused(FeatureData::BpfProgInfo(Entries::from(&[changed])));
        let must = "the bytes of program, and of the fields of newer kernels";
        assert_eq!(error, format!("feature BPF_PROG_INFO: info: must be {must}"));
    }
}

#[test]
fn attrs_that_do_not_fit() {
    let newest = AttrVersion::NEWEST.size();
    let encode = |attr_size, attr, attr_tail| {
        let events = [EventDesc { attr, attr_tail, name: ByteStr::new(b"e"), ids: Entries::default() }];
        let data = FeatureData::EventDesc(EventDescs { attr_size, events: Entries::from(&events) });
        data.encode(Endianness::Little).map_err(|error| error.to_string())
    };
    let attr = Attr { size: 64, ..Attr::default() };
    assert!(encode(64, attr, &[]).is_ok());
    let small = "feature EVENT_DESC: attr_size: must be at least 64";
    assert_eq!(encode(63, attr, &[]), Err(small.to_owned()));
    let grown = Attr { config3: 1, ..attr };
    let lacking = "feature EVENT_DESC: config3: must be zero in attrs of attr_size";
    assert_eq!(encode(64, grown, &[]), Err(lacking.to_owned()));
    assert!(encode(newest, grown, &[]).is_ok());
    assert!(encode(newest + 2, grown, &[1, 2]).is_ok());
    let long = "feature EVENT_DESC: attr_tail: must be within attr_size";
    assert_eq!(encode(newest + 1, grown, &[1, 2]), Err(long.to_owned()));
}

/// The bytes of a newer kernel's attr are kept.
#[test]
fn attrs_of_a_newer_kernel() {
    let size = AttrVersion::NEWEST.size() + 8;
    let attr = Attr { size, config: 5, ..Attr::default() };
    let events = [EventDesc {
        attr,
        attr_tail: &[1, 2, 3, 4, 5, 6, 7, 8],
        name: ByteStr::new(b"e"),
        ids: Entries::from(&[9]),
    }];
    let data = FeatureData::EventDesc(EventDescs { attr_size: size, events: Entries::from(&events) });
    for order in [Endianness::Little, Endianness::Big] {
        let bytes = data.encode(order).unwrap();
        assert_eq!(FeatureSection::new(Feature::EVENT_DESC, 0, &bytes, order).decode(), Ok(data));
    }
}
