//! Selections of the samples of a capture.

pub(crate) mod cpus;
pub(crate) mod events;
pub(crate) mod filter;
mod idle;
pub(crate) mod spans;

pub use cpus::CpuRanges;
pub use events::EventFilter;
pub use spans::{SpanSet, TimeSpans, nanoseconds};

/// The samples of a capture that are wanted: those that each field selects. The default selects all.
///
/// # Examples
///
/// ```
/// use perf_profile::Selection;
///
/// let selection = Selection {
///     comms: vec!["gcc".into(), "ld".into()],
///     cpus: "0,2-3".parse()?,
///     time: "10%-20%".parse()?,
///     ..Selection::default()
/// };
/// # let _ = selection;
/// # Ok::<(), perf_profile::ProfileError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Names of threads, at the time of the sample; empty for all threads.
    pub comms: Vec<Vec<u8>>,
    /// Ids of processes; empty for all processes.
    pub pids: Vec<i32>,
    /// Ids of threads; empty for all threads.
    pub tids: Vec<i32>,
    /// CPUs. Samples of a stream without a CPU are selected too; those of a file are an error.
    pub cpus: CpuRanges,
    /// Spans of time. A sample without a time counts as one of time 0.
    pub time: TimeSpans,
    /// The name of an event or its index in the capture; `None` for all events.
    pub event: Option<String>,
    /// Files that have the address of the sample, each by its path or its file name; empty for all addresses.
    pub dsos: Vec<Vec<u8>>,
    /// Functions that have the address of the sample, inlined functions left out; empty for all addresses.
    pub symbols: Vec<Vec<u8>>,
    /// Whether samples of CPUs that have no work are left out, as `perf top` leaves them out: those in functions of the kernel such as
    /// `intel_idle`. Without names, none is.
    pub no_idle: bool,
}
