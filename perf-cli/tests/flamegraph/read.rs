//! Reads pages and pictures, straight from their description.

use std::collections::BTreeMap;

use serde_json::Value;

/// The text between two others.
pub(crate) fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("{before} is missing"));
    rest.split_once(after).unwrap_or_else(|| panic!("{after} is missing")).0
}

/// The data of a page.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) meta: Value,
    pub(crate) names: Vec<String>,
    /// Name, file and kind.
    pub(crate) functions: Vec<(usize, usize, u64)>,
    /// Of each function, the source file from 1 on and the line, or zeros.
    pub(crate) lines: Vec<(usize, u64)>,
    /// Caller and function.
    pub(crate) nodes: Vec<(usize, usize)>,
    pub(crate) rows: Vec<Vec<Row>>,
}

/// Samples with everything in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) node: usize,
    pub(crate) thread: usize,
    pub(crate) bucket: u64,
    pub(crate) samples: u64,
    pub(crate) period: u64,
}

fn decode_base64(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => panic!("{byte:#x} is no digit"),
    };
    assert_eq!(text.len() % 4, 0);
    let digits = text.trim_end_matches('=').bytes().map(value);
    let bits: String = digits.map(|value| format!("{value:06b}")).collect();
    let bytes = bits.as_bytes().chunks_exact(8);
    bytes.map(|bits| u8::from_str_radix(core::str::from_utf8(bits).unwrap(), 2).unwrap()).collect()
}

/// Numbers of LEB128.
struct Numbers(std::vec::IntoIter<u8>);

impl Numbers {
    fn of(page: &str, id: &str) -> Self {
        Self(decode_base64(between(page, &format!("id=\"data-{id}\">"), "</script>")).into_iter())
    }

    fn next(&mut self) -> u64 {
        let mut number = 0_u64;
        for shift in (0..).step_by(7) {
            let byte = self.0.next().expect("another byte");
            number |= u64::from(byte & 127).checked_shl(shift).expect("no more than 64 bits");
            if byte < 128 {
                break;
            }
        }
        number
    }

    fn index(&mut self) -> usize {
        usize::try_from(self.next()).unwrap()
    }

    fn end(mut self) {
        assert_eq!(self.0.next(), None, "bytes are left");
    }
}

impl Page {
    pub(crate) fn of(page: &str) -> Self {
        let meta: Value =
            serde_json::from_str(between(page, "id=\"data-meta\">", "</script>")).expect("valid JSON");
        let mut names: Vec<String> = Vec::new();
        for pair in meta["names"].as_array().unwrap().chunks(2) {
            let [same, rest] = pair else { panic!("half a pair") };
            let units: Vec<u16> = names.last().map_or("", |name| name).encode_utf16().collect();
            let same = String::from_utf16(&units[..same.as_u64().unwrap() as usize]).unwrap();
            names.push(same + rest.as_str().unwrap());
        }
        let mut numbers = Numbers::of(page, "functions");
        let mut name = 0;
        let mut lines = Vec::new();
        let functions = (0..meta["functions"].as_u64().unwrap())
            .map(|_| {
                name += numbers.index();
                let function = (name, numbers.index(), numbers.next());
                let source = numbers.index();
                lines.push((source, if source > 0 { numbers.next() } else { 0 }));
                function
            })
            .collect();
        numbers.end();
        let mut numbers = Numbers::of(page, "tree");
        let mut nodes = vec![(0, usize::MAX)];
        for _ in 1..meta["nodes"].as_u64().unwrap() {
            let mut caller = nodes.len() - 1;
            for _ in 0..numbers.next() {
                caller = nodes[caller].0;
            }
            nodes.push((caller, numbers.index()));
        }
        numbers.end();
        let mut numbers = Numbers::of(page, "samples");
        let events = meta["events"].as_array().unwrap();
        let rows = events.iter().map(|event| Row::read(event, &mut numbers)).collect();
        numbers.end();
        Self { meta, names, functions, lines, nodes, rows }
    }

    /// The functions of a node, outermost first.
    pub(crate) fn stack(&self, mut node: usize) -> Vec<&str> {
        let mut names = Vec::new();
        while node > 0 {
            let (caller, function) = self.nodes[node];
            assert!(caller < node, "a caller comes first");
            names.push(&*self.names[self.functions[function].0]);
            node = caller;
        }
        names.reverse();
        names
    }

    /// The samples of an event, folded as by `perfdata fold`.
    pub(crate) fn folded(&self, event: usize) -> String {
        let mut lines: BTreeMap<String, u64> = BTreeMap::new();
        for row in &self.rows[event] {
            let comm = self.meta["threads"][row.thread][4].as_str().unwrap();
            let line = [&[comm][..], &self.stack(row.node)].concat().join(";");
            *lines.entry(line).or_default() += row.period;
        }
        lines.iter().map(|(line, sum)| format!("{line} {sum}\n")).collect()
    }
}

impl Row {
    fn read(event: &Value, numbers: &mut Numbers) -> Vec<Self> {
        let period = event["period"].as_str().map(|period| period.parse::<u64>().unwrap());
        let (mut node, mut thread, mut bucket) = (0, 0, 0);
        let mut row = |_| {
            let nodes = numbers.index();
            (thread, bucket) = if nodes > 0 { (0, 0) } else { (thread, bucket) };
            let threads = numbers.index();
            bucket = if threads > 0 { 0 } else { bucket };
            (node, thread, bucket) = (node + nodes, thread + threads, bucket + numbers.next());
            let samples = numbers.next();
            let period = period.map_or_else(|| numbers.next(), |period| samples * period);
            Self { node, thread, bucket, samples, period }
        };
        (0..event["rows"].as_u64().unwrap()).map(&mut row).collect()
    }
}

/// Checks that a text is well-formed XML, of elements, attributes and text. Returns the texts of its elements with this
/// name.
pub(crate) fn texts_of_xml(text: &str, wanted: &str) -> Vec<String> {
    assert!(text.chars().all(|it| it == '\n' || it >= ' ' && !matches!(it, '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')));
    let (mut open, mut texts) = (Vec::<(String, String)>::new(), Vec::new());
    let mut rest = text.trim_end();
    let mut roots = 0;
    while !rest.is_empty() {
        let (before, tag) = rest.split_once('<').expect("nothing is after the root");
        let (tag, after) = tag.split_once('>').expect("a tag ends");
        rest = after;
        if let Some((_, text)) = open.last_mut() {
            text.push_str(&unescaped(before));
        } else {
            assert_eq!(before.trim(), "", "text outside of the root");
            roots += 1;
        }
        if let Some(name) = tag.strip_prefix('/') {
            let (of, text) = open.pop().expect("an open element");
            assert_eq!(of, name);
            if name == wanted {
                texts.push(text);
            }
            continue;
        }
        let (content, is_closed) = tag.strip_suffix('/').map_or((tag, false), |content| (content, true));
        let (name, mut attributes) = content.split_once(' ').unwrap_or((content, ""));
        assert!(!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase()), "<{tag}>");
        while !attributes.trim().is_empty() {
            let (name, value) = attributes.trim_start().split_once("=\"").expect("an attribute has a value");
            assert!(name.bytes().all(|byte| byte.is_ascii_alphabetic() || b"-:".contains(&byte)), "{name}");
            let (value, after) = value.split_once('"').expect("a value ends");
            unescaped(value);
            attributes = after;
        }
        if !is_closed {
            open.push((name.to_owned(), String::new()));
        }
    }
    assert!(open.is_empty() && roots == 1);
    texts
}

fn unescaped(text: &str) -> String {
    let mut parts = text.split('&');
    let mut out = parts.next().unwrap().to_owned();
    assert!(!text.contains(['<', '>']));
    for part in parts {
        let (name, rest) = part.split_once(';').expect("an entity ends");
        let entities = [("amp", '&'), ("lt", '<'), ("gt", '>'), ("quot", '"'), ("#39", '\'')];
        out.push(entities.iter().find(|it| it.0 == name).expect("a known entity").1);
        out.push_str(rest);
    }
    out
}
