//! The dictionary of a column chunk: its distinct values, in the order of their first use.

use core::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;
use perf_profile::table::numbering::Numbering;

/// A dictionary of integers.
#[derive(Debug, Default)]
pub(super) struct Integers {
    numbering: Numbering,
    values: Vec<i64>,
    hasher: DefaultHashBuilder,
}

impl Integers {
    /// Interns values, and appends their indices to `numbers`.
    pub(super) fn number(&mut self, values: impl Iterator<Item = i64>, numbers: &mut Vec<u32>) {
        let Self { numbering, values: known, hasher } = self;
        let mut last = None;
        for value in values {
            // Many rows are like the one before.
            if let Some((same, number)) = last
                && same == value
            {
                numbers.push(number);
                continue;
            }
            let of = |number: u32| known.get(number as usize).copied().unwrap_or(0);
            let hash = |value: i64| hasher.hash_one(value.cast_unsigned());
            let number = numbering.number(hash(value), |it| of(it) == value, |it| hash(of(it)));
            if number as usize == known.len() {
                known.push(value);
            }
            last = Some((value, number));
            numbers.push(number);
        }
    }

    pub(super) fn values(&self) -> &[i64] {
        &self.values
    }

    pub(super) fn clear(&mut self) {
        self.numbering.clear();
        self.values.clear();
    }
}

/// Writes a text with its length before it.
pub(super) fn push_text(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_numbers_in_which_they_came() {
        let mut integers = Integers::default();
        let values = (0..1000).chain(0..1000).chain([7, 7, -1]);
        let mut numbers = Vec::new();
        integers.number(values.map(|it| it * 4096 - 50), &mut numbers);
        let expected = (0..1000).chain(0..1000).chain([7, 7, 1000]);
        assert!(numbers.iter().copied().eq(expected));
        assert_eq!(integers.values().len(), 1001);
        assert_eq!(integers.values()[999], 999 * 4096 - 50);
        integers.clear();
        numbers.clear();
        integers.number([5].into_iter(), &mut numbers);
        assert_eq!((numbers, integers.values()), (vec![0], &[5][..]));
    }
}
