//! Raw data in both byte orders.

use perf_parse::abi::endian::{BigEndian, Endian, Endianness, LittleEndian};
use perf_parse::tracepoint::{FieldPlacement, Format, FormatField, Value};
use testdata::Bytes;

use super::{line, text};

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
        format.fields_in::<O>(&raw.out, ()).map(|(field, value)| (field.name, value.unwrap())).collect();
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

    // The byte order as a value instead of a type.
    let elements = |value: &Value<'_>| match value {
        Value::Array(array) => array.values().map(|value| format!("{value:?}")).collect(),
        other => vec![format!("{other:?}")],
    };
    for ((field, erased), (_, typed)) in format.fields(&raw.out, O::ENDIANNESS).zip(&values) {
        let typed = match *typed {
            Value::Array(_) => numbers(*typed),
            other => vec![format!("{other:?}")],
        };
        assert_eq!(elements(&erased.unwrap()), typed);
        assert_eq!(field.value(&raw.out, O::ENDIANNESS), erased);
        assert_eq!(format.field(field.name), Some(field));
    }
    assert_eq!(format.field("pid"), None);
    let number = |name: &str| format.field(name).unwrap().value(&raw.out, O::ENDIANNESS).unwrap();
    let both = |name: &str| (number(name).as_u64(), number(name).as_i64());
    assert_eq!(both("u32"), (Some(0xffff_fffe), Some(0xffff_fffe)));
    assert_eq!(both("s32"), (None, Some(-2)));
    assert_eq!(both("u64"), (Some(u64::MAX - 1), None));
    assert_eq!(both("yes"), (Some(1), Some(1)));
    assert_eq!(both("pointer"), (Some(0xffff_8880_0123_4567), None));
    assert_eq!(Value::<'_, O>::Signed(2).as_u64(), Some(2));
    for name in ["comm", "mac", "pair"] {
        assert_eq!(both(name), (None, None), "{name}");
    }
    assert_eq!(number("comm").as_str(), Some(&b"sh"[..]));
    assert_eq!(number("name").as_str(), Some(&b"abc"[..]));
    assert_eq!((number("mac").as_str(), number("u8").as_str()), (None, None));

    // Truncated anywhere: each whole field has its value, each other field is an error with its name.
    for len in 0..raw.out.len() {
        for ((field, cut), (_, whole)) in format.fields_in::<O>(&raw.out[..len], ()).zip(&values) {
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
                    let dynamic = matches!(field.place, FieldPlacement::DataLoc | FieldPlacement::RelLoc);
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
    let words = |field: &FormatField<'_>| match field.value(&raw.out, O::ENDIANNESS).unwrap() {
        Value::Array(array) => array.unsigned_words().map(|words| words.iter().collect::<Vec<_>>()),
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
    let shown = format.fields(&raw, Endianness::Little).skip(4).map(|(_, value)| match value {
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
