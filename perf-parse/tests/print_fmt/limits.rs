//! The limits of print formats, below, at and above them, and every error.

use perf_parse::abi::endian::{Endianness, LittleEndian};
use perf_parse::tracepoint::{Format, PrintError, PrintFmt};

use crate::{Kernel, format_text, printed, raw};

/// Returns an operand with this many levels around it.
fn nested(levels: usize, open: &str, close: &str) -> String {
    format!("\"%d\", {}1{}", open.repeat(levels), close.repeat(levels))
}

#[test]
fn expressions_are_nested_up_to_the_limit() {
    let max = usize::from(PrintFmt::MAX_DEPTH);
    // The expression itself is a level.
    for (open, close, at) in [
        ("(", ")", max - 1),
        ("!", "", max - 1),
        ("(u8)", "", max - 1),
        ("0 ? 0 : ", "", max - 1),
        ("__builtin_expect(", ", 1)", max - 1),
        ("({", ";})", (max - 1) / 2),
    ] {
        for levels in [at - 1, at] {
            assert_eq!(
                printed(&nested(levels, open, close)).map(|text| text.len()),
                Ok(1),
                "{levels} of {open}"
            );
        }
    }
    for open in ["(", "!", "(u8)", "0 ? 0 : ", "1 + (", "REC->list[", "- "] {
        let error = printed(&nested(max, open, "")).unwrap_err();
        assert!(error.ends_with("must be an expression of at most 64 levels"), "{open}: {error}");
        // Far beyond the limit, on a small stack.
        let text = format_text(&nested(1_000_000 / open.len(), open, ""));
        let thread = std::thread::Builder::new().stack_size(256 << 10);
        let parsed = thread.spawn(move || {
            let format = Format::parse(b"system", text.as_bytes(), 8).unwrap();
            PrintFmt::new(&format).is_err()
        });
        assert!(parsed.unwrap().join().unwrap());
    }
    // Operators in a row nest to the left.
    let row = |count| format!("\"%d\", REC->c{}", " - REC->c".repeat(count));
    assert_eq!(printed(&row(max - 1)).as_deref(), Ok("-12400"));
    assert!(printed(&row(max)).unwrap_err().ends_with("at most 64 levels"));
}

#[test]
fn statements_that_are_not_understood_take_linear_time() {
    for text in ["({ x y z; ".repeat(100_000), "f(".repeat(100_000), "({ int a = (".repeat(100_000)] {
        assert!(printed(&format!("\"%d\", {text}")).is_err());
        let closed = text.bytes().rev().filter_map(|byte| match byte {
            b'(' => Some(')'),
            b'{' => Some('}'),
            _ => None,
        });
        let closed: String = closed.collect();
        let _ = printed(&format!("\"%d\", {text}1;{closed}"));
    }
}

#[test]
fn statements_have_at_most_64_variables() {
    let statements = |count: u32| {
        let variables: String = (0..count).map(|n| format!("int x{n} = {n}; ")).collect();
        format!("\"%d\", ({{ {variables} x{}; }})", count - 1)
    };
    for count in [63, 64] {
        assert_eq!(printed(&statements(count)), Ok((count - 1).to_string()));
    }
    let error = printed(&statements(65)).unwrap_err();
    assert_eq!(error, "print fmt: ({ can be evaluated only by the kernel");
}

#[test]
fn the_cost_is_counted_in_bytes_and_steps() {
    let text =
        format_text(r#""%s:%d %s", REC->comm, REC->c + 1, __print_symbolic(2, { 1, "one" }, { 2, "two" })"#);
    let format = Format::parse(b"system", text.as_bytes(), 8).unwrap();
    let parsed = PrintFmt::new(&format).unwrap();
    let raw = raw::<LittleEndian>();
    let write = |max| {
        let mut out = Vec::new();
        let written = parsed.write_within(&raw, Endianness::Little, &Kernel, max, &mut out);
        assert_eq!(written.is_ok(), out == b"cat:201 two");
        assert!(out.len() <= max as usize);
        written
    };
    let least = (0..1000).find(|&max| write(max).is_ok()).unwrap();
    assert!((11..100).contains(&least), "{least}");
    for below in 0..least {
        let error = write(below).unwrap_err();
        assert_eq!(error, PrintError::Cost { max: below });
        assert_eq!(error.to_string(), format!("print fmt: the text needs more than {below} steps and bytes"));
    }
    for enough in [least, least + 1, PrintFmt::MAX_COST, u32::MAX] {
        assert_eq!(write(enough), Ok(()));
    }
}

#[test]
fn no_text_is_larger_than_its_cost() {
    let doubled: String = (1..40).map(|n| format!("int x{n} = x{} + x{}; ", n - 1, n - 1)).collect();
    let strings = |count: usize| format!("\"{}\"{}", "%s".repeat(count), ", __get_str(name)".repeat(count));
    for print_fmt in [
        r#""%999999999d", 1"#.to_owned(),
        r#""%.999999999d", 1"#.to_owned(),
        r#""%0999999999d", 1"#.to_owned(),
        r#""%-*s", 2147483647, """#.to_owned(),
        format!("\"%d\", ({{ int x0 = REC->c; {doubled} x39; }})"),
        strings(60_000),
    ] {
        let error = printed(&print_fmt).unwrap_err();
        assert_eq!(error, "print fmt: the text needs more than 262144 steps and bytes", "{:.80}", print_fmt);
    }
    assert_eq!(printed(&strings(10_000)).map(|text| text.len()), Ok(50_000));
}

#[test]
fn faults_of_the_text_have_their_offset() {
    for (print_fmt, expected) in [
        ("", "byte 0: print fmt: is missing: the text ends, but needs a string"),
        ("REC->a", "byte 0: print fmt: has byte 0x52, but must be a string"),
        ("\"%d", "byte 0: print fmt: has byte 0x22, but must be a closed string"),
        ("\"a\" \"b", "byte 3: print fmt: has byte 0x20, but must be a closed string"),
        ("\"%d\"", "byte 4: print fmt: is missing: the text ends, but needs an argument for each directive"),
        (
            "\"%*d\", 1",
            "byte 8: print fmt: is missing: the text ends, but needs an argument for each directive",
        ),
        ("\"%d\" 1", "byte 4: print fmt: has byte 0x20, but must be a comma or the end"),
        ("\"%d\", 1 2", "byte 7: print fmt: has byte 0x20, but must be a comma or the end"),
        ("\"%d\", +", "byte 7: print fmt: is missing: the text ends, but needs an operand"),
        ("\"%d\", a += 1", "byte 7: print fmt: has byte 0x20, but must be a comma or the end"),
        ("\"%d\", (1", "byte 8: print fmt: is missing: the text ends, but needs a parenthesis"),
        ("\"%d\", 1 ? 2", "byte 11: print fmt: is missing: the text ends, but needs a colon"),
        ("\"%d\", REC.a", "byte 9: print fmt: has byte 0x2e, but must be an arrow"),
        ("\"%d\", REC->", "byte 11: print fmt: is missing: the text ends, but needs a field's name"),
        ("\"%d\", REC->x", "byte 11: print fmt: has byte 0x78, but must be a field of this format"),
        ("\"%d\", REC->list[1", "byte 17: print fmt: is missing: the text ends, but needs a bracket"),
        ("\"%d\", 09", "byte 6: print fmt: has byte 0x30, but must be a number"),
        ("\"%d\", 12ab", "byte 6: print fmt: has byte 0x31, but must be a number"),
        ("\"%d\", ''", "byte 6: print fmt: has byte 0x27, but must be a character"),
        ("\"%d\", 'ab'", "byte 6: print fmt: has byte 0x27, but must be one character in quotes"),
        ("\"%d\", f(", "byte 7: print fmt: has byte 0x28, but must be closed brackets"),
        ("\"%d\", ({ a", "byte 6: print fmt: has byte 0x28, but must be closed brackets"),
        ("\"%d\", sizeof(1)", "byte 13: print fmt: has byte 0x31, but must be a type or a field"),
        ("\"%s\", __get_str(name", "byte 20: print fmt: is missing: the text ends, but needs a parenthesis"),
        ("\"%s\", __print_hex(REC->mac)", "byte 26: print fmt: has byte 0x29, but must be a comma"),
        (
            "\"%s\", __print_symbolic(1, { 1, \"a\"",
            "byte 34: print fmt: is missing: the text ends, but needs a brace",
        ),
    ] {
        assert_eq!(printed(print_fmt).unwrap_err(), expected, "{print_fmt}");
    }
    let format = Format::parse(b"system", b"name: a\nID: 1\n", 8).unwrap();
    let error = PrintFmt::new(&format).unwrap_err();
    assert_eq!(error.to_string(), "byte 0: print fmt: is missing: the text ends, but needs a line with it");
}

#[test]
fn what_cannot_be_evaluated_is_an_error() {
    for (print_fmt, expected) in [
        ("\"%d\", jiffies_to_msecs(REC->a)", "jiffies_to_msecs can be evaluated only by the kernel"),
        ("\"%s\", f(\")\")", "f can be evaluated only by the kernel"),
        ("\"%pM\", f(1)", "f can be evaluated only by the kernel"),
        ("\"%d\", REC->a.b", "b can be evaluated only by the kernel"),
        ("\"%d\", sizeof(struct x)", "sizeof can be evaluated only by the kernel"),
        ("\"%d\", REC->a / (REC->c - 200)", "a number is divided by 0"),
        ("\"%d\", 1 % 0", "a number is divided by 0"),
        ("\"%d\", REC->comm", "an argument must be a number"),
        ("\"%d\", \"a\"", "an argument must be a number"),
        ("\"%s\", REC->c + 1", "an argument must be a string"),
        ("\"%d\", REC->list[3]", "an argument must be the index of an element"),
        ("\"%d\", ((struct x *)REC->list)[0]", "an argument must be the index of an element"),
        ("\"%pM\", REC->c + 1", "an argument must be bytes in the raw data"),
        ("\"%pM\", REC->text", "an argument must be bytes in the raw data"),
        ("\"%pM\", REC->v4", "an argument must be a MAC address of 6 bytes"),
        ("\"%pI4\", REC->b", "an argument must be an IPv4 address of 4 bytes"),
        ("\"%pU\", REC->v4", "an argument must be an address of 16 bytes"),
        ("\"%pIS\", REC->on", "an argument must be a socket address of IPv4 or IPv6"),
        ("\"%9ph\", REC->v4", "an argument must be no longer than the bytes"),
        ("\"%s\", __print_hex(REC->mac, 7)", "an argument must be no longer than the bytes"),
        ("\"%s\", __print_array(REC->list, 4, 4)", "an argument must be no longer than the bytes"),
        (
            "\"%s\", __print_array(REC->list, 1, 3)",
            "an argument must be an element's size of 1, 2, 4 or 8 bytes",
        ),
    ] {
        let expected = format!("print fmt: {expected}");
        assert_eq!(printed(print_fmt).unwrap_err(), expected, "{print_fmt}");
    }
    let text = format_text(r#""%d %s", REC->c, __get_str(name)"#);
    let format = Format::parse(b"system", text.as_bytes(), 8).unwrap();
    let mut out = Vec::new();
    let raw = raw::<LittleEndian>();
    let error =
        PrintFmt::new(&format).unwrap().write(&raw[..140], Endianness::Little, &(), &mut out).unwrap_err();
    assert!(matches!(error, PrintError::Field(_)));
    assert_eq!(error.to_string(), "name: needs 6 bytes at 136, the raw data has 140");
    assert_eq!(out, b"");
}

#[test]
fn fields_that_share_bytes_are_printed_in_proportion() {
    // Numbers of 8 bytes and texts that cannot be printed are printed byte by byte, too.
    for (c_type, byte) in [("char[]", 1), ("char[]", b'a'), ("unsigned long[]", 1)] {
        let mut text = "name: event\nID: 1\nformat:\n".to_owned();
        for index in 0..1000 {
            text += &format!("\tfield:__data_loc {c_type} f{index};\toffset:0;\tsize:4;\tsigned:0;\n");
        }
        let format = Format::parse(b"system", text.as_bytes(), 8).unwrap();
        let mut raw = vec![byte; 60_004];
        raw[..4].copy_from_slice(&(60_000_u32 << 16 | 4).to_le_bytes());
        // It ends after its first byte as a string, and is printed as a whole.
        raw[5] = if byte == 1 { 0 } else { byte };
        let mut out = Vec::new();
        format.write_fields(&raw, Endianness::Little, &mut out);
        assert!(out.len() < 4 * (raw.len() + 64) + 1000 * 32, "{c_type}: {}", out.len());
        assert!(out.len() > 60_000, "{c_type}: {}", out.len());
        assert!(out.ends_with(b"f999=[missing]"));
    }
}
