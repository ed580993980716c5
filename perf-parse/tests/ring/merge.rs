//! Several rings in time order, compared with a merge that searches every ring for each record.

use perf_parse::Record;
use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::endian::{BigEndian, Endian, LittleEndian};
use perf_parse::abi::record::RecordType;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::event::Events;
use perf_parse::file::FileErrorKind;
use perf_parse::ring::{Direction, Dump, Merge, RingErrorKind};
use proptest::prelude::*;

use super::oracle::Model;
use super::record;
use testdata::Bytes;

fn attr(sample_type: SampleType) -> Attr {
    Attr { sample_type, flags: AttrFlags::SAMPLE_ID_ALL, ..Attr::default() }
}

/// Returns an event that records only the time.
fn timed() -> Events {
    [(attr(SampleType::TIME), vec![])].into_iter().collect()
}

/// Makes a sample with its time and this number of words that the event does not record; without a time, a record of
/// the perf tool.
fn entry(big: bool, time: Option<u64>, words: usize) -> Vec<u8> {
    let payload = Bytes::new(big).u64s(&vec![1; words]);
    match time {
        Some(time) => payload.u64(time).record(RecordType::SWITCH.0, 0),
        None => payload.record(RecordType::FINISHED_ROUND.0, 0),
    }
}

#[derive(Clone, Debug)]
struct Entry {
    time: Option<u64>,
    words: usize,
}

/// A record returned by a merge: the ring, the position, the time, the bytes.
type Given = (usize, u64, Option<u64>, Vec<u8>);

/// A record in its ring: the position, the time, the bytes.
type Timed = (u64, Option<u64>, Vec<u8>);

/// Merges by choosing, for each record, the first of the rings whose next record is the earliest.
fn plain_merge(rings: &[Vec<Timed>]) -> Vec<Given> {
    let mut given = Vec::new();
    let (mut next, mut last) = (vec![0; rings.len()], vec![0; rings.len()]);
    loop {
        let mut best: Option<(u64, usize)> = None;
        for (ring, records) in rings.iter().enumerate() {
            let Some((_, time, _)) = records.get(next[ring]) else { continue };
            let time = time.unwrap_or(last[ring]);
            if best.is_none_or(|(earliest, _)| time < earliest) {
                best = Some((time, ring));
            }
        }
        let Some((time, ring)) = best else { return given };
        let (position, own, bytes) = rings[ring][next[ring]].clone();
        given.push((ring, position, own, bytes));
        (next[ring], last[ring]) = (next[ring] + 1, time);
    }
}

fn equals<O: Endian>(big: bool, rings: &[(bool, Vec<Entry>)]) {
    const SIZE: usize = 256;
    let events = timed();
    let mut expected = Vec::new();
    let mut models = Vec::new();
    for (backward, entries) in rings {
        let mut model = Model::new(SIZE, if *backward { 0 } else { 1 << 20 });
        let mut records = Vec::new();
        for Entry { time, words } in entries {
            let bytes = entry(big, *time, *words);
            if *backward {
                model.push_backward(&bytes);
                records.push((model.head, *time, bytes));
            } else {
                records.push((model.head, *time, bytes.clone()));
                model.push_forward(&bytes);
            }
        }
        // The newest records that fit.
        let mut left = SIZE;
        let kept = records.iter().rev().take_while(|(_, _, bytes)| {
            let fits = bytes.len() <= left;
            left = left.saturating_sub(bytes.len());
            fits
        });
        let kept = kept.count();
        let records = records.split_off(records.len() - kept);
        let tail = records.first().map_or(model.head, |(position, _, _)| *position);
        expected.push(records);
        models.push((*backward, model, tail));
    }
    let mut merge = Merge::<O>::new();
    for (number, (backward, model, tail)) in models.iter().enumerate() {
        let direction = if *backward { Direction::Backward } else { Direction::Forward };
        let dump = Dump::new(&model.data, direction, *tail, model.head).unwrap();
        assert_eq!(merge.add(dump, &events), number);
    }
    let mut given = Vec::new();
    for record in &mut merge {
        let record = record.unwrap();
        let place = record.position();
        assert_eq!(place.decompressed, None);
        given.push((place.data_file, place.offset, record.time(), record.raw().as_bytes().to_vec()));
    }
    assert_eq!(given, plain_merge(&expected));
    for (number, records) in expected.iter().enumerate() {
        let account = merge.account(number).unwrap();
        assert_eq!((account.records, account.left, account.unread), (records.len() as u64, 0, 0));
    }
    assert_eq!(merge.account(models.len()), None);
}

fn rings() -> impl Strategy<Value = Vec<(bool, Vec<Entry>)>> {
    let entry = (prop::option::weighted(0.8, 0_u64..40), 0_usize..6);
    let entry = entry.prop_map(|(time, words)| Entry { time, words });
    prop::collection::vec((any::<bool>(), prop::collection::vec(entry, 0..20)), 0..6)
}

proptest! {
    #[test]
    fn merges_as_a_plain_merge(rings in rings()) {
        equals::<LittleEndian>(false, &rings);
        equals::<BigEndian>(true, &rings);
    }
}

#[test]
fn a_faulty_ring_ends_where_it_is_and_the_others_go_on() {
    let events = timed();
    let mut faulty = Model::new(64, 0);
    faulty.push_forward(&entry(false, Some(5), 0));
    faulty.push_forward(&record(false, 14, 3, 0));
    let mut whole = Model::new(64, 0);
    for time in [4, 5, 6] {
        whole.push_forward(&entry(false, Some(time), 0));
    }
    let mut merge = Merge::<LittleEndian>::new();
    for ring in [&faulty, &whole] {
        merge.add(Dump::new(&ring.data, Direction::Forward, 0, ring.head).unwrap(), &events);
    }
    let order: Vec<_> = merge
        .by_ref()
        .map(|next| next.map(|record| (record.position().data_file, record.time().unwrap())))
        .collect();
    let [first, second, error, rest @ ..] = &order[..] else { panic!("{order:?}") };
    assert_eq!((first, second), (&Ok((1, 4)), &Ok((0, 5))));
    let error = error.unwrap_err();
    assert_eq!(error.ring, 0);
    assert_eq!(
        (error.error.kind, error.error.position),
        (RingErrorKind::RecordSize { size: 3, unread: 8 }, 16)
    );
    assert_eq!(
        error.to_string(),
        "ring 0: position 16: header.size: is 3, but must be a multiple of 8 and not 0; the remaining 8 bytes are not read"
    );
    assert_eq!(rest, [Ok((1, 5)), Ok((1, 6))]);
    assert_eq!(merge.account(0).unwrap().unread, 8);
}

/// Two events whose samples have different layouts after their ids.
#[test]
fn ids_tell_the_event() {
    let common = SampleType::IDENTIFIER | SampleType::TIME;
    let events: Events =
        [(attr(common), vec![10, 11]), (attr(common | SampleType::CPU), vec![20])].into_iter().collect();
    let sample = |words: &[u64]| Bytes::new(false).u64s(words).record(RecordType::SAMPLE.0, 0);
    let mut one = Model::new(256, 0);
    one.push_forward(&sample(&[11, 100]));
    one.push_forward(&sample(&[20, 300, 7]));
    one.push_forward(&sample(&[99, 0]));
    let mut two = Model::new(256, 0);
    two.push_forward(&sample(&[20, 200, 6]));
    two.push_forward(&sample(&[10, 400, 1]));
    let mut merge = Merge::<LittleEndian>::new();
    for ring in [&one, &two] {
        merge.add(Dump::new(&ring.data, Direction::Forward, 0, ring.head).unwrap(), &events);
    }
    let mut seen = Vec::new();
    for record in merge {
        let record = record.unwrap();
        let cpu = record.decode().map_err(|error| error.kind).map(|record| {
            let Record::Sample(sample) = record else { panic!("not a sample") };
            (sample.time(), sample.cpu())
        });
        let unknown = cpu.as_ref().err().copied().filter(|_| record.event().is_none());
        assert_eq!(record.unknown_event(), unknown);
        seen.push((record.position().data_file, record.time(), cpu));
    }
    let kind = RecordType::SAMPLE;
    let unknown = FileErrorKind::UnknownId { kind, id: 99 };
    assert_eq!(seen.len(), 5);
    assert_eq!(seen[0], (0, Some(100), Ok((Some(100), None))));
    assert_eq!(seen[1], (1, Some(200), Ok((Some(200), Some(6)))));
    assert_eq!(seen[2], (0, Some(300), Ok((Some(300), Some(7)))));
    assert_eq!(seen[3], (0, None, Err(unknown)));
    // The first event has no CPU, so one word is left. The other records are not affected.
    assert_eq!((seen[4].0, seen[4].1), (1, Some(400)));
    assert!(matches!(seen[4].2, Err(FileErrorKind::Record { .. })));
}

/// An attr of a newer kernel: its samples cannot be decoded, but its other records can.
#[test]
fn an_attr_that_is_not_known() {
    let events: Events = [(attr(SampleType::TIME | SampleType(1 << 40)), vec![])].into_iter().collect();
    let mut ring = Model::new(64, 0);
    ring.push_forward(&entry(false, Some(1), 0));
    ring.push_forward(&Bytes::new(false).u64s(&[2, 3]).record(RecordType::SAMPLE.0, 0));
    let mut merge = Merge::<LittleEndian>::new();
    merge.add(Dump::new(&ring.data, Direction::Forward, 0, ring.head).unwrap(), &events);
    assert!(matches!(merge.next().unwrap().unwrap().decode(), Ok(Record::Switch)));
    let error = merge.next().unwrap().unwrap().decode().map(drop).unwrap_err();
    // The error has the position of its record.
    assert!(matches!((error.kind, error.offset), (FileErrorKind::Layout(_), 16)));
    assert!(merge.next().is_none());
}
