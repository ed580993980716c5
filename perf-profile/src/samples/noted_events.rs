//! The events of notes, by their index in the capture.

use std::sync::Arc;

use perf_parse::event::Event;

/// The events of notes. A note has an index in place of a shared event, which threads would count the users of.
#[derive(Debug, Default)]
pub(crate) struct NotedEvents(Vec<Option<Arc<Event>>>);

impl NotedEvents {
    /// Returns the index of an event.
    pub(crate) fn note(&mut self, event: &Arc<Event>) -> usize {
        if self.0.len() <= event.index {
            self.0.resize(event.index + 1, None);
        }
        if let Some(known) = self.0.get_mut(event.index) {
            known.get_or_insert_with(|| Arc::clone(event));
        }
        event.index
    }

    /// Returns the event with an index.
    pub(crate) fn get(&self, index: usize) -> Option<&Arc<Event>> {
        self.0.get(index)?.as_ref()
    }
}
