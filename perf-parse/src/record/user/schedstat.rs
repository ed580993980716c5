//! Scheduler statistics.

use perf_abi::endian::Endian;
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;
use crate::list::List;

/// Scheduler statistics of a CPU.
///
/// perf: `struct perf_record_schedstat_cpu`; since perf 7.0.
#[derive(Clone, Copy, Debug)]
pub struct SchedstatCpu<'a> {
    /// Time of reading the statistics, in jiffies.
    pub timestamp: u64,
    /// CPU number.
    pub cpu: u32,
    /// Version of the statistics: 15 to 17.
    pub version: u16,
    /// The statistics as 32-bit numbers, then as 64-bit numbers. Empty unless the version is 15, 16 or 17;
    /// [`rest`](Self::rest) then has the bytes.
    narrow: Option<List<'a, u32>>,
    wide: Option<List<'a, u64>>,
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    pub rest: &'a [u8],
}

/// The names of the statistics of a CPU: those of 32 bits, then those of 64 bits.
const CPU: ([&str; 6], [&str; 3]) = (
    ["yld_count", "array_exp", "sched_count", "sched_goidle", "ttwu_count", "ttwu_local"],
    ["rq_cpu_time", "run_delay", "pcount"],
);

impl<'a> SchedstatCpu<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let it = at.fixed::<wire::RawSchedstatCpu<O>>("timestamp")?;
        let version = it.version.get();
        let (mut narrow, mut wide) = (None, None);
        if let 15..=17 = version {
            let mut counts = Cursor::new(at.bytes(48, "yld_count")?, 0);
            narrow = Some(counts.list(O::ENDIANNESS, CPU.0.len() as u64, "yld_count")?);
            wide = Some(counts.list(O::ENDIANNESS, CPU.1.len() as u64, "rq_cpu_time")?);
        }
        let (timestamp, cpu) = (it.timestamp.get(), it.cpu.get());
        Ok(Self { timestamp, cpu, version, narrow, wide, rest: at.take_rest() })
    }

    /// Returns the statistics with perf's names, in the order of the record; none for an unknown version.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> + use<'a> {
        let narrow = CPU.0.into_iter().zip(self.narrow.into_iter().flatten().map(u64::from));
        narrow.chain(CPU.1.into_iter().zip(self.wide.into_iter().flatten()))
    }
}

/// The fields, with the statistics as a map.
#[cfg(feature = "serde")]
impl serde::Serialize for SchedstatCpu<'_> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        crate::serialize::fields!(to, "SchedstatCpu" {
            timestamp: Some(self.timestamp),
            cpu: Some(self.cpu),
            version: Some(self.version),
            counts: Some(crate::serialize::Map(|| self.counts())),
            rest: Some(crate::serialize::SerializedBytes(self.rest)),
        })
    }
}

/// Scheduler statistics of a domain.
///
/// perf: `struct perf_record_schedstat_domain`; since perf 7.0.
#[derive(Clone, Copy, Debug)]
pub struct SchedstatDomain<'a> {
    /// Time of reading the statistics, in jiffies.
    pub timestamp: u64,
    /// CPU number.
    pub cpu: u32,
    /// Version of the statistics: 15 to 17.
    pub version: u16,
    /// Number of the domain, counted from the innermost.
    pub domain: u16,
    names: Names,
    counts: Option<List<'a, u32>>,
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    pub rest: &'a [u8],
}

impl<'a> SchedstatDomain<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let it = at.fixed::<wire::RawSchedstatDomain<O>>("timestamp")?;
        let version = it.version.get();
        let (names, first) = match version {
            15 => (V15, "idle_lb_count"),
            16 => (V16, "busy_lb_count"),
            17 => (V17, "busy_lb_count"),
            _ => ([&[] as &[_]; 4], ""),
        };
        let counts = match names.iter().map(|names| names.len() as u64).sum() {
            0 => None,
            count => Some(at.list(O::ENDIANNESS, count, first)?),
        };
        let (timestamp, cpu, domain) = (it.timestamp.get(), it.cpu.get(), it.domain.get());
        Ok(Self { timestamp, cpu, version, domain, names, counts, rest: at.take_rest() })
    }

    /// Returns the statistics with perf's names, in the order of the record; none for an unknown version.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> + use<'a> {
        let counts = self.counts.into_iter().flatten().map(u64::from);
        self.names.into_iter().flatten().copied().zip(counts)
    }
}

/// The fields, with the statistics as a map.
#[cfg(feature = "serde")]
impl serde::Serialize for SchedstatDomain<'_> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        crate::serialize::fields!(to, "SchedstatDomain" {
            timestamp: Some(self.timestamp),
            cpu: Some(self.cpu),
            version: Some(self.version),
            domain: Some(self.domain),
            counts: Some(crate::serialize::Map(|| self.counts())),
            rest: Some(crate::serialize::SerializedBytes(self.rest)),
        })
    }
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
