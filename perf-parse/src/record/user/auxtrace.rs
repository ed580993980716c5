//! AUX data: its tracer, and errors of its decoding.

use perf_abi::auxtrace::AuxtraceType;
use perf_abi::endian::Endian;
use perf_abi::record::{self as wire, AuxtraceErrorType};

use super::until_nul;
use crate::cursor::Cursor;
use crate::error::Error;
use crate::list::List;

/// The tracer of the AUX data and its settings.
///
/// perf: `struct perf_record_auxtrace_info`.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct AuxtraceInfo<'a> {
    /// Type of the tracer. C: `type`.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub kind: AuxtraceType,
    /// Settings of the tracer, by the word indices of [`perf_abi::auxtrace`]. C: `priv`.
    pub words: List<'a, u64>,
}

impl<'a> AuxtraceInfo<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let info = at.fixed::<wire::RawAuxtraceInfo<O>>("type")?;
        let words = at.list(O::ENDIANNESS, (at.rest().len() / 8) as u64, "priv")?;
        Ok(Self { kind: AuxtraceType(info.kind.get()), words })
    }
}

/// A piece of AUX data, which follows the record.
///
/// perf: `struct perf_record_auxtrace`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Auxtrace<'a> {
    /// Bytes of the AUX data, as they are in the capture: simpleperf may have
    /// [compressed](crate::Reader::aux_data) them.
    pub size: u64,
    /// Offset of the data in the AUX area, in bytes.
    pub offset: u64,
    /// A number that the tracer's decoder defines, such as the time of the recording.
    pub reference: u64,
    /// Index of the AUX area.
    pub idx: u32,
    /// Thread id; -1 if the area belongs to a CPU.
    pub tid: i32,
    /// CPU number; -1 if the area belongs to a thread.
    pub cpu: i32,
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub rest: &'a [u8],
}

impl<'a> Auxtrace<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let it = at.fixed::<wire::Auxtrace<O>>("size")?;
        Ok(Self {
            size: it.size.get(),
            offset: it.offset.get(),
            reference: it.reference.get(),
            idx: it.idx.get(),
            tid: it.tid.get(),
            cpu: it.cpu.get(),
            rest: at.take_rest(),
        })
    }
}

/// AUX data that could not be decoded.
///
/// perf: `struct perf_record_auxtrace_error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct AuxtraceError<'a> {
    /// Type of the AUX data. C: `type`.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub kind: AuxtraceErrorType,
    /// Error number of the tracer's decoder.
    pub code: u32,
    /// CPU number; -1 if unknown.
    pub cpu: i32,
    /// Process id; -1 if unknown.
    pub pid: i32,
    /// Thread id; -1 if unknown.
    pub tid: i32,
    /// Format of the record: 0 to 2.
    pub fmt: u32,
    /// Instruction pointer.
    pub ip: u64,
    /// Time in nanoseconds; `None` in format 0, which older versions of perf write.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub time: Option<u64>,
    /// The decoder's message.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::text"))]
    pub msg: &'a [u8],
    /// The process id of the virtual machine, and the vCPU. `None` before format 2, and in a record of format 2 that
    /// ends before them, which is read as one of format 1.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub guest: Option<(i32, i32)>,
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub rest: &'a [u8],
}

impl<'a> AuxtraceError<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let it = at.fixed::<wire::RawAuxtraceError<O>>("type")?;
        let error = Self {
            kind: AuxtraceErrorType(it.kind.get()),
            code: it.code.get(),
            cpu: it.cpu.get(),
            pid: it.pid.get(),
            tid: it.tid.get(),
            fmt: it.fmt.get(),
            ip: it.ip.get(),
            time: None,
            msg: &[],
            guest: None,
            rest: &[],
        };
        if error.fmt >= 2 {
            if let Ok(it) = at.fixed::<wire::AuxtraceErrorGuest<O>>("time") {
                let guest = Some((it.machine_pid.get(), it.vcpu.get()));
                let (time, msg) = (Some(it.time.get()), until_nul(&it.msg));
                return Ok(Self { time, msg, guest, rest: at.take_rest(), ..error });
            }
        }
        let time = if error.fmt == 0 { None } else { Some(at.word::<O>("time")?) };
        Ok(Self { time, msg: at.string("msg")?, ..error })
    }
}
