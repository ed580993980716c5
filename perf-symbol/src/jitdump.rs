//! Jitdumps: the code that JIT compilers generate, with times, names, lines and unwind tables.
//!
//! A program that generates code writes it to `jit-PID.dump`, a record for each function, and maps the file so that a
//! capture has its path. Three types read it:
//!
//! - [`JitdumpHeader::records`] iterates over the records of a file in memory.
//! - [`JitdumpReader`] reads the records of a file one at a time, also while the program writes it.
//! - [`Jitdump`] finds the function at an address and a time. A [`Symbolizer`](crate::Symbolizer) uses it by itself.
//!
//! perf: `tools/perf/Documentation/jitdump-specification.txt`.

mod error;
mod fields;
mod header;
mod reader;
mod record;
mod records;
mod table;

pub use error::JitdumpError;
pub use header::JitdumpHeader;
pub use reader::JitdumpReader;
pub use record::{JitDebugInfo, JitLine, JitLoad, JitMove, JitRecord, JitRecordBody, JitUnwindingInfo};
pub use records::JitdumpRecords;
pub use table::{JitFunction, Jitdump};
