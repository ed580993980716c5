//! Compares a golden message with a JSON object, field by field, by a table of rules.
//!
//! Skips nothing. Each of these is a failure: a golden field without a rule, a JSON field without a golden field that
//! is not listed as such, and any difference of type or value.

use alloc::collections::BTreeSet;
use core::fmt;

use serde_json::Value;

use crate::proto::{Message, Scalar};

/// A JSON object.
pub(crate) type Object = serde_json::Map<String, Value>;

/// The fields of one golden message.
pub(crate) struct Table {
    /// Each golden field, and its comparison.
    pub(crate) fields: &'static [(&'static str, How)],
    /// JSON fields without a golden field.
    pub(crate) json_only: &'static [&'static str],
}

/// The comparison of a golden field; the names are keys of the JSON object.
pub(crate) enum How {
    /// A number; a bool is 0 or 1. It has one of these names. If it has several, their values are equal.
    Number(&'static [&'static str]),
    /// A pid or tid of 32 bits: unsigned in the golden, signed in the JSON.
    Pid(&'static str),
    /// A pid or tid of 64 bits.
    Pid64(&'static str),
    /// A string.
    Text(&'static str),
    /// Bytes; hex in the JSON.
    Bytes(&'static str),
    /// The number of bytes in a hex string.
    Len(&'static str),
    /// One bit of a number.
    Bit(&'static str, u32),
    /// Whether the field is absent from the JSON.
    Absent(&'static str),
    /// A number that is 0 in the golden if the JSON has no such field.
    OrZero(&'static str),
    /// Repeated numbers; an array, or absent if there are none.
    Numbers(&'static str),
    /// Repeated strings; an array, or absent if there are none.
    Texts(&'static str),
    /// A message; an object.
    Message(&'static str, &'static Table),
    /// Repeated messages; an array of objects, or absent if there are none.
    Messages(&'static str, &'static Table),
    /// Not compared, for this reason.
    Ignored(&'static str),
}

impl How {
    fn keys(&self) -> &[&'static str] {
        match self {
            How::Number(keys) => keys,
            How::Pid(key)
            | How::Pid64(key)
            | How::Text(key)
            | How::Bytes(key)
            | How::Len(key)
            | How::Bit(key, _)
            | How::Absent(key)
            | How::OrZero(key)
            | How::Numbers(key)
            | How::Texts(key)
            | How::Message(key, _)
            | How::Messages(key, _) => core::slice::from_ref(key),
            How::Ignored(_) => &[],
        }
    }

    fn is_repeated(&self) -> bool {
        matches!(self, How::Numbers(_) | How::Texts(_) | How::Messages(..))
    }
}

/// The path of a field, for failure messages.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    parent: Option<&'a At<'a>>,
    name: &'a str,
    index: Option<usize>,
}

impl<'a> At<'a> {
    /// A path without a parent.
    pub(crate) fn root(name: &'a str) -> Self {
        At { parent: None, name, index: None }
    }

    /// Returns the path of a field of this message.
    pub(crate) fn field<'b>(&'b self, name: &'b str) -> At<'b> {
        At { parent: Some(self), name, index: None }
    }

    /// Returns the path of one value of this repeated field.
    pub(crate) fn index(self, index: usize) -> At<'a> {
        At { index: Some(index), ..self }
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            write!(f, "{parent}.")?;
        }
        f.write_str(self.name)?;
        self.index.map_or(Ok(()), |index| write!(f, "[{index}]"))
    }
}

/// The results of a comparison.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    /// The number of records compared.
    pub(crate) records: usize,
    /// The number of values compared.
    pub(crate) fields: usize,
    /// Golden fields that were not compared, with the reason.
    pub(crate) ignored: BTreeSet<(String, &'static str)>,
    /// The differences, one per line.
    pub(crate) failures: Vec<String>,
}

impl Comparison {
    /// Adds a failure.
    pub(crate) fn fail(&mut self, at: &At<'_>, what: impl fmt::Display) {
        self.failures.push(format!("{at}: {what}"));
    }

    /// Adds a golden field that is not compared.
    pub(crate) fn ignore(&mut self, field: String, why: &'static str) {
        self.ignored.insert((field, why));
    }

    /// Compares one value.
    pub(crate) fn expect(&mut self, at: &At<'_>, golden: &Value, actual: Option<&Value>) {
        self.fields += golden.as_array().map_or(1, Vec::len);
        match actual {
            Some(actual) if actual == golden => {}
            Some(actual) => {
                self.fail(at, format_args!("golden {}, perfdata {}", Short(golden), Short(actual)))
            }
            None => self.fail(at, format_args!("golden {}, perfdata has none", Short(golden))),
        }
    }

    /// Compares a message with an object, in both directions.
    pub(crate) fn message(&mut self, at: &At<'_>, table: &Table, golden: &Message, json: &Object) {
        let mut claimed = table.json_only.to_vec();
        for (name, values) in &golden.0 {
            match table.fields.iter().find(|(known, _)| known == name) {
                Some((_, how)) => {
                    claimed.extend(how.keys());
                    self.field(&at.field(name), how, values, json);
                }
                None => self.fail(&at.field(name), "the golden field has no rule"),
            }
        }
        for (name, how) in table.fields {
            if how.is_repeated() && !golden.0.contains_key(*name) {
                claimed.extend(how.keys());
                self.field(&at.field(name), how, &[], json);
            }
        }
        for key in json.keys() {
            if !claimed.contains(&&**key) {
                self.fail(
                    &at.field(key),
                    format_args!("perfdata {}, the golden has none", Short(&json[key])),
                );
            }
        }
    }

    fn field(&mut self, at: &At<'_>, how: &How, golden: &[Scalar], json: &Object) {
        match how {
            How::Ignored(why) => {
                let message = at.parent.map_or("", |parent| parent.name);
                self.ignore(format!("{message}.{}", at.name), why);
            }
            How::Numbers(key) => self.array(at, golden, number, json.get(*key)),
            How::Texts(key) => self.array(at, golden, text, json.get(*key)),
            How::Messages(key, table) => {
                let none = Vec::new();
                let objects = json.get(*key).map_or(Some(&none), Value::as_array);
                match objects {
                    Some(objects) if objects.len() == golden.len() => {
                        for (index, (golden, object)) in golden.iter().zip(objects).enumerate() {
                            self.nested(&at.index(index), table, golden, Some(object));
                        }
                    }
                    Some(objects) => {
                        let (golden, perfdata) = (golden.len(), objects.len());
                        self.fail(at, format_args!("golden has {golden} of them, perfdata {perfdata}"));
                    }
                    None => self.fail(at, "perfdata has no array"),
                }
            }
            _ => match golden {
                [golden] => self.single(at, how, golden, json),
                _ => self.fail(at, format_args!("golden has {} values, one is expected", golden.len())),
            },
        }
    }

    fn single(&mut self, at: &At<'_>, how: &How, golden: &Scalar, json: &Object) {
        let get = |key: &str| json.get(key).cloned();
        let (expected, actual) = match how {
            How::Number(keys) => {
                let present: Vec<_> = keys.iter().filter_map(|key| json.get(*key)).collect();
                match number(golden) {
                    Some(golden) if present.is_empty() => self.expect(at, &golden, None),
                    Some(golden) => present.iter().for_each(|actual| self.expect(at, &golden, Some(actual))),
                    None => self.fail(at, format_args!("golden is no number: {golden:?}")),
                }
                return;
            }
            How::Message(key, table) => return self.nested(at, table, golden, json.get(*key)),
            How::Pid(key) => (pid(golden), get(key)),
            How::Pid64(key) => (pid64(golden), get(key)),
            How::Text(key) => (text(golden), get(key)),
            How::Bytes(key) => (bytes(golden), get(key)),
            How::Len(key) => {
                let hex = json.get(*key).and_then(Value::as_str);
                (number(golden), hex.map(|hex| (hex.len() / 2).into()))
            }
            How::Bit(key, bit) => {
                let word = json.get(*key).and_then(Value::as_u64);
                (number(golden), word.map(|word| (word >> bit & 1).into()))
            }
            How::Absent(key) => (number(golden), Some(u64::from(!json.contains_key(*key)).into())),
            How::OrZero(key) => (number(golden), Some(get(key).unwrap_or_else(|| 0.into()))),
            How::Numbers(_) | How::Texts(_) | How::Messages(..) | How::Ignored(_) => {
                unreachable!("not singular")
            }
        };
        match expected {
            Some(expected) => self.expect(at, &expected, actual.as_ref()),
            None => self.fail(at, format_args!("golden is of another type: {golden:?}")),
        }
    }

    fn array(
        &mut self,
        at: &At<'_>,
        golden: &[Scalar],
        convert: impl Fn(&Scalar) -> Option<Value>,
        actual: Option<&Value>,
    ) {
        match golden.iter().map(convert).collect::<Option<Vec<_>>>() {
            Some(golden) if golden.is_empty() && actual.is_none() => {}
            Some(golden) => self.expect(at, &golden.into(), actual),
            None => self.fail(at, "golden is of another type"),
        }
    }

    fn nested(&mut self, at: &At<'_>, table: &Table, golden: &Scalar, json: Option<&Value>) {
        let empty = Object::new();
        let object = json.map_or(Some(&empty), Value::as_object);
        match (golden, object) {
            (Scalar::Message(golden), Some(object)) => self.message(at, table, golden, object),
            (Scalar::Message(_), None) => self.fail(at, "perfdata has no object"),
            (golden, _) => self.fail(at, format_args!("golden is no message: {golden:?}")),
        }
    }
}

fn number(golden: &Scalar) -> Option<Value> {
    match *golden {
        Scalar::Bool(value) => Some(u64::from(value).into()),
        Scalar::Int(value) => {
            u64::try_from(value).map(Value::from).or_else(|_| i64::try_from(value).map(Value::from)).ok()
        }
        Scalar::Bytes(_) | Scalar::Message(_) => None,
    }
}

fn pid(golden: &Scalar) -> Option<Value> {
    let Scalar::Int(value) = *golden else { return None };
    u32::try_from(value).ok().map(|value| (value as i32).into())
}

fn pid64(golden: &Scalar) -> Option<Value> {
    let Scalar::Int(value) = *golden else { return None };
    u64::try_from(value).ok().map(|value| (value as i64).into())
}

fn text(golden: &Scalar) -> Option<Value> {
    let Scalar::Bytes(bytes) = golden else { return None };
    Some(printed(bytes).into())
}

fn bytes(golden: &Scalar) -> Option<Value> {
    let Scalar::Bytes(bytes) = golden else { return None };
    Some(hex(bytes).into())
}

/// Returns a string as `perfdata` prints it: invalid UTF-8 as `\xNN`.
pub(crate) fn printed(bytes: &[u8]) -> String {
    let mut printed = String::new();
    for chunk in bytes.utf8_chunks() {
        printed += chunk.valid();
        for byte in chunk.invalid() {
            printed += &format!("\\x{byte:02x}");
        }
    }
    printed
}

/// Returns bytes as `perfdata` prints them.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A value in a failure message, truncated if it is long.
struct Short<'a>(&'a Value);

impl fmt::Display for Short<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = self.0.to_string();
        match whole.char_indices().nth(200) {
            Some((end, _)) => write!(f, "{}... ({} bytes)", &whole[..end], whole.len()),
            None => f.write_str(&whole),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::proto;

    const ENTRY: Table = Table { fields: &[("a", How::Number(&["a"]))], json_only: &[] };

    const TABLE: Table = Table {
        fields: &[
            ("number", How::Number(&["number", "alias"])),
            ("pid", How::Pid("pid")),
            ("pid64", How::Pid64("pid64")),
            ("text", How::Text("text")),
            ("bytes", How::Bytes("bytes")),
            ("len", How::Len("bytes")),
            ("bit", How::Bit("word", 13)),
            ("no_index", How::Absent("index")),
            ("index", How::OrZero("index")),
            ("ips", How::Numbers("ips")),
            ("names", How::Texts("names")),
            ("one", How::Message("one", &ENTRY)),
            ("many", How::Messages("many", &ENTRY)),
            ("md5", How::Ignored("made by the golden's writer")),
        ],
        json_only: &["extra"],
    };

    const GOLDEN: &str = r#"
        number: 18446744073709551615 pid: 4294967295 pid64: 18446744073709551615
        text: "a\377b" bytes: "\000\377" len: 2 bit: true no_index: true index: 0
        ips: 1 ips: 18446744073709551488 names: "x" one { a: 1 } many { a: 2 } many { a: 3 } md5: 7
    "#;

    fn matching() -> Value {
        json!({
            "number": u64::MAX, "pid": -1, "pid64": -1, "text": "a\\xffb", "bytes": "00ff", "word": 0x2000,
            "ips": [1, u64::MAX - 127], "names": ["x"], "one": {"a": 1}, "many": [{"a": 2}, {"a": 3}], "extra": 1,
        })
    }

    fn compare(golden: &str, json: &Value) -> Comparison {
        let mut comparison = Comparison::default();
        let golden = proto::parse(golden.as_bytes()).unwrap();
        comparison.message(&At::root("m"), &TABLE, &golden, json.as_object().unwrap());
        comparison
    }

    #[test]
    fn equal_messages_have_no_failure_and_are_counted() {
        let comparison = compare(GOLDEN, &matching());
        assert_eq!(comparison.failures, [""; 0]);
        assert_eq!(comparison.fields, 15);
        assert_eq!(Vec::from_iter(comparison.ignored), [("m.md5".to_owned(), "made by the golden's writer")]);
    }

    #[test]
    fn every_difference_is_a_failure_at_its_path() {
        for (key, value, path) in [
            ("number", json!(u64::MAX - 1), "m.number: "),
            ("number", json!(-1), "m.number: "),
            ("number", json!(1.8446744073709552e19), "m.number: "),
            ("alias", json!(5), "m.number: "),
            ("pid", json!(u32::MAX), "m.pid: "),
            ("pid64", json!(u64::MAX), "m.pid64: "),
            ("text", json!("a\u{ff}b"), "m.text: "),
            ("bytes", json!("00FF"), "m.bytes: "),
            ("bytes", json!("00ff00"), "m.len: "),
            ("word", json!(0x5fff), "m.bit: "),
            ("index", json!(0), "m.no_index: "),
            ("index", json!(3), "m.index: "),
            ("ips", json!([1]), "m.ips: "),
            ("names", json!(["y"]), "m.names: "),
            ("one", json!({"a": 2}), "m.one.a: "),
            ("one", json!({}), "m.one.a: "),
            ("one", json!({"a": 1, "b": 1}), "m.one.b: "),
            ("one", json!([]), "m.one: "),
            ("many", json!([{"a": 2}, {"a": 4}]), "m.many[1].a: "),
            ("many", json!([{"a": 2}]), "m.many: "),
            ("many", json!(1), "m.many: "),
            ("unheard_of", json!(1), "m.unheard_of: "),
        ] {
            let mut json = matching();
            json[key] = value;
            let comparison = compare(GOLDEN, &json);
            assert!(
                comparison.failures.iter().any(|failure| failure.starts_with(path)),
                "{path}: {comparison:?}"
            );
        }
    }

    #[test]
    fn what_one_side_lacks_is_a_failure() {
        let lacking = compare("number: 1", &json!({}));
        assert_eq!(lacking.failures, ["m.number: golden 1, perfdata has none"]);
        let more = compare("", &json!({"ips": [1], "text": "t"}));
        assert_eq!(
            more.failures,
            ["m.ips: golden [], perfdata [1]", "m.text: perfdata \"t\", the golden has none"]
        );
        assert_eq!(compare("", &json!({"ips": [], "many": []})).failures, [""; 0]);
    }

    #[test]
    fn a_golden_that_is_not_as_the_table_says_is_a_failure() {
        for (golden, failure) in [
            ("unheard_of: 1", "m.unheard_of: the golden field has no rule"),
            ("number: 1 number: 1", "m.number: golden has 2 values, one is expected"),
            ("number: \"1\"", "m.number: golden is no number: Bytes([49])"),
            ("text: 1", "m.text: golden is of another type: Int(1)"),
            ("names: 1", "m.names: golden is of another type"),
            ("one: 1", "m.one: golden is no message: Int(1)"),
        ] {
            assert_eq!(compare(golden, &json!({"number": 1})).failures[0], failure);
        }
    }
}
