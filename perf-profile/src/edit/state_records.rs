//! The records that describe the processes of a session, as perf writes them for those that run when it starts.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use perf_abi::endian::Endianness;
use perf_abi::record::{CpuMode, Misc};
use perf_parse::event::Events;
use perf_parse::record::{Comm, FileId, Mmap, Mmap2, Task};
use perf_parse::rewrite::AddedRecord;
use perf_parse::sample::Reading;
use perf_parse::write::{RecordEncoder, SampleIdFields};
use perf_parse::{EventRecord, Record};
use perf_session::{DsoKind, Mapping, Session, Thread};

/// For how long a thread that has exited can still have samples, in nanoseconds.
const LAST_SAMPLES: u64 = 1_000_000_000;

/// simpleperf: `PROT_JIT_SYMFILE_MAP`, `system/extras/simpleperf/thread_tree.h`.
const JIT_SYMFILE: u32 = 0x4000;

/// What a session does not keep of threads.
#[derive(Debug, Default)]
pub(super) struct PastThreads {
    /// The last record of each thread.
    namespaces: BTreeMap<i32, EventRecord<'static>>,
    /// The times of exits.
    exits: HashMap<i32, u64>,
}

impl PastThreads {
    pub(super) fn pass(&mut self, record: &EventRecord<'_>, decoded: &Record<'_>, time: u64) {
        match decoded {
            Record::Namespaces(it) => {
                self.namespaces.insert(it.tid, record.clone().into_owned());
            }
            Record::Fork(it) => {
                self.exits.remove(&it.tid);
            }
            Record::Exit(it) => {
                self.namespaces.remove(&it.tid);
                self.exits.insert(it.tid, time);
            }
            _ => {}
        }
    }
}

/// Returns records of a time that make the processes of the host's machine, their threads and their mappings known, as a session
/// has them. Empty if no event can have them.
///
/// perf: `__machine__synthesize_threads`, `tools/perf/util/synthetic-events.c`.
pub(super) fn state_records(
    session: &Session,
    past: &PastThreads,
    events: &Events,
    endianness: Endianness,
    time: u64,
) -> Vec<AddedRecord> {
    let Some(event) = events.first() else { return Vec::new() };
    let id = event.ids.first().copied().unwrap_or_default();
    let encoder = RecordEncoder::new_in(endianness, &event.layout);
    let mut records = StateRecords { encoder, id, time, records: Vec::new() };
    let may_have_samples = |thread: &Thread| {
        let exit = past.exits.get(&thread.tid()).copied().unwrap_or_default();
        !thread.has_exited() || exit.saturating_add(LAST_SAMPLES) >= time
    };
    let mut living = BTreeSet::new();
    living.extend(session.threads().filter(|it| may_have_samples(it)).map(Thread::process_key));
    // The threads of each process, the first one first, also if it has exited and others have not.
    let mut processes: BTreeMap<u64, Vec<&Thread>> = BTreeMap::new();
    for thread in session.threads().filter(|it| living.contains(&it.process_key()) && it.tid() > 0) {
        let is_first = thread.pid() == thread.tid();
        if is_first || may_have_samples(thread) {
            let threads = processes.entry(thread.process_key()).or_default();
            threads.insert(if is_first { 0 } else { threads.len() }, thread);
        }
    }
    let mut processes: Vec<_> =
        processes.into_values().filter_map(|threads| ProcessState::new(session, threads)).collect();
    // A fork has the generated code of all that its parent has, and of the parent.
    processes.sort_by_key(|process| core::cmp::Reverse(process.inherited.len()));
    // Without names yet, as a fork has the name of its parent.
    processes.iter().for_each(|process| records.tasks(process));
    for process in &processes {
        process.threads.iter().for_each(|thread| records.comm(thread, Misc(0)));
        for thread in &process.threads {
            let record = past.namespaces.get(&thread.tid());
            if let Some(Ok(decoded)) = record.map(EventRecord::decode) {
                records.push(Misc(0), &decoded, (thread.pid(), thread.tid()));
            }
        }
        records.mappings(session, process);
    }
    for thread in processes.iter().flat_map(|it| &it.threads).filter(|it| it.has_exited()) {
        let (pid, tid, ppid) = (thread.pid(), thread.tid(), thread.ppid().unwrap_or_default());
        let task = Task { pid, ppid, tid, ptid: ppid, time };
        records.push(Misc(0), &Record::Exit(task), (pid, tid));
    }
    records.records
}

/// A process of a session.
struct ProcessState<'s> {
    /// The thread that has its id, or else another one.
    first: &'s Thread,
    threads: Vec<&'s Thread>,
    /// Generated code that it has from processes that it was forked from, which are the ones that named it.
    inherited: BTreeMap<i32, Vec<&'s Mapping>>,
}

impl<'s> ProcessState<'s> {
    fn new(session: &'s Session, threads: Vec<&'s Thread>) -> Option<Self> {
        let first = *threads.first()?;
        let mut inherited: BTreeMap<i32, Vec<&Mapping>> = BTreeMap::new();
        for mapping in session.maps(first).into_iter().flat_map(|maps| maps.iter()) {
            if let Some(from) = other_owner(mapping, first.pid()) {
                inherited.entry(from).or_default().push(mapping);
            }
        }
        Some(Self { first, threads, inherited })
    }
}

/// Returns the process whose perf map names generated code, if it is another one.
fn other_owner(mapping: &Mapping, pid: i32) -> Option<i32> {
    let dso = mapping.dso();
    let is_generated = dso.kind() == DsoKind::Memory && mapping.is_executable();
    let from = dso.first_mapping().filter(|_| is_generated)?.pid;
    (from != pid).then_some(from)
}

/// Records of the state of a session.
struct StateRecords<'e> {
    encoder: RecordEncoder<'e>,
    /// The id of an event.
    id: u64,
    time: u64,
    records: Vec<AddedRecord>,
}

impl StateRecords<'_> {
    fn push(&mut self, misc: Misc, record: &Record<'_>, (pid, tid): (i32, i32)) {
        let ids = SampleIdFields { pid, tid, time: self.time, id: self.id, ..SampleIdFields::default() };
        let mut bytes = Vec::new();
        // Every record of a session came from one of the same form.
        if self.encoder.record(&mut bytes, misc, record, &ids).is_ok() {
            self.records.push(AddedRecord { time: self.time, event: 0, bytes });
        }
    }

    fn fork(&mut self, (pid, tid): (i32, i32), parent: i32, misc: Misc) {
        let task = Task { pid, ppid: parent, tid, ptid: parent, time: self.time };
        self.push(misc, &Record::Fork(task), (pid, tid));
    }

    /// Makes the threads of a process known, without mappings but the inherited ones.
    fn tasks(&mut self, process: &ProcessState<'_>) {
        let mut parent = None;
        for (&from, mappings) in &process.inherited {
            // The process may have other mappings, or none any more.
            let (before, misc) = parent.map_or((from, Misc::FORK_EXEC), |parent| (parent, Misc(0)));
            self.fork((from, from), before, misc);
            self.all((from, from), mappings);
            parent = Some(from);
        }
        let pid = process.first.pid();
        match (parent, process.first.ppid()) {
            (Some(parent), _) => self.fork((pid, pid), parent, Misc(0)),
            (None, Some(ppid)) if process.first.tid() == pid => self.fork((pid, pid), ppid, Misc::FORK_EXEC),
            _ => {}
        }
        for thread in process.threads.iter().filter(|it| it.tid() != pid) {
            if thread.ppid().is_some() {
                self.fork((pid, thread.tid()), pid, Misc(0));
            }
        }
    }

    fn comm(&mut self, thread: &Thread, misc: Misc) {
        if thread.is_named() {
            let (pid, tid) = (thread.pid(), thread.tid());
            self.push(misc, &Record::Comm(Comm { pid, tid, comm: thread.comm() }), (pid, tid));
        }
    }

    fn mappings(&mut self, session: &Session, process: &ProcessState<'_>) {
        let ids = (process.first.pid(), process.first.tid());
        if let Some(before) = session.maps_before_exec(process.first) {
            self.all(ids, &before.iter().collect::<Vec<_>>());
            self.comm(process.first, Misc::COMM_EXEC);
        }
        let Some(maps) = session.maps(process.first) else { return };
        let own = maps.iter().filter(|mapping| other_owner(mapping, ids.0).is_none());
        self.all(ids, &own.collect::<Vec<_>>());
    }

    /// Adds mappings: first those that code was moved from, over which it was laid.
    fn all(&mut self, ids: (i32, i32), mappings: &[&Mapping]) {
        let below = mappings.iter().filter_map(|mapping| mapping.remapped());
        let below: BTreeMap<_, _> = below.map(|mapping| (mapping.range().start, mapping)).collect();
        below.values().chain(mappings.iter().copied()).for_each(|mapping| self.mapping(ids, mapping));
    }

    fn mapping(&mut self, (pid, tid): (i32, i32), mapping: &Mapping) {
        let (range, dso) = (mapping.range(), mapping.dso());
        let (addr, len) = (range.start, range.end.saturating_sub(range.start));
        let (pgoff, filename) = (mapping.pgoff(), dso.path());
        let no_code = if mapping.is_executable() { Misc(0) } else { Misc::MMAP_DATA };
        let misc = Misc(u16::from(CpuMode::USER.0) | no_code.0);
        let inode = dso.inode().map(|it| FileId::Inode {
            maj: it.maj,
            min: it.min,
            ino: it.ino,
            ino_generation: it.ino_generation,
        });
        let build_id = dso.build_id().and_then(|id| {
            let mut bytes = [0; 20];
            bytes.get_mut(..id.as_bytes().len())?.copy_from_slice(id.as_bytes());
            Some(FileId::BuildId { size: u8::try_from(id.as_bytes().len()).ok()?, bytes })
        });
        // A file without an identity is of a record that has none.
        let has_none = dso.kind() == DsoKind::File && inode.is_none() && build_id.is_none();
        if has_none && mapping.flags() == 0 && !mapping.is_jit_symfile() {
            let record = Record::Mmap(Mmap { pid, tid, addr, len, pgoff, filename });
            return self.push(misc, &record, (pid, tid));
        }
        let of_build_id = if build_id.is_some() { Misc::MMAP_BUILD_ID } else { Misc(0) };
        let none = FileId::Inode { maj: 0, min: 0, ino: 0, ino_generation: 0 };
        let prot = mapping.prot() | if mapping.is_jit_symfile() { JIT_SYMFILE } else { 0 };
        let record = Mmap2 {
            pid,
            tid,
            addr,
            len,
            pgoff,
            id: build_id.or(inode).unwrap_or(none),
            prot_flags: Some((prot, mapping.flags())),
            reading: Reading::Certain,
            filename,
        };
        self.push(Misc(misc.0 | of_build_id.0), &Record::Mmap2(record), (pid, tid));
    }
}
