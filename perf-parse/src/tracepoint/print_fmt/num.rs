//! Integers with the types of C, and its operators.

use super::super::element::CTypeName;
use super::super::grammar;

/// An integer of 32 or 64 bits. Narrower ones do not occur, as C promotes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CInteger {
    /// Extended to 64 bits by its sign.
    pub(super) value: u64,
    is_wide: bool,
    is_signed: bool,
}

/// Extends the low bits of a value.
fn extend(value: u64, bytes: u8, is_signed: bool) -> u64 {
    let unused = 64_u32.saturating_sub(u32::from(bytes).saturating_mul(8));
    let up = value.wrapping_shl(unused);
    if is_signed { (up as i64).wrapping_shr(unused) as u64 } else { up.wrapping_shr(unused) }
}

impl CInteger {
    /// Returns an integer of 1, 2, 4 or 8 bytes; further bits of `value` are cut.
    pub(super) fn new(value: u64, bytes: u8, is_signed: bool) -> Self {
        let value = extend(value, bytes, is_signed);
        Self { value, is_wide: bytes > 4, is_signed: is_signed || bytes < 4 }
    }

    /// Returns an `int`.
    pub(super) fn int(value: u64) -> Self {
        Self::new(value, 4, true)
    }

    /// Returns the value of a constant: the first type of C that holds it.
    pub(super) fn constant(value: u64, is_decimal: bool, suffix: &[u8]) -> Self {
        let is_long = suffix.iter().any(|byte| b"lL".contains(byte));
        let may_be_signed = !suffix.iter().any(|byte| b"uU".contains(byte));
        let may_be_unsigned = !may_be_signed || !is_decimal;
        let fits = |bytes, is_signed| {
            Self::new(value, bytes, is_signed).value == value && (!is_signed || value >> 63 == 0)
        };
        match () {
            () if !is_long && may_be_signed && fits(4, true) => Self::new(value, 4, true),
            () if !is_long && may_be_unsigned && fits(4, false) => Self::new(value, 4, false),
            () if may_be_signed && fits(8, true) => Self::new(value, 8, true),
            () => Self::new(value, 8, false),
        }
    }

    fn of(self, value: u64) -> Self {
        Self::new(value, if self.is_wide { 8 } else { 4 }, self.is_signed)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Unary {
    Not,
    Invert,
    Negate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum BinaryOperator {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    NotEqual,
    Less,
    Greater,
    LessEqual,
    GreaterEqual,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Unary {
    pub(super) fn apply(self, a: CInteger) -> CInteger {
        match self {
            Self::Not => CInteger::int(u64::from(a.value == 0)),
            Self::Invert => a.of(!a.value),
            Self::Negate => a.of(a.value.wrapping_neg()),
        }
    }
}

impl BinaryOperator {
    /// Computes as C does; `None` for a division by 0.
    pub(super) fn apply(self, a: CInteger, b: CInteger) -> Option<CInteger> {
        let common = match (a.is_wide, b.is_wide) {
            (true, false) => a,
            (false, true) => b,
            _ => CInteger { is_signed: a.is_signed && b.is_signed, ..a },
        };
        let [x, y] = [common.of(a.value).value, common.of(b.value).value];
        let [sx, sy] = [x as i64, y as i64];
        let is_less = |x: u64, y: u64| if common.is_signed { (x as i64) < (y as i64) } else { x < y };
        let truth = |truth| Some(CInteger::int(u64::from(truth)));
        let by = u32::try_from(b.value).unwrap_or(u32::MAX);
        let value = match self {
            Self::Or => return truth(a.value != 0 || b.value != 0),
            Self::And => return truth(a.value != 0 && b.value != 0),
            Self::Equal => return truth(x == y),
            Self::NotEqual => return truth(x != y),
            Self::Less => return truth(is_less(x, y)),
            Self::Greater => return truth(is_less(y, x)),
            Self::LessEqual => return truth(!is_less(y, x)),
            Self::GreaterEqual => return truth(!is_less(x, y)),
            Self::ShiftLeft => return Some(a.of(a.value.checked_shl(by).unwrap_or(0))),
            Self::ShiftRight if a.is_signed => {
                return Some(a.of((a.value as i64).wrapping_shr(by.min(63)) as u64));
            }
            Self::ShiftRight => return Some(a.of(a.value.checked_shr(by).unwrap_or(0))),
            Self::BitOr => x | y,
            Self::BitXor => x ^ y,
            Self::BitAnd => x & y,
            Self::Add => x.wrapping_add(y),
            Self::Subtract => x.wrapping_sub(y),
            Self::Multiply => x.wrapping_mul(y),
            Self::Divide | Self::Remainder if y == 0 => return None,
            // The least number divided by -1 does not fit, and wraps.
            Self::Divide if common.is_signed => sx.checked_div(sy).unwrap_or(sx) as u64,
            Self::Remainder if common.is_signed => sx.checked_rem(sy).unwrap_or(0) as u64,
            Self::Divide => x.checked_div(y)?,
            Self::Remainder => x.checked_rem(y)?,
        };
        Some(common.of(value))
    }
}

/// A C type, as far as casts and `sizeof` need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CType {
    /// Bytes of the type or, for a pointer, of what it points to; 0 if they are unknown.
    pub(super) bytes: u8,
    pub(super) is_signed: bool,
    pub(super) is_pointer: bool,
    is_bool: bool,
}

impl CType {
    pub(super) fn new(c_type: &[u8], long_size: u8) -> Self {
        let stars = c_type.iter().filter(|&&byte| byte == b'*').count();
        let named = CTypeName::new(c_type, long_size);
        let (bytes, is_signed) = match named {
            _ if stars > 1 => (long_size, false),
            CTypeName::Bool | CTypeName::Char => (1, false),
            CTypeName::Integer { bytes, signed } => (bytes, signed),
            CTypeName::Aggregate | CTypeName::Unknown
                if grammar::words(c_type).any(|word| word == b"enum") =>
            {
                (4, false)
            }
            CTypeName::Aggregate | CTypeName::Unknown => (0, false),
        };
        Self { bytes, is_signed, is_pointer: stars > 0, is_bool: stars == 0 && named == CTypeName::Bool }
    }

    /// Casts a value. One of an unknown type does not change.
    pub(super) fn apply(self, num: CInteger, long_size: u8) -> CInteger {
        match self.bytes {
            _ if self.is_pointer => CInteger::new(num.value, long_size, false),
            _ if self.is_bool => CInteger::int(u64::from(num.value != 0)),
            0 => num,
            bytes => CInteger::new(num.value, bytes, self.is_signed),
        }
    }
}
