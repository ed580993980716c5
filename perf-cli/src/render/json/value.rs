//! Values as JSON.

use perf_abi::endian::Endian;
use perf_parse::tracepoint::{Array, Value};

use super::super::digits::{push_decimal, push_signed};
use super::super::tracepoint::TracepointField;
use crate::escape::{push_hex, push_json};

pub(in super::super) fn push_blob(out: &mut Vec<u8>, value: &[u8]) {
    out.push(b'"');
    push_hex(out, value);
    out.push(b'"');
}

/// Appends the value of a tracepoint's field.
#[inline]
fn push_value<O: Endian>(out: &mut Vec<u8>, value: &Value<'_, O>) {
    match value {
        Value::Unsigned(number) | Value::Pointer(number) => push_decimal(out, *number),
        Value::Signed(number) => push_signed(out, *number),
        Value::Bool(bool) => out.extend_from_slice(if *bool { b"true" } else { b"false" }),
        Value::Str(text) => push_json(out, text),
        Value::Bytes(bytes) => push_blob(out, bytes),
        Value::Array(array) => push_elements(out, array),
        // A kind of value that a newer perf-parse has.
        other => push_json(out, format!("{other:?}").as_bytes()),
    }
}

/// Appends a tracepoint's field as a member.
#[inline]
pub(in super::super) fn push_field<O: Endian>(
    out: &mut Vec<u8>,
    field: &TracepointField<'_>,
    value: &Value<'_, O>,
) {
    out.extend_from_slice(&field.member);
    push_value(out, value);
}

#[inline(never)]
fn push_elements<O: Endian>(out: &mut Vec<u8>, array: &Array<'_, O>) {
    match array.unsigned_words() {
        Some(words) => push_array(out, words.iter(), push_decimal),
        None => push_array(out, array.values(), |out, value| push_value(out, &value)),
    }
}

/// Appends an array. A comma follows each item; the last comma is replaced by the closing bracket.
#[inline]
pub(super) fn push_array<T>(
    out: &mut Vec<u8>,
    items: impl Iterator<Item = T>,
    push: impl Fn(&mut Vec<u8>, T),
) {
    out.push(b'[');
    let start = out.len();
    for item in items {
        push(out, item);
        out.push(b',');
    }
    if out.len() > start {
        out.truncate(out.len() - 1);
    }
    out.push(b']');
}
