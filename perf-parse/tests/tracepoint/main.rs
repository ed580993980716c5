//! Tracepoints: texts of formats, raw data in both byte orders, and faulty tracing data, all written by hand.

use perf_parse::abi::endian::{BigEndian, Endian, Endianness, LittleEndian};
use perf_parse::tracepoint::{
    Element, Field, Format, FormatText, Place, Tracepoints, TracingData, TracingError, TracingErrorKind,
    Value,
};
use testdata::Bytes;

const COMMON: &str = "format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

";

/// Returns the text of a format with these field lines after the common ones.
fn text(fields: &str) -> String {
    format!("name: event\nID: 300\n{COMMON}{fields}\nprint fmt: \"%d\", REC->a\n")
}

fn line(declaration: &str, offset: u32, size: u32, signed: u32) -> String {
    format!("\tfield:{declaration};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n")
}

/// Returns the single field of a line.
fn parse_line(line: &str) -> (String, String, Place, Element, bool) {
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
    let names = |fields: &[Field<'_>]| {
        fields.iter().map(|field| String::from_utf8(field.name.to_vec()).unwrap()).collect::<Vec<_>>()
    };
    let common = ["common_type", "common_flags", "common_preempt_count", "common_pid"];
    assert_eq!(names(format.common_fields()), common);
    assert_eq!(names(format.own_fields()), ["comm", "pid"]);
    let Field { c_type, offset, size, signed, place, element, .. } = format.own_fields()[0];
    assert_eq!((c_type, offset, size, signed), (&b"char"[..], 8, 16, false));
    assert_eq!((place, element), (Place::Array { len: Some(16) }, Element::Char));
}

#[test]
fn every_kind_of_declaration_is_understood() {
    const BYTES: Element = Element::Bytes;
    let int = |bytes| Element::Integer { bytes };
    let pointer = |bytes| Element::Pointer { bytes };
    let array = |len| Place::Array { len: Some(len) };
    let unsaid = Place::Array { len: None };
    // Columns: declaration, size and sign; then type, name, place and element.
    for (declaration, size, signed, c_type, name, place, element) in [
        ("unsigned char flags", 1, 0, "unsigned char", "flags", Place::Value, int(1)),
        ("char order", 1, 0, "char", "order", Place::Value, int(1)),
        ("s8 level", 1, 1, "s8", "level", Place::Value, int(1)),
        ("short adj", 2, 1, "short", "adj", Place::Value, int(2)),
        ("unsigned flags", 4, 0, "unsigned", "flags", Place::Value, int(4)),
        ("int options", 8, 0, "int", "options", Place::Value, int(8)),
        ("unsigned long long lsn", 8, 0, "unsigned long long", "lsn", Place::Value, int(8)),
        ("gfp_t flags", 4, 0, "gfp_t", "flags", Place::Value, int(4)),
        ("enum xfs_group_type type", 1, 0, "enum xfs_group_type", "type", Place::Value, int(1)),
        ("bool new", 1, 0, "bool", "new", Place::Value, Element::Bool),
        ("const char * msg", 8, 0, "const char *", "msg", Place::Value, pointer(8)),
        ("const char *msg", 4, 0, "const char *", "msg", Place::Value, pointer(4)),
        ("const void* ip", 8, 0, "const void*", "ip", Place::Value, pointer(8)),
        ("const char *const * argv", 8, 0, "const char *const *", "argv", Place::Value, pointer(8)),
        ("void __seg_gs * ptr", 8, 0, "void __seg_gs *", "ptr", Place::Value, pointer(8)),
        ("struct timespec64 ts", 16, 0, "struct timespec64", "ts", Place::Value, BYTES),
        ("struct small s", 8, 0, "struct small", "s", Place::Value, BYTES),
        ("guid_t id", 16, 0, "guid_t", "id", Place::Value, BYTES),
        ("char name[32]", 32, 0, "char", "name", array(32), Element::Char),
        ("char comm[TASK_COMM_LEN]", 16, 1, "char", "comm", unsaid, Element::Char),
        ("char[16] comm", 16, 1, "char[16]", "comm", array(16), Element::Char),
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
        ("bool set[2]", 2, 0, "bool", "set", array(2), Element::Bool),
        ("u64 none[0]", 0, 0, "u64", "none", array(0), BYTES),
        ("unsigned long args[]", 0, 0, "unsigned long", "args", Place::Rest, int(8)),
        ("char buf[]", 0, 0, "char", "buf", Place::Rest, Element::Char),
        ("__data_loc char[] name", 4, 0, "__data_loc char[]", "name", Place::DataLoc, Element::Char),
        ("__data_loc u8[] buf", 4, 0, "__data_loc u8[]", "buf", Place::DataLoc, BYTES),
        ("__data_loc u64[] addrs", 4, 0, "__data_loc u64[]", "addrs", Place::DataLoc, int(8)),
        ("__data_loc unsigned int[] n", 4, 0, "__data_loc unsigned int[]", "n", Place::DataLoc, int(4)),
        ("__data_loc long long[] n", 4, 1, "__data_loc long long[]", "n", Place::DataLoc, int(8)),
        ("__data_loc size_t[] n", 4, 0, "__data_loc size_t[]", "n", Place::DataLoc, int(8)),
        ("__data_loc void *[] p", 4, 0, "__data_loc void *[]", "p", Place::DataLoc, pointer(8)),
        ("__data_loc foo_t[] n", 4, 0, "__data_loc foo_t[]", "n", Place::DataLoc, BYTES),
        ("__data_loc cpumask_t mask", 4, 0, "__data_loc cpumask_t", "mask", Place::DataLoc, BYTES),
        ("__rel_loc char[] name", 4, 0, "__rel_loc char[]", "name", Place::RelLoc, Element::Char),
        ("__rel_loc char name[]", 4, 0, "__rel_loc char", "name", Place::RelLoc, Element::Char),
        ("__rel_loc s16[] n", 4, 1, "__rel_loc s16[]", "n", Place::RelLoc, int(2)),
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
        assert_eq!(format.own_fields()[0].element, Element::Integer { bytes });
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

fn raw_is_decoded<O: Endian>() {
    let lines = [
        line("u8 u8", 8, 1, 0),
        line("s8 s8", 9, 1, 1),
        line("u16 u16", 10, 2, 0),
        line("s16 s16", 12, 2, 1),
        line("bool yes", 14, 1, 0),
        line("bool no", 15, 1, 0),
        line("u32 u32", 16, 4, 0),
        line("s32 s32", 20, 4, 1),
        line("u64 u64", 24, 8, 0),
        line("s64 s64", 32, 8, 1),
        line("void * pointer", 40, 8, 0),
        line("char comm[8]", 48, 8, 0),
        line("char full[4]", 56, 4, 0),
        line("bool odd", 60, 1, 0),
        line("u8 mac[3]", 61, 3, 0),
        line("s16 pair[2]", 64, 4, 1),
        line("__data_loc char[] name", 68, 4, 0),
        line("__data_loc u32[] words", 72, 4, 0),
        line("__data_loc u64[] cut", 76, 4, 0),
        line("__rel_loc char[] rel", 80, 4, 0),
        line("__rel_loc s16[] none", 84, 4, 0),
        line("struct pair s", 88, 4, 0),
        line("u16 rest[]", 100, 0, 0),
    ]
    .concat();
    let text = text(&lines);
    let format = Format::parse(b"s", text.as_bytes(), 8).unwrap();
    let raw = Bytes::of::<O>()
        // The common fields.
        .number(2, 300)
        .number(1, 1)
        .number(1, 2)
        .number(4, 0xffff_ffff)
        // Offset 8.
        .number(1, 0xfe)
        .number(1, 0xfe)
        .number(2, 0xfffe)
        .number(2, 0xfffe)
        .number(1, 1)
        .number(1, 0)
        .number(4, 0xffff_fffe)
        .number(4, 0xffff_fffe)
        .number(8, 0xffff_ffff_ffff_fffe)
        .number(8, 0xffff_ffff_ffff_fffe)
        .number(8, 0xffff_8880_0123_4567)
        // Offset 48.
        .raw(b"sh\0junk.")
        .raw(b"full")
        .number(1, 7)
        .raw(&[0xa, 0xb, 0xc])
        .number(2, 1)
        .number(2, 0xffff)
        // Offset 68: 4 bytes at 92, 8 bytes at 92, 4 bytes at 92; 4 bytes at 84 + 8, none at 88.
        .number(4, 4 << 16 | 92)
        .number(4, 8 << 16 | 92)
        .number(4, 4 << 16 | 92)
        .number(4, 4 << 16 | 8)
        .number(4, 0)
        .number(2, 5)
        .number(2, 6)
        // Offset 92.
        .raw(b"abc\0")
        .number(4, 9)
        // Offset 100.
        .number(2, 11)
        .number(2, 12);
    let words_start = u64::from(match O::ENDIANNESS {
        Endianness::Little => u32::from_le_bytes(*b"abc\0"),
        Endianness::Big => u32::from_be_bytes(*b"abc\0"),
    });
    let numbers = |value: Value<'_, O>| match value {
        Value::Array(array) => {
            assert_eq!(
                (array.len(), array.is_empty()),
                (array.values().count(), array.values().count() == 0)
            );
            array.values().map(|value| format!("{value:?}")).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    let values: Vec<_> =
        format.fields::<O>(&raw.out).map(|(field, value)| (field.name, value.unwrap())).collect();
    let names: Vec<_> =
        format.common_fields().iter().chain(format.own_fields()).map(|field| field.name).collect();
    assert_eq!(values.iter().map(|(name, _)| *name).collect::<Vec<_>>(), names);
    let value = |name: &str| values.iter().find(|(found, _)| *found == name.as_bytes()).unwrap().1;
    for (name, expected) in [
        ("common_type", Value::Unsigned(300)),
        ("common_flags", Value::Unsigned(1)),
        ("common_preempt_count", Value::Unsigned(2)),
        ("common_pid", Value::Signed(-1)),
        ("u8", Value::Unsigned(0xfe)),
        ("s8", Value::Signed(-2)),
        ("u16", Value::Unsigned(0xfffe)),
        ("s16", Value::Signed(-2)),
        ("yes", Value::Bool(true)),
        ("no", Value::Bool(false)),
        ("u32", Value::Unsigned(0xffff_fffe)),
        ("s32", Value::Signed(-2)),
        ("u64", Value::Unsigned(u64::MAX - 1)),
        ("s64", Value::Signed(-2)),
        ("pointer", Value::Pointer(0xffff_8880_0123_4567)),
        ("comm", Value::Str(b"sh")),
        ("full", Value::Str(b"full")),
        ("odd", Value::Unsigned(7)),
        ("mac", Value::Bytes(&[0xa, 0xb, 0xc])),
        ("name", Value::Str(b"abc")),
        ("cut", Value::Bytes(b"abc\0")),
        ("rel", Value::Str(b"abc")),
        ("s", Value::Bytes(&raw.out[88..92])),
    ] {
        assert_eq!(value(name), expected, "{name}");
    }
    assert_eq!(numbers(value("pair")), ["Signed(1)", "Signed(-1)"]);
    assert_eq!(numbers(value("words")), [format!("Unsigned({words_start})"), "Unsigned(9)".into()]);
    assert_eq!(numbers(value("none")), [""; 0]);
    assert_eq!(numbers(value("rest")), ["Unsigned(11)", "Unsigned(12)"]);

    // Truncated anywhere: each whole field has its value, each other field is an error with its name.
    for len in 0..raw.out.len() {
        for ((field, cut), (_, whole)) in format.fields::<O>(&raw.out[..len]).zip(&values) {
            let end = (field.offset + field.size) as usize;
            match cut {
                Ok(_) if field.name == b"rest" => assert!(len >= 100),
                Ok(value) => {
                    assert!(end <= len);
                    assert_eq!(&value, whole);
                }
                Err(error) => {
                    assert_eq!((error.field, error.available), (field.name, len as u64));
                    assert!(error.offset + error.needed > len as u64);
                    let dynamic = matches!(field.place, Place::DataLoc | Place::RelLoc);
                    assert!(end > len || dynamic || field.name == b"rest");
                }
            }
        }
    }
}

#[test]
fn raw_data_is_decoded_in_both_byte_orders() {
    raw_is_decoded::<LittleEndian>();
    raw_is_decoded::<BigEndian>();
}

fn words_are_told_at_once<O: Endian>() {
    let lines = [
        line("unsigned long args[2]", 8, 16, 0),
        line("long signed_args[2]", 8, 16, 1),
        line("void * pointers[2]", 8, 16, 0),
        line("u32 halves[4]", 8, 16, 0),
    ];
    let text = text(&lines.concat());
    let format = Format::parse(b"s", text.as_bytes(), 8).unwrap();
    let raw = Bytes::of::<O>().zeros(8).number(8, 3).number(8, u64::MAX - 1);
    let words = |field: &Field<'_>| match field.value::<O>(&raw.out).unwrap() {
        Value::Array(array) => {
            array.unsigned_words().map(|words| words.iter().map(|word| word.get()).collect::<Vec<_>>())
        }
        other => panic!("{other:?}"),
    };
    let words: Vec<_> = format.own_fields().iter().map(words).collect();
    assert_eq!(words, [Some(vec![3, u64::MAX - 1]), None, None, None]);
}

#[test]
fn words_are_told_at_once_in_both_byte_orders() {
    words_are_told_at_once::<LittleEndian>();
    words_are_told_at_once::<BigEndian>();
}

#[test]
fn places_beyond_the_raw_data_are_errors() {
    let lines = [
        line("u64 far", u32::MAX, u32::MAX, 0),
        line("u8 rest[]", u32::MAX, 0, 0),
        line("__data_loc char[] end", 8, 4, 0),
        line("__data_loc char[] over", 12, 4, 0),
        line("__rel_loc char[] rel", 16, 4, 0),
        line("__rel_loc char[] far_rel", u32::MAX, u32::MAX, 0),
        line("char near[2]", 18, 2, 0),
    ]
    .concat();
    let text = text(&lines);
    let format = Format::parse(b"s", text.as_bytes(), 8).unwrap();
    // 0 bytes at the end, 1 byte at the end, 65535 bytes at 65535 after the field.
    let mut raw = [0; 20];
    raw[8] = 20;
    raw[12..15].copy_from_slice(&[20, 0, 1]);
    raw[16..20].fill(0xff);
    let shown = format.fields::<LittleEndian>(&raw).skip(4).map(|(_, value)| match value {
        Ok(value) => format!("{value:?}"),
        Err(error) => error.to_string(),
    });
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            "far: needs 4294967295 bytes at 4294967295, the raw data has 20",
            "rest: needs 0 bytes at 4294967295, the raw data has 20",
            "Str([])",
            "over: needs 1 bytes at 20, the raw data has 20",
            "rel: needs 65535 bytes at 65555, the raw data has 20",
            "far_rel: needs 4 bytes at 4294967295, the raw data has 20",
            "Str([255, 255])",
        ]
    );
}

/// Makes tracing data with these formats of tracers and of systems.
fn tracing_data(
    endianness: Endianness,
    version: &str,
    ftrace: &[&str],
    systems: &[(&str, &[&str])],
) -> Vec<u8> {
    let file = |out: Bytes, bytes: usize, text: &[u8]| out.number(bytes, text.len() as u64).raw(text);
    let page = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n";
    let mut out = Bytes::new(endianness == Endianness::Big)
        .raw(b"\x17\x08\x44tracing")
        .raw(version.as_bytes())
        .raw(b"\0");
    out = out.number(1, u64::from(endianness == Endianness::Big)).number(1, 4).number(4, 65536);
    out = file(out.raw(b"header_page\0"), 8, page.as_bytes());
    out = file(out.raw(b"header_event\0"), 8, b"# entry header\n").number(4, ftrace.len() as u64);
    for text in ftrace {
        out = file(out, 8, text.as_bytes());
    }
    out = out.number(4, systems.len() as u64);
    for (system, texts) in systems {
        out = out.raw(system.as_bytes()).raw(b"\0").number(4, texts.len() as u64);
        for text in *texts {
            out = file(out, 8, text.as_bytes());
        }
    }
    out = file(file(out, 4, b"0 _text\n"), 4, b"0xff : \"%d\"\n");
    if version == "0.6" { file(out, 8, b"1 init\n").out } else { out.out }
}

const SYSTEMS: &[(&str, &[&str])] = &[
    ("sched", &["name: one\nID: 9\n", "name: bad\nID: x\n", "name: two\nID: 8\n"]),
    ("empty", &[]),
    ("irq", &["name: one\nID: 7\n", "name: again\nID: 9\n"]),
];

#[test]
fn tracing_data_is_found_part_by_part_in_both_byte_orders() {
    for endianness in [Endianness::Little, Endianness::Big] {
        for version in ["0.5", "0.6"] {
            let mut bytes = tracing_data(endianness, version, &["name: print\nID: 5\n"], SYSTEMS);
            bytes.extend(b"\0\0\0");
            let data = TracingData::parse(&bytes).unwrap();
            assert_eq!((data.version, data.endianness), (version.as_bytes(), endianness));
            assert_eq!((data.long_size, data.kernel_long_size(), data.page_size), (4, 8, 65536));
            assert!(data.header_page.starts_with(b"\tfield: u64 timestamp"));
            assert_eq!(data.header_event, b"# entry header\n");
            assert_eq!((data.kallsyms, data.printk_formats), (&b"0 _text\n"[..], &b"0xff : \"%d\"\n"[..]));
            assert_eq!(data.saved_cmdlines, (version == "0.6").then_some(&b"1 init\n"[..]));
            assert_eq!(data.rest, b"\0\0\0");
            let texts: Vec<_> = data.formats().collect();
            let systems: Vec<_> = texts.iter().map(|text| text.system.escape_ascii().to_string()).collect();
            assert_eq!(systems, ["ftrace", "sched", "sched", "sched", "irq", "irq"]);
            for FormatText { text, offset, .. } in texts {
                assert_eq!(&bytes[offset as usize..][..text.len()], text);
            }

            let tracepoints = Tracepoints::new(&data);
            let name = |format: Option<&Format<'_>>| {
                format.map(|format| [format.system, b":", format.name].concat().escape_ascii().to_string())
            };
            assert_eq!(name(tracepoints.get(5)).unwrap(), "ftrace:print");
            assert_eq!(name(tracepoints.get(7)).unwrap(), "irq:one");
            assert_eq!(name(tracepoints.get(8)).unwrap(), "sched:two");
            assert_eq!(name(tracepoints.get(9)).unwrap(), "sched:one");
            for id in [0, 6, 10, 1 << 32 | 7, u64::MAX] {
                assert_eq!(tracepoints.get(id), None, "{id}");
            }
            assert_eq!(tracepoints.find(b"irq", b"one").unwrap().id, 7);
            assert_eq!(tracepoints.find(b"irq", b"again").unwrap().id, 9);
            assert_eq!(tracepoints.find(b"irq", b"two"), None);
            assert_eq!(tracepoints.formats().len(), 5);
            // Only the faulty format is lost. The fault has its offset in the whole tracing data.
            let [fault] = tracepoints.faults() else { panic!("{:?}", tracepoints.faults()) };
            assert_eq!(&bytes[fault.offset as usize - 4..][..5], b"ID: x");
            assert_eq!((fault.kind.field(), tracepoints.faults_omitted()), ("ID", 0));
        }
    }
}

#[test]
fn the_version_tells_whether_names_of_tasks_follow() {
    let mut with_names = tracing_data(Endianness::Little, "0.6", &[], &[]);
    for (version, follow) in
        [("0.6", true), ("0.5", false), ("0.9", true), ("1.0", true), ("6.0", true), ("0.x", false)]
    {
        with_names[10..13].copy_from_slice(version.as_bytes());
        let data = TracingData::parse(&with_names).unwrap();
        assert_eq!(data.saved_cmdlines.is_some(), follow, "{version}");
        assert_eq!(data.rest.is_empty(), follow, "{version}");
    }
}

#[test]
fn the_recorders_long_stands_in_for_the_kernels() {
    let mut bytes = tracing_data(Endianness::Little, "0.6", &[], &[]);
    let commit = bytes.windows(6).position(|window| window == b"commit").unwrap();
    bytes[commit] = b'k';
    assert_eq!(TracingData::parse(&bytes).unwrap().kernel_long_size(), 4);
}

#[test]
fn tracing_data_cut_short_anywhere_is_an_error_at_that_place() {
    for endianness in [Endianness::Little, Endianness::Big] {
        let bytes = tracing_data(endianness, "0.6", &["name: print\nID: 5\n"], SYSTEMS);
        for len in 0..bytes.len() {
            let error = TracingData::parse(&bytes[..len]).unwrap_err();
            match error.kind {
                TracingErrorKind::Truncated { needed, available, .. } => {
                    assert_eq!(u64::from(error.offset) + available, len as u64);
                    assert!(needed > available);
                }
                TracingErrorKind::Unterminated { field } => {
                    assert!(["version", "system"].contains(&field) && error.offset as usize <= len);
                }
                kind => panic!("{kind:?}"),
            }
        }
    }
}

#[test]
fn tracing_data_that_is_none_is_an_error() {
    let bytes = tracing_data(Endianness::Little, "0.6", &["name: print\nID: 5\n"], SYSTEMS);
    let find = |part: &[u8]| bytes.windows(part.len()).position(|window| window == part).unwrap();
    for (at, byte, text) in [
        (0, 0x16, "byte 0: magic: has byte 0x16, but must be 17 08 44 \"tracing\""),
        (9, b'k', "byte 9: magic: has byte 0x6b, but must be 17 08 44 \"tracing\""),
        (14, 2, "byte 14: endian: has byte 0x02, but must be 0 for little or 1 for big"),
        (15, 5, "byte 15: long_size: has byte 0x05, but must be 4 or 8"),
        (18, 0, "byte 16: page_size: has byte 0x00, but must be more than 0"),
        (find(b"page\0"), b'P', "byte 27: header_page: has byte 0x50, but must be the text \"header_page\""),
    ] {
        let mut faulty = bytes.clone();
        faulty[at] = byte;
        assert_eq!(TracingData::parse(&faulty).unwrap_err().to_string(), text);
    }
    assert_eq!(
        TracingData::parse(b"").unwrap_err().to_string(),
        "byte 0: magic: needs 10 bytes, the tracing data has 0 left"
    );
}

#[test]
fn counts_and_sizes_beyond_the_data_end_it() {
    let bytes = tracing_data(Endianness::Little, "0.6", &["name: print\nID: 5\n"], SYSTEMS);
    let find = |part: &[u8]| bytes.windows(part.len()).position(|window| window == part).unwrap();
    let ftrace = find(b"# entry header\n") + 15;
    let systems = find(b"name: print") + 18;
    let sched = find(b"sched\0") + 6;
    let kallsyms = find(b"0 _text") - 4;
    let cmdlines = find(b"1 init") - 8;
    for (at, len, field) in [
        (ftrace, 4, "format"),
        (ftrace + 4, 8, "format"),
        // More systems than there are: the following bytes are read as systems, as far as possible.
        (systems, 4, "format"),
        (sched, 4, "format"),
        (sched + 4, 8, "format"),
        (kallsyms, 4, "kallsyms"),
        (cmdlines, 8, "saved_cmdlines"),
        (ftrace - 15 - 8, 8, "header_event"),
    ] {
        let mut faulty = bytes.clone();
        faulty[at..at + len].fill(0xff);
        let error = TracingData::parse(&faulty).unwrap_err();
        assert_eq!(error.kind.field(), field, "{error}");
        assert!(error.offset as usize <= bytes.len());
    }
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
                    assert!(format.fields::<BigEndian>(&raw).count() <= 7);
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
