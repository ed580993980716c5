//! Several captures as one.

use std::io::Cursor;

use perf_parse::abi::attr::Attr;
use perf_parse::abi::endian::Endianness;
use perf_parse::abi::event::EventType;
use perf_parse::abi::feature::Feature;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::feature::FeatureData;
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use perf_parse::file::{Reader, RecordCheck};
use perf_parse::rewrite::{CaptureMergeError, Edit, EditAccount, EditedRecord, merge};
use perf_parse::write::SampleFields;

/// Captures with a time in each sample: one event, several events, compressed, a pipe with tracepoints.
const CAPTURES: [&str; 6] =
    ["plain.data", "ids.data", "identifier.data", "touch.zstd.data", "tracing.pipe.data", "system_wide.data"];

fn merged(captures: &[&[u8]]) -> Result<Vec<u8>, CaptureMergeError> {
    let readers: Vec<_> = captures.iter().map(|bytes| Reader::new(bytes).unwrap()).collect();
    let readers: Vec<_> = readers.iter().collect();
    Ok(merge(&readers, Cursor::new(Vec::new()), |_, _| {})?.out.into_inner())
}

/// The name of an event, and a sample of it.
type NamedFields = (Option<Vec<u8>>, SampleFields);

/// Returns the samples in order of time, each with the name of its event, and the number of the other records of the kernel.
fn contents(bytes: &[u8]) -> (Vec<NamedFields>, usize) {
    let reader = Reader::new(bytes).unwrap();
    let check = RecordCheck::new(reader.feature(Feature::TRACING_DATA).map_or(&[], |it| it.bytes));
    let (mut samples, mut others) = (Vec::new(), 0);
    let mut records = reader.records().in_time_order();
    for record in &mut records {
        let record = record.unwrap();
        check.record(&record).unwrap();
        match record.sample() {
            Some(sample) => samples.push((record.event().unwrap().name.clone(), sample.to_fields().unwrap())),
            None => others += usize::from(!record.kind().is_user()),
        }
    }
    assert_eq!(records.check_features(), []);
    assert!(records.account().is_clean(), "{:?}", records.account().diagnostics);
    assert_eq!(records.account().late, 0);
    (samples, others)
}

/// Returns the samples up to a time, or those after it.
fn part(bytes: &[u8], is_wanted: impl Fn(u64) -> bool) -> Vec<u8> {
    let reader = Reader::new(bytes).unwrap();
    let edit = Edit::new().samples(|record| match is_wanted(record.time().unwrap_or(0)) {
        true => EditedRecord::Kept,
        false => EditedRecord::LeftOut,
    });
    edit.write_file(&reader, Cursor::new(Vec::new()), |_| {}).unwrap().out.into_inner()
}

#[test]
fn parts_of_a_capture_become_the_capture() {
    for name in CAPTURES {
        let bytes = std::fs::read(testdata::path(name)).unwrap();
        let (before, others) = contents(&bytes);
        let times: Vec<_> = before.iter().filter_map(|(_, it)| it.time).collect();
        assert!(times.len() > 3, "{name}");
        let middle = times[times.len() / 2];
        // One after the other, and interleaved.
        for parts in [
            [part(&bytes, |time| time <= middle), part(&bytes, |time| time > middle)],
            [part(&bytes, |time| time % 2 == 0), part(&bytes, |time| time % 2 == 1)],
        ] {
            for parts in [[&parts[0][..], &parts[1]], [&parts[1][..], &parts[0]]] {
                let whole = merged(&parts).unwrap();
                let (after, others_of_both) = contents(&whole);
                assert!(after == before, "{name}");
                assert_eq!(others_of_both, 2 * others, "{name}");
                let reader = Reader::new(&whole).unwrap();
                let of_both = Reader::new(parts[0]).unwrap();
                assert_eq!(reader.events().len(), of_both.events().len(), "{name}");
                let account = EditAccount::of(&reader.feature(EditAccount::FEATURE).unwrap()).unwrap();
                assert_eq!(account.left_out, before.len() as u64, "{name}");
                let section =
                    |feature, reader: &Reader<'_>| reader.feature(feature).map(|it| it.bytes.to_vec());
                for feature in [Feature::BUILD_ID, Feature::TRACING_DATA, Feature::HOSTNAME] {
                    assert_eq!(section(feature, &reader), section(feature, &of_both), "{name} {feature}");
                }
                if let Some(section) = reader.feature(Feature::SAMPLE_TIME) {
                    let FeatureData::SampleTime(it) = section.decode().unwrap() else { unreachable!() };
                    let (first, last) = (times.iter().min(), times.iter().max());
                    assert_eq!((Some(&it.first), Some(&it.last)), (first, last), "{name}");
                }
                assert!(merged(&parts).unwrap() == whole, "{name}: twice");
            }
        }
    }
}

/// Returns a capture without records: its events, and its features.
fn made(events: &[EventFields], features: &[FeatureData<'_>], endianness: Endianness) -> Vec<u8> {
    let options = WriteOptions { endianness, ..WriteOptions::default() };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), events, &options).unwrap();
    features.iter().for_each(|it| writer.features().set(it).unwrap());
    writer.finish().unwrap().into_inner()
}

fn event(sample_type: SampleType, id: u64, name: &str) -> EventFields {
    let attr = Attr { kind: EventType::SOFTWARE, sample_type, ..Attr::default() };
    EventFields { attr, ids: vec![id], name: Some(name.into()), ..EventFields::default() }
}

#[test]
fn events_are_matched_by_attr_and_name_or_added() {
    let with_id = SampleType::IDENTIFIER | SampleType::TIME;
    let little = |events: &[EventFields]| made(events, &[], Endianness::Little);
    let first = little(&[event(with_id, 1, "a"), event(with_id, 2, "b")]);
    let second = little(&[event(with_id, 3, "b"), event(with_id | SampleType::CPU, 4, "a")]);
    let whole = merged(&[&first, &second]).unwrap();
    let reader = Reader::new(&whole).unwrap();
    let events: Vec<_> =
        reader.events().iter().map(|it| (it.name.clone().unwrap(), it.ids.clone())).collect();
    let expected: [(&[u8], &[u64]); 3] = [(b"a", &[1]), (b"b", &[2, 3]), (b"a", &[4])];
    assert_eq!(events, expected.map(|(name, ids)| (name.to_vec(), ids.to_vec())));
}

/// Each event of a capture is one of its own, however many have the same attr and name: takes linear time.
#[test]
fn many_events_of_the_same_attr_and_name() {
    let sample_type = SampleType::IDENTIFIER | SampleType::TIME;
    let made = |ids: core::ops::Range<u64>| {
        let events = ids.map(|id| event(sample_type, id, "same")).collect::<Vec<_>>();
        made(&events, &[], Endianness::Little)
    };
    let bytes = merged(&[&made(0..20_000), &made(20_000..40_000), &made(40_000..60_001)]).unwrap();
    let reader = Reader::new(&bytes).unwrap();
    let ids: Vec<_> = reader.events().iter().map(|event| event.ids.clone()).collect();
    assert_eq!(ids.len(), 20_001);
    assert_eq!((&*ids[7], &*ids[20_000]), (&[7, 20_007, 40_007][..], &[60_000][..]));
}

#[test]
fn captures_that_do_not_fit_are_refused() {
    let with_id = SampleType::IDENTIFIER | SampleType::TIME;
    let a = [event(with_id, 1, "a")];
    let little =
        |events: &[EventFields], features: &[FeatureData<'_>]| made(events, features, Endianness::Little);
    let refused = |first: Vec<u8>, second: Vec<u8>| match merged(&[&first, &second]) {
        Err(error @ CaptureMergeError::Differ { field, .. }) => {
            assert!(error.to_string().starts_with(&format!("capture 2: {field}: must be ")), "{error}");
            field
        }
        other => panic!("{other:?}"),
    };
    let host = |name: &'static str| little(&a, &[FeatureData::Hostname(name.into())]);
    assert_eq!(refused(host("one"), host("two")), "HOSTNAME");
    let kernel = |name: &'static str| little(&a, &[FeatureData::OsRelease(name.into())]);
    assert_eq!(refused(kernel("6.1"), kernel("6.18")), "OSRELEASE");
    let arch = |name: &'static str| little(&a, &[FeatureData::Arch(name.into())]);
    assert_eq!(refused(arch("x86_64"), arch("aarch64")), "ARCH");
    assert_eq!(refused(little(&a, &[]), made(&a, &[], Endianness::Big)), "byte order");
    let mut other = a.clone();
    other[0].attr.flags = perf_parse::abi::attr::AttrFlags::USE_CLOCKID;
    assert_eq!(refused(little(&a, &[]), little(&other, &[])), "clockid");
    let boot = |wall_clock_ns| {
        let clock =
            perf_parse::feature::ClockData { version: 1, clockid: 1, wall_clock_ns, clockid_time_ns: 5 };
        little(&a, &[FeatureData::ClockData(clock)])
    };
    assert_eq!(refused(boot(100_000_000_000), boot(120_000_000_000)), "CLOCK_DATA");
    assert!(merged(&[&boot(100_000_000_000), &boot(101_000_000_000)]).is_ok());
    // The id of another event, and events whose records cannot be told apart.
    assert_eq!(refused(little(&a, &[]), little(&[event(with_id, 1, "b")], &[])), "id");
    let without = event(SampleType::TIME, 2, "b");
    assert_eq!(refused(little(&a, &[]), little(&[without], &[])), "id");
    let counts = little(&a, &[FeatureData::Stat]);
    assert_eq!(refused(little(&a, &[]), counts), "STAT");
    let thinned = |one_in: u64| {
        let bytes = little(&a, &[]);
        let edit = Edit::new().one_in(one_in).samples(|_| EditedRecord::Kept);
        edit.write_file(&Reader::new(&bytes).unwrap(), Cursor::new(Vec::new()), |_| {})
            .unwrap()
            .out
            .into_inner()
    };
    assert_eq!(refused(thinned(2), thinned(3)), "one_in");
    assert!(matches!(merged(&[]), Err(CaptureMergeError::Differ { field: "captures", .. })));
}
