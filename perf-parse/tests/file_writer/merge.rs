//! Several captures as one.

use std::io::Cursor;

use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::endian::Endianness;
use perf_parse::abi::event::EventType;
use perf_parse::abi::feature::Feature;
use perf_parse::abi::read_format::ReadFormat;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::feature::{FeatureData, GroupDesc};
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use perf_parse::file::{Reader, RecordCheck};
use perf_parse::rewrite::{
    CaptureMergeError, Edit, EditAccount, EditedRecord, MergeOptions, RepairStep, merge,
};
use perf_parse::write::SampleFields;

/// Captures with a time in each sample: one event, several events, compressed, a pipe with tracepoints.
const CAPTURES: [&str; 6] =
    ["plain.data", "ids.data", "identifier.data", "touch.zstd.data", "tracing.pipe.data", "system_wide.data"];

fn merged(captures: &[&[u8]]) -> Result<Vec<u8>, CaptureMergeError> {
    merged_with(captures, &MergeOptions::default())
}

fn merged_with(captures: &[&[u8]], options: &MergeOptions) -> Result<Vec<u8>, CaptureMergeError> {
    let readers: Vec<_> = captures.iter().map(|bytes| Reader::new(bytes).unwrap()).collect();
    let readers: Vec<_> = readers.iter().collect();
    Ok(merge(&readers, options, Cursor::new(Vec::new()), |_, _| {})?.out.into_inner())
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
                // THREAD_MAP and CPU_MAP: perf warns of a second one.
                let lists =
                    |kind| reader.records().filter(|it| it.as_ref().unwrap().kind().0 == kind).count();
                assert!(lists(73) <= 1 && lists(74) <= 1, "{name}");
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

/// Returns the path of a capture of simpleperf.
fn simpleperf(name: &str) -> std::path::PathBuf {
    testdata::path("plain.data").parent().unwrap().parent().unwrap().join("foreign/simpleperf").join(name)
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
fn many_events_without_ids() {
    let events: Vec<_> = (0..20_000)
        .map(|number| EventFields { ids: Vec::new(), ..event(SampleType::TIME, 0, &number.to_string()) })
        .collect();
    let one = made(&events, &[], Endianness::Little);
    let bytes = merged(&[&one, &one, &one]).unwrap();
    let reader = Reader::new(&bytes).unwrap();
    let ids: Vec<_> = reader.events().iter().map(|event| event.ids.clone()).collect();
    assert_eq!((ids.len(), &*ids[19_999]), (20_000, &[20_000][..]));
    assert!(reader.events().iter().all(|it| it.attr.sample_type.contains(SampleType::IDENTIFIER)));
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
    other[0].attr.flags = AttrFlags::USE_CLOCKID;
    assert_eq!(refused(little(&a, &[]), little(&other, &[])), "clockid");
    let boot = |wall_clock_ns| {
        let clock =
            perf_parse::feature::ClockData { version: 1, clockid: 1, wall_clock_ns, clockid_time_ns: 5 };
        little(&a, &[FeatureData::ClockData(clock)])
    };
    assert_eq!(refused(boot(100_000_000_000), boot(120_000_000_000)), "CLOCK_DATA");
    assert!(merged(&[&boot(100_000_000_000), &boot(101_000_000_000)]).is_ok());
    // Events whose records cannot be told apart.
    let mut without = event(SampleType::TIME, 2, "b");
    without.attr.flags = AttrFlags::SAMPLE_ID_ALL;
    assert_eq!(refused(little(&a, &[]), little(&[without], &[])), "sample_id_all");
    assert_eq!(
        refused(little(&[event(with_id, u64::MAX, "a")], &[]), little(&[event(with_id, u64::MAX, "b")], &[])),
        "id"
    );
    assert_eq!(
        refused(little(&a, &[]), std::fs::read(simpleperf("perf_with_trace_offcpu_v2.data")).unwrap()),
        "META_INFO"
    );
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

/// Returns a file of one event with these records.
fn with_records(event: &EventFields, records: &[(Vec<u8>, &[u8])]) -> Vec<u8> {
    let options = WriteOptions { endianness: Endianness::Little, ..WriteOptions::default() };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), std::slice::from_ref(event), &options).unwrap();
    for (record, data) in records {
        writer.record_with_data(record, data).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Returns a record of 8-byte words.
fn record(kind: u32, words: &[u64]) -> (Vec<u8>, &'static [u8]) {
    let mut bytes = kind.to_le_bytes().to_vec();
    bytes.extend([0, 0]);
    bytes.extend((8 + 8 * words.len() as u16).to_le_bytes());
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    (bytes, &[])
}

/// Returns the words of each record of a file with its event, in order of time.
fn words(bytes: &[u8]) -> Vec<(u32, Option<usize>, Vec<u64>)> {
    let reader = Reader::new(bytes).unwrap();
    let mut records = reader.records().in_time_order();
    let all = records.by_ref().map(|record| {
        let record = record.unwrap();
        let payload = record.raw().payload();
        let words = payload.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
        (record.kind().0, record.event().map(|event| event.index), words.collect())
    });
    let all = all.collect();
    assert!(records.account().is_clean(), "{:?}", records.account().diagnostics);
    all
}

fn account_of(bytes: &[u8]) -> EditAccount {
    let reader = Reader::new(bytes).unwrap();
    reader.feature(EditAccount::FEATURE).and_then(|it| EditAccount::of(&it)).unwrap_or_default()
}

/// Records whose ids are at every place where a record has one.
fn with_ids(name: &str, id: u64, time: u64) -> Vec<u8> {
    let sample_type = SampleType::IDENTIFIER | SampleType::TIME | SampleType::READ;
    let mut event = event(sample_type, id, name);
    event.attr.flags = AttrFlags::SAMPLE_ID_ALL;
    event.attr.read_format =
        ReadFormat::GROUP | ReadFormat::ID | ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::LOST;
    let trailer = |time| [time, id];
    let records = [
        record(69, &[1, id, 0, 0, 0]),
        record(78, &[0, id, u64::from(b'J')]),
        record(9, &[id, time, 2, 50, 5, id, 0, 6, 77, 0]),
        record(5, &[&[time + 1, id, id][..], &trailer(time + 1)].concat()),
        record(7, &[&[1, 2, time + 2][..], &trailer(time + 2)].concat()),
        record(2, &[&[id, 3][..], &trailer(time + 3)].concat()),
        record(8, &[&[1, 1, 50, 5, id, 0][..], &trailer(time + 4)].concat()),
    ];
    with_records(&event, &records)
}

#[test]
fn colliding_ids_are_renumbered() {
    let [first, second] = [with_ids("a", 5, 100), with_ids("b", 5, 200)];
    let whole = merged(&[&first, &second]).unwrap();
    let reader = Reader::new(&whole).unwrap();
    let ids: Vec<_> = reader.events().iter().map(|event| event.ids.clone()).collect();
    assert_eq!(ids, [[5], [6]]);
    let alone = |bytes: &[u8], index: usize| {
        let all = words(bytes).into_iter();
        all.filter(|it| it.0 != 68)
            .map(move |(kind, event, words)| (kind, event.map(|_| index), words))
            .collect::<Vec<_>>()
    };
    let expected = [alone(&first, 0), alone(&with_ids("b", 6, 200), 1)].concat();
    assert_eq!(
        alone(&whole, 9).into_iter().map(|it| (it.0, it.2)).collect::<Vec<_>>(),
        expected.iter().map(|it| (it.0, it.2.clone())).collect::<Vec<_>>()
    );
    assert_eq!(
        words(&whole).into_iter().filter(|it| it.0 < 64).map(|it| it.1).collect::<Vec<_>>(),
        expected.iter().filter(|it| it.0 < 64).map(|it| it.1).collect::<Vec<_>>()
    );
    assert_eq!(account_of(&whole), EditAccount { renumbered: 1, ..EditAccount::default() });
    // The same event twice has nothing to renumber.
    assert_eq!(account_of(&merged(&[&first, &first]).unwrap()), EditAccount::default());
}

#[test]
fn records_without_ids_get_identifiers() {
    let of = |name: &str, ids: &[u64], sample_type: SampleType, records: &[(Vec<u8>, &'static [u8])]| {
        let mut event = event(sample_type, 0, name);
        event.attr.flags = AttrFlags::SAMPLE_ID_ALL;
        with_records(&EventFields { ids: ids.to_vec(), ..event }, records)
    };
    // Without an id, with one that samples do not have, and with one elsewhere.
    let time = SampleType::TIME;
    let first =
        of("a", &[], time, &[record(78, &[0, 0, u64::from(b'J')]), record(9, &[10]), record(13, &[7, 11])]);
    let second = of("b", &[8], time, &[record(9, &[20]), record(13, &[7, 21])]);
    let third = of("c", &[9, 10], time | SampleType::ID, &[record(9, &[30, 10]), record(13, &[7, 31, 10])]);
    let whole = merged(&[&first, &second, &third]).unwrap();
    let (j, all) = (u64::from(b'J'), words(&whole));
    let expected = [
        (78, None, vec![0, 11, j]),
        (9, Some(0), vec![11, 10]),
        (13, Some(0), vec![7, 11, 11]),
        (9, Some(1), vec![8, 20]),
        (13, Some(1), vec![7, 21, 8]),
        (9, Some(2), vec![10, 30, 10]),
        (13, Some(2), vec![7, 31, 10, 10]),
    ];
    assert_eq!(all.into_iter().filter(|it| it.0 != 68).collect::<Vec<_>>(), expected);
    assert_eq!(account_of(&whole).added_fields, SampleType::IDENTIFIER);
    let reader = Reader::new(&whole).unwrap();
    assert_eq!(
        reader.events().iter().map(|it| it.ids.clone()).collect::<Vec<_>>(),
        [vec![11], vec![8], vec![9, 10]]
    );
    // One event needs none.
    let other = of("a", &[], time, &[record(9, &[12])]);
    assert_eq!(account_of(&merged(&[&first, &other]).unwrap()), EditAccount::default());
    // A record without room is left out.
    let raw = time | SampleType::RAW;
    let full = record(9, &[&[10, 65508][..], &vec![0; 8188]].concat());
    let full = of("a", &[], raw, &[full, record(9, &[12, 4])]);
    assert_eq!(words(&full).len(), 2);
    let readers = [Reader::new(&full).unwrap(), Reader::new(&second).unwrap()];
    let mut unwritable = 0;
    let out =
        merge(&[&readers[0], &readers[1]], &MergeOptions::default(), Cursor::new(Vec::new()), |_, step| {
            unwritable += usize::from(matches!(step, RepairStep::Unwritable { .. }));
        });
    assert_eq!((out.unwrap().dropped, unwritable), (1, 1));
}

#[test]
fn times_are_moved() {
    let [first, second] = [with_ids("a", 5, 100), with_ids("a", 5, 200)];
    let offset = |nanoseconds| MergeOptions { clock_offsets: [(1, nanoseconds)].into() };
    let whole = merged_with(&[&first, &second], &offset(-100)).unwrap();
    let times = |bytes: &[u8]| {
        Reader::new(bytes)
            .unwrap()
            .records()
            .in_time_order()
            .filter_map(|it| it.unwrap().time())
            .collect::<Vec<_>>()
    };
    assert_eq!(times(&whole), [100, 100, 101, 101, 102, 102, 103, 103, 104, 104]);
    let fork =
        |bytes: &[u8]| words(bytes).into_iter().filter(|it| it.0 == 7).map(|it| it.2[2]).collect::<Vec<_>>();
    assert_eq!(fork(&whole), [102, 102]);
    let account = EditAccount { clock_offsets: vec![(2, -100)], ..EditAccount::default() };
    assert_eq!(account_of(&whole), account);
    let refused = |result: Result<Vec<u8>, CaptureMergeError>| match result {
        Err(CaptureMergeError::Differ { field, capture, .. }) => (field, capture),
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(merged_with(&[&first, &second], &offset(-200))), ("clock offset", 1));
    let none = MergeOptions { clock_offsets: [(2, 5)].into() };
    assert_eq!(refused(merged_with(&[&first, &second], &none)), ("clock offset", 2));
    // Of another clock, if the distance is known.
    let mut other = event(SampleType::TIME, 1, "a");
    let plain = with_records(&other, &[record(9, &[50])]);
    other.attr.flags = AttrFlags::USE_CLOCKID;
    other.attr.clockid = 1;
    let other = with_records(&other, &[record(9, &[7])]);
    assert_eq!(refused(merged(&[&plain, &other])), ("clockid", 1));
    let whole = merged_with(&[&plain, &other], &offset(40)).unwrap();
    assert_eq!(times(&whole), [47, 50]);
    assert_eq!(Reader::new(&whole).unwrap().events().len(), 1);
}

#[test]
fn the_times_of_a_whole_capture_are_moved() {
    let bytes = std::fs::read(testdata::path("plain.data")).unwrap();
    let options = MergeOptions { clock_offsets: [(1, 1_000_000)].into() };
    let (after, others) = contents(&merged_with(&[&bytes, &bytes], &options).unwrap());
    let (before, others_of_one) = contents(&bytes);
    let moved = before
        .iter()
        .cloned()
        .map(|(name, it)| (name, SampleFields { time: it.time.map(|time| time + 1_000_000), ..it }));
    let mut expected: Vec<_> = before.iter().cloned().chain(moved).collect();
    expected.sort_by_key(|(_, it)| it.time);
    assert!(after == expected);
    assert_eq!(others, 2 * others_of_one);
}

#[test]
fn captures_of_simpleperf_become_one() {
    for name in [
        "perf_with_two_event_types.data",
        "perf_with_tracepoint_event.data",
        "perf_with_jit_symbol.data",
        "perf_with_trace_offcpu_v2.data",
    ] {
        let bytes = std::fs::read(simpleperf(name)).unwrap();
        let samples = |bytes: &[u8]| {
            let reader = Reader::new(bytes).unwrap();
            let samples = reader.records().in_time_order().filter_map(|record| {
                let record = record.unwrap();
                let fields = record.sample()?.to_fields().unwrap();
                Some((record.event().unwrap().name.clone(), fields))
            });
            samples.collect::<Vec<_>>()
        };
        let before = samples(&bytes);
        let middle = before[before.len() / 2].1.time.unwrap();
        let parts = [part(&bytes, |time| time <= middle), part(&bytes, |time| time > middle)];
        let whole = merged(&[&parts[0], &parts[1]]).unwrap();
        assert!(samples(&whole) == before, "{name}");
        let (merged, alone) = (Reader::new(&whole).unwrap(), Reader::new(&bytes).unwrap());
        let infos = |reader: &Reader<'_>| {
            let info = reader.features().meta_info().unwrap().unwrap_or_default();
            let mut all: Vec<_> =
                info.entries.iter().map(|it| (it.key.to_string(), it.value.to_string())).collect();
            all.sort();
            all
        };
        assert_eq!(infos(&merged), infos(&alone), "{name}");
        let files = |reader: &Reader<'_>| {
            let (old, new) = (reader.features().file().unwrap(), reader.features().file2().unwrap());
            let all = old.into_iter().chain(new).flat_map(|files| files.iter().collect::<Vec<_>>());
            all.map(|it| (it.path.to_string(), it.symbols.iter().count())).collect::<Vec<_>>()
        };
        assert_eq!(files(&merged), files(&alone), "{name}");
        assert!(merged.feature(Feature::INIT_MAP).is_none());
    }
}

#[test]
fn aux_areas_of_other_cpus_are_kept() {
    let sample_type = SampleType::IDENTIFIER | SampleType::TIME;
    let aux = |settings: u64, idx: u64, cpu: u64, data: &'static [u8]| {
        // Size, offset, reference, index and thread, cpu.
        let (record_bytes, _) = record(71, &[data.len() as u64, 0, 7, idx | 0xffff_ffff << 32, cpu]);
        with_records(&event(sample_type, 1, "a"), &[record(70, &[1, settings]), (record_bytes, data)])
    };
    let kept = |whole: &[u8]| {
        let reader = Reader::new(whole).unwrap();
        let records = reader.records().filter_map(|record| {
            let record = record.unwrap();
            let payload = record.raw().payload();
            (record.kind().0 == 71).then(|| (payload[24], payload[32], record.trailing().to_vec()))
        });
        (records.collect::<Vec<_>>(), words(whole).iter().filter(|it| it.0 == 70).count())
    };
    let first = aux(9, 0, 0, b"01234567");
    let whole = merged(&[&first, &aux(9, 0, 1, b"abcdefgh"), &aux(9, 5, 2, b"ABCDEFGH")]).unwrap();
    let expected =
        vec![(0, 0, b"01234567".to_vec()), (1, 1, b"abcdefgh".to_vec()), (5, 2, b"ABCDEFGH".to_vec())];
    assert_eq!(kept(&whole), (expected, 1));
    let refused = |second: &[u8], options: &MergeOptions| match merged_with(&[&first, second], options) {
        Err(CaptureMergeError::Differ { field, capture: 1, .. }) => field,
        other => panic!("{other:?}"),
    };
    let none = MergeOptions::default();
    assert_eq!(refused(&aux(9, 0, 0, b"abcdefgh"), &none), "AUXTRACE");
    assert_eq!(refused(&aux(8, 0, 1, b"abcdefgh"), &none), "AUXTRACE_INFO");
    let moved = MergeOptions { clock_offsets: [(1, 5)].into() };
    assert_eq!(refused(&aux(9, 0, 1, b"abcdefgh"), &moved), "clock offset");
}

#[test]
fn groups_programs_and_lost_counts_are_joined() {
    let sample_type = SampleType::IDENTIFIER | SampleType::TIME;
    let group = |leader_idx, name: &'static str| GroupDesc { name: name.into(), leader_idx, nr_members: 2 };
    let capture = |events: [(&str, u64); 3], groups: &[GroupDesc<'_>], program: u32| {
        let events = events.map(|(name, id)| event(sample_type, id, name));
        let btf = [perf_parse::feature::BpfBtf { id: program, bytes: b"btf" }];
        let features = [FeatureData::GroupDesc(groups.into()), FeatureData::BpfBtf((&btf).into())];
        made(&events, &features, Endianness::Little)
    };
    let first = capture([("a", 1), ("b", 2), ("c", 3)], &[group(0, "ab")], 1);
    let second = capture([("c", 4), ("d", 5), ("e", 6)], &[group(1, "de")], 2);
    // Members that are not adjacent any more.
    let third = capture([("c", 7), ("a", 8), ("f", 9)], &[group(0, "ca")], 1);
    let whole = merged(&[&first, &second, &third]).unwrap();
    let reader = Reader::new(&whole).unwrap();
    let groups: Vec<_> = reader.features().group_desc().unwrap().unwrap().iter().collect();
    assert_eq!(groups, [group(0, "ab"), group(3, "de")]);
    let programs: Vec<_> = reader.features().bpf_btf().unwrap().unwrap().iter().map(|it| it.id).collect();
    assert_eq!(programs, [1, 2]);
    let lost = |id: u64, lost: u64| {
        with_records(&event(sample_type, id, "a"), &[record(2, &[id, lost]), record(13, &[lost])])
    };
    let whole = merged(&[&lost(1, 3), &lost(2, 40)]).unwrap();
    let reader = Reader::new(&whole).unwrap();
    let mut records = reader.records();
    records.by_ref().for_each(drop);
    assert_eq!((records.account().lost, records.account().lost_samples), (43, 43));
}
