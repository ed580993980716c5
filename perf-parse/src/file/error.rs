//! What can be wrong with a file, and where.

use perf_abi::attr::ReadError;
use perf_abi::feature::Feature;
use perf_abi::record::RecordType;

use crate::error::Error;
use crate::ring::RingError;

/// What is wrong in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileError {
    /// Where: bytes from the start of the capture. Within a record it is where the faulty field begins; for a record
    /// whose event cannot be told, where the record does.
    pub offset: u64,
    /// What.
    pub kind: FileErrorKind,
}

/// What is wrong in a file. Header fields go by the names of `struct perf_file_header`.
///
/// | kind | when | offset |
/// |---|---|---|
/// | [`NotPerfData`](Self::NotPerfData) | the magic is none, or of the other byte order | 0 |
/// | [`NotAStream`](Self::NotAStream) | a stream holds a file | 8, the header's size |
/// | `Io` | reading the stream failed | how far it was read |
/// | [`Truncated`](Self::Truncated) | the file ends within a field or section | the field, or what tells of the section |
/// | [`Invalid`](Self::Invalid) | a field has a value that it cannot have | the field |
/// | [`Attr`](Self::Attr) | an attr's size is not one, or more than there is | the attr |
/// | [`Layout`](Self::Layout) | an attr asks for an unknown field | the attr's field; for a sample, the record |
/// | [`Record`](Self::Record) | a record cannot be decoded | the record's field; the COMPRESSED record's start |
/// | [`Boundary`](Self::Boundary) | the next record cannot be found | the record's field that misleads |
/// | [`UnknownId`](Self::UnknownId) | a record's id is no event's | the record |
/// | [`UnknownEvent`](Self::UnknownEvent) | a record has no id that tells its event | the record |
/// | [`Skipped`](Self::Skipped) | a boundary was found again, or the end | where the bytes passed over begin |
/// | [`Decompress`](Self::Decompress) | a payload is no zstd, ends early, or expands beyond the limit | the COMPRESSED record |
/// | [`Feature`](Self::Feature) | a feature cannot be decoded | the feature's field |
/// | [`Overlap`](Self::Overlap) | a feature's section shares bytes with another part of the file | its entry in the table of features |
/// | [`Limit`](Self::Limit) | a limit of the reader leaves something out | the first that is left out |
/// | [`Ring`](Self::Ring) | the dump of a ring cannot be read; noted by the caller | where it is in the dump |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileErrorKind {
    /// The first bytes are no magic of a perf.data.
    NotPerfData,
    /// A stream holds a file, whose parts stand in an order that a stream does not have.
    NotAStream,
    /// The stream cannot be read.
    #[cfg(feature = "std")]
    Io(std::io::ErrorKind),
    /// The file ends before the field does.
    Truncated {
        /// The field.
        field: &'static str,
        /// Bytes the field needs.
        needed: u64,
        /// Bytes there are.
        available: u64,
    },
    /// A field has a value that it cannot have.
    Invalid {
        /// The field.
        field: &'static str,
        /// Its value.
        value: u64,
        /// What it must be.
        must: &'static str,
    },
    /// An attr cannot be read.
    Attr(ReadError),
    /// The samples of an event cannot be placed: its attr asks for what this crate does not know.
    Layout(Error),
    /// A record cannot be decoded; the ones behind it can.
    Record {
        /// The record's type.
        kind: RecordType,
        /// What is wrong with it.
        error: Error,
    },
    /// The next record cannot be found.
    Boundary(Error),
    /// A record is of an event that the file does not list.
    UnknownId {
        /// The record's type.
        kind: RecordType,
        /// The id it carries.
        id: u64,
    },
    /// A record's event cannot be told: there are several, laid out differently, with ids at no common place.
    UnknownEvent {
        /// The record's type.
        kind: RecordType,
    },
    /// A boundary was found again, or the end, where one was lost.
    Skipped {
        /// Bytes passed over.
        bytes: u64,
    },
    /// A compressed payload cannot be decompressed.
    Decompress {
        /// What is wrong with it.
        what: &'static str,
    },
    /// A feature section cannot be decoded.
    Feature {
        /// Which feature.
        feature: Feature,
        /// What is wrong with it.
        error: Error,
    },
    /// The section of a feature shares bytes with another part of the file: the feature is left out.
    Overlap {
        /// Which feature.
        feature: Feature,
        /// What has bytes of it too.
        part: Part,
    },
    /// There is more than the reader takes: what is beyond the limit is left out. See [`Limits`](super::Limits).
    Limit {
        /// The field that there are too many of.
        field: &'static str,
        /// How many are taken at most.
        limit: u64,
        /// What is counted.
        of: &'static str,
    },
    /// The dump of a ring cannot be read, or not all of it. The reader of records does not come upon it: it is for the
    /// caller who opens the dump, to be put into the account.
    Ring(RingError),
}

/// A part of a file. No two of them share a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// The header.
    Header,
    /// The attrs of the events.
    Attrs,
    /// The names of events, in files of the first tools.
    EventTypes,
    /// The records.
    Data,
    /// The table that says where the features are.
    FeatureTable,
    /// The section of a feature.
    Feature(Feature),
}

impl core::fmt::Display for Part {
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
    pub(super) const NAMES: [&'static str; 17] = [
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

    /// The name of this kind of fault, whatever its values are: that of the variant in lower case, `unknown_id`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        Self::NAMES.get(self.index()).copied().unwrap_or_default()
    }

    pub(super) const fn index(&self) -> usize {
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
    pub(super) const fn new(kind: FileErrorKind, offset: u64) -> Self {
        Self { offset, kind }
    }

    pub(super) const fn invalid(field: &'static str, value: u64, must: &'static str, offset: u64) -> Self {
        Self::new(FileErrorKind::Invalid { field, value, must }, offset)
    }

    /// An error in a record of this type, whose header is at `offset` in the capture, with the place of the field. `inner`
    /// is where the record is in the decompressed stream, as in [`FileRecord::inner`](super::FileRecord::inner).
    #[must_use]
    pub fn in_record(kind: RecordType, offset: u64, inner: Option<u64>, error: Error) -> Self {
        // Within a compressed chunk there is no place in the capture for the field.
        let field = if inner.is_some() { 0 } else { u64::from(error.offset) };
        Self::new(FileErrorKind::Record { kind, error }, offset.saturating_add(field))
    }

    /// The type of the record that is wrong; `None` where it is not a record.
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

    /// The field that is wrong, by the kernel's or perf's name; empty where it is no single field.
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

/// What is wrong, without the place and the field.
impl core::fmt::Display for FileErrorKind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NotPerfData => f.write_str("is not PERFILE2 or PERFFILE: this is no perf.data"),
            Self::NotAStream => f.write_str("is that of a file, which cannot be read as a stream"),
            #[cfg(feature = "std")]
            Self::Io(error) => write!(f, "cannot be read: {error}"),
            Self::Skipped { bytes } => {
                write!(f, "{bytes} bytes skipped up to where records go on, or to the end")
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
            Self::Boundary(error) => write!(f, "{}; looking for where records go on", error.kind),
            Self::UnknownId { id, .. } => write!(f, "is {id}, which no event of the file has"),
            Self::UnknownEvent { .. } => f.write_str(
                "is not there, or not at one place in all events: the record's event cannot be told",
            ),
        }
    }
}

/// `offset: record type: field: what`, as a diagnostic of a command line.
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
