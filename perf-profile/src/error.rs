//! Errors of a selection, and of walks over a capture.

mod report_error;

use core::error::Error;
use core::fmt::{Display, Formatter, Result};

use perf_parse::FileError;

pub use report_error::ReportError;

/// Why samples cannot be selected or counted. The text says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProfileError {
    /// A part of a [`Selection`](crate::Selection) cannot be parsed, or the capture does not have what it needs.
    Selection {
        /// The part of the selection.
        field: SelectionField,
        /// The value of that part, as it was given.
        value: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// Samples are selected by CPU, and those of an event do not have it.
    CpuNotRecorded {
        /// The selected CPUs, as they were given.
        cpus: String,
        /// The name of the event, escaped.
        event: String,
    },
    /// Times off the CPU are wanted, and the capture does not tell when threads switch.
    OffCpuNotRecorded,
    /// Switches of threads are wanted, and the capture does not have them.
    SchedNotRecorded,
    /// Waits for locks are wanted, and the capture does not have them.
    LocksNotRecorded,
    /// Memory accesses are wanted, and no event of the capture has the source of the data.
    AccessesNotRecorded,
    /// Wakers are wanted, and the capture does not tell who woke threads up.
    WakersNotRecorded,
    /// A report of the capture cannot have an option.
    Report(ReportError),
    /// A record cannot be decoded. Only walks that return each sample end with it; others note it in their account.
    Record(FileError),
    /// The [observer](crate::Observer) cancelled the work.
    Cancelled,
}

/// A part of a [`Selection`](crate::Selection).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SelectionField {
    /// [`Selection::time`](crate::Selection::time).
    Time,
    /// [`Selection::cpus`](crate::Selection::cpus).
    Cpus,
    /// [`Selection::event`](crate::Selection::event).
    Event,
}

impl SelectionField {
    /// Returns the name of the part: `time`, `cpu`, `event`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Cpus => "cpu",
            Self::Event => "event",
        }
    }
}

impl ProfileError {
    /// Returns an error of a selection of times.
    pub(crate) fn time(value: &str, reason: impl Into<String>) -> Self {
        Self::Selection { field: SelectionField::Time, value: value.to_owned(), reason: reason.into() }
    }
}

impl Display for ProfileError {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Selection { field, value, reason } => write!(f, "{} {value}: {reason}", field.name()),
            Self::CpuNotRecorded { cpus, event } => write!(
                f,
                "cpu {cpus}: the samples of {event} do not have the CPU; select no CPUs, or record it"
            ),
            Self::OffCpuNotRecorded => f.write_str(
                "off-cpu: the capture does not tell when threads are off the CPU; record with perfdata record --off-cpu, with \
                 -a -e sched:sched_switch -g for exact stacks, or with --switch-events",
            ),
            Self::SchedNotRecorded => f.write_str(
                "sched: the capture does not have sched:sched_switch; record with perfdata record --sched, or with perf sched record",
            ),
            Self::AccessesNotRecorded => f.write_str(
                "no event has the source of the data of memory accesses; perf c2c record or perf mem record records it",
            ),
            Self::LocksNotRecorded => f.write_str(
                "locks: the capture has neither lock:contention_begin nor a system call of a futex; record with perfdata record --lock, \
                 or with perf lock record",
            ),
            Self::WakersNotRecorded => f.write_str(
                "wakers: the capture does not tell who woke threads up; record with perfdata record --off-cpu",
            ),
            Self::Report(error) => write!(f, "{}: {error}", error.option()),
            Self::Record(error) => error.fmt(f),
            Self::Cancelled => f.write_str("cancelled"),
        }
    }
}

impl Error for ProfileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Report(error) => Some(error),
            Self::Record(error) => Some(error),
            _ => None,
        }
    }
}

impl From<ReportError> for ProfileError {
    fn from(error: ReportError) -> Self {
        Self::Report(error)
    }
}

impl From<FileError> for ProfileError {
    fn from(error: FileError) -> Self {
        Self::Record(error)
    }
}
