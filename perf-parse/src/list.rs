//! Arrays of recorded values that are decoded on access.

use core::slice::Iter;

use perf_abi::branch::{BranchEntry, BranchFlags};
use perf_abi::endian::{BigEndian, ByteOrder, Endianness, LittleEndian};
use zerocopy::{FromBytes, Immutable, IntoBytes, Unaligned};

/// An array of recorded values. Borrows the recorded bytes and decodes a value when it is asked for.
///
/// Two arrays are equal if their values are, whatever the byte orders.
#[derive(Clone, Copy)]
pub struct List<'a, T: ListItem, O: ByteOrder = Endianness> {
    values: &'a [T::Bytes],
    order: O::Value,
}

/// A value of an array. Sealed.
pub trait ListItem: Copy + sealed::Sealed {
    /// The bytes of a recorded value.
    #[doc(hidden)]
    type Bytes: Copy + core::fmt::Debug + FromBytes + IntoBytes + Immutable + Unaligned + 'static;

    /// Decodes a value.
    #[doc(hidden)]
    fn read<O: ByteOrder>(order: O::Value, bytes: &Self::Bytes) -> Self;
}

pub(crate) mod sealed {
    pub trait Sealed {}
}

/// Implements [`ListItem`] for numbers.
macro_rules! numbers {
    ($($number:ident)+) => {$(
        impl sealed::Sealed for $number {}
        impl ListItem for $number {
            type Bytes = [u8; size_of::<Self>()];

            #[inline(always)]
            fn read<O: ByteOrder>(order: O::Value, bytes: &Self::Bytes) -> Self {
                O::$number(order, *bytes)
            }
        }
    )+};
}

numbers!(u16 u32 u64);

/// Implements [`ListItem`] for a structure of the ABI: `value` makes the native value from the recorded one.
macro_rules! structures {
    ($($item:ty = $wire:ident |$recorded:pat_param| $value:expr;)+) => {$(
        impl $crate::list::sealed::Sealed for $item {}
        impl $crate::list::ListItem for $item {
            type Bytes = [u8; size_of::<$wire<perf_abi::endian::LittleEndian>>()];

            #[inline]
            fn read<O: perf_abi::endian::ByteOrder>(order: O::Value, bytes: &Self::Bytes) -> Self {
                match O::endianness(order) {
                    perf_abi::endian::Endianness::Little => {
                        let $recorded: $wire<perf_abi::endian::LittleEndian> = zerocopy::transmute!(*bytes);
                        $value
                    }
                    perf_abi::endian::Endianness::Big => {
                        let $recorded: $wire<perf_abi::endian::BigEndian> = zerocopy::transmute!(*bytes);
                        $value
                    }
                }
            }
        }
    )+};
}
pub(crate) use structures;

/// A branch of a branch stack.
///
/// Kernel: `struct perf_branch_entry`; since Linux 3.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Branch {
    /// Address of the branch instruction.
    pub from: u64,
    /// Address of the target.
    pub to: u64,
    /// The flags of the branch, in the same layout for both byte orders.
    pub flags: BranchFlags,
    /// Whether the perf tool marked the branch as not taken, in a branch stack synthesised from AUX data.
    pub not_taken: bool,
}

structures! {
    Branch = BranchEntry |it| Branch {
        from: it.from.get(),
        to: it.to.get(),
        flags: it.flags(),
        not_taken: it.not_taken(),
    };
}

impl<'a, T: ListItem, O: ByteOrder> List<'a, T, O> {
    /// Returns the array in `bytes`, which are in the byte order `order`. Takes constant time. An incomplete value at
    /// the end is not part of the array.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::abi::endian::{Endianness, LittleEndian};
    /// use perf_parse::list::List;
    ///
    /// let big = List::<u16>::new_in(Endianness::Big, &[0, 1, 0, 2]);
    /// assert!(big.iter().eq([1, 2]));
    /// assert_eq!(big, List::<u16, LittleEndian>::new_in((), &[1, 0, 2, 0, 3]));
    /// ```
    #[must_use]
    pub fn new_in(order: O::Value, bytes: &'a [u8]) -> Self {
        let count = bytes.len().checked_div(size_of::<T::Bytes>()).unwrap_or(0);
        let values = <[T::Bytes]>::ref_from_prefix_with_elems(bytes, count);
        Self::of(order, values.map_or(&[], |(values, _)| values))
    }

    /// Returns the array of these values.
    #[inline]
    pub(crate) fn of(order: O::Value, values: &'a [T::Bytes]) -> Self {
        Self { values, order }
    }

    /// Returns an array without values.
    #[inline]
    pub(crate) fn empty(order: O::Value) -> Self {
        Self::of(order, &[])
    }

    /// Returns the number of values.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns whether there are no values.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the value at an index; `None` after the last one. Takes constant time.
    #[must_use]
    #[inline]
    pub fn get(&self, index: usize) -> Option<T> {
        self.values.get(index).map(|bytes| T::read::<O>(self.order, bytes))
    }

    /// Returns the first value.
    #[must_use]
    #[inline]
    pub fn first(&self) -> Option<T> {
        self.iter().next()
    }

    /// Returns the last value.
    #[must_use]
    #[inline]
    pub fn last(&self) -> Option<T> {
        self.iter().next_back()
    }

    /// Returns the values in their recorded order.
    #[must_use]
    #[inline]
    pub fn iter(&self) -> ListIter<'a, T, O> {
        ListIter { values: self.values.iter(), order: self.order }
    }

    /// Returns some of the values; `None` if there are not as many.
    pub(crate) fn part(&self, range: core::ops::Range<usize>) -> Option<Self> {
        self.values.get(range).map(|values| Self::of(self.order, values))
    }

    /// Returns the bytes of the array as recorded.
    #[must_use]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.values.as_bytes()
    }
}

impl<T: ListItem + core::fmt::Debug, O: ByteOrder> core::fmt::Debug for List<'_, T, O> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// A sequence of the values.
#[cfg(feature = "serde")]
impl<T: ListItem + serde::Serialize, O: ByteOrder> serde::Serialize for List<'_, T, O> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.iter())
    }
}

impl<T: ListItem + PartialEq, O: ByteOrder, P: ByteOrder> PartialEq<List<'_, T, P>> for List<'_, T, O> {
    fn eq(&self, other: &List<'_, T, P>) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: ListItem + Eq, O: ByteOrder> Eq for List<'_, T, O> {}

/// Equal arrays have equal hashes, whatever their byte orders.
impl<T: ListItem + core::hash::Hash, O: ByteOrder> core::hash::Hash for List<'_, T, O> {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.len().hash(state);
        self.iter().for_each(|value| value.hash(state));
    }
}

impl<'a, T: ListItem, O: ByteOrder> IntoIterator for List<'a, T, O> {
    type Item = T;
    type IntoIter = ListIter<'a, T, O>;

    fn into_iter(self) -> ListIter<'a, T, O> {
        self.iter()
    }
}

/// An iterator over the values of a [`List`].
#[derive(Clone, Debug)]
pub struct ListIter<'a, T: ListItem, O: ByteOrder = Endianness> {
    values: Iter<'a, T::Bytes>,
    order: O::Value,
}

impl<T: ListItem, O: ByteOrder> Iterator for ListIter<'_, T, O> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.values.next().map(|bytes| T::read::<O>(self.order, bytes))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.values.size_hint()
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<T> {
        self.values.nth(n).map(|bytes| T::read::<O>(self.order, bytes))
    }

    #[inline]
    fn fold<B, F: FnMut(B, T) -> B>(self, init: B, mut f: F) -> B {
        // One loop for each order, so that no loop checks the order again for every value.
        match O::endianness(self.order) {
            Endianness::Little => {
                self.values.fold(init, |sum, bytes| f(sum, T::read::<LittleEndian>((), bytes)))
            }
            Endianness::Big => self.values.fold(init, |sum, bytes| f(sum, T::read::<BigEndian>((), bytes))),
        }
    }
}

impl<T: ListItem, O: ByteOrder> DoubleEndedIterator for ListIter<'_, T, O> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        self.values.next_back().map(|bytes| T::read::<O>(self.order, bytes))
    }
}

impl<T: ListItem, O: ByteOrder> ExactSizeIterator for ListIter<'_, T, O> {}
impl<T: ListItem, O: ByteOrder> core::iter::FusedIterator for ListIter<'_, T, O> {}
