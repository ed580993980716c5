//! The payloads of the records of perf stat.

use zerocopy_derive::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::endian::{Endian, I32, U64};

/// The settings of perf stat; `nr` [`StatConfigEntry`]s follow.
///
/// perf: `PERF_RECORD_STAT_CONFIG`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_stat_config")]
pub struct RawStatConfig<O: Endian> {
    /// Number of entries that follow.
    pub nr: U64<O>,
}

/// A setting of perf stat.
///
/// perf: `struct perf_record_stat_config_entry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_stat_config_entry")]
pub struct StatConfigEntry<O: Endian> {
    /// The setting, a [`StatConfigTerm`].
    pub tag: U64<O>,
    /// The value of the setting.
    pub val: U64<O>,
}

codes! {
    /// A setting of perf stat ([`StatConfigEntry::tag`]).
    ///
    /// perf: the `PERF_STAT_CONFIG_TERM__*` enum.
    pub struct StatConfigTerm(u64) {
        /// The unit over which counts are summed: CPUs, cores, sockets.
        AGGR_MODE = 0, "PERF_STAT_CONFIG_TERM__AGGR_MODE";
        /// Length of an interval in milliseconds.
        INTERVAL = 1, "PERF_STAT_CONFIG_TERM__INTERVAL";
        /// Whether counts are scaled by the time for which the event ran.
        SCALE = 2, "PERF_STAT_CONFIG_TERM__SCALE";
        /// The cache level over which counts are summed.
        AGGR_LEVEL = 3, "PERF_STAT_CONFIG_TERM__AGGR_LEVEL";
    }
}

impl StatConfigTerm {
    /// One past the highest code.
    #[doc(alias = "PERF_STAT_CONFIG_TERM__MAX")]
    pub const MAX: u64 = 4;
}

/// A count of perf stat.
///
/// perf: `PERF_RECORD_STAT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_stat")]
pub struct Stat<O: Endian> {
    /// Id of the event.
    pub id: U64<O>,
    /// CPU number; -1 for any CPU.
    pub cpu: I32<O>,
    /// Index of the thread in the THREAD_MAP record.
    pub thread: I32<O>,
    /// The count.
    pub val: U64<O>,
    /// Nanoseconds during which the event was enabled.
    pub ena: U64<O>,
    /// Nanoseconds during which the event was on a counter.
    pub run: U64<O>,
}

/// The end of a round of counts.
///
/// perf: `PERF_RECORD_STAT_ROUND`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_stat_round")]
pub struct StatRound<O: Endian> {
    /// [`StatRoundType`]. C: `type`.
    pub kind: U64<O>,
    /// Nanoseconds since the start of perf stat.
    pub time: U64<O>,
}

codes! {
    /// The kind of round that ended ([`StatRound::kind`]).
    ///
    /// perf: the `PERF_STAT_ROUND_TYPE__*` enum.
    pub struct StatRoundType(u64) {
        /// An interval.
        INTERVAL = 0, "PERF_STAT_ROUND_TYPE__INTERVAL";
        /// The last round.
        FINAL = 1, "PERF_STAT_ROUND_TYPE__FINAL";
    }
}
