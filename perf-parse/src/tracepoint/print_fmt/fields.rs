//! The fields of an event as text, in the layout of perf.

use alloc::vec::Vec;
use core::fmt::{self, Write};

use perf_abi::endian::Endianness;

use super::super::element::ElementType;
use super::super::field::{FieldPlacement, FormatField};
use super::super::format::Format;
use super::super::grammar::words;
use super::super::value::unsigned;

impl Format<'_> {
    /// Appends the fields of an event to `out` as ` name=value`, one after the other, as perf prints an event whose
    /// print format it cannot evaluate. Common fields are left out.
    ///
    /// Strings are printed if they are printable; other arrays as `ARRAY[00, 01]`. A field that is missing from `raw`
    /// is printed as `[missing]`, as is a field after so many shared bytes that the output would no longer be in
    /// proportion to `raw`. The output has at most the bytes of all names, 32 for each field, 4 for each byte of `raw`,
    /// and 256 more.
    ///
    /// perf: `print_event_fields` of libtraceevent.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::abi::endian::Endianness;
    /// use perf_parse::tracepoint::Format;
    ///
    /// let text = b"name: exit\nID: 7\nformat:\n\
    ///     \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
    ///     \tfield:char comm[4];\toffset:2;\tsize:4;\tsigned:0;\n\
    ///     \tfield:short code;\toffset:6;\tsize:2;\tsigned:1;\n";
    /// let format = Format::parse(b"task", text, 8)?;
    /// let mut out = Vec::new();
    /// format.write_fields(b"\x07\0sh\0\0\xff\xff", Endianness::Little, &mut out);
    /// assert_eq!(out, b" comm=sh code=-1");
    /// # Ok::<(), perf_parse::tracepoint::TracingError>(())
    /// ```
    pub fn write_fields(&self, raw: &[u8], order: Endianness, out: &mut Vec<u8>) {
        let mut room = self.room(raw);
        for field in self.own_fields() {
            out.push(b' ');
            out.extend_from_slice(field.name);
            out.push(b'=');
            // An array is printed byte by byte, whatever its elements are.
            let values = |bytes: &[u8]| if is_single(field) { 1 } else { bytes.len().max(1) };
            let fits = |bytes: &&[u8]| room.take_values(values(bytes));
            match field.extent(raw, order).ok().filter(fits) {
                Some(bytes) => value(field, bytes, order, out),
                None => out.extend_from_slice(b"[missing]"),
            }
        }
    }
}

/// Formatted text goes to a list of bytes, which takes all of it.
struct TextBuffer<'o>(&'o mut Vec<u8>);

impl Write for TextBuffer<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

/// Returns whether a field is printed as one number.
fn is_single(field: &FormatField<'_>) -> bool {
    field.place == FieldPlacement::Value
}

fn value(field: &FormatField<'_>, bytes: &[u8], order: Endianness, out: &mut Vec<u8>) {
    let is_single = is_single(field);
    let is_long = words(field.c_type).any(|word| word == b"long");
    let number = if is_single { unsigned::<Endianness>(order, bytes) } else { 0 };
    let unused = 64_u32.saturating_sub(field.size.saturating_mul(8));
    let signed = (number.wrapping_shl(unused) as i64).wrapping_shr(unused);
    // A list of bytes takes any text.
    let _ = match (field.element, field.size) {
        _ if !is_single => return array(field, bytes, out),
        (ElementType::Pointer { .. }, _) => write!(TextBuffer(out), "{number:#x}"),
        // A `long` often holds a pointer.
        (_, 4) if field.signed && is_long => write!(TextBuffer(out), "{number:#x}"),
        (_, 2) if field.signed => write!(TextBuffer(out), "{signed:2}"),
        _ if field.signed => write!(TextBuffer(out), "{signed}"),
        _ if is_long => write!(TextBuffer(out), "{number:#x}"),
        _ => write!(TextBuffer(out), "{number}"),
    };
}

fn array(field: &FormatField<'_>, bytes: &[u8], out: &mut Vec<u8>) {
    let string = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    let is_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace() || *byte == 0x0b;
    let is_string = words(field.c_type).any(|word| {
        [&b"char"[..], b"u8", b"s8"].iter().any(|name| word.windows(name.len()).any(|part| part == *name))
    });
    if is_string && string.iter().all(is_text) {
        out.extend_from_slice(string);
        return;
    }
    out.extend_from_slice(b"ARRAY[");
    for (index, byte) in bytes.iter().enumerate() {
        let between = if index > 0 { ", " } else { "" };
        let _ = write!(TextBuffer(out), "{between}{byte:02x}");
    }
    out.push(b']');
}
