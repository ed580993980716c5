//! What a file has in its header, as records: attrs, event names and features in a pipe.

use perf_abi::attr::{Attr, AttrVersion, ReadAttr};
use perf_abi::endian::{Endian, U32, U64};
use perf_abi::feature::Feature;

use super::until_nul;
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind};

/// An event, in a pipe.
///
/// perf: `struct perf_record_header_attr`.
#[derive(Clone, Copy, Debug)]
pub struct HeaderAttr<'a, O: Endian> {
    /// The attr as it was written, as long as its own `size` says; 64 bytes where that is 0.
    pub bytes: &'a [u8],
    /// The ids that records carry for the event. C: `id`.
    pub ids: &'a [U64<O>],
}

impl<'a, O: Endian> HeaderAttr<'a, O> {
    pub(super) fn parse(at: &mut Cursor<'a>) -> Result<Self, Error> {
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
        let ids = at.array((at.rest().len() / 8) as u64, "id")?;
        Ok(Self { bytes, ids })
    }

    /// What the event counts and records.
    ///
    /// Copies the attr, which at 144 bytes is larger than all other records are when decoded.
    #[must_use]
    pub fn attr(&self) -> ReadAttr<'a> {
        // The bytes are a whole attr, whose size was checked when the record was decoded.
        Attr::read::<O>(self.bytes).unwrap_or(ReadAttr { attr: Attr::default(), tail: &[] })
    }
}

/// The name of an event; written by the first tools only.
///
/// perf: `struct perf_record_header_event_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderEventType<'a> {
    /// `config` of the event.
    pub event_id: u64,
    /// The name. It ends with the record where that has no NUL: perf cut names at a multiple of 8.
    pub name: &'a [u8],
}

impl<'a> HeaderEventType<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        Ok(Self { event_id: at.word::<O>("event_id")?, name: until_nul(at.take_rest()) })
    }
}

/// A feature section, in a pipe.
///
/// perf: `struct perf_record_header_feature`; since perf 4.14.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderFeature<'a> {
    /// Number of the feature. One past the last that the writer knows, with empty `data`, ends the features.
    pub feat_id: u64,
    /// What the section of a file would be, and padding in newer versions.
    pub data: &'a [u8],
}

impl<'a> HeaderFeature<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        Ok(Self { feat_id: at.word::<O>("feat_id")?, data: at.take_rest() })
    }

    /// The feature; `None` for a number that cannot be one: a file has room for [`Feature::FEAT_BITS`].
    #[must_use]
    pub fn feature(&self) -> Option<Feature> {
        u32::try_from(self.feat_id).ok().filter(|&id| id < Feature::FEAT_BITS).map(Feature)
    }
}
