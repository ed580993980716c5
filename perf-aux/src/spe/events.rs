//! Event packets.

flag_word! {
    /// The events of an operation. Bits without a name are defined by the implementer, or reserved.
    ///
    /// perf: `enum arm_spe_events`, as bit numbers.
    pub struct EventFlags(u64) {
        /// The operation generated an exception.
        EXCEPTION_GEN = 1 << 0, "EV_EXCEPTION_GEN";
        /// The operation retired architecturally.
        RETIRED = 1 << 1, "EV_RETIRED";
        /// Access to the first-level data cache.
        L1D_ACCESS = 1 << 2, "EV_L1D_ACCESS";
        /// Refill of the first-level data cache: a miss.
        L1D_REFILL = 1 << 3, "EV_L1D_REFILL";
        /// Access to the TLB.
        TLB_ACCESS = 1 << 4, "EV_TLB_ACCESS";
        /// Walk of the page tables: a miss of the TLB.
        TLB_WALK = 1 << 5, "EV_TLB_WALK";
        /// The conditional branch was not taken.
        NOT_TAKEN = 1 << 6, "EV_NOT_TAKEN";
        /// The branch was mispredicted.
        MISPRED = 1 << 7, "EV_MISPRED";
        /// Access to the last-level cache.
        LLC_ACCESS = 1 << 8, "EV_LLC_ACCESS";
        /// Miss of the last-level cache.
        LLC_MISS = 1 << 9, "EV_LLC_MISS";
        /// Access to another socket.
        REMOTE_ACCESS = 1 << 10, "EV_REMOTE_ACCESS";
        /// The access was not aligned. Since SPE 1.1.
        ALIGNMENT = 1 << 11, "EV_ALIGNMENT";
        /// In a transaction.
        TRANSACTIONAL = 1 << 16, "EV_TRANSACTIONAL";
        /// Some lanes of the vector were inactive. Since SPE 1.1.
        PARTIAL_PREDICATE = 1 << 17, "EV_PARTIAL_PREDICATE";
        /// All lanes of the vector were inactive. Since SPE 1.1.
        EMPTY_PREDICATE = 1 << 18, "EV_EMPTY_PREDICATE";
        /// Access to the second-level data cache. Since SPE 1.4.
        L2D_ACCESS = 1 << 19, "EV_L2D_ACCESS";
        /// Miss of the second-level data cache. Since SPE 1.4.
        L2D_MISS = 1 << 20, "EV_L2D_MISS";
        /// The data was modified in another cache. Since SPE 1.4.
        CACHE_DATA_MODIFIED = 1 << 21, "EV_CACHE_DATA_MODIFIED";
        /// The line was being fetched already. Since SPE 1.4.
        RECENTLY_FETCHED = 1 << 22, "EV_RECENTLY_FETCHED";
        /// Another cache was asked for the data. Since SPE 1.4.
        DATA_SNOOPED = 1 << 23, "EV_DATA_SNOOPED";
        /// In streaming SVE mode. Since SPE 1.4.
        STREAMING_SVE_MODE = 1 << 24, "EV_STREAMING_SVE_MODE";
        /// The operation ran on a unit that CPUs share. Since SPE 1.4.
        SMCU = 1 << 25, "EV_SMCU";
    }
}
