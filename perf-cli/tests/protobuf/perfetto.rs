//! Perfetto's traces. Packets are read in their order, as trace processor reads them: a packet refers only to what its sequence has
//! had before.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::path::Path;

use crate::made::{Made, START, WALL};
use crate::wire::Message;
use crate::{Totals, captures, export, perfdata};

/// The numbers of fields of packets.
const PACKET: u64 = 1;
const FTRACE: u64 = 1;
const PROCESS_TREE: u64 = 2;
const CLOCKS: u64 = 6;
const TIMESTAMP: u64 = 8;
const SEQUENCE: u64 = 10;
const INTERNED: u64 = 12;
const FLAGS: u64 = 13;
const SYSTEM_INFO: u64 = 45;
const DEFAULTS: u64 = 59;
const SAMPLE: u64 = 66;
const FIRST: u64 = 87;

/// A frame of a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Frame {
    /// Empty if it is unknown.
    function: String,
    /// The path of the mapping.
    path: String,
    /// In hexadecimal digits.
    build_id: String,
    rel_pc: u64,
    kind: u64,
}

/// A sample.
#[derive(Clone, Debug)]
struct Sample {
    event: String,
    time: u64,
    cpu: Option<u64>,
    pid: u64,
    tid: u64,
    mode: u64,
    /// What was counted since the last sample of the event on the CPU.
    period: u64,
    /// The outermost frame first.
    stack: Vec<Frame>,
}

/// What a sequence has had so far.
#[derive(Default)]
struct Sequence<'a> {
    event: String,
    /// By field and number.
    interned: HashMap<(u64, u64), Message<'a>>,
    counted: HashMap<Option<u64>, u64>,
}

impl<'a> Sequence<'a> {
    fn intern(&mut self, data: &Message<'a>) {
        for field in [5, 6, 7, 16, 17, 18, 19] {
            for it in data.messages(field) {
                let iid = it.number(1);
                assert_ne!(iid, 0);
                assert!(
                    self.interned.insert((field, iid), it).is_none(),
                    "field {field}: {iid} is there twice"
                );
            }
        }
    }

    fn bytes(&self, field: u64, iid: u64) -> Vec<u8> {
        if iid == 0 { Vec::new() } else { self.interned[&(field, iid)].content(2).to_vec() }
    }

    fn text(&self, field: u64, iid: u64) -> String {
        String::from_utf8(self.bytes(field, iid)).unwrap()
    }

    fn frame(&self, iid: u64) -> Frame {
        let frame = &self.interned[&(6, iid)];
        let mapping = &self.interned[&(19, frame.number(3))];
        if let Some(file) = frame.optional(5) {
            assert_ne!(self.text(18, file), "");
        }
        let [path] = mapping.unpacked(7)[..] else { panic!("{mapping:?}") };
        let rel_pc = frame.optional(4).unwrap();
        let (start, end) = (mapping.number(4), mapping.number(5));
        let address = rel_pc.wrapping_sub(mapping.number(8)).wrapping_add(start);
        assert!(end == 0 || (start..=end).contains(&address), "{frame:?}: {mapping:?}");
        let build_id = self.bytes(16, mapping.number(2)).iter().map(|byte| format!("{byte:02x}")).collect();
        let function = self.text(5, frame.number(2));
        Frame { function, path: self.text(17, path), build_id, rel_pc, kind: frame.number(7) }
    }
}

/// Returns the samples of a trace.
fn samples(bytes: &[u8]) -> Vec<Sample> {
    let mut sequences: HashMap<u64, Sequence<'_>> = HashMap::new();
    let mut samples = Vec::new();
    for packet in Message::new(bytes).messages(PACKET) {
        let (number, flags) = (packet.number(SEQUENCE), packet.number(FLAGS));
        assert_ne!(number, 0);
        if packet.number(FIRST) == 1 {
            assert_eq!(flags, 1, "the state is cleared");
            let event = packet.message(DEFAULTS).message(12).message(1).text(10).to_owned();
            let sequence = Sequence { event, ..Sequence::default() };
            assert!(sequences.insert(number, sequence).is_none());
            continue;
        }
        let [it] = &packet.messages(SAMPLE)[..] else { continue };
        assert_eq!(flags, 2, "the state is needed");
        let sequence = sequences.get_mut(&number).expect("a sequence begins");
        sequence.intern(&packet.message(INTERNED));
        let cpu = it.optional(1);
        let counted = it.optional(6).unwrap();
        let period = counted.wrapping_sub(sequence.counted.insert(cpu, counted).unwrap_or(0));
        let stack = it.optional(4).map(|iid| sequence.interned[&(7, iid)].unpacked(2)).unwrap_or_default();
        samples.push(Sample {
            event: sequence.event.clone(),
            time: packet.optional(TIMESTAMP).unwrap(),
            cpu,
            pid: it.number(2),
            tid: it.number(3),
            mode: it.number(5),
            period,
            stack: stack.iter().map(|&iid| sequence.frame(iid)).collect(),
        });
    }
    samples
}

#[test]
fn every_capture_keeps_its_sums() {
    for (capture, expected) in captures() {
        let samples = samples(&export("perfetto", &[&capture], &["--no-symbols"]));
        let mut totals = Totals::new();
        for sample in &samples {
            let (count, period) = totals.entry(sample.event.clone()).or_default();
            *count += 1;
            *period = period.wrapping_add(sample.period);
        }
        assert_eq!(totals, expected, "{capture:?}");
        assert!(samples.is_sorted_by_key(|sample| sample.time), "{capture:?}");
    }
}

/// The stacks of an event without the frames that have no name, and the numbers of their samples.
type Stacks = BTreeMap<String, u64>;

fn folded(capture: &Path, event: Option<&str>, more: &[&str]) -> Stacks {
    let mut args: Vec<&dyn AsRef<OsStr>> = vec![&"fold", &"--weight", &"samples", &capture];
    if let Some(event) = &event {
        args.extend([&"--event" as &dyn AsRef<OsStr>, event]);
    }
    args.extend(more.iter().map(|it| it as &dyn AsRef<OsStr>));
    let output = perfdata(&args);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let mut stacks = Stacks::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let (stack, count) = line.rsplit_once(' ').unwrap();
        let named: Vec<_> = stack.split(';').skip(1).filter(|name| !name.starts_with('[')).collect();
        *stacks.entry(named.join(";")).or_default() += count.parse::<u64>().unwrap();
    }
    stacks
}

/// Checks that the stacks of all events are those of `perfdata fold`. Returns the number of frames with names.
fn same_stacks(capture: &Path, more: &[&str]) -> usize {
    let samples = samples(&export("perfetto", &[capture], more));
    let mut by_event: BTreeMap<&str, Stacks> = BTreeMap::new();
    let mut named = 0;
    for sample in &samples {
        let names = sample.stack.iter().map(|frame| &*frame.function);
        let names: Vec<_> = names.filter(|name| !name.is_empty() && !name.starts_with('[')).collect();
        named += names.len();
        *by_event.entry(&sample.event).or_default().entry(names.join(";")).or_default() += 1;
    }
    assert!(!by_event.is_empty());
    let has_several = by_event.len() > 1;
    for (event, stacks) in by_event {
        let expected = folded(capture, Some(event).filter(|_| has_several), more);
        assert_eq!(stacks, expected, "{capture:?} {event}");
    }
    named
}

#[test]
fn the_stacks_are_those_of_fold() {
    // With the names of this machine, if it has some.
    for capture in ["callchain", "dwarf", "everything", "group_read", "raw", "switch", "system_wide"] {
        same_stacks(&testdata::path(&format!("{capture}.data")), &[]);
    }
    same_stacks(&testdata::path("../sched/switches.data"), &[]);
    let folder = tempfile::tempdir_in(needs::folder()).unwrap();
    testdata::annotated::write(folder.path());
    assert_eq!(same_stacks(&folder.path().join("perf.data"), &[]), 5);
}

#[test]
fn inlined_functions_are_frames() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../perf-symbol/tests/fixtures");
    let folder = tempfile::tempdir_in(needs::folder()).unwrap();
    std::fs::copy(fixtures.join("lines"), folder.path().join("lines")).unwrap();
    let mut made = Made::new(1).mmap_from(7, 0x2000, 0x1000, b"/lines");
    for ip in [0x2000, 0x2003, 0x2007, 0x200d, 0x2013, 0x2014, 0x2020, 0x2025, 0x2030, 0x203a, 0x2041] {
        made = made.sample(0, 7, &[ip, 0x2014, 0x202a]).sample(0, 7, &[ip, 0x202a]);
    }
    let capture = made.file("inlined.perfetto.data");
    let root = ["--symfs", folder.path().to_str().unwrap()];
    let named = same_stacks(&capture, &root);
    let alone = same_stacks(&capture, &[root[0], root[1], "--no-inline"]);
    assert!(alone > 0 && named > alone, "{named} {alone}");
    let found = samples(&export("perfetto", &[&capture], &root));
    assert!(found.iter().flat_map(|it| &it.stack).any(|it| it.function == "inner" && it.path == "/lines"));
}

#[test]
fn what_a_sample_becomes() {
    for has_clocks in [true, false] {
        let made = Made::new(2)
            .comm(7, b"\xff\x1b[2Jx")
            .mmap(7, 0x1000, b"/tmp/\x80\"\n")
            .sample(0, 7, &[0x1234, 0x1678, 0x9000])
            .sample(1, 7, &[0x1234])
            .comm(7, b"later")
            .sample(0, 7, &[0x1234, 0x1678, 0x9000]);
        let made = if has_clocks { made.with_clocks() } else { made };
        let capture = made.file(&format!("what_a_sample_becomes_{has_clocks}.perfetto.data"));
        let bytes = export("perfetto", &[&capture], &[]);
        let found = samples(&bytes);
        let [first, other, last] = &found[..] else { panic!("{found:?}") };
        assert_eq!((first.time, other.time, last.time), (START + 2000, START + 3000, START + 5000));
        let of = |it: &Sample| (it.cpu, it.pid, it.tid, it.mode, it.period);
        assert_eq!([first, other, last].map(of), [(Some(0), 7, 7, 2, 3); 3]);
        assert_ne!(first.event, other.event);
        assert_eq!((&last.event, &last.stack), (&first.event, &first.stack));
        let frame = |path: &str, rel_pc| Frame {
            function: String::new(),
            path: path.to_owned(),
            build_id: String::new(),
            rel_pc,
            kind: 1,
        };
        let file = "/tmp/\\x80\"\\n";
        assert_eq!(first.stack, [frame("[unknown]", 0x8fff), frame(file, 0x677), frame(file, 0x234)]);
        assert_eq!(other.stack, [frame(file, 0x234)]);

        let trace = Message::new(&bytes);
        let packets = trace.messages(PACKET);
        let of_kind = |kind| packets.iter().map(move |it| it.messages(kind)).filter_map(|mut it| it.pop());
        let names: Vec<_> = of_kind(PROCESS_TREE)
            .map(|tree| (tree.message(1).text(3), tree.message(2).text(2), tree.message(2).number(1)))
            .collect();
        assert_eq!(names, [("\\xff\\u{1b}[2Jx", "\\xff\\u{1b}[2Jx", 7), ("later", "later", 7)]);
        let [clocks] = &of_kind(CLOCKS).collect::<Vec<_>>()[..] else { panic!("{packets:?}") };
        let times: Vec<_> = clocks.messages(1).iter().map(|it| (it.number(1), it.number(2))).collect();
        let wall = has_clocks.then_some((1, WALL + 2000));
        assert_eq!(times, [(10, START + 2000)].into_iter().chain(wall).collect::<Vec<_>>());
        assert_eq!(clocks.number(2), 10);
        let [machine] = &of_kind(SYSTEM_INFO).collect::<Vec<_>>()[..] else { panic!("{packets:?}") };
        assert_eq!(machine.text(17), if has_clocks { "the host" } else { "" });
        assert_eq!(machine.message(1).text(1), "Linux");
        let timebase = packets.iter().find(|it| it.number(FIRST) == 1).unwrap();
        let timebase = timebase.message(DEFAULTS).message(12).message(1);
        // A fixed period of 3, of a raw event.
        assert_eq!(
            (timebase.optional(1), timebase.optional(2), timebase.message(5).number(1)),
            (Some(3), None, 4)
        );
    }
}

#[test]
fn switches_and_wake_ups_are_events_of_their_cpus() {
    let capture = testdata::path("../sched/switches.data");
    let script = perfdata(&[&"script", &"-F", &"event,time,cpu", &capture]);
    let mut expected: BTreeMap<&str, usize> = BTreeMap::new();
    let script = String::from_utf8(script.stdout).unwrap();
    for line in script.lines() {
        let event = line.split_whitespace().find_map(|word| word.strip_prefix("sched:"));
        *expected.entry(event.unwrap_or_default().trim_end_matches(':')).or_default() += 1;
    }
    let bytes = export("perfetto", &[&capture], &["--no-symbols"]);
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for packet in Message::new(&bytes).messages(PACKET) {
        let bundle = packet.message(FTRACE);
        let mut last = 0;
        for event in bundle.messages(2) {
            assert!(event.number(1) >= last && bundle.optional(1).is_some());
            last = event.number(1);
            for (field, name) in [(4, "sched_switch"), (20, "sched_waking"), (114, "sched_wakeup_new")] {
                for it in event.messages(field) {
                    *found.entry(name).or_default() += 1;
                    let names = if field == 4 { [it.text(1), it.text(5)] } else { [it.text(1); 2] };
                    assert!(names.iter().all(|name| !name.is_empty()), "{it:?}");
                    assert!(field != 4 || event.number(2) == it.number(2));
                }
            }
        }
    }
    for name in ["sched_switch", "sched_waking", "sched_wakeup_new"] {
        assert!(expected[name] > 0);
        assert_eq!(found.get(name), expected.get(name), "{name}");
    }
    // Their clock has a relation to that of the trace: else trace processor drops them.
    let clocks = Message::new(&bytes).messages(PACKET).remove(0).message(CLOCKS);
    let times: Vec<_> = clocks.messages(1).iter().map(|it| (it.number(1), it.number(2))).collect();
    assert!(matches!(times[..], [(10, at), (6, same)] if at == same), "{times:?}");
}

/// The number of switches on each CPU.
fn switches(capture: &Path, more: &[&str]) -> BTreeMap<u64, usize> {
    let bytes = export("perfetto", &[capture], &[&["--no-symbols"], more].concat());
    let mut switches = BTreeMap::new();
    for packet in Message::new(&bytes).messages(PACKET) {
        for bundle in packet.messages(FTRACE) {
            let events = bundle.messages(2);
            let found = events.iter().filter(|event| !event.messages(4).is_empty()).count();
            *switches.entry(bundle.optional(1).unwrap()).or_default() += found;
        }
    }
    switches
}

#[test]
fn switches_are_selected_by_time_and_cpu_alone() {
    let capture = testdata::path("../sched/switches.data");
    let all = switches(&capture, &[]);
    assert_eq!(all.values().sum::<usize>(), 98);
    assert_eq!(switches(&capture, &["--comm", "perf"]), all);
    let cpu = switches(&capture, &["--cpu", "1"]);
    assert_eq!((cpu.len(), cpu[&1]), (1, all[&1]));
    let part: usize = switches(&capture, &["--time", "0%-50%"]).values().sum();
    assert!((1..98).contains(&part), "{part}");
    // Without them, nothing is.
    assert!(switches(&testdata::path("callchain.data"), &[]).is_empty());
}

#[test]
fn a_cpu_that_trace_processor_refuses_is_left_out() {
    let original = std::fs::read(testdata::path("../sched/switches.data")).unwrap();
    let all = switches(&testdata::path("../sched/switches.data"), &[]);
    for (cpu, is_there) in [(1023_u32, true), (1024, false), (u32::MAX, false)] {
        let mut bytes = original.clone();
        let number = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        let (mut at, end) = (number(&bytes, 40) as usize, number(&bytes, 40) + number(&bytes, 48));
        while at < end as usize {
            let head = number(&bytes, at);
            // A sample: header, identifier, ip, pid and tid, time, CPU.
            if head as u32 == 9 && bytes[at + 40..][..4] == [1, 0, 0, 0] {
                bytes[at + 40..][..4].copy_from_slice(&cpu.to_le_bytes());
            }
            at += (head >> 48) as usize;
        }
        let path = needs::folder().join(format!("cpu_{cpu}.data"));
        std::fs::write(&path, bytes).unwrap();
        let found = switches(&path, &[]);
        assert_eq!(found.get(&0), all.get(&0), "{cpu}");
        assert_eq!(found.get(&cpu.into()), all.get(&1).filter(|_| is_there), "{cpu}");
    }
}

#[test]
fn a_trace_has_one_capture() {
    let paths = ["callchain.data", "plain.data"].map(testdata::path);
    let output = perfdata(&[&"export", &"--to", &"perfetto", &"-o", &"-", &paths[0], &paths[1]]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("--to perfetto writes one capture; export each to a file of its own"), "{said}");
}

#[test]
fn any_number_of_threads_writes_the_same() {
    for capture in ["callchain.data", "everything.data", "threads.dir"].map(testdata::path) {
        let of = |threads| export("perfetto", &[&capture], &["--threads", threads]);
        let one = of("1");
        assert!(one == of("4") && one == of("1"), "{capture:?}");
    }
}
