//! Goal 7: draining a ring that the kernel wrote.

use std::cell::RefCell;
use std::error::Error;
use std::hint::black_box;
use std::io;
use std::slice;
use std::time::Instant;

use memmap2::{Advice, MmapMut, MmapOptions, MmapRaw};
use perf_abi::event::SwId;
use perf_abi::sample_type::SampleType;
use perf_event_open::config::{Cpu, Opts, Proc, SampleOn};
use perf_event_open::event::sw::Software;
use perf_event_open::{count, sample};
use perf_open::ring::page_bytes;
use perf_open::{Builder, Counter, EventSpec, Ring, Target};
use perf_parse::sample::Sample;

use super::Context;
use crate::allocations;
use crate::capture;
use crate::failure::Failure;
use crate::floor::{self, Floor};
use crate::ours;
use crate::peers::perf_event_open as peer;
use crate::race::{Contestant, Standing, Standings, Work, race};
use crate::sums::{Sums, add};
use crate::table::{Goal, Table};

/// The size of a ring in pages, as an exponent of two: 32 MiB.
const PAGES: u8 = 13;

/// Number of sampled page faults, which nearly fill a ring.
const FAULTS: usize = 650_000;

/// The fields of a sample of 48 bytes.
const FIELDS: SampleType = SampleType::IP
    .union(SampleType::TID)
    .union(SampleType::TIME)
    .union(SampleType::CPU)
    .union(SampleType::PERIOD);

const HOP: &str = "hop by hand over the mapping";
const FLOOR: &str = "floor over the mapping";
const OURS: &str = "perf-open, Drain::next_with_event";
const VIEW: &str = "perf-open, Sample::parse";
const PEER: &str = "perf-event-open, Iter";

pub(crate) fn run(context: &Context) -> Result<Vec<Table>, Failure> {
    let faults = if context.quick { FAULTS / 100 } else { FAULTS };
    // Without the permission to sample or to lock so much memory there is no ring.
    let first = match open() {
        Ok((counter, ring)) => over_and_over(context, &counter, ring, faults)?,
        Err(error) => return Ok(vec![not_run(&error)]),
    };
    let second = match (open(), Sampler::open()) {
        (Ok((counter, ring)), Ok(theirs)) => once_each(context, &counter, ring, &theirs, faults)?,
        (Err(error), _) => not_run(&error),
        (_, Err(error)) => not_run(&error),
    };
    Ok(vec![first, second])
}

fn not_run(error: &dyn Error) -> Table {
    Table::new(format!("A live ring: NOT RUN: {error}"), &[])
}

/// Returns an event that samples each page fault of this thread when it is enabled, and its ring.
fn open() -> Result<(Counter, Ring), perf_open::Error> {
    let counter = Builder::new(EventSpec::software(SwId::PAGE_FAULTS))
        .disabled(true)
        .exclude_kernel(true)
        .sample_period(1)
        .sample_type(FIELDS)
        .sample_id_all(true)
        .open(&Target::this_thread())?;
    let ring = Ring::map(&counter, 1 << PAGES)?;
    Ok((counter, ring))
}

/// The same event and ring, opened with perf-event-open.
struct Sampler {
    counter: count::Counter,
    sampler: sample::Sampler,
}

impl Sampler {
    fn open() -> io::Result<Self> {
        let mut opts = Opts::default();
        opts.exclude.kernel = true;
        opts.exclude.hv = true;
        opts.sample_on = SampleOn::Count(1);
        opts.sample_format.code_addr = true;
        opts.sample_format.period = true;
        opts.record_id_format.task = true;
        opts.record_id_format.time = true;
        opts.record_id_format.cpu = true;
        let counter = count::Counter::new(Software::PageFault, (Proc::CURRENT, Cpu::ALL), opts)?;
        let sampler = counter.sampler(PAGES)?;
        Ok(Self { counter, sampler })
    }
}

/// Touches this number of new pages.
fn fault(mut pages: usize) -> Result<(), Failure> {
    while pages > 0 {
        let some = pages.min(16 << 10);
        let mut fresh = MmapMut::map_anon(some * page_bytes())?;
        fresh.advise(Advice::NoHugePage)?;
        fresh.iter_mut().step_by(page_bytes()).for_each(|byte| *byte = 1);
        black_box(&fresh[0]);
        pages -= some;
    }
    Ok(())
}

/// Fills one ring once and drains it repeatedly in all ways: a cancelled drain leaves the
/// records in the ring.
fn over_and_over(context: &Context, counter: &Counter, ring: Ring, faults: usize) -> Result<Table, Failure> {
    counter.enable()?;
    fault(faults)?;
    counter.disable()?;
    let written = ring.page().data_head as usize;
    let mapping = MmapOptions::new().len(page_bytes() + ring.size()).map_raw_read_only(&ring)?;
    let records = data(&mapping, written)?;
    let layout = ring.events()[0].layout;
    let floor = Floor::new(&[capture::Event {
        attr: Vec::new(),
        ids: Vec::new(),
        sample_type: FIELDS.0,
        read_format: 0,
        sample_id_all: true,
        regs_user: 0,
        regs_intr: 0,
    }]);

    let ring = RefCell::new(ring);
    let contestants = vec![
        Contestant::bound(HOP, || floor::hop(records)),
        Contestant::bound("hop by perf-parse over the mapping", || ours::hop(records)),
        Contestant::whole(FLOOR, || floor.decode(records)),
        Contestant::bound("perf-open, Drain::next_record alone", || {
            let mut ring = ring.borrow_mut();
            let mut drain = ring.read()?;
            let mut sizes = 0;
            while let Some(record) = drain.next_record() {
                sizes += u64::from(record?.size());
            }
            drain.cancel();
            Ok::<_, Failure>(sizes)
        }),
        Contestant::new(VIEW, || {
            let mut ring = ring.borrow_mut();
            let mut drain = ring.read()?;
            let mut sums = Sums::default();
            while let Some(record) = drain.next_record() {
                ours::touch_sample(&mut sums, 0, Sample::parse(&layout, &record?)?)?;
            }
            drain.cancel();
            Ok(sums)
        }),
        Contestant::new(OURS, || {
            let mut ring = ring.borrow_mut();
            let mut drain = ring.read()?;
            let mut sums = Sums::default();
            while let Some(record) = drain.next_with_event() {
                let record = record?;
                match record.sample() {
                    Some(sample) => ours::touch_sample(&mut sums, record.event, sample)?,
                    None => ours::touch_other(&mut sums, &record.decode()?),
                }
            }
            drain.cancel();
            Ok(sums)
        }),
    ];
    let standings = race(contestants, context.rounds)?;
    let work = Work { records: written as u64 / 48, bytes: written as u64 };
    let mut table = standings.table("A live ring of 32 MiB, page faults, 48 B".into(), work, HOP)?;
    table.judge("perf-open against the hop", standings.ratio(OURS, HOP)?, Goal::AtMost(1.5));
    table.judge("the same by Sample::parse", standings.ratio(VIEW, HOP)?, Goal::AtMost(1.5));
    let ratio = standings.ratio(OURS, FLOOR)?;
    table.notes.push(format!("perf-open against the loop that touches the same fields: {ratio:.2}"));
    Ok(table)
}

/// Returns the records in a ring from which no record was removed.
fn data(mapping: &MmapRaw, written: usize) -> Result<&[u8], Failure> {
    if page_bytes() + written > mapping.len() {
        return Err(Failure::of("data_head", format!("{written} is beyond the ring")));
    }
    let start = mapping.as_ptr().wrapping_add(page_bytes());
    // SAFETY: the mapping has `written` bytes after the control page, and is borrowed as long as they are. No
    // one writes to them: the event is disabled, and a reader of the ring changes only the control page.
    Ok(unsafe { slice::from_raw_parts(start, written) })
}

/// Uses one ring per contestant, fills it before each drain, and releases the records to the kernel.
fn once_each(
    context: &Context,
    counter: &Counter,
    mut ring: Ring,
    theirs: &Sampler,
    faults: usize,
) -> Result<Table, Failure> {
    let standing = |name| Standing { name, seconds: Vec::new(), allocations: Default::default() };
    let (mut our_standing, mut their_standing) = (standing(OURS), standing(PEER));
    // One more round, as in any race, to check that all samples are found.
    for round in 0..=context.rounds {
        counter.enable()?;
        fault(faults)?;
        counter.disable()?;
        timed(&mut our_standing, round, faults, || {
            let mut drain = ring.read()?;
            let mut sums = Sums::default();
            while let Some(record) = drain.next_with_event() {
                let record = record?;
                match record.sample() {
                    Some(sample) => ours::touch_sample(&mut sums, record.event, sample)?,
                    None => ours::touch_other(&mut sums, &record.decode()?),
                }
            }
            Ok(sums)
        })?;
        theirs.counter.enable()?;
        fault(faults)?;
        theirs.counter.disable()?;
        timed(&mut their_standing, round, faults, || {
            let mut sums = Sums::default();
            for (_, record) in theirs.sampler.iter().ok_or_else(|| Failure::of(PEER, "is read already"))? {
                add(&mut sums.records, 1);
                if let sample::record::Record::Sample(sample) = &record {
                    peer::touch(&mut sums, 0, sample);
                }
            }
            Ok(sums)
        })?;
    }
    let standings = Standings(vec![our_standing, their_standing]);
    let work = Work { records: faults as u64, bytes: faults as u64 * 48 };
    standings.table("The same, a ring each, filled anew for each round".into(), work, OURS)
}

/// Measures the time of a drain, which must find every fault of this process. The few additional faults do
/// not affect the figures.
fn timed(
    standing: &mut Standing,
    round: usize,
    faults: usize,
    drain: impl FnOnce() -> Result<Sums, Failure>,
) -> Result<(), Failure> {
    let start = Instant::now();
    let (sums, allocations) = allocations::during(drain);
    let seconds = start.elapsed().as_secs_f64();
    let sums = black_box(sums.map_err(|failure| Failure::of(standing.name, failure))?);
    let of_this_process = u64::from(std::process::id()) * sums.samples;
    let chance = faults as u64 / 100 + 100;
    if !(faults as u64..=faults as u64 + chance).contains(&sums.samples) || sums.pid != of_this_process {
        return Err(Failure::of(standing.name, format!("{faults} page faults, but found {sums:#?}")));
    }
    match round {
        0 => standing.allocations = allocations,
        _ => standing.seconds.push(seconds),
    }
    Ok(())
}
