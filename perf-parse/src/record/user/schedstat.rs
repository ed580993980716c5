//! Scheduler statistics.

use perf_abi::endian::{Endian, U32};
use perf_abi::record::{self as wire, SchedstatCpuCounts};
use perf_abi::record::{SchedstatDomainV15, SchedstatDomainV16, SchedstatDomainV17};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::cursor::Cursor;
use crate::error::Error;

/// Scheduler statistics of a CPU.
///
/// perf: `struct perf_record_schedstat_cpu`; since perf 7.0.
#[derive(Clone, Copy, Debug)]
pub struct SchedstatCpu<'a, O: Endian> {
    /// Time, CPU and version of the statistics.
    pub fields: &'a wire::RawSchedstatCpu<O>,
    /// The statistics. `None` unless the version is 15, 16 or 17; [`rest`](Self::rest) then has the bytes.
    pub counts: Option<&'a SchedstatCpuCounts<O>>,
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    pub rest: &'a [u8],
}

impl<'a, O: Endian> SchedstatCpu<'a, O> {
    pub(super) fn parse(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let fields = at.fixed::<wire::RawSchedstatCpu<O>>("timestamp")?;
        let counts = match fields.version.get() {
            15..=17 => Some(at.fixed("yld_count")?),
            _ => None,
        };
        Ok(Self { fields, counts, rest: at.take_rest() })
    }

    /// Returns the statistics with perf's names, in the order of the record; none for an unknown version.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> + use<'a, O> {
        self.counts.into_iter().flat_map(|counts| {
            [
                ("yld_count", u64::from(counts.yld_count)),
                ("array_exp", u64::from(counts.array_exp)),
                ("sched_count", u64::from(counts.sched_count)),
                ("sched_goidle", u64::from(counts.sched_goidle)),
                ("ttwu_count", u64::from(counts.ttwu_count)),
                ("ttwu_local", u64::from(counts.ttwu_local)),
                ("rq_cpu_time", counts.rq_cpu_time.get()),
                ("run_delay", counts.run_delay.get()),
                ("pcount", counts.pcount.get()),
            ]
        })
    }
}

/// Scheduler statistics of a domain.
///
/// perf: `struct perf_record_schedstat_domain`; since perf 7.0.
#[derive(Clone, Copy, Debug)]
pub struct SchedstatDomain<'a, O: Endian> {
    /// Time, CPU, domain and version of the statistics.
    pub fields: &'a wire::RawSchedstatDomain<O>,
    /// The statistics. `None` unless the version is 15, 16 or 17; [`rest`](Self::rest) then has the bytes.
    pub counts: Option<SchedstatDomainCounts<'a, O>>,
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    pub rest: &'a [u8],
}

/// The statistics of a domain, by version.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum SchedstatDomainCounts<'a, O: Endian> {
    /// Version 15.
    V15(&'a SchedstatDomainV15<O>),
    /// Version 16.
    V16(&'a SchedstatDomainV16<O>),
    /// Version 17.
    V17(&'a SchedstatDomainV17<O>),
}

impl<'a, O: Endian> SchedstatDomain<'a, O> {
    pub(super) fn parse(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let fields = at.fixed::<wire::RawSchedstatDomain<O>>("timestamp")?;
        let counts = match fields.version.get() {
            15 => Some(SchedstatDomainCounts::V15(at.fixed("idle_lb_count")?)),
            16 => Some(SchedstatDomainCounts::V16(at.fixed("busy_lb_count")?)),
            17 => Some(SchedstatDomainCounts::V17(at.fixed("busy_lb_count")?)),
            _ => None,
        };
        Ok(Self { fields, counts, rest: at.take_rest() })
    }

    /// Returns the statistics with perf's names, in the order of the record; none for an unknown version.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> + use<'a, O> {
        let (names, counts) = match self.counts {
            Some(SchedstatDomainCounts::V15(counts)) => (V15, words::<O>(counts)),
            Some(SchedstatDomainCounts::V16(counts)) => (V16, words::<O>(counts)),
            Some(SchedstatDomainCounts::V17(counts)) => (V17, words::<O>(counts)),
            None => ([&[] as &[_]; 4], &[] as &[_]),
        };
        names.into_iter().flatten().copied().zip(counts.iter().map(|&count| u64::from(count)))
    }
}

/// Returns the statistics of a domain, which are all numbers of 32 bits, as a slice.
fn words<O: Endian>(counts: &(impl IntoBytes + Immutable)) -> &[U32<O>] {
    <[U32<O>]>::ref_from_bytes(counts.as_bytes()).unwrap_or_default()
}

/// The names of the statistics of a domain by version: those of three CPU states, then [`LAST`].
type Names = [&'static [&'static str]; 4];

const V15: Names = [&IDLE, &BUSY, &NEWIDLE, &LAST];
const V16: Names = [&BUSY, &IDLE, &NEWIDLE, &LAST];
const V17: Names = [&BUSY_V17, &IDLE_V17, &NEWIDLE_V17, &LAST];

/// The names of the load balancing statistics of a CPU state. The imbalance is one number, and four since version 17.
macro_rules! balancing {
    ($state:literal: $($imbalance:literal),+) => {
        [
            concat!($state, "_lb_count"),
            concat!($state, "_lb_balanced"),
            concat!($state, "_lb_failed"),
            $( concat!($state, "_lb_", $imbalance), )+
            concat!($state, "_lb_gained"),
            concat!($state, "_lb_hot_gained"),
            concat!($state, "_lb_nobusyq"),
            concat!($state, "_lb_nobusyg"),
        ]
    };
    ($state:literal, V17) => {
        balancing!($state: "imbalance_load", "imbalance_util", "imbalance_task", "imbalance_misfit")
    };
}

const IDLE: [&str; 8] = balancing!("idle": "imbalance");
const BUSY: [&str; 8] = balancing!("busy": "imbalance");
const NEWIDLE: [&str; 8] = balancing!("newidle": "imbalance");
const IDLE_V17: [&str; 11] = balancing!("idle", V17);
const BUSY_V17: [&str; 11] = balancing!("busy", V17);
const NEWIDLE_V17: [&str; 11] = balancing!("newidle", V17);

/// The names of the statistics of a domain that do not depend on the CPU state.
const LAST: [&str; 12] = [
    "alb_count",
    "alb_failed",
    "alb_pushed",
    "sbe_count",
    "sbe_balanced",
    "sbe_pushed",
    "sbf_count",
    "sbf_balanced",
    "sbf_pushed",
    "ttwu_wake_remote",
    "ttwu_move_affine",
    "ttwu_move_balance",
];
