//! The events of several captures as one list.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use perf_abi::attr::Attr;
use perf_abi::sample_type::SampleType;

use super::error::CaptureMergeError;
use crate::event::Events;
use crate::file::write::EventFields;
use crate::layout::{SampleLayout, present};
use crate::rewrite::rewriter::events_without;

/// The events of several captures. Those with the same attr and name are one.
#[derive(Debug, Default)]
pub(super) struct MergedEvents {
    pub(super) fields: Vec<EventFields>,
    /// The index of the event of each id.
    pub(super) ids: BTreeMap<u64, usize>,
}

impl MergedEvents {
    /// Adds the events of a capture.
    ///
    /// # Errors
    ///
    /// If no reader could tell which event a record is of.
    pub(super) fn add(&mut self, capture: usize, known: &Events) -> Result<(), CaptureMergeError> {
        let differ = |field, must| CaptureMergeError::Differ { capture, field, must };
        let mut used = Vec::new();
        for event in events_without(known, SampleType::NONE) {
            let is_same = |(index, before): &(usize, &EventFields)| {
                !used.contains(index)
                    && Attr { size: 0, ..before.attr } == Attr { size: 0, ..event.attr }
                    && (&before.attr_tail, &before.name) == (&event.attr_tail, &event.name)
            };
            let same = if capture == 0 { None } else { self.fields.iter().enumerate().find(is_same) };
            let index = same.map_or(self.fields.len(), |(index, _)| index);
            for &id in &event.ids {
                if *self.ids.entry(id).or_insert(index) != index {
                    let must = "that of the same event as before: a machine gives an id once until it is started again";
                    return Err(differ("id", must));
                }
            }
            match self.fields.get_mut(index) {
                None => self.fields.push(event),
                Some(before) => {
                    let new = event.ids.iter().filter(|id| !before.ids.contains(id)).copied();
                    let new = new.collect::<Vec<_>>();
                    before.ids.extend(new);
                    before.attr.size = before.attr.size.max(event.attr.size);
                }
            }
            used.push(index);
        }
        if self.fields.len() > 1 {
            let places: Vec<_> = self.fields.iter().map(places_of_id).collect();
            let has_ids = self.fields.iter().all(|event| !event.ids.is_empty());
            let is_one =
                places.iter().all(|place| place.is_some() && *place == places.first().copied().flatten());
            if !has_ids || !is_one {
                let must = "at the same place in the records of all events, or one event alone; record with --sample-identifier";
                return Err(differ("id", must));
            }
        }
        Ok(())
    }
}

/// Returns the offsets of the id in samples and in trailers.
fn places_of_id(event: &EventFields) -> Option<(usize, Option<usize>)> {
    let layout = SampleLayout::new(&event.attr).ok()?;
    let sample = present(layout.head.identifier).or_else(|| present(layout.head.id))?;
    let trailer = present(layout.id.identifier.into()).or_else(|| present(layout.id.id.into()));
    // Trailers are found from their ends.
    Some((sample, trailer.map(|offset| usize::from(layout.id.size).saturating_sub(offset))))
}
