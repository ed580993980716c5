//! The samples of a thread.

use super::{Moment, Row};
use crate::firefox::Threads;
use crate::firefox::document::{Document, Made};
use perf_profile::Sample;

/// The samples of a thread, in the order of time. Where the thread leaves the CPU is one without a stack that weighs nothing,
/// so that the stack before it does not seem to last until the thread is back.
pub(super) struct Table<'a> {
    threads: &'a Threads<'a>,
    moments: Vec<Moment>,
}

impl<'a> Table<'a> {
    pub(super) fn new(threads: &'a Threads<'a>, row: &Row) -> Self {
        let times = row.samples.iter().filter_map(|&number| threads.sample(number)).map(|it| it.time);
        let first = times.min();
        let is_after = |start: u64| first.is_some_and(|first| first <= start);
        let off_cpu = row.off_cpu.iter().copied();
        let off_cpu = off_cpu.filter(|&number| threads.off_cpu(number).is_some_and(|it| is_after(it.start)));
        Self { threads, moments: threads.in_order(&row.samples, off_cpu) }
    }

    fn sample(&self, moment: Moment) -> Option<Sample> {
        match moment {
            Moment::Sample(number) => self.threads.sample(number),
            Moment::Off(_) => None,
        }
    }

    /// Adds the table to a document.
    pub(super) fn add_to<'d>(&'d self, document: &mut Document<'d>) {
        let Self { threads, moments } = self;
        document.table("samples", moments.len(), |table| {
            table.column("stack", Made(moments, |it| threads.shared.row_of(self.sample(it)?.stack)));
            table.column("time", Made(moments, |it| threads.time(threads.time_of(it))));
            let weight = |it| self.sample(it).map_or(0, |it| it.total.samples);
            table.column("weight", Made(moments, weight));
            table.field("weightType", "samples");
            if threads.has_cpu {
                let delta = |it| self.sample(it).map_or(0, |it| it.total.period);
                table.column("threadCPUDelta", Made(moments, delta));
            }
        });
    }
}
