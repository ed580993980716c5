//! The formats of all tracepoints of the running kernel, read twice: by the parser, and by splitting lines.

use std::fs;
use std::path::{Path, PathBuf};

use perf_parse::tracepoint::{ElementType, FieldPlacement, Format, FormatField};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Tracepoints:
    every_format_of_this_kernel_is_read_as_its_lines_split,
];

/// Returns the folders in `folder`; none if it cannot be read.
pub(crate) fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

/// The contents of a field line, found by its separators alone.
#[derive(Debug, PartialEq)]
struct Split<'a> {
    name: &'a str,
    /// The numbers after `offset:`, `size:` and `signed:`.
    numbers: [&'a str; 3],
    is_array: bool,
}

fn split(line: &str) -> Split<'_> {
    let parts: Vec<&str> = line.split(';').map(str::trim).collect();
    let [declaration, offset, size, signed, ""] = parts[..] else { panic!("{line}") };
    let last = declaration.split(' ').next_back().unwrap();
    let name = last.split('[').next().unwrap();
    let numbers = [
        offset.strip_prefix("offset:").unwrap(),
        size.strip_prefix("size:").unwrap(),
        signed.strip_prefix("signed:").unwrap(),
    ];
    Split { name, numbers, is_array: last.contains('[') }
}

fn every_format_of_this_kernel_is_read_as_its_lines_split() {
    let events = Path::new("/sys/kernel/tracing/events");
    let (mut formats, mut fields) = (0_u32, 0_u32);
    for system in folders(events) {
        for event in folders(&system) {
            let Ok(text) = fs::read(event.join("format")) else { continue };
            let system = system.file_name().unwrap().as_encoded_bytes();
            fields += check(system, event.file_name().unwrap().to_str().unwrap(), &text);
            formats += 1;
        }
    }
    assert!(formats > 100 && fields > 4 * formats, "{formats} formats with {fields} fields");
}

/// Compares one format; returns the number of its fields.
fn check(system: &[u8], event: &str, text: &[u8]) -> u32 {
    let format = Format::parse(system, text, 8).unwrap_or_else(|error| panic!("{event}: {error}"));
    assert_eq!(format.name, event.as_bytes());
    let shown = String::from_utf8_lossy(text);
    let (head, print_fmt) = shown.split_once("\nprint fmt: ").unwrap();
    assert_eq!(String::from_utf8_lossy(format.print_fmt.unwrap()), print_fmt.trim_end(), "{event}");
    let id = head.lines().find_map(|line| line.strip_prefix("ID: ")).unwrap();
    assert_eq!(format.id.to_string(), id);

    let lines: Vec<&str> = head.lines().filter_map(|line| line.strip_prefix("\tfield:")).collect();
    let parsed: Vec<&FormatField<'_>> = format.common_fields().iter().chain(format.own_fields()).collect();
    assert_eq!(lines.len(), parsed.len(), "{event}");
    for (line, field) in lines.iter().zip(&parsed) {
        let Split { name, numbers, is_array } = split(line);
        assert_eq!(field.name, name.as_bytes(), "{event}: {line}");
        let of_field = [field.offset, field.size, u32::from(field.signed)].map(|number| number.to_string());
        assert_eq!(of_field, numbers, "{event}: {line}");
        let place_is_right = match field.place {
            FieldPlacement::DataLoc => line.starts_with("__data_loc "),
            FieldPlacement::RelLoc => line.starts_with("__rel_loc "),
            FieldPlacement::Array { .. } => is_array && field.size > 0,
            FieldPlacement::Rest => is_array && field.size == 0,
            FieldPlacement::Value => !is_array && !line.contains("_loc "),
            _ => false,
        };
        assert!(place_is_right, "{event}: {line}: {:?}", field.place);
        let declaration = line.split(';').next().unwrap();
        let is_char =
            declaration.contains("char") && !["signed", "*"].iter().any(|of| declaration.contains(of));
        assert_eq!(
            field.element == ElementType::Char,
            is_char && declaration.contains('['),
            "{event}: {line}"
        );
        let is_pointer = declaration.contains('*');
        assert_eq!(matches!(field.element, ElementType::Pointer { .. }), is_pointer, "{event}: {line}");
        if let (FieldPlacement::Value, ElementType::Integer { bytes } | ElementType::Pointer { bytes }) =
            (field.place, field.element)
        {
            assert_eq!(u32::from(bytes), field.size, "{event}: {line}");
        }
        let is_one = field.place == FieldPlacement::Value && [1, 2, 4, 8].contains(&field.size);
        let is_integer = is_one && !line.starts_with("struct ") && !line.starts_with("union ");
        assert!(field.element != ElementType::Bytes || !is_integer || is_pointer, "{event}: {line}");
    }
    for field in format.common_fields() {
        assert!(field.name.starts_with(b"common_"), "{event}");
    }
    for field in format.own_fields() {
        assert!(!field.name.starts_with(b"common_"), "{event}");
    }
    u32::try_from(parsed.len()).unwrap()
}
