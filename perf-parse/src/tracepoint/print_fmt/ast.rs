//! The syntax tree of a print format: nodes in one list, each after the nodes that it refers to.

use alloc::vec::Vec;

use super::super::element::ElementType;
use super::super::field::{FieldPlacement, FormatField};
use super::num::{BinaryOperator, CInteger, CType, Unary};

/// The index of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct NodeId(u32);

/// A string of the format, with its escapes decoded: a range of [`Ast::texts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TextRange {
    start: u32,
    end: u32,
}

/// The index of a field that the format uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FieldId(u32);

/// A value of `__print_flags` or `__print_symbolic`, and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SymbolicName {
    /// `None` if the value is a name that the format does not define.
    pub(super) value: Option<u64>,
    pub(super) name: TextRange,
}

/// A range of [`Ast::entries`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SymbolicNames {
    start: u32,
    end: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ExprNode<'a> {
    Number(CInteger),
    Text(TextRange),
    /// A name that the format does not define, such as a constant of the kernel.
    Name,
    /// `REC->field`
    Field(FieldId),
    Unary(Unary, NodeId),
    Binary(BinaryOperator, NodeId, NodeId),
    /// `a ? b : c`, or `a ?: c`.
    Cond {
        test: NodeId,
        then: Option<NodeId>,
        or: NodeId,
    },
    Cast(CType, NodeId),
    /// `a[b]`; `*a` is `a[0]`.
    Index(NodeId, NodeId),
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
        of: NodeId,
        delimiter: TextRange,
        entries: SymbolicNames,
    },
    Symbolic {
        of: NodeId,
        entries: SymbolicNames,
    },
    /// `__print_hex`, and `__print_hex_str` without spaces.
    Hex {
        of: NodeId,
        len: NodeId,
        spaced: bool,
    },
    /// `__print_array`; without a count, `__print_dynamic_array`.
    Array {
        of: NodeId,
        count: Option<NodeId>,
        size: NodeId,
    },
    /// What cannot be evaluated: a function of the kernel, or statements. The text that names it.
    Opaque(&'a [u8]),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ast<'a> {
    nodes: Vec<ExprNode<'a>>,
    /// The number of levels of each node's tree.
    levels: Vec<u8>,
    texts: Vec<u8>,
    entries: Vec<SymbolicName>,
    fields: Vec<FormatField<'a>>,
    pub(super) names: Vec<&'a [u8]>,
}

impl<'a> Ast<'a> {
    /// Appends a node; `None` if its tree has more than `max` levels. Operators on numbers become numbers.
    pub(super) fn push(&mut self, node: ExprNode<'a>, max: u8, long_size: u8) -> Option<NodeId> {
        let node = self.folded(node, long_size).unwrap_or(node);
        let level = |id: NodeId| self.levels.get(id.0 as usize).copied().unwrap_or(u8::MAX);
        let below = match node {
            ExprNode::Unary(_, a) | ExprNode::Cast(_, a) => level(a),
            ExprNode::Binary(_, a, b) | ExprNode::Index(a, b) => level(a).max(level(b)),
            ExprNode::Cond { test, then, or } => level(test).max(then.map_or(0, level)).max(level(or)),
            ExprNode::Flags { of, .. } | ExprNode::Symbolic { of, .. } => level(of),
            ExprNode::Hex { of, len, .. } => level(of).max(level(len)),
            ExprNode::Array { of, count, size } => level(of).max(count.map_or(0, level)).max(level(size)),
            _ => 0,
        };
        let levels = below.checked_add(1).filter(|&levels| levels <= max)?;
        let id = NodeId(u32::try_from(self.nodes.len()).ok()?);
        self.nodes.push(node);
        self.levels.push(levels);
        Some(id)
    }

    fn folded(&self, node: ExprNode<'a>, long_size: u8) -> Option<ExprNode<'a>> {
        let number = |id| match self.node(id) {
            ExprNode::Number(number) => Some(number),
            _ => None,
        };
        let value = match node {
            ExprNode::Unary(operator, a) => operator.apply(number(a)?),
            ExprNode::Binary(operator, a, b) => operator.apply(number(a)?, number(b)?)?,
            ExprNode::Cast(c_type, a) => c_type.apply(number(a)?, long_size),
            _ => return None,
        };
        Some(ExprNode::Number(value))
    }

    pub(super) fn node(&self, id: NodeId) -> ExprNode<'a> {
        self.nodes.get(id.0 as usize).copied().unwrap_or(ExprNode::Opaque(b""))
    }

    /// Appends a string.
    pub(super) fn push_text(&mut self, decoded: &[u8]) -> TextRange {
        let start = self.text_end();
        self.texts.extend_from_slice(decoded);
        TextRange { start, end: self.text_end() }
    }

    fn text_end(&self) -> u32 {
        u32::try_from(self.texts.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn text(&self, text: TextRange) -> &[u8] {
        self.texts.get(text.start as usize..text.end as usize).unwrap_or_default()
    }

    pub(super) fn push_entries(&mut self, entries: &[SymbolicName]) -> SymbolicNames {
        let end = |entries: &Vec<SymbolicName>| u32::try_from(entries.len()).unwrap_or(u32::MAX);
        let start = end(&self.entries);
        self.entries.extend_from_slice(entries);
        SymbolicNames { start, end: end(&self.entries) }
    }

    pub(super) fn entries(&self, entries: SymbolicNames) -> &[SymbolicName] {
        self.entries.get(entries.start as usize..entries.end as usize).unwrap_or_default()
    }

    /// Returns the index of a field, which is kept once.
    pub(super) fn push_field(&mut self, field: &FormatField<'a>) -> FieldId {
        let known = self.fields.iter().position(|known| known.name == field.name);
        let index = known.unwrap_or(self.fields.len());
        if known.is_none() {
            self.fields.push(*field);
        }
        FieldId(u32::try_from(index).unwrap_or(u32::MAX))
    }

    pub(super) fn field(&self, id: FieldId) -> Option<&FormatField<'a>> {
        self.fields.get(id.0 as usize)
    }
}

/// Returns the bytes of one element of a field's array; 0 if they are unknown.
pub(super) fn element_bytes(field: &FormatField<'_>) -> u8 {
    match (field.place, field.element) {
        // An array of a type that is not known by its name, whose elements have the size of an integer.
        (FieldPlacement::Array { len: Some(len) }, ElementType::Bytes) => {
            let bytes = field.size.checked_div(len).and_then(|bytes| u8::try_from(bytes).ok());
            bytes.filter(|bytes| matches!(bytes, 1 | 2 | 4 | 8)).unwrap_or(0)
        }
        (_, element) => element.bytes(),
    }
}
