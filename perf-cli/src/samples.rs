//! The walk over the samples of a capture, in time order, with what is known of their processes.

mod blocks;
mod filter;
mod walk;

use alloc::sync::Arc;
use core::cell::RefCell;
use core::num::NonZero;
use std::thread::{self, Scope};

use perf_abi::sample_type::SampleType;
use perf_parse::event::Event;
use perf_parse::file::{EventRecords, Reader};
use perf_parse::{EventRecord, FileError, Index};
use perf_profile::tracepoints::TracepointTexts;
use perf_profile::work::in_order::in_order;
use perf_profile::work::turns::Turns;
use perf_profile::{StackPart, Symbols, event_name, has_copies};
use perf_session::{At, Session};

use crate::Failure;
use crate::args::only::OnlyArgs;
use crate::escape::OneLine;
use crate::input::Memory;
use crate::output::Diagnostics;
use crate::progress::Progress;
use crate::spans::Spans;
pub(crate) use blocks::{Collect, Found, Stack, Wanted, has_stack};
pub(crate) use filter::Filter;
pub(crate) use walk::{Walk, Walked};

/// What a verb does with the records of a capture.
pub(crate) trait Visit<'r> {
    /// Takes a sample that is selected.
    fn sample(
        &mut self,
        at: &At<'_, '_>,
        counted: &Counted<'_>,
        names: &mut Symbols,
        records: &EventRecords<'_>,
    ) -> Visited;

    /// Sees each sample before it is selected or not.
    fn before(&mut self, _at: &At<'_, '_>, _record: &EventRecord<'r>) {}

    /// Takes a sample of the selected times, CPUs and events, but not of the selected threads, files and functions.
    fn filtered(&mut self, _at: &At<'_, '_>, _counted: &Counted<'_>, _names: &mut Symbols) -> Visited {
        Ok(Ok(()))
    }

    /// Takes a record that is not a sample, after the session did.
    fn other(
        &mut self,
        _record: &EventRecord<'r>,
        _session: &Session,
        _filter: &Filter<'_>,
        _records: &EventRecords<'_>,
    ) -> Visited {
        Ok(Ok(()))
    }

    /// Whether a sample that reads several counters is passed once, as the sample of its event, and not once for each counter.
    const TAKES_GROUPS: bool = false;

    /// Ends a step of the walk. Returns whether the walk goes on.
    fn goes_on(&mut self) -> Result<bool, Failure> {
        Ok(true)
    }
}

/// The inner result is a fault of the record. The outer one ends the run.
pub(crate) type Visited = Result<Result<(), FileError>, Failure>;

/// A sample of an event, or the part of a sample that one event of a group has.
#[derive(Debug)]
pub(crate) struct Counted<'a> {
    pub(crate) event: &'a Arc<Event>,
    pub(crate) period: u64,
    /// The user part of its call chain that came in a later record.
    pub(crate) user: Option<&'a [u64]>,
}

/// The samples of a capture.
#[derive(Debug)]
pub(crate) struct Samples<'a, 'b> {
    reader: &'a Reader<'b>,
    size: u64,
    filter: Filter<'a>,
    /// The index beside the capture, if only samples of some times are needed.
    index: Option<Index>,
    threads: NonZero<usize>,
}

impl<'a, 'b> Samples<'a, 'b> {
    /// Selects samples of a capture.
    ///
    /// # Errors
    ///
    /// What is wrong with the selection.
    pub(crate) fn new(
        reader: &'a Reader<'b>,
        memory: Memory<'_>,
        only: &'a OnlyArgs,
    ) -> Result<Self, Failure> {
        let spans = Spans::new(reader, only.time.as_deref())?;
        let filter = Filter::new(only, reader, spans)?;
        check_cpus(reader.events(), only)?;
        // A counter is compared with its value in the sample before, whether that is selected or not.
        let counts = |event: &Arc<Event>| event.attr.sample_type.contains(SampleType::READ);
        let may_leave_out = only.time.is_some() && !reader.events().iter().any(counts);
        let index = if may_leave_out { crate::index::of(reader, memory) } else { None };
        Ok(Self { reader, size: memory.size, filter, index, threads: NonZero::<usize>::MIN })
    }

    /// Has all samples read, not only those that are selected, if `is_needed`.
    pub(crate) fn all_if(mut self, is_needed: bool) -> Self {
        self.index.take_if(|_| is_needed);
        self
    }

    /// Permits so many threads: with more than one, compressed records are decompressed ahead, and others ordered.
    pub(crate) fn threads(self, threads: NonZero<usize>) -> Self {
        Self { threads, ..self }
    }

    /// Passes all records to `visitor`, and returns what is left at the end; `None` if the visitor ended the walk.
    ///
    /// # Errors
    ///
    /// Those of the visitor.
    pub(crate) fn walk<V: Visit<'a>>(
        self,
        names: Symbols,
        visitor: &mut V,
    ) -> Result<Option<Walked<'a>>, Failure> {
        let mut diagnostics = Diagnostics::new();
        thread::scope(|scope| {
            let mut walk = self.begin(scope, names, false);
            loop {
                let may_be_more = walk.step(visitor)?;
                diagnostics.report_new(walk.account());
                if !visitor.goes_on()? {
                    return Ok(None);
                }
                if !may_be_more {
                    return Ok(Some(walk.end(diagnostics)));
                }
            }
        })
    }

    /// Returns whether the capture has events with copies of stacks.
    fn has_copies(&self) -> bool {
        self.reader.events().iter().any(|event| has_copies(event))
    }

    /// Returns how many of the threads find stacks; 1 if a [walk](Self::walk) on one thread is as fast.
    ///
    /// Unwound stacks take long to find, and symbols are loaded before most of them are. Call chains do not: of three
    /// threads, one has enough to do with the records and with counting, and another one loads symbols.
    pub(crate) fn walkers(&self, loads_ahead: bool) -> NonZero<usize> {
        if self.has_copies() {
            return self.threads;
        }
        let walkers = self.threads.get() - usize::from(loads_ahead);
        NonZero::new(walkers).filter(|it| it.get() >= FEW).unwrap_or(NonZero::<usize>::MIN)
    }

    /// Does what [`walk`](Self::walk) does, on several threads. They have parts like `part`, and write the texts of
    /// tracepoints with `traces`.
    ///
    /// # Errors
    ///
    /// What ended the walk.
    pub(crate) fn walk_by_blocks<C: Collect<'a>>(
        self,
        names: Symbols,
        part: StackPart,
        traces: Option<TracepointTexts<'a>>,
        collect: &mut C,
        threads: NonZero<usize>,
    ) -> Result<Walked<'a>, Failure> {
        let is_stream = !self.reader.can_walk_again();
        let earlier = self.has_copies().then(|| Turns::new(names.earlier()));
        let mut worker = blocks::Worker::new(names.clone(), part, traces);
        thread::scope(|scope| {
            let walk = self.begin(scope, names, false);
            let walking = RefCell::new(blocks::Walking::new(walk, is_stream, collect));
            in_order(
                threads.min(blocks::THREADS),
                &mut worker,
                |block| walking.borrow_mut().fill(block),
                |worker, block| worker.work(block, earlier.as_ref()),
                |_, block| {
                    walking.borrow_mut().count(block);
                    Ok::<_, Failure>(true)
                },
                |_, _| {},
            )?;
            walking.into_inner().end()
        })
    }

    /// Begins a walk, which should end in the scope of the threads that it needs. `prints` is whether there is output during
    /// the walk.
    pub(crate) fn begin<'scope>(
        self,
        scope: &'scope Scope<'scope, '_>,
        names: Symbols,
        prints: bool,
    ) -> Walk<'a>
    where
        'a: 'scope,
    {
        let Self { reader, size, filter, index, threads } = self;
        let indexed = index.and_then(|index| index.walk(reader, |part| filter.may_be_in(part)));
        let mut records = indexed.unwrap_or_else(|| reader.records()).in_time_order();
        if threads.get() > 1 {
            records = records.decompress_ahead().order_ahead(scope);
        }
        Walk::new(records, reader, filter, names, Progress::new(size, prints))
    }
}

/// The fewest threads that share the stacks of call chains. On two, a capture of a whole machine took as long as on one, and a
/// third more processor time: both number most of its frames.
const FEW: usize = 3;

/// Checks that the first event of each type has the CPU, if samples are selected by it.
///
/// perf: `perf_session__cpu_bitmap`, `tools/perf/util/session.c`.
fn check_cpus(list: &[Arc<Event>], only: &OnlyArgs) -> Result<(), Failure> {
    let Some(cpus) = &only.cpu else { return Ok(()) };
    let is_first = |&(index, event): &(usize, &Arc<Event>)| {
        list[..index].iter().all(|before| before.attr.kind != event.attr.kind)
    };
    let lacks_cpu = |(_, event): &(usize, &Arc<Event>)| !event.attr.sample_type.contains(SampleType::CPU);
    match list.iter().enumerate().filter(is_first).find(lacks_cpu) {
        None => Ok(()),
        Some((_, event)) => {
            let name = OneLine(&event_name(event)).to_string();
            let what = format!("the samples of {name} do not have the CPU; leave --cpu out, or record it");
            Err(Failure(format!("--cpu {cpus}: {what}")))
        }
    }
}
