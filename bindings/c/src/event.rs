//! The events of a capture.

use std::sync::Arc;

use perf_parse::event::Event;
use perf_profile::event_name;

use crate::string::perfdata_string;
use crate::versioned::versioned;

/// An event that was recorded.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_event {
    /// Size of this structure in bytes.
    pub size: usize,
    /// The name, as perf has it, for example `cycles:u`.
    pub name: perfdata_string,
    /// The index in the capture.
    pub index: u32,
    /// The type of its attr: PERF_TYPE_*.
    pub r#type: u32,
    /// The config of its attr.
    pub config: u64,
    /// The fields of its samples: PERF_SAMPLE_* bits.
    pub sample_type: u64,
    /// The period of its samples, or with `frequency` how many there should be in a second.
    pub sample_period: u64,
    /// Whether `sample_period` is a frequency.
    pub frequency: bool,
}

versioned!(perfdata_event);

/// An event with its name.
#[derive(Debug)]
pub(crate) struct NamedEvent {
    pub(crate) event: Arc<Event>,
    name: Vec<u8>,
}

impl NamedEvent {
    pub(crate) fn new(event: &Arc<Event>) -> Self {
        Self { event: Arc::clone(event), name: event_name(event) }
    }

    pub(crate) fn to_c(&self) -> perfdata_event {
        let attr = &self.event.attr;
        perfdata_event {
            size: 0,
            name: perfdata_string::of(&self.name),
            index: u32::try_from(self.event.index).unwrap_or(u32::MAX),
            r#type: attr.kind.0,
            config: attr.config,
            sample_type: attr.sample_type.0,
            sample_period: attr.sample_period,
            frequency: attr.flags.contains(perf_abi::attr::AttrFlags::FREQ),
        }
    }
}
