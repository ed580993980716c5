//! Each construct of a print format.

use perf_parse::abi::endian::{Endianness, LittleEndian};
use perf_parse::tracepoint::{Format, PrintFmt, PrintkFormats};

use crate::{check, format_text, printed, raw, text_in};

#[test]
fn integers_are_printed_as_c_does() {
    check(&[
        (r#""%d %i %hi %u", REC->a, REC->b, REC->b, REC->c"#, "-2 -3 -3 200"),
        (r#""%x %X %o %#x %#o", REC->c, REC->c, REC->c, REC->c, REC->c"#, "c8 C8 310 0xc8 0310"),
        (r#""%lx %llu %ld", REC->w, REC->w, REC->w"#, "ffffffff81000010 18446744071578845200 -2130706416"),
        (r#""%hhd %hd %hx", REC->c, 70000, 70000"#, "-56 4464 1170"),
        (r#""%zu %zd %Lu", REC->w, REC->w, REC->w"#, "18446744071578845200 -2130706416 18446744071578845200"),
        (r#""[%5d][%-5d][%05d][%+d][% d]", 42, 42, 42, 42, 42"#, "[   42][42   ][00042][+42][ 42]"),
        (r#""[%6.3d][%.0d][%#010x][%08lx]", 42, 0, 42, 42"#, "[   042][][0x0000002a][0000002a]"),
        (r#""[%*d][%-*d][%.*d][%*d]", 4, 1, 4, 2, 3, 3, -4, 4"#, "[   1][2   ][003][4   ]"),
        (r#""%#x %#o %05d", 0, 0, REC->a"#, "0 0 -0002"),
        (r#""%c%c%c", 'F', 0, '.'"#, "F."),
        (r#""100%% %k", 1"#, "100% >k<"),
        (r#""%""#, "%"),
    ]);
}

#[test]
fn operators_have_the_precedence_of_c() {
    check(&[
        (r#""%d", 1 + 2 * 3 - 4 / 2 % 3"#, "5"),
        (r#""%d", 1 << 2 + 1 | 1 ^ 3 & 2"#, "11"),
        (r#""%d%d%d", 1 < 2 == 1, 3 >= 4 || 2 <= 2, 1 != 1 && 1 / 0"#, "110"),
        (r#""%d %d", !5, ~5"#, "0 -6"),
        (r#""%d", 1 ? 2 ? 3 : 4 : 5"#, "3"),
        (r#""%d", 0 ? 1 : 0 ? 2 : 3"#, "3"),
        (r#""%d %d", 7 ?: 1, 0 ?: 1"#, "7 1"),
        (r#""%d", -(-3) + +2"#, "5"),
        (r#""%x", REC->c & (0x40 | 0x80)"#, "c0"),
        (r#""%d", 1 << 64"#, "0"),
        (r#""%d", (((REC->c)) > 100) ? 1 : 0"#, "1"),
        (r#""%x %d %d", 0x1FUL, 017, 0b101"#, "1f 15 5"),
    ]);
}

#[test]
fn numbers_have_the_types_of_c() {
    check(&[
        (r#""%d %d %d", REC->a < 0, REC->b == -3, REC->c < 0"#, "1 1 0"),
        (r#""%ld %lx", (long)REC->a, (unsigned long)REC->b"#, "-2 fffffffffffffffd"),
        (r#""%d %d %d", -7 / 2, -7 % 4, -8 >> 1"#, "-3 -3 -4"),
        (r#""%u %lx %d", 1U << 31, 1 << 31, 1ULL << 63 > 1"#, "2147483648 ffffffff80000000 1"),
        (r#""%d %d %d", -1 < 1U, -1L < 1U, -1 < 1ULL"#, "0 1 0"),
        (r#""%d %lu", (u32)3 - (u32)5 > 0, (u32)3 - (u32)5"#, "1 4294967294"),
        (r#""%ld %ld %lx", 0xffffffff, 4294967295, ~0U"#, "4294967295 4294967295 ffffffff"),
        (
            r#""%lld %llu", 9223372036854775807, 18446744073709551615"#,
            "9223372036854775807 18446744073709551615",
        ),
        (r#""%d %d", (u8)-1 == 255, (s8)255 == -1"#, "1 1"),
        (r#""%s", __print_symbolic(REC->a, { -2, "minus two" })"#, "minus two"),
        (r#""%d", -2147483647 - 1 / -1"#, "-2147483646"),
        (r#""%lld", (-9223372036854775807 - 1) / -1"#, "-9223372036854775808"),
    ]);
}

#[test]
fn casts_cut() {
    check(&[
        (r#""%x %x %x", (u8)0x1234, (unsigned short)0x12345, (s16)REC->a"#, "34 2345 fffffffe"),
        (r#""%lx %lx", (unsigned int)REC->w, (unsigned long long)REC->w"#, "81000010 ffffffff81000010"),
        (r#""%d %d", (bool)200, (gfp_t)(7)"#, "1 7"),
        (r#""%lx", (void *)REC->w"#, "ffffffff81000010"),
        (r#""%d", (enum which)3"#, "3"),
        (r#""%d", (REC->c) - 1"#, "199"),
        (r#""%d", (int)-1"#, "-1"),
        (r#""%d", (loff_t)-1"#, "-1"),
        (r#""%d", (FOO) - 1"#, "-1"),
        (r#""%s", (char *)REC->comm"#, "cat"),
    ]);
}

#[test]
fn strings_end_at_their_nul() {
    check(&[
        (r#""%s|%s|%s", REC->comm, __get_str(name), __get_rel_str(rel)"#, "cat|hello|rel"),
        (
            r#""[%6s][%-6s][%.2s][%.*s]", REC->comm, REC->comm, REC->comm, 1, REC->comm"#,
            "[   cat][cat   ][ca][c]",
        ),
        (r#""%s", REC->on ? "yes" : "no""#, "yes"),
        (r#""%s", "a" "b" "\"c\"""#, "ab\"c\""),
        ("\"one\\n\\ttwo \\\\ \"\n \"three\"", "one\n\ttwo \\ three"),
        (r#""%s", REC->text"#, "a string"),
        (r#""%s", REC->w"#, "ffffffff81000010"),
        (r#""[%s][%.*s]", 0 ? __get_str(name) : ((void *)0), 0, ((void *)0)"#, "[(null)][]"),
        (r#""%d", __get_str(name)[1]"#, "101"),
        (r#""%s", REC->name"#, "hello"),
    ]);
}

#[test]
fn arrays_are_indexed() {
    check(&[
        (r#""%d %d", REC->list[1], REC->mac[2]"#, "70000 33"),
        (r#""%d %d", ((u16 *)__get_dynamic_array(dyn))[1], *(u16 *)__get_dynamic_array(dyn)"#, "65535 7"),
        (r#""%d %d", __get_dynamic_array(dyn)[0], __get_dynamic_array_len(dyn) / sizeof(u16)"#, "7 2"),
        (r#""%d %d %d", sizeof(REC->list), sizeof(unsigned long), sizeof(char *)"#, "12 8 8"),
        (r#""%s", __print_array(__get_dynamic_array(dyn), 2, 2)"#, "7 65535"),
        (r#""%s", __print_dynamic_array(dyn, sizeof(u16))"#, "7 65535"),
        (r#""%s", __print_array(REC->list, 3, 4)"#, "1 70000 3"),
        (r#""%s", __print_array(REC->mac, 1, 1)"#, "0"),
        (r#""%s|%s", __print_hex(REC->mac, 3), __print_hex_str(REC->mac, 6)"#, "00 1b 21|001b21aabbcc"),
        (r#""%s", __print_hex(&REC->pair, sizeof(REC->pair) - 14)"#, "00 01"),
        (r#""%s", __get_bitmask(mask)"#, "80000000,00000000,00000000,000000e1"),
        (r#""%s", __get_cpumask(mask)"#, "80000000,00000000,00000000,000000e1"),
    ]);
}

#[test]
fn flags_and_symbols_have_names() {
    check(&[
        (r#""%s", __print_flags(5, "|", { 1, "A" }, { 2, "B" }, { 4, "C" })"#, "A|C"),
        (r#""%s", __print_flags(13, "|", { 1, "A" }, { 4, "C" })"#, "A|C|0x8"),
        (r#""%s", __print_flags(8, "|", { 1, "A" })"#, "0x8"),
        (r#""%s", __print_flags(0, "|", { 1, "A" })"#, ""),
        (r#""%s", __print_flags(3, "", {(1 << 0) | (1UL << 1), "AB" }, { 1, "A" })"#, "AB"),
        (r#""%s", __print_flags(REC->big, "|", { 1ULL << 63, "TOP" }, { 5, "FIVE" })"#, "TOP|FIVE"),
        (r#""[%-5s]", __print_flags(1, "|", { 1, "A" })"#, "[A    ]"),
        // A value that the format does not define is -1, which names 0.
        (r#""%s", __print_flags(0, "|", { I_DIRTY, "DIRTY" }, { I_NEW, "NEW" })"#, "DIRTY"),
        (r#""%s", __print_flags(4, "|", { I_DIRTY, "DIRTY" })"#, "0x4"),
        // An entry without a name ends the kernel's list.
        (r#""%s", __print_flags(1, "|", { 1, "A" }, { -1, ((void *)0) })"#, "A"),
        (r#""%s", __print_symbolic(2, { 1, "one" }, { 2, "two" })"#, "two"),
        (r#""%s", __print_symbolic(3, { 1, "one" }, { 2, "two" })"#, "0x3"),
        (r#""%s", __print_symbolic(7, { SCHED_SOFTIRQ, "SCHED" })"#, "SCHED"),
        (r##""%s", __print_symbolic(1, { 1, "#" "DB" }, { })"##, "#DB"),
        (r#""%s", __print_symbolic(-6ULL, { -6ULL, "LOG" })"#, "LOG"),
        (r#""%s", __print_symbolic(1, { 0, 0 })"#, "0x1"),
        (r#""%s", __print_symbolic_u64(1, { 1, ("one") },)"#, "one"),
    ]);
}

#[test]
fn pointers_have_the_formats_of_the_kernel() {
    check(&[
        (r#""%p %p", REC->w, 0"#, "0xffffffff81000010 (nil)"),
        (r#""%pS %ps %pF %pf", (void *)REC->w, REC->w, REC->w, REC->w"#, "do_it+0x10 do_it do_it+0x10 do_it"),
        (r#""%pS", 5"#, "0x5"),
        // A return address is after its call: 0x100 is the end of the function, and 0 its start.
        (
            r#""%pB %pB %pB", REC->w, REC->w + 0xf0, REC->w - 0x10"#,
            "do_it+0x10 do_it+0x100 0xffffffff81000000",
        ),
        (
            r#""%pM %pMF %pMR %pm", REC->mac, REC->mac, REC->mac, REC->mac"#,
            "00:1b:21:aa:bb:cc 00-1b-21-aa-bb-cc cc:bb:aa:21:1b:00 001b21aabbcc",
        ),
        (r#""%pI4 %pi4", REC->v4, REC->v4"#, "192.168.0.7 192.168.000.007"),
        (
            r#""%pI6 %pi6", REC->v6, REC->v6"#,
            "2001:0db8:0000:0000:0000:0000:0000:0001 20010db8000000000000000000000001",
        ),
        (r#""%pI6c", REC->v6"#, "2001:db8::1"),
        (r#""%pISpc %pIS", __get_sockaddr(sock), __get_dynamic_array(sock)"#, "127.0.0.1:8080 127.0.0.1"),
        (r#""%s", __get_sockaddr(sock)"#, "127.0.0.1:8080"),
        (r#""%pISpc", __get_sockaddr(sock6)"#, "(einval)"),
        (
            r#""%pU %pUL", &REC->pair, &REC->pair"#,
            "00010203-0405-0607-0809-0a0b0c0d0e0f 03020100-0504-0706-0809-0A0B0C0D0E0F",
        ),
        (
            r#""%*ph %6phC %*phD %2phN", 2, REC->mac, REC->mac, 2, REC->mac, REC->mac"#,
            "00 1b 00:1b:21:aa:bb:cc 00-1b 001b",
        ),
        (
            r#""%*pbl %*pbl %*pb", 128, __get_dynamic_array(mask), 6, __get_bitmask(mask), 128, __get_dynamic_array(mask)"#,
            "0,5-7,127 0,5 80000000,00000000,00000000,000000e1",
        ),
    ]);
}

/// Prints an IPv6 address without its zeros.
fn short(address: [u8; 16]) -> String {
    let text = format_text(r#""%pI6c", REC->v6"#);
    let format = Format::parse(b"system", text.as_bytes(), 8).unwrap();
    let mut bytes = raw::<LittleEndian>();
    bytes[52..68].copy_from_slice(&address);
    let mut out = Vec::new();
    PrintFmt::new(&format).unwrap().write(&bytes, Endianness::Little, &(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn ipv6_addresses_are_shortened() {
    for (groups, expected) in [
        ([0, 0, 0, 0, 0, 0, 0, 0], "::"),
        ([0, 0, 0, 0, 0, 0, 0, 1], "::1"),
        ([1, 0, 0, 0, 0, 0, 0, 0], "1::"),
        ([1, 0, 0, 2, 0, 0, 0, 3], "1:0:0:2::3"),
        ([1, 0, 0, 2, 0, 0, 3, 4], "1::2:0:0:3:4"),
        ([1, 0, 2, 0, 3, 0, 4, 5], "1:0:2:0:3:0:4:5"),
        ([0, 0, 0, 0, 0, 0xffff, 0x0102, 0x0304], "::ffff:1.2.3.4"),
        ([0xfe80, 0, 0, 0, 0, 0x5efe, 0x0a00, 1], "fe80::5efe:10.0.0.1"),
    ] {
        let mut bytes = [0; 16];
        for (pair, group) in bytes.chunks_mut(2).zip(groups) {
            pair.copy_from_slice(&u16::to_be_bytes(group));
        }
        assert_eq!(short(bytes), expected);
    }
}

#[test]
fn statements_may_declare_variables() {
    check(&[
        (r#""%d", ({ int __x = (REC->c); int __y = (128); ((__x) < (__y) ? (__x) : (__y)); })"#, "128"),
        (r#""%d", __builtin_expect(!!(REC->c), 0) ? 4 : 5"#, "4"),
        (
            r#""%llu.%09u", __print_ns_to_secs(3000000007), __print_ns_without_secs(3000000007)"#,
            "3.000000007",
        ),
        (r#""%d", (REC)->c + (u64)(REC)->c"#, "400"),
    ]);
    let error = printed(r#""%s", ({ const char *p = f("});"); g(p, ")"); p; })"#);
    assert_eq!(error.unwrap_err(), "print fmt: ({ can be evaluated only by the kernel");
}

#[test]
fn names_that_are_not_defined_are_zero_and_listed() {
    let print_fmt = r#""%p %s %d", (((struct page *)vmemmap_base) + (REC->c)), __print_symbolic(1, { TCP_X, "x" }), true"#;
    check(&[(print_fmt, "0xc8 0x1 1")]);
    let text = format_text(print_fmt);
    let format = Format::parse(b"system", text.as_bytes(), 8).unwrap();
    let names = PrintFmt::new(&format).unwrap().undefined_names().to_vec();
    assert_eq!(names, [&b"vmemmap_base"[..], b"TCP_X"]);
}

#[test]
fn without_symbols_addresses_are_printed() {
    let print_fmt = r#""%pS %s", REC->w, REC->text"#;
    let text = text_in::<LittleEndian>(print_fmt, &()).unwrap();
    assert_eq!(text, "0xffffffff81000010 ffffffff82000000");
}

#[test]
fn a_long_of_4_bytes_is_4_bytes() {
    let text = "name: event\nID: 1\nformat:\n\tfield:short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
        \tfield:long a;\toffset:4;\tsize:4;\tsigned:1;\n\tfield:const char * s;\toffset:8;\tsize:4;\tsigned:0;\n\
        \nprint fmt: \"%ld %lu %p %zu %s %d\", REC->a, REC->a, REC->a, (unsigned long)(REC->a - 1), REC->s, sizeof(long)\n";
    let format = Format::parse(b"system", text.as_bytes(), 4).unwrap();
    assert_eq!(format.long_size(), 4);
    let mut out = Vec::new();
    let raw = [0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0x10, 0x20, 0, 0];
    PrintFmt::new(&format).unwrap().write(&raw, Endianness::Little, &(), &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "-2 4294967294 0xfffffffe 4294967293 2010 4");
}

#[test]
fn strings_of_the_kernel_are_found_by_their_addresses() {
    let text =
        b"0xffffffff82000010 : \"two\\n\"\n0xffffffff82000000 : \"one: 1\"\nnonsense\n0xzz : \"x\"\n : \n";
    let strings = PrintkFormats::new(text);
    assert_eq!(strings.get(0xffff_ffff_8200_0000), Some(&b"one: 1"[..]));
    assert_eq!(strings.get(0xffff_ffff_8200_0010), Some(&b"two"[..]));
    assert_eq!(strings.get(0xffff_ffff_8200_0001), None);
}

#[test]
fn fields_are_printed_as_perf_prints_them() {
    let text = format_text("\"\"");
    let format = Format::parse(b"system", text.as_bytes(), 8).unwrap();
    let mut out = Vec::new();
    format.write_fields(&raw::<LittleEndian>(), Endianness::Little, &mut out);
    let out = String::from_utf8(out).unwrap();
    let expected = " a=-2 b=-3 c=200 on=1 w=0xffffffff81000010 comm=cat name=hello mask=ARRAY[e1, 00, 00, 00, 00, 00, 00, \
        00, 00, 00, 00, 00, 00, 00, 00, 80] mac= v4=ARRAY[c0, a8, 00, 07] v6=ARRAY[20, 01, 0d, b8, 00, 00, 00, 00, 00, \
        00, 00, 00, 00, 00, 00, 01] text=0xffffffff82000000 list=ARRAY[01, 00, 00, 00, 70, 11, 01, 00, 03, 00, 00, 00] \
        rel=rel";
    assert!(out.starts_with(expected), "{out}");
    assert!(out.ends_with("big=9223372036854775813"), "{out}");
}
