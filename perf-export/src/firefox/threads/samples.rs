//! The samples of a thread.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::{Column, Moment, Row};
use crate::firefox::Threads;
use crate::sample::Sample;

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

    fn column<T: Serialize>(&self, value: impl Fn(Moment) -> T) -> impl Serialize {
        Column { moments: &self.moments, value }
    }

    fn sample(&self, moment: Moment) -> Option<Sample> {
        match moment {
            Moment::Sample(number) => self.threads.sample(number),
            Moment::Off(_) => None,
        }
    }
}

impl Serialize for Table<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { threads, moments } = self;
        let mut table = serializer.serialize_struct("samples", 6)?;
        table.serialize_field("length", &moments.len())?;
        let stack = self.column(|it| threads.shared.row_of(self.sample(it)?.stack));
        table.serialize_field("stack", &stack)?;
        table.serialize_field("time", &self.column(|it| threads.time(threads.time_of(it))))?;
        table
            .serialize_field("weight", &self.column(|it| self.sample(it).map_or(0, |it| it.total.samples)))?;
        table.serialize_field("weightType", "samples")?;
        if threads.has_cpu {
            let delta = self.column(|it| self.sample(it).map_or(0, |it| it.total.period));
            table.serialize_field("threadCPUDelta", &delta)?;
        }
        table.end()
    }
}
