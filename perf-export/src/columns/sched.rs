//! The runs, waits and wake-ups of threads, as rows of three tables.

use perf_parse::EventRecord;
use perf_parse::file::Reader;
use perf_profile::sched::{Change, SchedModel};
use perf_session::{SampleContext, Session, Thread};

use super::context::Context;
use super::sched_thread::SchedThread;
use super::table::TableSet;
use super::{runs, waits, wakeups};

/// Follows threads, if the capture tells when they switch. What is kept of a sample is the number of its stack.
#[derive(Debug)]
pub(super) struct SchedTables<'a>(Option<SchedModel<'a, Option<u64>>>);

impl<'a> SchedTables<'a> {
    pub(super) fn new(reader: &'a Reader<'_>) -> Self {
        Self(SchedModel::new(reader).ok())
    }

    /// Adds a sample and its stack.
    pub(super) fn sample(
        &mut self,
        tables: &mut TableSet,
        context: &Context,
        at: &SampleContext<'_, '_>,
        stack_id: Option<u64>,
    ) {
        if let Some(model) = &mut self.0
            && let Some(sample) = model.read(at)
        {
            model.sample(at, &sample, stack_id);
            take(model, tables, context, at.session());
        }
    }

    /// Adds a record that is not a sample, after the session.
    pub(super) fn record(
        &mut self,
        tables: &mut TableSet,
        context: &Context,
        record: &EventRecord<'_>,
        session: &Session,
    ) {
        if let Some(model) = &mut self.0 {
            model.record(record);
            take(model, tables, context, session);
        }
    }

    /// Adds what goes on at the end of the capture.
    pub(super) fn finish(&mut self, tables: &mut TableSet, context: &Context, session: &Session) {
        if let Some(model) = &mut self.0 {
            model.end();
            take(model, tables, context, session);
        }
    }
}

/// Adds the changes that are known by now.
fn take(
    model: &mut SchedModel<'_, Option<u64>>,
    tables: &mut TableSet,
    context: &Context,
    session: &Session,
) {
    let thread = |tid| SchedThread { tid, known: session.thread(tid) };
    while let Some(change) = model.next_change() {
        match change {
            Change::Run(run) => runs::push(&mut tables.runs, context, &thread(run.thread.tid), &run),
            Change::Wait(wait) => waits::push(&mut tables.waits, context, &thread(wait.thread.tid), &wait),
            Change::Wakeup(it) => {
                let waker_key = session.thread(it.waker.tid).map(Thread::key);
                wakeups::push(&mut tables.wakeups, context, &thread(it.thread.tid), waker_key, &it);
            }
            _ => {}
        }
    }
}
