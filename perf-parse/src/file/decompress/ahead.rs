//! A thread that decompresses payloads before their records are needed.

use alloc::vec::Vec;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use super::payloads::Payloads;
use crate::limits::Limits;

/// Maximum number of payloads that the thread has and of which not all was taken, and of steps that wait to be taken.
const AHEAD: usize = 8;

/// A thread that decompresses the payloads of a stream, in their order.
///
/// What [`step`](Self::step) and [`finish`](Self::finish) return is what [`Payloads`] returns for the same payloads. Dropping
/// it ends the thread, after the step that it is at.
pub(super) struct DecompressionThread {
    /// `None` while it is dropped.
    queue: Option<Sender<PayloadTask>>,
    /// Has a lock so that a walk can be shared by threads; there is only one user.
    steps: Mutex<Receiver<DecompressedStep>>,
    thread: Option<JoinHandle<()>>,
    /// Number of payloads that the thread has, and of which not all was taken.
    pending: usize,
}

enum PayloadTask {
    Payload(Vec<u8>),
    Finish,
}

/// The output of a step.
struct DecompressedStep {
    bytes: Vec<u8>,
    /// Number of bytes that were consumed, and whether that was all; at the end, the bytes that do not form a whole block.
    result: Result<(usize, bool), &'static str>,
}

impl DecompressionThread {
    /// Starts the thread; `None` if the system has none.
    pub(super) fn new(limits: &Limits) -> Option<Self> {
        let (queue, tasks) = mpsc::channel();
        let (steps, taken) = mpsc::sync_channel(AHEAD);
        let limits = *limits;
        let run = move || run(Payloads::new(&limits), &tasks, &steps);
        let thread = thread::Builder::new().name("decompress".into()).spawn(run).ok()?;
        Some(Self { queue: Some(queue), steps: Mutex::new(taken), thread: Some(thread), pending: 0 })
    }

    /// Returns whether another payload may be given.
    pub(super) fn has_room(&self) -> bool {
        self.pending < AHEAD
    }

    /// Gives the next payload.
    pub(super) fn give(&mut self, payload: &[u8]) {
        self.pending = self.pending.saturating_add(1);
        self.send(PayloadTask::Payload(payload.to_vec()));
    }

    fn send(&self, task: PayloadTask) {
        if let Some(queue) = &self.queue {
            // Without the thread, `receive` reports it.
            let _ = queue.send(task);
        }
    }

    /// Takes the next step of the first payload that was not taken to its end.
    pub(super) fn step(&mut self, out: &mut Vec<u8>) -> Result<(usize, bool), &'static str> {
        let result = self.receive(out);
        if !matches!(result, Ok((_, false))) {
            self.pending = self.pending.saturating_sub(1);
        }
        result
    }

    /// Ends the stream.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) -> usize {
        self.send(PayloadTask::Finish);
        self.receive(out).map_or(0, |(left, _)| left)
    }

    fn receive(&mut self, out: &mut Vec<u8>) -> Result<(usize, bool), &'static str> {
        let steps = self.steps.get_mut().unwrap_or_else(PoisonError::into_inner);
        let step = steps.recv().map_err(|_| "is lost, as the thread that decompresses it ended")?;
        out.extend_from_slice(&step.bytes);
        step.result
    }
}

impl Drop for DecompressionThread {
    fn drop(&mut self) {
        self.queue = None;
        // A thread that waits for room goes on, and finds that nobody takes its output.
        *self.steps.get_mut().unwrap_or_else(PoisonError::into_inner) = mpsc::channel().1;
        if let Some(thread) = self.thread.take() {
            // A panic of it was reported.
            let _ = thread.join();
        }
    }
}

/// Decompresses until there are no more tasks, or nobody takes the output.
fn run(mut payloads: Payloads, tasks: &Receiver<PayloadTask>, steps: &SyncSender<DecompressedStep>) {
    for task in tasks {
        let PayloadTask::Payload(payload) = task else {
            let mut bytes = Vec::new();
            let left = payloads.finish(&mut bytes);
            let _ = steps.send(DecompressedStep { bytes, result: Ok((left, true)) });
            continue;
        };
        payloads.begin(payload.len());
        let mut at = 0_usize;
        loop {
            let mut bytes = Vec::new();
            let result = payloads.step(payload.get(at..).unwrap_or_default(), &mut bytes);
            let is_last = !matches!(result, Ok((_, false)));
            if let Ok((taken, _)) = result {
                at = at.saturating_add(taken);
            }
            if steps.send(DecompressedStep { bytes, result }).is_err() {
                return;
            }
            if is_last {
                break;
            }
        }
    }
}
