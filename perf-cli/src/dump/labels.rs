//! The labels of events, prepared once and printed with each record.

use alloc::sync::Arc;

use perf_parse::EventRecord;
use perf_parse::event::Event;

use super::raw_formats::{RawFormatId, RawFormats};
use crate::escape::push_printable;
use crate::render::record::EventLabel;

/// The maximum number of bytes of names. One name may exceed it.
const NAMES: usize = 128 << 10;

/// The labels of the most recent events.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels {
    /// By the index of the event.
    labels: Vec<Option<Label>>,
    /// The number of bytes of all names.
    bytes: usize,
}

/// The label of an event.
#[derive(Clone, Debug)]
struct Label {
    event: Arc<Event>,
    /// The name of the event, safe to print.
    name: Option<Vec<u8>>,
    /// The format of its raw data.
    format: Option<RawFormatId>,
}

impl Labels {
    /// Returns the label of a record's event, and the format of its raw data; `None` if the record has no event.
    #[inline]
    pub(super) fn of(
        &mut self,
        record: &EventRecord<'_>,
        formats: &RawFormats<'_>,
    ) -> Option<(EventLabel<'_>, Option<RawFormatId>)> {
        let event = record.event()?;
        let index = event.index;
        let is_known =
            matches!(self.labels.get(index), Some(Some(known)) if Arc::ptr_eq(&known.event, event));
        if !is_known {
            self.add(index, event, formats);
        }
        let label = self.labels.get(index)?.as_ref()?;
        Some((EventLabel { index, name: label.name.as_deref() }, label.format))
    }

    #[cold]
    fn add(&mut self, index: usize, event: &Arc<Event>, formats: &RawFormats<'_>) {
        if self.bytes > NAMES {
            self.labels.clear();
            self.bytes = 0;
        }
        let name = event.name.as_deref().map(|name| {
            let mut printable = Vec::new();
            push_printable(&mut printable, name);
            printable
        });
        self.bytes += name.as_ref().map_or(0, Vec::len);
        if self.labels.len() <= index {
            self.labels.resize(index + 1, None);
        }
        self.labels[index] = Some(Label { event: Arc::clone(event), name, format: formats.of(event) });
    }
}
