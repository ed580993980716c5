//! Events: attrs, names, ids, groups.

use alloc::vec::Vec;

use perf_abi::attr::Attr;
use perf_abi::endian::{Endian, U64};

use super::FeatureSection;
use super::fields::{STRING, list, number, string};
use crate::cursor::Cursor;
use crate::error::{FileError, FileErrorKind};

impl<'a> FeatureSection<'a> {
    /// Decodes `EVENT_DESC`: each event's attr, name and ids.
    ///
    /// The iterator ends after the first error, which is [`FileErrorKind::Feature`], or [`FileErrorKind::Attr`] for an
    /// attr.
    #[must_use]
    pub fn event_desc<O: Endian>(&self) -> EventDescs<'a, O> {
        EventDescs {
            section: *self,
            at: Cursor::new(self.bytes, 0),
            left: None,
            order: core::marker::PhantomData,
        }
    }

    /// Decodes `GROUP_DESC`: the groups of more than one event.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn group_desc<O: Endian>(&self) -> Result<Vec<GroupDesc<'a>>, FileError> {
        self.whole(|at| {
            list::<O, _>(at, "nr", STRING + 8, |at| {
                Ok(GroupDesc {
                    name: string::<O>(at, "name")?,
                    leader_idx: number::<O>(at, "leader_idx")?,
                    nr_members: number::<O>(at, "nr_members")?,
                })
            })
        })
    }
}

/// A group of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupDesc<'a> {
    /// Name of the group; `{anon_group}` if it has none.
    pub name: &'a [u8],
    /// Index of the leader among the events.
    pub leader_idx: u32,
    /// Number of events in the group, including the leader.
    pub nr_members: u32,
}

/// An event as the feature `EVENT_DESC` describes it.
#[derive(Clone, Copy, Debug)]
pub struct EventDesc<'a, O: Endian> {
    /// The event's attr, the same as in the attr section.
    pub attr: Attr,
    /// The event's name.
    pub name: &'a [u8],
    /// The event's ids.
    pub ids: &'a [U64<O>],
}

/// An iterator over the events of the feature `EVENT_DESC`; made by [`FeatureSection::event_desc`].
#[derive(Clone, Debug)]
pub struct EventDescs<'a, O: Endian> {
    section: FeatureSection<'a>,
    at: Cursor<'a>,
    /// Number of events left and size of an attr; `None` before the first event.
    left: Option<(u32, u32)>,
    order: core::marker::PhantomData<O>,
}

impl<'a, O: Endian> EventDescs<'a, O> {
    fn take(&mut self) -> Result<Option<EventDesc<'a, O>>, FileError> {
        let section = self.section;
        let at = &mut self.at;
        let error = |error| section.error(error);
        let (left, attr_size) = match self.left {
            Some(left) => left,
            None => (number::<O>(at, "nr").map_err(error)?, number::<O>(at, "attr_size").map_err(error)?),
        };
        let Some(remaining) = left.checked_sub(1) else {
            return section.finish(at).map(|()| None).map_err(error);
        };
        self.left = Some((remaining, attr_size));
        let offset = section.offset.saturating_add(u64::from(at.offset()));
        let attr = at.bytes(u64::from(attr_size), "attr").map_err(error)?;
        let attr =
            Attr::read::<O>(attr).map_err(|error| FileError::new(FileErrorKind::Attr(error), offset))?.attr;
        let nr_ids = number::<O>(at, "nr_ids").map_err(error)?;
        let name = string::<O>(at, "name").map_err(error)?;
        let ids = at.array(u64::from(nr_ids), "ids").map_err(error)?;
        Ok(Some(EventDesc { attr, name, ids }))
    }
}

impl<'a, O: Endian> Iterator for EventDescs<'a, O> {
    type Item = Result<EventDesc<'a, O>, FileError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == Some((0, 0)) {
            return None;
        }
        let event = self.take();
        if !matches!(event, Ok(Some(_))) {
            self.left = Some((0, 0));
        }
        event.transpose()
    }
}
