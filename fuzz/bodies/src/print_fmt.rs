//! The print format of a tracepoint and raw data for it: the text is within its cost, is the same each time and in both byte
//! orders, and an error changes nothing.

use std::borrow::Cow;

use perf_abi::endian::{BigEndian, Endian, LittleEndian};
use perf_parse::tracepoint::{Addresses, ElementType, FieldPlacement, Format, PrintError, PrintFmt};

/// Bits of the first byte.
const LONG_OF_4: u8 = 1;
/// The text is a whole format, not a print format alone.
const WHOLE: u8 = 2;

/// The event of a print format that is given alone.
const FIELDS: &str = "name: event\nID: 1\nformat:\n\
    \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
    \tfield:int a;\toffset:4;\tsize:4;\tsigned:1;\n\
    \tfield:u16 b;\toffset:2;\tsize:2;\tsigned:0;\n\
    \tfield:unsigned long c;\toffset:8;\tsize:8;\tsigned:0;\n\
    \tfield:s8 d;\toffset:16;\tsize:1;\tsigned:1;\n\
    \tfield:bool e;\toffset:17;\tsize:1;\tsigned:0;\n\
    \tfield:u8 mac[6];\toffset:18;\tsize:6;\tsigned:0;\n\
    \tfield:char comm[8];\toffset:24;\tsize:8;\tsigned:0;\n\
    \tfield:u32 list[2];\toffset:32;\tsize:8;\tsigned:0;\n\
    \tfield:__data_loc char[] name;\toffset:40;\tsize:4;\tsigned:0;\n\
    \tfield:__rel_loc unsigned long[] mask;\toffset:44;\tsize:4;\tsigned:0;\n\
    \tfield:struct pair p;\toffset:48;\tsize:16;\tsigned:0;\n\
    \nprint fmt: ";

/// Parts of print formats that read the bytes of integers, whose meaning depends on the byte order.
const OF_BYTES: &[&[u8]] = &[b"[", b"*", b"__print_", b"__get_b", b"__get_c", b"__get_so", b"__get_d"];

/// Any address has a name.
struct Kernel;

impl Addresses for Kernel {
    fn function(&self, address: u64) -> Option<(Cow<'_, [u8]>, u64)> {
        (address & 1 == 1).then_some((Cow::Borrowed(b"function"), address & 0xff))
    }

    fn string(&self, address: u64) -> Option<&[u8]> {
        (address & 2 == 2).then_some(b"string")
    }
}

/// The first byte of `data` has the bits, the second a small limit of the cost. The text, a NUL and raw data follow.
pub fn run(data: &[u8]) -> bool {
    let [bits, cost, rest @ ..] = data else { return false };
    let end = rest.iter().position(|&byte| byte == 0).unwrap_or(rest.len());
    let (text, raw) = (&rest[..end], rest.get(end + 1..).unwrap_or_default());
    let is_whole = bits & WHOLE != 0;
    let text = if is_whole { text.to_vec() } else { [FIELDS.as_bytes(), text].concat() };
    let Ok(format) = Format::parse(b"system", &text, if bits & LONG_OF_4 != 0 { 4 } else { 8 }) else {
        return is_whole;
    };
    fields::<LittleEndian>(&format, raw);
    fields::<BigEndian>(&format, raw);
    let print_fmt = match PrintFmt::new(&format) {
        Ok(print_fmt) => print_fmt,
        Err(error) => {
            let len = format.print_fmt.map_or(0, <[u8]>::len);
            assert!(error.offset as usize <= len, "{error}");
            assert!(!error.to_string().is_empty());
            return true;
        }
    };
    assert_eq!(PrintFmt::new(&format).as_ref(), Ok(&print_fmt));
    let little = texts::<LittleEndian>(&print_fmt, raw, u32::from(*cost));
    let _checked = texts::<BigEndian>(&print_fmt, raw, u32::from(*cost));
    let text = format.print_fmt.unwrap_or_default();
    let of_bytes = |part: &&[u8]| text.windows(part.len()).any(|window| window == *part);
    // Directives other than those of integers are pointers, and strings of which the bytes may be integers.
    let mut directives = text.windows(2).filter(|pair| pair[0] == b'%');
    let of_integers = directives.all(|pair| b"dxuc%".contains(&pair[1]));
    if !is_whole && of_integers && !OF_BYTES.iter().any(of_bytes) {
        let swapped = swapped(&format, raw);
        assert_eq!(texts::<BigEndian>(&print_fmt, &swapped, u32::from(*cost)), little);
    }
    true
}

/// Returns the text, or the error, after it has been checked.
fn texts<O: Endian>(print_fmt: &PrintFmt<'_>, raw: &[u8], small: u32) -> Result<Vec<u8>, String> {
    const BEFORE: &[u8] = b"before";
    let write = |max: u32| {
        let mut out = BEFORE.to_vec();
        let written = print_fmt.write_within(raw, O::ENDIANNESS, &Kernel, max, &mut out);
        let text = out.strip_prefix(BEFORE).unwrap();
        assert!(text.len() <= max as usize);
        match written {
            Ok(()) => Ok(text.to_vec()),
            Err(error) => {
                assert_eq!(text, b"");
                assert!(!error.to_string().is_empty());
                Err(error)
            }
        }
    };
    let text = write(PrintFmt::MAX_COST);
    assert_eq!(write(PrintFmt::MAX_COST), text);
    // A smaller limit refuses the text or changes nothing.
    match write(small) {
        Err(PrintError::Cost { max }) => assert_eq!(max, small),
        within => assert_eq!(within, text),
    }
    text.map_err(|error| error.to_string())
}

fn fields<O: Endian>(format: &Format<'_>, raw: &[u8]) {
    let mut out = Vec::new();
    format.write_fields(raw, O::ENDIANNESS, &mut out);
    let names: usize = format.own_fields().iter().map(|field| field.name.len() + 32).sum();
    assert!(out.len() <= names + 4 * (raw.len() + 64));
    assert_eq!(out.is_empty(), format.own_fields().is_empty());
}

/// Returns raw data in which the integers have the other byte order.
fn swapped(format: &Format<'_>, raw: &[u8]) -> Vec<u8> {
    let mut raw = raw.to_vec();
    for field in format.common_fields().iter().chain(format.own_fields()) {
        let width = match (field.place, field.element) {
            (FieldPlacement::DataLoc | FieldPlacement::RelLoc, _) => 4,
            (_, ElementType::Integer { bytes } | ElementType::Pointer { bytes }) => usize::from(bytes),
            _ => continue,
        };
        let end = (field.offset + field.size) as usize;
        if let Some(bytes) = raw.get_mut(field.offset as usize..end) {
            bytes.chunks_exact_mut(width).for_each(<[u8]>::reverse);
        }
    }
    raw
}
