//! The abort of a hardware transaction: `PERF_SAMPLE_TRANSACTION`.

flags! {
    /// The cause of a transaction's abort: flags, and the code of the abort instruction.
    ///
    /// Kernel: the `PERF_TXN_*` enum.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_abi::txn::Txn;
    /// let word = Txn(0x0000_00ff_0000_0022);
    /// assert!(word.contains(Txn::CONFLICT));
    /// assert_eq!(word.abort_code(), 0xff);
    /// assert_eq!(word.to_string(), "TRANSACTION|CONFLICT abort_code=255");
    /// ```
    pub struct Txn(u64) {
        /// The abort was in lock elision. Since Linux 3.13.
        ELISION = 1 << 0, "PERF_TXN_ELISION";
        /// The abort was in a generic transaction. Since Linux 3.13.
        TRANSACTION = 1 << 1, "PERF_TXN_TRANSACTION";
        /// The instruction caused the abort. Since Linux 3.13.
        SYNC = 1 << 2, "PERF_TXN_SYNC";
        /// The instruction did not cause the abort. Since Linux 3.13.
        ASYNC = 1 << 3, "PERF_TXN_ASYNC";
        /// A retry may succeed. Since Linux 3.13.
        RETRY = 1 << 4, "PERF_TXN_RETRY";
        /// Another CPU accessed the memory. Since Linux 3.13.
        CONFLICT = 1 << 5, "PERF_TXN_CONFLICT";
        /// The transaction wrote too much. Since Linux 3.13.
        CAPACITY_WRITE = 1 << 6, "PERF_TXN_CAPACITY_WRITE";
        /// The transaction read too much. Since Linux 3.13.
        CAPACITY_READ = 1 << 7, "PERF_TXN_CAPACITY_READ";
    }
    fields {
        /// The code of the abort instruction. Since Linux 3.13.
        abort_code / with_abort_code: u32(u32) = 32, 32;
    }
}

impl Txn {
    /// One past the highest flag. Since Linux 3.13.
    #[doc(alias = "PERF_TXN_MAX")]
    pub const MAX: u64 = 1 << 8;
    /// The bits of [`abort_code`](Self::abort_code). Since Linux 3.13.
    #[doc(alias = "PERF_TXN_ABORT_MASK")]
    pub const ABORT_MASK: Self = Self(0xffff_ffff << Self::ABORT_SHIFT);
    /// Lowest bit of [`abort_code`](Self::abort_code). Since Linux 3.13.
    #[doc(alias = "PERF_TXN_ABORT_SHIFT")]
    pub const ABORT_SHIFT: u32 = 32;
}
