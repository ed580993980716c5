//! Parquet's RLE/bit-packing hybrid, for levels and indices of dictionaries.

/// Returns the number of bits that the largest number needs.
pub(super) fn width(largest: u32) -> u32 {
    u32::BITS - largest.leading_zeros()
}

/// Writes numbers of no more than `width` bits. Eight equal ones are written as a run.
pub(super) fn encode(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    let (groups, rest) = numbers.as_chunks::<8>();
    // The groups from here on are not written yet.
    let mut left = groups;
    let mut at = 0;
    while let Some(&group) = left.get(at) {
        let [first, ..] = group;
        if group != [first; 8] {
            at += 1;
            continue;
        }
        let (packed, same) = left.split_at(at);
        pack(packed, width, out);
        let count = same.iter().take_while(|&&it| it == [first; 8]).count();
        run(first, 8 * count, width, out);
        left = same.split_at(count).1;
        at = 0;
    }
    match rest {
        [] => pack(left, width, out),
        [first, others @ ..] if left.is_empty() && others.iter().all(|it| it == first) => {
            run(*first, rest.len(), width, out);
        }
        _ => {
            // A reader knows how many numbers there are.
            let mut last = [0; 8];
            last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            let mut groups = left.to_vec();
            groups.push(last);
            pack(&groups, width, out);
        }
    }
}

/// Writes a number so many times.
pub(super) fn run(number: u32, count: usize, width: u32, out: &mut Vec<u8>) {
    if count > 0 {
        varint((count as u64) << 1, out);
        let bytes = number.to_le_bytes();
        out.extend(bytes.iter().take(width.div_ceil(8) as usize));
    }
}

/// Writes numbers one after the other.
fn pack(groups: &[[u32; 8]], width: u32, out: &mut Vec<u8>) {
    if groups.is_empty() {
        return;
    }
    varint((groups.len() as u64) << 1 | 1, out);
    out.reserve(groups.len() * width as usize + 8);
    let (mut word, mut bits) = (0_u64, 0);
    for &number in groups.as_flattened() {
        word |= u64::from(number) << bits;
        bits += width;
        if bits >= 32 {
            out.extend_from_slice(&(word as u32).to_le_bytes());
            word >>= 32;
            bits -= 32;
        }
    }
    // Eight numbers are whole bytes.
    out.extend(word.to_le_bytes().iter().take(bits as usize / 8));
}

/// Writes a number as ULEB128.
pub(super) fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(numbers: &[u32], width: u32) -> Vec<u8> {
        let mut out = Vec::new();
        encode(numbers, width, &mut out);
        out
    }

    #[test]
    fn runs_and_packed_bits() {
        // The example of the specification: 0 to 7 in three bits.
        assert_eq!(encoded(&[0, 1, 2, 3, 4, 5, 6, 7], 3), [3, 0b1000_1000, 0b1100_0110, 0b1111_1010]);
        assert_eq!(encoded(&[5; 100], 3), [96 << 1 & 0x7f | 0x80, 1, 5, 4 << 1, 5]);
        assert_eq!(encoded(&[300; 8], 9), [16, 44, 1]);
        // One bit each; those of the last group that are not there are zero.
        assert_eq!(encoded(&[1, 0, 1], 1), [3, 0b101]);
        assert_eq!(encoded(&[1, 1], 1), [4, 1]);
        let mut mixed = vec![1; 16];
        mixed.extend([1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(encoded(&mixed, 1), [32, 1, 3, 1]);
        assert!(encoded(&[], 1).is_empty());
        // A dictionary of one value needs no bits.
        assert_eq!(encoded(&[0; 9], 0), [16, 2]);
        assert_eq!((width(0), width(1), width(255), width(u32::MAX)), (0, 1, 8, 32));
    }

    #[test]
    fn all_bits_are_kept() {
        let numbers: Vec<u32> = (0..16).map(|number| u32::MAX - number).collect();
        let out = encoded(&numbers, 32);
        assert_eq!(out.first(), Some(&5));
        let expected: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        assert_eq!(out.get(1..), Some(&*expected));
    }
}
