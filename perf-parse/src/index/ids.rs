//! Sets of CPUs and of thread ids, bounded in size.

use alloc::vec::Vec;

use super::error::IndexError;
use super::fields::{EncodedFields, put};

/// Maximum number of ids that a set lists.
pub(super) const MAX_IDS: usize = 256;

/// A set that is being built.
#[derive(Clone, Debug, Default)]
pub(super) struct IdSet {
    /// In ascending order; empty if there are too many.
    ids: Vec<u32>,
    has_too_many: bool,
    /// The id that was inserted last, which is often the next one too.
    last: Option<u32>,
}

impl IdSet {
    #[inline]
    pub(super) fn insert(&mut self, id: u32) {
        if self.last != Some(id) && !self.has_too_many {
            self.last = Some(id);
            self.insert_other(id);
        }
    }

    fn insert_other(&mut self, id: u32) {
        let Err(at) = self.ids.binary_search(&id) else { return };
        if self.ids.len() < MAX_IDS {
            self.ids.insert(at, id);
        } else {
            self.set_too_many();
        }
    }

    fn set_too_many(&mut self) {
        self.has_too_many = true;
        self.ids.clear();
    }

    pub(super) fn insert_all(&mut self, ids: &EncodedIds<'_>) {
        match ids.iter() {
            Some(ids) => ids.for_each(|id| self.insert(id)),
            None => self.set_too_many(),
        }
    }

    /// Returns the encoded set; `None` if it has too many ids.
    pub(super) fn encode(&self) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        // The smallest id that may come next.
        let mut next = 0_u64;
        for &id in &self.ids {
            put(&mut out, u64::from(id).saturating_sub(next));
            next = u64::from(id).saturating_add(1);
        }
        (!self.has_too_many).then_some(out)
    }
}

/// An encoded set: the distance of each id from the smallest id that can come; `None` for a set with too many ids.
#[derive(Clone, Debug)]
pub(super) struct EncodedIds<'a>(pub(super) Option<EncodedFields<'a>>);

impl<'a> EncodedIds<'a> {
    /// Returns the ids in ascending order; `None` if there are too many.
    pub(super) fn iter(&self) -> Option<impl Iterator<Item = u32> + use<'a>> {
        let mut fields = self.0.clone()?;
        let mut next = 0;
        Some(core::iter::from_fn(move || take(&mut fields, &mut next, "id").ok().flatten()))
    }

    /// Returns whether the set may contain an id.
    pub(super) fn may_contain(&self, id: u32) -> bool {
        self.iter().is_none_or(|mut ids| ids.any(|it| it == id))
    }

    pub(super) fn check(&self, field: &'static str) -> Result<(), IndexError> {
        let Some(mut fields) = self.0.clone() else { return Ok(()) };
        let (start, mut next, mut count) = (fields.offset(), 0, 0_usize);
        while take(&mut fields, &mut next, field)?.is_some() {
            count = count.saturating_add(1);
        }
        if count > MAX_IDS {
            return Err(IndexError::invalid(field, "at most 256 ids", start));
        }
        Ok(())
    }
}

/// Takes the next id; `None` after the last. `next` is the smallest id that may come.
fn take(
    fields: &mut EncodedFields<'_>,
    next: &mut u64,
    field: &'static str,
) -> Result<Option<u32>, IndexError> {
    if fields.is_empty() {
        return Ok(None);
    }
    let start = fields.offset();
    let id = fields.number(field)?.checked_add(*next).and_then(|id| u32::try_from(id).ok());
    let id = id.ok_or(IndexError::invalid(field, "a number of 32 bits", start))?;
    *next = u64::from(id).saturating_add(1);
    Ok(Some(id))
}
