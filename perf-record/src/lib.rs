//! Recording sessions and counts with Linux perf_event: what `perf record` and `perf stat` do, as a library.
//!
//! A [`Recorder`] opens events on a command, on threads or on cpus ([`Targets`]), with one ring for each online cpu. It
//! synthesizes the records of the tasks and mappings that already exist, drains the rings into a [`RecordingSink`], and adds the
//! features of the machine and the build ids of the mapped files. The sink is a `perf.data` file ([`FileSink`]), a
//! stream ([`PipeSink`]), or a callback ([`CallbackSink`]).
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
//! machine, [`BuildIdCollector`] collects the build ids of mapped files, [`BpfPrograms`] the
//! BPF programs.
//!
//! # Hardware traces
//!
//! An event of a PMU that traces (`intel_pt`, `intel_bts`, `arm_spe_0`, `hisi_ptt`) gets an AUX area for each ring. Its data
//! goes to [`RecordingSink::record_with_data`], which files and streams implement and a [`CallbackSink`] refuses.
//! [`Recorder::snapshot_areas`] takes the newest data, if [`RecordOptions::aux_snapshot`] is set.
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
mod kernel;
mod mapped_file;
mod maps;
mod open_files;
mod options;
mod pace;
mod processes;
mod reader;
mod reader_threads;
mod record_body;
mod recorder;
mod ring_plan;
mod ring_size;
mod session;
mod shared_settings;
mod sideband;
mod sideband_tasks;
mod sink;
mod snapshot;
mod stack_trim;
pub mod stat;
mod summary;
mod survey;
mod synthesize;
mod sysfs;
mod targets;
mod terms;
mod thread_spec;
mod topology;
mod traces;
mod tracing;
mod trigger;
mod user_records;
mod vdso;
mod wait;
mod window;

#[cfg(test)]
mod tests;

pub use aux_area::has_aux_events;
pub use bpf::BpfPrograms;
pub use build_ids::BuildIdCollector;
pub use call_graph::all_registers;
pub use cgroups::{CgroupDirectory, CgroupError};
pub use control::{ControlCommand, EvlistDetails, UnknownCommand};
pub use error::Error;
pub use fallback::FallbackNote;
pub use host::describe as machine;
pub use kcore::copy_kcore;
pub use open_files::raise_open_files;
pub use options::{CallGraphMode, RecordOptions, SynthesizedRecords};
pub use perf_open as open;
pub use perf_parse as parse;
pub use reader::RingReader;
pub use reader_threads::ReaderThreads;
pub use recorder::Recorder;
pub use sideband::SidebandSink;
pub use sink::{CallbackSink, CaptureHead, FileSink, PartSink, PipeSink, RecordingSink};
pub use snapshot::{FrozenRings, RecordingSnapshot};
pub use summary::Summary;
pub use synthesize::{Synthesizer, SynthesizerOptions};
pub use targets::{Targets, check_online, online};
pub use thread_spec::{ThreadMask, ThreadSpec};
pub use trigger::Trigger;
pub use vdso::vdso32;
pub use wait::WaitOutcome;
pub use window::RecordWindow;

/// The examples of the README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
