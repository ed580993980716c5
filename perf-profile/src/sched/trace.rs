//! The switches and wake-ups of a capture, kept for formats that show them over time.

use core::num::NonZero;
use std::sync::Arc;

use perf_parse::FileError;
use perf_session::SampleContext;

use super::event::{SchedEvent, SchedSample, SwitchEvent, WakeupEvent, WakeupKind};
use super::reader::SchedReader;
use crate::error::ProfileError;
use crate::limits::Limits;
use crate::observer::Observer;
use crate::samples::Samples;
use crate::samples::pass::{CountedSample, NoWorker, RecordNotes, SamplePass, WalkContext};
use crate::symbols::Symbols;
use crate::table::interner::Interner;

/// The switches and wake-ups of a capture, in order of time: the samples of `sched:sched_switch`, and of `sched_waking` and
/// `sched_wakeup_new`, or of `sched_wakeup` where the capture does not have the former.
///
/// Costs about 64 bytes for each of them. [`Limits::samples`] is the largest number.
#[derive(Debug, Default)]
pub struct SchedTrace {
    /// Each name once.
    names: Interner<Arc<[u8]>>,
    kept: Vec<KeptEvent>,
    beyond: u64,
}

/// A sample of the scheduler, with names by their numbers.
#[derive(Clone, Copy, Debug)]
struct KeptEvent {
    time: u64,
    cpu: u32,
    pid: i32,
    tid: i32,
    what: KeptChange,
}

#[derive(Clone, Copy, Debug)]
enum KeptChange {
    Switch {
        prev_tid: i32,
        prev_comm: u32,
        prev_prio: Option<i32>,
        prev_state: i64,
        next_tid: i32,
        next_comm: u32,
        next_prio: Option<i32>,
    },
    Wakeup {
        kind: WakeupKind,
        tid: i32,
        comm: u32,
        target_cpu: Option<u32>,
    },
}

impl SchedTrace {
    /// Returns the switches and wake-ups, in order of time.
    pub fn events(&self) -> impl ExactSizeIterator<Item = SchedSample<'_>> {
        self.kept.iter().map(|kept| {
            let &KeptEvent { time, cpu, pid, tid, what } = kept;
            SchedSample { time, cpu, pid, tid, event: self.event(what) }
        })
    }

    /// Returns how many are not kept, because they are beyond the limit.
    #[must_use]
    pub fn beyond(&self) -> u64 {
        self.beyond
    }

    fn event(&self, what: KeptChange) -> SchedEvent<'_> {
        let name = |number: u32| self.names.list().get(number as usize).map_or(&[][..], |name| name);
        match what {
            KeptChange::Switch {
                prev_tid,
                prev_comm,
                prev_prio,
                prev_state,
                next_tid,
                next_comm,
                next_prio,
            } => SchedEvent::Switch(SwitchEvent {
                prev_tid,
                prev_comm: name(prev_comm),
                prev_prio,
                prev_state,
                next_tid,
                next_comm: name(next_comm),
                next_prio,
            }),
            KeptChange::Wakeup { kind, tid, comm, target_cpu } => {
                SchedEvent::Wakeup(WakeupEvent { kind, tid, comm: name(comm), target_cpu })
            }
        }
    }

    fn push(&mut self, sample: &SchedSample<'_>, limit: usize) {
        let what = match sample.event {
            SchedEvent::Switch(it) => KeptChange::Switch {
                prev_tid: it.prev_tid,
                prev_comm: self.name(it.prev_comm),
                prev_prio: it.prev_prio,
                prev_state: it.prev_state,
                next_tid: it.next_tid,
                next_comm: self.name(it.next_comm),
                next_prio: it.next_prio,
            },
            SchedEvent::Wakeup(it) => KeptChange::Wakeup {
                kind: it.kind,
                tid: it.tid,
                comm: self.name(it.comm),
                target_cpu: it.target_cpu,
            },
            SchedEvent::Migration(_) | SchedEvent::Runtime(_) => return,
        };
        if self.kept.len() >= limit {
            self.beyond += 1;
            return;
        }
        let &SchedSample { time, cpu, pid, tid, .. } = sample;
        self.kept.push(KeptEvent { time, cpu, pid, tid, what });
    }

    fn name(&mut self, name: &[u8]) -> u32 {
        let hash = self.names.hash(name);
        let is = |it: &Arc<[u8]>| **it == *name;
        self.names.number_by(
            hash,
            is,
            |hasher, it| core::hash::BuildHasher::hash_one(hasher, &**it),
            || name.into(),
        )
    }
}

/// Keeps the switches and wake-ups of all threads.
struct TracePass<'a> {
    reader: SchedReader<'a>,
    trace: SchedTrace,
    limit: usize,
}

impl TracePass<'_> {
    fn take(&mut self, at: &SampleContext<'_, '_>) {
        if let Some(sample) = self.reader.read(at) {
            self.trace.push(&sample, self.limit);
        }
    }
}

impl<'r> SamplePass<'r> for TracePass<'_> {
    type Note = ();
    type Worker = NoWorker;
    type Error = ProfileError;

    const TAKES_GROUPS: bool = true;

    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        _: &CountedSample<'_>,
        _: &WalkContext<'_>,
        _: &mut RecordNotes<'_, ()>,
    ) -> Result<(), FileError> {
        self.take(at);
        Ok(())
    }

    fn unselected(
        &mut self,
        at: &SampleContext<'_, '_>,
        _: &CountedSample<'_>,
        _: &mut RecordNotes<'_, ()>,
    ) -> Result<(), FileError> {
        self.take(at);
        Ok(())
    }
}

impl Samples<'_> {
    /// Keeps the switches and wake-ups at the selected times and CPUs: those of all threads, as a switch is one of two.
    ///
    /// # Errors
    ///
    /// [`ProfileError::SchedNotRecorded`] if the capture does not have `sched:sched_switch`, what is wrong with the selection,
    /// and [`ProfileError::Cancelled`].
    pub fn sched_trace(
        self,
        limits: Limits,
        symbols: &Symbols,
        observer: &mut dyn Observer,
    ) -> Result<SchedTrace, ProfileError> {
        let source = self.source();
        let reader = SchedReader::new(source.info())?;
        let mut pass = TracePass { reader, trace: SchedTrace::default(), limit: limits.samples };
        let one = NonZero::<usize>::MIN;
        self.walk(symbols.clone(), &mut pass, &mut NoWorker, one, observer)?;
        Ok(pass.trace)
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::{MigrationEvent, RuntimeEvent};
    use super::*;

    #[test]
    fn switches_and_wake_ups_are_kept_up_to_the_limit() {
        let switch = SchedEvent::Switch(SwitchEvent {
            prev_tid: 7,
            prev_comm: b"prev",
            prev_prio: None,
            prev_state: 0x80,
            next_tid: 8,
            next_comm: b"next",
            next_prio: Some(100),
        });
        let kind = WakeupKind::New;
        let wakeup = SchedEvent::Wakeup(WakeupEvent { kind, tid: 8, comm: b"next", target_cpu: Some(1) });
        let others = [
            SchedEvent::Migration(MigrationEvent { tid: 8, from: 0, to: 1 }),
            SchedEvent::Runtime(RuntimeEvent { tid: 8, nanoseconds: 1 }),
        ];
        let samples: Vec<_> = [switch, others[0], wakeup, others[1], switch]
            .into_iter()
            .zip(1000..)
            .map(|(event, time)| SchedSample { time, cpu: 3, pid: 6, tid: 7, event })
            .collect();
        let is_kept =
            |it: &&SchedSample<'_>| matches!(it.event, SchedEvent::Switch(_) | SchedEvent::Wakeup(_));
        for limit in 0..5 {
            let mut trace = SchedTrace::default();
            samples.iter().for_each(|sample| trace.push(sample, limit));
            let expected = samples.iter().filter(is_kept).take(limit).map(|it| format!("{it:?}"));
            assert!(trace.events().map(|it| format!("{it:?}")).eq(expected), "{limit}");
            assert_eq!((trace.events().len(), trace.beyond()), (limit.min(3), 3 - limit.min(3) as u64));
        }
    }
}
