//! Context markers in call chains.

codes! {
    /// A context marker: a word of a call chain that gives the context of the addresses after it.
    ///
    /// Every word at or above [`MAX`](Self::MAX) is a marker, even if this crate does not know it.
    ///
    /// Kernel: `enum perf_callchain_context`.
    pub struct CallchainContext(u64) {
        /// Hypervisor. Since Linux 2.6.31.
        HV = -32_i64 as u64, "PERF_CONTEXT_HV";
        /// Kernel. Since Linux 2.6.31.
        KERNEL = -128_i64 as u64, "PERF_CONTEXT_KERNEL";
        /// User space. Since Linux 2.6.31.
        USER = -512_i64 as u64, "PERF_CONTEXT_USER";
        /// User space, whose addresses follow in a CALLCHAIN_DEFERRED record; the next word is its cookie.
        /// Since Linux 6.19.
        USER_DEFERRED = -640_i64 as u64, "PERF_CONTEXT_USER_DEFERRED";
        /// Guest. Since Linux 2.6.31.
        GUEST = -2048_i64 as u64, "PERF_CONTEXT_GUEST";
        /// Guest kernel. Since Linux 2.6.31.
        GUEST_KERNEL = -2176_i64 as u64, "PERF_CONTEXT_GUEST_KERNEL";
        /// Guest user space. Since Linux 2.6.31.
        GUEST_USER = -2560_i64 as u64, "PERF_CONTEXT_GUEST_USER";
    }
}

impl CallchainContext {
    /// The lowest word that is a marker. Since Linux 2.6.31.
    #[doc(alias = "PERF_CONTEXT_MAX")]
    pub const MAX: u64 = -4095_i64 as u64;

    /// Returns `word` as a marker; `None` if it is an address.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_abi::callchain::CallchainContext;
    /// assert_eq!(CallchainContext::of(0xffff_ffff_ffff_fe00), Some(CallchainContext::USER));
    /// assert_eq!(CallchainContext::of(0xffff_ffff_8100_0000), None);
    /// ```
    #[must_use]
    #[inline]
    pub const fn of(word: u64) -> Option<Self> {
        if word >= Self::MAX { Some(Self(word)) } else { None }
    }
}

/// Default limit of addresses in a call chain, markers not counted; `kernel.perf_event_max_stack` sets
/// another. Since Linux 4.7.
#[doc(alias = "PERF_MAX_STACK_DEPTH")]
pub const MAX_STACK_DEPTH: u16 = 127;

/// Default limit of context markers in a call chain; `kernel.perf_event_max_contexts_per_stack` sets another.
/// Since Linux 4.7.
#[doc(alias = "PERF_MAX_CONTEXTS_PER_STACK")]
pub const MAX_CONTEXTS_PER_STACK: u16 = 8;
