//! Flags of AUX records.

flags! {
    /// The state of the data of an AUX record (`perf_record_aux.flags`).
    ///
    /// Kernel: `PERF_AUX_FLAG_*`.
    pub struct AuxFlags(u64) {
        /// The data was truncated to fit into the AUX area. Since Linux 4.1.
        TRUNCATED = 1, "PERF_AUX_FLAG_TRUNCATED";
        /// The data is a snapshot; older data was overwritten. Since Linux 4.1.
        OVERWRITE = 2, "PERF_AUX_FLAG_OVERWRITE";
        /// The data has gaps. Since Linux 4.12.
        PARTIAL = 4, "PERF_AUX_FLAG_PARTIAL";
        /// The sample collided with another. Since Linux 4.15.
        COLLISION = 8, "PERF_AUX_FLAG_COLLISION";
    }
    fields {
        /// The PMU's format of the data. Since Linux 5.13.
        pmu_format_type / with_pmu_format_type: AuxFormat(u8) = 8, 8;
    }
}

impl AuxFlags {
    /// The bits of [`pmu_format_type`](Self::pmu_format_type). Since Linux 5.13.
    #[doc(alias = "PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK")]
    pub const PMU_FORMAT_TYPE_MASK: Self = Self(0xff00);
}

codes! {
    /// The PMU's format of AUX data. Each PMU has its own codes; these are CoreSight's.
    ///
    /// Kernel: `PERF_AUX_FLAG_CORESIGHT_FORMAT_*`, shifted left by 8.
    pub struct AuxFormat(u8) {
        /// CoreSight frames, or the default of another PMU. Since Linux 5.13.
        CORESIGHT = 0, "PERF_AUX_FLAG_CORESIGHT_FORMAT_CORESIGHT";
        /// Raw ETM packets. Since Linux 5.13.
        RAW = 1, "PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW";
    }
}
