//! The format of a tracepoint and raw data for it: each value has the bytes at the place that its field states, read
//! by a plain decoder. Or tracing data as a whole.

use perf_abi::endian::{BigEndian, Endian, Endianness, LittleEndian};
use perf_parse::tracepoint::{
    ElementType, FieldPlacement, Format, FormatField, Tracepoints, TracingData, Value,
};

/// Bits of the first byte.
const LONG_OF_4: u8 = 1;
/// The other bytes are tracing data, not one format.
const WHOLE: u8 = 2;

/// The first byte of `data` has the bits. For a single format, its text, a NUL and raw data follow.
pub fn run(data: &[u8]) -> bool {
    let Some((&bits, rest)) = data.split_first() else { return false };
    if bits & WHOLE != 0 {
        return whole(rest);
    }
    let end = rest.iter().position(|&byte| byte == 0).unwrap_or(rest.len());
    let (text, raw) = (&rest[..end], rest.get(end + 1..).unwrap_or_default());
    match Format::parse(b"system", text, if bits & LONG_OF_4 != 0 { 4 } else { 8 }) {
        Ok(format) => {
            values::<LittleEndian>(&format, raw);
            values::<BigEndian>(&format, raw);
        }
        Err(error) => {
            assert!(error.offset as usize <= text.len(), "{error}");
            assert!(!error.to_string().is_empty());
        }
    }
    true
}

fn whole(bytes: &[u8]) -> bool {
    let data = match TracingData::parse(bytes) {
        Ok(data) => data,
        Err(error) => {
            assert!(error.offset as usize <= bytes.len(), "{error}");
            return true;
        }
    };
    let texts = data.formats().count();
    for text in data.formats() {
        assert!(bytes[text.offset as usize..].starts_with(text.text));
    }
    let tracepoints = Tracepoints::new(&data);
    let faults = tracepoints.faults().len() as u64 + tracepoints.faults_omitted();
    assert_eq!(tracepoints.formats().len() as u64 + faults, texts as u64);
    assert!(tracepoints.formats().is_sorted_by_key(|format| format.id));
    assert!(tracepoints.faults().iter().all(|fault| fault.offset as usize <= bytes.len()));
    for format in tracepoints.formats() {
        assert_eq!(tracepoints.get(format.id.into()).map(|found| found.id), Some(format.id));
        assert!(tracepoints.find(format.system, format.name).is_some());
        match data.endianness {
            Endianness::Little => values::<LittleEndian>(format, data.rest),
            Endianness::Big => values::<BigEndian>(format, data.rest),
        }
    }
    true
}

fn values<O: Endian>(format: &Format<'_>, raw: &[u8]) {
    let fields = format.common_fields().iter().chain(format.own_fields());
    assert!(format.fields_in::<O>(raw, ()).map(|(field, _)| field).eq(fields));
    for (field, value) in format.fields_in::<O>(raw, ()) {
        match (value, place::<O>(field, raw)) {
            (Ok(value), Some(bytes)) => {
                let erased = field.value(raw, O::ENDIANNESS).expect("the same in any type of order");
                assert_eq!((erased.as_u64(), erased.as_i64()), (value.as_u64(), value.as_i64()));
                assert_eq!(erased.as_str(), value.as_str());
                check(field, value, bytes);
            }
            (Err(error), None) => {
                assert_eq!((error.field, error.available), (field.name, raw.len() as u64));
                assert!(!error.to_string().is_empty());
            }
            (value, bytes) => panic!("{field:?}: {value:?} of {bytes:?}"),
        }
    }
}

/// Returns the bytes of a field's value or of its elements; `None` if they are incomplete.
fn place<'r, O: Endian>(field: &FormatField<'_>, raw: &'r [u8]) -> Option<&'r [u8]> {
    let start = field.offset as usize;
    let at = |start: usize, size: usize| raw.get(start..)?.get(..size);
    let dynamic = |base: usize| {
        let word = number::<O>(at(start, 4)?);
        at(base + (word & 0xffff) as usize, (word >> 16) as usize)
    };
    match field.place {
        FieldPlacement::Value | FieldPlacement::Array { .. } => at(start, field.size as usize),
        FieldPlacement::Rest => raw.get(start..),
        FieldPlacement::DataLoc => dynamic(0),
        FieldPlacement::RelLoc => dynamic(start + field.size as usize),
        place => panic!("{place:?}"),
    }
}

/// Decodes an integer.
fn number<O: Endian>(bytes: &[u8]) -> u64 {
    let up = |all: u64, &byte: &u8| all << 8 | u64::from(byte);
    match O::ENDIANNESS {
        Endianness::Little => bytes.iter().rev().fold(0, up),
        Endianness::Big => bytes.iter().fold(0, up),
    }
}

fn check<O: Endian>(field: &FormatField<'_>, value: Value<'_, O>, bytes: &[u8]) {
    match value {
        Value::Bytes(all) => assert_eq!(all, bytes),
        Value::Str(text) => {
            assert_eq!(field.element, ElementType::Char);
            assert!(bytes.starts_with(text) && !text.contains(&0));
            assert!(text.len() == bytes.len() || bytes[text.len()] == 0);
        }
        Value::Array(array) => {
            let width = usize::from(field.element.bytes());
            assert_eq!((array.len() * width, array.is_empty()), (bytes.len(), bytes.is_empty()));
            for (value, bytes) in array.values().zip(bytes.chunks(width)) {
                check(field, value, bytes);
            }
        }
        Value::Unsigned(value) => {
            assert_eq!(
                (value, field.signed && field.element != ElementType::Bool),
                (number::<O>(bytes), false)
            )
        }
        Value::Pointer(value) => assert_eq!(value, number::<O>(bytes)),
        Value::Bool(value) => assert_eq!(u64::from(value), number::<O>(bytes)),
        Value::Signed(value) => {
            let bits = 8 * bytes.len() as u32;
            assert!(field.signed && (8..=64).contains(&bits));
            assert_eq!(value, (number::<O>(bytes) << (64 - bits)) as i64 >> (64 - bits));
        }
        other => panic!("{other:?} has no check here"),
    }
}
