//! AUX data: its tracer, and errors of its decoding.

use perf_abi::auxtrace::AuxtraceType;
use perf_abi::endian::{Endian, U64};
use perf_abi::record as wire;

use super::until_nul;
use crate::cursor::Cursor;
use crate::error::Error;

/// The tracer of the AUX data and its settings.
///
/// perf: `struct perf_record_auxtrace_info`.
#[derive(Clone, Copy, Debug)]
pub struct AuxtraceInfo<'a, O: Endian> {
    /// Type of the tracer. C: `type`.
    pub kind: AuxtraceType,
    /// Settings of the tracer, by the word indices of [`perf_abi::auxtrace`]. C: `priv`.
    pub words: &'a [U64<O>],
}

impl<'a, O: Endian> AuxtraceInfo<'a, O> {
    pub(super) fn parse(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let info = at.fixed::<wire::RawAuxtraceInfo<O>>("type")?;
        let words = at.array((at.rest().len() / 8) as u64, "priv")?;
        Ok(Self { kind: AuxtraceType(info.kind.get()), words })
    }
}

/// AUX data that could not be decoded.
///
/// perf: `struct perf_record_auxtrace_error`.
#[derive(Clone, Copy, Debug)]
pub struct AuxtraceError<'a, O: Endian> {
    /// The fields that all formats of the record have.
    pub fields: &'a wire::RawAuxtraceError<O>,
    /// Time in nanoseconds; `None` in format 0, which older versions of perf write.
    pub time: Option<u64>,
    /// The decoder's message.
    pub msg: &'a [u8],
    /// The virtual machine and vCPU. `None` before format 2, and in a record of format 2 that ends before them, which
    /// is read as one of format 1.
    pub guest: Option<&'a wire::AuxtraceErrorGuest<O>>,
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    pub rest: &'a [u8],
}

impl<'a, O: Endian> AuxtraceError<'a, O> {
    pub(super) fn parse(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let fields = at.fixed::<wire::RawAuxtraceError<O>>("type")?;
        let fmt = fields.fmt.get();
        if fmt >= 2 {
            if let Ok(guest) = at.fixed::<wire::AuxtraceErrorGuest<O>>("time") {
                let (time, msg) = (Some(guest.time.get()), until_nul(&guest.msg));
                return Ok(Self { fields, time, msg, guest: Some(guest), rest: at.take_rest() });
            }
        }
        let time = if fmt == 0 { None } else { Some(at.word::<O>("time")?) };
        Ok(Self { fields, time, msg: at.string("msg")?, guest: None, rest: &[] })
    }
}
