//! The rows that LinuxTracepoints decodes from its capture: one per sample, in the order of the file.
//!
//! `meta` is the sample itself. A row of sched:sched_switch has the fields of the tracepoint. A row of a user_events
//! tracepoint has the fields of an EventHeader event: this test reads its name and attributes from `raw`, but not its
//! payload. `tracepoint`, the tracepoint that perfdata decodes, is compared with the row and, for an EventHeader event,
//! with its `meta`.

use core::str;

use serde_json::Value;

use crate::compare::{At, Comparison, Object};
use crate::features;
use crate::output::{Output, Record};

const SCHED_SWITCH: &str = "sched:sched_switch";

/// Byte offsets in the raw data of sched_switch, from the `format` text in the capture.
const SCHED_SWITCH_FIELDS: [(&str, usize, Field); 7] = [
    ("prev_comm", 8, Field::Comm),
    ("prev_pid", 24, Field::Hex32),
    ("prev_prio", 28, Field::Int32),
    ("prev_state", 32, Field::Int64),
    ("next_comm", 40, Field::Comm),
    ("next_pid", 56, Field::Hex32),
    ("next_prio", 60, Field::Int32),
];

/// Members of `tracepoint` that no row has.
const OURS_ONLY: [&str; 5] =
    ["common_type", "common_flags", "common_preempt_count", "common_pid", "eventheader_flags"];

#[derive(Clone, Copy)]
enum Field {
    /// 16 bytes, NUL-terminated.
    Comm,
    /// Printed in hex.
    Hex32,
    Int32,
    Int64,
}

/// Compares the rows with the samples of the dump.
pub(crate) fn compare(golden: &[u8], output: &Output, comparison: &mut Comparison) {
    let rows = rows(golden);
    let offset =
        output.header.get("features").and_then(|features| features::clock_offset(features.as_object()?));
    let Some(offset) = offset else {
        return comparison.fail(&At::root("CLOCK_DATA"), "perfdata has no two clocks there");
    };
    let samples: Vec<_> = output.records.iter().filter(|record| record.name == "SAMPLE").collect();
    let at = At::root("rows");
    comparison.expect(&at, &rows.len().into(), Some(&samples.len().into()));
    let attrs = output.attrs();
    for (index, (row, sample)) in rows.iter().zip(samples).enumerate() {
        comparison.records += 1;
        let at = at.index(index);
        let row = row.as_object().expect("a row is an object");
        let event = sample.number("event").and_then(|event| attrs.get(usize::try_from(event).ok()?));
        let name = event.and_then(|attr| attr.get("name")?.as_str()).unwrap_or("");
        let raw = sample.fields.get("raw").and_then(Value::as_str).and_then(unhex).unwrap_or_default();
        let (expected, mut meta) = match name.strip_prefix("user_events:") {
            Some(tracepoint) => event_header(tracepoint, &raw).unwrap_or_default(),
            None => (sched_switch(&raw).unwrap_or_default(), Object::new()),
        };
        meta.extend(sample_meta(sample, offset));
        compare_tracepoint(&at, row, name == SCHED_SWITCH, sample, comparison);
        for (key, value) in row {
            match &**key {
                "meta" => compare_meta(&at.field(key), value, &meta, comparison),
                "n" if name == SCHED_SWITCH => comparison.expect(&at.field(key), value, Some(&name.into())),
                key if key == "n" || name == SCHED_SWITCH => {
                    comparison.expect(&at.field(key), value, expected.get(key));
                }
                _ => comparison
                    .ignore("payload".into(), "an EventHeader event's own, not for perfdata to decode"),
            }
        }
    }
}

/// Compares the decoded tracepoint with the members of a row, or of its `meta`, in both directions. Members that `meta`
/// omits are 0.
fn compare_tracepoint(
    at: &At<'_>,
    row: &Object,
    is_switch: bool,
    sample: &Record,
    comparison: &mut Comparison,
) {
    let at = at.field("tracepoint");
    let Some(decoded) = sample.fields.get("tracepoint").and_then(Value::as_object) else {
        return comparison.fail(&at, "perfdata has none");
    };
    if is_switch {
        for key in row.keys().filter(|key| !["n", "meta"].contains(&&***key) && !decoded.contains_key(*key)) {
            comparison.fail(&at.field(key), "perfdata has none");
        }
    }
    for (key, actual) in decoded.iter().filter(|(key, _)| !OURS_ONLY.contains(&&***key)) {
        let golden = if is_switch { row.get(key) } else { row["meta"].get(key).or(Some(&Value::Null)) };
        match golden {
            Some(golden) => comparison.expect(&at.field(key), &number_of(golden), Some(actual)),
            None => comparison.fail(&at.field(key), format_args!("perfdata {actual}, the golden has none")),
        }
    }
}

/// Parses a number that the golden has in hex, or omits. Returns other values unchanged.
fn number_of(golden: &Value) -> Value {
    let hex = golden.as_str().and_then(|text| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok());
    match golden {
        Value::Null => 0.into(),
        golden => hex.map_or_else(|| golden.clone(), Value::from),
    }
}

fn compare_meta(at: &At<'_>, golden: &Value, meta: &Object, comparison: &mut Comparison) {
    let golden = golden.as_object().expect("meta is an object");
    for (key, value) in golden {
        comparison.expect(&at.field(key), value, meta.get(key));
    }
    for key in meta.keys().filter(|key| !golden.contains_key(*key)) {
        comparison.fail(&at.field(key), format_args!("perfdata {}, the golden has none", meta[key]));
    }
}

/// Returns the rows. The file has one member of an object after a byte order mark, and invalid UTF-8 in strings of the
/// EventHeader payloads.
fn rows(golden: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(golden);
    let object = format!("{{{}}}", text.trim_start_matches('\u{feff}'));
    let mut object: Object = serde_json::from_str(&object).expect("JSON after the byte order mark");
    let rows = object.remove("EventHeaderPerf.data").expect("the rows");
    serde_json::from_value(rows).expect("an array of rows")
}

/// Returns `time`, `cpu`, `pid` and `tid` of a sample; pids are unsigned in the golden.
fn sample_meta(sample: &Record, offset: i64) -> Object {
    let mut meta = Object::new();
    if let Some(time) = sample.time() {
        meta.insert("time".into(), utc(time.wrapping_add_signed(offset)).into());
    }
    meta.extend(sample.fields.get_key_value("cpu").map(|(key, cpu)| (key.clone(), cpu.clone())));
    for key in ["pid", "tid"] {
        let pid = sample.fields.get(key).and_then(|pid| i32::try_from(pid.as_i64()?).ok());
        meta.extend(pid.map(|pid| (key.to_owned(), (pid as u32).into())));
    }
    meta
}

/// Formats nanoseconds since 1970 as `2024-03-28T00:45:12.640913120Z`. The capture is from March 2024.
fn utc(ns: u64) -> String {
    /// The first of March 2024, in seconds since 1970.
    const MARCH: u64 = 1_709_251_200;
    let seconds = (ns / 1_000_000_000).saturating_sub(MARCH);
    let [day, hour, minute] = [seconds / 86_400 + 1, seconds / 3600 % 24, seconds / 60 % 60];
    format!("2024-03-{day:02}T{hour:02}:{minute:02}:{:02}.{:09}Z", seconds % 60, ns % 1_000_000_000)
}

fn sched_switch(raw: &[u8]) -> Option<Object> {
    let mut fields = Object::new();
    for (name, at, field) in SCHED_SWITCH_FIELDS {
        let value = match field {
            Field::Comm => until_nul(raw.get(at..at + 16)?)?.into(),
            Field::Hex32 => format!("{:#x}", u32::from_le_bytes(array(raw, at)?))
                .to_uppercase()
                .replacen('X', "x", 1)
                .into(),
            Field::Int32 => i32::from_le_bytes(array(raw, at)?).into(),
            Field::Int64 => i64::from_le_bytes(array(raw, at)?).into(),
        };
        fields.insert(name.into(), value);
    }
    Some(fields)
}

/// Returns the name of an EventHeader event, with the name of its provider, and its attributes. Level and keyword are
/// in the name of the tracepoint, `Provider_L5K0`. The header follows the 8 common bytes of a tracepoint.
fn event_header(tracepoint: &str, raw: &[u8]) -> Option<(Object, Object)> {
    const HAS_EXTENSION: u8 = 4;
    const CHAINED: u16 = 0x8000;
    const METADATA: u16 = 1;
    const ACTIVITY: u16 = 2;

    let (provider, suffix) = tracepoint.rsplit_once("_L")?;
    let (level, rest) = suffix.split_once('K')?;
    let keyword = rest.split(|letter: char| letter.is_ascii_uppercase()).next()?;
    let keyword = u64::from_str_radix(keyword, 16).ok()?;
    let [flags, version] = array(raw, 8)?;
    let [id, tag] = [10, 12].map(|at| array(raw, at).map(u16::from_le_bytes));
    let (id, tag) = (id?, tag?);
    let [opcode, header_level] = array(raw, 14)?;
    if u8::from_str_radix(level, 16) != Ok(header_level) {
        return None;
    }
    let mut meta = Object::new();
    meta.insert("level".into(), header_level.into());
    for (key, value) in [
        ("version", (version != 0).then(|| version.into())),
        ("id", (id != 0).then(|| id.into())),
        ("tag", (tag != 0).then(|| format!("0x{tag:X}").into())),
        ("opcode", (opcode != 0).then(|| opcode.into())),
        ("keyword", (keyword != 0).then(|| format!("0x{keyword:X}").into())),
    ] {
        meta.extend(value.map(|value| (key.to_owned(), value)));
    }
    let mut row = Object::new();
    let (mut at, mut has_more) = (16, flags & HAS_EXTENSION != 0);
    while has_more {
        let [size, kind] = [at, at + 2].map(|at| array(raw, at).map(u16::from_le_bytes));
        let (size, kind) = (usize::from(size?), kind?);
        let extension = raw.get(at + 4..at + 4 + size)?;
        match kind & !CHAINED {
            METADATA => {
                row.insert("n".into(), format!("{provider}:{}", until_nul(extension)?).into());
            }
            ACTIVITY => {
                for (key, id) in ["activity", "relatedActivity"].iter().zip(extension.chunks_exact(16)) {
                    meta.insert((*key).into(), guid(id).into());
                }
            }
            _ => {}
        }
        at += 4 + size;
        has_more = kind & CHAINED != 0;
    }
    Some((row, meta))
}

fn guid(bytes: &[u8]) -> String {
    let hex = crate::compare::hex(bytes);
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

fn until_nul(bytes: &[u8]) -> Option<&str> {
    str::from_utf8(bytes.split(|byte| *byte == 0).next()?).ok()
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

fn unhex(hex: &str) -> Option<Vec<u8>> {
    let pairs = hex.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn output(raw: &str, name: &str, tracepoint: &Value) -> Output {
        let header = json!({
            "attrs": [{"name": name}],
            "features": {"CLOCK_DATA": {"wall_clock_ns": 1_711_586_712_588_060_000_u64, "clockid_time_ns": 9}},
        });
        let sample =
            json!({"header": {"event": 0}, "fields": {"time": 1_000_000_010, "cpu": 3, "pid": -1, "tid": 7}});
        let object = |value: &Value| value.as_object().unwrap().clone();
        let mut fields = object(&sample["fields"]);
        fields.insert("raw".into(), raw.into());
        fields.insert("tracepoint".into(), tracepoint.clone());
        let record =
            Record { header: object(&sample["header"]), name: "SAMPLE".into(), fields, sample_id: None };
        Output { header: object(&header), records: vec![record], account: Object::new() }
    }

    fn failures(row: &Value, output: &Output) -> Vec<String> {
        let mut comparison = Comparison::default();
        let golden = format!("\u{feff}\n\"EventHeaderPerf.data\": [\n {row} ]\n");
        compare(golden.as_bytes(), output, &mut comparison);
        assert_eq!(comparison.records, 1);
        comparison.failures
    }

    #[test]
    fn a_sched_switch_is_compared_whole() {
        let mut raw = [0; 64];
        raw[8..13].copy_from_slice(b"perf\0");
        raw[24..26].copy_from_slice(&[0x5a, 9]);
        raw[28] = 120;
        raw[32] = 2;
        raw[40] = b'x';
        let decoded = json!({
            "common_pid": 7, "prev_comm": "perf", "prev_pid": 0x95a, "prev_prio": 120, "prev_state": 2, "next_comm": "x",
            "next_pid": 0, "next_prio": 0,
        });
        let raw = crate::compare::hex(&raw);
        let whole = output(&raw, SCHED_SWITCH, &decoded);
        let row = json!({
            "n": SCHED_SWITCH, "prev_comm": "perf", "prev_pid": "0x95A", "prev_prio": 120, "prev_state": 2,
            "next_comm": "x", "next_pid": "0x0", "next_prio": 0,
            "meta": {"time": "2024-03-28T00:45:13.588060001Z", "cpu": 3, "pid": u32::MAX, "tid": 7},
        });
        assert_eq!(failures(&row, &whole), [""; 0]);
        for key in row.as_object().unwrap().keys().filter(|key| *key != "meta") {
            let mut row = row.clone();
            row[key] = "other".into();
            // One failure for `raw`, and one for `tracepoint`, which has no name.
            assert_eq!(failures(&row, &whole).len(), if key == "n" { 1 } else { 2 }, "{key}");
        }
        for key in ["time", "cpu", "pid", "tid", "level"] {
            let mut row = row.clone();
            row["meta"][key] = "other".into();
            assert_eq!(failures(&row, &whole).len(), 1, "{key}");
        }
        for key in ["prev_comm", "next_prio", "unheard_of"] {
            let mut decoded = decoded.clone();
            decoded[key] = "other".into();
            assert_eq!(failures(&row, &output(&raw, SCHED_SWITCH, &decoded)).len(), 1, "{key}");
        }
        let mut lacking = decoded.clone();
        lacking.as_object_mut().unwrap().remove("next_comm");
        assert_eq!(failures(&row, &output(&raw, SCHED_SWITCH, &lacking)).len(), 1);
        assert_eq!(failures(&row, &output(&raw, SCHED_SWITCH, &Value::Null)).len(), 1);
    }

    #[test]
    fn an_event_header_is_compared_but_for_its_payload() {
        let raw =
            "00000000000000000701e8033412020110000280000102030405060708090a0b0c0d0e0f0400010045760000ff";
        let decoded =
            json!({"eventheader_flags": 7, "version": 1, "id": 1000, "tag": 0x1234, "opcode": 2, "level": 1});
        let whole = output(raw, "user_events:P_L_L1Kf1Gx", &decoded);
        let row = json!({
            "n": "P_L:Ev", "field": "anything",
            "meta": {
                "time": "2024-03-28T00:45:13.588060001Z", "cpu": 3, "pid": u32::MAX, "tid": 7, "level": 1,
                "version": 1, "id": 1000, "tag": "0x1234", "opcode": 2, "keyword": "0xF1",
                "activity": "00010203-0405-0607-0809-0a0b0c0d0e0f",
            },
        });
        assert_eq!(failures(&row, &whole), [""; 0]);
        for key in row["meta"].as_object().unwrap().keys() {
            let mut row = row.clone();
            row["meta"][key] = "other".into();
            let decoded_too = decoded.as_object().unwrap().contains_key(key);
            assert_eq!(failures(&row, &whole).len(), if decoded_too { 2 } else { 1 }, "{key}");
        }
        let mut row = row;
        row["n"] = "P:Ev".into();
        assert_eq!(failures(&row, &whole).len(), 1);
    }
}
