//! The tables of a capture as an iterator of batches.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use perf_abi::record::RecordType;
use perf_abi::regs::Arch;
use perf_parse::file::{DeferredSample, DeferredSamples, EventRecords, Reader};
use perf_parse::{EventRecord, FileError};
use perf_session::Session;
use perf_symbol::{StackFinder, Symbolizer};

use super::builder::ColumnsBuilder;
use super::options::Options;
use super::table::Table;

/// Number of frames of a call chain that is taken to be cut: the kernel's `perf_event_max_stack`.
const MAX_CHAIN: usize = 127;

/// The tables of a capture, as an iterator of batches. It reads the capture as batches are asked for, and keeps what
/// [`ColumnsBuilder`] does.
///
/// Records that cannot be decoded are in the table `losses`, as in the [account](perf_parse::file::Account) of a walk.
///
/// # Examples
///
/// ```
/// use perf_export::columns::{Batches, Options, Table};
/// use perf_parse::Reader;
///
/// # let path = "examples/captures/plain.data";
/// let reader = Reader::open(path)?;
/// let mut rows = 0;
/// for batch in Batches::new(&reader, None, Options::default()) {
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
    builder: ColumnsBuilder<'a>,
    records: EventRecords<'a>,
    session: Session,
    stacks: StackFinder,
    symbolizer: Option<Symbolizer>,
    deferred: DeferredSamples<'a>,
    /// Records that are to be taken before the next one is read, each with the user part of its call chain.
    held: VecDeque<(EventRecord<'a>, Option<Vec<u64>>)>,
    is_read: bool,
    is_finished: bool,
}

impl<'a> Batches<'a> {
    /// Makes the tables of a capture. Without a symbolizer, no function has a name.
    ///
    /// Stacks are unwound with the files that the symbolizer would read.
    #[must_use]
    pub fn new(reader: &'a Reader<'_>, symbolizer: Option<Symbolizer>, options: Options) -> Self {
        let arch = reader.features().arch().ok().flatten();
        let arch = arch.and_then(|name| Arch::from_machine(&name.to_string()));
        let of_finder = |finder| StackFinder::new(arch.unwrap_or(Arch::X86), MAX_CHAIN, finder);
        let stacks = match &symbolizer {
            Some(symbolizer) => of_finder(symbolizer.finder().clone()).with_symbols(symbolizer),
            None => of_finder(Symbolizer::new(perf_symbol::SymbolOptions::default()).finder().clone()),
        };
        let stacks = stacks.with_max_stack(options.max_stack.unwrap_or(usize::MAX));
        let mut records = reader.records().in_time_order();
        records.check_features();
        let mut session = Session::new();
        session.add_features(records.features());
        Self {
            builder: ColumnsBuilder::new(reader, options),
            records,
            session,
            stacks,
            symbolizer,
            deferred: DeferredSamples::within(reader.limits()),
            held: VecDeque::new(),
            is_read: false,
            is_finished: false,
        }
    }

    /// Returns the next batch of the table of a tracepoint, as [`ColumnsBuilder::take_trace`] does. Call it after each batch of
    /// the iterator, and after the last one, until it returns `None`.
    pub fn take_trace(&mut self) -> Option<(Arc<str>, RecordBatch)> {
        self.builder.take_trace()
    }

    /// Reads a record, or finishes the tables. Returns the builder, which may have batches that are ready; `None` after the end.
    #[cfg(feature = "parquet")]
    pub(crate) fn advance(&mut self) -> Option<&mut ColumnsBuilder<'a>> {
        if self.is_finished {
            return None;
        }
        self.step();
        Some(&mut self.builder)
    }

    /// Reads a record and adds it, or finishes the tables.
    fn step(&mut self) {
        if let Some((record, deferred)) = self.held.pop_front() {
            return self.take(&record, deferred.as_deref());
        }
        if self.is_read {
            let account = self.records.account_mut();
            if let Some(fault) = self.deferred.fault() {
                account.note(fault);
            }
            let Self { builder, records, session, symbolizer, .. } = self;
            let (events, features) = (records.events(), records.features());
            builder.finish(session, symbolizer.as_ref(), events, features, records.account());
            self.is_finished = true;
            return;
        }
        match self.records.next() {
            // The account has the fault.
            Some(Err(_)) => {}
            Some(Ok(record)) => {
                if self.deferred.hold(&record) {
                    return;
                }
                if let Some(ended) = self.deferred.end(&record) {
                    let with_user =
                        |it: &DeferredSample<'a>| (it.record.clone(), ended.user_of(it).map(<[u64]>::to_vec));
                    self.held.extend(ended.samples.iter().map(with_user));
                }
                self.take_or_hold(record);
            }
            None => {
                self.is_read = true;
                self.held.extend(self.deferred.take_all().into_iter().map(|it| (it.record, None)));
            }
        }
    }

    fn take_or_hold(&mut self, record: EventRecord<'a>) {
        if self.held.is_empty() {
            self.take(&record, None);
        } else {
            self.held.push_back((record, None));
        }
    }

    /// Adds a record, and notes its fault.
    fn take(&mut self, record: &EventRecord<'_>, deferred: Option<&[u64]>) {
        if let Err(error) = self.pass(record, deferred) {
            self.records.account_mut().note(error);
        }
    }

    fn pass(&mut self, record: &EventRecord<'_>, deferred: Option<&[u64]>) -> Result<(), FileError> {
        let Self { builder, records, session, stacks, symbolizer, .. } = self;
        if record.kind() != RecordType::SAMPLE {
            session.update(record)?;
            builder.record(record, records.events(), session);
            return Ok(());
        }
        let Some((at, event)) = session.update_at(record)?.zip(record.event()) else { return Ok(()) };
        // Enough for most stacks: a list that grows is copied again and again.
        let mut frames = Vec::with_capacity(MAX_CHAIN / 4);
        let end = stacks.push(&at, deferred, &mut frames)?;
        let period = at.sample().period().unwrap_or(event.attr.sample_period);
        builder.sample(&at, event, records.events(), period, &frames, end, stacks, symbolizer.as_mut())
    }
}

impl Iterator for Batches<'_> {
    type Item = Result<(Table, RecordBatch), ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.builder.take() {
                Ok(Some(batch)) => return Some(Ok(batch)),
                Err(fault) => return Some(Err(fault)),
                Ok(None) if self.is_finished => return None,
                Ok(None) => self.step(),
            }
        }
    }
}
