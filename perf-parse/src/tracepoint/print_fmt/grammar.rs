//! The grammar of a print format's arguments: C expressions.
//!
//! Operators and their precedence are those of C. Each level of nesting is counted, so that no text exhausts the stack.
//! What the kernel may write but no reader can evaluate, such as calls of its functions, is skipped by its brackets and
//! becomes [`ExprNode::Opaque`].

use alloc::vec::Vec;

use nom::Parser as _;
use nom::branch::alt;
use nom::bytes::complete::{tag, take_while};
use nom::character::complete::{char, multispace0};
use nom::combinator::{opt, recognize};
use nom::sequence::{delimited, preceded};

use super::super::field::FormatField;
use super::super::format::Format;
use super::super::grammar::{Parsed, SyntaxFault};
use super::PrintFmt;
use super::ast::{Ast, ExprNode, FieldId, NodeId};
use super::num::{CInteger, CType, Unary};
use super::token::{character, fault, identifier, number, operator, skip_brackets, strings, symbol};

/// Maximum number of variables in scope, so that the search for a name takes constant time. Statements with more cannot be
/// evaluated.
const MAX_LOCALS: usize = 64;

/// The parser's state: the tree so far, and the variables in scope.
#[derive(Debug)]
pub(super) struct ExprParser<'a, 'f> {
    pub(super) format: &'f Format<'a>,
    pub(super) ast: Ast<'a>,
    levels: u8,
    locals: Vec<(&'a [u8], NodeId)>,
}

impl<'a, 'f> ExprParser<'a, 'f> {
    pub(super) fn new(format: &'f Format<'a>) -> Self {
        Self { format, ast: Ast::default(), levels: 0, locals: Vec::new() }
    }

    pub(super) fn push(
        &mut self,
        at: &'a [u8],
        node: ExprNode<'a>,
    ) -> Result<NodeId, nom::Err<SyntaxFault<'a>>> {
        self.ast
            .push(node, PrintFmt::MAX_DEPTH, self.format.long_size())
            .ok_or_else(|| fault(at, "an expression of at most 64 levels"))
    }

    /// Takes an expression, one level below the current one.
    pub(super) fn expression(&mut self, input: &'a [u8]) -> Parsed<'a, NodeId> {
        self.nested(input, Self::conditional)
    }

    fn nested<T>(
        &mut self,
        input: &'a [u8],
        parse: impl FnOnce(&mut Self, &'a [u8]) -> Parsed<'a, T>,
    ) -> Parsed<'a, T> {
        if self.levels == PrintFmt::MAX_DEPTH {
            return Err(fault(input, "an expression of at most 64 levels"));
        }
        self.levels = self.levels.saturating_add(1);
        let parsed = parse(self, input);
        self.levels = self.levels.saturating_sub(1);
        parsed
    }

    fn conditional(&mut self, input: &'a [u8]) -> Parsed<'a, NodeId> {
        let (rest, test) = self.binary(input, 1)?;
        let (rest, question) = opt(symbol("?")).parse(rest)?;
        if question.is_none() {
            return Ok((rest, test));
        }
        let (rest, short) = opt(symbol(":")).parse(rest)?;
        let (rest, then) = match short {
            Some(_) => (rest, None),
            None => {
                let (rest, then) = self.expression(rest)?;
                let (rest, _) =
                    symbol(":").parse(rest).map_err(|_: nom::Err<SyntaxFault<'_>>| fault(rest, "a colon"))?;
                (rest, Some(then))
            }
        };
        let (rest, or) = self.expression(rest)?;
        Ok((rest, self.push(input, ExprNode::Cond { test, then, or })?))
    }

    /// Takes operands and the operators of at least this precedence between them.
    fn binary(&mut self, input: &'a [u8], least: u8) -> Parsed<'a, NodeId> {
        let (mut rest, mut left) = self.unary(input)?;
        while let Ok((after, (operator, precedence))) = operator(rest) {
            if precedence < least {
                break;
            }
            let above = precedence.saturating_add(1);
            let (after, right) = self.nested(after, |this, input| this.binary(input, above))?;
            left = self.push(rest, ExprNode::Binary(operator, left, right))?;
            rest = after;
        }
        Ok((rest, left))
    }

    fn unary(&mut self, input: &'a [u8]) -> Parsed<'a, NodeId> {
        let (input, _) = multispace0(input)?;
        let rest = input.get(1..).unwrap_or_default();
        let operator = match input.first() {
            Some(b'!') => Unary::Not,
            Some(b'~') => Unary::Invert,
            Some(b'-') => Unary::Negate,
            // The address of an array or of a structure is that of its bytes.
            Some(b'+' | b'&') => return self.nested(rest, Self::unary),
            Some(b'*') => {
                let (rest, of) = self.nested(rest, Self::unary)?;
                let first = self.push(input, ExprNode::Number(CInteger::int(0)))?;
                return Ok((rest, self.push(input, ExprNode::Index(of, first))?));
            }
            _ => {
                if let Some((rest, c_type)) = self.cast(input) {
                    let (rest, of) = self.nested(rest, Self::unary)?;
                    return Ok((rest, self.push(input, ExprNode::Cast(c_type, of))?));
                }
                return self.postfix(input);
            }
        };
        let (rest, of) = self.nested(rest, Self::unary)?;
        Ok((rest, self.push(input, ExprNode::Unary(operator, of))?))
    }

    /// Takes a type in parentheses that an operand follows.
    fn cast(&self, input: &'a [u8]) -> Option<(&'a [u8], CType)> {
        let (rest, c_type) =
            delimited(char('('), c_type, char(')')).parse(input).ok().filter(|_| !is_record(input))?;
        let c_type = c_type.trim_ascii();
        let next = rest.trim_ascii_start().first()?;
        let is_operand = next.is_ascii_alphanumeric() || b"_(\"'~!".contains(next);
        let is_sign = b"-+*&".contains(next);
        let new = CType::new(c_type, self.format.long_size());
        let is_name = c_type.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let is_local = self.locals.iter().any(|(local, _)| *local == c_type);
        let is_type = !is_name || new.bytes > 0 || c_type.ends_with(b"_t");
        (!is_local && (is_operand || is_sign && is_type)).then_some((rest, new))
    }

    fn postfix(&mut self, input: &'a [u8]) -> Parsed<'a, NodeId> {
        let (mut rest, mut left) = self.primary(input)?;
        loop {
            if let Ok((after, _)) = symbol("[").parse(rest) {
                let (after, index) = self.expression(after)?;
                let (after, _) = symbol("]")
                    .parse(after)
                    .map_err(|_: nom::Err<SyntaxFault<'_>>| fault(after, "a bracket"))?;
                left = self.push(input, ExprNode::Index(left, index))?;
                rest = after;
            } else if let Ok((after, member)) =
                preceded(alt((symbol("."), symbol("->"))), identifier).parse(rest)
            {
                left = self.push(input, ExprNode::Opaque(member))?;
                rest = after;
            } else {
                return Ok((rest, left));
            }
        }
    }

    fn primary(&mut self, input: &'a [u8]) -> Parsed<'a, NodeId> {
        match input.first() {
            Some(b'(') if symbol("{").parse(input.get(1..).unwrap_or_default()).is_ok() => {
                self.statements(input)
            }
            Some(b'(') if is_record(input) => {
                let (rest, _) = (tag("("), symbol("REC"), symbol(")")).parse(input)?;
                self.record(input, rest)
            }
            Some(b'(') => {
                let (rest, inner) = self.expression(input.get(1..).unwrap_or_default())?;
                let close = symbol(")").parse(rest);
                let (rest, _) = close.map_err(|_: nom::Err<SyntaxFault<'_>>| fault(rest, "a parenthesis"))?;
                Ok((rest, inner))
            }
            Some(b'"') => {
                let (rest, text) = strings(&mut self.ast, input)?;
                Ok((rest, self.push(input, ExprNode::Text(text))?))
            }
            Some(b'\'') => {
                let (rest, code) = character(input)?;
                Ok((rest, self.push(input, ExprNode::Number(CInteger::int(code.into())))?))
            }
            Some(b'0'..=b'9') => {
                let (rest, number) = number(input)?;
                Ok((rest, self.push(input, ExprNode::Number(number))?))
            }
            _ => {
                let name =
                    identifier(input).map_err(|_: nom::Err<SyntaxFault<'_>>| fault(input, "an operand"));
                let (rest, name) = name?;
                self.named(input, rest, name)
            }
        }
    }

    /// Takes what follows a name: a field, a call, or nothing.
    fn named(&mut self, input: &'a [u8], rest: &'a [u8], name: &'a [u8]) -> Parsed<'a, NodeId> {
        if let Some((_, local)) = self.locals.iter().rev().find(|(local, _)| *local == name) {
            return Ok((rest, *local));
        }
        if name == b"REC" {
            return self.record(input, rest);
        }
        if let Ok((arguments, _)) = symbol("(").parse(rest) {
            return self.call(input, arguments, name);
        }
        let node = match name {
            b"true" => ExprNode::Number(CInteger::int(1)),
            b"false" | b"NULL" => ExprNode::Number(CInteger::int(0)),
            _ => self.known(name).map_or(ExprNode::Name, |value| ExprNode::Number(CInteger::int(value))),
        };
        if node == ExprNode::Name
            && !self.ast.names.contains(&name)
            && self.ast.names.len() < Format::MAX_FIELDS
        {
            self.ast.names.push(name);
        }
        Ok((rest, self.push(input, node)?))
    }

    /// Takes the arrow and the field after the name of the record.
    fn record(&mut self, input: &'a [u8], rest: &'a [u8]) -> Parsed<'a, NodeId> {
        let (rest, _) =
            symbol("->").parse(rest).map_err(|_: nom::Err<SyntaxFault<'_>>| fault(rest, "an arrow"))?;
        let (rest, field) = self.field(rest)?;
        Ok((rest, self.push(input, ExprNode::Field(field))?))
    }

    /// Takes the name of a field.
    pub(super) fn field(&mut self, input: &'a [u8]) -> Parsed<'a, FieldId> {
        let (rest, name) =
            identifier(input).map_err(|_: nom::Err<SyntaxFault<'_>>| fault(input, "a field's name"))?;
        let mut fields = self.format.own_fields().iter().chain(self.format.common_fields());
        let field: &FormatField<'a> =
            fields.find(|field| field.name == name).ok_or_else(|| fault(input, "a field of this format"))?;
        Ok((rest, self.ast.push_field(field)))
    }

    /// Takes `({ TYPE NAME = EXPRESSION; ... EXPRESSION; })`. Other statements are skipped.
    fn statements(&mut self, input: &'a [u8]) -> Parsed<'a, NodeId> {
        let scope = self.locals.len();
        let parsed = self.nested(input, Self::declarations);
        self.locals.truncate(scope);
        match parsed {
            Ok(parsed) => Ok(parsed),
            Err(_) => {
                let (rest, _) = skip_brackets(input).ok_or_else(|| fault(input, "closed brackets"))?;
                Ok((rest, self.push(input, ExprNode::Opaque(b"({"))?))
            }
        }
    }

    fn declarations(&mut self, input: &'a [u8]) -> Parsed<'a, NodeId> {
        let (mut rest, _) = (char('('), symbol("{")).parse(input)?;
        while let Ok((after, declared)) = (c_type, symbol("=")).parse(rest) {
            let words = declared.0.trim_ascii();
            let start = words.iter().rposition(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
            let name = words.get(start.map_or(0, |start| start.saturating_add(1))..).unwrap_or_default();
            let (after, local) = self.expression(after)?;
            let (after, _) = symbol(";").parse(after)?;
            if self.locals.len() >= MAX_LOCALS {
                return Err(fault(rest, "at most 64 variables"));
            }
            self.locals.push((name, local));
            rest = after;
        }
        let (rest, result) = self.expression(rest)?;
        let (rest, _) = (symbol(";"), symbol("}"), symbol(")")).parse(rest)?;
        Ok((rest, result))
    }
}

/// Returns whether the record in parentheses follows, as in `(REC)->field`.
fn is_record(input: &[u8]) -> bool {
    let parsed: Parsed<'_, _> = (tag("("), symbol("REC"), symbol(")")).parse(input);
    parsed.is_ok()
}

/// Takes the words and stars of a type.
pub(super) fn c_type(input: &[u8]) -> Parsed<'_, &[u8]> {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte.is_ascii_whitespace();
    let star = |byte: u8| byte == b'*' || word(byte);
    preceded(multispace0, recognize((identifier, take_while(star)))).parse(input)
}
