//! The tables of a capture as an iterator of batches.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use perf_parse::file::Reader;
use perf_profile::{PassSteps, ProfileError, Samples, Symbols};

use super::builder::ColumnsBuilder;
use super::options::Options;
use super::pass::ColumnsPass;
use super::table::Table;

/// The tables of a capture, as an iterator of batches. It reads the capture as batches are asked for, and keeps only what is in
/// no batch yet: at most 32,768 rows of each table, and the stacks since they were last written, up to a limit. So memory does not
/// grow with the capture.
///
/// Records that cannot be decoded are in the table `losses`, as in the [account](perf_parse::file::Account) of a walk. A selection
/// that the capture cannot have is the only item.
///
/// # Examples
///
/// ```
/// use perf_export::columns::{Batches, Options, Table};
/// use perf_parse::Reader;
/// use perf_profile::Symbols;
///
/// # let path = "examples/captures/plain.data";
/// let reader = Reader::open(path)?;
/// let mut rows = 0;
/// for batch in Batches::new(&reader, &Symbols::of(&reader), Options::default()) {
///     let (table, batch) = batch?;
///     if table == Table::Samples {
///         rows += batch.num_rows();
///     }
/// }
/// assert!(rows > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Batches<'a> {
    stage: BatchStage<'a>,
    /// What is wrong with the selection, until it is returned.
    refused: Option<ProfileError>,
}

/// The tables, and the walk that makes them until it ends.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one in a walk over a capture")]
enum BatchStage<'a> {
    Walk(PassSteps<'a, ColumnsPass<'a, LeaveReady<'a>>>),
    Finished(ColumnsBuilder<'a>),
    Nothing,
}

/// Takes no batches: the iterator does.
type LeaveReady<'a> = fn(&mut ColumnsBuilder<'a>) -> Result<(), ProfileError>;

impl<'a> Batches<'a> {
    /// Makes the tables of all samples and other records of a capture. `symbols` find its stacks and functions;
    /// [without names](Symbols::without_names), no function has one.
    #[must_use]
    pub fn new(reader: &'a Reader<'_>, symbols: &Symbols, options: Options) -> Self {
        Self::of(reader, Samples::of(reader), symbols, options)
    }

    /// Makes the tables of some samples of a capture, and of all its other records. `samples` are those of the reader.
    #[must_use]
    pub fn of(reader: &'a Reader<'_>, samples: Samples<'a>, symbols: &Symbols, options: Options) -> Self {
        let leave: LeaveReady<'a> = |_| Ok(());
        let pass = ColumnsPass::new(reader, symbols, options, leave);
        match samples.steps(symbols.clone(), pass) {
            Ok(steps) => Self { stage: BatchStage::Walk(steps), refused: None },
            Err(error) => Self { stage: BatchStage::Nothing, refused: Some(error) },
        }
    }

    /// Returns the next batch of the table of a tracepoint, and the name of the table; `None` if there is none until more records
    /// are read. Call it after each batch of the iterator, and after the last one, until it returns `None`. Such tables exist with
    /// [`ExtraColumns::trace`](super::ExtraColumns::trace); `SCHEMA.md` describes them.
    pub fn take_trace(&mut self) -> Option<(Arc<str>, RecordBatch)> {
        self.builder()?.take_trace()
    }

    /// Reads a record, or finishes the tables. Returns the builder, which may have batches that are ready; `None` after the end.
    #[cfg(feature = "parquet")]
    pub(crate) fn advance(&mut self) -> Option<Result<&mut ColumnsBuilder<'a>, ArrowError>> {
        if let Some(refused) = self.refused.take() {
            return Some(Err(ArrowError::ExternalError(Box::new(refused))));
        }
        if !self.step() {
            return None;
        }
        self.builder().map(Ok)
    }

    fn builder(&mut self) -> Option<&mut ColumnsBuilder<'a>> {
        match &mut self.stage {
            BatchStage::Walk(steps) => Some(&mut steps.pass().builder),
            BatchStage::Finished(builder) => Some(builder),
            BatchStage::Nothing => None,
        }
    }

    /// Reads a record and adds it, or finishes the tables. Returns whether there was something to do.
    fn step(&mut self) -> bool {
        let BatchStage::Walk(steps) = &mut self.stage else { return false };
        if steps.step() {
            return true;
        }
        if let BatchStage::Walk(steps) = core::mem::replace(&mut self.stage, BatchStage::Nothing) {
            let (mut pass, end) = steps.end();
            pass.finish(&end);
            self.stage = BatchStage::Finished(pass.builder);
        }
        true
    }
}

impl Iterator for Batches<'_> {
    type Item = Result<(Table, RecordBatch), ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(refused) = self.refused.take() {
            return Some(Err(ArrowError::ExternalError(Box::new(refused))));
        }
        loop {
            match self.builder()?.take() {
                Ok(Some(batch)) => return Some(Ok(batch)),
                Err(fault) => return Some(Err(fault)),
                Ok(None) if !self.step() => return None,
                Ok(None) => {}
            }
        }
    }
}
