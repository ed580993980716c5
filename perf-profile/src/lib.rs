//! The samples of a Linux perf capture, with processes, stacks and names, and what they add up to.
//!
//! [`Samples`] are those of a capture that a [`Selection`] selects, counted as perf counts them: groups of events, deferred call
//! chains and times off the CPU included. [`Symbols`] find their stacks and functions. From them,
//!
//! - [`Samples::profile`] makes a [`Profile`]: each thread, address and stack kept once. [`Functions`] adds up the cost of each
//!   function, [`diff`] compares two profiles, and the crate `perf-export` writes profiles in the formats of other tools;
//! - [`Samples::report`] groups samples by keys, as `perf report` does: see [`report`];
//! - [`Samples::named`] returns each sample with the functions of its stack;
//! - [`Samples::walk`] runs a [pass](samples::pass::SamplePass) of one's own, on several threads.
//!
//! [`edit`] writes another capture, with the selected samples only. A [`ProfileBuilder`] takes samples that a program has from elsewhere.
//!
//! # Examples
//!
//! The profile of a tenth of a capture, as `perfdata fold --time 10%-20%` has it:
//!
//! ```
//! use perf_parse::Reader;
//! use perf_profile::{Samples, Selection, Symbols};
//!
//! # let path = "examples/captures/plain.data";
//! let reader = Reader::open(path)?;
//! let symbols = Symbols::of(&reader);
//! let selection = Selection { time: "10%-20%".parse()?, ..Selection::default() };
//! let profile = Samples::of(&reader).select(selection).threads(4).profile(&symbols, &mut ())?;
//! let samples: u64 = profile.samples().map(|sample| sample.total.samples).sum();
//! println!("{samples} samples in {} functions", profile.function_table().symbols().len());
//! if !profile.account().is_clean() {
//!     println!("faults: {}", profile.account().faults());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each sample:
//!
//! ```
//! use perf_parse::Reader;
//! use perf_profile::{Samples, Symbols};
//!
//! # let path = "examples/captures/plain.data";
//! let reader = Reader::open(path)?;
//! let symbols = Symbols::of(&reader);
//! for sample in Samples::of(&reader).named(&symbols) {
//!     let sample = sample?;
//!     println!("{} at {:?}", String::from_utf8_lossy(sample.thread().comm()), sample.time());
//!     for frame in sample.stack() {
//!         let function = frame.function().unwrap_or(b"?");
//!         println!("    {} {:?} {:?}", String::from_utf8_lossy(function), frame.file(), frame.line());
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg_attr(
    test,
    allow(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        reason = "a test that indexes wrongly should fail loudly"
    )
)]

pub mod annotation;
#[cfg(feature = "archive")]
#[cfg_attr(docsrs, doc(cfg(feature = "archive")))]
pub mod archive;
pub mod branches;
mod builder;
pub mod c2c;
pub mod call_graph;
mod call_tree;
mod calls;
mod capture_info;
pub mod diff;
pub mod edit;
mod error;
mod event_name;
mod function_table;
mod functions;
mod hot_files;
mod int_field;
mod interpreter;
mod limits;
pub mod lock;
mod lock_waits;
mod missing_symbols;
mod observer;
pub mod off_cpu;
mod origin;
mod pending_end;
mod profile;
mod quality;
pub mod report;
mod sample;
mod sample_list;
pub mod samples;
pub mod sched;
pub mod selection;
mod stack_table;
pub mod symbols;
pub mod table;
pub mod text;
mod tid_field;
mod timeline;
mod trace_field_name;
pub mod tracepoints;
pub mod unit;
mod wakers;
mod weight;
pub mod work;

pub use builder::{PendingSample, ProfileBuilder, SampleTask};
pub use call_tree::CallTree;
pub use calls::{Call, calls_of, each_call, unknown_name};
pub use capture_info::CaptureInfo;
pub use error::{ProfileError, SelectionField};
pub use event_name::event_name;
pub use function_table::{FunctionAt, FunctionTable, NamingOptions, SourceLine, Symbol};
pub use functions::{FunctionKey, FunctionTotal, Functions};
pub use hot_files::load_hottest_first;
pub use interpreter::InterpreterFrames;
pub use limits::Limits;
pub use missing_symbols::{MissingCause, MissingSymbols};
pub use observer::Observer;
pub use origin::{CaptureOrigin, machine_of, recorded_until};
pub use pending_end::PendingEnd;
pub use profile::{OffCpu, Profile, ProfileEvent, ProfileThread, SampleDetail};
pub use quality::{Quality, doubtful};
pub use sample::{Sample, SampleTotal, TimeDetail};
pub use samples::{NamedFrame, NamedSample, NamedSamples, PassSteps, ProfileOptions, Samples, WalkEnd};
pub use selection::Selection;
pub use stack_table::{NewStacks, PartFrame, PartStack, StackPart, StackTable, has_copies, has_stacks};
pub use symbols::Symbols;
pub use table::frames::{FrameLocation, FrameTable, NONE, short_name};
pub use table::stacks::{EMPTY, StackTree};
pub use timeline::{EventTimeline, ThreadStrip, ThreadTimeline};
pub use weight::Weight;
