//! Several captures as one, in order of time.

mod aux_queues;
mod error;
mod events;
mod joined_features;
mod options;
mod origin;
mod translation;

pub use error::CaptureMergeError;
pub use options::MergeOptions;

use alloc::collections::{BTreeSet, BinaryHeap};
use alloc::vec::Vec;
use core::cmp::Reverse;
use std::io::{Seek, Write};

use perf_abi::endian::Endianness;
use perf_abi::feature::Feature;
use perf_abi::record::RecordType;
use perf_abi::sample_type::SampleType;

use super::account::EditAccount;
use super::descriptions::{DescriptionPart, Descriptions};
use super::edited::EditSummary;
use super::step::RepairStep;
use super::{features, is_section, known_records, name_all};
use crate::account::Account;
use crate::error::FileError;
use crate::event::{Event, EventRecord};
use crate::feature::{FeatureData, FeatureSection};
use crate::file::write::{FeaturePayloads, FileWriter, WriteFileError, WriteOptions};
use crate::file::{EventRecords, Reader, RecordCheck};
use crate::record::user::EventUpdateData;
use crate::record::{RawRecord, Record, UserRecord};
use aux_queues::AuxQueues;
use events::MergedEvents;
use translation::RecordTranslation;

/// Number of records between two marks for readers that order records: they hold as many.
const ROUND: u64 = 16384;

/// Writes one file of several captures of one machine, in order of time. The output `out` should be empty. Calls `report` at
/// each step, with the number of the capture, from 0.
///
/// - Events of different captures are one if they have the same attr and name. Others are added.
/// - Records without a time, which describe what existed when a capture began, are written at its first record with a time.
///   Rounds of the recorders end differently in the result, so their marks (FINISHED_ROUND) are written anew.
/// - Ids of events that belong to other events of earlier captures are replaced by ids that no capture has. If readers could
///   not tell the events apart by their ids, all records get an identifier.
/// - The times of a capture with a [clock offset](MergeOptions::clock_offsets) are moved to the clock of the first capture.
/// - Features come from the first capture that has them. Build ids, formats of tracepoints, groups of events, programs of BPF,
///   and simpleperf's files and symbols are joined, as are the times of the samples and the [`EditAccount`]s. The records
///   of simpleperf's INIT_MAP become records among the others.
/// - The lists of the threads and CPUs that were recorded (THREAD_MAP, CPU_MAP) are those of the first capture that has them, as
///   perf reads only one. Others count as left out.
/// - The AUX areas of captures of different CPUs and threads are kept whole.
/// - What cannot be decoded is left out, as by [`repair`](fn@super::repair).
///
/// Holds what each capture holds for [time order](EventRecords::in_time_order).
///
/// # Examples
///
/// ```
/// use std::io::Cursor;
///
/// use perf_parse::Reader;
/// use perf_parse::rewrite::{Edit, EditedRecord, MergeOptions, merge};
///
/// # let path = "examples/captures/ids.data";
/// let reader = Reader::open(path)?;
/// let time = |record: &perf_parse::EventRecord<'_>| record.time().unwrap_or(0);
/// let middle = reader.records().filter_map(|record| Some(time(&record.ok()?))).max().unwrap_or(0) / 2;
/// let half = |is_first: bool| {
///     let edit = Edit::new().samples(move |record| match (time(record) < middle) == is_first {
///         true => EditedRecord::Kept,
///         false => EditedRecord::LeftOut,
///     });
///     edit.write_file(&reader, Cursor::new(Vec::new()), |_| {}).map(|edited| edited.out.into_inner())
/// };
/// let (first, second) = (half(true)?, half(false)?);
/// let (first, second) = (Reader::new(&first)?, Reader::new(&second)?);
/// let options = MergeOptions::default();
/// let merged = merge(&[&first, &second], &options, Cursor::new(Vec::new()), |_, _| {})?.out.into_inner();
/// let samples = |reader: &Reader<'_>| reader.records().filter(|it| it.as_ref().is_ok_and(|it| it.sample().is_some())).count();
/// assert_eq!(samples(&Reader::new(&merged)?), samples(&reader));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`CaptureMergeError::Differ`] if a capture has another byte order, machine, kernel, boot, clock or writer than the first, or if its
/// AUX data could not be told apart from that of another; [`CaptureMergeError::Write`] as [`Edit::write_file`](super::Edit::write_file).
pub fn merge<W: Write + Seek>(
    readers: &[&Reader<'_>],
    options: &MergeOptions,
    out: W,
    mut report: impl FnMut(usize, RepairStep<'_>),
) -> Result<EditSummary<W>, CaptureMergeError> {
    let Some(first) = readers.first() else {
        return Err(CaptureMergeError::Differ { capture: 0, field: "captures", must: "one at least" });
    };
    origin::check(readers, options)?;
    let clock = origin::clock(first);
    let mut features = FeaturePayloads::new_in(first.endianness());
    let mut features_dropped = Vec::new();
    let mut walks = Vec::new();
    for reader in readers {
        walks.push(known_records(reader)?);
    }
    let mut events = MergedEvents::of(walks.iter().map(|records| records.events()));
    let mut captures = Vec::new();
    for (index, (reader, records)) in readers.iter().zip(&mut walks).enumerate() {
        let opened = records.account().diagnostics.clone();
        opened.into_iter().for_each(|error| report(index, RepairStep::Capture { error }));
        let mut of_capture = FeaturePayloads::new_in(reader.endianness());
        let mut step = |step: RepairStep<'_>| report(index, step);
        features_dropped.extend(features::copy(records, &mut of_capture, |_, _| true, &mut step)?);
        let is_other_clock = origin::clock(reader) != clock;
        if is_other_clock {
            of_capture.remove(Feature::CLOCK_DATA);
            of_capture.remove(Feature::CLOCKID);
        }
        let added = events.add(index, records.events(), is_other_clock.then_some(clock))?;
        let formats = of_capture.get(Feature::TRACING_DATA).map(Vec::from).unwrap_or_default();
        let init_map = of_capture.remove(Feature::INIT_MAP).unwrap_or_default();
        captures.push((of_capture, formats, init_map, added));
    }
    let mut translated: Vec<_> =
        captures.iter_mut().map(|(_, _, _, (events, _))| core::mem::take(events)).collect();
    let is_identified = events.identify(&mut translated)?;
    let mut parts = Vec::new();
    for (index, ((of_capture, formats, init_map, (_, ids)), events)) in
        captures.into_iter().zip(translated).enumerate()
    {
        let offset = origin::offset_of(options, index);
        let translation = RecordTranslation { offset, ids, events, endianness: first.endianness() };
        joined_features::join(index, &mut features, of_capture, &translation)?;
        parts.push((formats, init_map, translation));
    }
    let mut account = features.get(EditAccount::FEATURE).and_then(EditAccount::parse).unwrap_or_default();
    let offsets = options.clock_offsets.iter().filter(|&(_, &offset)| offset != 0);
    let numbered = offsets.map(|(&capture, &offset)| ((capture as u64).saturating_add(1), offset));
    account.clock_offsets.extend(numbered);
    account.renumbered = account.renumbered.saturating_add(events.renumbered);
    if is_identified {
        account.added_fields |= SampleType::IDENTIFIER;
    }
    let has_room = first.endianness() == Endianness::Little || features.get(Feature::HOSTNAME).is_some();
    if account != EditAccount::default() && has_room {
        features.raw(EditAccount::FEATURE, &account.encode())?;
    }
    let inputs = readers.iter().zip(walks).zip(&parts);
    let inputs = inputs.map(|((reader, records), (tracing_data, init_map, translation))| {
        let has_formats = records.features().get(Feature::TRACING_DATA).is_some();
        MergeInput {
            reader,
            records: records.in_time_order(),
            check: RecordCheck::new(tracing_data),
            translation,
            is_copied: translation.is_identity(),
            init_map,
            descriptions: Descriptions::new(has_formats),
            held: None,
            has_begun: false,
        }
    });
    let inputs = inputs.collect();
    features_dropped.sort_unstable();
    features_dropped.dedup();
    let options = WriteOptions { endianness: first.endianness(), ..WriteOptions::default() };
    let writer = FileWriter::new(out, &events.fields, &options).map_err(CaptureMergeError::Write)?;
    let aux = AuxQueues::default();
    let mut merge = MergeWriter {
        writer,
        events,
        aux,
        lists: BTreeSet::new(),
        left_out: 0,
        written: 0,
        dropped: 0,
        in_round: 0,
    };
    let account = merge.records(readers, inputs, &mut report)?;
    let MergeWriter { mut writer, mut events, written, left_out, dropped, .. } = merge;
    name_all(&mut events.fields);
    writer.name_events(&events.fields)?;
    *writer.features() = features;
    let out = writer.finish()?;
    let left_out_for_release = Vec::new();
    Ok(EditSummary { out, written, left_out, dropped, features_dropped, left_out_for_release, account })
}

/// A file of several captures that is being written.
#[derive(Debug)]
struct MergeWriter<W> {
    writer: FileWriter<W>,
    events: MergedEvents,
    aux: AuxQueues,
    /// The types of the lists that are written.
    lists: BTreeSet<RecordType>,
    written: u64,
    left_out: u64,
    dropped: u64,
    /// Number of records since the last mark.
    in_round: u64,
}

/// A capture that is being read.
#[derive(Debug)]
struct MergeInput<'r, 'd, 't> {
    reader: &'r Reader<'d>,
    /// In order of time.
    records: EventRecords<'r>,
    check: RecordCheck<'t>,
    translation: &'t RecordTranslation,
    /// Whether records stay as they are.
    is_copied: bool,
    /// The records of simpleperf's INIT_MAP.
    init_map: &'t [u8],
    descriptions: Descriptions,
    /// The record that is written next, when the others have reached its time.
    held: Option<EventRecord<'r>>,
    has_begun: bool,
}

impl<W: Write + Seek> MergeWriter<W> {
    /// Writes the records of all captures, and returns their account.
    fn records(
        &mut self,
        readers: &[&Reader<'_>],
        mut inputs: Vec<MergeInput<'_, '_, '_>>,
        report: &mut impl FnMut(usize, RepairStep<'_>),
    ) -> Result<Account, CaptureMergeError> {
        // The time of the next record of each capture. A capture begins at its first record with a time.
        let start = |reader: &Reader<'_>| reader.records().in_time_order().find_map(|it| time_of(&it.ok()?));
        let mut next = BinaryHeap::new();
        for (index, (reader, input)) in readers.iter().zip(&inputs).enumerate() {
            let time = start(reader).map(|time| input.time(index, time)).transpose()?;
            next.push(Reverse((time.unwrap_or(u64::MAX), index)));
        }
        while let Some(Reverse((_, index))) = next.pop() {
            let Some(input) = inputs.get_mut(index) else { continue };
            if !core::mem::replace(&mut input.has_begun, true) {
                if self.written > 0 {
                    // Readers deliver what is before the first of two marks before what comes after the second.
                    self.writer.end_round()?;
                    self.writer.end_round()?;
                }
                self.init_map(index, input, report)?;
            }
            if let Some(record) = input.held.take() {
                self.put(index, input, &record, report)?;
            }
            loop {
                report(index, RepairStep::At(input.records.reached().offset));
                let data_file = input.records.reached().data_file;
                let record = match input.records.next() {
                    None => break,
                    Some(Err(error)) => {
                        report(index, RepairStep::Unreadable { data_file, error });
                        continue;
                    }
                    Some(Ok(record)) => record,
                };
                if let Err(error) = input.check.record(&record) {
                    self.drop_unreadable(index, input, error, report);
                    continue;
                }
                if let Some(time) = time_of(&record) {
                    let time = input.time(index, time)?;
                    if next.peek().is_some_and(|&Reverse(other)| other < (time, index)) {
                        next.push(Reverse((time, index)));
                        input.held = Some(record);
                        break;
                    }
                }
                self.put(index, input, &record, report)?;
            }
        }
        let mut account = Account::default();
        inputs.iter().for_each(|input| account.add(input.records.account()));
        Ok(account)
    }

    /// Counts a record that cannot be read whole, and notes its fault.
    fn drop_unreadable(
        &mut self,
        capture: usize,
        input: &mut MergeInput<'_, '_, '_>,
        error: FileError,
        report: &mut impl FnMut(usize, RepairStep<'_>),
    ) {
        self.dropped = self.dropped.saturating_add(1);
        input.records.account_mut().note(error);
        report(capture, RepairStep::Unreadable { data_file: input.records.reached().data_file, error });
    }

    /// Writes the records that a capture of simpleperf has in INIT_MAP, which are those of its first event.
    fn init_map(
        &mut self,
        capture: usize,
        input: &mut MergeInput<'_, '_, '_>,
        report: &mut impl FnMut(usize, RepairStep<'_>),
    ) -> Result<(), CaptureMergeError> {
        let endianness = input.translation.endianness;
        let section = FeatureSection::new(Feature::INIT_MAP, 0, input.init_map, endianness);
        // Its faults were found with those of the other features.
        let Ok(FeatureData::InitMap(map)) = section.decode() else { return Ok(()) };
        let first = input.records.events().iter().next().cloned();
        for record in map.reader().records().flatten() {
            let part = InputRecord { raw: record.raw(), trailing: &[], offset: 0, event: first.as_deref() };
            self.write(capture, input, &part, report)?;
        }
        Ok(())
    }

    /// Writes a record of a capture.
    fn put(
        &mut self,
        capture: usize,
        input: &mut MergeInput<'_, '_, '_>,
        record: &EventRecord<'_>,
        report: &mut impl FnMut(usize, RepairStep<'_>),
    ) -> Result<(), CaptureMergeError> {
        let (raw, kind) = (record.raw(), record.kind());
        if is_section(kind) || kind == RecordType::FINISHED_ROUND {
            return Ok(());
        }
        let trailing = match input.reader.trailing(record) {
            Ok(trailing) => trailing,
            Err(error) => {
                self.drop_unreadable(capture, input, error, report);
                return Ok(());
            }
        };
        let event = record.event().map(AsRef::as_ref);
        let source = InputRecord { raw, trailing: &trailing, offset: record.offset(), event };
        match kind {
            RecordType::DSO | RecordType::SYMBOL => {
                let must = "of a capture of its own: captures number their files each for itself";
                let field = kind.name().unwrap_or("record");
                Err(CaptureMergeError::Differ { capture, field, must })
            }
            RecordType::AUXTRACE_INFO if input.translation.offset != 0 => {
                let must = "0 with AUX data, which has times of its own";
                Err(CaptureMergeError::Differ { capture, field: "clock offset", must })
            }
            RecordType::AUXTRACE_INFO | RecordType::AUXTRACE => match self.aux.record(capture, &raw)? {
                Some(bytes) => self.write_bytes(capture, &source, &bytes, report),
                None => Ok(()),
            },
            RecordType::THREAD_MAP | RecordType::CPU_MAP if !self.lists.insert(kind) => {
                self.left_out = self.left_out.saturating_add(1);
                Ok(())
            }
            // Their ids are those of the attrs already.
            RecordType::EVENT_ID => Ok(()),
            RecordType::SPLIT | RecordType::SPLIT_END | RecordType::TRACING_DATA => {
                match input.descriptions.part(&raw, input.records.events()) {
                    DescriptionPart::Whole => self.write(capture, input, &source, report),
                    _ => Ok(()),
                }
            }
            _ => {
                self.rename(&raw, input.translation);
                self.write(capture, input, &source, report)
            }
        }
    }

    /// Writes a record of a capture as it is in the merged one.
    fn write(
        &mut self,
        capture: usize,
        input: &MergeInput<'_, '_, '_>,
        source: &InputRecord<'_>,
        report: &mut impl FnMut(usize, RepairStep<'_>),
    ) -> Result<(), CaptureMergeError> {
        if input.is_copied {
            let copied = self.writer.copy(&source.raw, source.trailing);
            return self.count(capture, source, copied, report);
        }
        match input.translation.record(&source.raw, source.event) {
            Ok(bytes) => self.write_bytes(capture, source, &bytes, report),
            Err(fault) => {
                let kind = Some(source.raw.kind());
                let error = WriteFileError::Record { index: self.written, kind, fault };
                self.count(capture, source, Err(error), report)
            }
        }
    }

    fn write_bytes(
        &mut self,
        capture: usize,
        source: &InputRecord<'_>,
        bytes: &[u8],
        report: &mut impl FnMut(usize, RepairStep<'_>),
    ) -> Result<(), CaptureMergeError> {
        let Ok((raw, _)) = RawRecord::parse_in(source.raw.endianness(), bytes) else { return Ok(()) };
        let copied = self.writer.copy(&raw, source.trailing);
        self.count(capture, source, copied, report)
    }

    /// Counts a record that was written, or was not.
    fn count(
        &mut self,
        capture: usize,
        source: &InputRecord<'_>,
        copied: Result<(), WriteFileError>,
        report: &mut impl FnMut(usize, RepairStep<'_>),
    ) -> Result<(), CaptureMergeError> {
        match copied {
            Ok(()) => self.written = self.written.saturating_add(1),
            Err(error @ WriteFileError::Record { .. }) => {
                self.dropped = self.dropped.saturating_add(1);
                let (offset, kind) = (source.offset, source.raw.kind());
                report(capture, RepairStep::Unwritable { offset, kind, error: &error });
            }
            Err(error) => return Err(CaptureMergeError::Write(error)),
        }
        self.in_round = self.in_round.saturating_add(1);
        if self.in_round >= ROUND {
            self.in_round = 0;
            self.writer.end_round()?;
        }
        Ok(())
    }
}

/// A record as its capture has it.
#[derive(Debug)]
struct InputRecord<'a> {
    raw: RawRecord<'a>,
    trailing: &'a [u8],
    offset: u64,
    event: Option<&'a Event>,
}

impl MergeInput<'_, '_, '_> {
    /// Returns a time on the clock of the merged capture.
    fn time(&self, capture: usize, time: u64) -> Result<u64, CaptureMergeError> {
        let must = "so small that no time becomes negative or 0";
        self.translation.time(time).ok_or(CaptureMergeError::Differ { capture, field: "clock offset", must })
    }
}

impl<W> MergeWriter<W> {
    /// Applies the name in an EVENT_UPDATE record, as the reader of the result will.
    fn rename(&mut self, raw: &RawRecord<'_>, translation: &RecordTranslation) {
        if raw.kind() != RecordType::EVENT_UPDATE {
            return;
        }
        let Ok(Record::User(UserRecord::EventUpdate(it), _)) = raw.decode_user() else { return };
        let index = match translation.events.first() {
            Some(first) if it.id == 0 => Some(first.index),
            _ => self.events.ids.get(&translation.id(it.id)).copied(),
        };
        let event = index.and_then(|index| self.events.fields.get_mut(index));
        if let (Some(event), EventUpdateData::Name(name)) = (event, it.data) {
            event.name = Some(Vec::from(name));
        }
    }
}

/// Returns the time of a record; `None` for one without, which readers do not order.
fn time_of(record: &EventRecord<'_>) -> Option<u64> {
    record.time().filter(|&time| time != 0)
}
