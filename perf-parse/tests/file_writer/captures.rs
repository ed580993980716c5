//! Captures of perf that are read and written again are the same to the last byte.

use alloc::collections::BTreeSet;

use perf_parse::abi::endian::{Endianness, LittleEndian};
use perf_parse::feature::FeatureSection;
use perf_parse::file::write::FeaturePayloads;

use compare::rewrite::{File, events, rewrite, writer};

/// The captures in file mode that are whole and not compressed.
const CAPTURES: [&str; 26] = [
    "plain",
    "callchain",
    "dwarf",
    "raw",
    "group_read",
    "ids",
    "identifier",
    "switch",
    "namespaces",
    "cgroups",
    "buildid_mmap",
    "intr_regs",
    "user_regs",
    "user_regs_32",
    "mem",
    "everything",
    "maps",
    "tasks",
    "inherit_stat",
    "lost",
    "throttle",
    "bpf",
    "breakpoint",
    "uprobe",
    "overwrite",
    "system_wide",
];

#[test]
fn what_perf_wrote_is_written_alike() {
    for name in CAPTURES {
        let original = std::fs::read(testdata::path(&format!("{name}.data"))).unwrap();
        let file = File::open(&original).unwrap();
        assert_eq!(file.account().diagnostics, [], "{name}");
        let written = rewrite(&file, writer::<LittleEndian>(&events(&file)));
        let again = File::open(&written).unwrap();

        // Header, ids, attrs and records.
        let data = file.header().data;
        let end = usize::try_from(data.offset + data.size).unwrap();
        let differ = original[..end].iter().zip(&written[..end]).position(|(theirs, ours)| theirs != ours);
        assert_eq!(differ, None, "{name}");
        // perf reserves entries in the table for features that it then does not write. Without them the sections move
        // to lower offsets.
        let sections = |file: &File<'_>| {
            let first = file.features().iter().next().unwrap().offset;
            let section = |it: FeatureSection<'_>| (it.feature, it.offset - first, it.bytes.to_vec());
            file.features().iter().map(section).collect::<Vec<_>>()
        };
        assert_eq!(sections(&again), sections(&file), "{name}");
        let table = u64::try_from(end + 16 * again.features().len()).unwrap();
        assert_eq!(again.features().iter().next().unwrap().offset, table, "{name}");
    }
}

#[test]
fn features_are_made_as_perf_makes_them() {
    let mut compared = BTreeSet::new();
    for name in CAPTURES {
        let original = std::fs::read(testdata::path(&format!("{name}.data"))).unwrap();
        let file = File::open(&original).unwrap();
        let mut features = FeaturePayloads::new_in(Endianness::Little);
        for section in file.features() {
            features.set(&section.decode().unwrap()).unwrap();
            assert_eq!(features.get(section.feature), Some(section.bytes), "{name}: {}", section.feature);
            compared.insert(section.feature);
        }
    }
    assert_eq!(compared.len(), 24, "{compared:?}");
}
