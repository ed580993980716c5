//! Counts of events: what `perf stat` does, as a library.
//!
//! A [`StatPlan`] has the events and their targets, for one or more runs. A [`StatRun`] opens the events, and reads them at
//! the end or at intervals. [`StatPlan::rows`] turns [readouts](Readout) into [rows](CountRow): a value in the event's unit, its
//! deviation over several runs, and [metrics](MetricValue) such as instructions per cycle.
//!
//! Counts are added up by [`Aggregation`]: of all targets, by cpu, thread, core, socket, NUMA node or cache. A [`StatCapture`]
//! writes the counts to a capture for `perf stat report`, and [`RecordedCounts`] reads such captures.
//!
//! # Examples
//!
//! The page faults of a command:
//!
//! ```
#![doc = include_str!("../examples/stat.rs")]
//! ```
//!
//! The counts of each second, of everything that runs on each cpu:
//!
//! ```no_run
//! use core::ops::ControlFlow;
//! use core::time::Duration;
//!
//! use perf_record::Targets;
//! use perf_record::open::event::parse;
//! use perf_record::stat::{Aggregation, StatOptions, StatPlan};
//!
//! let interval = Some(Duration::from_secs(1));
//! let options = StatOptions { aggregation: Aggregation::Cpu, interval, ..StatOptions::default() };
//! let plan = StatPlan::new(parse("context-switches")?, Targets::machine()?, options)?;
//! let mut run = plan.open(None)?;
//! run.start()?;
//! run.wait(None, |events, interval| {
//!     for row in plan.rows(events, core::slice::from_ref(&interval.readout), interval.lasted) {
//!         println!("{:?} {:?} {}: {:?}", interval.at, row.aggregate, row.event.name, row.value());
//!     }
//!     ControlFlow::Continue(())
//! })?;
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

mod aggregates;
mod aggregation;
mod capture;
mod counted_event;
mod counter_set;
mod domain;
mod error;
mod group;
mod mean;
mod metric;
mod named_metric;
mod opening;
mod options;
mod plan;
mod property;
mod readout;
mod recorded;
mod rows;
mod run;
mod schedule;
mod targets;
mod times;
mod topdown;

pub use aggregation::{Aggregate, AggregateLabel, AggregateLabels, Aggregation};
pub use capture::{StatCapture, StatCaptureOptions};
pub use counted_event::CountedEvent;
pub use domain::{CacheLevel, CpuDomain};
pub use error::StatError;
pub use group::StatGroup;
pub use mean::RunMean;
pub use metric::MetricValue;
pub use named_metric::NamedMetric;
pub use options::{StatCgroups, StatOptions};
pub use plan::StatPlan;
pub use property::has_tool_event;
pub use readout::{Readout, TimedCount};
pub use recorded::RecordedCounts;
pub use rows::{CountRow, CountStatus, CountValue};
pub use run::{StatInterval, StatResult, StatRun};
pub use schedule::{StatEnd, StatSchedule, StatStep};
