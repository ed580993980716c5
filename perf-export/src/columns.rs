//! Captures as tables: record batches of Arrow, and with the feature `parquet` files.
//!
//! [`Table`] has the tables and their columns; `SCHEMA.md` lists them with their units. [`Batches`] reads a capture and
//! returns its tables batch by batch, in memory that does not grow with the capture.

mod batches;
mod builder;
mod captures;
mod column;
mod context;
mod counts;
mod dsos;
mod events;
mod frames;
mod generation;
mod heads;
mod identity;
mod losses;
mod mmaps;
mod options;
mod pass;
mod processes;
mod recent_stacks;
mod rows;
mod runs;
mod samples;
mod sched;
mod sched_thread;
mod spe;
mod stacks;
mod switches;
mod table;
mod task;
mod tasks;
mod threads;
mod trace;
mod trace_tables;
mod utf8;
mod waits;
mod wakeups;

pub use batches::Batches;
pub use builder::ColumnsBuilder;
pub use column::{Column, ColumnKind};
pub use context::Redaction;
pub use options::Options;
pub use pass::walk;
pub use samples::ExtraColumns;
pub use table::Table;

/// Version of the tables. It is larger by one after each change that a query may notice.
pub const SCHEMA_VERSION: i32 = 2;
