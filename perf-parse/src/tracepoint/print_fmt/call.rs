//! The helpers that the kernel's print formats call, such as `__print_flags`.

use alloc::vec::Vec;

use nom::Parser as _;
use nom::combinator::opt;
use nom::sequence::terminated;

use super::super::grammar::{Parsed, SyntaxFault};
use super::ast::{ExprNode, FieldId, NodeId, SymbolicName, SymbolicNames};
use super::grammar::{ExprParser, c_type};
use super::num::{BinaryOperator, CInteger, CType};
use super::token::{fault, skip_brackets, strings, symbol};

/// Names that the kernel leaves in its formats and that perf knows.
const KNOWN: &[(&[u8], u64)] = &[
    (b"HI_SOFTIRQ", 0),
    (b"TIMER_SOFTIRQ", 1),
    (b"NET_TX_SOFTIRQ", 2),
    (b"NET_RX_SOFTIRQ", 3),
    (b"BLOCK_SOFTIRQ", 4),
    (b"IRQ_POLL_SOFTIRQ", 5),
    (b"TASKLET_SOFTIRQ", 6),
    (b"SCHED_SOFTIRQ", 7),
    (b"HRTIMER_SOFTIRQ", 8),
    (b"RCU_SOFTIRQ", 9),
    (b"HRTIMER_NORESTART", 0),
    (b"HRTIMER_RESTART", 1),
];

const NS_PER_SEC: u64 = 1_000_000_000;

impl<'a> ExprParser<'a, '_> {
    /// Returns the value of a name of the kernel.
    pub(super) fn known(&self, name: &[u8]) -> Option<u64> {
        KNOWN.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// Takes the rest of a call. `name` is at the start of `input`; `rest` begins after the parenthesis.
    pub(super) fn call(&mut self, input: &'a [u8], rest: &'a [u8], name: &'a [u8]) -> Parsed<'a, NodeId> {
        let of_field: Option<fn(FieldId) -> ExprNode<'a>> = match name {
            b"__get_dynamic_array" | b"__get_rel_dynamic_array" => Some(ExprNode::Dynamic),
            b"__get_dynamic_array_len" | b"__get_rel_dynamic_array_len" => Some(ExprNode::Len),
            b"__get_str" | b"__get_rel_str" => Some(ExprNode::Str),
            b"__get_bitmask" | b"__get_rel_bitmask" | b"__get_cpumask" | b"__get_rel_cpumask" => {
                Some(ExprNode::Bitmask)
            }
            b"__get_sockaddr" | b"__get_rel_sockaddr" => Some(ExprNode::Socket),
            _ => None,
        };
        if let Some(node) = of_field {
            let (rest, field) = self.field(rest)?;
            return Ok((close(rest)?, self.push(input, node(field))?));
        }
        match name {
            b"__print_flags" | b"__print_flags_u64" => {
                let (rest, of) = self.argument(rest)?;
                let (rest, delimiter) =
                    terminated(|input| strings(&mut self.ast, input), opt(symbol(","))).parse(rest)?;
                let (rest, entries) = self.entries(rest)?;
                Ok((close(rest)?, self.push(input, ExprNode::Flags { of, delimiter, entries })?))
            }
            b"__print_symbolic" | b"__print_symbolic_u64" => {
                let (rest, of) = self.argument(rest)?;
                let (rest, entries) = self.entries(rest)?;
                Ok((close(rest)?, self.push(input, ExprNode::Symbolic { of, entries })?))
            }
            b"__print_hex" | b"__print_hex_str" => {
                let (rest, of) = self.argument(rest)?;
                let (rest, len) = self.expression(rest)?;
                let spaced = name == b"__print_hex";
                Ok((close(rest)?, self.push(input, ExprNode::Hex { of, len, spaced })?))
            }
            b"__print_array" => {
                let (rest, of) = self.argument(rest)?;
                let (rest, count) = self.argument(rest)?;
                let (rest, size) = self.expression(rest)?;
                Ok((close(rest)?, self.push(input, ExprNode::Array { of, count: Some(count), size })?))
            }
            b"__print_dynamic_array" => {
                let (rest, field) = self.field(rest)?;
                let of = self.push(input, ExprNode::Dynamic(field))?;
                let (rest, _) = comma(rest)?;
                let (rest, size) = self.expression(rest)?;
                Ok((close(rest)?, self.push(input, ExprNode::Array { of, count: None, size })?))
            }
            b"__print_ns_to_secs" | b"__print_ns_without_secs" => {
                let (rest, of) = self.expression(rest)?;
                let second = self.push(input, ExprNode::Number(CInteger::new(NS_PER_SEC, 8, false)))?;
                let to_secs = name == b"__print_ns_to_secs";
                let operator = if to_secs { BinaryOperator::Divide } else { BinaryOperator::Remainder };
                Ok((close(rest)?, self.push(input, ExprNode::Binary(operator, of, second))?))
            }
            b"__builtin_expect" => {
                let (rest, of) = self.argument(rest)?;
                let (rest, _) = self.expression(rest)?;
                Ok((close(rest)?, of))
            }
            b"sizeof" => self.sizeof(input, rest),
            // A function of the kernel.
            _ => {
                let from = input.len().saturating_sub(rest.len()).saturating_sub(1);
                let brackets = input.get(from..).unwrap_or_default();
                let (rest, _) = skip_brackets(brackets).ok_or_else(|| fault(brackets, "closed brackets"))?;
                Ok((rest, self.push(input, ExprNode::Opaque(name))?))
            }
        }
    }

    /// Takes an argument and the comma after it.
    fn argument(&mut self, input: &'a [u8]) -> Parsed<'a, NodeId> {
        let (rest, id) = self.expression(input)?;
        let (rest, _) = comma(rest)?;
        Ok((rest, id))
    }

    /// Takes `{ VALUE, "NAME" }`, any number of times. An entry without a name, such as `{ -1, NULL }`, is the end of
    /// the kernel's list, and is left out.
    fn entries(&mut self, input: &'a [u8]) -> Parsed<'a, SymbolicNames> {
        let mut entries = Vec::new();
        let mut left = input;
        while let Ok((rest, _)) = symbol("{").parse(left) {
            let close = |rest| -> Parsed<'a, ()> {
                let (rest, _) = (opt(symbol(",")), symbol("}")).parse(rest)?;
                Ok((opt(symbol(",")).parse(rest)?.0, ()))
            };
            if let Ok((rest, ())) = close(rest) {
                left = rest;
                continue;
            }
            let (rest, value) = self.argument(rest)?;
            let (rest, name) = self.expression(rest)?;
            match (self.ast.node(value), self.ast.node(name)) {
                (ExprNode::Number(value), ExprNode::Text(name)) => {
                    entries.push(SymbolicName { value: Some(value.value), name })
                }
                (_, ExprNode::Text(name)) => entries.push(SymbolicName { value: None, name }),
                _ => {}
            }
            left = close(rest).map_err(|_| fault(rest, "a brace"))?.0;
        }
        Ok((left, self.ast.push_entries(&entries)))
    }

    /// Takes the argument of `sizeof`: a type or a field.
    fn sizeof(&mut self, input: &'a [u8], rest: &'a [u8]) -> Parsed<'a, NodeId> {
        let long_size = self.format.long_size();
        let (rest, bytes) = if let Ok((rest, (c_type, _))) = (c_type, symbol(")")).parse(rest) {
            let c_type = CType::new(c_type, long_size);
            (rest, u32::from(if c_type.is_pointer { long_size } else { c_type.bytes }))
        } else {
            let record = (symbol("REC"), symbol("->")).parse(rest);
            let (rest, _) =
                record.map_err(|_: nom::Err<SyntaxFault<'_>>| fault(rest, "a type or a field"))?;
            let (rest, field) = self.field(rest)?;
            (close(rest)?, self.ast.field(field).map_or(0, |field| field.size))
        };
        let node = if bytes > 0 {
            ExprNode::Number(CInteger::new(bytes.into(), long_size, false))
        } else {
            ExprNode::Opaque(b"sizeof")
        };
        Ok((rest, self.push(input, node)?))
    }
}

fn comma(input: &[u8]) -> Parsed<'_, ()> {
    let parsed = symbol(",").parse(input);
    parsed.map(|(rest, _)| (rest, ())).map_err(|_: nom::Err<SyntaxFault<'_>>| fault(input, "a comma"))
}

/// Takes the parenthesis at the end of a call.
fn close(input: &[u8]) -> Result<&[u8], nom::Err<SyntaxFault<'_>>> {
    let parsed = symbol(")").parse(input);
    parsed.map(|(rest, _)| rest).map_err(|_: nom::Err<SyntaxFault<'_>>| fault(input, "a parenthesis"))
}
