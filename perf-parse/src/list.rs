//! Arrays of recorded values that are decoded on access.

use core::marker::PhantomData;
use core::slice::ChunksExact;

use perf_abi::branch::{BranchEntry, BranchFlags};
use perf_abi::endian::{BigEndian, ByteOrder, Endianness, LittleEndian};
use zerocopy::FromBytes;

/// An array of recorded values. Borrows the recorded bytes and decodes a value when it is asked for.
///
/// Two arrays are equal if their values are, whatever the byte orders.
#[derive(Clone, Copy)]
pub struct List<'a, T, O: ByteOrder = Endianness> {
    /// A whole number of values.
    bytes: &'a [u8],
    order: O::Value,
    item: PhantomData<T>,
}

/// A value of an array. Sealed.
pub trait Item: Copy + sealed::Sealed {
    /// Number of bytes of a recorded value.
    const SIZE: usize;

    /// Decodes a value; `None` if `bytes` has fewer bytes than a value.
    #[doc(hidden)]
    fn read<O: ByteOrder>(order: O::Value, bytes: &[u8]) -> Option<Self>;
}

pub(crate) mod sealed {
    pub trait Sealed {}
}

/// Implements [`Item`] for numbers.
macro_rules! numbers {
    ($($number:ident)+) => {$(
        impl sealed::Sealed for $number {}
        impl Item for $number {
            const SIZE: usize = size_of::<Self>();

            #[inline(always)]
            fn read<O: ByteOrder>(order: O::Value, bytes: &[u8]) -> Option<Self> {
                Some(O::$number(order, *bytes.first_chunk()?))
            }
        }
    )+};
}

numbers!(u16 u32 u64);

/// Implements [`Item`] for a structure of the ABI: `value` makes the native value from the recorded one.
macro_rules! structures {
    ($($item:ty = $wire:ident |$recorded:pat_param| $value:expr;)+) => {$(
        impl $crate::list::sealed::Sealed for $item {}
        impl $crate::list::Item for $item {
            const SIZE: usize = size_of::<$wire<perf_abi::endian::LittleEndian>>();

            #[inline]
            fn read<O: ByteOrder>(order: O::Value, bytes: &[u8]) -> Option<Self> {
                fn native<O: perf_abi::endian::Endian>(bytes: &[u8]) -> Option<$item> {
                    let $recorded = $wire::<O>::ref_from_prefix(bytes).ok()?.0;
                    Some($value)
                }
                match O::endianness(order) {
                    Endianness::Little => native::<LittleEndian>(bytes),
                    Endianness::Big => native::<BigEndian>(bytes),
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

impl<'a, T: Item, O: ByteOrder> List<'a, T, O> {
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
        let incomplete = bytes.chunks_exact(T::SIZE).remainder().len();
        let bytes = bytes.get(..bytes.len().wrapping_sub(incomplete)).unwrap_or_default();
        Self { bytes, order, item: PhantomData }
    }

    /// An array without values.
    pub(crate) fn empty(order: O::Value) -> Self {
        Self { bytes: &[], order, item: PhantomData }
    }

    /// Returns the first `count` values of `bytes` and the bytes after them; `None` if there are fewer.
    #[inline(always)]
    pub(crate) fn split(order: O::Value, bytes: &'a [u8], count: u64) -> Option<(Self, &'a [u8])> {
        let size = usize::try_from(count).ok()?.checked_mul(T::SIZE)?;
        let (bytes, rest) = bytes.split_at_checked(size)?;
        Some((Self { bytes, order, item: PhantomData }, rest))
    }

    /// Returns the number of values.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.bytes.len().checked_div(T::SIZE).unwrap_or(0)
    }

    /// Returns whether there are no values.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the value at an index; `None` after the last one. Takes constant time.
    #[must_use]
    #[inline]
    pub fn get(&self, index: usize) -> Option<T> {
        T::read::<O>(self.order, self.bytes.get(index.checked_mul(T::SIZE)?..)?)
    }

    /// Returns the first value.
    #[must_use]
    #[inline]
    pub fn first(&self) -> Option<T> {
        self.get(0)
    }

    /// Returns the last value.
    #[must_use]
    #[inline]
    pub fn last(&self) -> Option<T> {
        self.get(self.len().checked_sub(1)?)
    }

    /// Returns the values in their recorded order.
    #[must_use]
    #[inline]
    pub fn iter(&self) -> ListIter<'a, T, O> {
        ListIter { values: self.bytes.chunks_exact(T::SIZE), order: self.order, item: PhantomData }
    }

    /// Returns the bytes of the array as recorded.
    #[must_use]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

impl<T: Item + core::fmt::Debug, O: ByteOrder> core::fmt::Debug for List<'_, T, O> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Item + PartialEq, O: ByteOrder, P: ByteOrder> PartialEq<List<'_, T, P>> for List<'_, T, O> {
    fn eq(&self, other: &List<'_, T, P>) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: Item + Eq, O: ByteOrder> Eq for List<'_, T, O> {}

impl<'a, T: Item, O: ByteOrder> IntoIterator for List<'a, T, O> {
    type Item = T;
    type IntoIter = ListIter<'a, T, O>;

    fn into_iter(self) -> ListIter<'a, T, O> {
        self.iter()
    }
}

/// An iterator over the values of a [`List`].
#[derive(Clone, Debug)]
pub struct ListIter<'a, T, O: ByteOrder = Endianness> {
    values: ChunksExact<'a, u8>,
    order: O::Value,
    item: PhantomData<T>,
}

impl<T: Item, O: ByteOrder> Iterator for ListIter<'_, T, O> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        T::read::<O>(self.order, self.values.next()?)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.values.size_hint()
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<T> {
        T::read::<O>(self.order, self.values.nth(n)?)
    }
}

impl<T: Item, O: ByteOrder> DoubleEndedIterator for ListIter<'_, T, O> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        T::read::<O>(self.order, self.values.next_back()?)
    }
}

impl<T: Item, O: ByteOrder> ExactSizeIterator for ListIter<'_, T, O> {}
impl<T: Item, O: ByteOrder> core::iter::FusedIterator for ListIter<'_, T, O> {}
