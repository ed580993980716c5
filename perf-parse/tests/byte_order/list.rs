//! Arrays that are decoded on access.

use perf_parse::abi::branch::BranchFlags;
use perf_parse::abi::endian::{BigEndian, ByteOrder, Endianness, LittleEndian};
use perf_parse::list::{Branch, List, ListItem};
use perf_parse::record::NamespaceLink;
use proptest::prelude::*;

/// Returns the bytes of words in a byte order.
fn bytes_of(order: Endianness, words: &[u64]) -> Vec<u8> {
    let bytes_of = |word: &u64| match order {
        Endianness::Little => word.to_le_bytes(),
        Endianness::Big => word.to_be_bytes(),
    };
    words.iter().flat_map(bytes_of).collect()
}

/// Checks every method of an array against its values.
fn check<T: ListItem + PartialEq + core::fmt::Debug, O: ByteOrder>(list: List<'_, T, O>, values: &[T]) {
    assert_eq!((list.len(), list.is_empty()), (values.len(), values.is_empty()));
    assert_eq!((list.first(), list.last()), (values.first().copied(), values.last().copied()));
    for index in 0..values.len() + 2 {
        assert_eq!(list.get(index), values.get(index).copied());
        let mut iter = list.iter();
        assert_eq!(iter.nth(index), values.get(index).copied());
        assert_eq!(iter.len(), values.len().saturating_sub(index + 1));
        assert_eq!(iter.next(), values.get(index + 1).copied());
    }
    // An offset that does not fit a `usize`.
    assert_eq!(list.get(usize::MAX), None);
    assert_eq!(list.get(usize::MAX / size_of::<T::Bytes>()), None);
    assert_eq!(list.iter().size_hint(), (values.len(), Some(values.len())));
    assert!(list.iter().eq(values.iter().copied()));
    assert!(list.into_iter().rev().eq(values.iter().rev().copied()));
    // From both ends at once, to the end and after it.
    let (mut iter, mut expected) = (list.iter(), values.iter().copied());
    for _ in 0..values.len() / 2 + 2 {
        assert_eq!((iter.next(), iter.next_back()), (expected.next(), expected.next_back()));
    }
    assert_eq!(list.as_bytes().len(), values.len() * size_of::<T::Bytes>());
    assert_eq!(format!("{list:?}"), format!("{values:?}"));
}

#[test]
fn empty() {
    check::<u64, _>(List::<u64, LittleEndian>::new_in((), &[]), &[]);
    check::<u16, _>(List::<u16>::new_in(Endianness::Big, &[]), &[]);
    assert_eq!(List::<u64>::new_in(Endianness::Big, &[]), List::<u64, LittleEndian>::new_in((), &[]));
}

#[test]
fn an_incomplete_value_is_left_out() {
    let bytes = [1, 0, 2, 0, 3, 0, 4];
    check(List::<u16, LittleEndian>::new_in((), &bytes), &[1, 2, 3]);
    check(List::<u32, LittleEndian>::new_in((), &bytes), &[0x2_0001]);
    check::<u64, _>(List::<u64, LittleEndian>::new_in((), &bytes), &[]);
    check::<NamespaceLink, _>(List::<NamespaceLink>::new_in(Endianness::Little, &[0; 15]), &[]);
    let link = NamespaceLink { dev: 0, ino: 0 };
    check(List::<NamespaceLink>::new_in(Endianness::Little, &[0; 17]), &[link]);
}

#[test]
fn branches_have_the_same_flags_in_both_orders() {
    // In big-endian captures the compiler that wrote the bit-fields allocated them from the highest bit: `mispred`,
    // and a `cycles` of 3.
    let little = bytes_of(Endianness::Little, &[0x1000, 0x2000, 1 | 3 << 4]);
    let big = bytes_of(Endianness::Big, &[0x1000, 0x2000, 1 << 63 | 3 << 44]);
    let flags = BranchFlags(1 | 3 << 4);
    let branch = Branch { from: 0x1000, to: 0x2000, flags, not_taken: false };
    check(List::<Branch, LittleEndian>::new_in((), &little), &[branch]);
    check(List::<Branch, BigEndian>::new_in((), &big), &[branch]);
    check(List::<Branch>::new_in(Endianness::Little, &little), &[branch]);
    check(List::<Branch>::new_in(Endianness::Big, &big), &[branch]);
}

proptest! {
    #[test]
    fn values_do_not_depend_on_the_byte_order(words in prop::collection::vec(any::<u64>(), 0..9)) {
        let little = bytes_of(Endianness::Little, &words);
        let big = bytes_of(Endianness::Big, &words);
        let lists = [
            List::<u64>::new_in(Endianness::Little, &little),
            List::<u64>::new_in(Endianness::Big, &big),
        ];
        let as_types = (List::<u64, LittleEndian>::new_in((), &little), List::<u64, BigEndian>::new_in((), &big));
        lists.iter().for_each(|list| check(*list, &words));
        check(as_types.0, &words);
        check(as_types.1, &words);
        prop_assert!(lists[0] == lists[1] && lists[0] == as_types.1 && as_types.0 == as_types.1);
        let links: Vec<_> = words.chunks_exact(2).map(|pair| NamespaceLink { dev: pair[0], ino: pair[1] }).collect();
        check(List::<NamespaceLink, LittleEndian>::new_in((), &little), &links);
        check(List::<NamespaceLink, BigEndian>::new_in((), &big), &links);
        check(List::<NamespaceLink>::new_in(Endianness::Big, &big), &links);
    }

    #[test]
    fn arrays_with_another_value_or_length_differ(
        words in prop::collection::vec(any::<u64>(), 1..9),
        at: prop::sample::Index,
        bit in 0..64,
    ) {
        let mut other = words.clone();
        other[at.index(words.len())] ^= 1_u64 << bit;
        let (bytes, other) = (bytes_of(Endianness::Little, &words), bytes_of(Endianness::Big, &other));
        let list = List::<u64>::new_in(Endianness::Little, &bytes);
        prop_assert_ne!(list, List::<u64, BigEndian>::new_in((), &other));
        prop_assert_ne!(list, List::<u64, LittleEndian>::new_in((), &bytes[8..]));
    }

    #[test]
    fn smaller_numbers_do_not_depend_on_the_byte_order(
        halves in prop::collection::vec(any::<u16>(), 0..9),
        numbers in prop::collection::vec(any::<u32>(), 0..9),
    ) {
        let little: Vec<_> = halves.iter().flat_map(|it| it.to_le_bytes()).collect();
        let big: Vec<_> = halves.iter().flat_map(|it| it.to_be_bytes()).collect();
        check(List::<u16, LittleEndian>::new_in((), &little), &halves);
        check(List::<u16>::new_in(Endianness::Big, &big), &halves);
        let little: Vec<_> = numbers.iter().flat_map(|it| it.to_le_bytes()).collect();
        let big: Vec<_> = numbers.iter().flat_map(|it| it.to_be_bytes()).collect();
        check(List::<u32>::new_in(Endianness::Little, &little), &numbers);
        check(List::<u32, BigEndian>::new_in((), &big), &numbers);
    }
}
