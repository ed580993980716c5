//! Evaluation of arguments as numbers, and as places in the raw data.

use alloc::vec::Vec;

use perf_abi::endian::Endianness;

use super::super::element::ElementType;
use super::super::field::{FieldPlacement, FormatField};
use super::super::value::unsigned;
use super::Addresses;
use super::ast::{Ast, ExprNode, FieldId, NodeId, element_bytes};
use super::error::PrintError;
use super::num::{BinaryOperator, CInteger};

/// The evaluation of one event.
pub(super) struct Eval<'s, 'a> {
    pub(super) ast: &'s Ast<'a>,
    pub(super) raw: &'s [u8],
    pub(super) long_size: u8,
    pub(super) addresses: &'s dyn Addresses,
    pub(super) out: &'s mut Vec<u8>,
    pub(super) max: u32,
    pub(super) left: u32,
    pub(super) order: Endianness,
}

impl<'s, 'a> Eval<'s, 'a> {
    /// Takes part of the allowed cost.
    pub(super) fn spend(&mut self, cost: usize) -> Result<(), PrintError<'a>> {
        let left = u32::try_from(cost).ok().and_then(|cost| self.left.checked_sub(cost));
        self.left = left.ok_or(PrintError::Cost { max: self.max })?;
        Ok(())
    }

    /// Decodes an integer of the raw data.
    pub(super) fn unsigned(&self, bytes: &[u8]) -> u64 {
        unsigned::<Endianness>(self.order, bytes)
    }

    /// Appends bytes to the output.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<(), PrintError<'a>> {
        self.spend(bytes.len())?;
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    pub(super) fn field(&self, id: FieldId) -> Result<&'s FormatField<'a>, PrintError<'a>> {
        self.ast.field(id).ok_or(PrintError::Argument { must: "a field" })
    }

    /// Evaluates a number, extended to 64 bits.
    pub(super) fn number(&mut self, id: NodeId) -> Result<u64, PrintError<'a>> {
        Ok(self.typed(id)?.value)
    }

    fn typed(&mut self, id: NodeId) -> Result<CInteger, PrintError<'a>> {
        self.spend(1)?;
        match self.ast.node(id) {
            ExprNode::Number(number) => Ok(number),
            // As in perf.
            ExprNode::Name => Ok(CInteger::int(0)),
            ExprNode::Field(field) => self.value(field),
            ExprNode::Unary(operator, of) => Ok(operator.apply(self.typed(of)?)),
            ExprNode::Binary(operator, a, b) => {
                let a = self.typed(a)?;
                match (operator, a.value) {
                    (BinaryOperator::And, 0) => Ok(CInteger::int(0)),
                    (BinaryOperator::Or, 1..) => Ok(CInteger::int(1)),
                    _ => operator.apply(a, self.typed(b)?).ok_or(PrintError::DivisionByZero),
                }
            }
            ExprNode::Cond { test, then, or } => {
                let value = self.typed(test)?;
                match then {
                    _ if value.value == 0 => self.typed(or),
                    Some(then) => self.typed(then),
                    None => Ok(value),
                }
            }
            ExprNode::Cast(c_type, of) => Ok(c_type.apply(self.typed(of)?, self.long_size)),
            ExprNode::Index(of, index) => {
                let index = self.number(index)?;
                self.element(of, index)
            }
            ExprNode::Len(field) => {
                Ok(CInteger::int(self.field(field)?.extent(self.raw, self.order)?.len() as u64))
            }
            ExprNode::Opaque(name) => Err(PrintError::Unknown { name }),
            _ => Err(PrintError::Argument { must: "a number" }),
        }
    }

    /// Returns the value of a field that is an integer.
    fn value(&self, field: FieldId) -> Result<CInteger, PrintError<'a>> {
        let field = self.field(field)?;
        let bytes = field.extent(self.raw, self.order)?;
        match (field.place, u8::try_from(bytes.len())) {
            (FieldPlacement::Value, Ok(width @ (1 | 2 | 4 | 8))) => {
                Ok(CInteger::new(self.unsigned(bytes), width, field.signed))
            }
            _ => Err(PrintError::Argument { must: "a number" }),
        }
    }

    /// Returns an element of an array. A cast to a pointer names the type of the elements.
    fn element(&mut self, of: NodeId, index: u64) -> Result<CInteger, PrintError<'a>> {
        let (mut of, mut element) = (of, None);
        while let ExprNode::Cast(c_type, inner) = self.ast.node(of) {
            self.spend(1)?;
            element = element.or(Some((c_type.bytes, c_type.is_signed)));
            of = inner;
        }
        let (bytes, is_signed) = match (element, self.ast.node(of)) {
            (Some(element), _) => element,
            (None, ExprNode::Field(field) | ExprNode::Dynamic(field)) => {
                let field = self.field(field)?;
                (element_bytes(field), field.signed && field.element != ElementType::Char)
            }
            (None, _) => (1, false),
        };
        let place = self.place(of)?;
        let width = usize::from(bytes);
        let start = usize::try_from(index).ok().and_then(|index| index.checked_mul(width));
        let element = start.and_then(|start| place.get(start..start.checked_add(width)?));
        let element = element.filter(|_| matches!(bytes, 1 | 2 | 4 | 8));
        element
            .map(|element| CInteger::new(self.unsigned(element), bytes, is_signed))
            .ok_or(PrintError::Argument { must: "the index of an element" })
    }

    /// Returns the bytes to which an argument points.
    pub(super) fn place(&mut self, id: NodeId) -> Result<&'s [u8], PrintError<'a>> {
        self.spend(1)?;
        match self.ast.node(id) {
            ExprNode::Field(field)
            | ExprNode::Dynamic(field)
            | ExprNode::Str(field)
            | ExprNode::Bitmask(field)
            | ExprNode::Socket(field) => {
                let field = self.field(field)?;
                let is_pointer = matches!(
                    (field.place, field.element),
                    (FieldPlacement::Value, ElementType::Pointer { .. })
                );
                if is_pointer {
                    return Err(PrintError::Argument { must: "bytes in the raw data" });
                }
                Ok(field.extent(self.raw, self.order)?)
            }
            ExprNode::Cast(_, of) => self.place(of),
            ExprNode::Cond { test, then: Some(then), or } => {
                let id = if self.number(test)? != 0 { then } else { or };
                self.place(id)
            }
            ExprNode::Opaque(name) => Err(PrintError::Unknown { name }),
            _ => Err(PrintError::Argument { must: "bytes in the raw data" }),
        }
    }
}
