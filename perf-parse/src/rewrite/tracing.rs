//! Tracing data without its faulty parts, and that of several captures.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use perf_abi::endian::Endianness;

#[cfg(feature = "tracepoint")]
use crate::tracepoint::Format;
use crate::tracepoint::{FormatText, TracingData, TracingDataFields};

/// Returns the tracing data without the formats that cannot be parsed (with the feature `tracepoint`); `None` if its parts
/// cannot be found.
pub(super) fn of_good_formats(bytes: &[u8]) -> Option<Vec<u8>> {
    let data = TracingData::parse(bytes).ok()?;
    #[cfg(feature = "tracepoint")]
    let long_size = data.kernel_long_size();
    let mut fields = without_formats(&data);
    for format in data.formats() {
        #[cfg(feature = "tracepoint")]
        if Format::parse(format.system, format.text, long_size).is_err() {
            continue;
        }
        push(&mut fields, &format);
    }
    written(&fields, data.endianness)
}

/// Returns the tracing data of two captures as one; `None` if they are not of the same kind of machine.
pub(super) fn joined(first: &[u8], second: &[u8]) -> Option<Vec<u8>> {
    let (first, second) = (TracingData::parse(first).ok()?, TracingData::parse(second).ok()?);
    let kind = |it: &TracingData<'_>| (it.endianness, it.long_size, it.page_size);
    if kind(&first) != kind(&second) {
        return None;
    }
    let mut fields = without_formats(&first);
    let mut known = BTreeSet::new();
    for format in first.formats().chain(second.formats()) {
        if known.insert((format.system, format.text)) {
            push(&mut fields, &format);
        }
    }
    written(&fields, first.endianness)
}

fn without_formats(data: &TracingData<'_>) -> TracingDataFields {
    TracingDataFields {
        long_size: data.long_size,
        page_size: data.page_size,
        header_page: data.header_page.to_vec(),
        header_event: data.header_event.to_vec(),
        kallsyms: data.kallsyms.to_vec(),
        printk_formats: data.printk_formats.to_vec(),
        saved_cmdlines: data.saved_cmdlines.unwrap_or_default().to_vec(),
        ..TracingDataFields::default()
    }
}

/// Adds a format to its system.
fn push(fields: &mut TracingDataFields, format: &FormatText<'_>) {
    let text = format.text.to_vec();
    match fields.systems.last_mut() {
        _ if format.system == b"ftrace" => fields.ftrace.push(text),
        Some((system, texts)) if system == format.system => texts.push(text),
        _ => fields.systems.push((format.system.to_vec(), alloc::vec![text])),
    }
}

fn written(fields: &TracingDataFields, endianness: Endianness) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    fields.write(&mut out, endianness).ok()?;
    Some(out)
}
