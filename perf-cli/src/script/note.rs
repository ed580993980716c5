//! Notes on how records are printed.

use alloc::sync::Arc;

use perf_parse::record::user::IdIndexGuest;

use super::event::ScriptEvent;

/// How a record is printed.
#[derive(Debug)]
pub(super) enum ScriptNote {
    Sample(SampleNote),
    /// A record that is not a sample.
    Other {
        known: Option<Arc<ScriptEvent>>,
        time: u64,
    },
    /// A text that the walk has printed.
    Text(Vec<u8>),
}

/// How a sample of an event is printed.
#[derive(Debug)]
pub(super) struct SampleNote {
    pub(super) known: Arc<ScriptEvent>,
    pub(super) period: u64,
    /// The time that is printed: see [`Clock`](super::clock::Clock).
    pub(super) time: u64,
    /// The virtual machine of the event.
    pub(super) guest: Option<IdIndexGuest>,
    /// The width of the longest data source so far.
    pub(super) data_src_width: usize,
}
