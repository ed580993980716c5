//! The cost of finding the event of a record by its id.

use perf_abi::attr::Attr;
use perf_abi::sample_type::SampleType;
use perf_parse::event::Events;

use super::Context;
use crate::capture::{Capture, Event, HEADER, Headers, kind};
use crate::failure::Failure;
use crate::floor::{Floor, Ids};
use crate::inputs::MULTI;
use crate::ours;
use crate::race::{Contestant, Work, race};
use crate::sums::Sums;
use crate::table::{Goal, Table};

const FLOOR: &str = "floor, one event";
const ONE: &str = "perf-parse, one event";
const TEN: &str = "perf-parse, ten events";

/// The fields of all samples.
const SAMPLE_TYPE: SampleType = SampleType::IDENTIFIER
    .union(SampleType::IP)
    .union(SampleType::TID)
    .union(SampleType::TIME)
    .union(SampleType::CPU)
    .union(SampleType::PERIOD);

/// Goal 4: samples of ten events take at most 1.3 times as long as samples of one event.
///
/// Both races use the same samples, with the ids of a real capture in their original order. With one event
/// there is no lookup.
pub(crate) fn run(context: &Context) -> Result<Vec<Table>, Failure> {
    let capture = Capture::read(&context.inputs.path(MULTI))?;
    let ids: Vec<Vec<u64>> = capture.events.iter().map(|event| event.ids.clone()).collect();
    let (records, bytes) = samples(&capture);
    let work = Work { records, bytes: bytes.len() as u64 };

    let ten = Events::from_iter(ids.iter().map(|ids| (attr(), ids.clone())));
    let one = Events::from_iter([(attr(), ids.concat())]);
    let floor_of = |ids: &[Vec<u64>]| {
        let template = capture.events.first();
        let event = |ids: &Vec<u64>| {
            template.map(|event| Event { ids: ids.clone(), sample_type: SAMPLE_TYPE.0, ..event.clone() })
        };
        Floor::new(&ids.iter().filter_map(event).collect::<Vec<_>>())
    };
    let (floor_ten, floor_one) = (floor_of(&ids), floor_of(&[ids.concat()]));
    // With one event, all samples belong to the first.
    let but_event = |sums: Sums| Sums { event: 0, ..sums };
    let contestants = vec![
        Contestant::whole(FLOOR, || floor_one.decode(&bytes).map(but_event)),
        Contestant::whole("floor, ten events", || floor_ten.decode(&bytes).map(but_event)),
        Contestant::new(ONE, || ours::decode(&one, &bytes).map(but_event)),
        Contestant::new(TEN, || ours::decode(&ten, &bytes).map(but_event)),
    ];
    let standings = race(contestants, context.rounds)?;
    let mut table = standings.table("Ten events against one".into(), work, FLOOR)?;
    table.judge("ten events against one", standings.ratio(TEN, ONE)?, Goal::AtMost(1.3));
    Ok(vec![table])
}

fn attr() -> Attr {
    Attr { sample_type: SAMPLE_TYPE, ..Attr::default() }
}

/// Returns samples of 56 bytes with the ids of the samples in `capture`: their number and their bytes.
fn samples(capture: &Capture) -> (u64, Vec<u8>) {
    let ids = Ids::new(&capture.events);
    let mut bytes = Vec::new();
    let mut count = 0;
    for record in Headers(capture.records()).filter(|record| kind(record) == 9) {
        let Some(id) = ids.id(&record[HEADER..]) else { continue };
        let header = 9 | 56 << 48;
        for word in [header, id, 0x5555_5555_0000 + count * 16, 4321 | 4322 << 32, count * 1000, count & 1, 1]
        {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        count += 1;
    }
    (count, bytes)
}
