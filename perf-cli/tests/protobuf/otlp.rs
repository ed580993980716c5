//! OTLP.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::made::{Made, WALL};
use crate::wire::Message;
use crate::{Totals, captures, export, perfdata};

/// The tables of a message.
struct Tables<'a> {
    mappings: Vec<Message<'a>>,
    locations: Vec<Message<'a>>,
    functions: Vec<Message<'a>>,
    strings: Vec<&'a str>,
    attributes: Vec<Message<'a>>,
    stacks: Vec<Message<'a>>,
}

impl<'a> Tables<'a> {
    fn new(data: &Message<'a>) -> Self {
        let dictionary = data.message(2);
        let [mappings, locations, functions, links, attributes, stacks] =
            [1, 2, 3, 4, 6, 7].map(|field| dictionary.messages(field));
        for table in [&mappings, &locations, &functions, &links, &attributes, &stacks] {
            assert!(table[0].is_empty());
        }
        let strings = dictionary.texts(5);
        assert_eq!((strings[0], links.len()), ("", 1));
        Self { mappings, locations, functions, strings, attributes, stacks }
    }

    fn text(&self, number: u64) -> &'a str {
        self.strings[number as usize]
    }

    /// The keys of attributes, and their values as text.
    fn attributes(&self, indices: &[u64]) -> Vec<(&'a str, String)> {
        let of = |index: &u64| {
            let it = &self.attributes[*index as usize];
            let value = it.message(2);
            let text = value.text(1);
            let text =
                if text.is_empty() { (value.number(2) + value.number(3)).to_string() } else { text.into() };
            (self.text(it.number(1)), text)
        };
        indices.iter().map(of).collect()
    }

    fn check(&self) {
        for location in &self.locations[1..] {
            let mapping = &self.mappings[location.number(1) as usize];
            assert!(
                mapping.is_empty() || (mapping.number(1)..=mapping.number(2)).contains(&location.number(2)),
                "{location:?}"
            );
            location
                .messages(3)
                .iter()
                .for_each(|line| assert!(!self.functions[line.number(1) as usize].is_empty()));
            self.attributes(&location.numbers(4));
        }
        for mapping in &self.mappings {
            self.text(mapping.number(4));
            self.attributes(&mapping.numbers(5));
        }
        for function in &self.functions {
            [1, 2, 3]
                .into_iter()
                .for_each(|field| assert!(function.number(field) < self.strings.len() as u64));
        }
        for stack in &self.stacks {
            stack.numbers(1).iter().for_each(|it| assert!(!self.locations[*it as usize].is_empty()));
        }
    }
}

/// Returns the profiles of each capture.
fn profiles<'a>(data: &Message<'a>) -> Vec<Vec<Message<'a>>> {
    let scopes = data.messages(1).into_iter().map(|resource| resource.message(2));
    scopes
        .map(|scope| {
            assert_eq!(scope.message(1).text(1), "perfdata");
            scope.messages(2)
        })
        .collect()
}

/// Returns what the profiles of a capture count: each event has two, the second one with the number of samples.
fn totals(tables: &Tables<'_>, profiles: &[Message<'_>]) -> Totals {
    let mut totals = Totals::new();
    for both in profiles.chunks(2) {
        let [by_period, by_number] = both else { panic!("{both:?}") };
        let sum = |profile: &Message<'_>| {
            let samples = profile.messages(2);
            samples.iter().flat_map(|it| it.numbers(4)).fold(0, u64::wrapping_add)
        };
        let kind = |profile: &Message<'_>, field| tables.text(profile.message(field).number(1));
        assert_eq!((kind(by_period, 1), kind(by_number, 1)), (kind(by_number, 5), "samples"));
        let (samples, period) = totals.entry(kind(by_period, 1).to_owned()).or_default();
        *samples += sum(by_number);
        *period = period.wrapping_add(sum(by_period));
        for sample in by_period.messages(2) {
            assert!(sample.number(1) < tables.stacks.len() as u64);
            let keys: Vec<_> =
                tables.attributes(&sample.numbers(2)).into_iter().map(|(key, _)| key).collect();
            let all = ["process.pid", "thread.id", "thread.name", "cpu.logical_number"];
            assert!(keys == all || keys == all[..3], "{keys:?}");
            let times = sample.fixed(5).len();
            assert!(times == 0 || times == sample.numbers(4).len());
        }
    }
    totals
}

#[test]
fn every_capture_keeps_its_sums() {
    for (capture, expected) in captures() {
        let bytes = export("otlp", &[&capture], &["--no-symbols"]);
        let data = Message::new(&bytes);
        let tables = Tables::new(&data);
        tables.check();
        let [profiles] = &profiles(&data)[..] else { panic!("{capture:?}") };
        assert_eq!(totals(&tables, profiles), expected, "{capture:?}");
    }
}

#[test]
fn each_capture_is_a_resource() {
    let paths = ["callchain.data", "everything.data"].map(testdata::path);
    let bytes = export("otlp", &paths.each_ref().map(|it| &**it), &["--no-symbols"]);
    let data = Message::new(&bytes);
    let tables = Tables::new(&data);
    let found: Vec<_> = profiles(&data).iter().map(|of| totals(&tables, of)).collect();
    assert_eq!(found, paths.map(|path| crate::totals(&path).unwrap()));
}

#[test]
fn any_number_of_threads_writes_the_same() {
    for capture in ["callchain.data", "everything.data", "threads.dir"].map(testdata::path) {
        for to in ["otlp", "otlp-json"] {
            let of = |threads| export(to, &[&capture], &["--threads", threads]);
            let one = of("1");
            assert!(one == of("4") && one == of("1"), "{capture:?}");
        }
    }
}

/// A capture with two samples of one stack, and its clock.
fn made() -> Made {
    Made::new(1)
        .comm(7, b"\xff\x1b[2Jx")
        .mmap(7, 0x1000, b"/tmp/\x80\"\n")
        .sample(0, 7, &[0x1234, 0x1678, 0x9000])
        .sample(0, 7, &[0x1234, 0x1678, 0x9000])
}

#[test]
fn what_a_sample_becomes() {
    for has_clocks in [true, false] {
        let capture = if has_clocks { made().with_clocks() } else { made() };
        let bytes =
            export("otlp", &[&capture.file(&format!("what_a_sample_becomes_{has_clocks}.otlp.data"))], &[]);
        let data = Message::new(&bytes);
        let tables = Tables::new(&data);
        tables.check();
        let [profiles] = &profiles(&data)[..] else { panic!("{data:?}") };
        for (profile, value) in profiles.iter().zip([3, 1]) {
            let [sample] = &profile.messages(2)[..] else { panic!("{profile:?}") };
            let expected = [
                ("process.pid", "7"),
                ("thread.id", "7"),
                ("thread.name", "\\xff\\u{1b}[2Jx"),
                ("cpu.logical_number", "0"),
            ];
            assert_eq!(
                tables.attributes(&sample.numbers(2)),
                expected.map(|(key, value)| (key, value.to_owned()))
            );
            assert_eq!((profile.number(4), profile.number(6)), (1001, 3));
            if has_clocks {
                assert_eq!(profile.number(3), WALL + 2000);
                assert_eq!(sample.numbers(4), [value, value]);
                assert_eq!(sample.fixed(5), [WALL + 2000, WALL + 3000]);
            } else {
                assert_eq!(profile.number(3), 0);
                assert_eq!(sample.numbers(4), [2 * value]);
                assert!(sample.fixed(5).is_empty());
            }
            let stack = tables.stacks[sample.number(1) as usize].numbers(1);
            let of = |index: &u64| &tables.locations[*index as usize];
            let addresses: Vec<_> = stack.iter().map(of).map(|it| (it.number(1), it.number(2))).collect();
            assert_eq!(addresses, [(1, 0x1234), (1, 0x1677), (0, 0x8fff)]);
            let frame_type = [("profile.frame.type", "native".to_owned())];
            assert!(stack.iter().map(of).all(|it| tables.attributes(&it.numbers(4)) == frame_type));
        }
        assert_eq!(tables.text(tables.mappings[1].number(4)), "/tmp/\\x80\"\\n");
        let machine = data.message(1).message(1).messages(1);
        let machine: BTreeMap<_, _> = machine.iter().map(|it| (it.text(1), it.message(2).text(1))).collect();
        let expected = [("host.arch", "arm64"), ("host.name", "the host"), ("os.type", "linux")];
        assert_eq!(machine, expected.into_iter().skip(if has_clocks { 0 } else { 2 }).collect());
    }
}

#[test]
fn json_has_the_same() {
    let capture = made().with_clocks().file("json_has_the_same.data");
    let out = capture.with_extension("JSON");
    let output = perfdata(&[&"export", &"--to", &"otlp", &"-o", &out, &capture]);
    assert_eq!(output.status.code(), Some(0));
    let text = fs::read(&out).unwrap();
    assert_eq!(text, export("otlp-json", &[&capture], &[]));
    let data: Value = serde_json::from_slice(&text).unwrap();
    let profile = &data["resourceProfiles"][0]["scopeProfiles"][0]["profiles"][0];
    let sample = &profile["samples"][0];
    // Numbers of 64 bits are strings, others are not.
    assert_eq!(sample["values"], serde_json::json!(["3", "3"]));
    assert_eq!(sample["timestampsUnixNano"][0], (WALL + 2000).to_string());
    assert_eq!(sample["stackIndex"], 1);
    assert_eq!(profile["periodType"], profile["sampleType"]);
    let dictionary = &data["dictionary"];
    let leaf = dictionary["stackTable"][1]["locationIndices"][0].as_u64().unwrap() as usize;
    assert_eq!(dictionary["locationTable"][leaf]["address"], 0x1234.to_string());
    let attribute = sample["attributeIndices"][2].as_u64().unwrap() as usize;
    assert_eq!(dictionary["attributeTable"][attribute]["value"]["stringValue"], "\\xff\\u{1b}[2Jx");
    let pid = sample["attributeIndices"][0].as_u64().unwrap() as usize;
    assert_eq!(dictionary["attributeTable"][pid]["value"], serde_json::json!({ "intValue": "7" }));
}
