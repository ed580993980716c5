//! The records of a capture as those of the merged one: with other ids and times.

use alloc::vec::Vec;
use std::collections::HashMap;

use perf_abi::endian::Endianness;
use perf_abi::read_format::ReadFormat;
use perf_abi::record::RecordType;
use perf_abi::sample_type::SampleType;

use crate::event::Event;
use crate::file::write::RecordFault;
use crate::layout::{SampleLayout, present};
use crate::record::RawRecord;
use crate::rewrite::record_words::{HEADER, RecordWords};

/// An event of a capture, as it is in the merged capture.
#[derive(Debug)]
pub(super) struct EventTranslation {
    /// The index of the event in the merged capture.
    pub(super) index: usize,
    /// The first id of the event in the merged capture that is of this capture; `None` without ids.
    pub(super) id: Option<u64>,
    /// Whether the records of the event get an identifier, because they had none where those of other events have it.
    pub(super) is_identified: bool,
}

/// How records of a capture become records of the merged capture.
#[derive(Debug)]
pub(super) struct RecordTranslation {
    /// Nanoseconds that are added to each time.
    pub(super) offset: i64,
    /// The new ids of those that belong to other events of earlier captures.
    pub(super) ids: HashMap<u64, u64>,
    /// The events, in the order of the capture.
    pub(super) events: Vec<EventTranslation>,
    pub(super) endianness: Endianness,
}

impl RecordTranslation {
    /// Returns whether every record stays as it is.
    pub(super) fn is_identity(&self) -> bool {
        let is_same =
            |(index, event): (usize, &EventTranslation)| event.index == index && !event.is_identified;
        self.offset == 0 && self.ids.is_empty() && self.events.iter().enumerate().all(is_same)
    }

    /// Returns a time on the clock of the merged capture; `None` for one that the clock cannot have.
    pub(super) fn time(&self, time: u64) -> Option<u64> {
        time.checked_add_signed(self.offset).filter(|&time| time != 0)
    }

    /// Returns an id of the capture as it is in the merged capture.
    pub(super) fn id(&self, id: u64) -> u64 {
        self.ids.get(&id).copied().unwrap_or(id)
    }

    /// Returns the bytes of a record in the merged capture. `event` is that of the record in its own capture.
    ///
    /// # Errors
    ///
    /// If the record has no room for an identifier, or none can be told.
    pub(super) fn record(&self, raw: &RawRecord<'_>, event: Option<&Event>) -> Result<Vec<u8>, RecordFault> {
        let mut words = RecordWords::of(raw);
        if raw.kind().is_user() {
            self.user(raw, &mut words);
            return Ok(words.bytes);
        }
        let Some(event) = event else { return Ok(words.bytes) };
        let identifier = match raw.kind() {
            RecordType::SAMPLE => self.sample(&event.layout, &mut words),
            _ => self.of_kernel(raw, &event.layout, &mut words),
        };
        let translation = self.events.get(event.index);
        if let Some(EventTranslation { id, is_identified: true, .. }) = translation {
            // Its own id is more exact than that of the event.
            let id = identifier.or(*id).unwrap_or(0);
            if raw.kind() == RecordType::SAMPLE {
                words.insert(HEADER, id);
            } else if event.layout.sample_id_size() > 0 {
                let written = raw.payload().len().saturating_sub(raw.stale_bytes(&event.layout));
                words.bytes.truncate(HEADER.saturating_add(written));
                words.insert(usize::MAX, id);
            }
            let fault = RecordFault::Size { size: raw.size(), len: words.bytes.len() };
            words.set_size().ok_or(fault)?;
        }
        Ok(words.bytes)
    }

    /// Translates a sample. Returns its id.
    fn sample(&self, layout: &SampleLayout, words: &mut RecordWords) -> Option<u64> {
        let head = &layout.head;
        let at = |offset| present(offset).map(|offset| offset.saturating_add(HEADER));
        let [identifier, id, stream_id] = [head.identifier, head.id, head.stream_id].map(at);
        for place in [identifier, id, stream_id].into_iter().flatten() {
            words.map(place, |id| self.id(id));
        }
        if let Some(place) = at(head.time) {
            words.map(place, |time| self.time(time).unwrap_or(time));
        }
        if layout.sample_type.contains(SampleType::READ) {
            self.values(layout.read_format, HEADER.saturating_add(head.size.into()), words);
        }
        words.get(identifier.or(id)?)
    }

    /// Translates the ids of counter values that begin at `start`.
    ///
    /// Kernel: `perf_output_read`, `kernel/events/core.c`.
    fn values(&self, format: ReadFormat, start: usize, words: &mut RecordWords) {
        if !format.contains(ReadFormat::ID) {
            return;
        }
        let count = |fields: &[ReadFormat]| fields.iter().filter(|&&field| format.contains(field)).count();
        let times = count(&[ReadFormat::TOTAL_TIME_ENABLED, ReadFormat::TOTAL_TIME_RUNNING]);
        let is_group = format.contains(ReadFormat::GROUP);
        // A group has its times before the values, and a single event after its value.
        let first = start.saturating_add(times.saturating_add(1).saturating_mul(8));
        if !is_group {
            return words.map(first, |id| self.id(id));
        }
        let stride = count(&[ReadFormat::ID, ReadFormat::LOST]).saturating_add(1).saturating_mul(8);
        let nr = words.get(start).and_then(|nr| usize::try_from(nr).ok()).unwrap_or(0);
        let ids = (first.saturating_add(8)..words.bytes.len()).step_by(stride).take(nr);
        ids.for_each(|place| words.map(place, |id| self.id(id)));
    }

    /// Translates another record of the kernel. Returns its id.
    fn of_kernel(&self, raw: &RawRecord<'_>, layout: &SampleLayout, words: &mut RecordWords) -> Option<u64> {
        let time = |time| self.time(time).unwrap_or(time);
        match raw.kind() {
            RecordType::FORK | RecordType::EXIT => words.map(HEADER + 16, time),
            RecordType::THROTTLE | RecordType::UNTHROTTLE => {
                words.map(HEADER, time);
                for place in [HEADER + 8, HEADER + 16] {
                    words.map(place, |id| self.id(id));
                }
            }
            RecordType::LOST => words.map(HEADER, |id| self.id(id)),
            RecordType::READ => self.values(layout.read_format, HEADER + 8, words),
            _ => {}
        }
        let (payload, _) = raw.split_trailer(layout).ok()?;
        let start = HEADER.saturating_add(payload.len());
        let at = |offset: u8| present(offset.into()).map(|offset| start.saturating_add(offset));
        let trailer = &layout.id;
        let [identifier, id, stream_id] = [trailer.identifier, trailer.id, trailer.stream_id].map(at);
        for place in [identifier, id, stream_id].into_iter().flatten() {
            words.map(place, |id| self.id(id));
        }
        if let Some(place) = at(trailer.time) {
            words.map(place, |it| if it == 0 { 0 } else { time(it) });
        }
        words.get(identifier.or(id)?)
    }

    /// Translates a record of perf.
    fn user(&self, raw: &RawRecord<'_>, words: &mut RecordWords) {
        match raw.kind() {
            RecordType::EVENT_UPDATE => words.map(HEADER + 8, |id| match self.events.first() {
                // The first event, which is another one in the merged capture.
                Some(first) if id == 0 => first.id.unwrap_or(0),
                _ => self.id(id),
            }),
            RecordType::ID_INDEX => {
                let nr = words.get(HEADER).and_then(|nr| usize::try_from(nr).ok()).unwrap_or(0);
                let ids = (HEADER + 8..words.bytes.len()).step_by(32).take(nr);
                ids.for_each(|place| words.map(place, |id| self.id(id)));
            }
            // The time at which the counter of the CPU is 0.
            RecordType::TIME_CONV => words.map(HEADER + 16, |zero| zero.wrapping_add_signed(self.offset)),
            _ => {}
        }
    }
}
