//! The stacks that woke threads up, from `sched:sched_waking`.

use hashbrown::HashMap;
use perf_session::SampleContext;

use crate::builder::PendingSample;
use crate::capture_info::CaptureInfo;
use crate::error::ProfileError;
use crate::tid_field::TidField;

/// Reads which threads are woken up.
///
/// The thread that `sched:sched_waking` interrupts is the one that wakes. `sched:sched_wakeup`, which may be on another CPU
/// than the waking, counts only where the capture does not have the other.
#[derive(Debug)]
pub(crate) struct WakingReader {
    /// The thread that is woken up.
    woken: TidField,
}

/// A thread wakes another one up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waking {
    waker: i32,
    woken: i32,
    time: u64,
}

impl WakingReader {
    /// # Errors
    ///
    /// If the capture does not have who woke threads up.
    pub(crate) fn new(info: CaptureInfo<'_>) -> Result<Self, ProfileError> {
        let wanted: [(&[u8], &[u8]); 2] = [(b"sched_waking", b"pid"), (b"sched_wakeup", b"pid")];
        let (_, woken) = TidField::find(info, &wanted).ok_or(ProfileError::WakersNotRecorded)?;
        Ok(Self { woken })
    }

    /// Returns whether a sample wakes a thread up.
    pub(crate) fn is_waking(&self, at: &SampleContext<'_, '_>) -> bool {
        self.woken.is_of(at)
    }

    /// Reads a sample; `None` if it wakes no thread up.
    pub(crate) fn read(&self, at: &SampleContext<'_, '_>) -> Option<Waking> {
        let (woken, time) = self.woken.of(at).zip(at.sample().time())?;
        Some(Waking { waker: at.thread().tid(), woken, time })
    }
}

/// Follows who woke each thread up last, who had woken that one up before, and so on.
#[derive(Debug)]
pub(crate) struct Wakers {
    levels: usize,
    /// By the id of the thread: when it was woken up, and what woke it, the last waker first.
    chains: HashMap<i32, (u64, Vec<PendingSample>)>,
}

impl Wakers {
    /// Follows so many wakers of each thread.
    pub(crate) fn new(levels: usize) -> Self {
        Self { levels, chains: HashMap::new() }
    }

    /// Takes what is kept of a sample that wakes a thread up.
    pub(crate) fn apply(&mut self, waking: Waking, kept: PendingSample) {
        let Waking { waker, woken, time } = waking;
        let mut chain = vec![kept];
        if let Some((_, before)) = self.chains.get(&waker) {
            chain.extend_from_slice(before);
        }
        chain.truncate(self.levels);
        self.chains.insert(woken, (time, chain));
    }

    /// Returns what woke a thread up since a time, the last waker first; empty if nothing did, as after a preemption.
    pub(crate) fn since(&self, tid: i32, since: u64) -> &[PendingSample] {
        match self.chains.get(&tid) {
            Some((time, chain)) if *time >= since => chain,
            _ => &[],
        }
    }
}
