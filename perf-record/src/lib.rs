//! Recording sessions and counts with Linux perf_event: what `perf record` and `perf stat` do, as a library.
//!
//! A [`Recorder`] opens events on a command, on threads or on cpus ([`Observed`]), with one ring for each online cpu. It
//! synthesizes the records of the tasks and mappings that already exist, drains the rings into a [`Sink`], and adds the
//! features of the machine and the build ids of the mapped files. The sink is a `perf.data` file ([`FileSink`]), a
//! stream ([`PipeSink`]), or a callback ([`Callback`]).
//!
//! # Examples
//!
//! A recording of this process:
//!
//! ```no_run
#![doc = include_str!("../examples/own_process.rs")]
//! ```
//!
//! # Counts
//!
//! The module [`stat`] counts events without recording samples, as `perf stat` does.
//!
//! # Parts
//!
//! The parts are usable alone: [`Synthesizer`] makes the records of existing tasks, [`machine`] the features of the
//! machine, [`BuildIds`] collects the build ids of mapped files, [`BpfPrograms`] the
//! BPF programs.
//!
//! # Hardware traces
//!
//! An event of a PMU that traces (`intel_pt`, `intel_bts`, `arm_spe_0`, `hisi_ptt`) gets an AUX area for each ring. Its data
//! goes to [`Sink::record_with_data`], which files and streams implement and a [`Callback`] refuses.
//! [`Recorder::snapshot_areas`] takes the newest data, if [`Options::aux_snapshot`] is set.
//!
//! # Kernels
//!
//! Every kernel that perf-open supports. What a kernel does not know, and what a user may not record, is left out or
//! replaced as perf does it, and [`Recorder::notes`] lists it.
//!
//! On systems other than Linux the crate is empty.

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

extern crate alloc;

mod attrs;
mod aux_area;
mod bpf;
mod build_id_cache;
mod build_ids;
mod call_graph;
mod cgroups;
mod clock;
mod control;
mod drain;
mod elf;
mod error;
mod fallback;
mod features;
mod host;
mod kcore;
mod kept;
mod kept_tasks;
mod kernel;
mod manner;
mod mapped_file;
mod maps;
mod observed;
mod open_files;
mod options;
mod pace;
mod places;
mod processes;
mod reader;
mod recorder;
mod ring_size;
mod session;
mod sink;
mod snapshot;
mod stack_trim;
pub mod stat;
mod summary;
mod survey;
mod synthesize;
mod sysfs;
mod terms;
mod thread_spec;
mod topology;
mod traces;
mod tracing;
mod trigger;
mod user_records;
mod vdso;
mod wait;

#[cfg(test)]
mod tests;

pub use bpf::BpfPrograms;
pub use build_ids::BuildIds;
pub use call_graph::all_registers;
pub use cgroups::{CgroupDirectory, CgroupError};
pub use control::{ControlCommand, EvlistDetails, UnknownCommand};
pub use error::Error;
pub use fallback::Note;
pub use host::describe as machine;
pub use kcore::copy_kcore;
pub use kept::Kept;
pub use observed::{Observed, check_online, online};
pub use open_files::raise_open_files;
pub use options::{CallGraph, Options, Synthesized};
pub use perf_open as open;
pub use perf_parse as parse;
pub use reader::Reader;
pub use recorder::Recorder;
pub use sink::{Callback, FileSink, Head, PartSink, PipeSink, Sink};
pub use snapshot::{Frozen, Snapshot};
pub use summary::Summary;
pub use synthesize::{Synthesizer, Wanted};
pub use thread_spec::{ThreadMask, ThreadSpec};
pub use trigger::Trigger;
pub use vdso::vdso32;
pub use wait::Waited;

/// The examples of the README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
