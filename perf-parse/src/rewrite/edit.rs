//! Edits of a capture: its samples filtered, without some of their fields, in another container.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{Debug, Formatter};
use std::io::{Seek, Write};

use perf_abi::attr::AttrVersion;
use perf_abi::sample_type::SampleType;

use super::account::EditAccount;
use super::capture_filter::CaptureFilter;
use super::edited::{AddedRecord, EditSummary, EditedRecord};
use super::folder_sink::{FolderOutputs, FolderSink};
use super::known_records;
use super::perf_release::PerfRelease;
use super::rewriter::{EditSteps, EditWalk, Rewriter};
use super::sample_fields::REMOVABLE;
use super::sink::CaptureSink;
use super::sorted::SortedRecords;
use super::step::{RepairOrder, RepairStep};
use crate::event::EventRecord;
use crate::file::write::{EventFields, FileWriter, PipeWriter, WriteFileError, WriteOptions, ZstdOptions};
use crate::file::{EventRecords, Mode, Reader};
use crate::index::{Chunk, Index};

/// Steps that make another capture of a capture. Without a step, the result has every record that can be decoded,
/// unchanged: see [`repair`](fn@super::repair).
///
/// The steps apply in one walk, in memory that does not grow with the capture, and in no order: an edit of several steps is
/// the same as several edits. Records that are not samples stay, so that the samples that are left have the same processes
/// and mappings. A file keeps an [`EditAccount`](super::EditAccount) of what was left out.
///
/// # Examples
///
/// A compressed copy with the samples of a span of time, without the data that their events define:
///
/// ```
/// use std::io::Cursor;
///
/// use perf_parse::Reader;
/// use perf_parse::abi::sample_type::SampleType;
/// use perf_parse::rewrite::{Edit, EditedRecord};
///
/// # let path = "examples/captures/ids.data";
/// let reader = Reader::open(path)?;
/// let first = reader.records().filter_map(|it| it.ok()?.sample()?.time()).min().unwrap_or(0);
/// let span = first..first + 1_000_000;
/// let edit = Edit::new().remove(SampleType::RAW).samples(move |record| {
///     let is_selected = record.time().is_some_and(|time| span.contains(&time));
///     if is_selected { EditedRecord::Kept } else { EditedRecord::LeftOut }
/// });
/// let edited = edit.write_file(&reader, Cursor::new(Vec::new()), |_| {})?;
/// println!("{} samples are left out", edited.left_out);
///
/// let bytes = edited.out.into_inner();
/// assert!(Reader::new(&bytes)?.records().all(|record| record.is_ok()));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use = "an edit does nothing until it is written"]
pub struct Edit<'f> {
    order: RepairOrder,
    steps: EditSteps<'f>,
    zstd: Option<ZstdOptions>,
    attr_version: Option<AttrVersion>,
    needed: Option<NeededParts<'f>>,
}

/// The parts of a capture that an edit needs, by its index.
struct NeededParts<'f> {
    index: Index,
    wants: Box<dyn Fn(&Chunk<'_>) -> bool + 'f>,
}

impl Default for Edit<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl Debug for Edit<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Edit")
            .field("order", &self.order)
            .field("steps", &self.steps)
            .field("zstd", &self.zstd)
            .field("attr_version", &self.attr_version)
            .finish_non_exhaustive()
    }
}

impl<'f> Edit<'f> {
    /// Creates an edit without steps, which writes an uncompressed capture.
    pub const fn new() -> Self {
        Self {
            order: RepairOrder::Capture,
            steps: EditSteps {
                removed: SampleType::NONE,
                filter: None,
                account: EditAccount::NOTHING,
                side_band: None,
                added: Vec::new(),
                others: Vec::new(),
                new_events: Vec::new(),
                source: None,
                release: None,
            },
            zstd: None,
            attr_version: None,
            needed: None,
        }
    }

    /// Sets the order of the records. The default is that of the capture. Order of time takes another walk over the capture; and
    /// if a reader cannot hold enough for it ([`Limits::held_records`](crate::file::Limits::held_records)), one walk or more for
    /// each [`Limits::held_bytes`](crate::file::Limits::held_bytes) of records. Records without a time then come first.
    pub fn order(self, order: RepairOrder) -> Self {
        Self { order, ..self }
    }

    /// Has a filter decide about each sample that can be decoded, in the order of the records.
    pub fn samples(self, filter: impl FnMut(&EventRecord<'_>) -> EditedRecord + 'f) -> Self {
        Self { steps: EditSteps { filter: Some(Box::new(filter)), ..self.steps }, ..self }
    }

    /// States that the filter keeps one in `factor` of the samples that are selected, for the
    /// [`EditAccount`](super::EditAccount). Periods stay as they are.
    pub fn one_in(mut self, factor: u64) -> Self {
        self.steps.account.one_in = factor.max(1);
        self
    }

    /// States how many names of functions a filter stores in the features, and how many frames with names it leaves out, for the
    /// [`EditAccount`](super::EditAccount).
    pub fn names(mut self, stored: u64, left_out: u64) -> Self {
        (self.steps.account.names, self.steps.account.names_left_out) = (stored, left_out);
        self
    }

    /// Removes fields, in addition to those of earlier calls, from all samples and from the attrs of their events: any of
    /// CALLCHAIN, RAW, BRANCH_STACK, REGS_USER, STACK_USER, REGS_INTR, PHYS_ADDR, WEIGHT, WEIGHT_STRUCT, DATA_SRC, TRANSACTION,
    /// CGROUP, DATA_PAGE_SIZE, CODE_PAGE_SIZE and AUX. Records CALLCHAIN_DEFERRED go with CALLCHAIN.
    pub fn remove(self, fields: SampleType) -> Self {
        let removed = self.steps.removed | fields;
        Self { steps: EditSteps { removed, ..self.steps }, ..self }
    }

    /// Has a filter decide about each record of the kernel that is not a sample, in the order of the records. The account counts
    /// those that it leaves out.
    pub fn side_band(self, filter: impl FnMut(&EventRecord<'_>) -> EditedRecord + 'f) -> Self {
        Self { steps: EditSteps { side_band: Some(Box::new(filter)), ..self.steps }, ..self }
    }

    /// Adds records, each before the first record of the capture that is not earlier, so that readers that order records by
    /// time have it before that record, whatever rounds the capture has. Those of one time keep their order. The account counts
    /// them. Those that cannot be decoded, or are of no event, are left out.
    pub fn insert(mut self, records: impl IntoIterator<Item = AddedRecord>) -> Self {
        self.steps.added.extend(records);
        self.steps.added.sort_by_key(|record| record.time);
        self
    }

    /// Adds events after those of the capture, for records of [`records_before`](Self::records_before). Their ids must be no other
    /// event's.
    pub fn add_events(mut self, events: impl IntoIterator<Item = EventFields>) -> Self {
        self.steps.new_events.extend(events);
        self
    }

    /// Has `source` make records: before each record of the capture that can be decoded, in the order of the records, and at the
    /// end, where it is given `None`. It appends whole records, in the byte order of the capture, to an empty buffer, and returns
    /// whether it is to be asked again before the same record, so that it need not make many at once. No filter sees them. The
    /// account counts them.
    ///
    /// Unlike those of [`insert`](Self::insert), they need not be known before the walk, and can be of [new events](Self::add_events).
    pub fn records_before(
        self,
        source: impl FnMut(Option<&EventRecord<'_>>, &mut Vec<u8>) -> bool + 'f,
    ) -> Self {
        Self { steps: EditSteps { source: Some(Box::new(source)), ..self.steps }, ..self }
    }

    /// Has a filter decide about all other records, features, and names of events, after those of earlier calls.
    pub fn others(mut self, filter: impl CaptureFilter + 'f) -> Self {
        self.steps.others.push(Box::new(filter));
        self
    }

    /// States that the filters remove these kinds of secrets, for the [`EditAccount`](super::EditAccount).
    pub fn redacted(mut self, kinds: impl IntoIterator<Item = &'static str>) -> Self {
        self.steps.account.redacted = kinds.into_iter().map(String::from).collect();
        self
    }

    /// Compresses the records; `None`, the default, writes them uncompressed. Needs this crate's feature `zstd`.
    pub fn compress(self, zstd: Option<ZstdOptions>) -> Self {
        Self { zstd, ..self }
    }

    /// Sets the size of the attrs. `None`, the default, keeps it: see [`WriteOptions::attr_version`].
    pub fn attr_version(self, version: Option<AttrVersion>) -> Self {
        Self { attr_version: version, ..self }
    }

    /// Passes over the parts of the capture whose samples the filter leaves out: reads the chunks of an index that `wants`
    /// selects, and the records of other chunks that are not samples. The filter must leave out all samples of the other
    /// chunks, which count as left out. Faults in parts that are not read are not found. Has no effect on a capture that is
    /// compressed or not in memory, and if the index does not fit the capture.
    pub fn by_index(self, index: Index, wants: impl Fn(&Chunk<'_>) -> bool + 'f) -> Self {
        Self { needed: Some(NeededParts { index, wants: Box::new(wants) }), ..self }
    }

    /// Leaves out what a release of perf refuses, and states it in [`EditSummary::left_out_for_release`]; `None`, the default,
    /// writes everything. Attrs have at most the size that the release reads.
    pub fn for_release(self, release: Option<PerfRelease>) -> Self {
        Self { steps: EditSteps { release, ..self.steps }, ..self }
    }

    /// Writes the result as a file at the start of `out`, which should be empty. Calls `report` at each step.
    ///
    /// # Errors
    ///
    /// Those of [`FileWriter`]: [`WriteFileError::Io`]; [`WriteFileError::Event`] and [`WriteFileError::Attr`] for an event
    /// that no file can have, or not with the chosen attr version; [`WriteFileError::Option`] for fields that cannot be
    /// removed, and for a compression that cannot be made. `Io` of kind [`Unsupported`](std::io::ErrorKind::Unsupported) for a
    /// stream, because it has to be read twice.
    pub fn write_file<W: Write + Seek>(
        self,
        reader: &Reader<'_>,
        out: W,
        mut report: impl FnMut(RepairStep<'_>),
    ) -> Result<EditSummary<W>, WriteFileError> {
        self.write::<FileWriter<W>>(reader, out, &mut report)
    }

    /// Writes the result as a pipe-mode stream, which needs no seeking. Calls `report` at each step.
    ///
    /// Features that only files have, that do not fit into a record, or that a pipe's readers do not know are left out, and
    /// so is the [`EditAccount`](super::EditAccount).
    ///
    /// # Errors
    ///
    /// Those of [`write_file`](Self::write_file), for what no stream can have.
    pub fn write_pipe<W: Write>(
        self,
        reader: &Reader<'_>,
        out: W,
        mut report: impl FnMut(RepairStep<'_>),
    ) -> Result<EditSummary<W>, WriteFileError> {
        self.write::<PipeWriter<W>>(reader, out, &mut report)
    }

    /// Writes the result as the files of a folder, each of which should be empty, in order of time. Calls `report` at each step.
    ///
    /// # Errors
    ///
    /// Those of [`write_file`](Self::write_file).
    pub fn write_folder<W: Write + Seek>(
        self,
        reader: &Reader<'_>,
        out: FolderOutputs<W>,
        mut report: impl FnMut(RepairStep<'_>),
    ) -> Result<EditSummary<FolderOutputs<W>>, WriteFileError> {
        // The records of each file must be in order.
        self.order(RepairOrder::Time).write::<FolderSink<W>>(reader, out, &mut report)
    }

    fn write<S: CaptureSink>(
        mut self,
        reader: &Reader<'_>,
        out: S::Out,
        report: &mut dyn FnMut(RepairStep<'_>),
    ) -> Result<EditSummary<S::Out>, WriteFileError> {
        if self.steps.removed.0 & !REMOVABLE.0 != 0 {
            let must = "CALLCHAIN, RAW or a field after them, except READ";
            return Err(WriteFileError::Option { option: "remove", must });
        }
        let needed = self.needed.as_ref();
        let (mut records, passed_over) = match needed.and_then(|it| it.walk(reader)) {
            Some(walk) => walk,
            None => (known_records(reader)?, 0),
        };
        if let Some(release) = self.steps.release {
            self.steps.removed |= release.misread(records.events());
        }
        let mut sorted = None;
        if self.order == RepairOrder::Time {
            let again = || match needed.and_then(|it| it.walk(reader)) {
                Some((records, _)) => records,
                None => known_records(reader).unwrap_or_else(|_| reader.records()),
            };
            sorted = SortedRecords::new(again, reader.limits().held_bytes);
            if sorted.is_none() {
                records = records.in_time_order();
            }
        }
        let options = WriteOptions {
            endianness: reader.endianness(),
            attr_version: self.attr_version,
            zstd: self.zstd,
            ..WriteOptions::default()
        };
        let walk = EditWalk { reader, records, sorted, passed_over };
        Rewriter::<S>::run(&mut self.steps, walk, &options, out, report)
    }
}

impl NeededParts<'_> {
    /// Returns a walk over the needed parts, and the number of samples in the others; `None` if all are needed.
    fn walk<'r>(&self, reader: &'r Reader<'_>) -> Option<(EventRecords<'r>, u64)> {
        // The events and features of a pipe are only known at its end.
        let is_known = !matches!(reader.mode(), Mode::Pipe);
        let records = self.index.walk(reader, |chunk| (self.wants)(chunk)).filter(|_| is_known)?;
        let passed_over =
            self.index.chunks().filter(|chunk| !(self.wants)(chunk)).map(|chunk| chunk.samples());
        Some((records, passed_over.sum()))
    }
}
