//! Errors of counting.

use alloc::ffi::NulError;
use core::num::ParseIntError;
use std::io;

use perf_open::event::ParseError;

use crate::{CgroupError, Error};

/// An error of counting.
#[derive(Debug)]
#[non_exhaustive]
pub enum StatError {
    /// The kernel was built without perf events.
    NoPerfEvents,
    /// An event cannot be opened.
    Open {
        /// The event's name.
        event: String,
        /// The kernel's reason, and what to do about it.
        error: perf_open::Error,
    },
    /// A call on an open event, or on the command, failed.
    Event(perf_open::Error),
    /// All threads that were to be counted have ended.
    NoThread,
    /// The names of events of a metric, of the defaults or of top-down are not known on this machine.
    Parse(ParseError),
    /// An event has a term about samples.
    SampleTerm {
        /// The event's name.
        event: String,
        /// The term's name.
        term: &'static str,
    },
    /// An event has the modifier `b`.
    BpfCounter {
        /// The event's name.
        event: String,
    },
    /// A filter was given to an event that is no tracepoint.
    NotTracepoint {
        /// The filter.
        filter: String,
        /// The event's name.
        event: String,
    },
    /// A filter contains a NUL.
    FilterText {
        /// The filter.
        filter: String,
        /// Where the NUL is.
        error: NulError,
    },
    /// The kernel refused the filter of an event.
    Filter {
        /// The filter.
        filter: String,
        /// The event's name.
        event: String,
        /// The kernel's reason.
        error: perf_open::Error,
    },
    /// There is no metric of this name.
    UnknownMetric {
        /// The name.
        name: String,
        /// The names of all metrics.
        known: Vec<&'static str>,
    },
    /// The cpu does not count the events of the top-down method.
    NoTopdown,
    /// The cpu counts fewer levels of the top-down method.
    TopdownLevel {
        /// The highest level that it counts.
        highest: u32,
    },
    /// The cpu counts the events of the top-down method by core.
    TopdownByCore,
    /// Counts by cpu, or by a part of the machine, need cpus as targets; counts by thread need threads.
    Aggregation,
    /// Tasks of cgroups are counted on cpus.
    CgroupTargets,
    /// A cgroup cannot be counted.
    Cgroup(CgroupError),
    /// A file of the system cannot be read.
    Io {
        /// The path.
        path: String,
        /// The reason.
        error: io::Error,
    },
    /// A file of sysfs does not contain a number.
    Number {
        /// The path.
        path: String,
        /// The text of the file.
        text: String,
        /// The reason why it is no number.
        error: ParseIntError,
    },
    /// A cpu has no cache of the level that counts are added up by.
    NoCache {
        /// The cpu.
        cpu: u32,
    },
    /// An event that the tool itself measures has no place in a capture.
    ToolEvent {
        /// The event's name.
        event: String,
    },
    /// perf has no number for the parts of the machine by which counts are added up, which a capture needs.
    UnnumberedAggregation,
    /// A capture does not name cgroups.
    CaptureOfCgroups,
    /// The capture cannot be written.
    Capture(Error),
}

impl core::fmt::Display for StatError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NoPerfEvents => f.write_str("this kernel was built without CONFIG_PERF_EVENTS"),
            Self::Open { event, error } => write!(f, "{event}: {error}"),
            Self::Event(error) => error.fmt(f),
            Self::NoThread => f.write_str("there is no such thread; it may have ended"),
            Self::Parse(error) => error.fmt(f),
            Self::SampleTerm { event, term } => {
                write!(f, "{event}: the term {term} is about samples, which stat does not take")
            }
            Self::BpfCounter { event } => write!(f, "{event}: the modifier b is not supported"),
            Self::NotTracepoint { filter, event } => write!(f, "{filter}: {event} is not a tracepoint"),
            Self::FilterText { filter, error } => write!(f, "{filter}: {error}"),
            Self::Filter { filter, event, error } => write!(f, "{filter}: {event}: {error}"),
            Self::UnknownMetric { name, known } => write!(
                f,
                "{name}: not a metric that all cpus have, which are {}; perf has tables of others for some cpus",
                known.join(", ")
            ),
            Self::NoTopdown => f.write_str(
                "this CPU does not count the events of the method (topdown-retiring and others)",
            ),
            Self::TopdownLevel { highest } => write!(f, "this CPU has levels up to {highest}"),
            Self::TopdownByCore => f.write_str(
                "this CPU counts the events of the method by core; count on cpus, by core, and without cgroups",
            ),
            Self::Aggregation => f.write_str(
                "counts by cpu, or by a part of the machine, need cpus as targets, and counts by thread need threads",
            ),
            Self::CgroupTargets => f.write_str("tasks of cgroups are counted on cpus, not on threads or a command"),
            Self::Cgroup(error) => error.fmt(f),
            Self::Io { path, error } => write!(f, "{path}: {error}"),
            Self::Number { path, text, error } => write!(f, "{path}: {text:?}: {error}"),
            Self::NoCache { cpu } => write!(f, "CPU {cpu} has no cache of this level in sysfs"),
            Self::ToolEvent { event } => write!(f, "{event}: is not an event of the kernel; leave it out"),
            Self::UnnumberedAggregation => f.write_str(
                "perf has no number for these parts of a machine; count by core or by cpu",
            ),
            Self::CaptureOfCgroups => f.write_str("a capture does not name cgroups"),
            Self::Capture(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for StatError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Open { error, .. } | Self::Event(error) | Self::Filter { error, .. } => Some(error),
            Self::Parse(error) => Some(error),
            Self::FilterText { error, .. } => Some(error),
            Self::Cgroup(error) => Some(error),
            Self::Io { error, .. } => Some(error),
            Self::Number { error, .. } => Some(error),
            Self::Capture(error) => Some(error),
            _ => None,
        }
    }
}

impl From<perf_open::Error> for StatError {
    fn from(error: perf_open::Error) -> Self {
        Self::Event(error)
    }
}

impl From<ParseError> for StatError {
    fn from(error: ParseError) -> Self {
        Self::Parse(error)
    }
}

impl From<CgroupError> for StatError {
    fn from(error: CgroupError) -> Self {
        Self::Cgroup(error)
    }
}

impl From<Error> for StatError {
    fn from(error: Error) -> Self {
        Self::Capture(error)
    }
}
