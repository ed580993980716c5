//! What every decoder must touch, and the sums that prove it.

/// What a pass over a capture found. Two ways of decoding that touch the same fields come to the same sums.
///
/// Fields are those that all peers have. All sums may wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    /// Records of the kernel's types.
    pub(crate) records: u64,
    /// Samples among them.
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
    /// Data addresses.
    pub(crate) addr: u64,
    /// Cpus.
    pub(crate) cpu: u64,
    /// Periods.
    pub(crate) period: u64,
    /// Words of call chains: how many.
    pub(crate) frames: u64,
    /// The words themselves, markers included.
    pub(crate) callchain: u64,
    /// Bytes of raw data.
    pub(crate) raw: u64,
    /// User registers.
    pub(crate) regs_user: u64,
    /// Bytes of user stack: how many were copied.
    pub(crate) stack_user: u64,
    /// The first of them.
    pub(crate) stack_first: u64,
    /// Processes of MMAP, MMAP2 and COMM records.
    pub(crate) others: u64,
    /// Samples earlier than the one before them, where they are asked for by time.
    pub(crate) back_in_time: u64,
}

impl Sums {
    /// Notes a sample that is given by time, behind the one of `last`.
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

/// Adds a field that not all events record. A jump that is foreseen costs less than adding zero.
#[inline(always)]
pub(crate) fn add_some(sum: &mut u64, value: Option<impl Into<u64>>) {
    if let Some(value) = value {
        add(sum, value.into());
    }
}
