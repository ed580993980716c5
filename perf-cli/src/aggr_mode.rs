//! The parts of a machine over which perf stat adds up counts, by their numbers in captures.
//!
//! perf: `enum aggr_mode`, `tools/perf/util/stat.h`, with the numbers of perf up to 6.4. Newer ones have parts between
//! [`DIE`] and [`CORE`], so that the numbers from [`CORE`] on are higher there; a capture does not say which ones it has.

pub(crate) const NONE: u64 = 0;
pub(crate) const GLOBAL: u64 = 1;
pub(crate) const SOCKET: u64 = 2;
pub(crate) const DIE: u64 = 3;
pub(crate) const CORE: u64 = 4;
pub(crate) const THREAD: u64 = 5;
pub(crate) const UNSET: u64 = 6;
pub(crate) const NODE: u64 = 7;
