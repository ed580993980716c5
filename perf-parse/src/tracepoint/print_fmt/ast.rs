//! The syntax tree of a print format: nodes in one list, each after the nodes that it refers to.

use alloc::vec::Vec;

use super::super::element::{Element, Named};
use super::super::field::{Field, Place};
use super::super::grammar;

/// The index of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Id(u32);

/// A string of the format, with its escapes decoded: a range of [`Ast::texts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Text {
    start: u32,
    end: u32,
}

/// The index of a field that the format uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FieldId(u32);

/// A value of `__print_flags` or `__print_symbolic`, and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    /// `None` if the value is a name that the format does not define.
    pub(super) value: Option<u64>,
    pub(super) name: Text,
}

/// A range of [`Ast::entries`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Entries {
    start: u32,
    end: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Unary {
    Not,
    Invert,
    Negate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Binary {
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

/// A C type, as far as casts and `sizeof` need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CType {
    /// Bytes of the type or, for a pointer, of what it points to; 0 if they are unknown.
    pub(super) bytes: u8,
    pub(super) is_pointer: bool,
    pub(super) is_bool: bool,
}

impl CType {
    pub(super) fn new(c_type: &[u8], long_size: u8) -> Self {
        let stars = c_type.iter().filter(|&&byte| byte == b'*').count();
        let named = Named::new(c_type, long_size);
        let bytes = match named {
            _ if stars > 1 => long_size,
            Named::Bool | Named::Char => 1,
            Named::Integer { bytes, .. } => bytes,
            Named::Aggregate | Named::Unknown if grammar::words(c_type).any(|word| word == b"enum") => 4,
            Named::Aggregate | Named::Unknown => 0,
        };
        Self { bytes, is_pointer: stars > 0, is_bool: stars == 0 && named == Named::Bool }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node<'a> {
    Number(u64),
    Text(Text),
    /// A name that the format does not define, such as a constant of the kernel.
    Name,
    /// `REC->field`
    Field(FieldId),
    Unary(Unary, Id),
    Binary(Binary, Id, Id),
    /// `a ? b : c`, or `a ?: c`.
    Cond {
        test: Id,
        then: Option<Id>,
        or: Id,
    },
    Cast(CType, Id),
    /// `a[b]`; `*a` is `a[0]`.
    Index(Id, Id),
    /// `__get_dynamic_array`
    Dynamic(FieldId),
    /// `__get_dynamic_array_len`
    Len(FieldId),
    /// `__get_str`
    Str(FieldId),
    /// `__get_bitmask`, `__get_cpumask`
    Bitmask(FieldId),
    /// `__get_sockaddr`
    Socket(FieldId),
    Flags {
        of: Id,
        delimiter: Text,
        entries: Entries,
    },
    Symbolic {
        of: Id,
        entries: Entries,
    },
    /// `__print_hex`, and `__print_hex_str` without spaces.
    Hex {
        of: Id,
        len: Id,
        spaced: bool,
    },
    /// `__print_array`; without a count, `__print_dynamic_array`.
    Array {
        of: Id,
        count: Option<Id>,
        size: Id,
    },
    /// What cannot be evaluated: a function of the kernel, or statements. The text that names it.
    Opaque(&'a [u8]),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ast<'a> {
    nodes: Vec<Node<'a>>,
    /// The number of levels of each node's tree.
    levels: Vec<u8>,
    texts: Vec<u8>,
    entries: Vec<Entry>,
    fields: Vec<Field<'a>>,
    pub(super) names: Vec<&'a [u8]>,
}

impl<'a> Ast<'a> {
    /// Appends a node; `None` if its tree has more than `max` levels. Operators on numbers become numbers.
    pub(super) fn push(&mut self, node: Node<'a>, max: u8) -> Option<Id> {
        let node = self.folded(node).unwrap_or(node);
        let level = |id: Id| self.levels.get(id.0 as usize).copied().unwrap_or(u8::MAX);
        let below = match node {
            Node::Unary(_, a) | Node::Cast(_, a) => level(a),
            Node::Binary(_, a, b) | Node::Index(a, b) => level(a).max(level(b)),
            Node::Cond { test, then, or } => level(test).max(then.map_or(0, level)).max(level(or)),
            Node::Flags { of, .. } | Node::Symbolic { of, .. } => level(of),
            Node::Hex { of, len, .. } => level(of).max(level(len)),
            Node::Array { of, count, size } => level(of).max(count.map_or(0, level)).max(level(size)),
            _ => 0,
        };
        let levels = below.checked_add(1).filter(|&levels| levels <= max)?;
        let id = Id(u32::try_from(self.nodes.len()).ok()?);
        self.nodes.push(node);
        self.levels.push(levels);
        Some(id)
    }

    fn folded(&self, node: Node<'a>) -> Option<Node<'a>> {
        let number = |id| match self.node(id) {
            Node::Number(number) => Some(number),
            _ => None,
        };
        let value = match node {
            Node::Unary(operator, a) => operator.apply(number(a)?),
            Node::Binary(operator, a, b) => operator.apply(number(a)?, number(b)?)?,
            Node::Cast(c_type, a) => c_type.apply(number(a)?),
            _ => return None,
        };
        Some(Node::Number(value))
    }

    pub(super) fn node(&self, id: Id) -> Node<'a> {
        self.nodes.get(id.0 as usize).copied().unwrap_or(Node::Opaque(b""))
    }

    /// Appends a string.
    pub(super) fn push_text(&mut self, decoded: &[u8]) -> Text {
        let start = self.text_end();
        self.texts.extend_from_slice(decoded);
        Text { start, end: self.text_end() }
    }

    fn text_end(&self) -> u32 {
        u32::try_from(self.texts.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn text(&self, text: Text) -> &[u8] {
        self.texts.get(text.start as usize..text.end as usize).unwrap_or_default()
    }

    pub(super) fn push_entries(&mut self, entries: &[Entry]) -> Entries {
        let end = |entries: &Vec<Entry>| u32::try_from(entries.len()).unwrap_or(u32::MAX);
        let start = end(&self.entries);
        self.entries.extend_from_slice(entries);
        Entries { start, end: end(&self.entries) }
    }

    pub(super) fn entries(&self, entries: Entries) -> &[Entry] {
        self.entries.get(entries.start as usize..entries.end as usize).unwrap_or_default()
    }

    /// Returns the index of a field, which is kept once.
    pub(super) fn push_field(&mut self, field: &Field<'a>) -> FieldId {
        let known = self.fields.iter().position(|known| known.name == field.name);
        let index = known.unwrap_or(self.fields.len());
        if known.is_none() {
            self.fields.push(*field);
        }
        FieldId(u32::try_from(index).unwrap_or(u32::MAX))
    }

    pub(super) fn field(&self, id: FieldId) -> Option<&Field<'a>> {
        self.fields.get(id.0 as usize)
    }
}

impl Unary {
    pub(super) fn apply(self, value: u64) -> u64 {
        match self {
            Self::Not => u64::from(value == 0),
            Self::Invert => !value,
            Self::Negate => value.wrapping_neg(),
        }
    }
}

impl Binary {
    /// Computes in 64 unsigned bits, as perf does; `None` for a division by 0.
    pub(super) fn apply(self, a: u64, b: u64) -> Option<u64> {
        let by = u32::try_from(b).unwrap_or(u32::MAX);
        Some(match self {
            Self::Or => u64::from(a != 0 || b != 0),
            Self::And => u64::from(a != 0 && b != 0),
            Self::BitOr => a | b,
            Self::BitXor => a ^ b,
            Self::BitAnd => a & b,
            Self::Equal => u64::from(a == b),
            Self::NotEqual => u64::from(a != b),
            Self::Less => u64::from(a < b),
            Self::Greater => u64::from(a > b),
            Self::LessEqual => u64::from(a <= b),
            Self::GreaterEqual => u64::from(a >= b),
            Self::ShiftLeft => a.checked_shl(by).unwrap_or(0),
            Self::ShiftRight => a.checked_shr(by).unwrap_or(0),
            Self::Add => a.wrapping_add(b),
            Self::Subtract => a.wrapping_sub(b),
            Self::Multiply => a.wrapping_mul(b),
            Self::Divide => a.checked_div(b)?,
            Self::Remainder => a.checked_rem(b)?,
        })
    }
}

impl CType {
    /// Cuts a value to the bytes of the type, as perf does: without a sign.
    pub(super) fn apply(self, value: u64) -> u64 {
        match self.bytes {
            _ if self.is_pointer => value,
            _ if self.is_bool => u64::from(value != 0),
            bytes @ 1..8 => {
                value & u64::MAX.wrapping_shr(64_u32.saturating_sub(u32::from(bytes).saturating_mul(8)))
            }
            _ => value,
        }
    }
}

/// Returns the bytes of one element of a field's array; 0 if they are unknown.
pub(super) fn element_bytes(field: &Field<'_>) -> u8 {
    match (field.place, field.element) {
        // An array of a type that is not known by its name, whose elements have the size of an integer.
        (Place::Array { len: Some(len) }, Element::Bytes) => {
            let bytes = field.size.checked_div(len).and_then(|bytes| u8::try_from(bytes).ok());
            bytes.filter(|bytes| matches!(bytes, 1 | 2 | 4 | 8)).unwrap_or(0)
        }
        (_, element) => element.bytes(),
    }
}
