//! The pass over samples that makes tables.

use core::num::NonZero;

use perf_parse::file::Reader;
use perf_parse::{EventRecord, FileError};
use perf_profile::samples::pass::{CountedSample, NoWorker, RecordNotes, SamplePass, WalkContext};
use perf_profile::{Observer, ProfileError, Samples, Symbols, WalkEnd};
use perf_session::{SampleContext, Session};

use super::builder::ColumnsBuilder;
use super::options::Options;

/// Makes the tables of samples, and calls `ready` with them after each block of records, and at the end. It takes the batches
/// that are ready, or they wait. `samples` are those of the reader.
///
/// This is for programs that show the progress of a long walk, or cancel it; [`Batches`](super::Batches) are an iterator. With more
/// than one thread in [`Options::naming`], another thread loads symbols ahead. Returns the end of the walk.
///
/// # Errors
///
/// What is wrong with the selection, [`ProfileError::Cancelled`], and the errors of `ready`.
///
/// # Examples
///
/// ```
/// use perf_export::columns::{self, Options, Table};
/// use perf_parse::Reader;
/// use perf_profile::{Samples, Symbols};
///
/// # let path = "examples/captures/plain.data";
/// let reader = Reader::open(path)?;
/// let (samples, symbols) = (Samples::of(&reader), Symbols::of(&reader));
/// let mut rows = 0;
/// let end = columns::walk(&reader, samples, &symbols, Options::default(), &mut (), |tables| {
///     while let Some((table, batch)) = tables.take()? {
///         rows += if table == Table::Samples { batch.num_rows() } else { 0 };
///     }
///     Ok::<(), Box<dyn std::error::Error>>(())
/// })?;
/// assert!(rows > 0 && end.account().is_clean());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn walk<'a, E: From<ProfileError>>(
    reader: &'a Reader<'_>,
    samples: Samples<'a>,
    symbols: &Symbols,
    options: Options,
    observer: &mut dyn Observer,
    ready: impl FnMut(&mut ColumnsBuilder<'a>) -> Result<(), E>,
) -> Result<WalkEnd<'a>, E> {
    let mut pass = ColumnsPass::new(reader, symbols, options, ready);
    pass.builder.load_ahead(symbols.symbolizer());
    let end = samples.walk(symbols.clone(), &mut pass, &mut NoWorker, NonZero::<usize>::MIN, observer)?;
    pass.finish(&end);
    (pass.ready)(&mut pass.builder)?;
    Ok(end)
}

/// Adds the rows of samples and other records to the tables.
#[derive(Debug)]
pub(super) struct ColumnsPass<'a, F> {
    pub(super) builder: ColumnsBuilder<'a>,
    symbols: Symbols,
    ready: F,
}

impl<'a, F> ColumnsPass<'a, F> {
    pub(super) fn new(reader: &'a Reader<'_>, symbols: &Symbols, options: Options, ready: F) -> Self {
        let symbols = symbols.clone().with_max_stack(options.max_stack.unwrap_or(usize::MAX));
        Self { builder: ColumnsBuilder::new(reader, options), symbols, ready }
    }

    /// Adds what is known at the end of the walk.
    pub(super) fn finish(&mut self, end: &WalkEnd<'_>) {
        let Self { builder, symbols, .. } = self;
        builder.finish(end.session(), symbols.symbolizer(), end.events(), end.features(), end.account());
    }
}

impl<'a, F, E> SamplePass<'_> for ColumnsPass<'a, F>
where
    F: FnMut(&mut ColumnsBuilder<'a>) -> Result<(), E>,
    E: From<ProfileError>,
{
    type Note = ();
    type Worker = NoWorker;
    type Error = E;

    const TAKES_GROUPS: bool = true;

    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        context: &WalkContext<'_>,
        _: &mut RecordNotes<'_, ()>,
    ) -> Result<(), FileError> {
        let Self { builder, symbols, .. } = self;
        let CountedSample { event, period, deferred, .. } = *counted;
        let (stack, end) = symbols.stack(at, deferred)?;
        let (finder, symbolizer) = symbols.parts();
        let added = builder.sample(at, event, context.events(), period, &stack, end, finder, symbolizer);
        symbols.done(stack);
        added
    }

    fn other(
        &mut self,
        record: &EventRecord<'_>,
        session: &Session,
        context: &WalkContext<'_>,
        _: &mut RecordNotes<'_, ()>,
    ) -> Result<(), FileError> {
        self.builder.record(record, context.events(), session);
        Ok(())
    }

    fn deliver(&mut self, (): (), _: &Session) -> Result<(), E> {
        (self.ready)(&mut self.builder)
    }
}
