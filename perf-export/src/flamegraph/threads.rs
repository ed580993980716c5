//! The threads of all captures.

use hashbrown::HashMap;
use perf_profile::{Profile, text::OneLine};

/// A thread, as long as it had a name.
#[derive(Clone, Debug)]
pub(super) struct FlameThread {
    /// The index of the capture.
    pub(super) capture: usize,
    /// Tells processes apart: an index, from 0 on, over all captures.
    pub(super) process: usize,
    pub(super) pid: i32,
    pub(super) tid: i32,
    pub(super) comm: String,
}

/// The threads of all captures, in the order of their first samples.
#[derive(Debug, Default)]
pub(super) struct FlameThreads {
    pub(super) list: Vec<FlameThread>,
    /// The index of the first thread of each capture.
    starts: Vec<usize>,
}

impl FlameThreads {
    pub(super) fn of(profiles: &[Profile]) -> Self {
        let mut threads = Self::default();
        let mut processes = HashMap::new();
        for (capture, profile) in profiles.iter().enumerate() {
            threads.starts.push(threads.list.len());
            for thread in profile.threads() {
                let next = processes.len();
                let process = *processes.entry((capture, thread.process_key)).or_insert(next);
                let comm = OneLine(&thread.comm).to_string();
                let (pid, tid) = (thread.pid, thread.tid);
                threads.list.push(FlameThread { capture, process, pid, tid, comm });
            }
        }
        threads
    }

    /// Returns the number of a thread of a capture.
    pub(super) fn number(&self, capture: usize, thread: u32) -> u32 {
        let start = self.starts.get(capture).copied().unwrap_or(0);
        start as u32 + thread
    }
}
