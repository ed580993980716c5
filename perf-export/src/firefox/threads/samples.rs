//! The samples of a thread.

use perf_profile::Sample;

use super::{ThreadMoment, ThreadSpan};
use crate::firefox::ThreadsWriter;
use crate::json::{ComputedValues, JsonDocument};

/// The samples of a thread, in the order of time. Where the thread leaves the CPU is one without a stack that weighs nothing,
/// so that the stack before it does not seem to last until the thread is back.
pub(super) struct SampleTable<'a> {
    threads: &'a ThreadsWriter<'a>,
    moments: Vec<ThreadMoment>,
}

impl<'a> SampleTable<'a> {
    pub(super) fn new(threads: &'a ThreadsWriter<'a>, row: &ThreadSpan) -> Self {
        let times = row.samples.iter().filter_map(|&number| threads.sample(number)).map(|it| it.time);
        let first = times.min();
        let is_after = |start: u64| first.is_some_and(|first| first <= start);
        let off_cpu = row.off_cpu.iter().copied();
        let off_cpu = off_cpu.filter(|&number| threads.off_cpu(number).is_some_and(|it| is_after(it.start)));
        Self { threads, moments: threads.in_order(&row.samples, off_cpu) }
    }

    fn sample(&self, moment: ThreadMoment) -> Option<Sample> {
        match moment {
            ThreadMoment::Sample(number) => self.threads.sample(number),
            ThreadMoment::Off(_) => None,
        }
    }

    /// Adds the table to a document.
    pub(super) fn add_to<'d>(&'d self, document: &mut JsonDocument<'d>) {
        let Self { threads, moments } = self;
        document.table("samples", moments.len(), |table| {
            table
                .column("stack", ComputedValues(moments, |it| threads.shared.row_of(self.sample(it)?.stack)));
            table.column("time", ComputedValues(moments, |it| threads.time(threads.time_of(it))));
            let weight = |it| self.sample(it).map_or(0, |it| it.total.samples);
            table.column("weight", ComputedValues(moments, weight));
            table.field("weightType", "samples");
            if threads.has_cpu {
                let delta = |it| self.sample(it).map_or(0, |it| it.total.period);
                table.column("threadCPUDelta", ComputedValues(moments, delta));
            }
        });
    }
}
