//! Blocks, and walks from a place: they return the same records and errors as one walk.

use std::fs;

use perf_parse::abi::attr::Attr;
use perf_parse::abi::endian::{Endianness, LittleEndian};
use perf_parse::event::Events;
use perf_parse::file::{Account, FileError};
use perf_parse::ring::{Buffer, Direction, Dump};
use perf_parse::{EventRecord, Reader};
use proptest::prelude::*;

use crate::pipe::{attr, header};
use crate::{capture, round, sample, timed};
use testdata::Bytes;
use testdata::file::Builder;

type Next<'r> = Result<EventRecord<'r>, FileError>;

/// Compares two records, or errors, with their events.
pub(crate) fn assert_same(one: &Next<'_>, other: &Next<'_>, what: &dyn core::fmt::Display) {
    match (one, other) {
        (Ok(one), Ok(other)) => {
            assert_eq!(one.position(), other.position(), "{what}");
            assert_eq!(one.raw().as_bytes(), other.raw().as_bytes(), "{what} at {}", one.position());
            assert_eq!(one.trailing(), other.trailing(), "{what} at {}", one.position());
            assert_eq!(one.event_index(), other.event_index(), "{what} at {}", one.position());
            assert_eq!(one.unknown_event(), other.unknown_event(), "{what} at {}", one.position());
            let [of_one, of_other] = [one, other].map(|it| it.event().map(|it| (&it.name, it.attr, &it.ids)));
            assert_eq!(of_one, of_other, "{what} at {}", one.position());
        }
        (one, other) => {
            assert_eq!(one.as_ref().err(), other.as_ref().err(), "{what}: {one:?} and {other:?}");
        }
    }
}

/// Compares the blocks of each count with one walk. Returns the number of blocks of the last count.
fn check(reader: &Reader<'_>, counts: impl IntoIterator<Item = usize>, name: &str) -> usize {
    let mut records = reader.records();
    let expected: Vec<_> = records.by_ref().collect();
    let mut blocks = 0;
    for count in counts {
        let what = format!("{name} in {count} blocks");
        blocks = 0;
        let (mut next, mut account) = (expected.iter(), None::<Account>);
        for mut block in reader.blocks(count) {
            for record in &mut block {
                let expected = next.next().unwrap_or_else(|| panic!("{what}: {record:?} is too much"));
                assert_same(&record, expected, &what);
            }
            assert!(block.next().is_none(), "{what}: the end stays the end");
            match &mut account {
                Some(account) => account.add(block.account()),
                None => account = Some(block.account().clone()),
            }
            blocks += 1;
        }
        assert_eq!(next.len(), 0, "{what}: the last records are missing");
        assert_eq!(account.as_ref(), Some(records.account()), "{what}");
    }
    blocks
}

/// Returns the names and bytes of all captures, in ascending order of names.
fn captures() -> Vec<(String, Vec<u8>)> {
    let named =
        testdata::captures().into_iter().map(|path| (path.display().to_string(), fs::read(path).unwrap()));
    let mut all: Vec<_> = named.filter(|(_, bytes)| Reader::new(bytes).is_ok()).collect();
    all.sort();
    assert!(all.len() > 90, "{} captures", all.len());
    all
}

/// The counts of blocks that are tested: also one that makes each record a block.
const COUNTS: [usize; 7] = [1, 2, 3, 7, 16, 40, usize::MAX];

#[test]
fn of_captures() {
    let mut many = 0;
    for (name, bytes) in captures() {
        let reader = Reader::new(&bytes).unwrap();
        if bytes.len() < 50_000 {
            check(&reader, (0..=40).chain([usize::MAX]), &name);
        }
        many += usize::from(check(&reader, COUNTS.into_iter().take(6), &name) > 4);
    }
    assert!(many > 50, "{many} captures have more than 4 blocks");
}

#[test]
fn of_captures_cut_anywhere() {
    for (name, bytes) in captures() {
        let step = (bytes.len() / 30).max(1) | 1;
        for len in (0..bytes.len()).step_by(step).filter(|_| bytes.len() < 20_000) {
            let Ok(reader) = Reader::new(&bytes[..len]) else { continue };
            check(&reader, COUNTS, &format!("{name}, {len} bytes"));
        }
    }
}

/// A folder: a file and other data files.
#[test]
fn of_several_data_files() {
    let names = ["threads.dir/data", "threads.dir/data.0", "threads.dir/data.1"];
    let [data, one, two] = names.map(capture);
    let mut reader = Reader::new(&data).unwrap();
    reader.add_data(&one);
    reader.add_data(&two);
    assert!(check(&reader, (1..=40).chain([usize::MAX]), "threads.dir") > 40);

    // Empty files, damage at the end of one file, and damage at the start of the next.
    let more = [
        Vec::new(),
        [sample(2), vec![0; 16], sample(3)].concat(),
        [(4..40).flat_map(sample).collect(), vec![0xff; 20]].concat(),
        vec![0; 9],
        Vec::new(),
        [vec![1; 13], (40..60).flat_map(sample).collect(), name(7, b"renamed\0"), sample(60)].concat(),
        sample(61),
        Vec::new(),
    ];
    for first in [[sample(1), round()].concat(), Vec::new()] {
        let built = Builder::new(false).event(timed(), &[7]).data(&first).feature(200, vec![1]).build();
        // Without records, the data of a file is of size 0, and is read up to the end of the file.
        let mut reader = Reader::new(&built.bytes).unwrap();
        more.iter().for_each(|more| reader.add_data(more));
        check(&reader, (1..=40).chain([usize::MAX]), "data files");
    }
}

/// Returns an EVENT_UPDATE record with a name.
fn name(id: u64, name: &[u8; 8]) -> Vec<u8> {
    Bytes::new(false).u64s(&[2, id]).raw(name).record(78, 0)
}

#[test]
fn of_events_that_change_on_the_way() {
    let auxtrace = Bytes::new(false).u64s(&[200, 0, 0, 0, 0]).record(71, 0);
    let records = [
        sample(1),
        name(7, b"one\0\0\0\0\0"),
        (2..20).flat_map(sample).collect(),
        // No event has the id.
        name(9, b"nobody\0\0"),
        [auxtrace, vec![0xaa; 200]].concat(),
        name(7, b"two\0\0\0\0\0"),
        (20..40).flat_map(sample).collect(),
        name(9, b"nobody\0\0"),
        vec![0; 24],
        sample(40),
    ]
    .concat();
    let file = Builder::new(false).event(timed(), &[7, 8]).data(&records).build().bytes;
    let late = [attr(false, &timed(), &[9]), Bytes::new(false).u64s(&[9, 50]).record(9, 0)].concat();
    let pipe = [header(false), attr(false, &timed(), &[7, 8]), records, late].concat();
    // The first block of the pipe is its HEADER_ATTR.
    for (bytes, expected) in [(file, 2), (pipe, 3)] {
        let reader = Reader::new(&bytes).unwrap();
        let names: Vec<_> = reader
            .records()
            .flatten()
            .filter(|it| it.sample().is_some())
            .map(|it| it.event().unwrap().name.clone().unwrap_or_default())
            .collect();
        assert_eq!((&*names[0], &*names[1], &*names[39]), (&b""[..], &b"one"[..], &b"two"[..]));
        let blocks = check(&reader, (1..=40).chain([usize::MAX]), "events that change");
        // From the first record on that changes an event, everything is one block.
        assert_eq!(blocks, expected);
    }
}

#[test]
fn of_rings() {
    let folder = testdata::path("../rings");
    let (mut rings, mut blocks) = (0, 0);
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "ring") {
            continue;
        }
        let attr = fs::read(path.with_extension("attr")).ok();
        let attr = attr.map_or(Attr::default(), |bytes| Attr::read::<LittleEndian>(&bytes).unwrap().attr);
        let bytes = fs::read(&path).unwrap();
        let open = |direction| Dump::<LittleEndian>::open(&bytes, direction, None).ok();
        let Some(mut dump) = [Direction::Forward, Direction::Backward].into_iter().find_map(open) else {
            continue;
        };
        let (mut buffer, mut records) = (Box::new(Buffer::new()), Vec::new());
        while let Some(Ok(record)) = dump.next(&mut buffer) {
            records.extend_from_slice(record.as_bytes());
        }
        let events = Events::from_iter([(attr, vec![])]);
        let mut reader = Reader::from_records(events, Endianness::Little, &records);
        blocks += check(&reader, (1..=40).chain([usize::MAX]), &path.display().to_string());
        reader.add_data(&records[..records.len() / 2]);
        check(&reader, (1..=40).chain([usize::MAX]), &path.display().to_string());
        rings += 1;
    }
    assert!(rings > 5 && blocks > 50, "{rings} rings, {blocks} blocks");
}

/// A change of some bytes: where, how many, and to which value; `None` flips the bits.
type Damage = (prop::sample::Index, usize, Option<u8>);

fn damages() -> impl Strategy<Value = Vec<Damage>> {
    let value = prop::option::of(prop_oneof![Just(0), Just(0xff), any::<u8>()]);
    let damage = (any::<prop::sample::Index>(), prop_oneof![1_usize..9, 1_usize..200], value);
    prop::collection::vec(damage, 1..6)
}

/// Captures to damage.
const DAMAGED: [&str; 8] = [
    "plain.data",
    "everything.data",
    "lost.data",
    "ids.data",
    "tracing.pipe.data",
    "touch.zstd.data",
    "buildid.pipe.data",
    "killed.data",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn of_damaged_captures(which in any::<prop::sample::Index>(), damages in damages(), count in 1_usize..41) {
        let name = which.get(&DAMAGED[..]);
        let mut bytes = capture(name);
        damage(&mut bytes, &damages);
        if let Ok(reader) = Reader::new(&bytes) {
            check(&reader, [count, usize::MAX], name);
        }
    }

    /// Small records, so that blocks end near the damage.
    #[test]
    fn of_damaged_records(len in 1_u64..60, damages in damages(), count in 1_usize..41) {
        let mut data: Vec<u8> = (1..=len).flat_map(|it| [sample(it), round()].concat()).collect();
        damage(&mut data, &damages);
        let events = Events::from_iter([(timed(), vec![7])]);
        let mut reader = Reader::from_records(events, Endianness::Little, &data);
        check(&reader, [count, usize::MAX], "damaged records");
        reader.add_data(&data);
        check(&reader, [count, usize::MAX], "damaged records");
    }
}

fn damage(bytes: &mut [u8], damages: &[Damage]) {
    for (at, len, value) in damages {
        let at = at.index(bytes.len());
        let end = (at + len).min(bytes.len());
        bytes[at..end].iter_mut().for_each(|byte| *byte = value.unwrap_or(!*byte));
    }
}

/// Walks from the places of a walk. The events are those that were known when the capture was opened.
fn check_places(reader: &Reader<'_>, step: usize, name: &str) {
    let mut records = reader.records();
    let expected: Vec<_> = records.by_ref().collect();
    let changes = !records.events().iter().map(|it| &it.name).eq(reader.events().iter().map(|it| &it.name));
    let bytes = |it: &Next<'_>| it.clone().map(|it| (it.position(), it.raw().as_bytes().to_vec()));
    for (index, record) in expected.iter().enumerate().step_by(step) {
        let Ok(record) = record else { continue };
        let what = format!("{name} from {}", record.position());
        let found = reader.at(record.position()).map(|it| it.unwrap_or_else(|| panic!("{what}: nothing")));
        if !changes {
            assert_same(&found, &expected[index], &what);
        }
        assert_eq!(bytes(&found), bytes(&expected[index]), "{what}");
        // The rest of the walk too, from some places.
        if index % (expected.len() / 8).max(1) == 0 {
            let rest = reader.records_from(record.position()).map(|it| bytes(&it));
            assert!(rest.eq(expected[index..].iter().map(bytes)), "{what}: the rest differs");
        }
    }
}

#[test]
fn from_every_place() {
    for (name, bytes) in captures().into_iter().filter(|(_, bytes)| bytes.len() < 200_000) {
        let step = if name.contains("zstd") || name.contains("compressed") { 31 } else { 1 };
        check_places(&Reader::new(&bytes).unwrap(), step, &name);
    }
    let [data, one, two] = ["threads.dir/data", "threads.dir/data.0", "threads.dir/data.1"].map(capture);
    let mut reader = Reader::new(&data).unwrap();
    reader.add_data(&one);
    reader.add_data(&two);
    check_places(&reader, 1, "threads.dir");
    // A compressed capture whose features are lost.
    for name in ["touch.zstd.data", "compressed.zstd.pipe.data"] {
        let bytes = capture(name);
        check_places(&Reader::new(&bytes[..bytes.len() * 3 / 4]).unwrap(), 41, name);
    }
    let damaged = [sample(1), vec![0; 16], sample(2), sample(3), vec![1; 9]].concat();
    let built = Builder::new(false).event(timed(), &[7]).data(&damaged).build();
    check_places(&Reader::new(&built.bytes).unwrap(), 1, "damaged");
}

#[test]
fn from_every_place_of_a_stream() {
    let bytes = capture("tracing.pipe.data");
    let memory = Reader::new(&bytes).unwrap();
    let expected: Vec<_> = memory.records().collect();
    for (index, record) in expected.iter().enumerate() {
        let place = record.as_ref().unwrap().position();
        let stream = Reader::stream(bytes.as_slice()).unwrap();
        let mut rest = stream.records_from(place);
        for expected in &expected[index..] {
            assert_same(&rest.next().unwrap(), expected, &place);
        }
        assert!(rest.next().is_none());
        let stream = Reader::stream(bytes.as_slice()).unwrap();
        assert_same(&Ok(stream.at(place).unwrap().unwrap()), record, &place);
    }
}

#[test]
fn from_a_place_that_is_none() {
    let built = Builder::new(false).event(timed(), &[7]).data([sample(1), sample(2)].concat());
    let built = built.feature(200, vec![1]).build();
    let reader = Reader::new(&built.bytes).unwrap();
    let first = reader.records().next().unwrap().unwrap().position();
    for (data_file, offset) in [(0, first.offset + 48), (0, u64::MAX), (1, 0), (usize::MAX, first.offset)] {
        let place = perf_parse::event::RecordPosition { data_file, offset, ..first };
        assert!(reader.at(place).unwrap().is_none(), "{place:?}");
        assert_eq!(reader.records_from(place).count(), 0, "{place:?}");
    }
    // Within a record.
    let place = perf_parse::event::RecordPosition { offset: first.offset + 25, ..first };
    assert!(reader.at(place).is_err());
}

#[test]
fn of_a_stream_is_one_block() {
    let bytes = capture("tracing.pipe.data");
    let memory = Reader::new(&bytes).unwrap();
    let stream = Reader::stream(bytes.as_slice()).unwrap();
    let mut blocks = stream.blocks(4);
    let block = blocks.next().unwrap();
    assert!(blocks.next().is_none());
    let records: Vec<_> = block.collect();
    assert_eq!(records.len(), memory.records().count());
    records.iter().zip(memory.records()).for_each(|(one, other)| assert_same(one, &other, &"stream"));
}
