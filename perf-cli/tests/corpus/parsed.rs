//! Changes our records as quipper's parser does before it prints them.
//!
//! Every golden counts the samples that its address mapper placed. The golden of raw_callgraph_branch-3.4 also has the
//! records after the parser instead of those in the file:
//!
//! 1. They are sorted by time with a stable sort. Records without a time come first.
//! 2. A mapping that continues the last one of its process, in memory and in the file, is merged into it. An anonymous
//!    mapping after one of a file is too. This applies only to MMAP records: for MMAP2, `prot` and `flags` would count
//!    as well.
//! 3. Call chain addresses outside of all mappings of their process have bit 63 set. The address of the sample itself
//!    and the context markers are unchanged.

use std::collections::HashMap;

use serde_json::Value;

use crate::output::Record;

const ANON: &str = "//anon";

/// The pid of the kernel's mappings.
const KERNEL: i64 = -1;

/// Returns the records after the parser, and the number of samples with all their addresses in mappings.
pub(crate) fn parse(mut records: Vec<Record>) -> (Vec<Record>, u64) {
    records.sort_by_key(|record| record.time().unwrap_or(0));
    let mut records = merge(records);
    let mut spaces = Spaces::default();
    let mut mapped = 0;
    for record in &mut records {
        match record.name.as_str() {
            "MMAP" | "MMAP2" => spaces.map(record),
            "COMM" => {
                spaces.of(signed(record, "pid"), KERNEL);
            }
            "FORK" if signed(record, "pid") != signed(record, "ppid") => {
                spaces.of(signed(record, "pid"), signed(record, "ppid"));
            }
            "SAMPLE" => mapped += u64::from(spaces.mark(record)),
            _ => {}
        }
    }
    (records, mapped)
}

fn merge(records: Vec<Record>) -> Vec<Record> {
    let mut merged: Vec<Record> = Vec::with_capacity(records.len());
    let mut last_of = HashMap::new();
    for record in records {
        if record.name == "MMAP" {
            let pid = signed(&record, "pid");
            let last = last_of.get(&pid).map(|index: &usize| &mut merged[*index]);
            if let Some(last) = last.filter(|last| continues(last, &record)) {
                let len = unsigned(last, "len") + unsigned(&record, "len");
                last.fields.insert("len".into(), len.into());
                continue;
            }
            last_of.insert(pid, merged.len());
        }
        merged.push(record);
    }
    merged
}

fn continues(a: &Record, b: &Record) -> bool {
    let ([a_name, b_name], len) = ([a, b].map(|record| text(record, "filename")), unsigned(a, "len"));
    let follows = |key: &str| unsigned(a, key).wrapping_add(len) == unsigned(b, key);
    let is_device = |name: &str| name.starts_with("/dev/");
    let in_file = a_name == b_name && follows("pgoff");
    a_name != ANON
        && !is_device(a_name)
        && !is_device(b_name)
        && (b_name == ANON || in_file)
        && follows("addr")
}

/// The mapped ranges of each process: first and last address.
#[derive(Default)]
struct Spaces {
    of: HashMap<i64, Vec<[u64; 2]>>,
    has_kernel: bool,
}

impl Spaces {
    /// Returns the ranges of a process. A new process starts with those of its parent, or of the kernel.
    fn of(&mut self, pid: i64, parent: i64) -> &mut Vec<[u64; 2]> {
        let inherited = self.of.get(&parent).or_else(|| self.of.get(&KERNEL)).cloned();
        self.of.entry(pid).or_insert_with(|| inherited.unwrap_or_default())
    }

    /// Adds a mapping. The first mapping of the kernel, its image, starts at `pgoff` if that is inside the mapping.
    fn map(&mut self, record: &Record) {
        let [addr, len, pgoff] = ["addr", "len", "pgoff"].map(|key| unsigned(record, key));
        let last = addr.wrapping_add(len).wrapping_sub(1);
        let is_kernel = record.number("misc").is_some_and(|misc| misc & 7 == 1);
        let is_image = is_kernel && !self.has_kernel;
        self.has_kernel |= is_kernel;
        let first = if is_image && (addr..=last).contains(&pgoff) { pgoff } else { addr };
        self.of(signed(record, "pid"), KERNEL).push([first, last]);
    }

    /// Marks the call chain of a sample. Returns whether every address of the sample is in a mapping.
    fn mark(&mut self, record: &mut Record) -> bool {
        let ranges = self.of(signed(record, "pid"), KERNEL);
        let is_mapped = |ip: u64| ranges.iter().any(|[first, last]| (*first..=*last).contains(&ip));
        let sampled = unsigned(record, "ip");
        let mut all_mapped = is_mapped(sampled);
        let chain = record.fields.get_mut("callchain").and_then(Value::as_array_mut);
        for entry in chain.into_iter().flatten() {
            let Some(ip) = entry.as_u64() else { continue };
            let is_marker = ip >= 4095_u64.wrapping_neg();
            if !is_marker && ip != sampled && !is_mapped(ip) {
                *entry = (ip | 1 << 63).into();
                all_mapped = false;
            }
        }
        let branches = record.fields.get("branch_stack").and_then(|stack| stack["entries"].as_array());
        let ends = |entry: &Value| ["from", "to"].map(|key| entry[key].as_u64().unwrap_or(0));
        let branches = branches.into_iter().flatten().map(ends).take_while(|ends| *ends != [0, 0]);
        all_mapped & branches.flatten().all(is_mapped)
    }
}

fn signed(record: &Record, key: &str) -> i64 {
    record.fields.get(key).and_then(Value::as_i64).unwrap_or(0)
}

fn unsigned(record: &Record, key: &str) -> u64 {
    record.fields.get(key).and_then(Value::as_u64).unwrap_or(0)
}

fn text<'a>(record: &'a Record, key: &str) -> &'a str {
    record.fields.get(key).and_then(Value::as_str).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record(name: &str, time: u64, fields: Value) -> Record {
        let Value::Object(mut fields) = fields else { panic!("{fields}") };
        let mut record = Record {
            header: json!({"misc": if name == "MMAP" && fields["pid"] == -1 { 1 } else { 2 }})
                .as_object()
                .unwrap()
                .clone(),
            name: name.into(),
            fields: Default::default(),
            sample_id: None,
        };
        if name == "SAMPLE" {
            fields.insert("time".into(), time.into());
        } else {
            record.sample_id = json!({"time": time}).as_object().cloned();
        }
        record.fields = fields;
        record
    }

    fn mmap(pid: i32, addr: u64, len: u64, pgoff: u64, filename: &str) -> Record {
        record("MMAP", 0, json!({"pid": pid, "addr": addr, "len": len, "pgoff": pgoff, "filename": filename}))
    }

    fn lens(records: Vec<Record>) -> Vec<u64> {
        parse(records).0.iter().map(|record| unsigned(record, "len")).collect()
    }

    #[test]
    fn mappings_that_go_on_are_merged() {
        let a = || mmap(1, 0x1000, 0x100, 0, "a");
        assert_eq!(lens(vec![a(), mmap(1, 0x1100, 0x10, 0, ANON), mmap(1, 0x1110, 1, 0x110, "a")]), [0x111]);
        for apart in [
            mmap(2, 0x1100, 0x10, 0x100, "a"),
            mmap(1, 0x1101, 0x10, 0x100, "a"),
            mmap(1, 0x1101, 0x10, 0, ANON),
            mmap(1, 0x1100, 0x10, 0x101, "a"),
            mmap(1, 0x1100, 0x10, 0x100, "b"),
            mmap(1, 0x1100, 0x10, 0x100, "/dev/a"),
        ] {
            assert_eq!(lens(vec![a(), apart]), [0x100, 0x10]);
        }
        assert_eq!(lens(vec![mmap(1, 0x1000, 0x100, 0, ANON), mmap(1, 0x1100, 1, 0x100, ANON)]), [0x100, 1]);
        assert_eq!(lens(vec![mmap(1, 0x1000, 0x100, 0, "/dev/a"), mmap(1, 0x1100, 1, 0, ANON)]), [0x100, 1]);
    }

    #[test]
    fn addresses_in_no_mapping_are_marked() {
        let sample = |time, pid, ip: u64, chain: &[u64]| {
            record("SAMPLE", time, json!({"pid": pid, "ip": ip, "callchain": chain}))
        };
        let (records, mapped) = parse(vec![
            sample(9, 3, 0x1000, &[0x1010]),
            sample(5, 1, 7, &[u64::MAX - 127, 7, 0x100f, 0x1010, 0xfff, 0x4000, 0x4fff]),
            mmap(-1, 0x3000, 0x2000, 0x4000, "[kernel.kallsyms]_text"),
            mmap(1, 0x1000, 0x10, 0, "a"),
            record("FORK", 8, json!({"pid": 3, "ppid": 1})),
            sample(9, 4, 0x4000, &[0x3fff, 0x1000]),
            sample(9, 3, 0x1000, &[0x100f]),
        ]);
        let chains: Vec<_> = records.iter().filter_map(|record| record.fields.get("callchain")).collect();
        let bit = 1_u64 << 63;
        assert_eq!(
            chains,
            [
                &json!([u64::MAX - 127, 7, 0x100f, bit | 0x1010, bit | 0xfff, 0x4000, 0x4fff]),
                &json!([bit | 0x1010]),
                &json!([bit | 0x3fff, bit | 0x1000]),
                &json!([0x100f]),
            ]
        );
        assert_eq!(mapped, 1);
    }
}
