//! What `perfdata dump --format jsonl` prints, and what must hold of it for any whole file in file mode.

use serde_json::Value;

use crate::compare::{At, Comparison, Object};
use crate::features;

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
    /// `offset`, `type_id`, `misc`, `size` and, where it has one, `event`.
    pub(crate) header: Object,
    /// The name of its type.
    pub(crate) name: String,
    /// `fields`.
    pub(crate) fields: Object,
    /// `sample_id`, where it has one.
    pub(crate) sample_id: Option<Object>,
}

impl Record {
    /// A number of the header.
    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        self.header.get(key)?.as_u64()
    }

    /// The time of a SAMPLE or of a trailer.
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

    /// Checks the dump against the bytes of the file: nothing left out, nothing twice, everything where it says,
    /// and a clean account.
    pub(crate) fn check(&self, file: &[u8], comparison: &mut Comparison) {
        let header = At::root("header");
        comparison.expect(&header.field("mode"), &"file".into(), self.header.get("mode"));
        comparison.expect(&header.field("endian"), &"little".into(), self.header.get("endian"));
        self.check_attrs(file, comparison);
        self.check_features(file, comparison);
        self.check_records(file, comparison);
        self.check_account(comparison);
    }

    /// The attrs, each an object.
    pub(crate) fn attrs(&self) -> Vec<&Object> {
        let attrs = self.header.get("attrs").and_then(Value::as_array);
        attrs.into_iter().flatten().filter_map(Value::as_object).collect()
    }

    fn check_attrs(&self, file: &[u8], comparison: &mut Comparison) {
        let [stride, start, len] = [16, 24, 32].map(|at| word(file, at));
        let at = At::root("attrs");
        let attrs = self.attrs();
        comparison.expect(&at, &(len / stride).into(), Some(&attrs.len().into()));
        for (index, attr) in attrs.into_iter().enumerate() {
            let size = word(file, start + index * stride) >> 32;
            comparison.expect(&at.index(index).field("size"), &size.into(), attr.get("size"));
        }
        let features = self.header.get("features").and_then(Value::as_object);
        let described = features.and_then(features::event_desc);
        for key in ["name", "ids"] {
            let of_attrs: Vec<_> = self.attrs().iter().filter_map(|attr| attr.get(key).cloned()).collect();
            let of_desc = described.map(|events| events.iter().map(|event| event[key].clone()).collect());
            comparison.expect(&At::root("EVENT_DESC").field(key), &of_attrs.into(), of_desc.as_ref());
        }
    }

    fn check_features(&self, file: &[u8], comparison: &mut Comparison) {
        let bits = |number: usize| word(file, 72 + number / 64 * 8) >> (number % 64) & 1;
        let numbers = (0..256).filter(|number| bits(*number) == 1);
        let mut expected: Vec<_> = numbers.map(|number| features::NAMES[number - 1]).collect();
        expected.sort_unstable();
        let features = self.header.get("features").and_then(Value::as_object);
        let mut names: Vec<_> = features.into_iter().flatten().map(|(name, _)| &**name).collect();
        names.sort_unstable();
        comparison.expect(&At::root("features"), &expected.into(), Some(&names.into()));
    }

    fn check_records(&self, file: &[u8], comparison: &mut Comparison) {
        let [start, len] = [40, 48].map(|at| word(file, at));
        let attrs = self.attrs();
        let root = At::root("records");
        let mut offset = start;
        for (index, record) in self.records.iter().enumerate() {
            let at = root.index(index);
            if offset + 8 > file.len() {
                return comparison.fail(&at, format_args!("no record can be at offset {offset}"));
            }
            let header = word(file, offset);
            comparison.expect(&at.field("offset"), &offset.into(), record.header.get("offset"));
            for (key, value) in
                [("type_id", header & 0xffff_ffff), ("misc", header >> 32 & 0xffff), ("size", header >> 48)]
            {
                comparison.expect(&at.field(key), &value.into(), record.header.get(key));
            }
            let payload = if record.name == "AUXTRACE" { word(file, offset + 8) } else { 0 };
            offset += (header >> 48) + payload;
            check_event(&at, record, &attrs, comparison);
        }
        comparison.expect(&At::root("end of the records"), &(start + len).into(), Some(&offset.into()));
    }

    fn check_account(&self, comparison: &mut Comparison) {
        let total = |name: &str| -> u64 {
            let records = self.records.iter().filter(|record| record.name == name);
            records.filter_map(|record| record.fields.get("lost")?.as_u64()).sum()
        };
        let at = At::root("account");
        for (key, value) in [
            ("records", self.records.len().into()),
            ("bytes_skipped", 0.into()),
            ("lost", total("LOST").into()),
            ("lost_samples", total("LOST_SAMPLES").into()),
            ("diagnostics", Value::Array(Vec::new())),
        ] {
            comparison.expect(&at.field(key), &value, self.account.get(key));
        }
    }
}

/// A kernel record belongs to the attr that has its id, where it has one, or else to the first; 0 is the id of what
/// perf made up.
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

/// The little-endian word at a byte offset of the file.
fn word(file: &[u8], at: usize) -> usize {
    let bytes = file.get(at..at + 8).expect("a whole file");
    usize::try_from(u64::from_le_bytes(bytes.try_into().expect("8 bytes"))).expect("64 bits")
}
