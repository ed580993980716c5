//! Feature sections: their values, and each of their faults.

use perf_parse::abi::attr::{AttrReadError, AttrVersion};
use perf_parse::abi::endian::Endianness;
use perf_parse::abi::feature::Feature;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::feature::{FeatureData, FeatureSection, NrCpus};
use perf_parse::file::{FileError, FileErrorKind};
use perf_parse::{ByteStr, Error, ErrorKind};

use crate::{attr, in_both_orders, open, short};
use testdata::Bytes;
use testdata::file::Builder;

/// A section at any offset of a file.
fn section(big: bool, feature: Feature, bytes: &[u8]) -> FeatureSection<'_> {
    let endianness = if big { Endianness::Big } else { Endianness::Little };
    FeatureSection::new(feature, 1000, bytes, endianness)
}

/// Returns a fault at `offset` in a section.
fn wrong(feature: Feature, kind: ErrorKind, offset: u32) -> FileError {
    let error = Error { kind, offset };
    FileError { kind: FileErrorKind::Feature { feature, error }, offset: 1000 + u64::from(offset) }
}

fn cut(feature: Feature, field: &'static str, needed: u64, available: u64, offset: u32) -> FileError {
    wrong(feature, short(field, needed, available, offset).kind, offset)
}

/// Appends a string as perf writes it, padded to 64 bytes.
fn string(bytes: Bytes, string: &[u8]) -> Bytes {
    let mut padded = string.to_vec();
    padded.resize(64, 0);
    bytes.u32(64).raw(&padded)
}

/// Makes an `EVENT_DESC` with two events.
fn event_desc(big: bool, version: AttrVersion, names: [&[u8]; 2]) -> Vec<u8> {
    let attr_bytes = |sample_type| {
        let builder = Builder { version, ..Builder::new(big) }.event(attr(sample_type), &[]).build();
        builder.bytes[builder.attrs..][..version.size() as usize].to_vec()
    };
    let mut bytes = Bytes::new(big).u32(2).u32(version.size());
    for (name, (sample_type, ids)) in
        names.into_iter().zip([(SampleType::IP, vec![7, 8]), (SampleType::TIME, vec![9])])
    {
        bytes = bytes.raw(&attr_bytes(sample_type)).u32(ids.len() as u32);
        bytes = string(bytes, name).u64s(&ids);
    }
    bytes.out
}

/// `sample_type` of an attr, a name and ids.
type Description = (SampleType, Vec<u8>, Vec<u64>);

fn described(big: bool, bytes: &[u8]) -> Vec<Result<Description, FileError>> {
    let (data, fault) = section(big, Feature::EVENT_DESC, bytes).decode_until_fault();
    let Some(FeatureData::EventDesc(descs)) = data else { panic!("{data:?}") };
    let events =
        descs.events.iter().map(|it| Ok((it.attr.sample_type, it.name.to_vec(), it.ids.iter().collect())));
    events.chain(fault.map(Err)).collect()
}

fn one_string(big: bool) {
    let feature = Feature::HOSTNAME;
    let parse = |bytes: &[u8]| {
        section(big, feature, bytes).decode().map(|data| match data {
            FeatureData::Hostname(it) => it.to_vec(),
            other => panic!("{other:?}"),
        })
    };
    let whole = string(Bytes::new(big), b"host").out;
    assert_eq!(parse(&whole), Ok(b"host".to_vec()));
    assert_eq!(parse(&whole[..3]), Err(cut(feature, "string", 4, 3, 0)));
    assert_eq!(parse(&whole[..67]), Err(cut(feature, "string", 64, 63, 4)));
    let unterminated = ErrorKind::Unterminated { field: "string" };
    let no_nul = Bytes::new(big).u32(4).raw(b"host").out;
    assert_eq!(parse(&no_nul), Err(wrong(feature, unterminated, 4)));
    // The NUL must be within the string.
    let behind = Bytes::new(big).u32(4).raw(b"host\0\0\0\0").out;
    assert_eq!(parse(&behind), Err(wrong(feature, unterminated, 4)));
    let more = Bytes::new(big).raw(&whole).raw(&[0; 2]).out;
    assert_eq!(parse(&more), Err(wrong(feature, ErrorKind::Residue { bytes: 2 }, 68)));
}

fn several_strings(big: bool) {
    let feature = Feature::CMDLINE;
    let parse = |bytes: &[u8]| {
        section(big, feature, bytes).decode().map(|data| match data {
            FeatureData::CmdLine(words) => words.iter().map(ByteStr::as_bytes).collect::<Vec<_>>().concat(),
            other => panic!("{other:?}"),
        })
    };
    let whole = string(string(Bytes::new(big).u32(2), b"perf "), b"record").out;
    assert_eq!(parse(&whole), Ok(b"perf record".to_vec()));
    assert_eq!(parse(&whole[..2]), Err(cut(feature, "nr", 4, 2, 0)));
    assert_eq!(parse(&whole[..72]), Err(cut(feature, "string", 4, 0, 72)));
    assert_eq!(parse(&whole[..100]), Err(cut(feature, "string", 64, 24, 76)));
    let less = Bytes::new(big).u32(1).raw(&whole[4..]).out;
    assert_eq!(parse(&less), Err(wrong(feature, ErrorKind::Residue { bytes: 68 }, 72)));
    let endless = Bytes::new(big).u32(u32::MAX).raw(&whole[4..]).out;
    assert_eq!(parse(&endless), Err(cut(feature, "string", 4, 0, 140)));
}

fn numbers(big: bool) {
    let bytes = Bytes::new(big).u32(8).u32(6).out;
    let cpus = |bytes: &[u8]| section(big, Feature::NRCPUS, bytes).decode().map(drop);
    let both = FeatureData::NrCpus(NrCpus { available: 8, online: 6 });
    assert_eq!(section(big, Feature::NRCPUS, &bytes).decode(), Ok(both));
    assert_eq!(cpus(&bytes[..3]), Err(cut(Feature::NRCPUS, "nr_cpus_available", 4, 3, 0)));
    assert_eq!(cpus(&bytes[..7]), Err(cut(Feature::NRCPUS, "nr_cpus_online", 4, 3, 4)));
    assert_eq!(cpus(&[0; 9]), Err(wrong(Feature::NRCPUS, ErrorKind::Residue { bytes: 1 }, 8)));
    let bytes = Bytes::new(big).u64(1 << 40).out;
    let memory = |bytes: &[u8]| section(big, Feature::TOTAL_MEM, bytes).decode().map(drop);
    assert_eq!(section(big, Feature::TOTAL_MEM, &bytes).decode(), Ok(FeatureData::TotalMem(1 << 40)));
    assert_eq!(memory(&bytes[..7]), Err(cut(Feature::TOTAL_MEM, "total_mem", 8, 7, 0)));
    assert_eq!(memory(&[0; 9]), Err(wrong(Feature::TOTAL_MEM, ErrorKind::Residue { bytes: 1 }, 8)));
}

fn descriptions_of_events(big: bool) {
    let feature = Feature::EVENT_DESC;
    for version in [AttrVersion::VER0, AttrVersion::VER7] {
        let whole = event_desc(big, version, [b"cycles", b"faults"]);
        let first = (SampleType::IP, b"cycles".to_vec(), vec![7, 8]);
        let second = (SampleType::TIME, b"faults".to_vec(), vec![9]);
        assert_eq!(described(big, &whole), [Ok(first.clone()), Ok(second)]);

        // nr, attr_size; attr, nr_ids, name, ids of the first; those of the second
        let size = version.size();
        let nr_ids = 8 + size;
        let next = nr_ids + 4 + 68 + 16;
        for (len, field, needed, available, offset) in [
            (3, "nr", 4, 3, 0),
            (7, "attr_size", 4, 3, 4),
            (nr_ids - 1, "attr", u64::from(size), u64::from(size) - 1, 8),
            (nr_ids + 3, "nr_ids", 4, 3, nr_ids),
            (nr_ids + 7, "name", 4, 3, nr_ids + 4),
            (nr_ids + 71, "name", 64, 63, nr_ids + 8),
            (next - 1, "ids", 16, 15, next - 16),
        ] {
            let error = cut(feature, field, needed, available, offset);
            assert_eq!(described(big, &whole[..len as usize]), [Err(error)]);
        }
        let error = cut(feature, "attr", u64::from(size), 0, next);
        assert_eq!(described(big, &whole[..next as usize]), [Ok(first.clone()), Err(error)]);
        let more = [&whole[..], &[0]].concat();
        let residue = wrong(feature, ErrorKind::Residue { bytes: 1 }, whole.len() as u32);
        assert_eq!(described(big, &more)[2..], [Err(residue)]);

        let mut bad = whole.clone();
        bad[12..16].copy_from_slice(&Bytes::new(big).u32(63).out);
        let error = FileError { kind: FileErrorKind::Attr(AttrReadError::Size(63)), offset: 1008 };
        assert_eq!(described(big, &bad), [Err(error)]);
        let mut bad = whole.clone();
        let name = nr_ids as usize + 8;
        bad[name..name + 64].fill(b'x');
        let unterminated = ErrorKind::Unterminated { field: "name" };
        assert_eq!(described(big, &bad), [Err(wrong(feature, unterminated, nr_ids + 8))]);
    }
    assert_eq!(described(big, &[0; 8]), []);
}

fn names_of_events(big: bool) {
    let version = AttrVersion::VER5;
    let names = |ids: [&[u64]; 3], section: &[u8]| {
        let mut builder = Builder { version, ..Builder::new(big) }.data(Bytes::new(big).record(68, 0));
        for ids in ids {
            builder = builder.event(attr(SampleType::IDENTIFIER), ids);
        }
        let built = builder.feature(12, section.to_vec()).build();
        let file = open(&built.bytes).unwrap();
        let name = |index: usize| {
            let name = file.events()[index].name.as_deref();
            name.map_or("", |name| core::str::from_utf8(name).unwrap()).to_string()
        };
        let offset = file.features().iter().next().unwrap().offset;
        ([name(0), name(1), name(2)].join(","), file.account().diagnostics.clone(), offset)
    };
    let whole = event_desc(big, version, [b"cycles", b"faults"]);
    // In the order of the attrs, and in another order.
    assert_eq!(names([&[7, 8], &[9], &[]], &whole).0, "cycles,faults,");
    let (named, diagnostics, _) = names([&[9], &[7], &[7, 8]], &whole);
    assert_eq!((named.as_str(), diagnostics.len()), ("faults,,cycles", 1), "an id that two have is said");
    assert_eq!(names([&[7, 8], &[9], &[]], &whole).1, []);
    // Only the events before the fault get their names.
    let (named, diagnostics, offset) = names([&[7, 8], &[9], &[]], &whole[..whole.len() - 1]);
    assert_eq!(named, "cycles,,");
    let ids = whole.len() as u32 - 8;
    let kind = FileErrorKind::Feature { feature: Feature::EVENT_DESC, error: short("ids", 8, 7, ids) };
    assert_eq!(diagnostics, [FileError { kind, offset: offset + u64::from(ids) }]);
}

in_both_orders!(one_string, several_strings, numbers, descriptions_of_events, names_of_events);
