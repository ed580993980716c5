//! The tables.

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};

use super::column::{self, Column};
use super::context::Context;
use super::rows::TableRows;
use super::samples::SampleRows;
use super::{
    captures, counts, dsos, events, frames, losses, mmaps, processes, runs, samples, spe, stacks, switches,
    threads, waits, wakeups,
};

/// Declares the tables and the rows of all of them.
macro_rules! tables {
    ($( $(#[$doc:meta])* $Table:ident = $module:ident $rows:ident; )*) => {
        /// A table of a capture.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Table {
            $( $(#[$doc])* $Table, )*
        }

        impl Table {
            /// All tables. `captures` is the last one: a capture that has a row there has all others.
            pub const ALL: &'static [Self] = &[$( Self::$Table ),*];

            /// Returns the name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $( Self::$Table => stringify!($module), )*
                }
            }

            /// Returns the columns.
            #[must_use]
            pub fn columns(self) -> &'static [Column] {
                match self {
                    $( Self::$Table => $module::COLUMNS, )*
                }
            }
        }

        /// The rows of all tables that are in no batch yet.
        #[derive(Debug)]
        pub(super) struct TableSet {
            $( pub(super) $module: $rows, )*
        }

        impl TableSet {
            pub(super) fn new() -> Self {
                Self { $( $module: $rows::new($module::COLUMNS), )* }
            }

            /// Returns the number of rows of a table.
            pub(super) fn len(&self, table: Table) -> usize {
                match table {
                    $( Table::$Table => self.$module.len(), )*
                }
            }

            /// Returns the rows of a table, and starts again.
            pub(super) fn finish(
                &mut self,
                table: Table,
                context: &Context,
            ) -> Result<RecordBatch, ArrowError> {
                match table {
                    $( Table::$Table => self.$module.finish(context), )*
                }
            }
        }
    };
}

tables! {
    /// The samples.
    Samples = samples SampleRows;
    /// The stacks of the samples.
    Stacks = stacks TableRows;
    /// The functions at the addresses of the stacks.
    Frames = frames TableRows;
    /// The files of the addresses, and what else is mapped.
    Dsos = dsos TableRows;
    /// The MMAP and MMAP2 records.
    Mmaps = mmaps TableRows;
    /// The processes.
    Processes = processes TableRows;
    /// The threads.
    Threads = threads TableRows;
    /// The events.
    Events = events TableRows;
    /// Values of counters.
    Counts = counts TableRows;
    /// The times that threads were off the CPU.
    Switches = switches TableRows;
    /// The records of Arm SPE.
    Spe = spe TableRows;
    /// The times for which threads ran.
    Runs = runs TableRows;
    /// The times for which threads did not run.
    Waits = waits TableRows;
    /// What woke threads up.
    Wakeups = wakeups TableRows;
    /// Lost records, and records that cannot be decoded.
    Losses = losses TableRows;
    /// The capture.
    Captures = captures TableRows;
}

impl Table {
    /// Returns the schema in Arrow.
    #[must_use]
    pub fn schema(self) -> SchemaRef {
        column::schema(self.columns())
    }
}

impl core::fmt::Display for Table {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.name())
    }
}
