//! The records among the others by which simpleperf describes a capture, as a repair writes them.

use alloc::vec::Vec;

use perf_abi::endian::Endian;
use perf_abi::record::{RecordType, SimpleperfHeader};
use zerocopy::IntoBytes;

use crate::event::Events;
use crate::feature::codec::put_word;
use crate::file::write::with_order;
use crate::record::{RawRecord, Record, SplitJoiner, UserRecord};

/// What a repair does with a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DescriptionPart {
    /// It is copied. So are all records that describe nothing.
    Whole,
    /// These bytes are written in its place: what is right of it, or the record whose last piece it is.
    Bytes(Vec<u8>),
    /// It is not written: it is a section of the output, or a piece.
    Elsewhere,
    /// It is left out. The walk has noted why.
    Wrong,
    /// It is left out, as it comes after records that it describes: formats of tracepoints must be a section.
    Late,
}

/// The records that describe a capture, and their pieces.
#[derive(Debug)]
pub(super) struct Descriptions {
    pieces: SplitJoiner,
    /// Whether the output has the formats of tracepoints, or they were left out of it.
    has_tracing_data: bool,
}

impl Descriptions {
    pub(super) fn new(has_tracing_data: bool) -> Self {
        Self { pieces: SplitJoiner::of_descriptions(), has_tracing_data }
    }

    /// Returns what is written of a record, which was applied to the events.
    pub(super) fn part(&mut self, record: &RawRecord<'_>, events: &Events) -> DescriptionPart {
        if !matches!(record.kind(), RecordType::SPLIT | RecordType::SPLIT_END) {
            return part(record, events, self.has_tracing_data);
        }
        match self.pieces.push(record) {
            Ok(Some(joined)) => {
                return match part(&joined, events, self.has_tracing_data) {
                    DescriptionPart::Whole => DescriptionPart::Bytes(Vec::from(joined.as_bytes())),
                    part => part,
                };
            }
            Ok(None) => {}
            Err(_) => return DescriptionPart::Wrong,
        }
        if self.pieces.is_joining() { DescriptionPart::Elsewhere } else { DescriptionPart::Whole }
    }
}

fn part(record: &RawRecord<'_>, events: &Events, has_tracing_data: bool) -> DescriptionPart {
    match record.kind() {
        RecordType::TRACING_DATA if has_tracing_data => DescriptionPart::Elsewhere,
        RecordType::TRACING_DATA => DescriptionPart::Late,
        RecordType::EVENT_ID => ids(record, events),
        _ => DescriptionPart::Whole,
    }
}

/// Returns the ids that are those of their events.
fn ids(record: &RawRecord<'_>, events: &Events) -> DescriptionPart {
    let Ok(Record::User(UserRecord::EventId(it), _)) = record.decode_user() else {
        return DescriptionPart::Wrong;
    };
    let is_right = |index: u64, id| events.index_of_id(id).is_some_and(|of_id| of_id as u64 == index);
    let (mut right, mut all) = (Vec::new(), 0_usize);
    for entry in it.entries.iter() {
        all = all.saturating_add(1);
        if is_right(entry.attr_id, entry.event_id) {
            right.extend([entry.attr_id, entry.event_id]);
        }
    }
    if right.len() / 2 == all {
        return DescriptionPart::Whole;
    }
    if right.is_empty() {
        return DescriptionPart::Wrong;
    }
    DescriptionPart::Bytes(with_order!(record.endianness(), O => event_id::<O>(&right)))
}

/// Returns an EVENT_ID record of pairs of an index and an id.
fn event_id<O: Endian>(ids: &[u64]) -> Vec<u8> {
    // The header, the number, and two words for each id.
    let size = u32::try_from(ids.len()).unwrap_or(u32::MAX).saturating_mul(8).saturating_add(16);
    let mut bytes = SimpleperfHeader::<O>::new(RecordType::EVENT_ID, size).as_bytes().to_vec();
    put_word::<O>(&mut bytes, (ids.len() / 2) as u64);
    ids.iter().for_each(|&word| put_word::<O>(&mut bytes, word));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_abi::attr::Attr;
    use perf_abi::endian::Endianness;

    fn record(order: Endianness, entries: &[[u64; 2]]) -> Vec<u8> {
        let size = 16 + 16 * entries.len() as u16;
        let big = order == Endianness::Big;
        let word = |word: u64| if big { word.to_be_bytes() } else { word.to_le_bytes() };
        let kind = if big { [0, 0, 0x80, 6] } else { [6, 0x80, 0, 0] };
        let size = if big { size.to_be_bytes() } else { size.to_le_bytes() };
        let mut bytes = [&kind[..], &[0, 0], &size, &word(entries.len() as u64)].concat();
        bytes.extend(entries.iter().flatten().flat_map(|&it| word(it)));
        bytes
    }

    #[test]
    fn wrong_ids_are_left_out() {
        let events: Events =
            [(Attr::default(), alloc::vec![7, 8]), (Attr::default(), alloc::vec![9])].into_iter().collect();
        let mut descriptions = Descriptions::new(false);
        for order in [Endianness::Little, Endianness::Big] {
            let mut part = |entries: &[[u64; 2]]| {
                let bytes = record(order, entries);
                descriptions.part(&RawRecord::parse_in(order, &bytes).unwrap().0, &events)
            };
            assert_eq!(part(&[[0, 7], [1, 9]]), DescriptionPart::Whole);
            assert_eq!(
                part(&[[0, 7], [2, 5], [1, 8], [1, 9]]),
                DescriptionPart::Bytes(record(order, &[[0, 7], [1, 9]]))
            );
            assert_eq!(part(&[[2, 7]]), DescriptionPart::Wrong);
        }
    }

    #[test]
    fn pieces_are_written_as_one() {
        let events: Events = [(Attr::default(), alloc::vec![7])].into_iter().collect();
        let whole = record(Endianness::Little, &[[0, 7]]);
        let piece = |bytes: &[u8]| [&[4, 0x80, 0, 0, 0, 0, 8 + bytes.len() as u8, 0], bytes].concat();
        let end = [5, 0x80, 0, 0, 0, 0, 8, 0];
        let mut descriptions = Descriptions::new(false);
        let mut part = |bytes: &[u8]| {
            descriptions.part(&RawRecord::parse_in(Endianness::Little, bytes).unwrap().0, &events)
        };
        assert_eq!(part(&piece(&whole[..16])), DescriptionPart::Elsewhere);
        assert_eq!(part(&piece(&whole[16..])), DescriptionPart::Elsewhere);
        assert_eq!(part(&end), DescriptionPart::Bytes(whole.clone()));
        // The end of nothing, and pieces of a record that describes nothing.
        assert_eq!(part(&end), DescriptionPart::Whole);
        assert_eq!(
            part(&piece(&[10, 0x80, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0])),
            DescriptionPart::Whole
        );
        assert_eq!(part(&end), DescriptionPart::Whole);
        // More bytes than the record has.
        assert_eq!(part(&piece(&[&whole[..], &[0; 8]].concat())), DescriptionPart::Wrong);
    }

    #[test]
    fn formats_are_a_section() {
        let bytes = [9, 0x80, 0, 0, 0, 0, 16, 0, 1, 0, 0, 0, b'x', 0, 0, 0];
        let (record, _) = RawRecord::parse_in(Endianness::Little, &bytes).unwrap();
        let part = |has| Descriptions::new(has).part(&record, &Events::default());
        assert_eq!([part(true), part(false)], [DescriptionPart::Elsewhere, DescriptionPart::Late]);
    }
}
