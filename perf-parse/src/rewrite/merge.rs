//! Several captures as one, in order of time.

mod error;
mod events;
mod origin;

pub use error::CaptureMergeError;

use alloc::collections::{BTreeSet, BinaryHeap};
use alloc::vec::Vec;
use core::cmp::Reverse;
use std::io::{Seek, Write};

use perf_abi::endian::Endianness;
use perf_abi::feature::Feature;
use perf_abi::record::RecordType;

use super::account::EditAccount;
use super::edited::EditSummary;
use super::step::RepairStep;
use super::{features, is_section, known_records, name_all, tracing};
use crate::account::Account;
use crate::event::EventRecord;
use crate::feature::{FeatureData, FeatureSection, SampleTime};
use crate::file::write::{FeaturePayloads, FileWriter, WriteFileError, WriteOptions};
use crate::file::{EventRecords, Reader, RecordCheck};
use crate::record::user::EventUpdateData;
use crate::record::{RawRecord, Record, UserRecord};
use events::MergedEvents;

/// Number of records between two marks for readers that order records: they hold as many.
const ROUND: u64 = 16384;

/// Writes one file of several captures of one machine, in order of time. The output `out` should be empty. Calls `report` at
/// each step, with the number of the capture, from 0.
///
/// - Events of different captures are one if they have the same attr and name. Others are added.
/// - Records without a time, which describe what existed when a capture began, are written at its first record with a time.
///   Rounds of the recorders end differently in the result, so their marks (FINISHED_ROUND) are written anew.
/// - Features come from the first capture that has them. Build ids and formats of tracepoints are joined, as are the times
///   of the samples and the [`EditAccount`]s.
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
/// use perf_parse::rewrite::{Edit, EditedRecord, merge};
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
/// let merged = merge(&[&first, &second], Cursor::new(Vec::new()), |_, _| {})?.out.into_inner();
/// let samples = |reader: &Reader<'_>| reader.records().filter(|it| it.as_ref().is_ok_and(|it| it.sample().is_some())).count();
/// assert_eq!(samples(&Reader::new(&merged)?), samples(&reader));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`CaptureMergeError::Differ`] if a capture has another byte order, machine, kernel, boot or clock than the first, or if its records
/// could not be told apart; [`CaptureMergeError::Write`] as [`Edit::write_file`](super::Edit::write_file).
pub fn merge<W: Write + Seek>(
    readers: &[&Reader<'_>],
    out: W,
    mut report: impl FnMut(usize, RepairStep<'_>),
) -> Result<EditSummary<W>, CaptureMergeError> {
    let Some(first) = readers.first() else {
        return Err(CaptureMergeError::Differ { capture: 0, field: "captures", must: "one at least" });
    };
    origin::check(readers)?;
    let mut events = MergedEvents::default();
    let mut features = FeaturePayloads::new_in(first.endianness());
    let mut features_dropped = Vec::new();
    let (mut walks, mut formats) = (Vec::new(), Vec::new());
    for (index, reader) in readers.iter().enumerate() {
        let mut records = known_records(reader)?;
        let opened = records.account().diagnostics.clone();
        opened.into_iter().for_each(|error| report(index, RepairStep::Capture { error }));
        let mut of_capture = FeaturePayloads::new_in(reader.endianness());
        let mut step = |step: RepairStep<'_>| report(index, step);
        features_dropped.extend(features::copy(&mut records, &mut of_capture, |_, _| true, &mut step)?);
        join(index, &mut features, &of_capture)?;
        events.add(index, records.events())?;
        formats.push(of_capture.get(Feature::TRACING_DATA).map(Vec::from).unwrap_or_default());
        walks.push(records.in_time_order());
    }
    let inputs = walks.into_iter().zip(&formats).map(|(records, tracing_data)| MergeInput {
        records,
        check: RecordCheck::new(tracing_data),
        held: None,
        has_begun: false,
    });
    features_dropped.sort_unstable();
    features_dropped.dedup();
    let options = WriteOptions { endianness: first.endianness(), ..WriteOptions::default() };
    let writer = FileWriter::new(out, &events.fields, &options).map_err(CaptureMergeError::Write)?;
    let mut merge = MergeWriter { writer, events, written: 0, dropped: 0, in_round: 0 };
    let account = merge.records(readers, inputs.collect(), &mut report)?;
    let MergeWriter { mut writer, mut events, written, dropped, .. } = merge;
    name_all(&mut events.fields);
    writer.name_events(&events.fields)?;
    *writer.features() = features;
    Ok(EditSummary { out: writer.finish()?, written, left_out: 0, dropped, features_dropped, account })
}

/// Adds the features of a capture to those of the captures before it.
fn join(
    capture: usize,
    features: &mut FeaturePayloads,
    of_capture: &FeaturePayloads,
) -> Result<(), CaptureMergeError> {
    let endianness = features.endianness();
    let differ = |field, must| CaptureMergeError::Differ { capture, field, must };
    for (feature, payload) in of_capture.iter() {
        let Some(before) = features.get(feature).map(Vec::from) else {
            features.raw(feature, payload)?;
            continue;
        };
        match feature {
            Feature::BUILD_ID => features.raw(feature, &build_ids(endianness, before, payload))?,
            Feature::TRACING_DATA if before != payload => {
                let must = "formats of tracepoints that can be joined with those of the first capture";
                let joined = tracing::joined(&before, payload).ok_or(differ("TRACING_DATA", must))?;
                features.raw(feature, &joined)?;
            }
            Feature::SAMPLE_TIME => {
                let times = |bytes| sample_time(endianness, bytes);
                if let Some((a, b)) = times(&before).zip(times(payload)) {
                    let joined = SampleTime { first: a.first.min(b.first), last: a.last.max(b.last) };
                    features.set(&FeatureData::SampleTime(joined))?;
                }
            }
            EditAccount::FEATURE => {
                if let Some((a, b)) = EditAccount::parse(&before).zip(EditAccount::parse(payload)) {
                    let joined = a.joined(&b).ok_or(differ(
                        "one_in",
                        "that of the first capture: samples of different weight cannot be told apart",
                    ))?;
                    features.raw(feature, &joined.encode())?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn sample_time(endianness: Endianness, bytes: &[u8]) -> Option<SampleTime> {
    let section = FeatureSection::new(Feature::SAMPLE_TIME, 0, bytes, endianness);
    match section.decode() {
        Ok(FeatureData::SampleTime(times)) if (times.first, times.last) != (0, 0) => Some(times),
        _ => None,
    }
}

/// Appends the entries that are not there yet.
fn build_ids(endianness: Endianness, mut all: Vec<u8>, mut more: &[u8]) -> Vec<u8> {
    let entries = |mut bytes: &[u8]| {
        let mut entries = BTreeSet::new();
        while let Ok((entry, rest)) = RawRecord::<Endianness>::parse_in(endianness, bytes) {
            entries.insert(Vec::from(entry.as_bytes()));
            bytes = rest;
        }
        entries
    };
    let before = entries(&all);
    while let Ok((entry, rest)) = RawRecord::<Endianness>::parse_in(endianness, more) {
        if !before.contains(entry.as_bytes()) {
            all.extend_from_slice(entry.as_bytes());
        }
        more = rest;
    }
    all
}

/// A file of several captures that is being written.
#[derive(Debug)]
struct MergeWriter<W> {
    writer: FileWriter<W>,
    events: MergedEvents,
    written: u64,
    dropped: u64,
    /// Number of records since the last mark.
    in_round: u64,
}

/// A capture that is being read.
#[derive(Debug)]
struct MergeInput<'r, 't> {
    /// In order of time.
    records: EventRecords<'r>,
    check: RecordCheck<'t>,
    /// The record that is written next, when the others have reached its time.
    held: Option<EventRecord<'r>>,
    has_begun: bool,
}

impl<W: Write + Seek> MergeWriter<W> {
    /// Writes the records of all captures, and returns their account.
    fn records(
        &mut self,
        readers: &[&Reader<'_>],
        mut inputs: Vec<MergeInput<'_, '_>>,
        report: &mut impl FnMut(usize, RepairStep<'_>),
    ) -> Result<Account, CaptureMergeError> {
        // The time of the next record of each capture. A capture begins at its first record with a time.
        let start = |reader: &Reader<'_>| reader.records().in_time_order().find_map(|it| time_of(&it.ok()?));
        let mut next: BinaryHeap<_> = readers
            .iter()
            .enumerate()
            .map(|(index, reader)| Reverse((start(reader).unwrap_or(u64::MAX), index)))
            .collect();
        while let Some(Reverse((_, index))) = next.pop() {
            let Some(input) = inputs.get_mut(index) else { continue };
            let MergeInput { records, check, held, has_begun } = input;
            if !core::mem::replace(has_begun, true) && self.written > 0 {
                // Readers deliver what is before the first of two marks before what comes after the second.
                self.writer.end_round()?;
                self.writer.end_round()?;
            }
            if let Some(record) = held.take() {
                self.put(index, &record, report)?;
            }
            loop {
                report(index, RepairStep::At(records.reached().offset));
                let data_file = records.reached().data_file;
                let record = match records.next() {
                    None => break,
                    Some(Err(error)) => {
                        report(index, RepairStep::Unreadable { data_file, error });
                        continue;
                    }
                    Some(Ok(record)) => record,
                };
                if let Err(error) = check.record(&record) {
                    self.dropped = self.dropped.saturating_add(1);
                    records.account_mut().note(error);
                    report(index, RepairStep::Unreadable { data_file, error });
                    continue;
                }
                match time_of(&record) {
                    Some(time) => {
                        next.push(Reverse((time, index)));
                        *held = Some(record);
                        break;
                    }
                    None => self.put(index, &record, report)?,
                }
            }
        }
        let mut account = Account::default();
        inputs.iter().for_each(|input| account.add(input.records.account()));
        Ok(account)
    }

    /// Writes a record of a capture.
    fn put(
        &mut self,
        capture: usize,
        record: &EventRecord<'_>,
        report: &mut impl FnMut(usize, RepairStep<'_>),
    ) -> Result<(), CaptureMergeError> {
        let kind = record.kind();
        if is_section(kind) || kind == RecordType::FINISHED_ROUND {
            return Ok(());
        }
        let must = "of a capture of its own: it refers to places and numbers that others have, too";
        if [RecordType::AUXTRACE, RecordType::AUXTRACE_INFO, RecordType::EVENT_ID, RecordType::SPLIT]
            .contains(&kind)
        {
            return Err(CaptureMergeError::Differ { capture, field: kind.name().unwrap_or("record"), must });
        }
        self.rename(record);
        match self.writer.copy(&record.raw(), record.trailing()) {
            Ok(()) => self.written = self.written.saturating_add(1),
            Err(error @ WriteFileError::Record { .. }) => {
                self.dropped = self.dropped.saturating_add(1);
                let offset = record.offset();
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

impl<W> MergeWriter<W> {
    /// Applies the name in an EVENT_UPDATE record, as the reader of the result will.
    fn rename(&mut self, record: &EventRecord<'_>) {
        let Ok(Record::User(UserRecord::EventUpdate(it), _)) = record.raw().decode_user() else { return };
        let index = self.events.ids.get(&it.id).copied();
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
