//! The tables.

use arrow_schema::SchemaRef;

use super::column::{self, Column};
use super::rows::Rows;
use super::{
    captures, counts, dsos, events, frames, losses, mmaps, processes, samples, stacks, switches, threads,
};

/// Declares the tables and the rows of all of them.
macro_rules! tables {
    ($( $(#[$doc:meta])* $Table:ident = $module:ident; )*) => {
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
        pub(super) struct Tables {
            $( pub(super) $module: Rows, )*
        }

        impl Tables {
            pub(super) fn new() -> Self {
                Self { $( $module: Rows::new($module::COLUMNS), )* }
            }

            pub(super) fn rows(&mut self, table: Table) -> &mut Rows {
                match table {
                    $( Table::$Table => &mut self.$module, )*
                }
            }
        }
    };
}

tables! {
    /// The samples.
    Samples = samples;
    /// The stacks of the samples.
    Stacks = stacks;
    /// The functions at the addresses of the stacks.
    Frames = frames;
    /// The files of the addresses, and what else is mapped.
    Dsos = dsos;
    /// The MMAP and MMAP2 records.
    Mmaps = mmaps;
    /// The processes.
    Processes = processes;
    /// The threads.
    Threads = threads;
    /// The events.
    Events = events;
    /// What counters counted.
    Counts = counts;
    /// The times that threads were off the CPU.
    Switches = switches;
    /// What was lost, and what cannot be decoded.
    Losses = losses;
    /// The capture.
    Captures = captures;
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
