//! Tracing data, and the `format` texts of tracepoints in it.
//!
//! perf: `tools/perf/util/trace-event-info.c`. Kernel: `f_show`, `kernel/trace/trace_events.c`.

use super::reader::Reader;
use super::value::Value;
use crate::fields;

/// The name of a system and the text of one of its tracepoints.
pub type FormatText<'a> = (&'a [u8], &'a [u8]);

/// Returns the `format` texts of tracing data, each with the name of its system; those of ftrace itself come first.
///
/// # Errors
///
/// A message with the field that needs more bytes than there are, or that has an invalid value.
pub fn tracing_data(bytes: &[u8]) -> Result<Vec<FormatText<'_>>, String> {
    let mut r = Reader::new(bytes, false);
    if r.bytes("magic", 10)? != b"\x17\x08\x44tracing" {
        return Err("magic: is another".to_string());
    }
    word(&mut r, "version")?;
    let big = r.u8("endianness")? != 0;
    let r = &mut Reader::new(r.rest(), big);
    let (_long_size, _page_size) = (r.u8("long_size")?, r.u32("page_size")?);
    for name in [b"header_page".as_slice(), b"header_event"] {
        if word(r, "header")? != name {
            return Err("header: is another".to_string());
        }
        text(r)?;
    }
    let mut texts = Vec::new();
    for _ in 0..r.u32("ftrace.nr")? {
        texts.push((b"ftrace".as_slice(), text(r)?));
    }
    for _ in 0..r.u32("systems.nr")? {
        let system = word(r, "system")?;
        for _ in 0..r.u32("formats.nr")? {
            texts.push((system, text(r)?));
        }
    }
    Ok(texts)
}

/// Reads the bytes before the next NUL, and the NUL.
fn word<'a>(r: &mut Reader<'a>, field: &str) -> Result<&'a [u8], String> {
    let left = r.clone().rest();
    let end = left.iter().position(|&byte| byte == 0).ok_or_else(|| format!("{field}: no NUL"))?;
    r.bytes(field, end as u64 + 1)?;
    Ok(&left[..end])
}

fn text<'a>(r: &mut Reader<'a>) -> Result<&'a [u8], String> {
    let size = r.u64("text.size")?;
    r.bytes("text", size)
}

/// Decodes a `format` text: its name, number, fields and print format.
///
/// # Errors
///
/// A message with the line that does not have the kernel's format.
pub fn format(text: &str) -> Result<Value, String> {
    let (mut name, mut id, mut print_fmt, mut fields) = (None, None, None, Vec::new());
    for line in text.lines() {
        let wrong = || format!("{line:?} is not as the kernel writes it");
        if let Some(rest) = line.strip_prefix("name: ") {
            name = Some(rest.as_bytes());
        } else if let Some(rest) = line.strip_prefix("ID: ") {
            id = Some(rest.parse::<u32>().map_err(|_| wrong())?);
        } else if let Some(rest) = line.strip_prefix("print fmt: ") {
            print_fmt = Some(rest.as_bytes());
        } else if let Some(rest) = line.strip_prefix("\tfield:") {
            fields.push(field(rest).ok_or_else(wrong)?);
        } else if !["", "format:"].contains(&line) {
            return Err(wrong());
        }
    }
    Ok(fields! { name: name, id: id, fields: fields, print_fmt: print_fmt })
}

/// Decodes `DECLARATION;\toffset:N;\tsize:N;\tsigned:N;`.
fn field(line: &str) -> Option<Value> {
    let mut parts = line.split(";\t").map(|part| part.trim_end_matches(';'));
    let declaration = parts.next()?;
    let number = |part: &str, name: &str| part.strip_prefix(name)?.parse::<u32>().ok();
    let offset = number(parts.next()?, "offset:")?;
    let size = number(parts.next()?, "size:")?;
    let signed = number(parts.next()?, "signed:")?;
    // The name is the last word, before the brackets of an array.
    let declarator = declaration.rsplit(' ').next()?;
    let name = declarator.split('[').next()?;
    Some(fields! { name: name.as_bytes(), offset: offset, size: size, signed: signed })
}
