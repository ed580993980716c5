//! What the benchmarks run: captures made in memory, and ways to decode them that must find the same.
//!
//! Every way walks from header to header and adds up all fields of all samples, so that none can leave a field out.

pub mod capture;
pub mod hand;
pub mod parse;

/// What a pass over a capture found: the sum of each field, so that two passes can be held against each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Samples.
    pub samples: u64,
    /// Instruction pointers.
    pub ip: u64,
    /// Processes.
    pub pid: u64,
    /// Threads.
    pub tid: u64,
    /// Time stamps.
    pub time: u64,
    /// Cpus.
    pub cpu: u64,
    /// Periods.
    pub period: u64,
    /// Words of the call chains.
    pub callchain: u64,
    /// User registers.
    pub regs_user: u64,
    /// Bytes of user stack: how many, and the first and last of each.
    pub stack_user: u64,
}

/// Adds `value` to `sum`, which may wrap.
#[inline(always)]
fn add(sum: &mut u64, value: u64) {
    *sum = sum.wrapping_add(value);
}
