//! An attr in words: `sample_type=IP|TID|TIME,sample_id_all`, or the name of a preset and changes to it.

use std::path::Path;

use perf_abi::Name;
use perf_abi::attr::{Attr, AttrFlags, AuxAction};
use perf_abi::branch::BranchSampleType;
use perf_abi::breakpoint::BreakpointType;
use perf_abi::event::{EventType, SwId};
use perf_abi::read_format::ReadFormat;
use perf_abi::sample_type::SampleType;

/// Attrs that have a name.
const PRESETS: &[(&str, &str)] = &[
    // libbpf's `perf_buffer__new`; aya, bcc and cilium/ebpf use the same.
    ("bpf-output", "type=SOFTWARE,config=BPF_OUTPUT,sample_period=1,sample_type=RAW,wakeup_events=1"),
    // What `perf record -a` asks of a tracepoint. `config` is the number of the tracepoint, which the layout does not need.
    ("tracepoint", "type=TRACEPOINT,sample_period=1,sample_type=IP|TID|TIME|CPU|PERIOD|RAW,sample_id_all"),
];

/// A field of an attr.
struct Field {
    /// The kernel's names; a C union has several.
    names: &'static [&'static str],
    /// The names that a value may consist of, joined by `|`.
    values: &'static [Name],
    /// The prefix of the names of values in C, which may be left out.
    prefix: &'static str,
    max: u64,
    set: fn(&mut Attr, u64),
}

const fn field(
    names: &'static [&'static str],
    (prefix, values): (&'static str, &'static [Name]),
    max: u64,
    set: fn(&mut Attr, u64),
) -> Field {
    Field { names, values, prefix, max, set }
}

const PLAIN: (&str, &[Name]) = ("", &[]);
const U32: u64 = u32::MAX as u64;

/// The fields with a value. The flags are words of their own.
const FIELDS: &[Field] = &[
    field(&["type"], ("PERF_TYPE_", EventType::NAMES), U32, |attr, value| attr.kind.0 = value as u32),
    // The kernel's events are the only ones with names that no PMU can change.
    field(&["config"], ("PERF_COUNT_SW_", SwId::NAMES), u64::MAX, |attr, value| attr.config = value),
    field(&["sample_period"], PLAIN, u64::MAX, |attr, value| {
        attr.sample_period = value;
        attr.flags = attr.flags.without(AttrFlags::FREQ);
    }),
    field(&["sample_freq"], PLAIN, u64::MAX, |attr, value| {
        attr.sample_period = value;
        attr.flags |= AttrFlags::FREQ;
    }),
    field(&["sample_type"], ("PERF_SAMPLE_", SampleType::NAMES), u64::MAX, |attr, value| {
        attr.sample_type.0 = value;
    }),
    field(&["read_format"], ("PERF_FORMAT_", ReadFormat::NAMES), u64::MAX, |attr, value| {
        attr.read_format.0 = value;
    }),
    field(&["precise_ip"], PLAIN, 3, |attr, value| attr.flags = attr.flags.with_precise_ip(value as u8)),
    field(&["wakeup_events"], PLAIN, U32, |attr, value| {
        attr.wakeup_events = value as u32;
        attr.flags = attr.flags.without(AttrFlags::WATERMARK);
    }),
    field(&["wakeup_watermark"], PLAIN, U32, |attr, value| {
        attr.wakeup_events = value as u32;
        attr.flags |= AttrFlags::WATERMARK;
    }),
    field(&["bp_type"], ("HW_BREAKPOINT_", BreakpointType::NAMES), U32, |attr, value| {
        attr.bp_type.0 = value as u32;
    }),
    field(&["config1", "bp_addr"], PLAIN, u64::MAX, |attr, value| attr.config1 = value),
    field(&["config2", "bp_len"], PLAIN, u64::MAX, |attr, value| attr.config2 = value),
    field(&["config3"], PLAIN, u64::MAX, |attr, value| attr.config3 = value),
    field(&["config4"], PLAIN, u64::MAX, |attr, value| attr.config4 = value),
    field(
        &["branch_sample_type"],
        ("PERF_SAMPLE_BRANCH_", BranchSampleType::NAMES),
        u64::MAX,
        |attr, value| attr.branch_sample_type.0 = value,
    ),
    field(&["sample_regs_user"], PLAIN, u64::MAX, |attr, value| attr.sample_regs_user = value),
    field(&["sample_stack_user"], PLAIN, U32, |attr, value| attr.sample_stack_user = value as u32),
    field(&["clockid"], PLAIN, i32::MAX as u64, |attr, value| {
        attr.clockid = value as i32;
        attr.flags |= AttrFlags::USE_CLOCKID;
    }),
    field(&["sample_regs_intr"], PLAIN, u64::MAX, |attr, value| attr.sample_regs_intr = value),
    field(&["aux_watermark"], PLAIN, U32, |attr, value| attr.aux_watermark = value as u32),
    field(&["sample_max_stack"], PLAIN, u16::MAX as u64, |attr, value| attr.sample_max_stack = value as u16),
    field(&["aux_sample_size"], PLAIN, U32, |attr, value| attr.aux_sample_size = value as u32),
    field(&["aux_action"], ("aux_", AuxAction::NAMES), U32, |attr, value| attr.aux_action.0 = value as u32),
    field(&["sig_data"], PLAIN, u64::MAX, |attr, value| attr.sig_data = value),
];

/// Returns the argument of `--attr` if it is an attr in words: its first word is a preset or has a `=`, and it is no
/// path with folders.
pub(super) fn of_argument(argument: &Path) -> Option<&str> {
    let text = argument.to_str()?;
    let first = text.split(',').next().unwrap_or_default();
    let is_word = first.contains('=') || preset(first).is_some() || flag(first).is_some();
    (is_word && !text.contains('/')).then_some(text)
}

/// Returns the attr of a list of words.
pub(super) fn attr(text: &str) -> Result<Attr, String> {
    let mut attr = Attr { size: perf_abi::attr::AttrVersion::NEWEST.size(), ..Attr::default() };
    for word in text.split(',') {
        match preset(word) {
            Some(words) => {
                for word in words.split(',') {
                    apply(&mut attr, word)?;
                }
            }
            None => apply(&mut attr, word)?,
        }
    }
    Ok(attr)
}

/// Returns the words of a preset.
fn preset(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|(preset, _)| *preset == name).map(|&(_, words)| words)
}

/// Returns a flag of the attr by the kernel's name.
fn flag(name: &str) -> Option<AttrFlags> {
    AttrFlags::NAMES.iter().find(|flag| flag.c_name == name).map(|flag| AttrFlags(flag.value))
}

/// Applies one word: `FIELD=VALUE`, or a flag.
fn apply(attr: &mut Attr, word: &str) -> Result<(), String> {
    let Some((name, value)) = word.split_once('=') else {
        let flag = flag(word).ok_or_else(|| {
            let presets: Vec<&str> = PRESETS.iter().map(|&(name, _)| name).collect();
            let presets = presets.join(" and ");
            format!(
                "`{word}` is not a flag of struct perf_event_attr, such as sample_id_all; the presets are {presets}"
            )
        })?;
        attr.flags |= flag;
        return Ok(());
    };
    if let Some(flag) = flag(name) {
        attr.flags = match number(value) {
            Some(0) => attr.flags.without(flag),
            Some(1) => attr.flags | flag,
            _ => return Err(format!("{name}={value}: the value of a flag is 0 or 1")),
        };
        return Ok(());
    }
    let field = FIELDS.iter().find(|field| field.names.contains(&name));
    let field = field.ok_or_else(|| format!("`{name}` is not a field of struct perf_event_attr"))?;
    let value =
        value.split('|').try_fold(0, |bits, part| Ok::<u64, String>(bits | part_of(field, name, part)?))?;
    if value > field.max {
        return Err(format!("{name}: {value:#x} does not fit, the largest value is {:#x}", field.max));
    }
    (field.set)(attr, value);
    Ok(())
}

/// Returns the value of one part of a field: a number, or a name with or without its prefix, in any case.
fn part_of(field: &Field, name: &str, part: &str) -> Result<u64, String> {
    let known = |known: &&Name| {
        let has = |name: &str| name.eq_ignore_ascii_case(part);
        has(known.name) || has(known.c_name) || known.c_name.strip_prefix(field.prefix).is_some_and(has)
    };
    match field.values.iter().find(known) {
        Some(known) => Ok(known.value),
        None => number(part).ok_or_else(|| match field.values.first() {
            Some(example) => {
                format!("{name}: `{part}` is neither a number nor a name such as {}", example.name)
            }
            None => format!("{name}: `{part}` is not a number"),
        }),
    }
}

/// Parses a decimal number, or a hexadecimal one after `0x`.
fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_and_flag_is_a_word() {
        let made = attr(
            "type=SOFTWARE,config=PERF_COUNT_SW_PAGE_FAULTS,sample_type=ip|Tid|PERF_SAMPLE_TIME,sample_id_all",
        );
        let expected = Attr {
            kind: EventType::SOFTWARE,
            size: 144,
            config: SwId::PAGE_FAULTS.0,
            sample_type: SampleType::IP | SampleType::TID | SampleType::TIME,
            flags: AttrFlags::SAMPLE_ID_ALL,
            ..Attr::default()
        };
        assert_eq!(made, Ok(expected));
        for name in AttrFlags::NAMES {
            assert_eq!(attr(name.c_name).unwrap().flags.0, name.value, "{}", name.c_name);
            assert_eq!(attr(&format!("{0},{0}=0", name.c_name)).unwrap().flags.0, 0, "{}", name.c_name);
        }
        for field in FIELDS {
            for name in field.names {
                let changed = attr(&format!("{name}=1")).unwrap();
                assert_ne!(changed, attr("sample_period=0").unwrap(), "{name}");
                let largest = attr(&format!("{name}={:#x}", field.max)).unwrap();
                assert_ne!(largest, attr("sample_period=0").unwrap(), "{name}");
                if let Some(above) = field.max.checked_add(1) {
                    assert!(attr(&format!("{name}={above}")).is_err(), "{name}");
                }
            }
            for value in field.values {
                let [short, long] =
                    [value.name, value.c_name].map(|value| attr(&format!("{}={value}", field.names[0])));
                assert_eq!(short, long, "{}", value.c_name);
                assert!(short.is_ok(), "{short:?}");
            }
        }
    }

    #[test]
    fn numbers_add_to_names() {
        assert_eq!(attr("sample_type=RAW|0x1|4").unwrap().sample_type.0, 0x405);
        assert_eq!(attr("sample_freq=99").unwrap().sample_freq(), Some(99));
        assert_eq!(attr("sample_freq=99,sample_period=5").unwrap().sample_freq(), None);
        assert_eq!(attr("wakeup_watermark=99").unwrap().wakeup_watermark(), Some(99));
    }

    #[test]
    fn a_preset_can_be_changed() {
        let bpf = attr("bpf-output").unwrap();
        assert_eq!((bpf.kind, bpf.config, bpf.sample_type), (EventType::SOFTWARE, 10, SampleType::RAW));
        let changed = attr("bpf-output,sample_type=RAW|TIME,write_backward").unwrap();
        assert_eq!(changed.sample_type, SampleType::RAW | SampleType::TIME);
        assert_eq!(changed.flags, AttrFlags::WRITE_BACKWARD);
        for (name, _) in PRESETS {
            assert!(attr(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn errors_name_the_word() {
        let fails = |text, expected: &str| {
            let error = attr(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        };
        fails("sample_type=IP,sample_id", "`sample_id` is not a flag");
        fails("sample_tipe=IP", "`sample_tipe` is not a field");
        fails("sample_type=IP|TIDE", "sample_type: `TIDE` is neither a number nor a name such as IP");
        fails("config1=IP", "config1: `IP` is not a number");
        fails("sample_type=", "sample_type: ``");
        fails("sample_id_all=2", "is 0 or 1");
        fails("precise_ip=4", "precise_ip: 0x4 does not fit");
        fails("", "`` is not a flag");
    }

    #[test]
    fn a_path_is_not_words() {
        let is_words = |text| of_argument(Path::new(text)).is_some();
        assert!(
            is_words("sample_type=IP") && is_words("bpf-output,sample_type=IP") && is_words("sample_id_all")
        );
        assert!(!is_words("./sample_type=IP") && !is_words("attr.data") && !is_words("a/bpf-output"));
    }
}
