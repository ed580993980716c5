//! The selection of events.

use std::sync::Arc;

use perf_parse::event::Event;

use crate::capture_info::CaptureInfo;
use crate::error::{ProfileError, SelectionField};
use crate::text::OneLine;

/// Events by their name, or one event by its index.
#[derive(Clone, Debug)]
pub struct EventFilter {
    name: String,
    index: Option<usize>,
}

impl EventFilter {
    /// Selects the events with a name; without any, the event with that index.
    ///
    /// # Errors
    ///
    /// If a file has no such event. A stream may have it later.
    pub fn new<'c>(capture: impl Into<CaptureInfo<'c>>, name: &str) -> Result<Self, ProfileError> {
        Self::of(capture.into(), SelectionField::Event, name)
    }

    /// Does what [`new`](Self::new) does. `field` is the part of the selection that has the name, for errors.
    pub(crate) fn of(info: CaptureInfo<'_>, field: SelectionField, name: &str) -> Result<Self, ProfileError> {
        let events = info.events();
        let named = |event: &Arc<Event>| event.name.as_deref() == Some(name.as_bytes());
        let is_name = events.iter().any(named);
        let index = name.parse().ok().filter(|_| !is_name);
        if info.is_complete() && !is_name && index.is_none_or(|index: usize| index >= events.len()) {
            let known = events.iter().enumerate().map(|(index, event)| match &event.name {
                Some(name) => format!("{index} ({})", OneLine(name)),
                None => index.to_string(),
            });
            let known = known.collect::<Vec<_>>().join(", ");
            let reason = format!("no such event; the file has {known}");
            return Err(ProfileError::Selection { field, value: name.to_owned(), reason });
        }
        Ok(Self { name: name.to_owned(), index })
    }

    /// Returns whether an event is selected.
    #[must_use]
    pub fn wants(&self, event: &Event) -> bool {
        match self.index {
            Some(index) => event.index == index,
            None => event.name.as_deref() == Some(self.name.as_bytes()),
        }
    }
}
