//! The walk of the verbs of `perfdata sched`.

use core::num::NonZero;

use perf_parse::file::Reader;
use perf_parse::{EventRecord, FileError};
use perf_profile::samples::pass::{CountedSample, NoWorker, RecordNotes, SamplePass, WalkContext};
use perf_profile::sched::PerfTasks;
use perf_profile::{ProfileError, Samples, Symbols};
use perf_session::{SampleContext, Session};

use crate::input::Memory;
use crate::observer::StderrObserver;
use crate::outcome::{Failure, Outcome};
use crate::output::{Output, say};
use crate::selection;

/// What a verb does with the records of a capture.
pub(super) trait SchedPrinter {
    /// Takes a sample, and appends what is printed of it.
    ///
    /// # Errors
    ///
    /// A fault of the sample.
    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), FileError>;

    /// Returns the threads.
    fn tasks(&self) -> &PerfTasks;

    /// Takes another record, and appends what is printed of it.
    fn record(&mut self, record: &EventRecord<'_>, out: &mut Vec<u8>);
}

/// The pass that prints while it walks.
struct SchedPass<'p, P> {
    printer: &'p mut P,
    output: &'p mut Output,
}

/// The end of a walk before that of the capture.
enum SchedEnd {
    /// The reader of the output has closed it.
    Closed,
    Failed(Failure),
}

impl From<ProfileError> for SchedEnd {
    fn from(error: ProfileError) -> Self {
        Self::Failed(selection::failure(error))
    }
}

impl<'r, P: SchedPrinter> SamplePass<'r> for SchedPass<'_, P> {
    type Note = ();
    type Worker = NoWorker;
    type Error = SchedEnd;

    const TAKES_GROUPS: bool = true;

    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        _: &WalkContext<'_>,
        _: &mut RecordNotes<'_, ()>,
    ) -> Result<(), FileError> {
        self.printer.sample(at, counted, &mut self.output.buffer)
    }

    fn other(
        &mut self,
        record: &EventRecord<'r>,
        _: &Session,
        _: &WalkContext<'_>,
        _: &mut RecordNotes<'_, ()>,
    ) -> Result<(), FileError> {
        self.printer.record(record, &mut self.output.buffer);
        Ok(())
    }

    fn deliver(&mut self, (): (), _: &Session) -> Result<(), SchedEnd> {
        match self.output.flush_full() {
            Ok(true) => Ok(()),
            Ok(false) => Err(SchedEnd::Closed),
            Err(failure) => Err(SchedEnd::Failed(failure)),
        }
    }
}

/// Walks over a capture, then appends what `end` does, and reports faults. `has_output` is whether there is output during the walk.
///
/// # Errors
///
/// If the output cannot be written.
pub(super) fn walk<P: SchedPrinter>(
    reader: &Reader<'_>,
    memory: Memory<'_>,
    symbols: Symbols,
    printer: &mut P,
    output: &mut Output,
    end: impl FnOnce(&mut P, &mut Vec<u8>),
) -> Result<Outcome, Failure> {
    let mut observer = StderrObserver::new(memory, true);
    let samples = Samples::of(reader);
    let mut pass = SchedPass { printer, output };
    let walked = match samples.walk(symbols, &mut pass, &mut NoWorker, NonZero::<usize>::MIN, &mut observer) {
        Ok(walked) => walked,
        Err(SchedEnd::Closed) => return Ok(Outcome::Clean),
        Err(SchedEnd::Failed(failure)) => return Err(failure),
    };
    end(pass.printer, &mut pass.output.buffer);
    pass.output.flush()?;
    let beyond = pass.printer.tasks().beyond();
    if beyond > 0 {
        say!("perfdata: events that were skipped, because there are too many threads: {beyond}");
    }
    Ok(observer.finish(walked.account(), walked.omitted(), "read"))
}
