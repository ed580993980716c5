//! `perfdata stat record`: the counts in a capture.

use core::time::Duration;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use perf_open::abi::attr::AttrFlags;
use perf_open::abi::record::StatRoundType;
use perf_open::abi::sample_type::SampleType;
use perf_parse::file::write::{EventFields, Options};
use perf_parse::record::user::Stat;
use perf_record::{Counted, Counts};

use super::counters::{self, Counters};
use super::table::Shown;
use crate::args::live::StatArgs;
use crate::live::observed::Observed;
use crate::live::record::output::Output;
use crate::{Failure, aggr_mode};

/// A capture that is being written.
pub(super) struct Capture {
    counts: Counts<Output>,
    /// The id of each counter.
    ids: Vec<u64>,
    /// The threads that are counted; empty for all.
    threads: Vec<u32>,
}

/// Returns an error if the options ask for what a capture has no place for.
pub(super) fn check(args: &StatArgs) -> Result<(), Failure> {
    let why = if args.repeat != 1 {
        "stat record: a capture has one run; leave out --repeat"
    } else if !args.cgroup.is_empty() || !args.for_each_cgroup.is_empty() {
        "stat record: a capture does not name cgroups; count them without record"
    } else if args.per_cluster || args.per_cache.is_some() {
        "stat record: perf has no number for these parts of a machine; use --per-core or --no-aggr"
    } else {
        return Ok(());
    };
    Err(Failure(why.to_owned()))
}

/// Returns how perf adds up the counts.
fn aggr_mode(args: &StatArgs) -> u64 {
    let modes = [
        (args.no_aggr, aggr_mode::NONE),
        (args.per_socket, aggr_mode::SOCKET),
        (args.per_die, aggr_mode::DIE),
        (args.per_core, aggr_mode::CORE),
        (args.per_thread, aggr_mode::THREAD),
        (args.per_node, aggr_mode::NODE),
    ];
    modes.into_iter().find(|(is_asked, _)| *is_asked).map_or(aggr_mode::GLOBAL, |(_, mode)| mode)
}

impl Capture {
    /// Begins a capture of the counters at `path`, or on standard output if that is `-`.
    pub(super) fn begin(
        path: &Path,
        args: &StatArgs,
        counters: &Counters,
        shown: &[Shown],
        (observed, command): (&Observed, Option<u32>),
    ) -> Result<Self, Failure> {
        if let Some(event) = counters.events.iter().find(|event| event.tool.is_some()) {
            let name = &event.name;
            return Err(Failure(format!("stat record: {name}: is not an event of the kernel; leave it out")));
        }
        let threads = match observed {
            Observed::Threads(tids) => tids.clone(),
            Observed::Command => command.into_iter().collect(),
            Observed::Cpus(_) => Vec::new(),
        };
        let mut events: Vec<EventFields> = counters
            .events
            .iter()
            .map(|event| EventFields {
                attr: event.attr,
                name: Some(event.name.clone().into_bytes()),
                ..EventFields::default()
            })
            .collect();
        let mut ids = Vec::new();
        for (index, counter) in counters.each() {
            let id = counter.id()?;
            ids.push(id);
            if let (Some(event), Some(shown)) = (events.get_mut(index), shown.get(index)) {
                event.attr = *counter.attr();
                event.ids.push(id);
                (event.unit, event.scale) = (shown.unit.clone().map(String::into_bytes), shown.factor());
            }
        }
        if path == Path::new("-") {
            // perf script takes an event of a stream that has fields for one that has samples.
            events.iter_mut().for_each(|event| event.attr.sample_type = SampleType::NONE);
            // A stream names an event by an id. One that is not supported has none; readers name it by its attr.
            for event in events.iter_mut().filter(|event| event.ids.is_empty()) {
                event.name = None;
                // perf's default, without which the name would have a modifier.
                event.attr.flags |= AttrFlags::EXCLUDE_GUEST;
            }
        }
        let out = Output::create(path, Options::default())?;
        let command_line: Vec<_> = std::env::args_os().map(OsStringExt::into_vec).collect();
        let counted = Counted {
            events: &events,
            threads: &threads,
            cpus: &counters.cpus(),
            aggr_mode: aggr_mode(args),
            interval: args.interval_print.map_or(0, core::num::NonZeroU64::get),
            command_line: &command_line,
            version: concat!("perfdata ", env!("CARGO_PKG_VERSION")),
        };
        Ok(Self { counts: Counts::begin(out, &counted)?, ids, threads })
    }

    /// Gives the file its name. If the command cannot be started, an existing file remains unchanged.
    pub(super) fn publish(&mut self) -> Result<(), Failure> {
        self.counts.sink().publish()
    }

    /// Writes the counts so long after the start.
    pub(super) fn round(
        &mut self,
        counts: &[counters::Counted],
        kind: StatRoundType,
        at: Duration,
    ) -> Result<(), Failure> {
        for count in counts {
            let Some(&id) = self.ids.get(count.counter) else { continue };
            let thread = self.threads.iter().position(|tid| Some(*tid) == count.thread).unwrap_or(0);
            let cpu = count.cpu.and_then(|cpu| i32::try_from(cpu).ok()).unwrap_or(-1);
            let thread = i32::try_from(thread).unwrap_or(0);
            let (val, ena, run) = (count.tally.value, count.tally.enabled, count.tally.running);
            self.counts.count(&Stat { id, cpu, thread, val, ena, run, rest: &[] })?;
        }
        Ok(self.counts.round(kind, u64::try_from(at.as_nanos()).unwrap_or(u64::MAX))?)
    }

    pub(super) fn finish(self) -> Result<(), Failure> {
        self.counts.finish()?;
        Ok(())
    }
}
