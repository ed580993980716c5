//! Allocations of tracepoints: a small multiple of the bytes read, and none for a sample.

use perf_parse::abi::endian::Endianness;
use perf_parse::tracepoint::{Format, PrintFmt, Tracepoints, TracingData};
use testdata::Bytes;
use testdata::memory::{Counting, measure};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Makes tracing data with `count` copies of the same text.
fn repeated(text: &str, count: u32) -> Vec<u8> {
    let head = Bytes::new(false).raw(b"\x17\x08\x44tracing0.5\0\0\x08\0\x10\0\0header_page\0").zeros(8);
    let head = head.raw(b"header_event\0").zeros(12).raw(b"\x01\0\0\0s\0").u32(count);
    (0..count).fold(head, |data, _| data.u64(text.len() as u64).raw(text.as_bytes())).zeros(8).out
}

#[test]
fn what_is_allocated_is_bounded() {
    let fields = "name:a\nID:1\n".to_owned() + &"field:a b;offset:0;size:0;\n".repeat(1000);
    for (what, text, count) in [
        ("faults", "", 10_000),
        ("formats", "ID:1\nname:", 10_000),
        ("fields", &fields, 10),
        ("formats with a field", "name:a\nID:1\nfield:a b;offset:0;size:0;\n", 10_000),
        ("unknown lines", &"\n".repeat(10_000), 10),
    ] {
        let data = repeated(text, count);
        let (parsed, used) = measure(|| TracingData::parse(&data).unwrap());
        assert_eq!(used.peak, 0, "{what}");
        let (tracepoints, used) = measure(|| Tracepoints::new(&parsed));
        let peak = used.peak;
        let all = tracepoints.formats().len() as u64 + tracepoints.faults().len() as u64;
        assert_eq!(all + tracepoints.faults_omitted(), u64::from(count), "{what}");
        println!("{what}: {peak} bytes for {}", data.len());
        assert!(peak <= 16 * data.len() + (1 << 17), "{what}: {peak} bytes for {}", data.len());
    }

    let text = "name:a\nID:1\nfield:int a;offset:0;size:4;\nfield:char b[4];offset:4;size:4;\nfield:u16 c[2];offset:8;size:4;\n\
        field:__data_loc char[] d;offset:12;size:4;\nfield:u64 e;offset:16;size:8;\n";
    let data = repeated(text, 1);
    let tracepoints = Tracepoints::new(&TracingData::parse(&data).unwrap());
    let format = tracepoints.get(1).unwrap();
    let (decoded, used) = measure(|| {
        let fields = format.fields(&[1; 16], Endianness::Little);
        fields.fold((0, 0), |(right, wrong), (_, value)| match value {
            Ok(_) => (right + 1, wrong),
            Err(_) => (right, wrong + 1),
        })
    });
    assert_eq!((used.calls, decoded), (0, (3, 2)));
}

#[test]
fn what_a_print_format_allocates_is_bounded() {
    let many = |directives: &str, arguments: &str, count| {
        format!("\"{}\"{}", directives.repeat(count), arguments.repeat(count))
    };
    for (what, text) in [
        ("directives", many("%d", ",1", 10_000)),
        ("directives with widths", many("%*.*d", ",1,1,1", 10_000)),
        ("literals", many("a%%", "", 30_000)),
        ("arguments", many("", ",1", 50_000)),
        ("operators", many("", ",!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!1", 2_000)),
        ("names", many("", ",a+b+c", 10_000)),
        ("fields", many("", ",REC->f", 10_000)),
        ("entries", format!("\"\",__print_symbolic(1{})", ",{1,\"\"}".repeat(10_000))),
        ("entries without names", format!("\"\",__print_symbolic(1{})", ",{1,0}".repeat(10_000))),
        ("strings", many("", ",\"\"\"\"", 20_000)),
        ("statements", many("", ",({a b;})", 10_000)),
        ("variables", format!("\"\",({{{}1;}})", "int a=1;".repeat(10_000))),
        ("a fault at the end", many("%d", ",1", 10_000) + ",("),
    ] {
        let text = format!("name:a\nID:1\nfield:int f;offset:0;size:4;\nprint fmt: {text}");
        let format = Format::parse(b"system", text.as_bytes(), 8).unwrap();
        let (parsed, used) = measure(|| PrintFmt::new(&format));
        assert_eq!(parsed.is_err(), what == "a fault at the end", "{what}: {parsed:?}");
        println!("{what}: {} bytes for {}", used.peak, text.len());
        assert!(used.peak <= 96 * text.len() + (1 << 17), "{what}: {} bytes for {}", used.peak, text.len());
    }

    let text = "name:a\nID:1\nfield:int f;offset:0;size:4;\nprint fmt: \"%s %05d\", __print_flags(REC->f, \"|\", {1, \"A\"}), REC->f";
    let format = Format::parse(b"system", text.as_bytes(), 8).unwrap();
    let parsed = PrintFmt::new(&format).unwrap();
    let mut out = Vec::with_capacity(64);
    let (written, used) = measure(|| parsed.write(&[1, 0, 0, 0], Endianness::Little, &(), &mut out));
    assert_eq!((written, used.calls, &out[..]), (Ok(()), 0, &b"A 00001"[..]));
}
