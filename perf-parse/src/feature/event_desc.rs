//! `EVENT_DESC`: attr, name and ids of each event.

use alloc::vec::Vec;

use perf_abi::attr::{Attr, AttrVersion};
use perf_abi::endian::Endian;

use super::codec::{Fault, SectionField, number, put_count, put_number};
use super::{Entries, FeatureSection, FieldValue, Fields};
use crate::byte_str::ByteStr;
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind, FileError, FileErrorKind};

/// The events of a capture.
///
/// perf: `write_event_desc`, `tools/perf/util/header.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventDescs<'a> {
    /// Size of each attr in bytes.
    pub attr_size: u32,
    /// The events.
    pub events: Entries<'a, EventDesc<'a>>,
}

/// An event as `EVENT_DESC` describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventDesc<'a> {
    /// The event's attr, the same as in the attr section.
    pub attr: Attr,
    /// The bytes of the attr after the fields that this crate knows.
    pub attr_tail: &'a [u8],
    /// The event's name.
    pub name: ByteStr<'a>,
    /// The event's ids.
    pub ids: Entries<'a, u64>,
}

/// Decodes the events before the first fault, and returns the fault.
pub(super) fn until_fault<'a, O: Endian>(
    section: &FeatureSection<'a>,
) -> (EventDescs<'a>, Option<FileError>) {
    let mut at = Cursor::new(section.bytes, 0);
    let none = EventDescs { attr_size: 0, events: Entries::default() };
    let head = |at: &mut _| Ok((number::<O>(at, "nr")?, number::<O>(at, "attr_size")?));
    let (nr, attr_size) = match head(&mut at) {
        Ok(head) => head,
        Err(error) => return (none, Some(section.error(error))),
    };
    let from = at;
    let events = |at: &Cursor<'a>, nr| EventDescs {
        attr_size,
        events: Entries::between::<O>(&from, at, u64::from(nr), attr_size),
    };
    for read in 0..nr {
        let before = at;
        let offset = section.offset.saturating_add(u64::from(at.offset()));
        let attr = before.rest().get(..attr_size as usize).map(Attr::read::<O>);
        let error = match (EventDesc::take::<O>(&mut at, "", attr_size), attr) {
            (Ok(_), _) => continue,
            (Err(_), Some(Err(error))) => FileError::new(FileErrorKind::Attr(error), offset),
            (Err(error), _) => section.error(error),
        };
        return (events(&before, read), Some(error));
    }
    (events(&at, nr), section.finish(&at).err().map(|error| section.error(error)))
}

pub(super) fn decode<'a, O: Endian>(section: &FeatureSection<'a>) -> Result<EventDescs<'a>, FileError> {
    FeatureSection::all(until_fault::<O>(section))
}

pub(super) fn encode<O: Endian>(descs: &EventDescs<'_>, out: &mut Vec<u8>) -> Result<(), Fault> {
    put_count::<O>(out, descs.events.len(), "nr")?;
    put_number::<O>(out, descs.attr_size);
    descs.events.iter().try_for_each(|event| {
        put_attr::<O>(out, &event, descs.attr_size)?;
        put_named::<O>(out, event.name, event.ids)
    })
}

/// Appends an attr of `size` bytes.
fn put_attr<O: Endian>(out: &mut Vec<u8>, event: &EventDesc<'_>, size: u32) -> Result<(), Fault> {
    let fits = |version: &&AttrVersion| version.size() <= size;
    let version = AttrVersion::ALL.iter().rev().find(fits).ok_or(("attr_size", "at least 64"))?;
    let bytes =
        event.attr.write::<O>(*version).map_err(|error| (error.field, "zero in attrs of attr_size"))?;
    // The field `size` of the attr is written as recorded: it may be 0, which the first kernels allowed.
    put_sized::<O>(out, &bytes, event.attr.size);
    let tail = (size as usize).saturating_sub(version.size() as usize);
    let unused = tail.checked_sub(event.attr_tail.len()).ok_or(("attr_tail", "within attr_size"))?;
    out.extend_from_slice(event.attr_tail);
    out.extend(core::iter::repeat_n(0, unused));
    Ok(())
}

/// Appends the bytes of an attr, with its field `size` set to `size`.
pub(crate) fn put_sized<O: Endian>(out: &mut Vec<u8>, attr: &[u8], size: u32) {
    let (kind, rest) = attr.split_at(attr.len().min(4));
    out.extend_from_slice(kind);
    put_number::<O>(out, size);
    out.extend_from_slice(rest.get(4..).unwrap_or_default());
}

/// Appends the fields after the attr of an event: the number of ids, the name and the ids.
pub(crate) fn put_named<O: Endian>(
    out: &mut Vec<u8>,
    name: ByteStr<'_>,
    ids: Entries<'_, u64>,
) -> Result<(), Fault> {
    put_count::<O>(out, ids.len(), "ids")?;
    name.put::<O>(out, "name")?;
    ids.put_all::<O>(out, "")
}

impl<'a> SectionField<'a> for EventDesc<'a> {
    fn take<O: Endian>(at: &mut Cursor<'a>, _: &'static str, attr_size: u32) -> Result<Self, Error> {
        let offset = at.offset();
        let attr = at.bytes(u64::from(attr_size), "attr")?;
        // `until_fault` returns the error of the attr itself.
        let attr =
            Attr::read::<O>(attr).map_err(|_| Error::new(ErrorKind::AttrSize { size: attr_size }, offset))?;
        let nr_ids = number::<O>(at, "nr_ids")?;
        let name = SectionField::take::<O>(at, "name", 0)?;
        let ids = Entries::array::<O, 8>(at, u64::from(nr_ids), "ids")?;
        Ok(Self { attr: attr.attr, attr_tail: attr.tail, name, ids })
    }

    fn put<O: Endian>(&self, out: &mut Vec<u8>, _: &'static str) -> Result<(), Fault> {
        put_attr::<O>(out, self, self.attr.size)?;
        put_named::<O>(out, self.name, self.ids)
    }

    fn value(&self) -> FieldValue<'_> {
        FieldValue::Object(self)
    }
}

/// The attr is left out, because the events of the capture have it.
impl Fields for EventDesc<'_> {
    fn each(&self, to: &mut dyn FnMut(&'static str, FieldValue<'_>)) {
        to("name", FieldValue::Text(self.name));
        to("ids", self.ids.value());
    }
}

impl EventDescs<'_> {
    pub(super) fn value(&self) -> FieldValue<'_> {
        self.events.value()
    }
}
