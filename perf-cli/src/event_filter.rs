//! The selection of events by `--event`, and of the events that `--time` is about.

use alloc::sync::Arc;

use perf_parse::event::Event;
use perf_parse::file::{Mode, Reader};

use crate::Failure;
use crate::escape::OneLine;

/// Events by their name, or one event by its index.
#[derive(Debug)]
pub(crate) struct EventFilter {
    name: String,
    index: Option<usize>,
}

impl EventFilter {
    /// `option` is what the name was given with, for errors.
    pub(crate) fn new(reader: &Reader<'_>, option: &str, name: &str) -> Result<Self, Failure> {
        let events = reader.events();
        let named = |event: &Arc<Event>| event.name.as_deref() == Some(name.as_bytes());
        let is_name = events.iter().any(named);
        let index = name.parse().ok().filter(|_| !is_name);
        // A stream may contain more events later.
        let is_complete = !matches!(reader.mode(), Mode::Pipe);
        if is_complete && !is_name && index.is_none_or(|index: usize| index >= events.len()) {
            let known = events.iter().enumerate().map(|(index, event)| match &event.name {
                Some(name) => format!("{index} ({})", OneLine(name)),
                None => index.to_string(),
            });
            let known = known.collect::<Vec<_>>().join(", ");
            return Err(Failure(format!("{option} {name}: no such event; the file has {known}")));
        }
        Ok(Self { name: name.to_owned(), index })
    }

    pub(crate) fn wants(&self, event: &Event) -> bool {
        match self.index {
            Some(index) => event.index == index,
            None => event.name.as_deref() == Some(self.name.as_bytes()),
        }
    }
}
