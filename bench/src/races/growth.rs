//! Growth: the cost of a record does not depend on the size of the capture or the number of events, and the
//! cost of a call chain entry does not depend on the length of the chain.

use perf_abi::attr::Attr;
use perf_abi::callchain::CallchainContext;
use perf_abi::endian::{Endianness, LittleEndian};
use perf_abi::record::{CpuMode, Header, Misc, RecordType};
use perf_abi::sample_type::SampleType;
use perf_parse::event::Events;
use perf_parse::write::{self, SampleFields};
use perf_parse::{Reader, SampleLayout};
use zerocopy::IntoBytes;

use super::Context;
use crate::failure::Failure;
use crate::ours;
use crate::race::{Contestant, Standings, median, race};
use crate::table::{Goal, Table};

/// The fields of a sample of 48 bytes.
pub(super) const FIELDS: SampleType = SampleType::IP
    .union(SampleType::TID)
    .union(SampleType::TIME)
    .union(SampleType::CPU)
    .union(SampleType::PERIOD);

/// Number of CPUs, and of ids of each event: one per CPU.
const CPUS: u64 = 2;

/// Samples of all CPUs between two FINISHED_ROUND records.
const ROUND: u64 = 20_000;

/// The first id of an event.
pub(super) const FIRST_ID: u64 = 1000;

/// The goal for a record of the largest capture against one of the smallest, and for an entry of the longest
/// chain against one of the shortest.
const STEADY: Goal = Goal::AtMost(1.15);

/// The goal for a record with a lookup of its id against a record of the only event.
const BY_ID: Goal = Goal::AtMost(1.3);

pub(crate) fn run(context: &Context) -> Result<Vec<Table>, Failure> {
    let mut tables = sizes(context)?;
    tables.push(events(context)?);
    tables.extend(chains(context)?);
    Ok(tables)
}

/// Races over 1, 4 and 16 million samples of 48 bytes, in the order of the capture and in time order.
fn sizes(context: &Context) -> Result<Vec<Table>, Failure> {
    let million = if context.quick { ROUND } else { 1_000_000 };
    let attr = Attr { sample_type: FIELDS, ..Attr::default() };
    let events = Events::from_iter([(attr, vec![FIRST_ID])]);
    // The smaller captures are prefixes of the largest.
    let records = samples(&attr, CPUS, 16 * million, 48, |_, _| {})?;
    let times = [1, 4, 16];
    let part = |times: u64| &records[..records.len() / 16 * times as usize];
    let names = ["1 million", "4 million", "16 million"];

    let mut tables = Vec::new();
    for (order, in_time_order) in [("in capture order", false), ("by time", true)] {
        let parts = names.into_iter().zip(times);
        let contestants = parts.map(|(name, times)| pass(name, &events, part(times), in_time_order));
        let standings = race(contestants.collect::<Result<_, _>>()?, context.rounds)?;
        let counts = times.map(|times| times * million);
        let mut table =
            table(format!("Growth: samples of 48 bytes, {order}"), "a record", &standings, &counts);
        table.judge("16 million against 1 million, a record", over_first(&standings, &counts, 2), STEADY);
        tables.push(table);
    }
    Ok(tables)
}

/// Races over samples of one, ten and a hundred events, found by their ids.
fn events(context: &Context) -> Result<Table, Failure> {
    let count = if context.quick { ROUND } else { 1_000_000 };
    let captures = [1, 10, 100].into_iter().map(|number| samples_by_id(number, count));
    let captures = captures.collect::<Result<Vec<_>, _>>()?;
    let contestants = ["1 event", "10 events", "100 events"].into_iter().zip(&captures);
    let contestants = contestants.map(|(name, (events, records))| pass(name, events, records, false));
    let standings = race(contestants.collect::<Result<_, _>>()?, context.rounds)?;
    let counts = [count; 3];
    let mut table = table("Growth: events found by id".into(), "a record", &standings, &counts);
    table.judge("10 events against one, a record", over_first(&standings, &counts, 1), BY_ID);
    table.judge("100 events against one, a record", over_first(&standings, &counts, 2), BY_ID);
    Ok(table)
}

/// Races over samples with call chains of 8 and of 127 entries. The total number of entries is the same.
fn chains(context: &Context) -> Result<[Table; 2], Failure> {
    let lengths = [8, 127];
    let all = if context.quick { 8 * 127 * 10 } else { 8 * 127 * 8192 };
    let attr = Attr { sample_type: FIELDS | SampleType::CALLCHAIN, ..Attr::default() };
    let events = Events::from_iter([(attr, vec![FIRST_ID])]);
    let mut captures = Vec::new();
    for length in lengths {
        captures.push(samples(&attr, CPUS, all / length, 56 + 8 * length as usize, |n, fields| {
            let mut chain = vec![CallchainContext::USER.0];
            chain.extend((1..length).map(|depth| 0x5555_5555_0000 + (n * 31 + depth * 0x123) % 0x10_0000));
            fields.callchain = Some(chain);
        })?);
    }
    let contestants = ["8 entries", "127 entries"].into_iter().zip(&captures);
    let contestants = contestants.map(|(name, records)| pass(name, &events, records, false));
    let standings = race(contestants.collect::<Result<_, _>>()?, context.rounds)?;
    let counts = lengths.map(|length| all / length);
    let records = table("Growth: call chains, by record".into(), "a record", &standings, &counts);
    let mut entries = table("Growth: call chains, by entry".into(), "an entry", &standings, &[all; 2]);
    entries.judge("127 entries against 8, an entry", over_first(&standings, &[all; 2], 1), STEADY);
    Ok([records, entries])
}

/// Returns `count` samples of `size` bytes of one event on some CPUs. The times of the CPUs interleave, but
/// each round has the samples of one CPU after those of another, as perf writes them. `more` adds fields
/// that only some samples have.
pub(super) fn samples(
    attr: &Attr,
    cpus: u64,
    count: u64,
    size: usize,
    more: impl Fn(u64, &mut SampleFields),
) -> Result<Vec<u8>, Failure> {
    let layout = SampleLayout::new(attr)?;
    let round = Header::<LittleEndian>::new(RecordType::FINISHED_ROUND, Misc(0), 8);
    // One allocation: a vector that grows holds its bytes twice.
    let mut records = Vec::with_capacity(count as usize * size + count.div_ceil(ROUND) as usize * 8);
    for start in (0..count).step_by(ROUND as usize) {
        let end = count.min(start + ROUND);
        for cpu in 0..cpus {
            for n in (start + cpu..end).step_by(cpus as usize) {
                let mut fields = SampleFields {
                    ip: Some(0x40_1000 + n * 0x9e37 % 0x10_0000),
                    pid_tid: Some((1000, 1000 + cpu as i32)),
                    time: Some(1_000_000_000 + n * 250),
                    cpu: Some(cpu as u32),
                    period: Some(1 + n % 1000),
                    ..SampleFields::default()
                };
                more(n, &mut fields);
                write::sample::<LittleEndian>(&mut records, &layout, CpuMode::USER.into(), &fields)?;
            }
        }
        records.extend_from_slice(round.as_bytes());
    }
    Ok(records)
}

/// Returns a number of events, each with an id for each CPU, and `count` samples of 56 bytes that name their event by id.
pub(super) fn samples_by_id(number: u64, count: u64) -> Result<(Events, Vec<u8>), Failure> {
    let attr = Attr { sample_type: FIELDS | SampleType::IDENTIFIER, ..Attr::default() };
    let ids = |event| (0..CPUS).map(|cpu| FIRST_ID + event * CPUS + cpu).collect();
    let events = (0..number).map(|event| (attr, ids(event))).collect();
    // The order must not be predictable for a branch predictor.
    let records = samples(&attr, CPUS, count, 56, |n, fields| {
        let at = (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % (number * CPUS);
        fields.identifier = Some(FIRST_ID + at);
    })?;
    Ok((events, records))
}

/// Returns a contestant that reads all records with a [`Reader`] and must find the same sums
/// as the plain walk.
pub(super) fn pass<'a>(
    name: &'static str,
    events: &'a Events,
    records: &'a [u8],
    in_time_order: bool,
) -> Result<Contestant<'a, ()>, Failure> {
    let expected = ours::decode(events, records)?;
    Ok(Contestant::new(name, move || {
        let reader = Reader::from_records(events.clone(), Endianness::Little, records);
        let records = reader.records();
        let found = ours::all(if in_time_order { records.in_time_order() } else { records })?;
        if found == expected {
            Ok(())
        } else {
            Err(Failure(format!("found {found:#?}\nwhere the walk over the records found {expected:#?}")))
        }
    }))
}

/// Returns the ratio of a contestant's time per unit to that of the first contestant.
pub(super) fn over_first(standings: &Standings, units: &[u64], contestant: usize) -> f64 {
    let (this, first) = (&standings.0[contestant], &standings.0[0]);
    this.over(first) * units[0] as f64 / units[contestant] as f64
}

/// Returns a table of each contestant's time per unit.
pub(super) fn table(title: String, a_unit: &str, standings: &Standings, units: &[u64]) -> Table {
    let head = ["", "of", &format!("ns {a_unit}"), "min-max", "x first"];
    let mut table = Table::new(title, &head);
    for (index, (standing, &count)) in standings.0.iter().zip(units).enumerate() {
        let nanoseconds = standing.seconds.iter().map(|seconds| seconds * 1e9 / count as f64);
        let all: Vec<f64> = nanoseconds.collect();
        let least = all.iter().copied().fold(f64::INFINITY, f64::min);
        let most = all.iter().copied().fold(0.0, f64::max);
        table.rows.push(vec![
            standing.name.to_owned(),
            count.to_string(),
            format!("{:.2}", median(all)),
            format!("{least:.2}-{most:.2}"),
            format!("{:.2}", over_first(standings, units, index)),
        ]);
    }
    table
}
