//! The formats of tracepoints, as the values of the oracle.

use perf_parse::tracepoint::TracingData;
use testdata::fields;
use testdata::oracle::{self, Value};

use perf_parse::tracepoint::Format;

/// Compares the decoder with the oracle on tracing data as a kernel and perf wrote it. Returns the number of formats.
///
/// # Panics
///
/// If they differ, or one refuses it.
pub fn check(bytes: &[u8]) -> usize {
    let data = TracingData::parse(bytes).unwrap();
    let texts: Vec<_> = data.formats().map(|it| (it.system, it.text)).collect();
    assert_eq!(oracle::tracing_data(bytes).unwrap(), texts);
    for &(system, text) in &texts {
        let format = Format::parse(system, text, data.kernel_long_size()).unwrap();
        assert_eq!(format.system, system);
        assert_eq!(value(&format), oracle::format(core::str::from_utf8(text).unwrap()).unwrap());
    }
    texts.len()
}

fn value(format: &Format<'_>) -> Value {
    let fields = format.common_fields().iter().chain(format.own_fields());
    let field = |it: &perf_parse::tracepoint::FormatField<'_>| {
        fields! { name: it.name, offset: it.offset, size: it.size, signed: u32::from(it.signed) }
    };
    fields! {
        name: Some(format.name), id: Some(format.id), fields: fields.map(field).collect::<Value>(),
        print_fmt: format.print_fmt,
    }
}
