//! The print formats of the running kernel: all of them parse, and the texts of recorded events are those of perf.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use perf_parse::abi::endian::Endianness;
use perf_parse::abi::event::EventType;
use perf_parse::abi::feature::Feature;
use perf_parse::tracepoint::{
    Addresses, Format, PrintError, PrintFmt, PrintkFormats, Tracepoints, TracingData,
};
use perf_parse::{Reader, Record};

use crate::tracepoints::folders;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Tracepoints:
    every_print_format_of_this_kernel_parses,
    events_of_this_kernel_have_the_text_of_perf,
];

const EVENTS: &str = "/sys/kernel/tracing/events";

fn every_print_format_of_this_kernel_parses() {
    let (mut parsed, mut unknown) = (0, BTreeSet::new());
    for system in folders(Path::new(EVENTS)) {
        for event in folders(&system) {
            let Ok(text) = std::fs::read(event.join("format")) else { continue };
            let format = Format::parse(b"system", &text, 8).unwrap();
            let print_fmt =
                PrintFmt::new(&format).unwrap_or_else(|error| panic!("{}: {error}", event.display()));
            parsed += 1;
            let mut out = Vec::new();
            if let Err(PrintError::Unknown { name }) =
                print_fmt.write(&[0; 4096], Endianness::Little, &(), &mut out)
            {
                unknown.insert((event, name.escape_ascii().to_string()));
            }
        }
    }
    println!(
        "{parsed} print formats parse; {} of them need a function of the kernel: {unknown:?}",
        unknown.len()
    );
    assert!(parsed > 100 && unknown.len() < parsed / 50);
}

/// What the shell does while its events are recorded.
const WORKLOAD: &str = "ls -l /etc >/dev/null; (true | cat); cat /etc/passwd >\"$0/a\"; mv \"$0/a\" \"$0/b\"; \
    sync; rm \"$0/b\"; sleep 0.1; kill -CONT $$; ls /proc/self/fd >/dev/null";

/// The recorded systems, if the kernel has them: those of which a shell causes events, without the ones that report
/// every lock.
const SYSTEMS: &[&str] = &[
    "alarmtimer",
    "block",
    "capability",
    "cgroup",
    "csd",
    "dev",
    "exceptions",
    "ext4",
    "fib",
    "fib6",
    "filelock",
    "filemap",
    "fuse",
    "huge_memory",
    "icmp",
    "io_uring",
    "iocost",
    "ipi",
    "irq",
    "jbd2",
    "kmem",
    "ksm",
    "memcg",
    "migrate",
    "mmap",
    "msr",
    "napi",
    "neigh",
    "net",
    "netlink",
    "nmi",
    "notifier",
    "oom",
    "page_isolation",
    "pagemap",
    "percpu",
    "power",
    "printk",
    "qdisc",
    "raw_syscalls",
    "rcu",
    "readahead",
    "rseq",
    "sched",
    "signal",
    "skb",
    "sock",
    "swiotlb",
    "syscalls",
    "task",
    "tcp",
    "thp",
    "timer",
    "timestamp",
    "tlb",
    "udp",
    "vmalloc",
    "vmscan",
    "wbt",
    "workqueue",
    "writeback",
    "x86_fpu",
];

/// Only a thorough test records all events of these systems: perf takes about 40 ms to open and to close each.
const LARGE_SYSTEMS: &[&str] = &[
    "block",
    "cgroup",
    "ext4",
    "io_uring",
    "iocost",
    "jbd2",
    "ksm",
    "neigh",
    "oom",
    "power",
    "syscalls",
    "tcp",
    "vmscan",
    "writeback",
    "x86_fpu",
];

/// Some of their events that the shell causes.
const MORE_EVENTS: &str = "ext4:ext4_da_write_begin,ext4:ext4_unlink_enter,syscalls:sys_enter_openat,syscalls:sys_exit_openat,\
    syscalls:sys_enter_execve,syscalls:sys_enter_mmap,syscalls:sys_enter_kill,cgroup:cgroup_notify_populated";

/// Tracepoints whose text differs from perf's: perf does not respect the parentheses in
/// `REC->flags & (0x00040000 | 0x00080000)`.
const DIFFERENT: &[&str] = &["timer:timer_start"];

fn events_of_this_kernel_have_the_text_of_perf() {
    needs::all(&[needs::Need::PERF]);
    let folder = needs::folder();
    let capture = folder.join("perf.data");
    let is_there = |system: &&&str| Path::new(EVENTS).join(system).is_dir();
    let is_small = |system: &&&str| testdata::is_thorough() || !LARGE_SYSTEMS.contains(*system);
    let systems = SYSTEMS.iter().filter(is_there).filter(is_small);
    let mut events: Vec<_> = systems.map(|system| format!("{system}:*")).collect();
    let has = |event: &&str| Path::new(EVENTS).join(event.replace(':', "/")).is_dir();
    if !testdata::is_thorough() {
        events.extend(MORE_EVENTS.split(',').filter(has).map(str::to_owned));
    }
    let perf = || {
        let mut perf = Command::new("perf");
        perf.env("HOME", &folder).envs([("LC_ALL", "C"), ("PERF_CONFIG", "/dev/null")]);
        perf
    };
    // One ring, so that events of the same time have one order.
    let mut record = perf();
    record.args(["record", "-q", "-m", "1024", "-C", "0", "-e", &events.join(","), "-o"]).arg(&capture);
    let recorded = record.args(["--", "sh", "-c", WORKLOAD]).arg(&folder).output().unwrap();
    let printed = perf().args(["script", "-f", "-F", "event,trace", "-i"]).arg(&capture).output().unwrap();
    if !recorded.status.success() || !printed.status.success() {
        needs::skip("perf-6.1", &String::from_utf8_lossy(&[recorded.stderr, printed.stderr].concat()));
    }
    let bytes = std::fs::read(&capture).unwrap();
    let (ours, evaluated) = texts(&bytes);
    let theirs = String::from_utf8_lossy(&printed.stdout);
    compare(&String::from_utf8_lossy(&ours), &theirs, &evaluated);
}

/// Compares the lines, and prints the share of those that are equal.
fn compare(ours: &str, theirs: &str, evaluated: &BTreeMap<String, [u64; 2]>) {
    let [lines, expected] = [ours, theirs].map(|text| text.lines().map(str::trim_start).collect::<Vec<_>>());
    assert_eq!(lines.len(), expected.len());
    let (mut equal, mut failed) = (0_u64, 0_u64);
    let mut different = BTreeMap::<&str, (u64, &str, &str)>::new();
    for (line, expected) in lines.iter().zip(&expected) {
        let event = expected.split(": ").next().unwrap_or_default();
        match line == expected {
            true => equal += 1,
            false if expected.contains("[FAILED TO PARSE]") => failed += 1,
            false => different.entry(event).or_insert((0, line, expected)).0 += 1,
        }
    }
    let [texts, fields] = evaluated.values().fold([0, 0], |all, one| [all[0] + one[0], all[1] + one[1]]);
    println!(
        "{} tracepoints fired: {equal} of {} lines ({:.3} %) equal those of perf, {failed} are lines that perf cannot \
         print, {} differ in {different:?}; {texts} events were evaluated, {fields} printed as fields",
        evaluated.len(),
        lines.len(),
        100.0 * equal as f64 / lines.len() as f64,
        lines.len() as u64 - equal - failed,
    );
    assert!(evaluated.len() > 20 && equal > 1000, "{equal} lines");
    different.retain(|event, _| !DIFFERENT.contains(event));
    // Negative values are rare, and perf prints some of them without their sign.
    let others: u64 = different.values().map(|(count, ..)| count).sum();
    assert!(others < equal / 1000, "{different:?}");
}

/// Returns a line for each sample of a tracepoint, by time; and for each tracepoint, how many events were evaluated and how
/// many were printed as fields.
fn texts(bytes: &[u8]) -> (Vec<u8>, BTreeMap<String, [u64; 2]>) {
    let reader = Reader::new(bytes).unwrap();
    let data = TracingData::parse(reader.feature(Feature::TRACING_DATA).unwrap().bytes).unwrap();
    let tracepoints = Tracepoints::new(&data);
    let kernel = Kernel { symbols: kallsyms(), strings: PrintkFormats::new(data.printk_formats) };
    let formats: BTreeMap<u64, _> = tracepoints
        .formats()
        .iter()
        .map(|format| (u64::from(format.id), (format, PrintFmt::new(format).unwrap())))
        .collect();
    let (mut out, mut evaluated) = (Vec::new(), BTreeMap::<String, [u64; 2]>::new());
    for record in reader.records().in_time_order() {
        let record = record.unwrap();
        let Record::Sample(sample) = record.decode().unwrap() else { continue };
        let attr = record.event().unwrap().attr;
        if attr.kind != EventType::TRACEPOINT {
            continue;
        }
        let raw = sample.tail().unwrap().raw.unwrap();
        let (format, print_fmt) = &formats[&attr.config];
        let name = format!("{}:{}", format.system.escape_ascii(), format.name.escape_ascii());
        out.extend_from_slice(format!("{name}: ").as_bytes());
        let written = print_fmt.write(raw, Endianness::Little, &kernel, &mut out);
        if written.is_err() {
            out.extend_from_slice(b"[FAILED TO PARSE]");
            format.write_fields(raw, Endianness::Little, &mut out);
        }
        out.push(b'\n');
        evaluated.entry(name).or_default()[usize::from(written.is_err())] += 1;
    }
    (out, evaluated)
}

struct Kernel<'a> {
    /// In ascending order of addresses.
    symbols: Vec<(u64, Vec<u8>)>,
    strings: PrintkFormats<'a>,
}

impl Addresses for Kernel<'_> {
    fn function(&self, address: u64) -> Option<(Cow<'_, [u8]>, u64)> {
        let index = self.symbols.partition_point(|(start, _)| *start <= address).checked_sub(1)?;
        let (start, name) = &self.symbols[index];
        Some((Cow::Borrowed(name), address - start))
    }

    fn string(&self, address: u64) -> Option<&[u8]> {
        self.strings.get(address)
    }
}

/// Returns the symbols of the running kernel, one for each address: the one that perf takes.
///
/// perf: `choose_best_symbol`, `tools/perf/util/symbol.c`.
fn kallsyms() -> Vec<(u64, Vec<u8>)> {
    let text = std::fs::read_to_string("/proc/kallsyms").unwrap();
    let symbol = |line: &str| {
        let mut words = line.split_whitespace();
        let address = u64::from_str_radix(words.next()?, 16).ok()?;
        let (kind, name) = (words.next()?.chars().next()?, words.next()?.to_owned());
        let underscores = name.bytes().take_while(|&byte| byte == b'_').count();
        let rank =
            (kind.eq_ignore_ascii_case(&'w'), kind.is_lowercase(), underscores, usize::MAX - name.len());
        "TWDB".contains(kind.to_ascii_uppercase()).then_some((address, rank, name))
    };
    let mut symbols: Vec<_> = text.lines().filter_map(symbol).collect();
    symbols.sort();
    symbols.dedup_by_key(|(address, ..)| *address);
    symbols.into_iter().map(|(address, _, name)| (address, name.into_bytes())).collect()
}
