//! Writing captures: `perf.data` files, and pipe-mode streams.
//!
//! [`FileWriter`] writes a file to an output that can seek, [`PipeWriter`] writes a stream, and [`PartWriter`] a file of
//! a folder that is beside its `data`. The first two take the events at the start. All take the records as bytes: records
//! that a [`RecordEncoder`](crate::write::RecordEncoder) encodes, or that were read from another capture.
//! [`FeaturePayloads`] has what is known about the machine. The layout is that of the perf tool, in the byte order of this
//! machine, or that of [`WriteOptions::endianness`].
//!
//! Writes are not buffered: wrap an output that is slow at small writes in a [`BufWriter`](std::io::BufWriter).
//!
//! # Examples
//!
//! ```
//! use std::io::Cursor;
//!
//! use perf_parse::SampleLayout;
//! use perf_parse::abi::attr::Attr;
//! use perf_parse::abi::event::EventType;
//! use perf_parse::abi::record::Misc;
//! use perf_parse::abi::sample_type::SampleType;
//! use perf_parse::feature::FeatureData;
//! use perf_parse::file::Reader;
//! use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
//! use perf_parse::write::{RecordEncoder, SampleFields};
//!
//! let attr = Attr { kind: EventType::SOFTWARE, sample_type: SampleType::IP, ..Attr::default() };
//! let event = EventFields { attr, ids: vec![7], name: Some(b"cpu-clock".to_vec()), ..EventFields::default() };
//! let mut writer = FileWriter::new(Cursor::new(Vec::new()), &[event], &WriteOptions::default())?;
//! writer.features().set(&FeatureData::Hostname("builder".into()))?;
//!
//! let mut record = Vec::new();
//! let fields = SampleFields { ip: Some(0x1000), ..SampleFields::default() };
//! RecordEncoder::new(&SampleLayout::new(&attr)?).sample(&mut record, Misc(2), &fields)?;
//! writer.record(&record)?;
//!
//! let bytes = writer.finish()?.into_inner();
//! let reader = Reader::new(&bytes)?;
//! assert_eq!(reader.events()[0].name.as_deref(), Some(&b"cpu-clock"[..]));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

mod attrs;
mod body;
mod compress;
mod error;
mod features;
mod in_file;
mod in_folder;
mod in_pipe;
mod sink;
mod update;

pub use error::{RecordFault, WriteFileError};
pub use features::FeaturePayloads;
pub use in_file::FileWriter;
pub use in_folder::PartWriter;
pub use in_pipe::PipeWriter;
pub(crate) use in_pipe::fits_in_pipe;

use alloc::vec::Vec;

use perf_abi::attr::{Attr, AttrVersion};
use perf_abi::endian::{Endian, Endianness};
use perf_abi::record::{Header, Misc, RecordType};
use zerocopy::{IntoBytes, transmute};

use crate::event::Event;

/// An event to be written. Fields may be added: end a literal with `..EventFields::default()`.
#[derive(Clone, Debug, Default)]
pub struct EventFields {
    /// The event's attr: what it counts and records. Its `size` is the smallest size that it is written with, unless
    /// [`WriteOptions::attr_version`] is set.
    pub attr: Attr,
    /// The bytes of a newer kernel's attr after the fields of [`Attr`], in the byte order to be written.
    pub attr_tail: Vec<u8>,
    /// The ids that the event's records carry: one for each CPU or task that the event was opened for.
    pub ids: Vec<u64>,
    /// The event's name. If `None`, a reader names the event by its attr.
    pub name: Option<Vec<u8>>,
    /// The unit of the event's counts.
    pub unit: Option<Vec<u8>>,
    /// The factor by which to multiply the counts.
    pub scale: Option<f64>,
    /// The CPUs on which the event counts: numbers up to 65535, which means any CPU.
    pub cpus: Option<Vec<u32>>,
    // `#[non_exhaustive]` would also forbid `..EventFields::default()` in other crates.
    #[doc(hidden)]
    pub non_exhaustive: (),
}

impl From<&Event> for EventFields {
    /// Converts an event that was read, to be written in the same byte order.
    fn from(event: &Event) -> Self {
        let update = event.update.as_deref();
        Self {
            attr: event.attr,
            attr_tail: event.attr_tail.to_vec(),
            ids: event.ids.clone(),
            name: event.name.clone(),
            unit: update.and_then(|update| update.unit.clone()),
            scale: update.and_then(|update| update.scale),
            cpus: None,
            non_exhaustive: (),
        }
    }
}

/// Options for writing a capture. Fields may be added: end a literal with `..WriteOptions::default()`.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// The byte order of the capture: that of the records that are given, and of the features. The default is
    /// [`Endianness::NATIVE`], the order of the machine that runs the program.
    pub endianness: Endianness,
    /// The size of the attrs. `None` selects the oldest version that has every field that is set, and for each event at
    /// least the size with which it was read.
    pub attr_version: Option<AttrVersion>,
    /// Compresses the records; `None` writes them uncompressed.
    ///
    /// Needs this crate's feature `zstd`.
    pub zstd: Option<ZstdOptions>,
    // `#[non_exhaustive]` would also forbid `..WriteOptions::default()` in other crates.
    #[doc(hidden)]
    pub non_exhaustive: (),
}

impl Default for WriteOptions {
    /// Returns options for an uncompressed capture in the byte order of this machine.
    fn default() -> Self {
        Self { endianness: Endianness::NATIVE, attr_version: None, zstd: None, non_exhaustive: () }
    }
}

/// How records are compressed: as one zstd stream, which is split into records.
///
/// The data of AUXTRACE and HEADER_TRACING_DATA records is not compressed, as perf requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZstdOptions {
    /// Level from 1, the fastest, to 22, the smallest output.
    pub level: u8,
    /// The type of the records that contain the stream: [`RecordType::COMPRESSED`], which perf reads since 5.2, or
    /// [`RecordType::COMPRESSED2`], which is padded to a multiple of 8 bytes, and which perf reads since 6.16.
    pub record: RecordType,
}

impl Default for ZstdOptions {
    /// Returns perf's default: level 1.
    fn default() -> Self {
        Self { level: 1, record: RecordType::COMPRESSED }
    }
}

/// Returns a record with this payload; `None` if it is too long for the `size` of a header.
fn framed<O: Endian>(kind: RecordType, misc: Misc, payload: &[&[u8]]) -> Option<Vec<u8>> {
    let len = payload.iter().fold(size_of::<Header<O>>(), |len, part| len.saturating_add(part.len()));
    let header = Header::<O>::new(kind, misc, u16::try_from(len).ok()?);
    let mut record = Vec::with_capacity(len);
    record.extend_from_slice(header.as_bytes());
    payload.iter().for_each(|part| record.extend_from_slice(part));
    Some(record)
}

/// Evaluates an expression with a byte order as a type.
macro_rules! with_order {
    ($endianness:expr, $O:ident => $value:expr) => {
        match $endianness {
            perf_abi::endian::Endianness::Little => {
                type $O = perf_abi::endian::LittleEndian;
                $value
            }
            perf_abi::endian::Endianness::Big => {
                type $O = perf_abi::endian::BigEndian;
                $value
            }
        }
    };
}
pub(crate) use with_order;

/// Returns the header of a record.
fn header(endianness: Endianness, kind: RecordType, misc: Misc, size: u16) -> [u8; 8] {
    with_order!(endianness, O => transmute!(Header::<O>::new(kind, misc, size)))
}

/// Appends NULs up to a multiple of `align` bytes.
fn pad(bytes: &mut Vec<u8>, align: usize) {
    bytes.resize(bytes.len().next_multiple_of(align), 0);
}
