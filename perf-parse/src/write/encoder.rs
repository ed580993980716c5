//! An encoder of the records of an event, in a byte order that is known at run time.

use alloc::vec::Vec;

use perf_abi::endian::{BigEndian, Endianness, LittleEndian};
use perf_abi::record::Misc;

use super::{SampleFields, SampleIdFields, WriteError, encode, sample};
use crate::layout::SampleLayout;
use crate::record::Record;

/// Encodes the records of an event: samples of owned fields, and all other records of the kernel and of simpleperf.
///
/// # Examples
///
/// ```
/// use perf_parse::abi::attr::{Attr, AttrFlags};
/// use perf_parse::abi::record::Misc;
/// use perf_parse::abi::sample_type::SampleType;
/// use perf_parse::record::Comm;
/// use perf_parse::write::{RecordEncoder, SampleFields, SampleIdFields};
/// use perf_parse::{Record, SampleLayout};
///
/// let attr = Attr { sample_type: SampleType::TIME, flags: AttrFlags::SAMPLE_ID_ALL, ..Attr::default() };
/// let layout = SampleLayout::new(&attr)?;
/// let encoder = RecordEncoder::new(&layout);
/// let mut bytes = Vec::new();
/// let comm = Record::Comm(Comm { pid: 7, tid: 7, comm: b"sh" });
/// encoder.record(&mut bytes, Misc(0), &comm, &SampleIdFields { time: 1, ..SampleIdFields::default() })?;
/// encoder.sample(&mut bytes, Misc(2), &SampleFields { time: Some(2), ..SampleFields::default() })?;
/// assert_eq!(bytes.len(), 32 + 16);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RecordEncoder<'l> {
    layout: &'l SampleLayout,
    endianness: Endianness,
}

impl<'l> RecordEncoder<'l> {
    /// Creates an encoder for the byte order of this machine, as the kernel writes records.
    #[must_use]
    pub const fn new(layout: &'l SampleLayout) -> Self {
        Self::new_in(Endianness::NATIVE, layout)
    }

    /// Creates an encoder for a byte order.
    #[must_use]
    pub const fn new_in(endianness: Endianness, layout: &'l SampleLayout) -> Self {
        Self { layout, endianness }
    }

    /// Returns the byte order of the records.
    #[must_use]
    pub const fn endianness(&self) -> Endianness {
        self.endianness
    }

    /// Appends a sample to `out`.
    ///
    /// # Errors
    ///
    /// Those of [`write::sample`](super::sample()). After an error `out` is unchanged.
    pub fn sample(&self, out: &mut Vec<u8>, misc: Misc, fields: &SampleFields) -> Result<(), WriteError> {
        match self.endianness {
            Endianness::Little => sample::<LittleEndian>(out, self.layout, misc, fields),
            Endianness::Big => sample::<BigEndian>(out, self.layout, misc, fields),
        }
    }

    /// Appends a record to `out`, with a trailer if the event's records have one.
    ///
    /// A sample, or a record of unknown type, is a view of bytes and is copied unchanged: use [`sample`](Self::sample) for a
    /// sample of owned fields.
    ///
    /// # Errors
    ///
    /// Those of [`write::record`](super::record); [`WriteError::Invalid`] for a view of another byte order. After an error
    /// `out` is unchanged.
    pub fn record(
        &self,
        out: &mut Vec<u8>,
        misc: Misc,
        record: &Record<'_>,
        sample_id: &SampleIdFields,
    ) -> Result<(), WriteError> {
        match self.endianness {
            Endianness::Little => {
                encode::<LittleEndian, Endianness>(out, self.layout, misc, record, sample_id)
            }
            Endianness::Big => encode::<BigEndian, Endianness>(out, self.layout, misc, record, sample_id),
        }
    }
}
