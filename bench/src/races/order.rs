//! Order: the cost of a record in time order without rounds, for ascending, descending and random times.

use perf_abi::attr::Attr;
use perf_abi::endian::{Endianness, LittleEndian};
use perf_abi::record::CpuMode;
use perf_abi::sample_type::SampleType;
use perf_parse::event::Events;
use perf_parse::file::Limits;
use perf_parse::write::{self, SampleFields};
use perf_parse::{Reader, SampleLayout};

use super::Context;
use super::growth::{over_first, table};
use crate::failure::Failure;
use crate::race::{Contestant, race};
use crate::table::{Goal, Table};

/// The goal for a record of the largest capture against one of the smallest. Sorting n records takes n log n steps, and
/// larger captures do not fit into the processor's caches.
const STEADY: Goal = Goal::AtMost(4.0);

/// Number of clocks that interleave, record by record.
const CLOCKS: u64 = 65_536;

/// Returns the time of record `n` of `count` records.
type Time = fn(n: u64, count: u64) -> u64;

const PATTERNS: [(&str, Time); 6] = [
    ("ascending", |n, _| 1 + n),
    ("equal", |_, _| 1),
    ("descending", |n, count| count - n),
    ("zigzag", |n, count| if n % 2 == 0 { 1 + n } else { count - n }),
    ("65,536 clocks interleaved", |n, _| 1 + mixed(n % CLOCKS) % 1_000_000_000 + n),
    ("random", |n, count| 1 + mixed(n) % count),
];

/// Returns a pseudorandom number for `n`, so that a processor cannot predict the order.
fn mixed(n: u64) -> u64 {
    let n = (n ^ n >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (n ^ n >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 16
}

/// Races over 1, 4 and 16 million samples of 32 bytes, for each pattern of times.
pub(crate) fn run(context: &Context) -> Result<Vec<Table>, Failure> {
    // With small captures, the limit of held records is small too, so that it is still reached.
    let (million, limits) = if context.quick {
        let mut limits = Limits::default();
        limits.held_records = 4096;
        (1000, limits)
    } else {
        (1_000_000, Limits::default())
    };
    PATTERNS.iter().map(|&(name, time)| one(context, name, time, million, &limits)).collect()
}

fn one(
    context: &Context,
    pattern: &str,
    time: Time,
    million: u64,
    limits: &Limits,
) -> Result<Table, Failure> {
    let attr =
        Attr { sample_type: SampleType::IP | SampleType::TIME | SampleType::PERIOD, ..Attr::default() };
    let events = Events::from_iter([(attr, vec![])]);
    let counts = [1, 4, 16].map(|times| times * million);
    let mut captures = Vec::new();
    for count in counts {
        captures.push(samples(&attr, count, time)?);
    }
    let contestants = ["1 million", "4 million", "16 million"].into_iter().zip(&captures);
    let contestants = contestants.map(|(name, records)| {
        Contestant::new(name, || {
            by_time(&Reader::from_records_within(events.clone(), Endianness::Little, records, limits))
        })
    });
    let standings = race(contestants.collect(), context.rounds)?;
    let mut table =
        table(format!("Order: samples of 32 bytes, times {pattern}"), "a record", &standings, &counts);
    table.judge("16 million against 1 million, a record", over_first(&standings, &counts, 2), STEADY);
    Ok(table)
}

fn samples(attr: &Attr, count: u64, time: Time) -> Result<Vec<u8>, Failure> {
    let layout = SampleLayout::new(attr)?;
    // One allocation: a vector that grows holds its bytes twice.
    let mut records = Vec::with_capacity(count as usize * 32);
    for n in 0..count {
        let (time, period) = (Some(time(n, count)), Some(n));
        let fields = SampleFields { ip: Some(0x40_1000), time, period, ..SampleFields::default() };
        write::sample::<LittleEndian>(&mut records, &layout, CpuMode::USER.into(), &fields)?;
    }
    Ok(records)
}

/// Reads all records in time order. The account must count exactly the records that are earlier than a previous one.
fn by_time(reader: &Reader<'_>) -> Result<(), Failure> {
    let mut records = reader.records().in_time_order();
    let (mut latest, mut late) = (0, 0);
    for record in &mut records {
        let time = record?.time().unwrap_or_default();
        late += u64::from(time < latest);
        latest = latest.max(time);
    }
    let said = records.account().late;
    if late == said {
        Ok(())
    } else {
        Err(Failure(format!("{late} records are late, but the account counts {said}")))
    }
}
