//! Every feature of every capture decodes to its last byte.
//!
//! Captures in `testdata/captures` are from perf 6.1. Those in `testdata/foreign` are from perf 3.4 to 6.16.

use std::fs;
use std::path::{Path, PathBuf};

use perf_parse::RawRecord;
use perf_parse::abi::endian::{Endianness, LittleEndian};
use perf_parse::abi::feature::Feature;
use perf_parse::abi::record::RecordType;
use perf_parse::feature::{FeatureData, FeatureSection};
use perf_parse::file::Reader;

use compare::feature::decode;
use testdata::files_below;

const CAPTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/captures");
const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/foreign");

/// Opens a little-endian capture; `None` if it is none.
fn little(bytes: &[u8]) -> Option<Reader<'_>> {
    Reader::new(bytes).ok().filter(|reader| reader.endianness() == Endianness::Little)
}

/// Returns the features of a capture, from the table of a file or the records of a pipe; none if it is not a capture.
fn sections(bytes: &[u8]) -> Vec<FeatureSection<'_>> {
    if bytes.get(8..16) == Some(&[16, 0, 0, 0, 0, 0, 0, 0]) {
        return pipe_sections(bytes);
    }
    let all = |file: &Reader<'_>| {
        let place = |it: FeatureSection<'_>| (it.feature, it.offset, it.bytes.len());
        file.features().iter().map(place).collect::<Vec<_>>()
    };
    let Some(file) = little(bytes) else { return Vec::new() };
    let section = |(feature, offset, len)| {
        FeatureSection::new(feature, offset, &bytes[offset as usize..][..len], Endianness::Little)
    };
    all(&file).into_iter().map(section).collect()
}

/// Returns the features of a pipe of a little-endian machine.
fn pipe_sections(bytes: &[u8]) -> Vec<FeatureSection<'_>> {
    let mut sections = Vec::new();
    let mut rest = &bytes[16..];
    while let Ok((record, behind)) = RawRecord::<LittleEndian>::parse(rest) {
        let offset = (bytes.len() - rest.len()) as u64;
        let payload = record.payload();
        // The features come before all records that are followed by data. An empty one ends them.
        if record.kind() == RecordType::HEADER_TRACING_DATA {
            break;
        }
        if record.kind() == RecordType::HEADER_FEATURE && payload.len() > 8 {
            let feature = Feature(u32::from_le_bytes(payload[..4].try_into().unwrap()));
            sections.push(FeatureSection::new(feature, offset + 16, &payload[8..], Endianness::Little));
        }
        rest = behind;
    }
    sections
}

/// Decodes all features of a capture; returns their number.
fn check(path: &Path, sections: &[FeatureSection<'_>]) -> usize {
    let nr_cpus = sections.iter().find(|section| section.feature == Feature::NRCPUS);
    let nr_cpus = nr_cpus.map_or(0, |section| match section.decode().unwrap() {
        FeatureData::NrCpus(it) => it.available,
        other => panic!("{other:?}"),
    });
    for section in sections {
        decode(section, nr_cpus).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    sections.len()
}

/// Checks all files. Returns the features with a known format that none of `files` has.
fn check_all(files: &[PathBuf]) -> Vec<Feature> {
    let (mut count, mut seen) = (0, Vec::new());
    for path in files {
        let bytes = fs::read(path).unwrap();
        let sections = sections(&bytes);
        seen.extend(sections.iter().map(|section| section.feature));
        count += check(path, &sections);
    }
    println!("{count} features of {} files", files.len());
    (1..Feature::LAST).map(Feature).filter(|feature| !seen.contains(feature)).collect()
}

#[test]
fn captures_decode() {
    assert_eq!(
        check_all(&files_below(Path::new(CAPTURES))),
        [
            Feature::BRANCH_STACK,
            Feature::AUXTRACE,
            Feature::CPU_PMU_CAPS,
            Feature::HYBRID_TOPOLOGY,
            Feature::CPU_DOMAIN_INFO,
            Feature::E_MACHINE,
            Feature::CLN_SIZE,
        ],
        "the features of which there is no capture"
    );
}

#[test]
fn corpus_decodes() {
    let corpus = Path::new(CORPUS);
    let mut files = files_below(corpus);
    files.retain(|path| !path.starts_with(corpus.join("fuzz")));
    let missing = check_all(&files);
    for feature in [Feature::AUXTRACE, Feature::HYBRID_TOPOLOGY, Feature::BPF_PROG_INFO, Feature::PMU_CAPS] {
        assert!(!missing.contains(&feature), "{feature} is not in the corpus");
    }
}

#[test]
fn damaged_captures_do_no_harm() {
    let mut damaged = 0;
    for path in files_below(Path::new(CAPTURES)) {
        let bytes = fs::read(&path).unwrap();
        let Some(file) = little(&bytes) else { continue };
        for section in file.features() {
            // Makes each byte large in turn at the start, where the counts and lengths are.
            for at in 0..section.bytes.len().min(80) {
                let mut damage = section.bytes.to_vec();
                damage[at] = 0xff;
                let section =
                    FeatureSection::new(section.feature, section.offset, &damage, Endianness::Little);
                damaged += usize::from(decode(&section, 2).is_err());
            }
        }
    }
    assert!(damaged > 1000, "{damaged}");
}
