//! The records of tasks that snapshots need.

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::endian::NativeEndian;
use perf_abi::ksymbol::{KsymbolFlags, KsymbolType};
use perf_abi::record::{Misc, RecordType};
use perf_abi::sample_type::SampleType;
use perf_parse::record::{Comm, Ksymbol, Mmap, Task};
use perf_parse::write::{self, SampleIdFields};
use perf_parse::{RawRecord, Record, SampleLayout};

use crate::SidebandSink;
use crate::sideband_tasks::TaskSample;
use crate::sink::RecordingSink;

const EXEC: Misc = Misc::COMM_EXEC;

fn layout() -> SampleLayout {
    let sample_type = SampleType::IP | SampleType::TID | SampleType::TIME;
    SampleLayout::new(&Attr { sample_type, flags: AttrFlags::SAMPLE_ID_ALL, ..Attr::default() }).unwrap()
}

/// Records, which are all of rounds before the last one.
struct Rounds(SidebandSink);

impl Rounds {
    fn new() -> Self {
        Self(SidebandSink::default())
    }

    fn put(mut self, time: u64, misc: Misc, record: &Record<'_, NativeEndian>) -> Self {
        let mut bytes = Vec::new();
        let trailer = SampleIdFields { time, ..SampleIdFields::default() };
        write::record(&mut bytes, &layout(), misc, record, &trailer).unwrap();
        self.0.records(&bytes).unwrap();
        self
    }

    fn fork(self, time: u64, (ppid, ptid): (i32, i32), (pid, tid): (i32, i32)) -> Self {
        self.put(time, Misc(0), &Record::Fork(Task { pid, ppid, tid, ptid, time }))
    }

    fn comm(self, time: u64, misc: Misc, (pid, tid): (i32, i32), comm: &str) -> Self {
        self.put(time, misc, &Record::Comm(Comm { pid, tid, comm: comm.as_bytes() }))
    }

    fn map(self, time: u64, pid: i32, name: &str) -> Self {
        let map = Mmap { pid, tid: pid, addr: 0x1000, len: 0x1000, pgoff: 0, filename: name.as_bytes() };
        self.put(time, Misc(2), &Record::Mmap(map))
    }

    fn exit(self, time: u64, (pid, tid): (i32, i32)) -> Self {
        self.put(time, Misc(0), &Record::Exit(Task { pid, ppid: 1, tid, ptid: 1, time }))
    }

    /// A process that is forked, calls exec, maps the program, and ends.
    fn life(self, start: u64, parent: i32, pid: i32, name: &str) -> Self {
        let forked = self.fork(start, (parent, parent), (pid, pid)).comm(start + 1, EXEC, (pid, pid), name);
        forked.map(start + 2, pid, name).exit(start + 9, (pid, pid))
    }

    fn settled(mut self) -> Self {
        self.0.round().unwrap();
        self.0.round().unwrap();
        self
    }

    /// Returns the names of the comms and files that a snapshot with these samples needs, in the order of their records.
    fn names(&self, samples: &[(i32, i32, u64)]) -> Vec<String> {
        let sample = |&(pid, tid, time)| TaskSample { pid, tid, time: Some(time) };
        names(&self.0.needed(&layout(), &samples.iter().map(sample).collect::<Vec<_>>()))
    }
}

fn names(mut records: &[u8]) -> Vec<String> {
    let (layout, mut names) = (layout(), Vec::new());
    while let Ok((record, rest)) = RawRecord::<NativeEndian>::parse(records) {
        let name = match record.decode(&layout).unwrap() {
            Record::Comm(it) => it.comm,
            Record::Mmap(it) => it.filename,
            Record::Ksymbol(it) => it.name,
            Record::Switch => b"switch",
            _ => b"",
        };
        names.extend((!name.is_empty()).then(|| String::from_utf8_lossy(name).into_owned()));
        records = rest;
    }
    names
}

#[test]
fn tasks_that_have_ended_are_left_out_unless_they_have_samples() {
    let mut rounds = Rounds::new().comm(0, Misc(0), (5, 5), "shell").map(0, 5, "/bin/shell");
    let whole = rounds.0.bytes().len();
    for number in 0..8000 {
        rounds = rounds.life(number * 10, 5, 100 + number as i32, "ls");
    }
    let rounds = rounds.settled();
    assert_eq!(rounds.names(&[]), ["shell", "/bin/shell"]);
    assert_eq!(rounds.names(&[(103, 103, 35)]), ["shell", "/bin/shell", "ls", "ls"]);
    let mut kept = rounds.0;
    assert!(kept.is_due());
    kept.trim(&layout(), None);
    assert!(!kept.is_due());
    kept.trim(&layout(), Some(&[]));
    assert_eq!(kept.bytes().len(), whole);
}

#[test]
fn a_process_that_has_called_no_exec_needs_its_parent() {
    let rounds = Rounds::new().comm(0, Misc(0), (5, 5), "daemon").map(0, 5, "/bin/daemon");
    let rounds = rounds.fork(10, (5, 5), (6, 6)).exit(11, (5, 5)).settled();
    assert_eq!(rounds.names(&[]), ["daemon", "/bin/daemon"]);
    let rounds = rounds.comm(20, EXEC, (6, 6), "other").settled();
    assert_eq!(rounds.names(&[]), ["other"]);
    // The sample is older than the exec.
    assert_eq!(rounds.names(&[(6, 6, 15)]), ["daemon", "/bin/daemon", "other"]);
    // An exec keeps the record of the fork.
    let is_fork = |record: &RawRecord<'_, NativeEndian>| record.kind() == RecordType::FORK;
    let needed = rounds.0.needed(&layout(), &[]);
    assert!(is_fork(&RawRecord::parse(&needed).unwrap().0));
}

#[test]
fn a_process_id_that_is_in_use_again() {
    let rounds = Rounds::new().life(10, 1, 7, "first").life(30, 1, 7, "second").settled();
    assert_eq!(rounds.names(&[(7, 7, 35)]), ["second", "second"]);
    assert_eq!(rounds.names(&[(7, 7, 15)]), ["first", "first"]);
    // A sample that comes a little before the first record.
    assert_eq!(rounds.names(&[(7, 7, 9)]), ["first"; 0]);
    let without_time = TaskSample { pid: 7, tid: 7, time: None };
    assert_eq!(names(&rounds.0.needed(&layout(), &[without_time])).len(), 4);
}

/// The rings are read one after the other: the fork that came before an exit may be in the next round.
#[test]
fn what_ended_in_the_last_round_is_kept() {
    let mut rounds = Rounds::new().comm(0, Misc(0), (5, 5), "daemon").map(0, 5, "/bin/daemon");
    rounds.0.round().unwrap();
    let mut rounds = rounds.exit(11, (5, 5));
    rounds.0.round().unwrap();
    assert_eq!(rounds.names(&[]).len(), 2);
    let mut rounds = rounds.fork(10, (5, 5), (6, 6));
    rounds.0.trim(&layout(), Some(&[]));
    assert_eq!(rounds.settled().names(&[]), ["daemon", "/bin/daemon"]);
    let mut rounds = Rounds::new().comm(0, Misc(0), (5, 5), "daemon");
    rounds.0.round().unwrap();
    let mut rounds = rounds.comm(11, EXEC, (5, 5), "other");
    rounds.0.round().unwrap();
    assert_eq!(rounds.names(&[]), ["daemon", "other"]);
}

#[test]
fn threads_that_have_ended_are_left_out() {
    let rounds = Rounds::new().comm(0, Misc(0), (5, 5), "server").fork(1, (5, 5), (5, 6));
    let rounds = rounds.comm(2, Misc(0), (5, 6), "worker").exit(9, (5, 6));
    assert_eq!(rounds.settled().names(&[]), ["server"]);
    let rounds = Rounds::new().comm(0, Misc(0), (5, 5), "server").fork(1, (5, 5), (5, 6));
    let rounds = rounds.comm(2, Misc(0), (5, 6), "worker").exit(9, (5, 6)).settled();
    assert_eq!(rounds.names(&[(5, 6, 3)]), ["server", "worker"]);
    // A thread has the name of the one that started it, and so has a process.
    for child in [(5, 7), (8, 8)] {
        let rounds = Rounds::new().comm(0, Misc(0), (5, 5), "server").fork(1, (5, 5), (5, 6));
        let rounds =
            rounds.comm(2, Misc(0), (5, 6), "worker").fork(3, (5, 6), child).exit(9, (5, 6)).settled();
        assert_eq!(rounds.names(&[]), ["server", "worker"], "{child:?}");
    }
    // The first thread may end before the others.
    let rounds = Rounds::new().comm(0, Misc(0), (5, 5), "server").fork(1, (5, 5), (5, 6)).exit(9, (5, 5));
    let rounds = rounds.settled();
    assert_eq!(rounds.names(&[]), ["server"]);
    assert_eq!(rounds.exit(10, (5, 6)).settled().names(&[]), [""; 0]);
}

#[test]
fn what_belongs_to_no_task_is_kept() {
    let (ksym_type, flags) = (KsymbolType::BPF, KsymbolFlags::NONE);
    let symbol = Ksymbol { addr: 1, len: 1, ksym_type, flags, name: b"bpf_prog" };
    let kernel = Mmap { pid: -1, tid: 0, addr: 1, len: 1, pgoff: 0, filename: b"[kernel.kallsyms]_text" };
    let rounds =
        Rounds::new().put(1, Misc(0), &Record::Ksymbol(symbol)).put(1, Misc(1), &Record::Mmap(kernel));
    // Switches are of the time of the samples.
    let rounds = rounds.put(5, Misc(0), &Record::Switch).put(7, Misc(0), &Record::Switch).settled();
    assert_eq!(rounds.names(&[]), ["bpf_prog", "[kernel.kallsyms]_text", "switch", "switch"]);
    assert_eq!(rounds.names(&[(1, 1, 6)]), ["bpf_prog", "[kernel.kallsyms]_text", "switch"]);
}
