//! The events of several captures as one list.

use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::vec::Vec;
use std::collections::HashMap;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::sample_type::SampleType;

use super::error::CaptureMergeError;
use super::translation::EventTranslation;
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
    /// The capture that each event is from first.
    captures: Vec<usize>,
    /// No capture has a greater id.
    greatest: u64,
    /// Number of ids that were given anew.
    pub(super) renumbered: u64,
}

/// What events that are one have in common: their attr, apart from its size, the bytes of it that are not known, and the name.
type EventIdentity = (Attr, Vec<u8>, Option<Vec<u8>>);

/// The events of a capture in the merged one, and the new ids of those that belong to events of earlier captures.
type AddedEvents = (Vec<EventTranslation>, HashMap<u64, u64>);

impl MergedEvents {
    /// Creates a list for captures with these events.
    pub(super) fn of<'e>(all: impl Iterator<Item = &'e Events>) -> Self {
        let ids = all.flat_map(|events| events.iter()).flat_map(|event| event.ids.iter().copied());
        Self { greatest: ids.max().unwrap_or(0), ..Self::default() }
    }

    /// Adds the events of a capture. `clock` is the clock that the capture's times are on in the merged capture, if that is not
    /// the clock of its attrs.
    ///
    /// # Errors
    ///
    /// If no id is left.
    pub(super) fn add(
        &mut self,
        capture: usize,
        known: &Events,
        clock: Option<Option<i32>>,
    ) -> Result<AddedEvents, CaptureMergeError> {
        let mut used = HashMap::<EventIdentity, usize>::new();
        let (mut translations, mut renumbered) = (Vec::new(), HashMap::new());
        for mut event in events_without(known, SampleType::NONE) {
            if let Some(clock) = clock {
                event.attr.flags = match clock {
                    Some(_) => event.attr.flags | AttrFlags::USE_CLOCKID,
                    None => event.attr.flags.without(AttrFlags::USE_CLOCKID),
                };
                event.attr.clockid = clock.unwrap_or(0);
            }
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
            let (mut new, mut first) = (Vec::new(), None);
            for id in core::mem::take(&mut event.ids) {
                let id = match self.ids.entry(id) {
                    Entry::Vacant(entry) => {
                        entry.insert(index);
                        new.push(id);
                        id
                    }
                    Entry::Occupied(entry) if *entry.get() != index => {
                        let other = self.new_id(capture, index)?;
                        renumbered.insert(id, other);
                        new.push(other);
                        other
                    }
                    Entry::Occupied(_) => id,
                };
                first = first.or(Some(id));
            }
            translations.push(EventTranslation { index, id: first, is_identified: false });
            match self.fields.get_mut(index) {
                None => {
                    self.captures.push(capture);
                    self.fields.push(EventFields { ids: new, ..event });
                }
                Some(before) => {
                    before.ids.extend(new);
                    before.attr.size = before.attr.size.max(event.attr.size);
                }
            }
        }
        self.renumbered = self.renumbered.saturating_add(renumbered.len() as u64);
        Ok((translations, renumbered))
    }

    /// Gives an event an id that no capture has.
    fn new_id(&mut self, capture: usize, event: usize) -> Result<u64, CaptureMergeError> {
        let must =
            "less than the greatest number, so that another id is left for an event of another capture";
        let id = self.greatest.checked_add(1);
        self.greatest = id.ok_or(CaptureMergeError::Differ { capture, field: "id", must })?;
        self.ids.insert(self.greatest, event);
        Ok(self.greatest)
    }

    /// Gives all records identifiers, if readers could not tell the events apart without: adds ids to events and IDENTIFIER to
    /// attrs, and says which records get it in the translations of the captures. Returns whether it did.
    ///
    /// # Errors
    ///
    /// If some events have trailers in all of their records, and others do not.
    pub(super) fn identify(
        &mut self,
        captures: &mut [Vec<EventTranslation>],
    ) -> Result<bool, CaptureMergeError> {
        let places: Vec<_> = self.fields.iter().map(places_of_id).collect();
        let is_one =
            places.iter().all(|place| place.is_some() && *place == places.first().copied().flatten());
        if self.fields.len() < 2 || is_one && self.fields.iter().all(|event| !event.ids.is_empty()) {
            return Ok(false);
        }
        let has_trailers = |event: &EventFields| event.attr.flags.contains(AttrFlags::SAMPLE_ID_ALL);
        let of_first = self.fields.first().is_some_and(has_trailers);
        if let Some(index) = self.fields.iter().position(|event| has_trailers(event) != of_first) {
            let capture = self.captures.get(index).copied().unwrap_or_default();
            let must = "that of the events before, so that the events of records can be told apart";
            return Err(CaptureMergeError::Differ { capture, field: "sample_id_all", must });
        }
        let mut is_identified = Vec::new();
        for index in 0..self.fields.len() {
            let is_without = self.fields.get(index).is_some_and(|event| event.ids.is_empty());
            let id = if is_without { Some(self.new_id(0, index)?) } else { None };
            let Some(event) = self.fields.get_mut(index) else { continue };
            event.ids.extend(id);
            is_identified.push(!event.attr.sample_type.contains(SampleType::IDENTIFIER));
            event.attr.sample_type |= SampleType::IDENTIFIER;
        }
        for it in captures.iter_mut().flatten() {
            it.id = it.id.or_else(|| self.fields.get(it.index)?.ids.first().copied());
            it.is_identified = is_identified.get(it.index).copied().unwrap_or_default();
        }
        Ok(true)
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
