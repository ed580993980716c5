//! The thread of a run, a wait or a wake-up.

use perf_session::Thread;

use super::context::Context;
use super::rows::TableRows;

/// The thread of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct SchedThread<'s> {
    pub(super) tid: i32,
    pub(super) known: Option<&'s Thread>,
}

impl SchedThread<'_> {
    /// Adds the columns that all tables begin with.
    pub(super) fn push(&self, rows: &mut TableRows, context: &Context) {
        rows.text(context.capture.as_str());
        rows.int64(self.known.map(Thread::process_key));
        rows.int64(self.known.map(Thread::key));
        rows.int32(self.known.map(Thread::pid));
        rows.int32(self.tid);
        rows.text(self.known.and_then(|thread| context.comm(thread.comm())).as_deref());
    }
}
