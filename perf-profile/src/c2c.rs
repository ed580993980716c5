//! Memory accesses by line of the cache, to find false sharing: threads that write to one line and make each other wait for it.
//!
//! [`Samples::c2c`](crate::Samples::c2c) reads the samples of loads and stores, with the source of the data of each, and makes a
//! [`C2cReport`]: what they add up to, as the tables of `perf c2c report` have it, and each line of the cache with the instructions
//! that access it, at which offset, by which threads, on which CPUs and nodes.
//!
//! One walk over the records in order of time. The memory is bounded by the number of rows, which has a limit.

mod access;
mod counts;
mod line_key;
mod nodes;
mod options;
mod pass;
mod report;

pub use access::{C2cAccess, MeanTime, NodeCounts};
pub use counts::AccessCounts;
pub use nodes::MachineNodes;
pub use options::{C2cKey, C2cOptions, C2cSort};
pub use report::{C2cLine, C2cReport};
