//! The walk of an edit: each record is checked, edited and written.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::{self, Vec};
use core::fmt::{Debug, Formatter};
use core::iter::Peekable;

use perf_abi::endian::Endianness;
use perf_abi::feature::Feature;
use perf_abi::record::RecordType;
use perf_abi::sample_type::SampleType;

use super::account::EditAccount;
use super::capture_filter::CaptureFilter;
use super::descriptions::{DescriptionPart, Descriptions};
use super::edited::{AddedRecord, EditSummary, EditedRecord};
use super::perf_release::{PerfRelease, ReleaseLosses};
use super::sample_fields;
use super::sink::CaptureSink;
use super::sorted::SortedRecords;
use super::step::RepairStep;
use super::{event_fields, features, is_section, name_all};
use crate::error::{FileError, FileErrorKind};
use crate::event::{EventRecord, Events};
use crate::feature::{FeatureData, SampleTime};
use crate::file::write::{EventFields, FeaturePayloads, WriteFileError, WriteOptions};
use crate::file::{EventRecords, Reader, RecordCheck};
use crate::layout::SampleLayout;
use crate::record::user::EventUpdateData;
use crate::record::{RawRecord, Record, UserRecord};

/// Decides about a record.
type RecordDecision<'f> = Box<dyn FnMut(&EventRecord<'_>) -> EditedRecord + 'f>;

/// Makes records before a record, or at the end; returns whether there are more.
type RecordSource<'f> = Box<dyn FnMut(Option<&EventRecord<'_>>, &mut Vec<u8>) -> bool + 'f>;

/// What an edit does with the records, features and events of a capture.
pub(super) struct EditSteps<'f> {
    /// The fields that are removed.
    pub(super) removed: SampleType,
    /// Decides about each sample.
    pub(super) filter: Option<RecordDecision<'f>>,
    /// What the account has besides what the walk counts.
    pub(super) account: EditAccount,
    /// Decides about the other records of the kernel.
    pub(super) side_band: Option<RecordDecision<'f>>,
    /// Records that are added, in order of time. The walk takes them.
    pub(super) added: Vec<AddedRecord>,
    /// Decide about everything else, each about what those before it leave.
    pub(super) others: Vec<Box<dyn CaptureFilter + 'f>>,
    /// Events that are added after those of the capture.
    pub(super) new_events: Vec<EventFields>,
    /// Makes further records.
    pub(super) source: Option<RecordSource<'f>>,
    /// The release of perf that is to read the result.
    pub(super) release: Option<PerfRelease>,
}

impl Debug for EditSteps<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("EditSteps")
            .field("removed", &self.removed)
            .field("account", &self.account)
            .finish_non_exhaustive()
    }
}

impl EditSteps<'_> {
    /// Returns the account of an edit, added to that of the capture; `None` if nothing was changed.
    fn account(&self, of_capture: Option<&[u8]>, of_edit: &EditAccount) -> Option<EditAccount> {
        let before = of_capture.and_then(EditAccount::parse).unwrap_or_default();
        let release = self.release.map(|it| String::from(it.name()));
        let of_steps = EditAccount { removed: self.removed, release, ..self.account.clone() };
        let account = before.and(&of_steps).and(of_edit);
        (account != EditAccount::default()).then_some(account)
    }
}

/// The records of a capture that an edit reads.
#[derive(Debug)]
pub(super) struct EditWalk<'r, 'd> {
    pub(super) reader: &'r Reader<'d>,
    pub(super) records: EventRecords<'r>,
    /// The records in order of time, if a reader cannot hold enough for it.
    pub(super) sorted: Option<SortedRecords<'r>>,
    /// Number of samples that the walk passes over.
    pub(super) passed_over: u64,
}

/// An edit that is being written.
#[derive(Debug)]
pub(super) struct Rewriter<'e, 'f, S> {
    steps: &'e mut EditSteps<'f>,
    sink: S,
    added: Peekable<vec::IntoIter<AddedRecord>>,
    /// The bytes of the records that the source made last.
    made: Vec<u8>,
    /// The events as they are written, and the layouts of their samples.
    events: Vec<EventFields>,
    layouts: Vec<Option<SampleLayout>>,
    descriptions: Descriptions,
    endianness: Endianness,
    written: u64,
    /// What is left out and added by now.
    account: EditAccount,
    others_left_out: u64,
    dropped: u64,
    /// The times of the first and the last sample that was written.
    times: Option<SampleTime>,
    for_release: ReleaseLosses,
}

/// What is written of a record.
enum RecordPart {
    Whole,
    Bytes(Vec<u8>),
    /// Nothing: the record is not lost, or is counted already.
    Nothing,
}

impl<S: CaptureSink> Rewriter<'_, '_, S> {
    /// Writes the records of a walk that knows all events and features.
    pub(super) fn run(
        steps: &mut EditSteps<'_>,
        walk: EditWalk<'_, '_>,
        options: &WriteOptions,
        out: S::Out,
        report: &mut dyn FnMut(RepairStep<'_>),
    ) -> Result<EditSummary<S::Out>, WriteFileError> {
        let EditWalk { reader, mut records, mut sorted, passed_over } = walk;
        let opened = records.account().diagnostics.clone();
        opened.iter().for_each(|&error| report(RepairStep::Capture { error }));
        let mut features = FeaturePayloads::new_in(options.endianness);
        let mut features_dropped = features::copy(&mut records, &mut features, S::has_room, report)?;
        if steps.removed.contains(SampleType::BRANCH_STACK) {
            features.remove(Feature::BRANCH_STACK);
        }
        // The times of the samples that are written are known at the end.
        let has_times = steps.filter.is_some() && features.remove(Feature::SAMPLE_TIME).is_some();
        let of_capture = features.get(EditAccount::FEATURE).map(Vec::from);
        let tracing_data = features.get(Feature::TRACING_DATA).map(Vec::from).unwrap_or_default();
        let check = RecordCheck::new(&tracing_data);
        // A big-endian file without HOSTNAME can have no feature of a high number.
        let has_account =
            options.endianness == Endianness::Little || features.get(Feature::HOSTNAME).is_some();

        let mut events = events_without(records.events(), steps.removed);
        if !S::IS_FILE {
            // The names and ids that are found later are in records, which are copied.
            let first = events_without(reader.events(), steps.removed);
            events.iter_mut().zip(first).for_each(|(event, first)| *event = first);
        }
        let mut for_release = ReleaseLosses::default();
        let mut options = options.clone();
        if let Some(release) = steps.release {
            for_release.adapt(release, &mut features, &mut events);
            let newest = release.attr_version();
            let chosen = options.attr_version.filter(|it| it.size() <= newest.size());
            options.attr_version = chosen.or(options.attr_version.map(|_| newest));
        }
        let options = &options;
        for others in &mut steps.others {
            others.features(&mut features);
            events.iter_mut().for_each(|event| others.event(event));
        }
        if !steps.new_events.is_empty() {
            events.append(&mut steps.new_events);
            name_all(&mut events);
        }
        features_dropped.extend(features::without_room(&mut features, S::has_room));
        let layouts = events.iter().map(|event| SampleLayout::new(&event.attr).ok()).collect();
        let descriptions = Descriptions::new(records.features().get(Feature::TRACING_DATA).is_some());
        let sink = S::begin(out, &events, features, options)?;
        let endianness = options.endianness;
        let (written, others_left_out, dropped, times) = (0, 0, 0, None);
        let added = core::mem::take(&mut steps.added).into_iter().peekable();
        let mut writer = Rewriter {
            steps,
            sink,
            added,
            made: Vec::new(),
            events,
            layouts,
            descriptions,
            endianness,
            written,
            account: EditAccount { left_out: passed_over, ..EditAccount::default() },
            others_left_out,
            dropped,
            times,
            for_release,
        };
        loop {
            report(RepairStep::At(records.reached().offset));
            let next = match &mut sorted {
                Some(sorted) => sorted.next(&mut records),
                None => records.next(),
            };
            let record = match next {
                None => break,
                // The walk has noted the error.
                Some(Err(error)) => {
                    report(RepairStep::Unreadable { data_file: records.reached().data_file, error });
                    continue;
                }
                Some(Ok(record)) => record,
            };
            writer.add_until(record.time(), records.events())?;
            writer.add_before(Some(&record))?;
            let read = check.record(&record).and_then(|()| {
                let part = writer.part(&record, records.events())?;
                // The data is read only if it is written.
                let trailing = match part {
                    RecordPart::Whole => reader.trailing(&record)?,
                    RecordPart::Bytes(_) | RecordPart::Nothing => Cow::default(),
                };
                Ok((part, trailing))
            });
            match read {
                Ok((part, trailing)) => writer.put(&record, &trailing, &part, report)?,
                Err(error) => {
                    writer.dropped = writer.dropped.saturating_add(1);
                    // The walk notes an EVENT_UPDATE with an unknown id.
                    let is_update =
                        matches!(error.kind, FileErrorKind::UnknownId { kind: RecordType::EVENT_UPDATE, .. });
                    if !is_update {
                        records.account_mut().note(error);
                    }
                    if !is_update || !opened.contains(&error) {
                        report(RepairStep::Unreadable { data_file: record.position().data_file, error });
                    }
                }
            }
        }
        writer.add_until(Some(u64::MAX), records.events())?;
        writer.add_before(None)?;
        let Rewriter {
            steps,
            sink,
            mut events,
            written,
            account: of_edit,
            others_left_out,
            dropped,
            times,
            for_release,
            ..
        } = writer;
        let left_out_for_release = for_release.texts();
        name_all(&mut events);
        let mut features = Vec::new();
        if has_account {
            let account = steps.account(of_capture.as_deref(), &of_edit);
            features.extend(account.map(|account| (EditAccount::FEATURE, account.encode())));
        }
        if let Some(times) = times.filter(|_| has_times) {
            let payload = FeatureData::SampleTime(times).encode(endianness)?;
            features.push((Feature::SAMPLE_TIME, payload));
        }
        let account = records.account().clone();
        let out = sink.finish(&events, features)?;
        let left_out =
            of_edit.left_out.saturating_add(of_edit.side_band_left_out).saturating_add(others_left_out);
        Ok(EditSummary { out, written, left_out, dropped, features_dropped, left_out_for_release, account })
    }

    /// Returns what is written of a record that can be decoded.
    fn part(&mut self, record: &EventRecord<'_>, known: &Events) -> Result<RecordPart, FileError> {
        if self.steps.release.is_some_and(|release| !release.has(record.kind())) {
            self.others_left_out = self.others_left_out.saturating_add(1);
            self.for_release.add(record.kind());
            return Ok(RecordPart::Nothing);
        }
        match record.kind() {
            RecordType::SAMPLE => return self.sample(record),
            RecordType::CALLCHAIN_DEFERRED if self.steps.removed.contains(SampleType::CALLCHAIN) => {
                self.account.left_out = self.account.left_out.saturating_add(1);
                return Ok(RecordPart::Nothing);
            }
            kind if is_section(kind) => return Ok(RecordPart::Nothing),
            _ => {}
        }
        let part = match self.descriptions.part(&record.raw(), known) {
            DescriptionPart::Whole => RecordPart::Whole,
            DescriptionPart::Bytes(bytes) => RecordPart::Bytes(bytes),
            DescriptionPart::Elsewhere => return Ok(RecordPart::Nothing),
            DescriptionPart::Wrong => {
                self.dropped = self.dropped.saturating_add(1);
                return Ok(RecordPart::Nothing);
            }
            DescriptionPart::Late => {
                let must = "before the records that it describes";
                return Err(FileError::invalid("tracing_data", record.offset(), must, record.offset()));
            }
        };
        let Some(part) = self.side_band(record, part) else { return Ok(RecordPart::Nothing) };
        let layout = record.event().map(|event| &event.layout);
        let edited = match &part {
            RecordPart::Bytes(bytes) => self.other(bytes, layout),
            _ => self.other(record.raw().as_bytes(), layout),
        };
        let part = match edited {
            None => {
                self.others_left_out = self.others_left_out.saturating_add(1);
                RecordPart::Nothing
            }
            Some(None) => part,
            Some(Some(bytes)) => RecordPart::Bytes(bytes),
        };
        // A name that is left out must not become that of the event.
        let is_update = record.kind() == RecordType::EVENT_UPDATE && matches!(part, RecordPart::Whole);
        Ok(if is_update && !self.rename(record, known)? { RecordPart::Nothing } else { part })
    }

    /// Adds the records that are not later than `time`.
    fn add_until(&mut self, time: Option<u64>, known: &Events) -> Result<(), WriteFileError> {
        let Some(time) = time else { return Ok(()) };
        while let Some(record) = self.added.next_if(|it| it.time <= time) {
            let Some(event) = known.get(record.event) else { continue };
            let Some(part) = self.other(&record.bytes, Some(&event.layout)) else { continue };
            let bytes = part.unwrap_or(record.bytes);
            let Ok((raw, _)) = RawRecord::parse_in(self.endianness, &bytes) else { continue };
            self.sink.copy(&raw, &[], || None)?;
            self.written = self.written.saturating_add(1);
            self.account.added = self.account.added.saturating_add(1);
        }
        Ok(())
    }

    /// Adds the records that the source makes before a record, or at the end.
    fn add_before(&mut self, record: Option<&EventRecord<'_>>) -> Result<(), WriteFileError> {
        let Some(source) = &mut self.steps.source else { return Ok(()) };
        loop {
            self.made.clear();
            let has_more = source(record, &mut self.made);
            let mut rest = self.made.as_slice();
            while let Ok((raw, after)) = RawRecord::parse_in(self.endianness, rest) {
                self.sink.copy(&raw, &[], || None)?;
                self.written = self.written.saturating_add(1);
                self.account.added = self.account.added.saturating_add(1);
                rest = after;
            }
            if !has_more {
                return Ok(());
            }
        }
    }

    /// Returns what the filter of side-band leaves of a record; `None` for nothing.
    fn side_band(&mut self, record: &EventRecord<'_>, part: RecordPart) -> Option<RecordPart> {
        let Some(filter) = self.steps.side_band.as_mut().filter(|_| !record.kind().is_user()) else {
            return Some(part);
        };
        match filter(record) {
            EditedRecord::Kept => Some(part),
            EditedRecord::Replaced(bytes) => Some(RecordPart::Bytes(bytes)),
            EditedRecord::LeftOut => {
                self.account.side_band_left_out = self.account.side_band_left_out.saturating_add(1);
                None
            }
        }
    }

    /// Returns what the filters leave of a record that is not a sample: other bytes or `Some(None)` for the same ones, `None` for
    /// nothing.
    fn other(&mut self, bytes: &[u8], layout: Option<&SampleLayout>) -> Option<Option<Vec<u8>>> {
        let mut replaced = None;
        for others in &mut self.steps.others {
            let bytes = replaced.as_deref().unwrap_or(bytes);
            let edited =
                RawRecord::parse_in(self.endianness, bytes).map(|(raw, _)| others.record(&raw, layout));
            match edited {
                Ok(EditedRecord::Kept) => {}
                Ok(EditedRecord::Replaced(bytes)) => replaced = Some(bytes),
                Ok(EditedRecord::LeftOut) | Err(_) => return None,
            }
        }
        Some(replaced)
    }

    /// Returns what is written of a sample.
    fn sample(&mut self, record: &EventRecord<'_>) -> Result<RecordPart, FileError> {
        let mut part = RecordPart::Whole;
        if let Some(filter) = &mut self.steps.filter {
            match filter(record) {
                EditedRecord::Kept => {}
                EditedRecord::LeftOut => {
                    self.account.left_out = self.account.left_out.saturating_add(1);
                    return Ok(RecordPart::Nothing);
                }
                EditedRecord::Replaced(bytes) => part = RecordPart::Bytes(bytes),
            }
        }
        if let Some(time) = record.time().filter(|_| self.steps.filter.is_some()) {
            let times = self.times.get_or_insert(SampleTime { first: time, last: time });
            *times = SampleTime { first: times.first.min(time), last: times.last.max(time) };
        }
        let Some(event) = record.event() else { return Ok(part) };
        let removed = self.steps.removed;
        let after = self.layouts.get(event.index).and_then(Option::as_ref);
        let Some(after) = after.filter(|_| event.attr.sample_type.0 & removed.0 != 0) else {
            return Ok(part);
        };
        let edited = match &part {
            RecordPart::Bytes(bytes) => {
                let replaced = RawRecord::parse_in(self.endianness, bytes);
                replaced.and_then(|(raw, _)| {
                    sample_fields::without(&crate::Sample::parse(&event.layout, &raw)?, removed, after)
                })
            }
            _ => match record.sample() {
                Some(sample) => sample_fields::without(&sample, removed, after),
                None => return Ok(part),
            },
        };
        edited.map(RecordPart::Bytes).map_err(|error| record.error(error))
    }

    /// Applies the name in an EVENT_UPDATE record, as the reader of the output will. Returns whether the record is written:
    /// the start of a pipe has the names of all events already.
    fn rename(&mut self, record: &EventRecord<'_>, known: &Events) -> Result<bool, FileError> {
        let Record::User(UserRecord::EventUpdate(it), kind) = record.decode()? else { return Ok(true) };
        let index = known.index_of_update(it.id);
        let Some(event) = index.and_then(|index| self.events.get_mut(index)) else {
            return Err(FileError::new(FileErrorKind::UnknownId { kind, id: it.id }, record.offset()));
        };
        let EventUpdateData::Name(name) = it.data else { return Ok(true) };
        let is_new = event.name.as_deref() != Some(name);
        if is_new {
            event.name = Some(Vec::from(name));
        }
        Ok(is_new || S::IS_FILE)
    }

    /// Writes a part of a record, and the data after a whole one.
    fn put(
        &mut self,
        record: &EventRecord<'_>,
        trailing: &[u8],
        part: &RecordPart,
        report: &mut dyn FnMut(RepairStep<'_>),
    ) -> Result<(), WriteFileError> {
        let copied = match part {
            RecordPart::Whole => self.sink.copy(&record.raw(), trailing, || record.cpu()),
            RecordPart::Bytes(bytes) => match RawRecord::parse_in(self.endianness, bytes) {
                Ok((raw, _)) => self.sink.copy(&raw, &[], || record.cpu()),
                Err(_) => return Ok(()),
            },
            RecordPart::Nothing => return Ok(()),
        };
        match copied {
            Ok(()) => self.written = self.written.saturating_add(1),
            Err(error @ WriteFileError::Record { .. }) => {
                self.dropped = self.dropped.saturating_add(1);
                report(RepairStep::Unwritable {
                    offset: record.offset(),
                    kind: record.kind(),
                    error: &error,
                });
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Returns the events to be written, without some fields of their samples.
pub(super) fn events_without(known: &Events, removed: SampleType) -> Vec<EventFields> {
    let mut events = event_fields(known);
    for event in &mut events {
        // Unknown bits affect only samples, but with them no reader could find the ids of the event's other records.
        event.attr.sample_type = decodable(event.attr.sample_type);
        sample_fields::remove_from(&mut event.attr, removed);
    }
    events
}

/// Returns the bits of a `sample_type` that this crate can decode: see [`SampleLayout::new`].
fn decodable(sample_type: SampleType) -> SampleType {
    let known = SampleType(sample_type.0 & SampleType::KNOWN.0);
    if known.contains(SampleType::WEIGHT_TYPE) { known.without(SampleType::WEIGHT_STRUCT) } else { known }
}
