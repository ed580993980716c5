//! The samples of a Linux perf capture, with processes, stacks and names, and what they add up to.
//!
//! A [`ProfileBuilder`] takes the samples of a capture, in time order, with the state of a `perf-session` and the stacks of
//! `perf-symbol`. It keeps each thread, address and stack once. [`ProfileBuilder::finish`] finds the names of all
//! functions, on all processors. The [`Profile`] that it returns has the samples of the capture: [`Functions`] adds up the cost
//! of each function, [`diff`] compares two profiles, and the crate `perf-export` writes profiles in the formats of other tools.
//!
//! # Examples
//!
//! ```
//! use perf_abi::regs::Arch;
//! use perf_parse::event::Events;
//! use perf_parse::file::{DeferredSamples, FileError};
//! use perf_parse::{EventRecord, Reader};
//! use perf_profile::{Keep, Limits, Naming, ProfileBuilder};
//! use perf_session::{Periods, Session};
//! use perf_symbol::{SymbolOptions, StackFinder, Symbolizer};
//!
//! # let path = "examples/captures/plain.data";
//! let reader = Reader::open(path)?;
//! let mut session = Session::new();
//! session.add_features(reader.features());
//! let mut symbolizer = Symbolizer::new(SymbolOptions::default());
//! let mut stacks = StackFinder::new(Arch::X86, 127, symbolizer.finder().clone());
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
//! let samples: u64 = profile.samples().map(|sample| sample.total.samples).sum();
//! println!("{samples} samples in {} functions", profile.named().symbols().len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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

pub mod branches;
mod builder;
mod call_tree;
mod calls;
pub mod diff;
mod end;
mod event_name;
mod functions;
mod limits;
mod named;
mod origin;
mod profile;
mod quality;
pub mod report;
mod sample;
mod samples;
mod stack_table;
pub mod symbols;
pub mod table;
pub mod text;
mod timeline;
pub mod tracepoints;
pub mod unit;
mod weight;
pub mod work;

pub use builder::{Kept, ProfileBuilder, Who};
pub use call_tree::CallTree;
pub use calls::{Call, calls_of, each_call, unknown_name};
pub use end::End;
pub use event_name::event_name;
pub use functions::{FunctionKey, FunctionTotal, Functions};
pub use limits::Limits;
pub use named::{FunctionAt, Line, Named, Naming, Symbol};
pub use origin::{Origin, machine_of, recorded_until};
pub use profile::{Keep, OffCpu, Profile, ProfileEvent, Thread};
pub use quality::{Missing, Quality, doubtful};
pub use sample::{Sample, Times, Total};
pub use stack_table::{NewStacks, PartFrame, PartStack, StackPart, StackTable, has_copies, has_stacks};
pub use symbols::Symbols;
pub use table::frames::{Frames, NONE, Place, short_name};
pub use table::stacks::{EMPTY, Stacks};
pub use timeline::{EventTimeline, ThreadStrip, ThreadTimeline};
pub use weight::Weight;
