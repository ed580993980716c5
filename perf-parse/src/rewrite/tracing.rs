//! Tracing data without its faulty parts.

use alloc::vec::Vec;

#[cfg(feature = "tracepoint")]
use crate::tracepoint::Format;
use crate::tracepoint::{TracingData, TracingDataFields};

/// Returns the tracing data without the formats that cannot be parsed (with the feature `tracepoint`); `None` if its parts
/// cannot be found.
pub(super) fn of_good_formats(bytes: &[u8]) -> Option<Vec<u8>> {
    let data = TracingData::parse(bytes).ok()?;
    #[cfg(feature = "tracepoint")]
    let long_size = data.kernel_long_size();
    let mut fields = TracingDataFields {
        long_size: data.long_size,
        page_size: data.page_size,
        header_page: data.header_page.to_vec(),
        header_event: data.header_event.to_vec(),
        kallsyms: data.kallsyms.to_vec(),
        printk_formats: data.printk_formats.to_vec(),
        saved_cmdlines: data.saved_cmdlines.unwrap_or_default().to_vec(),
        ..TracingDataFields::default()
    };
    for format in data.formats() {
        #[cfg(feature = "tracepoint")]
        if Format::parse(format.system, format.text, long_size).is_err() {
            continue;
        }
        let text = format.text.to_vec();
        match fields.systems.last_mut() {
            _ if format.system == b"ftrace" => fields.ftrace.push(text),
            Some((system, texts)) if system == format.system => texts.push(text),
            _ => fields.systems.push((format.system.to_vec(), alloc::vec![text])),
        }
    }
    let mut out = Vec::new();
    fields.write(&mut out, data.endianness).ok()?;
    Some(out)
}
