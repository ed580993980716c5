//! Vector and predicate registers, which are provisional.

use core::ops::Range;

use perf_abi::endian::{ByteOrder, Endianness};

use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind};
use crate::list::List;

/// Vector and predicate registers of a sample, after its general registers. Borrows from the record.
///
/// The ABI is in review and no released kernel has it: see [`provisional`](perf_abi::provisional::simd_regs). Samples that have
/// these registers are decoded only with
/// [`SampleLayout::with_provisional_abi`](crate::SampleLayout::with_provisional_abi).
///
/// Kernel: `perf_output_sample_regs`, in review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(bound = ""))]
pub struct SimdRegs<'a, O: ByteOrder = Endianness> {
    /// Number of vector registers.
    pub nr_vectors: u16,
    /// Words of 8 bytes of each vector register: 2 for XMM, 4 for YMM, 8 for ZMM.
    pub vector_qwords: u16,
    /// Number of predicate registers.
    pub nr_pred: u16,
    /// Words of 8 bytes of each predicate register.
    pub pred_qwords: u16,
    /// The words of the vector registers, then those of the predicate registers; of each register the lowest first. The last
    /// word may be missing if [`Readings::stack_user`](super::Readings::stack_user) says so.
    pub data: List<'a, u64, O>,
}

impl<'a, O: ByteOrder> SimdRegs<'a, O> {
    /// Returns the words of a vector register, lowest first, by its position in the sample; `None` if the sample does not
    /// have all its words.
    #[must_use]
    pub fn vector(&self, index: u16) -> Option<List<'a, u64, O>> {
        self.register(0, (self.nr_vectors, self.vector_qwords), index)
    }

    /// Returns the words of a predicate register, as [`vector`](Self::vector) does.
    #[must_use]
    pub fn predicate(&self, index: u16) -> Option<List<'a, u64, O>> {
        self.register(words(self.nr_vectors, self.vector_qwords), (self.nr_pred, self.pred_qwords), index)
    }

    /// Returns the words of each vector register, in their recorded order.
    pub fn vectors(&self) -> impl Iterator<Item = List<'a, u64, O>> + Clone + use<'a, O> {
        let it = *self;
        (0..it.nr_vectors).map_while(move |index| it.vector(index))
    }

    /// Returns the words of each predicate register, in their recorded order.
    pub fn predicates(&self) -> impl Iterator<Item = List<'a, u64, O>> + Clone + use<'a, O> {
        let it = *self;
        (0..it.nr_pred).map_while(move |index| it.predicate(index))
    }

    /// Returns the words of a register among those that begin at the word `start`.
    fn register(&self, start: u64, (nr, qwords): (u16, u16), index: u16) -> Option<List<'a, u64, O>> {
        if index >= nr {
            return None;
        }
        let start = usize::try_from(start.checked_add(words(index, qwords))?).ok()?;
        self.data.part(Range { start, end: start.checked_add(qwords.into())? })
    }
}

/// Returns the number of the register at a position in a sample: YMM`n` has the number `n`. `mask` are the registers that the
/// attr asks for, and `nr` is how many the sample has. `None` if the sample does not have all of them, because a
/// sample does not say which.
///
/// # Examples
///
/// ```
/// use perf_parse::sample::simd_register_number;
///
/// assert_eq!(simd_register_number(0b1010, 2, 1), Some(3));
/// assert_eq!(simd_register_number(0b1010, 1, 0), None);
/// ```
#[must_use]
pub fn simd_register_number(mask: u64, nr: u16, index: u16) -> Option<u32> {
    if mask.count_ones() != u32::from(nr) || index >= nr {
        return None;
    }
    let mut left = mask;
    for _ in 0..index {
        left &= left.wrapping_sub(1);
    }
    Some(left.trailing_zeros())
}

/// Returns the words of registers.
fn words(nr: u16, qwords: u16) -> u64 {
    u64::from(nr).wrapping_mul(u64::from(qwords))
}

/// Which registers of a sample, with the names of their fields.
pub(super) struct SimdFields {
    pub(super) header: &'static str,
    pub(super) vector_qwords: &'static str,
    pub(super) pred_qwords: &'static str,
    pub(super) data: &'static str,
}

/// The registers of user space.
pub(super) const USER: SimdFields = SimdFields {
    header: "simd_regs_user",
    vector_qwords: "simd_regs_user.vector_qwords",
    pred_qwords: "simd_regs_user.pred_qwords",
    data: "simd_regs_user.data",
};

/// The registers at the interrupt.
pub(super) const INTR: SimdFields = SimdFields {
    header: "simd_regs_intr",
    vector_qwords: "simd_regs_intr.vector_qwords",
    pred_qwords: "simd_regs_intr.pred_qwords",
    data: "simd_regs_intr.data",
};

/// Takes the registers from `at`. The last 8 bytes of the sample are missing if it is `cut`.
///
/// Returns the registers, or `None` if their header is what is missing; whether the sample is still to end 8 bytes early; and
/// the cursor after them. The arguments are values, so that the caller keeps its state in registers.
///
/// # Errors
///
/// [`ErrorKind::Truncated`] for registers that do not fit; [`ErrorKind::Malformed`] for registers without words, of which a
/// record of 40 bytes could announce 65,535.
#[cold]
#[inline(never)]
pub(super) fn take<'a, O: ByteOrder>(
    order: O::Value,
    mut at: Cursor<'a>,
    cut: bool,
    fields: &SimdFields,
) -> Result<(Option<SimdRegs<'a, O>>, bool, Cursor<'a>), Error> {
    if cut && at.rest().is_empty() {
        return Ok((None, false, at));
    }
    let offset = at.offset();
    let [nr_vectors, vector_qwords, nr_pred, pred_qwords] =
        at.fixed::<[[u8; 2]; 4]>(fields.header)?.map(|bytes| O::u16(order, bytes));
    for (nr, qwords, field, after) in
        [(nr_vectors, vector_qwords, fields.vector_qwords, 2), (nr_pred, pred_qwords, fields.pred_qwords, 6)]
    {
        if nr != 0 && qwords == 0 {
            let kind = ErrorKind::Malformed { field, must: "at least 1, because there are such registers" };
            return Err(Error::new(kind, offset.saturating_add(after)));
        }
    }
    let count = words(nr_vectors, vector_qwords).wrapping_add(words(nr_pred, pred_qwords));
    let bytes = at.rest().len() as u64;
    let is_cut_here = cut && bytes.checked_add(8) == Some(count.wrapping_mul(8));
    let there = if is_cut_here { count.saturating_sub(1) } else { count };
    let data = at.list(order, there, fields.data)?;
    let regs = SimdRegs { nr_vectors, vector_qwords, nr_pred, pred_qwords, data };
    Ok((Some(regs), cut && !is_cut_here, at))
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use alloc::{vec, vec::Vec};

    use perf_abi::endian::LittleEndian;

    use super::*;

    fn taken(bytes: &[u8], cut: bool) -> Result<(Option<SimdRegs<'_, LittleEndian>>, bool, usize), Error> {
        let (regs, cut, at) = take((), Cursor::new(bytes, 8), cut, &USER)?;
        Ok((regs, cut, at.rest().len()))
    }

    /// The bytes of a header and of `words`, which count from 1.
    fn bytes(header: [u16; 4], words: u64) -> Vec<u8> {
        let mut bytes: Vec<u8> = header.iter().flat_map(|it| it.to_le_bytes()).collect();
        (1..=words).for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        bytes
    }

    fn lists<'a>(lists: impl Iterator<Item = List<'a, u64, LittleEndian>>) -> Vec<Vec<u64>> {
        lists.map(|list| list.iter().collect()).collect()
    }

    #[test]
    fn registers_are_cut_into_words() {
        let bytes = bytes([2, 2, 3, 1], 8);
        let (regs, cut, left) = taken(&bytes, false).unwrap();
        let regs = regs.unwrap();
        assert_eq!((cut, left), (false, 8));
        assert_eq!(lists(regs.vectors()), [[1, 2], [3, 4]]);
        assert_eq!(lists(regs.predicates()), [[5], [6], [7]]);
        assert_eq!((regs.vector(2), regs.predicate(3)), (None, None));
    }

    #[test]
    fn no_registers() {
        for header in [[0, 0, 0, 0], [0, 8, 0, 1]] {
            let bytes = bytes(header, 0);
            let (regs, cut, left) = taken(&bytes, true).unwrap();
            let regs = regs.unwrap();
            assert_eq!((cut, left, regs.vectors().count(), regs.predicates().count()), (true, 0, 0, 0));
        }
    }

    #[test]
    fn registers_that_do_not_fit() {
        let refused = |bytes: &[u8], cut| taken(bytes, cut).unwrap_err();
        let truncated = |field, needed, available, offset| {
            Error::new(ErrorKind::Truncated { field, needed, available }, offset)
        };
        assert_eq!(refused(&[0; 7], false), truncated("simd_regs_user", 8, 7, 8));
        let data = "simd_regs_user.data";
        assert_eq!(refused(&bytes([1, 2, 0, 0], 1), false), truncated(data, 16, 8, 16));
        assert_eq!(refused(&bytes([1, 2, 1, 2], 2), true), truncated(data, 32, 16, 16));
        let most = 2 * 65_535 * 65_535 * 8;
        assert_eq!(refused(&bytes([u16::MAX; 4], 1), false), truncated(data, most, 8, 16));
        let must = "at least 1, because there are such registers";
        let malformed = |field, offset| Error::new(ErrorKind::Malformed { field, must }, offset);
        let (vectors, preds) = ("simd_regs_user.vector_qwords", "simd_regs_user.pred_qwords");
        assert_eq!(refused(&bytes([1, 0, 0, 0], 1), false), malformed(vectors, 10));
        assert_eq!(refused(&bytes([0, 0, u16::MAX, 0], 1), false), malformed(preds, 14));
    }

    #[test]
    fn the_end_may_be_cut_off() {
        assert_eq!(taken(&[], true), Ok((None, false, 0)));
        let bytes = bytes([1, 2, 1, 1], 2);
        let (regs, cut, left) = taken(&bytes, true).unwrap();
        let regs = regs.unwrap();
        assert_eq!((cut, left), (false, 0));
        assert_eq!((lists(regs.vectors()), regs.predicate(0)), (vec![vec![1, 2]], None));
        // Two words are missing.
        assert!(taken(&bytes[..16], true).is_err());
    }

    #[test]
    fn numbers_of_registers() {
        let numbers =
            |mask, nr| (0..nr).map(|index| simd_register_number(mask, nr, index)).collect::<Vec<_>>();
        assert_eq!(numbers(1 << 63 | 1, 2), [Some(0), Some(63)]);
        assert_eq!(numbers(0b111, 2), [None, None]);
        assert_eq!(simd_register_number(u64::MAX, 64, 63), Some(63));
        assert_eq!((simd_register_number(0, 0, 0), simd_register_number(1, 1, 1)), (None, None));
    }
}
