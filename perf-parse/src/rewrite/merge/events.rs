//! The events of several captures as one list.

use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::vec::Vec;
use std::collections::HashMap;

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
    /// The indexes of the events with an identity, in ascending order: a capture may have several.
    same: HashMap<EventIdentity, Vec<usize>>,
}

/// What events that are one have in common: their attr, apart from its size, the bytes of it that are not known, and the name.
type EventIdentity = (Attr, Vec<u8>, Option<Vec<u8>>);

impl MergedEvents {
    /// Adds the events of a capture.
    ///
    /// # Errors
    ///
    /// If no reader could tell which event a record is of.
    pub(super) fn add(&mut self, capture: usize, known: &Events) -> Result<(), CaptureMergeError> {
        let differ = |field, must| CaptureMergeError::Differ { capture, field, must };
        let mut used = HashMap::<EventIdentity, usize>::new();
        for event in events_without(known, SampleType::NONE) {
            let identity = (Attr { size: 0, ..event.attr }, event.attr_tail.clone(), event.name.clone());
            let same = self.same.entry(identity.clone()).or_default();
            let number = used.entry(identity).or_default();
            let index = match same.get(*number) {
                Some(&index) => index,
                None => {
                    same.push(self.fields.len());
                    self.fields.len()
                }
            };
            *number = number.saturating_add(1);
            let mut new = Vec::new();
            for &id in &event.ids {
                match self.ids.entry(id) {
                    Entry::Vacant(entry) => {
                        entry.insert(index);
                        new.push(id);
                    }
                    Entry::Occupied(entry) if *entry.get() != index => {
                        let must = "that of the same event as before: a machine gives an id once until it is started again";
                        return Err(differ("id", must));
                    }
                    Entry::Occupied(_) => {}
                }
            }
            match self.fields.get_mut(index) {
                None => self.fields.push(event),
                Some(before) => {
                    before.ids.extend(new);
                    before.attr.size = before.attr.size.max(event.attr.size);
                }
            }
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
