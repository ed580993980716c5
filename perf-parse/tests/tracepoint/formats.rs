//! Texts of formats.

use perf_parse::abi::endian::Endianness;
use perf_parse::tracepoint::{
    ElementType, FieldPlacement, Format, FormatField, TracingError, TracingErrorKind,
};

use super::{line, text};

/// Returns the single field of a line.
fn parse_line(line: &str) -> (String, String, FieldPlacement, ElementType, bool) {
    let text = text(line);
    let format = Format::parse(b"system", text.as_bytes(), 8).unwrap();
    let [field] = format.own_fields() else { panic!("{line}: {:?}", format.own_fields()) };
    let shown = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (shown(field.c_type), shown(field.name), field.place, field.element, field.signed)
}

#[test]
fn a_format_is_read_whole() {
    let text = text(&format!("{}{}", line("char comm[16]", 8, 16, 0), line("pid_t pid", 24, 4, 1)));
    let format = Format::parse(b"sched", text.as_bytes(), 8).unwrap();
    assert_eq!((format.system, format.name, format.id), (&b"sched"[..], &b"event"[..], 300));
    assert_eq!(format.print_fmt, Some(&b"\"%d\", REC->a"[..]));
    let names = |fields: &[FormatField<'_>]| {
        fields.iter().map(|field| String::from_utf8(field.name.to_vec()).unwrap()).collect::<Vec<_>>()
    };
    let common = ["common_type", "common_flags", "common_preempt_count", "common_pid"];
    assert_eq!(names(format.common_fields()), common);
    assert_eq!(names(format.own_fields()), ["comm", "pid"]);
    let FormatField { c_type, offset, size, signed, place, element, .. } = format.own_fields()[0];
    assert_eq!((c_type, offset, size, signed), (&b"char"[..], 8, 16, false));
    assert_eq!((place, element), (FieldPlacement::Array { len: Some(16) }, ElementType::Char));
}

#[test]
fn every_kind_of_declaration_is_understood() {
    const BYTES: ElementType = ElementType::Bytes;
    let int = |bytes| ElementType::Integer { bytes };
    let pointer = |bytes| ElementType::Pointer { bytes };
    let array = |len| FieldPlacement::Array { len: Some(len) };
    let unsaid = FieldPlacement::Array { len: None };
    // Columns: declaration, size and sign; then type, name, place and element.
    for (declaration, size, signed, c_type, name, place, element) in [
        ("unsigned char flags", 1, 0, "unsigned char", "flags", FieldPlacement::Value, int(1)),
        ("char order", 1, 0, "char", "order", FieldPlacement::Value, int(1)),
        ("s8 level", 1, 1, "s8", "level", FieldPlacement::Value, int(1)),
        ("short adj", 2, 1, "short", "adj", FieldPlacement::Value, int(2)),
        ("unsigned flags", 4, 0, "unsigned", "flags", FieldPlacement::Value, int(4)),
        ("int options", 8, 0, "int", "options", FieldPlacement::Value, int(8)),
        ("unsigned long long lsn", 8, 0, "unsigned long long", "lsn", FieldPlacement::Value, int(8)),
        ("gfp_t flags", 4, 0, "gfp_t", "flags", FieldPlacement::Value, int(4)),
        ("enum xfs_group_type type", 1, 0, "enum xfs_group_type", "type", FieldPlacement::Value, int(1)),
        ("bool new", 1, 0, "bool", "new", FieldPlacement::Value, ElementType::Bool),
        ("const char * msg", 8, 0, "const char *", "msg", FieldPlacement::Value, pointer(8)),
        ("const char *msg", 4, 0, "const char *", "msg", FieldPlacement::Value, pointer(4)),
        ("const void* ip", 8, 0, "const void*", "ip", FieldPlacement::Value, pointer(8)),
        ("const char *const * argv", 8, 0, "const char *const *", "argv", FieldPlacement::Value, pointer(8)),
        ("void __seg_gs * ptr", 8, 0, "void __seg_gs *", "ptr", FieldPlacement::Value, pointer(8)),
        ("struct timespec64 ts", 16, 0, "struct timespec64", "ts", FieldPlacement::Value, BYTES),
        ("struct small s", 8, 0, "struct small", "s", FieldPlacement::Value, BYTES),
        ("guid_t id", 16, 0, "guid_t", "id", FieldPlacement::Value, BYTES),
        ("char name[32]", 32, 0, "char", "name", array(32), ElementType::Char),
        ("char comm[TASK_COMM_LEN]", 16, 1, "char", "comm", unsaid, ElementType::Char),
        ("char[16] comm", 16, 1, "char[16]", "comm", array(16), ElementType::Char),
        ("unsigned char addr[6]", 6, 0, "unsigned char", "addr", array(6), BYTES),
        ("u8 lladdr[32]", 32, 0, "u8", "lladdr", array(32), BYTES),
        ("s8 deltas[4]", 4, 1, "s8", "deltas", array(4), int(1)),
        ("long mem[3]", 24, 1, "long", "mem", array(3), int(8)),
        ("unsigned int rc[10]", 40, 0, "unsigned int", "rc", array(10), int(4)),
        ("xfs_ino_t inos[2]", 16, 0, "xfs_ino_t", "inos", array(2), int(8)),
        ("u16 grid[2][3]", 12, 0, "u16", "grid", array(6), int(2)),
        ("u32 words[MAX / 2]", 16, 0, "u32", "words", unsaid, int(4)),
        ("foo_t words[MAX]", 16, 0, "foo_t", "words", unsaid, BYTES),
        ("struct pair pairs[2]", 16, 0, "struct pair", "pairs", array(2), BYTES),
        ("void * stack[2]", 16, 0, "void *", "stack", array(2), pointer(8)),
        ("bool set[2]", 2, 0, "bool", "set", array(2), ElementType::Bool),
        ("u64 none[0]", 0, 0, "u64", "none", array(0), BYTES),
        ("unsigned long args[]", 0, 0, "unsigned long", "args", FieldPlacement::Rest, int(8)),
        ("char buf[]", 0, 0, "char", "buf", FieldPlacement::Rest, ElementType::Char),
        (
            "__data_loc char[] name",
            4,
            0,
            "__data_loc char[]",
            "name",
            FieldPlacement::DataLoc,
            ElementType::Char,
        ),
        ("__data_loc u8[] buf", 4, 0, "__data_loc u8[]", "buf", FieldPlacement::DataLoc, BYTES),
        ("__data_loc u64[] addrs", 4, 0, "__data_loc u64[]", "addrs", FieldPlacement::DataLoc, int(8)),
        (
            "__data_loc unsigned int[] n",
            4,
            0,
            "__data_loc unsigned int[]",
            "n",
            FieldPlacement::DataLoc,
            int(4),
        ),
        ("__data_loc long long[] n", 4, 1, "__data_loc long long[]", "n", FieldPlacement::DataLoc, int(8)),
        ("__data_loc size_t[] n", 4, 0, "__data_loc size_t[]", "n", FieldPlacement::DataLoc, int(8)),
        ("__data_loc void *[] p", 4, 0, "__data_loc void *[]", "p", FieldPlacement::DataLoc, pointer(8)),
        ("__data_loc foo_t[] n", 4, 0, "__data_loc foo_t[]", "n", FieldPlacement::DataLoc, BYTES),
        ("__data_loc cpumask_t mask", 4, 0, "__data_loc cpumask_t", "mask", FieldPlacement::DataLoc, BYTES),
        (
            "__rel_loc char[] name",
            4,
            0,
            "__rel_loc char[]",
            "name",
            FieldPlacement::RelLoc,
            ElementType::Char,
        ),
        ("__rel_loc char name[]", 4, 0, "__rel_loc char", "name", FieldPlacement::RelLoc, ElementType::Char),
        ("__rel_loc s16[] n", 4, 1, "__rel_loc s16[]", "n", FieldPlacement::RelLoc, int(2)),
    ] {
        let actual = parse_line(&line(declaration, 8, size, signed));
        assert_eq!(actual, (c_type.into(), name.into(), place, element, signed == 1), "{declaration}");
    }
}

#[test]
fn a_long_is_as_long_as_the_kernels() {
    let text = text(&line("__data_loc unsigned long[] mask", 8, 4, 0));
    for (long_size, bytes) in [(4, 4), (8, 8)] {
        let format = Format::parse(b"s", text.as_bytes(), long_size).unwrap();
        assert_eq!(format.own_fields()[0].element, ElementType::Integer { bytes });
    }
}

#[test]
fn a_sign_that_is_not_given_is_that_of_the_type() {
    for (declaration, signed) in [
        ("int a", true),
        ("long int a", true),
        ("signed char a", true),
        ("pid_t a", true),
        ("unsigned int a", false),
        ("u64 a", false),
        ("char a[4]", false),
        ("foo_t a", false),
        ("int * a", true),
    ] {
        let line = format!("\tfield:{declaration};\toffset:8;\tsize:4;\n");
        assert_eq!(parse_line(&line).4, signed, "{declaration}");
    }
}

#[test]
fn what_is_not_known_is_passed_over() {
    let text = "flavour: vanilla\nname: a\nID: 5\nformat:\n\tfield:int a;\toffset:0;\tsize:4;\tsigned:1;\tsince:7;\tbits:none;\n\
        \tproperty:int b;\toffset:4;\n\nprint fmt: \"one\n\ntwo\", REC->a\nfield:int c;\n";
    let format = Format::parse(b"s", text.as_bytes(), 8).unwrap();
    assert_eq!((format.common_fields().len(), format.own_fields().len()), (1, 0));
    // The print format may have several lines. Nothing follows it.
    assert_eq!(format.print_fmt, Some(&b"\"one\n\ntwo\", REC->a\nfield:int c;"[..]));
    let bare = Format::parse(b"s", b"ID:1\r\nname:x", 8).unwrap();
    assert_eq!((bare.name, bare.id, bare.print_fmt, bare.own_fields()), (&b"x"[..], 1, None, &[][..]));
}

#[test]
fn a_bad_format_is_told_by_its_place() {
    let text = text(&line("int a", 8, 4, 1));
    let at = |part: &str| u32::try_from(text.find(part).unwrap()).unwrap();
    let end = |text: &str| u32::try_from(text.len()).unwrap();
    let number = "a number of 32 bits and a semicolon";
    // Columns: the text to replace and its replacement; then the field, the byte found, the requirement and the
    // offset.
    for (from, to, field, found, must, offset) in [
        ("ID: 300", "ID: many", "ID", Some(b'm'), "a number of 32 bits", at("ID: ") + 4),
        ("ID: 300", "ID: 4294967296", "ID", Some(b'4'), "a number of 32 bits", at("ID: ") + 4),
        ("ID: 300", "ID: 300 x", "ID", Some(b'x'), "a number of 32 bits", at("ID: ") + 8),
        ("offset:8;", "offset:;", "offset", Some(b';'), number, at("offset:8") + 7),
        ("offset:8;", "offset:-1;", "offset", Some(b'-'), number, at("offset:8") + 7),
        (
            "offset:8;\tsize:4;",
            "offset:8;\tsize:4294967296;",
            "size",
            Some(b'4'),
            number,
            at("offset:8") + 15,
        ),
        (
            "offset:8;\tsize:4;\tsigned:1",
            "offset:8;\tsize:4;\tsigned:yes",
            "signed",
            Some(b'y'),
            number,
            at("offset:8") + 25,
        ),
        ("int a;\toffset:8;", "int a;", "offset", Some(b'i'), "a value for this field", at("int a;")),
        ("offset:8;\tsize:4;", "offset:8;", "size", Some(b'i'), "a value for this field", at("int a;")),
        ("int a;", "a;", "field", Some(b'a'), "a type and a name", at("int a;")),
        ("int a;", ";", "field", Some(b';'), "a type and a name", at("int a;")),
        ("int a;", "* a;", "", None, "", 0),
        ("int a;", "int a[;", "field", Some(b'i'), "a type and a name", at("int a;")),
        ("int a;", "int a];", "field", Some(b'i'), "a type and a name", at("int a;")),
    ] {
        let faulty = text.replacen(from, to, 1);
        assert_ne!(faulty, text);
        let result = Format::parse(b"s", faulty.as_bytes(), 8).map(|format| format.own_fields().len());
        if must.is_empty() {
            assert_eq!(result, Ok(1), "{to}");
            continue;
        }
        let kind = TracingErrorKind::Invalid { field, found, must };
        assert_eq!(result, Err(TracingError { kind, offset }), "{to}");
    }
    for (from, field) in [("name: event\n", "name"), ("ID: 300\n", "ID")] {
        let faulty = text.replacen(from, "", 1);
        let error = Format::parse(b"s", faulty.as_bytes(), 8).unwrap_err();
        let kind = TracingErrorKind::Invalid { field, found: None, must: "a line with it" };
        assert_eq!(error, TracingError { kind, offset: end(&faulty) });
    }
    let unended = "name: a\nID: 1\nformat:\n\tfield:int a";
    let error = Format::parse(b"s", unended.as_bytes(), 8).unwrap_err();
    assert_eq!(
        error.to_string(),
        "byte 34: field: is missing: the text ends, but needs a declaration and a semicolon"
    );
}

#[test]
fn a_format_has_so_many_fields_at_most() {
    let max = Format::MAX_FIELDS;
    let line = "\tfield:int a;\toffset:0;\tsize:4;\n";
    let text = |count: usize| "name: a\nID: 1\n".to_owned() + &line.repeat(count);
    for count in [max - 1, max] {
        let text = text(count);
        let format = Format::parse(b"s", text.as_bytes(), 8).unwrap();
        assert_eq!(format.own_fields().len() + format.common_fields().len(), count);
    }
    let error = Format::parse(b"s", text(60_000).as_bytes(), 8).unwrap_err();
    assert_eq!(error, Format::parse(b"s", text(max + 1).as_bytes(), 8).unwrap_err());
    let kind = TracingErrorKind::OutOfRange { field: "fields", value: 1025, max: 1024 };
    assert_eq!(error, TracingError { kind, offset: text(max).len() as u32 });
    assert_eq!(error.to_string(), format!("byte {}: fields: is 1025, but at most 1024 fit", error.offset));
    let in_file = error.in_file(1000);
    assert!(
        in_file.to_string().ends_with(": TRACING_DATA: fields: is 1025, but at most 1024 fit"),
        "{in_file}"
    );
}

#[test]
fn the_name_of_a_field_is_so_long_at_most() {
    let max = Format::MAX_NAME;
    let text = |len: usize| format!("name: a\nID: 1\n\tfield:int {};\toffset:0;\tsize:4;\n", "x".repeat(len));
    for len in [max - 1, max] {
        let text = text(len);
        assert_eq!(Format::parse(b"s", text.as_bytes(), 8).unwrap().own_fields()[0].name.len(), len);
    }
    let kind = TracingErrorKind::OutOfRange { field: "field.name", value: 257, max: 256 };
    let error = Format::parse(b"s", text(max + 1).as_bytes(), 8).unwrap_err();
    assert_eq!(error, TracingError { kind, offset: 14 });
}

/// A format in which each byte is replaced in turn: parsing returns a format or an error, never panics, and offsets
/// are in the text.
#[test]
fn a_format_with_any_byte_changed_is_read_or_refused() {
    let lines =
        [line("char comm[16]", 8, 16, 0), line("__data_loc u32[] n", 24, 4, 0), line("void * p", 32, 8, 0)];
    let text = text(&lines.concat()).into_bytes();
    let raw: Vec<u8> = (0..64).collect();
    let (mut read, mut refused) = (0, 0);
    for at in 0..text.len() {
        for byte in [0, b'\n', b';', b'[', b']', b'*', b' ', b'9', 0xff] {
            let mut changed = text.clone();
            changed[at] = byte;
            match Format::parse(b"s", &changed, 8) {
                Ok(format) => {
                    read += 1;
                    assert!(format.fields(&raw, Endianness::Big).count() <= 7);
                }
                Err(error) => {
                    refused += 1;
                    assert!(error.offset as usize <= text.len());
                }
            }
        }
    }
    assert!(read > 1000 && refused > 1000, "{read} read, {refused} refused");
}
