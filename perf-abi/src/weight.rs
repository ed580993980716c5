//! The weight of a sample as three numbers: `PERF_SAMPLE_WEIGHT_STRUCT`.
//!
//! With `PERF_SAMPLE_WEIGHT` the word is one number and needs no type.

flags! {
    /// A weight word as one 32-bit and two 16-bit numbers. The PMU defines their meaning.
    ///
    /// The kernel's header orders the parts so that the number is the same in both byte orders. A big-endian
    /// word therefore needs only a byte swap.
    ///
    /// Kernel: `union perf_sample_weight`; since Linux 5.12.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_abi::weight::WeightStruct;
    /// // As x86 fills it: cache latency, then instruction latency.
    /// let weight = WeightStruct(0x0000_0041_0000_0123);
    /// assert_eq!((weight.var1_dw(), weight.var2_w(), weight.var3_w()), (0x123, 0x41, 0));
    /// ```
    #[doc(alias = "perf_sample_weight")]
    pub struct WeightStruct(u64) {}
    fields {
        /// Bits 0 to 31. Since Linux 5.12.
        var1_dw / with_var1_dw: u32(u32) = 0, 32;
        /// Bits 32 to 47. Since Linux 5.12.
        var2_w / with_var2_w: u16(u16) = 32, 16;
        /// Bits 48 to 63. Since Linux 5.12.
        var3_w / with_var3_w: u16(u16) = 48, 16;
    }
}
