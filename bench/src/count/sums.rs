//! What a pass over a capture found.

/// The sum of each field, so that two passes can be held against each other and none can leave a field out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    /// Sizes of the records, by ways that look at nothing else.
    pub(crate) sizes: u64,
    /// Samples.
    pub(crate) samples: u64,
    /// Indices of the samples' events.
    pub(crate) event: u64,
    /// Instruction pointers.
    pub(crate) ip: u64,
    /// Processes.
    pub(crate) pid: u64,
    /// Threads.
    pub(crate) tid: u64,
    /// Time stamps.
    pub(crate) time: u64,
    /// Cpus.
    pub(crate) cpu: u64,
    /// Periods.
    pub(crate) period: u64,
    /// Words of the call chains.
    pub(crate) callchain: u64,
    /// Bytes of tracepoints: how many, and the first and last of each.
    pub(crate) raw: u64,
    /// User registers.
    pub(crate) regs_user: u64,
    /// Bytes of user stack: how many, and the first and last of each.
    pub(crate) stack_user: u64,
    /// MMAP2: addresses, sizes, and lengths of the names.
    pub(crate) mmap2: u64,
    /// COMM: threads, and lengths of the names.
    pub(crate) comm: u64,
    /// FORK, EXIT: threads and times.
    pub(crate) task: u64,
    /// LOST: how many were.
    pub(crate) lost: u64,
    /// Times in the trailers of records that are not samples.
    pub(crate) trailer: u64,
}

pub(crate) use crate::sums::add;

/// Adds how many bytes there are, and the first and the last of them.
#[inline(always)]
pub(crate) fn add_bytes(sum: &mut u64, bytes: &[u8]) {
    add(sum, bytes.len() as u64);
    if let [first, .., last] = bytes {
        add(sum, u64::from(*first) + u64::from(*last));
    }
}
