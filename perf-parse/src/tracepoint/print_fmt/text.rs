//! Printing: directives with their arguments.

use perf_abi::endian::Endianness;

use super::super::element::ElementType;
use super::super::field::FieldPlacement;
use super::ast::{ExprNode, NodeId, SymbolicNames, TextRange};
use super::error::PrintError;
use super::eval::Eval;
use super::printf::{self, Conversion, DirectiveNumber, FieldWidth, Flags};
use super::{Directive, TemplatePiece};

impl<'a> Eval<'_, 'a> {
    pub(super) fn piece(&mut self, piece: &TemplatePiece) -> Result<(), PrintError<'a>> {
        match piece {
            TemplatePiece::Literal(text) => self.put(self.ast.text(*text)),
            TemplatePiece::Directive(directive) => self.directive(directive),
        }
    }

    fn directive(&mut self, directive: &Directive) -> Result<(), PrintError<'a>> {
        let mut flags = directive.flags;
        let mut size = FieldWidth::default();
        match directive.width {
            Some((DirectiveNumber::Number(width), _)) => size.width = width,
            Some((DirectiveNumber::Argument, id)) => {
                // A negative width aligns to the left.
                let width = i64::from(
                    u32::try_from(self.number(id)? & 0xffff_ffff).unwrap_or_default().cast_signed(),
                );
                flags.left |= width < 0;
                size.width = u32::try_from(width.unsigned_abs()).unwrap_or_default();
            }
            None => {}
        }
        match directive.precision {
            Some((DirectiveNumber::Number(precision), _)) => size.precision = Some(precision),
            Some((DirectiveNumber::Argument, id)) => {
                let precision = u32::try_from(self.number(id)? & 0xffff_ffff).unwrap_or_default();
                // A negative precision is none.
                size.precision = Some(precision).filter(|precision| precision.cast_signed() >= 0);
            }
            None => {}
        }
        let start = self.out.len();
        let argument = directive.argument;
        match directive.kind {
            super::DirectiveValue::Text => {
                self.text(argument)?;
                let len = self.out.len().saturating_sub(start);
                let len = size.precision.map_or(len, |precision| len.min(precision as usize));
                self.out.truncate(start.saturating_add(len));
            }
            super::DirectiveValue::Char => {
                let code = u8::try_from(self.number(argument)? & 0xff).unwrap_or_default();
                // A NUL would end the text.
                if code != 0 {
                    self.put(&[code])?;
                }
            }
            super::DirectiveValue::Pointer(letters) => {
                let letters = self.ast.text(letters);
                return self.pointer(letters, argument, size);
            }
            super::DirectiveValue::Integer(conversion) => {
                let value = self.number(argument)?;
                self.integer(conversion, value, flags, size)?;
            }
        }
        self.pad(start, size.width, flags.left)
    }

    pub(super) fn integer(
        &mut self,
        conversion: Conversion<'_>,
        value: u64,
        flags: Flags,
        size: FieldWidth,
    ) -> Result<(), PrintError<'a>> {
        if let Some(integer) = conversion.integer(value, flags) {
            // Sign and digits have at most 24 bytes.
            self.spend(size.precision.unwrap_or(size.width).max(24) as usize)?;
            printf::integer(self.out, integer, flags, size);
        }
        Ok(())
    }

    /// Prints a number in hexadecimal, with `0x`.
    pub(super) fn hex(&mut self, value: u64) -> Result<(), PrintError<'a>> {
        self.put(b"0x")?;
        let conversion = Conversion::Unsigned { bytes: 8, radix: 16, upper: false };
        self.integer(conversion, value, Flags::default(), FieldWidth::default())
    }

    pub(super) fn decimal(&mut self, value: u64) -> Result<(), PrintError<'a>> {
        let conversion = Conversion::Unsigned { bytes: 8, radix: 10, upper: false };
        self.integer(conversion, value, Flags::default(), FieldWidth::default())
    }

    /// Pads the output since `start` to a width.
    fn pad(&mut self, start: usize, width: u32, left: bool) -> Result<(), PrintError<'a>> {
        let len = self.out.len().saturating_sub(start);
        let missing = (width as usize).saturating_sub(len);
        self.spend(missing)?;
        self.out.resize(self.out.len().saturating_add(missing), b' ');
        let printed = self.out.get_mut(start..).unwrap_or_default();
        printed.rotate_right(if left { 0 } else { missing });
        Ok(())
    }

    /// Prints a string.
    fn text(&mut self, id: NodeId) -> Result<(), PrintError<'a>> {
        self.spend(1)?;
        match self.ast.node(id) {
            ExprNode::Text(text) => self.put(self.ast.text(text)),
            ExprNode::Cast(_, of) => self.text(of),
            ExprNode::Cond { test, then, or } => {
                let value = self.number(test)?;
                self.text(then.filter(|_| value != 0).unwrap_or(or))
            }
            ExprNode::Field(field) => {
                let field = self.field(field)?;
                let bytes = field.extent(self.raw, self.order)?;
                match field.place {
                    // A value of the size of a pointer is the address of a string.
                    FieldPlacement::Value if field.element != ElementType::Bytes => {
                        if bytes.len() != usize::from(self.long_size) {
                            return Err(PrintError::Argument { must: "a string" });
                        }
                        self.string_at(self.unsigned(bytes))
                    }
                    _ => self.put(until_nul(bytes)),
                }
            }
            ExprNode::Str(field) | ExprNode::Dynamic(field) => {
                let bytes = self.field(field)?.extent(self.raw, self.order)?;
                self.put(until_nul(bytes))
            }
            ExprNode::Bitmask(field) => {
                let bytes = self.field(field)?.extent(self.raw, self.order)?;
                self.bitmask(bytes)
            }
            ExprNode::Socket(field) => {
                let bytes = self.field(field)?.extent(self.raw, self.order)?;
                self.socket(bytes, b"pc")
            }
            ExprNode::Flags { of, delimiter, entries } => {
                let value = self.number(of)?;
                self.flags(value, delimiter, entries)
            }
            ExprNode::Symbolic { of, entries } => {
                let value = self.number(of)?;
                self.symbolic(value, entries)
            }
            ExprNode::Hex { of, len, spaced } => {
                let len = self.number(len)?;
                let bytes = self.place(of)?;
                let must = "no longer than the bytes";
                let bytes = usize::try_from(len).ok().and_then(|len| bytes.get(..len));
                self.bytes(bytes.ok_or(PrintError::Argument { must })?, if spaced { b" " } else { b"" })
            }
            ExprNode::Array { of, count, size } => {
                let count = count.map(|count| self.number(count)).transpose()?;
                let size = self.number(size)?;
                let bytes = self.place(of)?;
                self.array(bytes, count, size)
            }
            // As the kernel and C print a pointer that is NULL.
            ExprNode::Number(number) if number.value == 0 => self.put(b"(null)"),
            ExprNode::Opaque(name) => Err(PrintError::Unknown { name }),
            _ => Err(PrintError::Argument { must: "a string" }),
        }
    }

    fn string_at(&mut self, address: u64) -> Result<(), PrintError<'a>> {
        match self.addresses.string(address) {
            Some(string) => self.put(string),
            None => {
                let conversion = Conversion::Unsigned { bytes: 8, radix: 16, upper: false };
                self.integer(conversion, address, Flags::default(), FieldWidth::default())
            }
        }
    }

    /// Prints the names of the bits that are set, then the other bits.
    fn flags(
        &mut self,
        value: u64,
        delimiter: TextRange,
        entries: SymbolicNames,
    ) -> Result<(), PrintError<'a>> {
        let (mut left, mut is_first) = (value, true);
        for entry in self.ast.entries(entries) {
            self.spend(1)?;
            match entry.value {
                // As in perf, a value that the format does not define names 0.
                None | Some(u64::MAX) if left == 0 => {
                    if is_first {
                        self.put(self.ast.text(entry.name))?;
                    }
                    break;
                }
                Some(bits @ 1..) if left & bits == bits => {
                    if !is_first {
                        self.put(self.ast.text(delimiter))?;
                    }
                    self.put(self.ast.text(entry.name))?;
                    is_first = false;
                    left &= !bits;
                }
                _ => {}
            }
        }
        if left != 0 {
            if !is_first {
                self.put(self.ast.text(delimiter))?;
            }
            self.hex(left)?;
        }
        Ok(())
    }

    fn symbolic(&mut self, value: u64, entries: SymbolicNames) -> Result<(), PrintError<'a>> {
        for entry in self.ast.entries(entries) {
            self.spend(1)?;
            if entry.value == Some(value) {
                return self.put(self.ast.text(entry.name));
            }
        }
        self.hex(value)
    }

    /// Prints bytes, each as two hexadecimal digits.
    pub(super) fn bytes(&mut self, bytes: &[u8], between: &[u8]) -> Result<(), PrintError<'a>> {
        for (index, byte) in bytes.iter().enumerate() {
            if index > 0 {
                self.put(between)?;
            }
            self.put(&hex_digits(*byte))?;
        }
        Ok(())
    }

    fn array(&mut self, bytes: &[u8], count: Option<u64>, size: u64) -> Result<(), PrintError<'a>> {
        let width = usize::try_from(size).ok().filter(|width| matches!(width, 1 | 2 | 4 | 8));
        let width = width.ok_or(PrintError::Argument { must: "an element's size of 1, 2, 4 or 8 bytes" })?;
        let bytes = match count {
            Some(count) => {
                let len = usize::try_from(count).ok().and_then(|count| count.checked_mul(width));
                let must = "no longer than the bytes";
                len.and_then(|len| bytes.get(..len)).ok_or(PrintError::Argument { must })?
            }
            None => bytes,
        };
        for (index, element) in bytes.chunks_exact(width).enumerate() {
            // perf has spaces here, the kernel commas.
            if index > 0 {
                self.put(b" ")?;
            }
            self.decimal(self.unsigned(element))?;
        }
        Ok(())
    }

    /// Prints a mask, highest bytes first, with a comma after each 4 bytes.
    pub(super) fn bitmask(&mut self, bytes: &[u8]) -> Result<(), PrintError<'a>> {
        for left in (0..bytes.len()).rev() {
            // A mask is an array of `long`.
            let index = match self.order {
                Endianness::Little => left,
                Endianness::Big => left ^ usize::from(self.long_size).saturating_sub(1),
            };
            self.put(&hex_digits(bytes.get(index).copied().unwrap_or_default()))?;
            if left > 0 && left % 4 == 0 {
                self.put(b",")?;
            }
        }
        Ok(())
    }
}

/// Returns the two digits of a byte.
fn hex_digits(byte: u8) -> [u8; 2] {
    [byte >> 4, byte & 15].map(|digit| {
        if digit < 10 { digit.saturating_add(b'0') } else { digit.saturating_add(b'a').saturating_sub(10) }
    })
}

/// Returns a string up to its NUL.
fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or_default()
}
