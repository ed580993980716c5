//! Parquet's DELTA_BINARY_PACKED: integers as differences from their predecessors.

use super::hybrid::varint;

/// Number of differences of a block, which share their smallest one, and of a part of a block, which share their width.
const BLOCK: usize = 128;
const PART: usize = 32;

/// Writes numbers as the first one and differences.
pub(super) fn encode(numbers: &[i64], out: &mut Vec<u8>) {
    varint(BLOCK as u64, out);
    varint((BLOCK / PART) as u64, out);
    varint(numbers.len() as u64, out);
    let Some((&first, rest)) = numbers.split_first() else { return varint(0, out) };
    zigzag(first, out);
    let mut before = first;
    let mut differences = [0_i64; BLOCK];
    for block in rest.chunks(BLOCK) {
        let mut least = i64::MAX;
        for (difference, &number) in differences.iter_mut().zip(block) {
            *difference = number.wrapping_sub(before);
            least = least.min(*difference);
            before = number;
        }
        let count = block.len();
        zigzag(least, out);
        // What is not there needs no bits.
        differences.iter_mut().skip(count).for_each(|difference| *difference = least);
        let (parts, _) = differences.as_chunks_mut::<PART>();
        for part in parts.iter_mut() {
            part.iter_mut().for_each(|difference| *difference = difference.wrapping_sub(least));
            let bits = part.iter().fold(0, |bits, &it| bits | it.cast_unsigned());
            out.push((u64::BITS - bits.leading_zeros()) as u8);
        }
        for part in parts.iter().take(count.div_ceil(PART)) {
            pack(part, out);
        }
    }
}

/// Writes the differences of a part in as many bits as its largest one needs.
fn pack(part: &[i64; PART], out: &mut Vec<u8>) {
    let largest = part.iter().fold(0, |bits, &it| bits | it.cast_unsigned());
    let width = u64::BITS - largest.leading_zeros();
    let (mut word, mut bits) = (0_u128, 0);
    for &difference in part {
        word |= u128::from(difference.cast_unsigned()) << bits;
        bits += width;
        if bits >= 64 {
            out.extend_from_slice(&(word as u64).to_le_bytes());
            word >>= 64;
            bits -= 64;
        }
    }
    // 32 differences are whole words of 32 bits.
    out.extend(word.to_le_bytes().iter().take(bits as usize / 8));
}

fn zigzag(number: i64, out: &mut Vec<u8>) {
    varint((number << 1 ^ number >> 63).cast_unsigned(), out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_packed() {
        let mut out = Vec::new();
        encode(&[], &mut out);
        assert_eq!(out, [0x80, 1, 4, 0, 0]);
        out.clear();
        // The examples of the specification.
        encode(&[1, 2, 3, 4, 5], &mut out);
        assert_eq!(out, [0x80, 1, 4, 5, 2, 2, 0, 0, 0, 0]);
        out.clear();
        encode(&[7, 5, 3, 1, 2, 3, 4, 5], &mut out);
        let mut expected = vec![0x80, 1, 4, 8, 14, 3, 2, 0, 0, 0];
        expected.extend([0b1100_0000, 0b11_1111, 0, 0, 0, 0, 0, 0]);
        assert_eq!(out, expected);
        out.clear();
        // Differences are modulo 2^64.
        encode(&[i64::MIN, i64::MAX, i64::MIN], &mut out);
        assert_eq!(out[14..], [1, 2, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0]);
    }
}
