//! The AUX traces of a capture: their buffers by CPU or thread, in order, with what a decoder of the trace needs to know.
//!
//! A capture has pieces of the AUX areas in AUXTRACE records, or in samples. [`AuxTrace::of`] notes in one pass where they
//! are, and what other records report about them. [`AuxTrace::slices`] then reads the pieces of one area as the hardware
//! wrote them: without the bytes that a snapshot repeats, and with the places at which data is missing. A decoder of
//! instructions, such as libipt, takes them from there.
//!
//! # Examples
//!
//! The runs of data that a decoder can read without a new start:
//!
//! ```
//! use perf_aux::trace::AuxTrace;
//! use perf_parse::Reader;
//!
//! # let path = "examples/captures/auxtrace.le.data";
//! let bytes = std::fs::read(path)?;
//! let reader = Reader::new(&bytes)?;
//! let trace = AuxTrace::of(&reader);
//! let mut runs = Vec::new();
//! for queue in trace.queues() {
//!     for slice in trace.slices(&reader, queue) {
//!         let slice = slice?;
//!         if !slice.is_consecutive {
//!             runs.push((queue.cpu, Vec::new())); // a decoder begins here
//!         }
//!         if let Some((_, run)) = runs.last_mut() {
//!             run.extend_from_slice(slice.bytes());
//!         }
//!     }
//! }
//! assert!(!runs.is_empty());
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! # Sideband
//!
//! A decoder of instructions needs the mappings, and the thread on a CPU, at the time of the trace. [`sideband`] returns the
//! records for it in time order, of all CPUs. [`ContextSwitches::thread_at`] has the thread of a CPU. Times of a trace are
//! ticks of the hardware; [`AuxTrace::time_at`] converts them to the time of the records.
//!
//! # Memory
//!
//! The pass keeps at most about 64 bytes for each record that it keeps something of, and no data. Of compressed records,
//! which can be far larger than the capture, it keeps at most [`Limits::held_records`](perf_parse::file::Limits) items;
//! [`AuxAccount::omitted`] counts the others.

#![deny(
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::alloc_instead_of_core,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation
)]
#![cfg_attr(
    test,
    allow(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::cast_possible_truncation,
        reason = "a test that indexes wrongly should fail loudly"
    )
)]

mod account;
mod aux_time;
mod info;
mod overlap;
mod pass;
mod queue;
mod sideband;
mod slices;
mod switches;

pub use account::AuxAccount;
pub use info::AuxInfo;
pub use queue::{AuxBuffer, AuxQueue, AuxRange, BufferSource};
pub use sideband::{HardwareId, TraceError, sideband};
pub use slices::{AuxSlice, AuxSlices};
pub use switches::ContextSwitches;

use alloc::vec::Vec;

use perf_parse::Reader;

use aux_time::AuxTimes;
use overlap::OverlapRule;

/// The AUX traces of a capture.
///
/// Owns what it has, and no data: each method that reads data takes the reader again.
#[derive(Clone, Debug)]
#[doc(alias = "auxtrace_queues")]
pub struct AuxTrace {
    info: Option<AuxInfo>,
    queues: Vec<AuxQueue>,
    switches: ContextSwitches,
    hardware_ids: Vec<HardwareId>,
    errors: Vec<TraceError>,
    times: AuxTimes,
    overlap: OverlapRule,
    account: AuxAccount,
}

impl AuxTrace {
    /// Finds the traces of a capture, in one walk over its records. Reads no trace data.
    ///
    /// A damaged record is left out, and noted in the [account](Self::account). An AUXTRACE record whose data the capture
    /// cuts off has a buffer with the data that is there.
    ///
    /// A stream (`Reader::stream`) has no data after its walk: this finds everything except the data, and slices have errors.
    /// Read the whole stream into memory, and use [`Reader::new`].
    #[must_use]
    pub fn of(reader: &Reader<'_>) -> Self {
        pass::run(reader)
    }

    /// Returns the tracer and its settings; `None` if the capture has no AUXTRACE_INFO record.
    #[must_use]
    pub fn info(&self) -> Option<&AuxInfo> {
        self.info.as_ref()
    }

    /// Returns the queues of buffers, one for each AUX area, in ascending order of their indices.
    #[must_use]
    pub fn queues(&self) -> &[AuxQueue] {
        &self.queues
    }

    /// Reads the data of a queue in order, as slices that a decoder can take one after another. `reader` must be of the same
    /// capture.
    ///
    /// In memory, slices borrow the data. Otherwise the data of one buffer is read, and that of the buffer before is
    /// kept.
    #[must_use]
    pub fn slices<'r, 'a>(&self, reader: &'r Reader<'a>, queue: &'r AuxQueue) -> AuxSlices<'r, 'a> {
        AuxSlices::new(reader, queue, self.overlap)
    }

    /// Returns the context switches of all CPUs.
    #[must_use]
    pub fn switches(&self) -> &ContextSwitches {
        &self.switches
    }

    /// Returns the ids by which the hardware calls events, in the order of the capture.
    #[must_use]
    pub fn hardware_ids(&self) -> &[HardwareId] {
        &self.hardware_ids
    }

    /// Returns the errors of a decoder that ran before, such as that of `perf inject`, in the order of the capture.
    #[must_use]
    pub fn errors(&self) -> &[TraceError] {
        &self.errors
    }

    /// Returns the time of the records at which the counter of the trace was `ticks`, in nanoseconds; `None` if the capture
    /// has no conversion.
    ///
    /// The conversion is that of the AUXTRACE_INFO record of Intel PT and BTS, and of the TIME_CONV record of others. See
    /// [`TimeConv::tsc_to_perf_time`](perf_parse::record::user::TimeConv::tsc_to_perf_time).
    #[must_use]
    pub fn time_at(&self, ticks: u64) -> Option<u64> {
        self.times.time_at(ticks)
    }

    /// Returns what the traces lack, and what was left out.
    #[must_use]
    pub fn account(&self) -> &AuxAccount {
        &self.account
    }
}
