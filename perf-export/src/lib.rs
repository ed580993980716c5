//! Linux perf captures in the formats of other tools.
//!
//! A [`ProfileBuilder`] takes the samples of a capture, in time order, with the state of a `perf-session` and the stacks of
//! `perf-symbol`. It keeps each thread, address and stack once. [`ProfileBuilder::finish`] finds the names of all
//! functions, on all processors. The [`Profile`] that it returns is what all formats are written from.
//!
//! # Examples
//!
//! ```
//! use perf_abi::regs::Arch;
//! use perf_export::{Keep, Limits, Naming, ProfileBuilder, fold};
//! use perf_parse::event::Events;
//! use perf_parse::file::{DeferredSamples, FileError};
//! use perf_parse::{EventRecord, Reader};
//! use perf_session::{Periods, Session};
//! use perf_symbol::{Options, Stacks, Symbolizer};
//!
//! # let path = "examples/captures/plain.data";
//! let reader = Reader::open(path)?;
//! let mut session = Session::new();
//! session.add_features(reader.features());
//! let mut symbolizer = Symbolizer::new(Options::default());
//! let mut stacks = Stacks::new(Arch::X86, 127, symbolizer.finder().clone()).with_symbols(&symbolizer);
//! let mut builder = ProfileBuilder::new(Keep::default(), Limits::default());
//! let mut periods = Periods::default();
//! // `user` is the user part of the call chain, if it came in a later record.
//! let mut count = |record: &EventRecord<'_>, user: Option<&[u64]>, events: &Events| -> Result<(), FileError> {
//!     let Some(at) = session.update_at(record)? else { return Ok(()) };
//!     let mut stack = Vec::new();
//!     let end = stacks.push(&at, user, &mut stack)?;
//!     // A sample of a group (`:S`) counts for each event of the group.
//!     for (event, period) in periods.of(&at, events)? {
//!         builder.sample(&at, event, period, &stack, end, Some(&mut symbolizer));
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
//!             count(&sample.record, ended.user_of(sample), records.events())?;
//!         }
//!     }
//!     count(&record, None, records.events())?;
//! }
//! for sample in waiting.take_all() {
//!     count(&sample.record, None, records.events())?;
//! }
//! let profile = builder.finish(&session, &mut stacks, Some(&symbolizer), Naming::default(), &mut |_, _| {});
//! fold::write(&[profile], &fold::Options::default(), &mut std::io::stdout())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! A format each; only `fold` is on by default:
//!
//! - `arrow`: the tables of a capture as record batches of Arrow.
//! - `branches`: branch stacks, as compilers and BOLT read them.
//! - `fold`: folded stacks, as the scripts around flame graphs read them.
//! - `otlp`: profiles of OpenTelemetry, as protobuf and JSON.
//! - `parquet`: the same tables as files of Parquet.
//! - `pprof`: profiles for `go tool pprof`.
//! - `flamegraph`: flame graphs: a page for a browser, and a static picture.
//! - `firefox`: processed profiles of the Firefox Profiler.
//! - `speedscope`: speedscope's JSON.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
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

mod both;
#[cfg(feature = "branches")]
#[cfg_attr(docsrs, doc(cfg(feature = "branches")))]
pub mod branches;
mod builder;
#[cfg(any(feature = "flamegraph", feature = "fold"))]
mod call_tree;
mod calls;
#[cfg(feature = "arrow")]
#[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
pub mod columns;
pub mod diff;
mod end;
mod event_name;
#[cfg(feature = "firefox")]
#[cfg_attr(docsrs, doc(cfg(feature = "firefox")))]
pub mod firefox;
#[cfg(feature = "flamegraph")]
#[cfg_attr(docsrs, doc(cfg(feature = "flamegraph")))]
pub mod flamegraph;
#[cfg(feature = "fold")]
#[cfg_attr(docsrs, doc(cfg(feature = "fold")))]
pub mod fold;
mod frames;
mod functions;
#[cfg(feature = "speedscope")]
mod json;
mod known_numbers;
mod known_stacks;
mod limits;
mod lists;
mod named;
mod numbering;
mod origin;
#[cfg(feature = "otlp")]
#[cfg_attr(docsrs, doc(cfg(feature = "otlp")))]
pub mod otlp;
#[cfg(feature = "parquet")]
#[cfg_attr(docsrs, doc(cfg(feature = "parquet")))]
pub mod parquet;
#[cfg(feature = "pprof")]
#[cfg_attr(docsrs, doc(cfg(feature = "pprof")))]
pub mod pprof;
mod profile;
mod quality;
mod sample;
mod samples;
mod sorting;
#[cfg(feature = "speedscope")]
#[cfg_attr(docsrs, doc(cfg(feature = "speedscope")))]
pub mod speedscope;
mod stack_table;
mod stacks;
#[cfg(any(feature = "firefox", feature = "otlp", feature = "pprof"))]
mod strings;
mod table;
#[cfg(any(feature = "otlp", feature = "pprof"))]
mod tables;
pub mod text;
#[cfg(feature = "arrow")]
mod texts;
#[cfg(any(
    feature = "firefox",
    feature = "flamegraph",
    feature = "otlp",
    feature = "pprof",
    feature = "speedscope"
))]
mod unit;
#[cfg(any(feature = "firefox", feature = "fold", feature = "pprof"))]
mod waves;
mod weight;

pub use builder::{Kept, ProfileBuilder, Who};
pub use calls::{Call, calls_of, unknown_name};
pub use event_name::event_name;
pub use frames::{Frames, NONE, Place, short_name};
pub use functions::{FunctionKey, FunctionTotal, Functions};
pub use limits::Limits;
pub use named::{FunctionAt, Line, Named, Naming, Symbol};
pub use origin::Origin;
pub use profile::{Keep, OffCpu, Profile, ProfileEvent, Thread};
pub use quality::{Missing, Quality};
pub use sample::{Sample, Times, Total};
pub use stack_table::{NewStacks, PartFrame, PartStack, StackPart, StackTable, has_copies, has_stacks};
pub use stacks::{EMPTY, Stacks};
pub use weight::Weight;
