//! Values as text.

use core::fmt::Display;

use perf_abi::endian::Endian;
use perf_parse::tracepoint;

use super::super::digits::{push_decimal, push_hex, push_seconds, push_signed};
use super::super::name::Name;
use super::super::{Scalars, print};
use crate::escape::{push_hex as push_bytes, push_printable};

/// Appends the values of fields, without their names.
#[derive(Debug)]
pub(in super::super) struct Value<'b>(pub(in super::super) &'b mut Vec<u8>);

impl Scalars for Value<'_> {
    #[inline(always)]
    fn number(&mut self, _: &Name, value: u64) {
        push_decimal(self.0, value);
    }

    #[inline(always)]
    fn task(&mut self, _: &Name, value: i64) {
        push_signed(self.0, value);
    }

    #[inline(always)]
    fn hex(&mut self, _: &Name, value: u64) {
        push_hex(self.0, value);
    }

    #[inline(always)]
    fn time(&mut self, _: &Name, value: u64) {
        push_seconds(self.0, value);
    }

    #[inline(always)]
    fn labeled(&mut self, _: &Name, _: u64, label: &[u8]) {
        self.0.extend_from_slice(if label.is_empty() { b"-" } else { label });
    }

    fn named(&mut self, _: &Name, _: u64, shown: &dyn Display) {
        print(self.0, format_args!("{shown}"));
    }

    fn string(&mut self, _: &Name, value: &[u8]) {
        push_printable(self.0, value);
    }

    fn blob(&mut self, _: &Name, value: &[u8]) {
        push_bytes(self.0, value);
    }

    fn guessed(&mut self) {
        self.0.extend_from_slice(b"true");
    }
}

/// Appends the value of a tracepoint's field.
pub(in super::super) fn push_value<O: Endian>(out: &mut Vec<u8>, value: &tracepoint::Value<'_, O>) {
    use tracepoint::Value;

    match value {
        Value::Unsigned(number) => push_decimal(out, *number),
        Value::Signed(number) => push_signed(out, *number),
        Value::Pointer(number) => push_hex(out, *number),
        Value::Bool(bool) => print(out, format_args!("{bool}")),
        Value::Str(text) => push_printable(out, text),
        Value::Bytes(bytes) => push_bytes(out, bytes),
        Value::Array(array) => {
            out.push(b'[');
            for (index, value) in array.values().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                push_value(out, &value);
            }
            out.push(b']');
        }
        // A kind of value that a newer perf-parse has.
        other => push_printable(out, format!("{other:?}").as_bytes()),
    }
}
