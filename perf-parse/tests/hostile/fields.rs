//! Every field of the header, the attrs, the tables and the features, set to the limits of its range in turn.

use perf_parse::Reader;
use perf_parse::abi::endian::Endianness;
use perf_parse::file::{FileError, Mode};

use crate::captures::{Capture, captures};
use crate::drive::drive;

/// Maximum size of the captures whose fields are damaged. Larger ones have the same fields.
const MOST: usize = 20_000;

/// Values that cause no detectable harm, with the reason.
const ACCEPTED: &[(&str, &[Value], &str)] = &[
    (
        "header.attrs.size",
        &[Value::Zero],
        "a file may have no events; each record then says that it has none",
    ),
    (
        "header.data.size",
        &[Value::One],
        "the data ends within a record, which is told as that record's fault",
    ),
    (
        "header.event_types.offset",
        ANY,
        "names of the first tools: where they are not in the file there are none",
    ),
    ("header.event_types.size", ANY, "as its offset"),
    (
        "header.adds_features",
        ANY,
        "any set of features; a section that is not in the file is told by its own place",
    ),
    ("attr.type", ANY, "any number may be a PMU's"),
    ("attr.size", &[Value::Zero], "0 stands for the 64 bytes of the first version"),
    ("attr.config", ANY, "any number may be an event's"),
    ("attr.sample_period", ANY, "any period or frequency"),
    (
        "attr.sample_type",
        &[Value::Zero, Value::One, Value::SizePlus1],
        "another layout, whose records tell by what does not fit",
    ),
    ("attr.read_format", ANY, "which fields there are; a newer one is told by the records that have it"),
    ("attr.flags", ANY, "what was asked of the kernel; but for sample_id_all it changes no record"),
    ("attr.wakeup", ANY, "what was asked of the kernel; no record has it"),
    ("attr.config1", ANY, "any number, or an address"),
    (
        "attr.ids.offset",
        &[Value::Zero, Value::One],
        "other words of the file are taken for ids, which any number may be",
    ),
    ("attr.ids.size", &[Value::Zero], "an event may have no ids"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Zero,
    One,
    Max,
    MaxLess1,
    SizePlus1,
}

const ANY: &[Value] = &[Value::Zero, Value::One, Value::Max, Value::MaxLess1, Value::SizePlus1];

impl Value {
    fn of(self, len: usize) -> u64 {
        match self {
            Self::Zero => 0,
            Self::One => 1,
            Self::Max => u64::MAX,
            Self::MaxLess1 => u64::MAX - 1,
            Self::SizePlus1 => len as u64 + 1,
        }
    }
}

/// A field: its name, its offset, its bytes.
type Field = (&'static str, usize, usize);

const HEADER: [Field; 13] = [
    ("header.magic", 0, 8),
    ("header.size", 8, 8),
    ("header.attr_size", 16, 8),
    ("header.attrs.offset", 24, 8),
    ("header.attrs.size", 32, 8),
    ("header.data.offset", 40, 8),
    ("header.data.size", 48, 8),
    ("header.event_types.offset", 56, 8),
    ("header.event_types.size", 64, 8),
    ("header.adds_features", 72, 8),
    ("header.adds_features", 80, 8),
    ("header.adds_features", 88, 8),
    ("header.adds_features", 96, 8),
];

/// The fields of every attr, from its start.
const ATTR: [Field; 9] = [
    ("attr.type", 0, 4),
    ("attr.size", 4, 4),
    ("attr.config", 8, 8),
    ("attr.sample_period", 16, 8),
    ("attr.sample_type", 24, 8),
    ("attr.read_format", 32, 8),
    ("attr.flags", 40, 8),
    ("attr.wakeup", 48, 8),
    ("attr.config1", 56, 8),
];

/// Returns the errors of opening and reading a capture.
fn errors(bytes: &[u8]) -> Vec<FileError> {
    let reader = match Reader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return vec![error],
    };
    let mut records = reader.records();
    for _ in &mut records {}
    records.account().diagnostics.clone()
}

/// Returns whether an error refers to the field by name. For a field of an attr the name of its struct may be
/// missing.
fn names(error: &FileError, field: &str) -> bool {
    error.field() == field || field.strip_prefix("attr.").is_some_and(|field| error.field() == field)
}

fn damaged(capture: &Capture, field: Field, value: Value, big: bool) -> Vec<u8> {
    let (_, at, width) = field;
    let value = value.of(capture.bytes.len());
    let word = if big { (value << (64 - 8 * width)).to_be_bytes() } else { value.to_le_bytes() };
    let mut bytes = capture.bytes.clone();
    bytes[at..at + width].copy_from_slice(&word[..width]);
    bytes
}

/// Returns the captures that are files, with the places of their attrs and whether they are big-endian.
fn files() -> Vec<(Capture, usize, usize, bool)> {
    let mut files = Vec::new();
    for capture in captures(MOST) {
        let Ok((mode, endianness)) = Reader::new(&capture.bytes).map(|it| (*it.mode(), it.endianness()))
        else {
            continue;
        };
        let big = endianness == Endianness::Big;
        if let Mode::File(header) = mode {
            let attrs = header.attrs.offset as usize;
            if !capture.name.starts_with("fuzz") {
                files.push((capture, attrs, header.attr_size as usize, big));
            }
        }
    }
    assert!(files.len() > 60);
    files
}

#[test]
fn damage_to_the_header_and_the_attrs_is_told_by_its_field() {
    let (mut told, mut accepted) = (0, 0);
    for (capture, attrs, stride, big) in files() {
        let ids = [("attr.ids.offset", attrs + stride - 16, 8), ("attr.ids.size", attrs + stride - 8, 8)];
        let attr = ATTR.map(|(name, at, width)| (name, attrs + at, width));
        for field in HEADER.into_iter().chain(attr).chain(ids) {
            for &value in ANY {
                let bytes = damaged(&capture, field, value, big);
                let _ = drive(&bytes);
                if bytes == capture.bytes {
                    continue;
                }
                let errors = errors(&bytes);
                if errors.iter().any(|error| names(error, field.0)) {
                    told += 1;
                    continue;
                }
                let is_accepted = ACCEPTED.iter().any(|(name, values, why)| {
                    *name == field.0 && values.contains(&value) && !why.is_empty()
                });
                assert!(is_accepted, "{}: {field:?} {value:?}: {errors:?}", capture.name);
                accepted += 1;
            }
        }
    }
    println!("{told} damages told by their field, {accepted} values accepted");
    assert!(told > 2000, "{told}");
}

#[test]
fn damage_to_the_feature_table_and_the_features_is_survived() {
    let (mut fields, mut sections) = (0, 0);
    for (capture, _, _, big) in files() {
        let places = places(&Reader::new(&capture.bytes).unwrap());
        sections += places.len();
        for (index, &(table, section, size)) in places.iter().enumerate() {
            let table = table + 16 * index;
            // Every word of a short section, the first and the last words of a long one.
            let words = (section..(section + size).saturating_sub(3)).step_by(4);
            let words: Vec<_> = words
                .clone()
                .take(if testdata::is_thorough() { 8 } else { 3 })
                .chain(words.rev().take(2))
                .collect();
            let table = [("offset", table, 8), ("size", table + 8, 8)];
            for field in table.into_iter().chain(words.into_iter().map(|at| ("feature", at, 4))) {
                for &value in ANY {
                    drive(&damaged(&capture, field, value, big)).unwrap();
                    fields += 1;
                }
            }
        }
    }
    println!("{fields} damages to {sections} features");
    assert!(sections > 400, "{sections}");
}

/// Returns the offset of the table, and the offset and size of each section, in ascending order of features.
fn places(reader: &Reader<'_>) -> Vec<(usize, usize, usize)> {
    let Mode::File(header) = *reader.mode() else { return Vec::new() };
    let table = (header.data.offset + header.data.size) as usize;
    reader.features().iter().map(|it| (table, it.offset as usize, it.bytes.len())).collect()
}
