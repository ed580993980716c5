//! The output of `perfdata dump --format jsonl`, and the checks that apply to every complete capture.

use serde_json::Value;

use crate::compare::{At, Comparison, Object};
use crate::features;
use crate::walk::{Walk, word};

/// The lines of one dump.
pub(crate) struct Output {
    /// `mode`, `endian`, `attrs`, `features`.
    pub(crate) header: Object,
    /// The records, in the order printed.
    pub(crate) records: Vec<Record>,
    /// The account.
    pub(crate) account: Object,
}

/// One record.
#[derive(Clone)]
pub(crate) struct Record {
    /// `offset`, `type_id`, `misc`, `size` and, if present, `inner` and `event`.
    pub(crate) header: Object,
    /// The name of its type.
    pub(crate) name: String,
    /// `fields`.
    pub(crate) fields: Object,
    /// `sample_id`, if present.
    pub(crate) sample_id: Option<Object>,
}

impl Record {
    /// Returns a number of the header.
    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        self.header.get(key)?.as_u64()
    }

    /// Returns the time of a SAMPLE or of a trailer.
    pub(crate) fn time(&self) -> Option<u64> {
        let time_of = if self.name == "SAMPLE" { Some(&self.fields) } else { self.sample_id.as_ref() };
        time_of?.get("time")?.as_u64()
    }

    fn new(mut header: Object) -> Result<Self, String> {
        if let Some(error) = header.get("error") {
            return Err(format!("a record that is not decoded: {error}"));
        }
        let name = match header.remove("type") {
            Some(Value::String(name)) => name,
            other => return Err(format!("type: {other:?}")),
        };
        let fields = match header.remove("fields") {
            Some(Value::Object(fields)) => fields,
            other => return Err(format!("{name}: fields: {other:?}")),
        };
        let sample_id = match header.remove("sample_id") {
            Some(Value::Object(sample_id)) => Some(sample_id),
            None => None,
            other => return Err(format!("{name}: sample_id: {other:?}")),
        };
        Ok(Self { header, name, fields, sample_id })
    }
}

impl Output {
    /// Parses the lines.
    pub(crate) fn parse(lines: &str) -> Result<Self, String> {
        let mut lines: Vec<Object> = lines
            .lines()
            .enumerate()
            .map(|(at, line)| serde_json::from_str(line).map_err(|error| format!("line {}: {error}", at + 1)))
            .collect::<Result<_, _>>()?;
        let account = only(lines.pop(), "account")?;
        let mut lines = lines.into_iter();
        let header = only(lines.next(), "header")?;
        let records = lines.map(Record::new).collect::<Result<_, _>>()?;
        Ok(Self { header, records, account })
    }

    /// Checks the dump against the bytes of the capture: nothing missing, nothing twice, everything at its offset, and
    /// a clean account.
    pub(crate) fn check(&self, file: &[u8], comparison: &mut Comparison) {
        let walk = Walk::of(file);
        let header = At::root("header");
        let mode = if walk.is_pipe { "pipe" } else { "file" };
        comparison.expect(&header.field("mode"), &mode.into(), self.header.get("mode"));
        comparison.expect(&header.field("endian"), &"little".into(), self.header.get("endian"));
        self.check_attrs(file, &walk, comparison);
        self.check_features(file, &walk, comparison);
        self.check_records(&walk, comparison);
        self.check_account(&walk, comparison);
    }

    /// Returns the attrs, each as an object.
    pub(crate) fn attrs(&self) -> Vec<&Object> {
        let attrs = self.header.get("attrs").and_then(Value::as_array);
        attrs.into_iter().flatten().filter_map(Value::as_object).collect()
    }

    fn check_attrs(&self, file: &[u8], walk: &Walk, comparison: &mut Comparison) {
        let starts = if walk.is_pipe {
            walk.before_records(64).map(|record| record.offset + 8).collect()
        } else {
            let [stride, start, len] = [16, 24, 32].map(|at| word(file, at));
            (start..start + len).step_by(stride).collect::<Vec<_>>()
        };
        let at = At::root("attrs");
        let attrs = self.attrs();
        comparison.expect(&at, &starts.len().into(), Some(&attrs.len().into()));
        for (index, (start, attr)) in starts.into_iter().zip(attrs).enumerate() {
            let size = word(file, start) >> 32;
            comparison.expect(&at.index(index).field("size"), &size.into(), attr.get("size"));
            if walk.is_pipe {
                let end = start + (word(file, start - 8) >> 48) - 8;
                let ids: Vec<_> = (start + size..end).step_by(8).map(|at| word(file, at)).collect();
                comparison.expect(&at.index(index).field("ids"), &ids.into(), attr.get("ids"));
            }
        }
        let features = self.header.get("features").and_then(Value::as_object);
        let described = features.and_then(features::event_desc);
        if walk.is_pipe && described.is_none() {
            return;
        }
        for key in ["name", "ids"] {
            let of_attrs: Vec<_> = self.attrs().iter().filter_map(|attr| attr.get(key).cloned()).collect();
            let of_desc = described.map(|events| events.iter().map(|event| event[key].clone()).collect());
            comparison.expect(&At::root("EVENT_DESC").field(key), &of_attrs.into(), of_desc.as_ref());
        }
    }

    fn check_features(&self, file: &[u8], walk: &Walk, comparison: &mut Comparison) {
        let numbers: Vec<_> = if walk.is_pipe {
            // The section after the last feature is a marker without bytes. A later perf uses its number for a feature.
            let features = walk.before_records(80).filter(|record| record.size() > 16);
            features.map(|record| word(file, record.offset + 8)).collect()
        } else {
            let is_set = |number: &usize| word(file, 72 + number / 64 * 8) >> (number % 64) & 1 == 1;
            (0..256).filter(is_set).collect()
        };
        let mut expected: Vec<_> = numbers.into_iter().map(|number| features::NAMES[number - 1]).collect();
        expected.sort_unstable();
        let features = self.header.get("features").and_then(Value::as_object);
        let mut names: Vec<_> = features.into_iter().flatten().map(|(name, _)| &**name).collect();
        names.sort_unstable();
        comparison.expect(&At::root("features"), &expected.into(), Some(&names.into()));
    }

    fn check_records(&self, walk: &Walk, comparison: &mut Comparison) {
        let attrs = self.attrs();
        let root = At::root("records");
        comparison.expect(&root, &walk.records.len().into(), Some(&self.records.len().into()));
        for (index, (expected, record)) in walk.records.iter().zip(&self.records).enumerate() {
            let at = root.index(index);
            for (key, value) in [
                ("offset", expected.offset),
                ("type_id", expected.type_id()),
                ("misc", expected.misc()),
                ("size", expected.size()),
            ] {
                comparison.expect(&at.field(key), &value.into(), record.header.get(key));
            }
            match expected.inner {
                Some(inner) => {
                    comparison.expect(&at.field("inner"), &inner.into(), record.header.get("inner"));
                }
                None if record.header.contains_key("inner") => {
                    comparison.fail(&at.field("inner"), "the record is not compressed");
                }
                None => {}
            }
            check_event(&at, record, &attrs, comparison);
        }
    }

    fn check_account(&self, walk: &Walk, comparison: &mut Comparison) {
        let total = |name: &str| -> u64 {
            let records = self.records.iter().filter(|record| record.name == name);
            records.filter_map(|record| record.fields.get("lost")?.as_u64()).sum()
        };
        let at = At::root("account");
        for (key, value) in [
            ("records", (self.records.len() + walk.chunks).into()),
            ("bytes", walk.bytes.into()),
            ("bytes_skipped", 0.into()),
            ("lost", total("LOST").into()),
            ("lost_samples", total("LOST_SAMPLES").into()),
            ("diagnostics", Value::Array(Vec::new())),
        ] {
            comparison.expect(&at.field(key), &value, self.account.get(key));
        }
    }
}

/// Checks that a kernel record belongs to the attr with its ID, or to the first if it has no ID. 0 is the ID of records
/// that perf synthesized.
fn check_event(at: &At<'_>, record: &Record, attrs: &[&Object], comparison: &mut Comparison) {
    let event = record.number("event");
    let is_user = record.number("type_id").is_some_and(|number| number >= 64);
    let attr = event.and_then(|event| attrs.get(usize::try_from(event).ok()?));
    let ids_of = if record.name == "SAMPLE" { Some(&record.fields) } else { record.sample_id.as_ref() };
    let id = ids_of.and_then(|fields| fields.get("identifier").or_else(|| fields.get("id")));
    match (attr, id.and_then(Value::as_u64)) {
        (None, _) if is_user && event.is_none() => {}
        (Some(_), None | Some(0)) if !is_user => {
            comparison.expect(&at.field("event"), &0.into(), event.map(Value::from).as_ref())
        }
        (Some(attr), Some(id)) if !is_user => {
            let ids = attr.get("ids").and_then(Value::as_array);
            if !ids.is_some_and(|ids| ids.contains(&id.into())) {
                comparison.fail(&at.field("event"), format_args!("attr {event:?} does not have id {id}"));
            }
        }
        _ => comparison.fail(&at.field("event"), format_args!("{event:?} of a {}", record.name)),
    }
}

fn only(line: Option<Object>, key: &str) -> Result<Object, String> {
    match line.and_then(|mut line| line.remove(key)) {
        Some(Value::Object(object)) => Ok(object),
        other => Err(format!("no line {{\"{key}\": {{...}}}}: {other:?}")),
    }
}
