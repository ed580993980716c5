//! The places of feature sections: a section without bytes is absent, and no two parts of a file share bytes.

use perf_parse::abi::feature::Feature;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::file::{FileError, FileErrorKind, FilePart};

use crate::{attr, in_both_orders, invalid, open};
use testdata::Bytes;
use testdata::file::{Builder, Built};

/// A file with an event, a record, and the features `HOSTNAME` and `OSRELEASE` of 12 bytes each.
fn file(big: bool) -> Built {
    let text = |text: &[u8; 8]| Bytes::new(big).u32(8).raw(text).out;
    let record = Bytes::new(big).u64(5).record(9, 2);
    let file = Builder::new(big).event(attr(SampleType::TIME), &[7]).data(record);
    file.feature(3, text(b"machine\0")).feature(4, text(b"6.18.0\0\0")).build()
}

/// Returns the features, and the diagnostics of opening the file.
fn read(built: &Built) -> (Vec<Feature>, Vec<FileError>) {
    let file = open(&built.bytes).unwrap();
    (file.features().iter().map(|it| it.feature).collect(), file.account().diagnostics.clone())
}

/// Checks that `OSRELEASE`, with its section of `size` bytes at `at`, is left out because it shares bytes with
/// `part`.
fn is_left_out(built: &Built, at: usize, size: usize, part: FilePart) {
    let entry = built.table + 16;
    let moved = built.clone().put(entry, at as u64).put(entry + 8, size as u64);
    let (features, noted) = read(&moved);
    assert_eq!(features, [Feature::HOSTNAME], "{part}");
    let kind = FileErrorKind::Overlap { feature: Feature::OSRELEASE, part };
    assert_eq!(noted, [FileError { kind, offset: entry as u64 }]);
}

fn a_section_that_shares_bytes_is_left_out(big: bool) {
    let built = file(big);
    assert_eq!(read(&built), (vec![Feature::HOSTNAME, Feature::OSRELEASE], vec![]));
    let (end, hostname) = (built.bytes.len(), built.table + 32);
    let same = FilePart::Feature(Feature::HOSTNAME);
    for (at, size, part) in [
        (hostname, 12, same),
        (hostname + 1, 1, same),
        (hostname + 11, 13, same),
        (built.table, end - built.table, FilePart::FeatureTable),
        (built.table - 1, 1, FilePart::Data),
        (built.data, 16, FilePart::Data),
        (built.data - 1, 2, FilePart::Attrs),
        (built.attrs, 1, FilePart::Attrs),
        (103, 1, FilePart::Header),
        (0, end, FilePart::Header),
    ] {
        is_left_out(&built, at, size, part);
    }
}

fn a_section_that_touches_another_is_read(big: bool) {
    let built = file(big);
    let entry = built.table + 16;
    // HOSTNAME is one byte shorter, and OSRELEASE begins at its end.
    let shorter = built.clone().put(built.table + 8, 11).put(entry, built.table as u64 + 32 + 11);
    let (features, noted) = read(&shorter);
    assert_eq!((features.len(), noted), (2, vec![]));
}

fn a_section_that_shares_bytes_with_event_types_is_left_out(big: bool) {
    let built = file(big);
    let osrelease = built.table + 32 + 12;
    let types = built.clone().put(56, osrelease as u64 + 4).put(64, 4);
    let (features, noted) = read(&types);
    assert_eq!(features, [Feature::HOSTNAME]);
    assert_eq!(
        noted[0].to_string(),
        format!(
            "{:#x}: feature section: OSRELEASE shares bytes with the event types, and is left out",
            built.table + 16
        )
    );
}

fn event_types_are_so_many_at_most(big: bool) {
    const TYPE: usize = 72;
    let built = file(big);
    let at = built.bytes.len();
    for count in [65_535, 65_536, 65_537] {
        let mut built = built.clone().put(56, at as u64).put(64, (count * TYPE) as u64);
        built.bytes.resize(at + count * TYPE, 0);
        // The last one names the event.
        built.bytes[at + (count - 1) * TYPE + 8..][..6].copy_from_slice(b"cycles");
        built.bytes[at..at + (count - 1) * TYPE].chunks_exact_mut(TYPE).for_each(|it| it[..8].fill(1));
        let file = open(&built.bytes).unwrap();
        let name = file.events().iter().next().unwrap().name.as_deref();
        let noted = &file.account().diagnostics;
        if count <= 65_536 {
            assert_eq!((name, &noted[..]), (Some(&b"cycles"[..]), &[][..]), "{count}");
        } else {
            let must = "the bytes of at most 65536 names, of 72 bytes each; no event is named";
            let error = invalid("header.event_types.size", (count * TYPE) as u64, must, 64);
            assert_eq!((name, &noted[..]), (None, &[error][..]), "{count}");
        }
    }
}

/// perf writes this for a feature that is listed but was not available.
fn a_feature_without_bytes_is_absent(big: bool) {
    for number in 1..Feature::FEAT_BITS {
        let feature = Feature(number);
        // HOSTNAME determines the width of the words of a big-endian bitmap, even if it has no bytes.
        let mut numbers = vec![3, number];
        numbers.sort_unstable();
        numbers.dedup();
        let record = Bytes::new(big).u64(5).record(9, 2);
        let file = Builder::new(big).event(attr(SampleType::TIME), &[7]).data(record);
        let built = numbers.iter().fold(file, |file, &number| file.feature(number, vec![])).build();
        // A feature without bytes can be a mark whose presence has a meaning.
        let is_mark = [Feature::BRANCH_STACK, Feature::STAT].contains(&feature) || number >= Feature::LAST;
        let expected: &[Feature] = if is_mark { &[feature] } else { &[] };
        assert_eq!(read(&built), (expected.to_vec(), vec![]), "{feature}");
        // At any offset.
        let entry = if number > 3 { built.table + 16 } else { built.table };
        let elsewhere = built.clone().put(entry, if is_mark { 0 } else { u64::MAX });
        assert_eq!(read(&elsewhere), (expected.to_vec(), vec![]), "{feature}");
    }
}

in_both_orders! {
    a_section_that_shares_bytes_is_left_out,
    a_section_that_touches_another_is_read,
    a_section_that_shares_bytes_with_event_types_is_left_out,
    event_types_are_so_many_at_most,
    a_feature_without_bytes_is_absent,
}
