//! Fast conversion of numbers to digits: several digits at a time within a word, without the formatting machinery of
//! `core`.
//!
//! The functions append an array of constant size and then truncate the excess, so that the length of each copy is
//! known at compile time.
//!
//! With the crate `itoa` instead, a dump of call chains as JSON takes a tenth more instructions.

/// Eight ASCII zeros, one per byte. A bitwise OR with them turns eight digit values into ASCII.
const ZEROS: u64 = 0x3030_3030_3030_3030;

const TEN_TO_8: u64 = 100_000_000;
const TEN_TO_16: u64 = TEN_TO_8 * TEN_TO_8;

/// Returns the eight decimal digits of a number below 10^8, as values from 0 to 9. The first digit is in the lowest
/// byte.
#[inline]
fn eight(number: u64) -> u64 {
    // Splits the number into two of four digits, then four of two, then eight of one, side by side. The factors
    // approximate 1/100 and 1/10, precisely enough for such small numbers.
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = (fours * 10_486) >> 20 & 0x0000_007f_0000_007f;
    let twos = hundreds | (fours - hundreds * 100) << 16;
    let tens = (twos * 103) >> 10 & 0x000f_000f_000f_000f;
    tens | (twos - tens * 10) << 8
}

/// Appends a number below 10^8 without leading zeros.
#[inline]
fn push_head(out: &mut Vec<u8>, number: u64) {
    let digits = eight(number);
    // Keeps the last digit even if it is 0.
    let zeros = (digits | 1 << 56).trailing_zeros() / 8;
    let start = out.len();
    out.extend_from_slice(&((digits | ZEROS) >> (8 * zeros)).to_le_bytes());
    out.truncate(start + 8 - zeros as usize);
}

/// Appends a number in decimal.
#[inline]
pub(crate) fn push_decimal(out: &mut Vec<u8>, number: u64) {
    // Small numbers are frequent.
    if number < 10 {
        out.push(b'0' + number as u8);
    } else {
        push_digits(out, number);
    }
}

/// Appends a number below 10^4, except 0, without leading zeros. Works like [`eight`] and [`push_head`].
#[inline]
fn push_four(out: &mut Vec<u8>, number: u32) {
    let hundreds = (number * 10_486) >> 20;
    let twos = hundreds | (number - hundreds * 100) << 16;
    let tens = (twos * 103) >> 10 & 0x000f_000f;
    let digits = tens | (twos - tens * 10) << 8;
    let zeros = digits.trailing_zeros() / 8;
    let start = out.len();
    out.extend_from_slice(&((digits | ZEROS as u32) >> (8 * zeros)).to_le_bytes());
    out.truncate(start + 4 - zeros as usize);
}

#[inline(never)]
fn push_digits(out: &mut Vec<u8>, number: u64) {
    let last = || (eight(number % TEN_TO_8) | ZEROS).to_le_bytes();
    if number < 10_000 {
        push_four(out, number as u32);
    } else if number < TEN_TO_8 {
        push_head(out, number);
    } else if number < TEN_TO_16 {
        push_head(out, number / TEN_TO_8);
        out.extend_from_slice(&last());
    } else {
        push_head(out, number / TEN_TO_16);
        let middle = (eight(number / TEN_TO_8 % TEN_TO_8) | ZEROS).to_le_bytes();
        out.extend_from_slice(&middle);
        out.extend_from_slice(&last());
    }
}

/// Appends a signed number in decimal.
#[inline]
pub(crate) fn push_signed(out: &mut Vec<u8>, number: i64) {
    if number < 0 {
        out.push(b'-');
    }
    push_decimal(out, number.unsigned_abs());
}

/// Returns the eight hexadecimal digits of a number.
#[inline]
fn eight_hex(number: u32) -> [u8; 8] {
    let mut nibbles = u64::from(number);
    nibbles = (nibbles | nibbles << 16) & 0x0000_ffff_0000_ffff;
    nibbles = (nibbles | nibbles << 8) & 0x00ff_00ff_00ff_00ff;
    nibbles = (nibbles | nibbles << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    let is_letter = (nibbles + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    (nibbles + ZEROS + is_letter * u64::from(b'a' - b'0' - 10)).to_be_bytes()
}

/// Returns `0x` and the sixteen hexadecimal digits of a number.
#[inline]
fn sixteen_hex(number: u64) -> [u8; 18] {
    let mut digits = *b"0x0000000000000000";
    digits[2..10].copy_from_slice(&eight_hex((number >> 32) as u32));
    digits[10..].copy_from_slice(&eight_hex(number as u32));
    digits
}

/// Appends a number in hexadecimal: `0x1f`.
pub(crate) fn push_hex(out: &mut Vec<u8>, number: u64) {
    push_hex_of(out, number, 1);
}

/// Like [`push_hex`], with at least `width` digits.
pub(crate) fn push_hex_of(out: &mut Vec<u8>, number: u64, width: u32) {
    let digits = (16 - number.leading_zeros() / 4).clamp(width, 16);
    let start = out.len();
    // The rotation puts the digits to print first and the leading zeros last.
    out.extend_from_slice(&sixteen_hex(number.rotate_left(4 * (16 - digits))));
    out.truncate(start + 2 + digits as usize);
}

/// Appends an address at full width: `0x000000000000001f`.
pub(crate) fn push_address(out: &mut Vec<u8>, address: u64) {
    out.extend_from_slice(&sixteen_hex(address));
}

const SECOND: u64 = 1_000_000_000;

/// Appends nanoseconds as seconds: `12.000000345`.
pub(crate) fn push_seconds(out: &mut Vec<u8>, nanoseconds: u64) {
    push_decimal(out, nanoseconds / SECOND);
    out.push(b'.');
    push_fraction(out, nanoseconds % SECOND);
}

/// Appends nanoseconds below one second, as nine digits.
#[inline]
fn push_fraction(out: &mut Vec<u8>, nanoseconds: u64) {
    let mut digits = *b"000000000";
    digits[0] += (nanoseconds / TEN_TO_8) as u8;
    digits[1..].copy_from_slice(&(eight(nanoseconds % TEN_TO_8) | ZEROS).to_le_bytes());
    out.extend_from_slice(&digits);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed<T>(push: impl Fn(&mut Vec<u8>, T), number: T) -> String {
        let mut out = Vec::new();
        push(&mut out, number);
        String::from_utf8(out).unwrap()
    }

    /// Returns numbers around each power of two and of ten, and some between them.
    fn numbers() -> impl Iterator<Item = u64> {
        let powers = (0..64).map(|bits| 1_u64 << bits).chain((0..20).map(|zeros| 10_u64.pow(zeros)));
        let around = powers.flat_map(|power| [power.wrapping_sub(1), power, power + 1, power | power >> 5]);
        let between = (1..5000_u64).map(|index| index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (index % 64));
        around.chain(between).chain([0, u64::MAX])
    }

    #[test]
    fn digits_are_those_of_the_standard_library() {
        for number in numbers() {
            let signed = number as i64;
            assert_eq!(pushed(push_decimal, number), number.to_string());
            assert_eq!(pushed(push_signed, signed), signed.to_string());
            assert_eq!(pushed(push_hex, number), format!("{number:#x}"));
            assert_eq!(pushed(|out, number| push_hex_of(out, number, 8), number), format!("{number:#010x}"));
            assert_eq!(pushed(push_address, number), format!("{number:#018x}"));
            let (seconds, fraction) = (number / 1_000_000_000, number % 1_000_000_000);
            assert_eq!(pushed(push_seconds, number), format!("{seconds}.{fraction:09}"));
        }
    }

    /// The approximations of 1/100 and 1/10 are exact for all numbers that they are used for.
    #[test]
    fn four_digits_are_exact() {
        for number in 0..10_000 {
            assert_eq!(pushed(push_decimal, number), number.to_string());
        }
    }
}
