//! Counts of perf stat.

use perf_abi::endian::Endian;
use perf_abi::record::{self as wire, StatConfigEntry as WireEntry, StatConfigTerm, StatRoundType};

use crate::cursor::Cursor;
use crate::error::Error;
use crate::list::{List, structures};

/// The settings of perf stat.
///
/// perf: `struct perf_record_stat_config`.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct StatConfig<'a> {
    /// The settings. C: `data`.
    pub entries: List<'a, StatConfigEntry>,
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub rest: &'a [u8],
}

impl<'a> StatConfig<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let nr = at.word::<O>("nr")?;
        Ok(Self { entries: at.list(O::ENDIANNESS, nr, "data")?, rest: at.take_rest() })
    }
}

/// A setting of perf stat.
///
/// perf: `struct perf_record_stat_config_entry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct StatConfigEntry {
    /// The setting.
    pub tag: StatConfigTerm,
    /// Its value.
    pub val: u64,
}

structures! {
    StatConfigEntry = WireEntry |it| StatConfigEntry { tag: StatConfigTerm(it.tag.get()), val: it.val.get() };
}

/// A count of perf stat.
///
/// perf: `struct perf_record_stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Stat<'a> {
    /// Id of the event.
    pub id: u64,
    /// CPU number; -1 for any CPU.
    pub cpu: i32,
    /// Index of the thread.
    pub thread: i32,
    /// Occurrences counted.
    pub val: u64,
    /// Nanoseconds enabled.
    pub ena: u64,
    /// Nanoseconds on a counter.
    pub run: u64,
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub rest: &'a [u8],
}

impl<'a> Stat<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let it = at.fixed::<wire::Stat<O>>("id")?;
        Ok(Self {
            id: it.id.get(),
            cpu: it.cpu.get(),
            thread: it.thread.get(),
            val: it.val.get(),
            ena: it.ena.get(),
            run: it.run.get(),
            rest: at.take_rest(),
        })
    }
}

/// The end of a round of counts.
///
/// perf: `struct perf_record_stat_round`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct StatRound<'a> {
    /// Whether the round is an interval or the last. C: `type`.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub kind: StatRoundType,
    /// Time in nanoseconds since the start.
    pub time: u64,
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub rest: &'a [u8],
}

impl<'a> StatRound<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let it = at.fixed::<wire::StatRound<O>>("type")?;
        Ok(Self { kind: StatRoundType(it.kind.get()), time: it.time.get(), rest: at.take_rest() })
    }
}
