//! Values with serde: what is written, and that unknown values are kept.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue should fail loudly")]

use perf_abi::attr::{Attr, AttrFlags, AttrVersion};
use perf_abi::endian::Endianness;
use perf_abi::event::{EventType, HwCacheEvent, HwEvent, HwId};
use perf_abi::record::{Misc, RecordType};
use perf_abi::regs::Arch;
use perf_abi::sample_type::SampleType;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Checks that `value` is written as `text` and read back.
fn round_trip<T: Serialize + for<'de> Deserialize<'de> + PartialEq + core::fmt::Debug>(
    value: T,
    text: Value,
) {
    assert_eq!(serde_json::to_value(&value).unwrap(), text);
    assert_eq!(serde_json::from_value::<T>(text).unwrap(), value);
}

#[test]
fn newtypes_are_their_numbers_even_if_unknown() {
    round_trip(RecordType::SAMPLE, json!(9));
    round_trip(RecordType(0xffff_fffe), json!(0xffff_fffe_u32));
    round_trip(SampleType(u64::MAX), json!(u64::MAX));
    round_trip(AttrVersion(1), json!(1));
    round_trip(Misc(0x8001), json!(0x8001));
    assert!(serde_json::from_value::<RecordType>(json!("SAMPLE")).is_err());
}

#[test]
fn closed_types_are_words_and_maps() {
    round_trip(Endianness::Big, json!("big"));
    round_trip(Arch::X86, json!("x86"));
    round_trip(HwEvent { id: HwId::INSTRUCTIONS, pmu: 8 }, json!({"id": 1, "pmu": 8}));
    round_trip(HwCacheEvent::default(), json!({"cache": 0, "op": 0, "result": 0, "pmu": 0}));
}

#[test]
fn an_attr_is_a_map_with_the_names_of_the_kernel() {
    let attr = Attr {
        kind: EventType(77),
        config: u64::MAX,
        flags: AttrFlags(1 << 63),
        reserved_2: 5,
        clockid: -1,
        config4: 3,
        ..Attr::default()
    };
    let text = serde_json::to_value(attr).unwrap();
    assert_eq!((&text["type"], &text["__reserved_2"], &text["clockid"]), (&json!(77), &json!(5), &json!(-1)));
    // Every field, and nothing else.
    assert_eq!(text.as_object().unwrap().len(), 24);
    round_trip(attr, text);
}

#[test]
fn an_attr_without_some_fields_has_zeros_there_and_an_unknown_field_is_an_error() {
    let attr: Attr = serde_json::from_value(json!({"type": 1, "config": 2})).unwrap();
    assert_eq!(attr, Attr { kind: EventType::SOFTWARE, config: 2, ..Attr::default() });
    let error = serde_json::from_value::<Attr>(json!({"config5": 1})).unwrap_err();
    assert!(error.to_string().starts_with("unknown field `config5`"), "{error}");
}
