//! Print formats: each construct with the text that perf prints for it, the limits, and every error.

mod collection;
mod constructs;
mod limits;
mod random;

use std::borrow::Cow;

use perf_parse::abi::endian::{BigEndian, Endian, LittleEndian};
use perf_parse::tracepoint::{Addresses, Format, PrintFmt};
use zerocopy::IntoBytes;

/// The fields of the event that all tests use, each with its offset, size and sign.
const FIELDS: &[(&str, u32, u32, u32)] = &[
    ("unsigned short common_type", 0, 2, 0),
    ("int a", 8, 4, 1),
    ("short b", 12, 2, 1),
    ("u8 c", 14, 1, 0),
    ("bool on", 15, 1, 0),
    ("unsigned long w", 16, 8, 0),
    ("char comm[8]", 24, 8, 0),
    ("__data_loc char[] name", 32, 4, 0),
    ("__data_loc unsigned long[] mask", 36, 4, 0),
    ("u8 mac[6]", 40, 6, 0),
    ("unsigned char v4[4]", 48, 4, 0),
    ("unsigned char v6[16]", 52, 16, 0),
    ("const char * text", 72, 8, 0),
    ("u32 list[3]", 80, 12, 0),
    ("__rel_loc char[] rel", 92, 4, 0),
    ("__data_loc u8[] sock", 96, 4, 0),
    ("__data_loc u16[] dyn", 100, 4, 0),
    ("struct pair pair", 104, 16, 0),
    ("__data_loc u8[] sock6", 120, 4, 0),
    ("u64 big", 128, 8, 0),
];

/// Returns the text of a format with [`FIELDS`] and this print format.
fn format_text(print_fmt: &str) -> String {
    let mut text = "name: event\nID: 300\nformat:\n".to_owned();
    for (declaration, offset, size, signed) in FIELDS {
        text += &format!("\tfield:{declaration};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n");
        if *offset == 0 {
            text += "\n";
        }
    }
    text + "\nprint fmt: " + print_fmt + "\n"
}

/// Returns the raw data of the event in byte order `O`.
fn raw<O: Endian>() -> Vec<u8> {
    use perf_parse::abi::endian::{U16, U32, U64};
    let mut raw = vec![0; 192];
    let mut put = |offset: usize, bytes: &[u8]| raw[offset..offset + bytes.len()].copy_from_slice(bytes);
    let u16 = |value| U16::<O>::new(value);
    let u32 = |value| U32::<O>::new(value);
    let u64 = |value| U64::<O>::new(value);
    put(0, u16(300).as_bytes());
    put(8, u32(-2_i32 as u32).as_bytes());
    put(12, u16(-3_i16 as u16).as_bytes());
    put(14, &[200, 1]);
    put(16, u64(0xffff_ffff_8100_0010).as_bytes());
    put(24, b"cat\0junk");
    // The low 16 bits are the offset, the others the size.
    put(32, u32(6 << 16 | 136).as_bytes());
    put(36, u32(16 << 16 | 144).as_bytes());
    put(40, &[0, 0x1b, 0x21, 0xaa, 0xbb, 0xcc]);
    put(48, &[192, 168, 0, 7]);
    put(52, &[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    put(72, u64(0xffff_ffff_8200_0000).as_bytes());
    for (index, value) in [1, 70_000, 3].into_iter().enumerate() {
        put(80 + 4 * index, u32(value).as_bytes());
    }
    put(92, u32(4 << 16 | 64).as_bytes());
    put(96, u32(8 << 16 | 176).as_bytes());
    put(100, u32(4 << 16 | 164).as_bytes());
    put(104, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
    put(120, u32(4 << 16 | 184).as_bytes());
    put(128, u64(1 << 63 | 5).as_bytes());
    put(136, b"hello\0");
    put(144, u64(0b1110_0001).as_bytes());
    put(152, u64(1 << 63).as_bytes());
    put(160, b"rel\0");
    put(164, u16(7).as_bytes());
    put(166, u16(65535).as_bytes());
    put(176, u16(2).as_bytes());
    put(178, &[0x1f, 0x90, 127, 0, 0, 1]);
    put(184, u16(1).as_bytes());
    raw
}

/// A kernel with one function and one string.
struct Kernel;

impl Addresses for Kernel {
    fn function(&self, address: u64) -> Option<(Cow<'_, [u8]>, u64)> {
        let offset = address.checked_sub(0xffff_ffff_8100_0000)?;
        (offset < 0x100).then_some((Cow::Borrowed(b"do_it"), offset))
    }

    fn string(&self, address: u64) -> Option<&[u8]> {
        (address == 0xffff_ffff_8200_0000).then_some(b"a string")
    }
}

/// Returns the text of the event, or the error, in byte order `O`.
fn text_in<O: Endian>(print_fmt: &str, addresses: &dyn Addresses) -> Result<String, String> {
    let text = format_text(print_fmt);
    let format = Format::parse(b"system", text.as_bytes(), 8).unwrap();
    let parsed = PrintFmt::new(&format).map_err(|error| error.to_string())?;
    let mut out = b"before ".to_vec();
    let written = parsed.write(&raw::<O>(), O::ENDIANNESS, addresses, &mut out);
    let out = String::from_utf8(out).unwrap();
    match written {
        Ok(()) => Ok(out.strip_prefix("before ").unwrap().to_owned()),
        Err(error) => {
            assert_eq!(out, "before ");
            Err(error.to_string())
        }
    }
}

/// Returns the text of the event, which must be the same in both byte orders.
fn printed(print_fmt: &str) -> Result<String, String> {
    let text = text_in::<LittleEndian>(print_fmt, &Kernel);
    assert_eq!(text_in::<BigEndian>(print_fmt, &Kernel), text, "{print_fmt}");
    text
}

/// Checks the texts of print formats.
fn check(cases: &[(&str, &str)]) {
    for (print_fmt, expected) in cases {
        assert_eq!(printed(print_fmt).as_deref(), Ok(*expected), "{print_fmt}");
    }
}
