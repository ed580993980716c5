//! What a pass over a capture found.

/// The sum of each field, so that two passes can be held against each other and none can leave a field out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Sizes of the records, by ways that look at nothing else.
    pub sizes: u64,
    /// Samples.
    pub samples: u64,
    /// Indices of the samples' events.
    pub event: u64,
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
    /// Bytes of tracepoints: how many, and the first and last of each.
    pub raw: u64,
    /// User registers.
    pub regs_user: u64,
    /// Bytes of user stack: how many, and the first and last of each.
    pub stack_user: u64,
    /// MMAP2: addresses, sizes, and lengths of the names.
    pub mmap2: u64,
    /// COMM: threads, and lengths of the names.
    pub comm: u64,
    /// FORK, EXIT: threads and times.
    pub task: u64,
    /// LOST: how many were.
    pub lost: u64,
    /// Times in the trailers of records that are not samples.
    pub trailer: u64,
}

/// Adds `value` to `sum`, which may wrap.
#[inline(always)]
pub fn add(sum: &mut u64, value: u64) {
    *sum = sum.wrapping_add(value);
}

/// Adds how many bytes there are, and the first and the last of them.
#[inline(always)]
pub fn add_bytes(sum: &mut u64, bytes: &[u8]) {
    add(sum, bytes.len() as u64);
    if let [first, .., last] = bytes {
        add(sum, u64::from(*first) + u64::from(*last));
    }
}
