//! The meaning of a field's C type for its bytes.

use super::grammar::{self, FieldLine};

/// The type of a value, or of each value of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ElementType {
    /// An integer of 1, 2, 4 or 8 bytes; signed if the field is.
    Integer {
        /// Bytes of the integer.
        bytes: u8,
    },
    /// A pointer of 4 or 8 bytes.
    Pointer {
        /// Bytes of the pointer.
        bytes: u8,
    },
    /// A `bool` of 1 byte.
    Bool,
    /// A `char` in an array, which is a string.
    Char,
    /// Uninterpreted bytes: structures, arrays of unsigned bytes, and arrays whose element size is unknown.
    Bytes,
}

impl ElementType {
    /// Returns the bytes of one element; 1 for [`Bytes`](Self::Bytes).
    #[must_use]
    pub const fn bytes(&self) -> u8 {
        match *self {
            Self::Integer { bytes } | Self::Pointer { bytes } => bytes,
            Self::Bool | Self::Char | Self::Bytes => 1,
        }
    }
}

/// The meaning of a type's name alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CTypeName {
    Bool,
    /// `char` without `signed` or `unsigned`.
    Char,
    Integer {
        bytes: u8,
        signed: bool,
    },
    /// A structure or a union.
    Aggregate,
    Unknown,
}

impl CTypeName {
    pub(super) fn new(c_type: &[u8], long_size: u8) -> Self {
        let (mut sign, mut longs, mut base) = (None, 0_u32, None);
        for word in grammar::words(c_type) {
            match word {
                b"const" | b"volatile" | b"__data_loc" | b"__rel_loc" => {}
                b"unsigned" => sign = Some(false),
                b"signed" => sign = Some(true),
                b"long" => longs = longs.saturating_add(1),
                b"struct" | b"union" => return Self::Aggregate,
                b"int" => base = base.or(Some(Self::Integer { bytes: 4, signed: true })),
                _ if base.is_none() => base = Some(Self::word(word, long_size)),
                _ => return Self::Unknown,
            }
        }
        match (longs, base, sign) {
            (0, Some(Self::Char), Some(signed)) => Self::Integer { bytes: 1, signed },
            (0, Some(Self::Integer { bytes, signed }), sign) => {
                Self::Integer { bytes, signed: sign.unwrap_or(signed) }
            }
            (0, None, Some(signed)) => Self::Integer { bytes: 4, signed },
            (0, Some(named), None) => named,
            (1, None | Some(Self::Integer { .. }), sign) => {
                Self::Integer { bytes: long_size, signed: sign.unwrap_or(true) }
            }
            (2, None | Some(Self::Integer { .. }), sign) => {
                Self::Integer { bytes: 8, signed: sign.unwrap_or(true) }
            }
            _ => Self::Unknown,
        }
    }

    /// Returns the meaning of a type name of one word.
    fn word(word: &[u8], long_size: u8) -> Self {
        let bare = word.strip_prefix(b"__").unwrap_or(word);
        let bare = bare.strip_suffix(b"_t").unwrap_or(bare);
        let (bytes, signed) = match bare {
            b"bool" | b"_Bool" => return Self::Bool,
            b"char" => return Self::Char,
            b"u8" | b"uint8" => (1, false),
            b"s8" | b"int8" => (1, true),
            b"u16" | b"uint16" => (2, false),
            b"s16" | b"int16" | b"short" => (2, true),
            b"u32" | b"uint32" | b"uint" => (4, false),
            b"s32" | b"int32" | b"pid" => (4, true),
            b"u64" | b"uint64" => (8, false),
            b"s64" | b"int64" | b"loff" => (8, true),
            b"size" | b"uintptr" => (long_size, false),
            b"ssize" | b"intptr" => (long_size, true),
            _ => return Self::Unknown,
        };
        Self::Integer { bytes, signed }
    }

    fn is_signed(self) -> bool {
        matches!(self, Self::Integer { signed: true, .. })
    }
}

/// The place of the values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueExtent {
    /// The field is a single value.
    Value,
    /// The values fill the field; their number, if it is known.
    Field(Option<u32>),
    /// The values are elsewhere in the raw data.
    Elsewhere,
}

/// Returns the element type of a field, and whether it is signed.
pub(super) fn classify(line: &FieldLine<'_>, extent: ValueExtent, long_size: u8) -> (ElementType, bool) {
    let named = CTypeName::new(line.declaration.c_type, long_size);
    let signed = line.signed.unwrap_or(named.is_signed());
    let width = match extent {
        ValueExtent::Value => integer_bytes(u64::from(line.size)),
        ValueExtent::Field(Some(len)) => {
            // In the kernel's formats, `size` is the size of all elements.
            let (size, len) = (u64::from(line.size), u64::from(len));
            let exact = size.checked_rem(len) == Some(0);
            size.checked_div(len).filter(|_| exact).and_then(integer_bytes)
        }
        ValueExtent::Field(None) | ValueExtent::Elsewhere => match named {
            _ if line.declaration.is_pointer => Some(long_size),
            CTypeName::Bool | CTypeName::Char => Some(1),
            CTypeName::Integer { bytes, .. } => Some(bytes),
            CTypeName::Aggregate | CTypeName::Unknown => None,
        },
    };
    let element = match (width, named) {
        (None, _) => ElementType::Bytes,
        (Some(bytes), _) if line.declaration.is_pointer => match bytes {
            4 | 8 => ElementType::Pointer { bytes },
            _ => ElementType::Bytes,
        },
        (_, CTypeName::Aggregate) => ElementType::Bytes,
        (Some(1), CTypeName::Bool) => ElementType::Bool,
        (Some(1), CTypeName::Char) if extent != ValueExtent::Value => ElementType::Char,
        (Some(1), _) if extent != ValueExtent::Value && !signed => ElementType::Bytes,
        (Some(bytes), _) => ElementType::Integer { bytes },
    };
    (element, signed)
}

/// Returns the bytes of an integer; `None` if an integer cannot have this size.
fn integer_bytes(bytes: u64) -> Option<u8> {
    match bytes {
        1 => Some(1),
        2 => Some(2),
        4 => Some(4),
        8 => Some(8),
        _ => None,
    }
}
