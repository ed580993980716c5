//! What keeps a capture from being written.

use std::io;

use perf_abi::attr;
use perf_abi::feature::Feature;
use perf_abi::record::RecordType;

/// Why a capture, or a part of it, cannot be written. What is wrong has no offset: it is told by the index of its event
/// or record.
///
/// | kind | when |
/// |---|---|
/// | [`Io`](Self::Io) | the output fails |
/// | [`Broken`](Self::Broken) | the output failed before |
/// | [`Option`](Self::Option) | an option has a value that it cannot have |
/// | [`Attr`](Self::Attr) | an attr has more than the chosen version has room for |
/// | [`Event`](Self::Event) | ids, a name or another part of an event cannot be written |
/// | [`Feature`](Self::Feature) | a feature cannot be written, or not in a pipe |
/// | [`Record`](Self::Record) | a record is not whole, or not as its header says; see [`RecordFault`] |
#[derive(Debug)]
#[non_exhaustive]
pub enum WriteFileError {
    /// The output failed. All that follows is [`Broken`](Self::Broken).
    Io(io::Error),
    /// The output failed before, so that it is not known where the next byte would go.
    Broken,
    /// An option has a value that it cannot have.
    Option {
        /// The field of [`Options`](super::Options).
        option: &'static str,
        /// What it must be.
        must: &'static str,
    },
    /// An attr has a field that the version has no room for.
    Attr {
        /// The index of the event.
        event: usize,
        /// The field, and the version that it needs.
        error: attr::WriteError,
    },
    /// An event has something that cannot be written.
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
        /// Which.
        feature: Feature,
        /// The field of it; empty where it is the feature as a whole.
        field: &'static str,
        /// What it must be.
        must: &'static str,
    },
    /// A record cannot be written. It was left out; others can follow.
    Record {
        /// How many records were written before it.
        index: u64,
        /// Its type; `None` if the header is not whole.
        kind: Option<RecordType>,
        /// What is wrong with it.
        fault: RecordFault,
    },
}

/// What is wrong with a record that is to be written.
///
/// | kind | when |
/// |---|---|
/// | [`Header`](Self::Header) | there are fewer than 8 bytes |
/// | [`Size`](Self::Size) | the header's size is not that of the bytes |
/// | [`Unaligned`](Self::Unaligned) | a record of the kernel's is not a multiple of 8 bytes |
/// | [`Payload`](Self::Payload) | it ends before it says how much stands behind it |
/// | [`Compressed`](Self::Compressed) | it is a piece of another capture's compressed stream |
/// | [`Data`](Self::Data) | what stands behind it is not as long as it says |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordFault {
    /// It has fewer bytes than a header.
    Header {
        /// How many.
        len: usize,
    },
    /// The header's `size` is not the number of bytes.
    Size {
        /// What the header says.
        size: u16,
        /// How many there are.
        len: usize,
    },
    /// It is not a multiple of 8 bytes, as the kernel's records are.
    Unaligned {
        /// Its size.
        size: u16,
    },
    /// It ends before the size of the data that stands behind it.
    Payload {
        /// Its size.
        size: u16,
    },
    /// It holds compressed records: the stream that it belongs to is another capture's.
    Compressed,
    /// The data that stands behind it is not as long as the record says.
    Data {
        /// What the record says; 0 for a record that has no data behind it.
        needed: u64,
        /// Bytes given.
        given: usize,
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
