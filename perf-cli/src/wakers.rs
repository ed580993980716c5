//! The stacks that woke threads up, from `sched:sched_waking`.

use hashbrown::HashMap;
use perf_parse::file::Reader;
use perf_profile::Kept;
use perf_session::At;

use crate::Failure;
use crate::tid_field::TidField;

/// Follows who woke each thread up last, who had woken that one up before, and so on.
///
/// The thread that `sched:sched_waking` interrupts is the one that wakes. `sched:sched_wakeup`, which may be on another CPU
/// than the waking, counts only where the capture does not have the other.
#[derive(Debug)]
pub(crate) struct Wakers<'a> {
    /// The thread that is woken up.
    woken: TidField<'a>,
    levels: usize,
    /// By the id of the thread: when it was woken up, and what woke it, the last waker first.
    chains: HashMap<i32, (u64, Vec<Kept>)>,
}

impl<'a> Wakers<'a> {
    /// Follows so many wakers of each thread.
    ///
    /// # Errors
    ///
    /// If the capture does not have who woke threads up.
    pub(crate) fn new(reader: &'a Reader<'_>, levels: usize) -> Result<Self, Failure> {
        let wanted: [(&[u8], &[u8]); 2] = [(b"sched_waking", b"pid"), (b"sched_wakeup", b"pid")];
        let Some((_, woken)) = TidField::find(reader, &wanted) else {
            let what = "the capture does not tell who woke threads up; record with \
                perfdata record --off-cpu";
            return Err(Failure(format!("--wakers: {what}")));
        };
        Ok(Self { woken, levels, chains: HashMap::new() })
    }

    /// Returns whether a sample wakes a thread up.
    pub(crate) fn wakes(&self, at: &At<'_, '_>) -> bool {
        self.woken.is_of(at)
    }

    /// Takes what is kept of a sample that wakes a thread up.
    pub(crate) fn waking(&mut self, at: &At<'_, '_>, kept: Kept) {
        let Some((woken, time)) = self.woken.of(at).zip(at.sample().time()) else { return };
        let mut chain = vec![kept];
        if let Some((_, before)) = self.chains.get(&at.thread().tid()) {
            chain.extend_from_slice(before);
        }
        chain.truncate(self.levels);
        self.chains.insert(woken, (time, chain));
    }

    /// Returns what woke a thread up since a time, the last waker first; empty if nothing did, as after a preemption.
    pub(crate) fn since(&self, tid: i32, since: u64) -> &[Kept] {
        match self.chains.get(&tid) {
            Some((time, chain)) if *time >= since => chain,
            _ => &[],
        }
    }
}
