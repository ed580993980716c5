//! AUX data: what recorded it, and what could not be decoded of it.

use perf_abi::auxtrace::AuxtraceType;
use perf_abi::endian::{Endian, U64};
use perf_abi::record as wire;

use super::until_nul;
use crate::cursor::Cursor;
use crate::error::Error;

/// What recorded the AUX data.
///
/// perf: `struct perf_record_auxtrace_info`.
#[derive(Clone, Copy, Debug)]
pub struct AuxtraceInfo<'a, O: Endian> {
    /// Which tracer. C: `type`.
    pub kind: AuxtraceType,
    /// Its settings, by the word indices of [`perf_abi::auxtrace`]. C: `priv`.
    pub words: &'a [U64<O>],
}

impl<'a, O: Endian> AuxtraceInfo<'a, O> {
    pub(super) fn parse(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let info = at.fixed::<wire::AuxtraceInfo<O>>("type")?;
        let words = at.array((at.rest().len() / 8) as u64, "priv")?;
        Ok(Self { kind: AuxtraceType(info.kind.get()), words })
    }
}

/// AUX data that could not be decoded.
///
/// perf: `struct perf_record_auxtrace_error`.
#[derive(Clone, Copy, Debug)]
pub struct AuxtraceError<'a, O: Endian> {
    /// What went wrong and where, the same in all formats.
    pub fields: &'a wire::AuxtraceError<O>,
    /// Nanoseconds; `None` in format 0, of older perf.
    pub time: Option<u64>,
    /// The decoder's words.
    pub msg: &'a [u8],
    /// The virtual machine and vcpu; `None` before format 2, and in a record of format 2 that ends before them, which
    /// is read as one of format 1.
    pub guest: Option<&'a wire::AuxtraceErrorGuest<O>>,
    /// What stands behind the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    pub rest: &'a [u8],
}

impl<'a, O: Endian> AuxtraceError<'a, O> {
    pub(super) fn parse(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let fields = at.fixed::<wire::AuxtraceError<O>>("type")?;
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
