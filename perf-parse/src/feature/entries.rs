//! Lists in sections.

use alloc::vec::Vec;
use core::fmt::{Debug, Formatter};

use perf_abi::endian::{BigEndian, Endian, Endianness, LittleEndian};

use super::codec::{Fault, SectionField, number, put_count};
use super::value::{FieldValue, Items};
use crate::cursor::Cursor;
use crate::error::Error;

/// A list in a section: of numbers, strings or structs. Borrows the bytes of the section, which were checked when the
/// section was decoded, and decodes each entry again when it is requested. It allocates nothing.
///
/// A list to be encoded is made from a slice of entries.
///
/// # Examples
///
/// ```
/// use perf_parse::feature::{Entries, GroupDesc};
///
/// let groups = [GroupDesc { name: b"loads".into(), leader_idx: 0, nr_members: 2 }];
/// let entries = Entries::from(&groups);
/// assert_eq!(entries.len(), 1);
/// assert_eq!(entries.iter().next(), Some(groups[0]));
/// ```
pub struct Entries<'a, T>(EntrySource<'a, T>);

/// The source of the entries.
enum EntrySource<'a, T> {
    /// The bytes of a section, which have been decoded once without a fault.
    Recorded { bytes: &'a [u8], len: usize, order: Endianness, context: u32 },
    /// The caller.
    Given(&'a [T]),
}

impl<'a, T> Entries<'a, T> {
    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        match self.0 {
            EntrySource::Recorded { len, .. } => len,
            EntrySource::Given(entries) => entries.len(),
        }
    }

    /// Returns whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the entries in the order of the section.
    #[must_use]
    pub fn iter(&self) -> EntriesIter<'a, T> {
        EntriesIter(*self)
    }

    /// Returns the entries that were decoded between two cursors.
    pub(super) fn between<O: Endian>(from: &Cursor<'a>, to: &Cursor<'a>, len: u64, context: u32) -> Self {
        let used = from.rest().len().saturating_sub(to.rest().len());
        let bytes = from.rest().get(..used).unwrap_or_default();
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        Self(EntrySource::Recorded { bytes, len, order: O::ENDIANNESS, context })
    }

    /// Takes an array of `nr` numbers or structs of `N` bytes each.
    pub(super) fn array<O: Endian, const N: usize>(
        at: &mut Cursor<'a>,
        nr: u64,
        name: &'static str,
    ) -> Result<Self, Error> {
        let from = *at;
        at.array::<[u8; N]>(nr, name)?;
        Ok(Self::between::<O>(&from, at, nr, 0))
    }

    /// Takes `nr` entries. `name` is the name of an entry that is a number or a string.
    pub(super) fn of<O: Endian>(
        at: &mut Cursor<'a>,
        nr: u64,
        name: &'static str,
        context: u32,
    ) -> Result<Self, Error>
    where
        T: SectionField<'a>,
    {
        let from = *at;
        for _ in 0..nr {
            T::take::<O>(at, name, context)?;
        }
        Ok(Self::between::<O>(&from, at, nr, context))
    }

    /// Takes a 32-bit count with the name `nr`, and that number of entries.
    pub(super) fn counted<O: Endian>(
        at: &mut Cursor<'a>,
        nr: &'static str,
        name: &'static str,
        context: u32,
    ) -> Result<Self, Error>
    where
        T: SectionField<'a>,
    {
        let count = number::<O>(at, nr)?;
        Self::of::<O>(at, u64::from(count), name, context)
    }

    /// Appends the entries without a count.
    pub(super) fn put_all<O: Endian>(&self, out: &mut Vec<u8>, name: &'static str) -> Result<(), Fault>
    where
        T: SectionField<'a>,
    {
        self.iter().try_for_each(|entry| entry.put::<O>(out, name))
    }
}

/// A list with a 32-bit count, which has the given name. An entry that is a string is a `string`.
impl<'a, T: SectionField<'a>> SectionField<'a> for Entries<'a, T> {
    fn take<O: Endian>(at: &mut Cursor<'a>, name: &'static str, context: u32) -> Result<Self, Error> {
        Self::counted::<O>(at, name, "string", context)
    }

    fn put<O: Endian>(&self, out: &mut Vec<u8>, name: &'static str) -> Result<(), Fault> {
        put_count::<O>(out, self.len(), name)?;
        self.put_all::<O>(out, "string")
    }

    fn value(&self) -> FieldValue<'_> {
        FieldValue::List(self)
    }
}

impl<'a, T: SectionField<'a>> Items for Entries<'a, T> {
    fn each(&self, to: &mut dyn FnMut(FieldValue<'_>)) {
        self.iter().for_each(|entry| to(entry.value()));
    }
}

impl<T> Clone for Entries<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Entries<'_, T> {}

impl<T> Clone for EntrySource<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for EntrySource<'_, T> {}

/// The empty list.
impl<T> Default for Entries<'_, T> {
    fn default() -> Self {
        Self(EntrySource::Given(&[]))
    }
}

impl<'a, T> From<&'a [T]> for Entries<'a, T> {
    fn from(entries: &'a [T]) -> Self {
        Self(EntrySource::Given(entries))
    }
}

impl<'a, T, const N: usize> From<&'a [T; N]> for Entries<'a, T> {
    fn from(entries: &'a [T; N]) -> Self {
        Self(EntrySource::Given(entries))
    }
}

impl<'a, T> From<&'a Vec<T>> for Entries<'a, T> {
    fn from(entries: &'a Vec<T>) -> Self {
        Self(EntrySource::Given(entries))
    }
}

impl<'a, T: SectionField<'a>> Debug for Entries<'a, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// A sequence of the entries.
#[cfg(feature = "serde")]
impl<'a, T: SectionField<'a>> serde::Serialize for Entries<'a, T> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(to)
    }
}

/// Two lists are equal if their entries are, whatever the byte orders.
impl<'a, T: SectionField<'a> + PartialEq> PartialEq for Entries<'a, T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<'a, T: SectionField<'a> + Eq> Eq for Entries<'a, T> {}

impl<'a, T: SectionField<'a> + PartialEq, const N: usize> PartialEq<[T; N]> for Entries<'a, T> {
    fn eq(&self, other: &[T; N]) -> bool {
        self.iter().eq(other.iter().copied())
    }
}

impl<'a, T: SectionField<'a>> IntoIterator for Entries<'a, T> {
    type Item = T;
    type IntoIter = EntriesIter<'a, T>;

    fn into_iter(self) -> EntriesIter<'a, T> {
        self.iter()
    }
}

/// An iterator over the entries of a list; made by [`Entries::iter`].
#[derive(Clone)]
pub struct EntriesIter<'a, T>(Entries<'a, T>);

impl<'a, T: SectionField<'a>> Debug for EntriesIter<'a, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("EntriesIter").field(&self.0).finish()
    }
}

impl<'a, T: SectionField<'a>> Iterator for EntriesIter<'a, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        match &mut self.0.0 {
            EntrySource::Recorded { bytes, len, order, context } => {
                *len = len.checked_sub(1)?;
                let mut at = Cursor::new(bytes, 0);
                // The entry was decoded before, so it has no fault, and no error that would need its name.
                let entry = match order {
                    Endianness::Little => T::take::<LittleEndian>(&mut at, "", *context),
                    Endianness::Big => T::take::<BigEndian>(&mut at, "", *context),
                };
                *bytes = at.rest();
                entry.ok()
            }
            EntrySource::Given(entries) => {
                let (entry, rest) = entries.split_first()?;
                *entries = rest;
                Some(*entry)
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.len(), Some(self.0.len()))
    }
}

impl<'a, T: SectionField<'a>> ExactSizeIterator for EntriesIter<'a, T> {}
impl<'a, T: SectionField<'a>> core::iter::FusedIterator for EntriesIter<'a, T> {}
