//! Numbers as bytes, and bytes as text.

/// Appends a number in LEB128: seven bits a byte, the lowest first; the high bit is set in all bytes but the last.
pub(crate) fn push(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends a signed number, those near to 0 in few bytes: 0, -1, 1, -2 become 0, 1, 2, 3.
pub(crate) fn push_signed(out: &mut Vec<u8>, number: i64) {
    push(out, (number << 1 ^ number >> 63) as u64);
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Returns bytes in base64, with padding.
///
/// RFC 4648, section 4.
pub(crate) fn base64(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            let value = bits >> (18 - 6 * digit) & 63;
            let text = DIGITS.get(value as usize).copied().unwrap_or(b'=');
            out.push(if digit > chunk.len() { b'=' } else { text });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4648, section 10.
    #[test]
    fn base64_as_in_the_rfc() {
        let cases = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (bytes, text) in cases {
            assert_eq!(base64(bytes.as_bytes()), text.as_bytes());
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), b"+//+");
    }

    #[test]
    fn numbers_of_all_lengths() {
        let of = |number| {
            let mut out = Vec::new();
            push(&mut out, number);
            out
        };
        assert_eq!(of(0), [0]);
        assert_eq!(of(127), [127]);
        assert_eq!(of(128), [0x80, 1]);
        assert_eq!(of(u64::MAX), [255, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
        let mut out = Vec::new();
        [0, -1, 1, -2, 64].into_iter().for_each(|number| push_signed(&mut out, number));
        assert_eq!(out, [0, 1, 2, 3, 0x80, 1]);
        let mut lowest = Vec::new();
        push_signed(&mut lowest, i64::MIN);
        assert_eq!(lowest, of(u64::MAX));
    }
}
