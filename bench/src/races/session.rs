//! A session: the cost of a sample and of a frame over decoding, with a thousand processes of a hundred mappings each.

use std::cell::RefCell;
use std::hint::black_box;

use perf_abi::endian::Endianness;
use perf_parse::event::Events;
use perf_parse::sample::ChainFrame;
use perf_parse::{EventRecord, Reader, Sample};
use perf_session::{Mapping, Session};

use super::Context;
use crate::capture::{self, Capture};
use crate::failure::Failure;
use crate::inputs::MACHINE;
use crate::processes::{self, Chain, PAIRS, RUNS, Shape};
use crate::race::{Contestant, Standings, Work, median, race};
use crate::sums::{Sums, add, add_some};
use crate::table::{Goal, Table};

const DECODE: &str = "decode";
const SESSION: &str = "session";
const IN_ORDER: &str = "time order";

/// The goals in nanoseconds over decoding: a sample with its instruction pointer, and a further frame.
const A_SAMPLE: Goal = Goal::AtMost(40.0);
const A_FRAME: Goal = Goal::AtMost(8.0);

/// The goal for a system-wide capture, against its time order alone.
const OF_ORDER: Goal = Goal::AtMost(4.0);

/// At most 40 ns a sample and 8 ns a frame over decoding. A system-wide capture at most 4 times its time order.
pub(crate) fn run(context: &Context) -> Result<Vec<Table>, Failure> {
    let mut tables = Vec::new();
    for (what, is_local, chain) in [
        ("processes and mappings repeat as in real captures", true, RUNS),
        ("any process and any mapping in each sample", false, PAIRS),
    ] {
        let shape = Shape::new(is_local);
        let (mut table, of_samples) = one(context, &shape, what)?;
        table.judge("ns a sample over decoding", of_samples, A_SAMPLE);
        tables.push(table);
        let what = format!("{what}, call chains of {} + {} frames", chain.kernel, chain.user);
        let (mut table, of_stacks) = one(context, &Shape { chain: Some(chain), ..shape }, &what)?;
        // The first frame is the one that a sample without a chain has, too.
        let frames = (chain.frames() - 1) as f64;
        table.judge("ns a frame over decoding", (of_stacks - of_samples) / frames, A_FRAME);
        tables.push(table);
    }
    tables.push(system(context)?);
    Ok(tables)
}

/// A system-wide capture: at most 4 times the time that it takes in time order alone.
fn system(context: &Context) -> Result<Table, Failure> {
    let path = context.inputs.path(MACHINE);
    let work = Capture::read(&path)?.work();
    let file = capture::map(&path)?;
    let contestants =
        vec![Contestant::new(IN_ORDER, || in_order(&file)), Contestant::new(SESSION, || through(&file))];
    let standings = race(contestants, context.rounds)?;
    let mut table = standings.table(format!("Session: {}", MACHINE.what), work, IN_ORDER)?;
    table.judge("with a session against time order alone", standings.ratio(SESSION, IN_ORDER)?, OF_ORDER);
    Ok(table)
}

/// The samples of a capture in time order. Other records are read, and not decoded.
fn in_order(file: &[u8]) -> Result<Sums, Failure> {
    let mut sums = Sums::default();
    for record in Reader::new(file)?.records().in_time_order() {
        let record = record?;
        let Some(sample) = record.sample() else { continue };
        leading(&mut sums, &sample);
        frames(&mut sums, &record, &sample)?;
    }
    Ok(sums)
}

/// The same with a session that knows nothing in the beginning.
fn through(file: &[u8]) -> Result<Sums, Failure> {
    let mut sums = Sums::default();
    let reader = Reader::new(file)?;
    let mut session = Session::new();
    session.add_features(reader.features());
    for record in reader.records().in_time_order() {
        let record = record?;
        let Some(at) = session.update_at(&record)? else { continue };
        leading(&mut sums, &at.sample());
        black_box(at.thread().comm().len());
        for frame in at.stack(None)? {
            black_box(frame.mapping.map(Mapping::pgoff));
            of_frame(&mut sums, frame.ip);
        }
    }
    Ok(sums)
}

/// Returns the table, and the nanoseconds of a sample over decoding: the median of all rounds.
fn one(context: &Context, shape: &Shape, what: &str) -> Result<(Table, f64), Failure> {
    let frames = shape.chain.as_ref().map_or(1, Chain::frames);
    // Few samples with long chains take the time of many without.
    let samples = if context.quick { 4096 } else { 4_000_000 / frames };
    let events = processes::events(shape);
    let records = processes::samples(&events, shape, samples);
    let session = RefCell::new(processes::session(&events, shape));
    let contestants = vec![
        Contestant::new(DECODE, || decode(&events, &records)),
        Contestant::new(SESSION, || with_session(&events, &records, &mut session.borrow_mut())),
    ];
    let standings = race(contestants, context.rounds)?;
    let work = Work { records: samples, bytes: records.len() as u64 };
    let table = standings.table(format!("Session: {what}"), work, DECODE)?;
    Ok((table, over(&standings, samples)?))
}

/// Returns the nanoseconds of a sample that the session adds.
fn over(standings: &Standings, samples: u64) -> Result<f64, Failure> {
    let (session, decode) = (standings.of(SESSION)?, standings.of(DECODE)?);
    let rounds = session.seconds.iter().zip(&decode.seconds);
    Ok(median(rounds.map(|(session, decode)| (session - decode) * 1e9 / samples as f64).collect()))
}

fn decode(events: &Events, records: &[u8]) -> Result<Sums, Failure> {
    let mut sums = Sums::default();
    for record in Reader::from_records(events.clone(), Endianness::Little, records).records() {
        let record = record?;
        let sample = record.sample().ok_or_else(not_a_sample)?;
        leading(&mut sums, &sample);
        frames(&mut sums, &record, &sample)?;
    }
    Ok(sums)
}

#[inline(always)]
fn frames(sums: &mut Sums, record: &EventRecord<'_>, sample: &Sample<'_>) -> Result<(), Failure> {
    match record.callchain()? {
        Some(chain) => chain.frames().for_each(|frame| {
            if let ChainFrame::Ip { ip, .. } = frame {
                of_frame(sums, ip);
            }
        }),
        None => of_frame(sums, sample.ip().unwrap_or_default()),
    }
    Ok(())
}

/// The same with a session: the thread of each sample, and the mapping of each frame.
pub(super) fn with_session(events: &Events, records: &[u8], session: &mut Session) -> Result<Sums, Failure> {
    let mut sums = Sums::default();
    for record in Reader::from_records(events.clone(), Endianness::Little, records).records() {
        let record = record?;
        let at = session.update_at(&record)?.ok_or_else(not_a_sample)?;
        leading(&mut sums, &at.sample());
        black_box(at.thread().comm().len());
        for frame in at.stack(None)? {
            black_box(frame.mapping.ok_or_else(|| Failure("a frame has no mapping".into()))?.pgoff());
            of_frame(&mut sums, frame.ip);
        }
    }
    Ok(sums)
}

fn not_a_sample() -> Failure {
    Failure("a record is not a sample".into())
}

#[inline(always)]
fn leading(sums: &mut Sums, sample: &Sample<'_>) {
    sums.samples += 1;
    add_some(&mut sums.ip, sample.ip());
    add_some(&mut sums.pid, sample.pid().map(|pid| pid as u32));
    add_some(&mut sums.tid, sample.tid().map(|tid| tid as u32));
    add_some(&mut sums.time, sample.time());
    add_some(&mut sums.cpu, sample.cpu());
    add_some(&mut sums.period, sample.period());
}

#[inline(always)]
fn of_frame(sums: &mut Sums, ip: u64) {
    sums.frames += 1;
    add(&mut sums.callchain, ip);
}
