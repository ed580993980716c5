//! Records of Android's simpleperf: types from 32768 on.
//!
//! simpleperf: `system/extras/simpleperf/record.h` and `record.cpp`.

use perf_abi::endian::{BigEndian, Endian, Endianness, LittleEndian, U64};
use perf_abi::record::{self as wire, RawEventIdEntry, SimpleperfChainType, SimpleperfUnwindError};
use perf_abi::regs::RegsAbi;

use crate::cursor::Cursor;
use crate::error::Error;
use crate::list::{List, structures};

/// The text of `/proc/kallsyms` of the recorded machine.
///
/// simpleperf: `struct KernelSymbolRecord`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct KernelSymbol<'a> {
    /// The text: lines of an address, a letter and a name.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::text"))]
    pub kallsyms: &'a [u8],
    /// The padding; see [`UserRecord::rest`](super::UserRecord::rest).
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub rest: &'a [u8],
}

impl<'a> KernelSymbol<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let size = at.fixed::<wire::RawKernelSymbol<O>>("kallsyms_size")?.kallsyms_size.get();
        Ok(Self { kallsyms: at.bytes(u64::from(size), "kallsyms")?, rest: at.take_rest() })
    }
}

/// A file with symbols, which later SYMBOL records give. Versions of simpleperf before 2017 wrote it.
///
/// simpleperf: `struct DsoRecord`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SimpleperfDso<'a> {
    /// Kind of the file: a [`SimpleperfDsoType`](perf_abi::record::SimpleperfDsoType), with 64 bits.
    pub dso_type: u64,
    /// Number of the file.
    pub dso_id: u64,
    /// Lowest virtual address of the file's executable segments.
    pub min_vaddr: u64,
    /// Path of the file. C: `dso_name`.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::text"))]
    pub dso_name: &'a [u8],
}

impl<'a> SimpleperfDso<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let it = at.fixed::<wire::RawSimpleperfDso<O>>("dso_type")?;
        Ok(Self {
            dso_type: it.dso_type.get(),
            dso_id: it.dso_id.get(),
            min_vaddr: it.min_vaddr.get(),
            dso_name: at.string("dso_name")?,
        })
    }
}

/// A symbol of a file. Versions of simpleperf before 2017 wrote it.
///
/// simpleperf: `struct SymbolRecord`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SimpleperfSymbol<'a> {
    /// Virtual address in the file.
    pub addr: u64,
    /// Size of the function in bytes.
    pub len: u64,
    /// Number of the file, that of a [`SimpleperfDso`].
    pub dso_id: u64,
    /// Name of the function.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::text"))]
    pub name: &'a [u8],
}

impl<'a> SimpleperfSymbol<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let it = at.fixed::<wire::RawSimpleperfSymbol<O>>("addr")?;
        Ok(Self { addr: it.addr.get(), len: it.len.get(), dso_id: it.dso_id.get(), name: at.string("name")? })
    }
}

/// Ids of the events, in addition to those of the attrs. A [`Reader`](crate::Reader) adds them to its events.
///
/// simpleperf: `struct EventIdRecord`.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct EventId<'a> {
    /// The ids.
    pub entries: List<'a, EventIdEntry>,
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub rest: &'a [u8],
}

impl<'a> EventId<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let count = at.fixed::<wire::RawEventId<O>>("count")?.count.get();
        Ok(Self { entries: at.list(O::ENDIANNESS, count, "data")?, rest: at.take_rest() })
    }
}

/// An id of an event.
///
/// simpleperf: `struct EventIdRecord::EventIdData`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct EventIdEntry {
    /// Index of the event.
    pub attr_id: u64,
    /// An id of the event.
    pub event_id: u64,
}

structures! {
    EventIdEntry = RawEventIdEntry |it| EventIdEntry {
        attr_id: it.attr_id.get(),
        event_id: it.event_id.get(),
    };
}

/// The call chain of a sample's user space, as simpleperf unwound it.
///
/// No sample needs it. The next sample has the same chain: simpleperf stores the joined chain in the sample itself. Versions
/// from 2017 on, and their `debug-unwind`, wrote two of these records before each sample that they unwound: the chain
/// [before and after](SimpleperfChainType) chains were joined. Newer versions write none.
///
/// simpleperf: `struct CallChainRecord`; `DebugUnwindCommand::JoinCallChains`, `cmd_debug_unwind.cpp`.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SimpleperfCallchain<'a> {
    /// Process id.
    pub pid: i32,
    /// Thread id.
    pub tid: i32,
    /// Origin of the chain.
    pub chain_type: SimpleperfChainType,
    /// Time of the sample in nanoseconds of its event's clock.
    pub time: u64,
    /// Addresses of the instructions, innermost first.
    pub ips: List<'a, u64>,
    /// The stack pointer of each frame.
    pub sps: List<'a, u64>,
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub rest: &'a [u8],
}

impl<'a> SimpleperfCallchain<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let it = at.fixed::<wire::RawSimpleperfCallchain<O>>("pid")?;
        let nr = it.ip_nr.get();
        Ok(Self {
            pid: it.pid.get(),
            tid: it.tid.get(),
            chain_type: SimpleperfChainType(it.chain_type.get()),
            time: it.time.get(),
            ips: at.list(O::ENDIANNESS, nr, "ips")?,
            sps: at.list(O::ENDIANNESS, nr, "sps")?,
            rest: at.take_rest(),
        })
    }
}

/// The result of unwinding the user stack of a sample. simpleperf writes it for stacks that it could not unwind whole, if it
/// was told to keep them.
///
/// simpleperf: `struct UnwindingResultRecord`.
#[derive(Clone, Copy, Debug)]
pub struct UnwindingResult<'a> {
    /// Time of the sample in nanoseconds of its event's clock.
    pub time: u64,
    /// Nanoseconds that the unwinding took.
    pub used_time: u64,
    /// The reason why the unwinder stopped.
    pub error_code: SimpleperfUnwindError,
    /// The address at which it stopped.
    pub error_addr: u64,
    /// Address of the start of the copied stack.
    pub stack_start: u64,
    /// Address of the end of the copied stack.
    pub stack_end: u64,
    /// The fields of variable size, and the byte order.
    state: &'a [u8],
    order: Endianness,
}

/// The fields of variable size of an [`UnwindingResult`]: what the unwinder began with, and the frames that it found.
#[derive(Clone, Copy, Debug)]
pub struct UnwindingState<'a> {
    /// ABI of the thread.
    pub regs_abi: RegsAbi,
    /// Bits of the registers in `regs`.
    pub regs_mask: u64,
    /// The user registers, one for each bit of the mask.
    pub regs: List<'a, u64>,
    /// The copy of the stack.
    pub stack: &'a [u8],
    /// Number of bytes of the stack that the kernel copied; `None` if there is no copy.
    pub dyn_size: Option<u64>,
    /// Addresses of the instructions of the frames, innermost first, and their stack pointers. `None` in captures of
    /// versions that did not write them.
    pub chain: Option<(List<'a, u64>, List<'a, u64>)>,
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    pub rest: &'a [u8],
}

impl<'a> UnwindingResult<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let it = at.fixed::<wire::RawUnwindingResult<O>>("time")?;
        let mut state = *at;
        UnwindingState::parse::<O>(&mut state)?;
        Ok(Self {
            time: it.time.get(),
            used_time: it.used_time.get(),
            error_code: SimpleperfUnwindError(it.error_code.get()),
            error_addr: it.error_addr.get(),
            stack_start: it.stack_start.get(),
            stack_end: it.stack_end.get(),
            state: at.take_rest(),
            order: O::ENDIANNESS,
        })
    }

    /// Decodes the fields of variable size. They are decoded on request, because they would make every decoded record
    /// larger.
    #[must_use]
    pub fn state(&self) -> UnwindingState<'a> {
        let mut at = Cursor::new(self.state, 0);
        let state = match self.order {
            Endianness::Little => UnwindingState::parse::<LittleEndian>(&mut at),
            Endianness::Big => UnwindingState::parse::<BigEndian>(&mut at),
        };
        // The decoder of the record has checked the fields.
        state.unwrap_or_else(|_| UnwindingState {
            regs_abi: RegsAbi::NONE,
            regs_mask: 0,
            regs: List::new_in(self.order, &[]),
            stack: &[],
            dyn_size: None,
            chain: None,
            rest: &[],
        })
    }
}

impl<'a> UnwindingState<'a> {
    fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let [abi, mask] = at.fixed::<[U64<O>; 2]>("regs_user")?;
        let regs_mask = mask.get();
        let regs = at.list(O::ENDIANNESS, u64::from(regs_mask.count_ones()), "regs")?;
        let size = at.word::<O>("stack_user.size")?;
        let stack = at.bytes(size, "stack_user.data")?;
        let dyn_size = if size == 0 { None } else { Some(at.word::<O>("stack_user.dyn_size")?) };
        let chain = if at.rest().is_empty() {
            None
        } else {
            let nr = at.word::<O>("callchain.length")?;
            Some((at.list(O::ENDIANNESS, nr, "callchain.ips")?, at.list(O::ENDIANNESS, nr, "callchain.sps")?))
        };
        let rest = at.take_rest();
        Ok(Self { regs_abi: RegsAbi(abi.get()), regs_mask, regs, stack, dyn_size, chain, rest })
    }
}

/// The fields, including those of variable size.
#[cfg(feature = "serde")]
impl serde::Serialize for UnwindingResult<'_> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let state = self.state();
        crate::serialize::fields!(to, "UnwindingResult" {
            time: Some(self.time),
            used_time: Some(self.used_time),
            error_code: Some(self.error_code),
            error_addr: Some(self.error_addr),
            stack_start: Some(self.stack_start),
            stack_end: Some(self.stack_end),
            regs_abi: Some(state.regs_abi),
            regs_mask: Some(state.regs_mask),
            regs: Some(state.regs),
            stack: Some(crate::serialize::SerializedBytes(state.stack)),
            dyn_size: state.dyn_size,
            ips: state.chain.map(|(ips, _)| ips),
            sps: state.chain.map(|(_, sps)| sps),
            rest: Some(crate::serialize::SerializedBytes(state.rest)),
        })
    }
}

/// The formats of tracepoints. A [`Reader`](crate::Reader) adds them to its features as `TRACING_DATA`.
///
/// simpleperf: `struct TracingDataRecord`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SimpleperfTracingData<'a> {
    /// The formats, as trace-cmd writes them.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub data: &'a [u8],
    /// The padding; see [`UserRecord::rest`](super::UserRecord::rest).
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub rest: &'a [u8],
}

impl<'a> SimpleperfTracingData<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let size = at.fixed::<wire::RawSimpleperfTracingData<O>>("data_size")?.data_size.get();
        Ok(Self { data: at.bytes(u64::from(size), "data")?, rest: at.take_rest() })
    }
}

/// A message for the developers of simpleperf.
///
/// simpleperf: `struct DebugRecord`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SimpleperfDebug<'a> {
    /// Time in nanoseconds of the events' clock.
    pub time: u64,
    /// The message. C: `s`.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::text"))]
    pub message: &'a [u8],
}

impl<'a> SimpleperfDebug<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let time = at.fixed::<wire::RawDebug<O>>("time")?.time.get();
        Ok(Self { time, message: at.string("s")? })
    }
}
