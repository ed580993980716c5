//! The `TRACING_DATA` of a capture: the formats of the recorded tracepoints.

use alloc::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use perf_abi::endian::Endianness;
use perf_abi::event::EventType;
use perf_open::tracepoint::Tracefs;
use perf_open::{EventGroup, EventSpec, ring};
use perf_parse::tracepoint::TracingDataFields;

use crate::Error;

/// Returns the payload of the feature `TRACING_DATA`; `None` if no tracepoint is recorded.
pub(crate) fn data(groups: &[EventGroup]) -> Result<Option<Vec<u8>>, Error> {
    let events = groups.iter().flat_map(|group| &group.events);
    let tracepoints: Vec<_> = events.filter(|event| event.attr.kind == EventType::TRACEPOINT).collect();
    if tracepoints.is_empty() {
        return Ok(None);
    }
    let tracefs = Tracefs::find();
    let mut systems: BTreeMap<String, BTreeSet<Vec<u8>>> = BTreeMap::new();
    for event in tracepoints {
        if let Some((system, name)) = find(&tracefs, event) {
            let format = tracefs.format(&system, &name).map_err(|error| Error::Request(error.to_string()))?;
            let format = format.into_bytes();
            systems.entry(system).or_default().insert(format);
        }
    }
    let read = |name: &str| text(&tracefs.root().join(name)).unwrap_or_default();
    let systems = systems.into_iter().map(|(system, formats)| (system.into_bytes(), Vec::from_iter(formats)));
    let fields = TracingDataFields {
        long_size: if cfg!(target_pointer_width = "64") { 8 } else { 4 },
        page_size: u32::try_from(ring::page_bytes()).unwrap_or(u32::MAX),
        header_page: read("events/header_page"),
        header_event: read("events/header_event"),
        systems: systems.collect(),
        printk_formats: read("printk_formats"),
        saved_cmdlines: read("saved_cmdlines"),
        ..TracingDataFields::default()
    };
    let mut payload = Vec::new();
    let failed = |error| Error::Request(format!("the formats of the tracepoints: {error}"));
    fields.write(&mut payload, Endianness::NATIVE).map_err(failed)?;
    Ok(Some(payload))
}

/// Reads a file of the tracing directory. Some of these files end after the first read, even if it was short.
fn text(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let (mut text, mut chunk) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(text),
            size => text.extend_from_slice(&chunk[..size]),
        }
    }
}

/// Returns the system and the name of a tracepoint: from the event's name, unless the user changed that.
fn find(tracefs: &Tracefs, event: &EventSpec) -> Option<(String, String)> {
    let is = |system: &str, name: &str| tracefs.id(system, name).is_ok_and(|id| id == event.attr.config);
    let mut parts = event.name.split(':');
    if let (Some(system), Some(name)) = (parts.next(), parts.next())
        && is(system, name)
    {
        return Some((system.to_owned(), name.to_owned()));
    }
    tracefs.systems().ok()?.into_iter().find_map(|system| {
        let name = tracefs.names(&system).ok()?.into_iter().find(|name| is(&system, name))?;
        Some((system, name))
    })
}
