//! Expressions that gimli cannot read.

/// DWARF 5, 7.7.1.
const DW_OP_PIECE: u8 = 0x93;

/// Returns whether an expression has a piece of more bits than 64 bits count. gimli (0.33) multiplies the number of its bytes
/// by 8 without a check: it panics with overflow checks, and has a wrong number without them. Later versions return an
/// error: <https://github.com/gimli-rs/gimli/pull/891>.
///
/// Operations can be jumped over and into, so each place counts at which a piece could be. No compiler writes so many bytes
/// for the operand of another operation.
pub(crate) fn has_oversized_piece(expression: &[u8]) -> bool {
    let after = |(index, byte): (usize, &u8)| {
        (*byte == DW_OP_PIECE).then(|| expression.get(index.saturating_add(1)..).unwrap_or_default())
    };
    expression.iter().enumerate().filter_map(after).any(|operand| {
        let mut operand = gimli::EndianSlice::new(operand, gimli::LittleEndian);
        gimli::Reader::read_uleb128(&mut operand).is_ok_and(|bytes| bytes > u64::MAX / 8)
    })
}

#[cfg(test)]
mod tests {
    use super::has_oversized_piece;

    #[test]
    fn pieces() {
        let of = |bytes: u64| {
            let mut rest = bytes;
            let mut expression = vec![0x50, super::DW_OP_PIECE];
            while rest >= 0x80 {
                expression.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            expression.push(rest as u8);
            has_oversized_piece(&expression)
        };
        assert!(!of(8) && !of(u64::MAX / 8));
        assert!(of(u64::MAX / 8 + 1) && of(u64::MAX));
        // An operand that ends early, and one that is too long for 64 bits.
        assert!(
            !has_oversized_piece(&[super::DW_OP_PIECE, 0x80]) && !has_oversized_piece(&[super::DW_OP_PIECE])
        );
        assert!(!has_oversized_piece(&[
            super::DW_OP_PIECE,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            7
        ]));
    }
}
