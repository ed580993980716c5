//! The observer of a walk: faults and notes on standard error, and a progress bar.

use perf_parse::file::Account;
use perf_profile::Observer;
use perf_profile::off_cpu::{OffCpuSummary, WaitKind};

use crate::escape::{OneLine, Seconds};
use crate::input::Memory;
use crate::outcome::{Outcome, advice};
use crate::output::{Diagnostics, say};
use crate::progress::{NamingProgress, Progress};

/// Prints faults as they are found, and shows the progress.
#[derive(Debug)]
pub(crate) struct StderrObserver {
    diagnostics: Diagnostics,
    progress: Option<Progress>,
    naming: Option<NamingProgress>,
}

impl StderrObserver {
    /// `has_output` is whether there is output during the walk.
    pub(crate) fn new(memory: Memory<'_>, has_output: bool) -> Self {
        let progress = Some(Progress::new(memory.size, has_output));
        Self { diagnostics: Diagnostics::in_words(), progress, naming: None }
    }

    /// Ends the progress bars.
    pub(crate) fn end_progress(&mut self) {
        (self.progress, self.naming) = (None, None);
    }

    /// Reports what could not be decoded. `done` is what the verb did with the samples: printed, counted. `omitted` is the number
    /// of samples without the user part of their call chain.
    pub(crate) fn finish(mut self, account: &Account, omitted: u64, done: &str) -> Outcome {
        self.end_progress();
        let Self { mut diagnostics, .. } = self;
        if omitted > 0 {
            say!(
                "perfdata: samples {done} without the user part of their call chain, because too many waited for it: {omitted}"
            );
        }
        diagnostics.report_all(account);
        if account.is_clean() {
            return Outcome::Clean;
        }
        let (walked, faults, skipped) = (account.records, account.faults(), account.bytes_skipped);
        say!(
            "perfdata: records read: {walked}, faults: {faults}, bytes skipped: {skipped}{}",
            advice(account)
        );
        Outcome::Partial
    }
}

impl Observer for StderrObserver {
    fn account(&mut self, account: &Account) {
        self.diagnostics.report_new(account);
    }

    fn bytes(&mut self, reached: u64) {
        if let Some(progress) = &mut self.progress {
            progress.at(reached);
        }
    }

    fn names(&mut self, done: usize, all: usize) {
        self.progress = None;
        self.naming.get_or_insert_with(NamingProgress::new).at(done, all);
        if done == all {
            self.naming = None;
        }
    }

    fn texts_as_fields(&mut self, samples: u64) {
        say!(
            "perfdata: samples counted by their fields, because their print formats cannot be evaluated: {samples}"
        );
    }

    fn off_cpu(&mut self, summary: &OffCpuSummary) {
        for total in &summary.waits {
            let name = total.kind.event_name();
            let what = match total.kind {
                WaitKind::Runnable => "waiting for a CPU",
                WaitKind::Stopped => "stopped",
                WaitKind::Running => "running",
                _ => "blocked",
            };
            let states = total.states.join(", ");
            say!(
                "perfdata: event {name}: threads {what} for {} s (states: {})",
                Seconds(total.nanoseconds),
                OneLine(states.as_bytes())
            );
        }
        let record = if summary.has_returns { "" } else { "; record with -a, or add --switch-events" };
        let count = summary.unfinished;
        if count > 0 {
            say!(
                "perfdata: threads whose last wait is not counted, because the capture does not tell when it ended: {count}{record}"
            );
        }
        let count = summary.without_return;
        if count > 0 {
            say!(
                "perfdata: waits that are counted up to the wake-up at most, because the capture does not tell when their threads \
                 came back: {count}"
            );
        }
        let count = summary.without_sample;
        if count > 0 {
            say!(
                "perfdata: waits that are not counted, because their threads have no sample before them: {count}; record with \
                 sched:sched_switch, or with more samples"
            );
        }
    }
}
