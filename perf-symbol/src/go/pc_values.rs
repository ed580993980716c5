//! Values that change along the code of a function: its line, its file, and the call that was inlined.

use super::words::Words;

/// The values of one kind in a function.
///
/// Go: `pcvalue` and `step`, `runtime/symtab.go`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PcValues(Vec<PcValue>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PcValue {
    /// Offset in the function at which the value ends.
    end: u32,
    value: i32,
}

impl PcValues {
    /// Decodes the values from `at` on, of a function of `size` bytes. Empty where there are none.
    ///
    /// It takes no more steps than the function has instructions, however many bytes there are.
    pub(super) fn decode(words: &Words, at: u64, size: u32, quantum: u8) -> Self {
        let rest = usize::try_from(at).ok().and_then(|at| words.bytes.get(at..));
        let mut bytes = rest.unwrap_or_default().iter().copied();
        let mut values = Vec::new();
        let (mut value, mut end) = (-1_i32, 0_u32);
        while end < size {
            let Some(change) = varint(&mut bytes) else { break };
            if change == 0 && !values.is_empty() {
                break;
            }
            let Some(step) = varint(&mut bytes).and_then(|it| it.checked_mul(quantum.into())) else { break };
            // Each value has code.
            if step == 0 {
                break;
            }
            value = value.wrapping_add(zigzag(change));
            end = end.saturating_add(step);
            values.push(PcValue { end, value });
        }
        Self(values)
    }

    /// Returns the value at an offset in the function; `None` after the last value.
    pub(super) fn at(&self, offset: u32) -> Option<i32> {
        let number = self.0.partition_point(|it| it.end <= offset);
        self.0.get(number).map(|it| it.value)
    }

    /// Returns the values in the order of the code.
    pub(super) fn iter(&self) -> impl Iterator<Item = i32> {
        self.0.iter().map(|it| it.value)
    }

    /// Returns the number of bytes in memory.
    pub(super) fn size(&self) -> usize {
        self.0.len().saturating_mul(size_of::<PcValue>())
    }
}

/// Reads a number of seven bits a byte, the lowest first.
fn varint(bytes: &mut impl Iterator<Item = u8>) -> Option<u32> {
    let mut number = 0;
    for shift in [0, 7, 14, 21, 28] {
        let byte = bytes.next()?;
        number |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Returns the number whose sign is in the lowest bit.
fn zigzag(number: u32) -> i32 {
    let half = (number >> 1).cast_signed();
    if number & 1 == 1 { !half } else { half }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::FileBytes;

    fn decode(bytes: &[u8], size: u32, quantum: u8) -> PcValues {
        let words = Words { bytes: FileBytes::new(bytes.to_vec()), is_little_endian: true };
        PcValues::decode(&words, 0, size, quantum)
    }

    #[test]
    fn values_along_a_function() {
        // From -1: by 11 to 10 for 4 bytes, by -3 to 7 for 300 bytes, by 0x100 to 263 for the rest.
        let bytes = [22, 4, 5, 0xac, 0x02, 0x80, 0x04, 8, 0, 99];
        let values = decode(&bytes, 1000, 1);
        let at = |offset| values.at(offset);
        assert_eq!([at(0), at(3), at(4), at(303)], [Some(10), Some(10), Some(7), Some(7)]);
        assert_eq!([at(304), at(311), at(312)], [Some(263), Some(263), None]);
        assert_eq!(decode(&bytes, 1000, 4).at(15), Some(10));
        assert_eq!(values.iter().collect::<Vec<_>>(), [10, 7, 263]);
        assert_eq!(values.size(), 3 * 8);
    }

    /// The first value may be the one before it, which is -1.
    #[test]
    fn a_first_value_without_change() {
        let values = decode(&[0, 4, 2, 4, 0], 8, 1);
        assert_eq!([values.at(0), values.at(4), values.at(8)], [Some(-1), Some(0), None]);
    }

    #[test]
    fn decoding_ends_with_the_function_and_at_damage() {
        let many = [2, 1].repeat(1000);
        assert_eq!(decode(&many, 10, 1).0.len(), 10);
        assert_eq!(decode(&many, 10, 4).0.len(), 3);
        assert_eq!(decode(&[2, 0].repeat(10), 10, 1), PcValues::default(), "a value without code");
        assert_eq!(decode(&[2], 10, 1), PcValues::default(), "cut");
        assert_eq!(decode(&[0xff; 9], 10, 1), PcValues::default(), "a number of more than 32 bits");
        assert_eq!(decode(&[], 10, 1), PcValues::default());
    }
}
