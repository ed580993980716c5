//! The sums of one walk over a capture.

/// The sum of each field. Two passes that read the same fields have the same sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    /// Sizes of the records. Only ways that read nothing else set it.
    pub(crate) sizes: u64,
    /// Number of samples.
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
    /// Raw data of tracepoints: number of bytes, and the first and last byte of each.
    pub(crate) raw: u64,
    /// User registers.
    pub(crate) regs_user: u64,
    /// User stacks: number of bytes, and the first and last byte of each.
    pub(crate) stack_user: u64,
    /// MMAP2: addresses, sizes, and lengths of the names.
    pub(crate) mmap2: u64,
    /// COMM: threads, and lengths of the names.
    pub(crate) comm: u64,
    /// FORK, EXIT: threads and times.
    pub(crate) task: u64,
    /// LOST: numbers of lost records.
    pub(crate) lost: u64,
    /// Times in the trailers of records that are not samples.
    pub(crate) trailer: u64,
}

pub(crate) use crate::sums::add;

/// Adds the number of bytes, the first byte and the last byte.
#[inline(always)]
pub(crate) fn add_bytes(sum: &mut u64, bytes: &[u8]) {
    add(sum, bytes.len() as u64);
    if let [first, .., last] = bytes {
        add(sum, u64::from(*first) + u64::from(*last));
    }
}
