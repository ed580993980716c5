//! Errors of files, each with its offset.

use perf_abi::attr::AttrReadError;
use perf_abi::feature::Feature;
use perf_abi::record::RecordType;

use super::Error;
use crate::ring::RingError;

/// A fault in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct FileError {
    /// Offset of the fault, in bytes from the start of the capture. For a fault in a record this is the start of the
    /// faulty field; for a record whose event is unknown, the start of the record.
    pub offset: u64,
    /// The fault.
    pub kind: FileErrorKind,
}

/// The kind of a fault in a file. Header fields have the names of `struct perf_file_header`.
///
/// | kind | when | offset |
/// |---|---|---|
/// | [`NotPerfData`](Self::NotPerfData) | the bytes do not begin with a magic of perf.data | 0 |
/// | [`NotAStream`](Self::NotAStream) | a stream contains a file | 8, the header's size |
/// | `Io` | reading the stream failed | the number of bytes read before |
/// | [`Truncated`](Self::Truncated) | the file ends within a field or section | the field, or the field that refers to the section |
/// | [`Invalid`](Self::Invalid) | a field has an impossible value | the field |
/// | [`Attr`](Self::Attr) | an attr's size is invalid, or larger than the bytes that are left | the attr |
/// | [`Layout`](Self::Layout) | an attr asks for an unknown field | the attr's field; for a sample, the record |
/// | [`Record`](Self::Record) | a record cannot be decoded | the record's field; for a compressed record, the COMPRESSED record |
/// | [`Boundary`](Self::Boundary) | the next record cannot be found | the record's field that is wrong |
/// | [`UnknownId`](Self::UnknownId) | no event has a record's id | the record |
/// | [`UnknownEvent`](Self::UnknownEvent) | a record has no id from which to find its event | the record |
/// | [`Skipped`](Self::Skipped) | bytes were skipped up to the next record boundary, or to the end | where the skipped bytes begin |
/// | [`Decompress`](Self::Decompress) | a payload is not zstd, ends early, or expands beyond the limit | the COMPRESSED record |
/// | [`Feature`](Self::Feature) | a feature cannot be decoded | the feature's field |
/// | [`Overlap`](Self::Overlap) | a feature's section shares bytes with another part of the file | its entry in the feature table |
/// | [`Limit`](Self::Limit) | a limit of the reader leaves something out | the first part that is left out |
/// | [`Ring`](Self::Ring) | the dump of a ring cannot be read; noted by the caller | the fault in the dump |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum FileErrorKind {
    /// The file does not begin with a magic of perf.data.
    NotPerfData,
    /// A stream contains a file. A file cannot be read from front to back: its features, which come last, are needed
    /// first.
    NotAStream,
    /// The stream cannot be read.
    #[cfg(feature = "std")]
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::display"))]
    Io(std::io::ErrorKind),
    /// The file ends before the field ends.
    Truncated {
        /// The field.
        field: &'static str,
        /// Number of bytes that the field needs.
        needed: u64,
        /// Number of bytes that are left.
        available: u64,
    },
    /// A field has an impossible value.
    Invalid {
        /// The field.
        field: &'static str,
        /// Its value.
        value: u64,
        /// The requirement that the value does not meet.
        must: &'static str,
    },
    /// An attr cannot be read.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::display"))]
    Attr(AttrReadError),
    /// The samples of an event cannot be decoded: its attr asks for a field that this crate does not know.
    Layout(Error),
    /// A record cannot be decoded; the records after it can.
    Record {
        /// The record's type.
        #[cfg_attr(feature = "serde", serde(rename = "type"))]
        kind: RecordType,
        /// The fault in it.
        error: Error,
    },
    /// The next record cannot be found.
    Boundary(Error),
    /// A record has an id that no event of the file has.
    UnknownId {
        /// The record's type.
        #[cfg_attr(feature = "serde", serde(rename = "type"))]
        kind: RecordType,
        /// The record's id.
        id: u64,
    },
    /// A record's event is unknown: the capture has several events, and their records do not have the id at the same
    /// place.
    UnknownEvent {
        /// The record's type.
        #[cfg_attr(feature = "serde", serde(rename = "type"))]
        kind: RecordType,
    },
    /// Bytes were skipped up to the next record boundary, or to the end.
    Skipped {
        /// Number of bytes that were skipped.
        bytes: u64,
    },
    /// A compressed payload cannot be decompressed.
    Decompress {
        /// The fault in it.
        what: &'static str,
    },
    /// A feature section cannot be decoded.
    Feature {
        /// The feature.
        feature: Feature,
        /// The fault in it.
        error: Error,
    },
    /// The section of a feature shares bytes with another part of the file. The feature is left out.
    Overlap {
        /// The feature.
        feature: Feature,
        /// The other part.
        part: FilePart,
    },
    /// The capture exceeds a limit of the reader. The part beyond the limit is left out. See [`Limits`](crate::file::Limits).
    Limit {
        /// The field that exceeds the limit.
        field: &'static str,
        /// The limit.
        limit: u64,
        /// The unit of the limit.
        of: &'static str,
    },
    /// The dump of a ring cannot be read, or only a part of it. The reader of records never returns this error: a
    /// caller that opens a dump notes it in the account.
    Ring(RingError),
}

/// A part of a file. In a valid file no two parts share a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum FilePart {
    /// The header.
    Header,
    /// The attrs of the events.
    Attrs,
    /// The names of events, in files of the first versions of perf.
    EventTypes,
    /// The records.
    Data,
    /// The table with the offsets and sizes of the features.
    FeatureTable,
    /// The section of a feature.
    Feature(Feature),
}

impl core::fmt::Display for FilePart {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Header => f.write_str("the header"),
            Self::Attrs => f.write_str("the attrs"),
            Self::EventTypes => f.write_str("the event types"),
            Self::Data => f.write_str("the data"),
            Self::FeatureTable => f.write_str("the table of features"),
            Self::Feature(feature) => write!(f, "the section of {feature}"),
        }
    }
}

impl FileErrorKind {
    /// The names of the kinds, each at its [`index`](Self::index).
    pub(crate) const NAMES: [&'static str; 17] = [
        "not_perf_data",
        "not_a_stream",
        "io",
        "truncated",
        "invalid",
        "attr",
        "layout",
        "record",
        "boundary",
        "unknown_id",
        "unknown_event",
        "skipped",
        "decompress",
        "feature",
        "overlap",
        "limit",
        "ring",
    ];

    /// Returns the name of this kind of fault: the name of the variant in lower case, such as `unknown_id`. The values
    /// of the variant do not matter.
    #[must_use]
    pub fn name(&self) -> &'static str {
        Self::NAMES.get(self.index()).copied().unwrap_or_default()
    }

    pub(crate) const fn index(&self) -> usize {
        match self {
            Self::NotPerfData => 0,
            Self::NotAStream => 1,
            #[cfg(feature = "std")]
            Self::Io(_) => 2,
            Self::Truncated { .. } => 3,
            Self::Invalid { .. } => 4,
            Self::Attr(_) => 5,
            Self::Layout(_) => 6,
            Self::Record { .. } => 7,
            Self::Boundary(_) => 8,
            Self::UnknownId { .. } => 9,
            Self::UnknownEvent { .. } => 10,
            Self::Skipped { .. } => 11,
            Self::Decompress { .. } => 12,
            Self::Feature { .. } => 13,
            Self::Overlap { .. } => 14,
            Self::Limit { .. } => 15,
            Self::Ring(_) => 16,
        }
    }
}

impl FileError {
    pub(crate) const fn new(kind: FileErrorKind, offset: u64) -> Self {
        Self { offset, kind }
    }

    pub(crate) const fn invalid(field: &'static str, value: u64, must: &'static str, offset: u64) -> Self {
        Self::new(FileErrorKind::Invalid { field, value, must }, offset)
    }

    /// Returns the error of a record of type `kind` whose header is at `offset` in the capture. The error's offset is
    /// that of the faulty field. `inner` is the position of the record in the decompressed stream, as in
    /// [`RecordPosition::decompressed`](crate::event::RecordPosition::decompressed).
    #[must_use]
    pub fn in_record(kind: RecordType, offset: u64, inner: Option<u64>, error: Error) -> Self {
        // A field within compressed data has no offset in the capture.
        let field = if inner.is_some() { 0 } else { u64::from(error.offset) };
        Self::new(FileErrorKind::Record { kind, error }, offset.saturating_add(field))
    }

    /// Returns the type of the record that has the fault; `None` if the fault is not in a record.
    #[must_use]
    pub const fn record_type(&self) -> Option<RecordType> {
        match self.kind {
            FileErrorKind::Record { kind, .. }
            | FileErrorKind::UnknownId { kind, .. }
            | FileErrorKind::UnknownEvent { kind } => Some(kind),
            FileErrorKind::Decompress { .. } => Some(RecordType::COMPRESSED),
            _ => None,
        }
    }

    /// Returns the kernel's or perf's name of the field that is wrong; empty if the fault is not in one field.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        match &self.kind {
            FileErrorKind::NotPerfData => "header.magic",
            FileErrorKind::NotAStream => "header.size",
            FileErrorKind::Skipped { .. } => "",
            #[cfg(feature = "std")]
            FileErrorKind::Io(_) => "",
            FileErrorKind::Truncated { field, .. }
            | FileErrorKind::Invalid { field, .. }
            | FileErrorKind::Limit { field, .. } => field,
            FileErrorKind::Attr(_) => "attr.size",
            FileErrorKind::Layout(error)
            | FileErrorKind::Record { error, .. }
            | FileErrorKind::Boundary(error)
            | FileErrorKind::Feature { error, .. } => error.kind.field(),
            FileErrorKind::UnknownId { .. } | FileErrorKind::UnknownEvent { .. } => "id",
            FileErrorKind::Decompress { .. } => "data",
            FileErrorKind::Overlap { .. } => "feature section",
            FileErrorKind::Ring(error) => error.kind.field(),
        }
    }
}

/// Prints the fault, without its offset and field.
impl core::fmt::Display for FileErrorKind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NotPerfData => f.write_str("is not PERFILE2 or PERFFILE, so this is not a perf.data file"),
            Self::NotAStream => f.write_str("is that of a file; a file cannot be read as a stream"),
            #[cfg(feature = "std")]
            Self::Io(error) => write!(f, "cannot be read: {error}"),
            Self::Skipped { bytes } => {
                write!(f, "{bytes} bytes skipped, up to the next record or the end")
            }
            Self::Decompress { what } => f.write_str(what),
            Self::Truncated { needed, available, .. } => {
                write!(f, "needs {needed} bytes, the file has {available} left")
            }
            Self::Invalid { value, must, .. } => write!(f, "is {value}, but must be {must}"),
            Self::Limit { limit, of, .. } => {
                write!(f, "is left out: there are more than {limit} {of}, the limit of this reader")
            }
            Self::Attr(error) => write!(f, "{error}"),
            Self::Layout(error) | Self::Record { error, .. } | Self::Feature { error, .. } => {
                write!(f, "{}", error.kind)
            }
            Self::Overlap { feature, part } => {
                write!(f, "{feature} shares bytes with {part}, and is left out")
            }
            Self::Ring(error) => write!(f, "{}", error.kind),
            Self::Boundary(error) => write!(f, "{}; searching for the next record", error.kind),
            Self::UnknownId { id, .. } => write!(f, "is {id}, which no event of the file has"),
            Self::UnknownEvent { .. } => f.write_str(
                "is missing, or at different places in different events, so the event of this record is unknown",
            ),
        }
    }
}

/// Prints `offset: record type: field: fault`.
impl core::fmt::Display for FileError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:#x}: ", self.offset)?;
        if let Some(kind) = self.record_type() {
            write!(f, "{kind}: ")?;
        }
        match self.kind {
            FileErrorKind::Feature { feature, .. } => write!(f, "{feature}: ")?,
            FileErrorKind::Attr(error) => return write!(f, "{error}"),
            _ => {}
        }
        match self.field() {
            "" => write!(f, "{}", self.kind),
            field => write!(f, "{field}: {}", self.kind),
        }
    }
}

impl core::error::Error for FileError {}
