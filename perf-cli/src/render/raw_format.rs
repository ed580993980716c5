//! Descriptions of the raw data of an event's samples.

use perf_abi::endian::{BigEndian, Endianness, LittleEndian};
use perf_parse::Error;

use super::Sink;
use super::ibs::Ibs;
use super::tracepoint::Tracepoint;

/// What describes the raw data of an event's samples.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RawFormat<'a> {
    Tracepoint(&'a Tracepoint<'a>),
    Ibs(Ibs),
}

impl RawFormat<'_> {
    /// Passes what raw data contains to `sink`.
    pub(crate) fn print(&self, raw: &[u8], sink: &mut impl Sink) {
        match self {
            Self::Tracepoint(tracepoint) => match tracepoint.endianness {
                Endianness::Little => sink.tracepoint::<LittleEndian>(tracepoint, raw),
                Endianness::Big => sink.tracepoint::<BigEndian>(tracepoint, raw),
            },
            Self::Ibs(ibs) => {
                if let Ok(sample) = ibs.sample(raw) {
                    sink.ibs(&sample);
                }
            }
        }
    }

    /// Checks that raw data contains all fields.
    ///
    /// # Errors
    ///
    /// If raw data ends before a field, with the number of bytes that the first such field needs. If the fields have
    /// more values than the raw data has bytes.
    #[inline]
    pub(crate) fn check(&self, raw: &[u8]) -> Result<(), Error> {
        match self {
            Self::Tracepoint(tracepoint) => tracepoint.check(raw),
            Self::Ibs(ibs) => ibs.sample(raw).map(drop),
        }
    }
}
