//! Errors of writing a capture.

use std::io;

use perf_abi::attr;
use perf_abi::endian::Endianness;
use perf_abi::feature::Feature;
use perf_abi::record::RecordType;

/// Why a capture, or a part of it, cannot be written. It has no offset; it identifies the event or record by its index.
///
/// | kind | when |
/// |---|---|
/// | [`Io`](Self::Io) | the output fails |
/// | [`Broken`](Self::Broken) | the output failed before |
/// | [`Option`](Self::Option) | an option has an impossible value |
/// | [`Attr`](Self::Attr) | an attr does not fit into the chosen version |
/// | [`Event`](Self::Event) | ids, a name or another part of an event cannot be written |
/// | [`Feature`](Self::Feature) | a feature cannot be written, or not in a pipe |
/// | [`Record`](Self::Record) | a record is incomplete or contradicts its header; see [`RecordFault`] |
#[derive(Debug)]
#[non_exhaustive]
pub enum WriteFileError {
    /// The output failed. All later calls return [`Broken`](Self::Broken).
    Io(io::Error),
    /// The output failed before, so the position of the next byte is unknown.
    Broken,
    /// An option has an impossible value.
    Option {
        /// The field of [`WriteOptions`](super::WriteOptions).
        option: &'static str,
        /// What it must be.
        must: &'static str,
    },
    /// An attr has a field that does not fit into the chosen version.
    Attr {
        /// The index of the event.
        event: usize,
        /// The field, and the version that it needs.
        error: attr::AttrWriteError,
    },
    /// A part of an event cannot be written.
    Event {
        /// The index of the event.
        event: usize,
        /// The field of [`EventFields`](super::EventFields).
        field: &'static str,
        /// What it must be.
        must: &'static str,
    },
    /// A feature cannot be written.
    Feature {
        /// The feature.
        feature: Feature,
        /// The field of the feature; empty for the whole feature.
        field: &'static str,
        /// What it must be.
        must: &'static str,
    },
    /// A record cannot be written. It was left out; other records can follow.
    Record {
        /// Number of records that were written before it.
        index: u64,
        /// The record's type; `None` if the header is incomplete.
        kind: Option<RecordType>,
        /// The fault in it.
        fault: RecordFault,
    },
}

/// The fault in a record that is to be written.
///
/// | kind | when |
/// |---|---|
/// | [`Header`](Self::Header) | there are fewer than 8 bytes |
/// | [`Size`](Self::Size) | the header's size is not the number of bytes |
/// | [`Unaligned`](Self::Unaligned) | the size of a kernel record is not a multiple of 8 bytes |
/// | [`Payload`](Self::Payload) | the record ends before the size of the data after it |
/// | [`Compressed`](Self::Compressed) | the record is a part of another capture's compressed stream |
/// | [`Data`](Self::Data) | the data after the record does not have the size in the record |
/// | [`ByteOrder`](Self::ByteOrder) | the record has another byte order than the capture to be written |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordFault {
    /// The record has fewer bytes than a header.
    Header {
        /// Number of bytes.
        len: usize,
    },
    /// The header's `size` is not the number of bytes.
    Size {
        /// The header's size.
        size: u32,
        /// Number of bytes.
        len: usize,
    },
    /// The size is not a multiple of 8 bytes. All kernel records have such a size.
    Unaligned {
        /// The record's size.
        size: u32,
    },
    /// The record ends before the size of the data after it.
    Payload {
        /// The record's size.
        size: u32,
    },
    /// The record contains compressed records, which belong to the stream of another capture.
    Compressed,
    /// The data after the record does not have the size in the record.
    Data {
        /// The size in the record; 0 for a record without data after it.
        needed: u64,
        /// Number of bytes that were given.
        given: usize,
    },
    /// The record was read from a capture of another byte order.
    ByteOrder {
        /// The byte order of the record.
        endianness: Endianness,
    },
}

impl core::fmt::Display for WriteFileError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::Broken => f.write_str("the output failed before: write the capture again, from the start"),
            Self::Option { option, must } => write!(f, "{option}: must be {must}"),
            Self::Attr { event, error } => {
                write!(f, "event {event}: {error}: choose a newer attr_version, or none")
            }
            Self::Event { event, field, must } => write!(f, "event {event}: {field}: must be {must}"),
            Self::Feature { feature, field: "", must } => write!(f, "feature {feature}: must be {must}"),
            Self::Feature { feature, field, must } => {
                write!(f, "feature {feature}: {field}: must be {must}")
            }
            Self::Record { index, kind: Some(kind), fault } => write!(f, "record {index}: {kind}: {fault}"),
            Self::Record { index, kind: None, fault } => write!(f, "record {index}: {fault}"),
        }
    }
}

impl core::fmt::Display for RecordFault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Header { len } => {
                write!(f, "has {len} bytes, fewer than the header's 8: give a whole record")
            }
            Self::Size { size, len } => {
                write!(f, "header.size is {size}, but {len} bytes are given: give one record, and all of it")
            }
            Self::Unaligned { size } => {
                write!(f, "header.size is {size}, not a multiple of 8: pad the record's last field")
            }
            Self::Payload { size } => {
                write!(
                    f,
                    "header.size is {size}, too small for the size of the data behind it: give all of it"
                )
            }
            Self::Compressed => f.write_str(
                "holds compressed records: decompress them, write those, and let the writer compress",
            ),
            Self::ByteOrder { endianness } => write!(
                f,
                "is {endianness}-endian, unlike the capture: decode it and encode its fields, or write a \
                 {endianness}-endian capture"
            ),
            Self::Data { needed: 0, given } => {
                write!(f, "no data stands behind this record, but {given} bytes are given: leave them out")
            }
            Self::Data { needed, given } => {
                write!(
                    f,
                    "says that {needed} bytes of data stand behind it, but {given} are given: give these"
                )
            }
        }
    }
}

impl core::error::Error for WriteFileError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Attr { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for WriteFileError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
