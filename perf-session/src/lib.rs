//! Processes, threads, mappings and files behind the records of a Linux perf capture.
//!
//! A sample has a process id and addresses. What ran there follows from the records before it: FORK and EXIT, COMM,
//! MMAP and MMAP2, KSYMBOL. A [`Session`] takes the records of a capture in time order and keeps the state that they
//! describe. For each sample it returns the thread with its name at that time, and for each address the mapping and the
//! file that it belongs to.
//!
//! The session owns no file and opens nothing. Records may come from a `perf.data`, from a pipe or from live rings. It
//! needs an allocator and no std.
//!
//! # Examples
//!
//! Each sample with its thread, its events with their periods, and the files of its stack:
//!
//! ```
//! use perf_parse::event::Events;
//! use perf_parse::file::{DeferredSamples, FileError};
//! use perf_parse::{EventRecord, Reader};
//! use perf_session::{Periods, Session};
//!
//! # let path = "examples/captures/plain.data";
//! let reader = Reader::open(path)?;
//! let mut session = Session::new();
//! session.add_features(reader.features());
//! let mut periods = Periods::default();
//! // `user` is the user part of the call chain, if it came in a later record.
//! let mut print = |record: &EventRecord<'_>, user: Option<&[u64]>, events: &Events| -> Result<(), FileError> {
//!     let Some(at) = session.update_at(record)? else { return Ok(()) };
//!     // A sample of a group (`:S`) counts for each event of the group.
//!     for (event, period) in periods.of(&at, events)? {
//!         println!("{} {}", at.thread().comm().escape_ascii(), at.thread().tid());
//!         println!("\t{period} of event {}", event.index);
//!         for frame in at.stack(user)? {
//!             let name = frame.mapping.map_or(&b"[unknown]"[..], |mapping| mapping.dso().name());
//!             println!("\t{:x} {}", frame.ip, name.escape_ascii());
//!         }
//!     }
//!     Ok(())
//! };
//! let mut waiting = DeferredSamples::within(reader.limits());
//! let mut records = reader.records().in_time_order();
//! while let Some(record) = records.next() {
//!     let record = record?;
//!     if waiting.hold(&record) {
//!         continue;
//!     }
//!     if let Some(ended) = waiting.end(&record) {
//!         for sample in &ended.samples {
//!             print(&sample.record, ended.user_of(sample), records.events())?;
//!         }
//!     }
//!     print(&record, None, records.events())?;
//! }
//! for sample in waiting.take_all() {
//!     print(&sample.record, None, records.events())?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Stages
//!
//! - Open a capture, a pipe or rings: [`perf_parse::Reader`], or the crate `perf-open` for live rings.
//! - Follow processes: [`Session::update`] for each record, [`Session::update_at`] where samples are wanted.
//! - Keep lists of one's own, as an importer does: [`Session::update_changes`] returns what a record [changed](Change).
//! - Count: [`Periods`] has the period of each event in a sample.
//! - Walk stacks: [`SampleContext::stack`] has addresses with their mappings, [`Mapping::offset_of`] and [`address_of`] make them
//!   addresses of an ELF file.
//! - Names and lines: the crate `perf-symbol`. Profiles and formats: `perf-profile` and `perf-export`.
//!
//! # What is kept
//!
//! Memory grows with the processes, threads, mappings and files that are alive, not with the length of the capture. A
//! thread is kept for a while after its exit, because its last samples come later. A fork shares the mappings of its
//! parent until one of them changes. [`SessionLimits`] bounds what a capture could otherwise make grow.

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
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

extern crate alloc;

mod build_ids;
mod cgroups;
mod change;
mod dso;
mod first_mapping;
mod kernel;
mod kernel_names;
mod ledger;
mod limits;
mod machine;
mod machines;
mod map;
mod maps;
mod mark;
mod periods;
mod recent;
mod recorded_file;
mod remapped;
mod segments;
mod session;
mod spaces;
mod stack;
mod thread;
mod threads;

pub use build_ids::BuildId;
pub use change::{Change, Changes, CutMapping, CutMappings};
pub use dso::{Dso, DsoKind, Inode};
pub use first_mapping::FirstMapping;
pub use limits::SessionLimits;
pub use map::Mapping;
pub use maps::Maps;
pub use periods::Periods;
pub use recorded_file::{RecordedFile, RecordedSymbol};
pub use segments::{Segment, address_of};
pub use session::{SampleContext, Session};
pub use stack::{Frame, Stack};
pub use thread::Thread;
