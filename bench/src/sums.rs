//! The fields that every decoder must read, and the sums that prove it.

/// The sums of a pass over a capture. Two decoders that read the same fields have the same sums.
///
/// The fields are those that all peers support. All sums may wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    /// Number of records of the kernel's types.
    pub(crate) records: u64,
    /// Number of samples.
    pub(crate) samples: u64,
    /// Indices of the samples' events.
    pub(crate) event: u64,
    /// Instruction pointers.
    pub(crate) ip: u64,
    /// Process ids.
    pub(crate) pid: u64,
    /// Thread ids.
    pub(crate) tid: u64,
    /// Time stamps.
    pub(crate) time: u64,
    /// Data addresses.
    pub(crate) addr: u64,
    /// CPU numbers.
    pub(crate) cpu: u64,
    /// Periods.
    pub(crate) period: u64,
    /// Number of words in call chains.
    pub(crate) frames: u64,
    /// Words of call chains, including markers.
    pub(crate) callchain: u64,
    /// Bytes of raw data.
    pub(crate) raw: u64,
    /// User registers.
    pub(crate) regs_user: u64,
    /// Number of bytes copied from user stacks.
    pub(crate) stack_user: u64,
    /// First byte of each user stack.
    pub(crate) stack_first: u64,
    /// Process ids of MMAP, MMAP2 and COMM records.
    pub(crate) others: u64,
    /// Number of samples earlier than the previous one, if they are read in time order.
    pub(crate) back_in_time: u64,
}

impl Sums {
    /// Records a sample that is read in time order, after the sample at time `last`.
    #[inline(always)]
    pub(crate) fn given(&mut self, time: u64, last: &mut u64) {
        self.back_in_time += u64::from(time < *last);
        *last = time;
    }
}

/// Adds `value` to `sum`, which may wrap.
#[inline(always)]
pub(crate) fn add(sum: &mut u64, value: u64) {
    *sum = sum.wrapping_add(value);
}

/// Adds a field that only some events record. A predicted branch costs less than adding zero.
#[inline(always)]
pub(crate) fn add_some(sum: &mut u64, value: Option<impl Into<u64>>) {
    if let Some(value) = value {
        add(sum, value.into());
    }
}
