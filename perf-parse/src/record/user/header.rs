//! Header data as records: attrs, event names and features; in pipes.

use perf_abi::attr::{Attr, AttrVersion, ReadAttr};
use perf_abi::endian::{BigEndian, Endian, Endianness, LittleEndian, U32};
use perf_abi::feature::Feature;

use super::until_nul;
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind};
use crate::list::List;

/// An event; in pipes.
///
/// perf: `struct perf_record_header_attr`.
#[derive(Clone, Copy, Debug)]
pub struct HeaderAttr<'a> {
    /// The attr as recorded. Its length is its own `size`, or 64 bytes if that is 0.
    pub bytes: &'a [u8],
    /// The ids by which records refer to the event. C: `id`.
    pub ids: List<'a, u64>,
    order: Endianness,
}

impl<'a> HeaderAttr<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let mut head = *at;
        let [_, size] = head.fixed::<[U32<O>; 2]>("attr")?;
        let size = match size.get() {
            0 => AttrVersion::VER0.size(),
            size if size < AttrVersion::VER0.size() => {
                return Err(Error::new(ErrorKind::AttrSize { size }, at.offset().saturating_add(4)));
            }
            size => size,
        };
        let bytes = at.bytes(u64::from(size), "attr")?;
        let ids = at.list(O::ENDIANNESS, (at.rest().len() / 8) as u64, "id")?;
        Ok(Self { bytes, ids, order: O::ENDIANNESS })
    }

    /// Decodes the attr.
    ///
    /// The attr is decoded on request, because the 144 bytes of an [`Attr`] would make every decoded record larger.
    #[must_use]
    pub fn attr(&self) -> ReadAttr<'a> {
        let read = match self.order {
            Endianness::Little => Attr::read::<LittleEndian>(self.bytes),
            Endianness::Big => Attr::read::<BigEndian>(self.bytes),
        };
        // The decoder of the record has checked that the bytes are a whole attr.
        read.unwrap_or(ReadAttr { attr: Attr::default(), tail: &[] })
    }
}

/// The decoded attr, the bytes after the fields that this crate knows, and the ids.
#[cfg(feature = "serde")]
impl serde::Serialize for HeaderAttr<'_> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let ReadAttr { attr, tail } = self.attr();
        crate::serialize::fields!(to, "HeaderAttr" {
            attr: Some(attr),
            attr_tail: Some(crate::serialize::SerializedBytes(tail)),
            ids: Some(self.ids),
        })
    }
}

/// The name of an event; only the first versions of perf wrote it.
///
/// perf: `struct perf_record_header_event_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct HeaderEventType<'a> {
    /// The event's `config`.
    pub event_id: u64,
    /// The name. It takes the rest of the record if it has no NUL: perf cut names at a multiple of 8 bytes.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::text"))]
    pub name: &'a [u8],
}

impl<'a> HeaderEventType<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        Ok(Self { event_id: at.word::<O>("event_id")?, name: until_nul(at.take_rest()) })
    }
}

/// A feature section; in pipes.
///
/// perf: `struct perf_record_header_feature`; since perf 4.14.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct HeaderFeature<'a> {
    /// Number of the feature. One past the last number that the writer knows, with empty `data`, ends the features.
    pub feat_id: u64,
    /// The bytes of the section, as in a file; newer versions of perf pad them.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub data: &'a [u8],
}

impl<'a> HeaderFeature<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        Ok(Self { feat_id: at.word::<O>("feat_id")?, data: at.take_rest() })
    }

    /// Returns the feature; `None` for a number from [`Feature::FEAT_BITS`] on, which no feature can have.
    #[must_use]
    pub fn feature(&self) -> Option<Feature> {
        u32::try_from(self.feat_id).ok().filter(|&id| id < Feature::FEAT_BITS).map(Feature)
    }
}

/// The size of the formats of tracepoints, which follow the record; in pipes.
///
/// perf: `struct perf_record_header_tracing_data`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct HeaderTracingData<'a> {
    /// Bytes of the formats, without the padding to a multiple of 8.
    pub size: u32,
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub rest: &'a [u8],
}

impl<'a> HeaderTracingData<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let size = at.fixed::<U32<O>>("size")?.get();
        Ok(Self { size, rest: at.take_rest() })
    }
}
