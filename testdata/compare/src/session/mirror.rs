//! Lists of an importer's own, which are kept by the changes that a session reports.

use std::collections::{BTreeMap, BTreeSet};

use perf_session::{Change, Changes, CutMappings, Mapping, Maps, Session, Thread};

/// The threads, mappings and cgroups that the changes of a session describe, in plain lists.
#[derive(Debug)]
pub struct Mirror {
    /// By their keys.
    threads: BTreeMap<u64, MirrorThread>,
    /// By the keys of processes.
    processes: BTreeMap<u64, Vec<Mapping>>,
    /// By the process ids of virtual machines.
    kernels: BTreeMap<Option<i32>, Vec<Mapping>>,
    cgroups: BTreeMap<u64, Vec<u8>>,
}

/// What a mirror has of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MirrorThread {
    guest: Option<i32>,
    pid: i32,
    tid: i32,
    ppid: Option<i32>,
    comm: Vec<u8>,
    is_named: bool,
    process_key: u64,
    has_exited: bool,
}

impl MirrorThread {
    fn of(thread: &Thread) -> Self {
        Self {
            guest: thread.guest(),
            pid: thread.pid(),
            tid: thread.tid(),
            ppid: thread.ppid(),
            comm: thread.comm().to_vec(),
            is_named: thread.is_named(),
            process_key: thread.process_key(),
            has_exited: false,
        }
    }
}

impl Mirror {
    /// Creates the mirror of a session that has no records yet.
    #[must_use]
    pub fn new(session: &Session) -> Self {
        let threads = session.threads().map(|thread| (thread.key(), MirrorThread::of(thread)));
        let processes = session.threads().map(|thread| (thread.process_key(), Vec::new()));
        Self {
            threads: threads.collect(),
            processes: processes.collect(),
            kernels: BTreeMap::new(),
            cgroups: BTreeMap::new(),
        }
    }

    /// Applies the changes of a record. Returns whether there was any, but for a sample.
    ///
    /// # Panics
    ///
    /// If a change contradicts those before it.
    pub fn apply(&mut self, changes: Changes<'_, '_>) -> bool {
        let session = changes.session();
        let (mut is_changed, mut is_over) = (false, false);
        for change in changes {
            assert!(!is_over, "a sample is the last change");
            is_over = matches!(change, Change::Sample(_));
            is_changed |= !is_over;
            self.apply_change(session, change);
        }
        is_changed
    }

    fn apply_change(&mut self, session: &Session, change: Change<'_, '_>) {
        match change {
            Change::Sample(at) => {
                let mut thread = MirrorThread::of(at.thread());
                thread.has_exited = self.threads[&at.thread().key()].has_exited;
                assert_eq!(self.threads[&at.thread().key()], thread);
            }
            Change::ThreadBegun { thread, inherited } => {
                let is_new = !self.processes.contains_key(&thread.process_key());
                assert!(is_new || inherited.is_none());
                if is_new {
                    let list = inherited.map(|key| self.processes[&key].clone()).unwrap_or_default();
                    self.processes.insert(thread.process_key(), list);
                }
                let before = self.threads.insert(thread.key(), MirrorThread::of(thread));
                assert_eq!(before, None);
            }
            Change::ThreadIdentified { thread, process_before } => {
                self.processes.entry(thread.process_key()).or_default();
                let mut expected = MirrorThread::of(thread);
                let found = self.threads.get_mut(&thread.key()).expect("it begun");
                assert_eq!((found.pid, found.process_key), (-1, process_before));
                (expected.has_exited, found.pid) = (found.has_exited, thread.pid());
                found.process_key = thread.process_key();
                assert_eq!(*found, expected);
            }
            Change::ThreadNamed { thread, before } => {
                let found = self.threads.get_mut(&thread.key()).expect("it begun");
                assert_eq!(found.comm, before);
                assert!(!found.is_named || before != thread.comm());
                (found.comm, found.is_named) = (thread.comm().to_vec(), true);
                self.check_process(thread);
            }
            Change::ThreadExited { thread } => {
                self.check_process(thread);
                let found = self.threads.get_mut(&thread.key()).expect("it begun");
                assert!(!found.has_exited);
                found.has_exited = true;
            }
            Change::ThreadRemoved { thread } => {
                self.check_process(thread);
                self.threads.remove(&thread.key());
            }
            Change::ProcessRemoved { process_key } => {
                assert!(self.threads.values().all(|thread| thread.process_key != process_key));
                self.processes.remove(&process_key).expect("it was known");
            }
            Change::Exec { thread, cut } => {
                self.check_process(thread);
                let list = self.processes.get_mut(&thread.process_key()).expect("it is known");
                assert!(cut.clone().all(|cut| cut.is_whole()));
                cut_from(list, cut);
                assert_eq!(*list, []);
            }
            Change::Mapped { thread, mapping, cut } => {
                self.check_process(thread);
                let list = self.processes.get_mut(&thread.process_key()).expect("it is known");
                cut_from(list, cut);
                list.push(mapping.clone());
            }
            Change::KernelMapped { guest, mapping, cut } => {
                let list = self.kernels.entry(guest).or_default();
                cut_from(list, cut);
                list.push(mapping.clone());
            }
            Change::KernelUnmapped { guest, mapping } => {
                let list = self.kernels.get_mut(&guest).expect("it had a mapping");
                let count = list.len();
                list.retain(|it| it != mapping);
                assert_eq!(list.len() + 1, count);
            }
            Change::Cgroup { id, path } => {
                self.cgroups.insert(id, path.to_vec());
                assert_eq!(session.cgroup(id), Some(path));
            }
            Change::BuildId { .. } => {}
            other => panic!("a change of an unknown kind: {other:?}"),
        }
    }

    fn check_process(&self, thread: &Thread) {
        assert_eq!(self.threads[&thread.key()].process_key, thread.process_key());
    }

    /// Compares the threads of the host and their mappings, and those of its kernel.
    ///
    /// # Panics
    ///
    /// If they are not those of the session.
    pub fn check(&self, session: &Session) {
        let of_host = self.threads.iter().filter(|(_, thread)| thread.guest.is_none());
        let found: BTreeMap<_, _> =
            of_host.map(|(key, thread)| (thread.tid, (*key, thread.clone()))).collect();
        let expected: BTreeMap<_, _> = session
            .threads()
            .map(|thread| {
                let has_exited = self.threads.get(&thread.key()).is_some_and(|it| it.has_exited);
                (thread.tid(), (thread.key(), MirrorThread { has_exited, ..MirrorThread::of(thread) }))
            })
            .collect();
        assert_eq!(found, expected);
        for thread in session.threads() {
            let maps = session.maps(thread).expect("the thread is known");
            check_maps(&self.processes[&thread.process_key()], maps);
        }
        check_maps(self.kernels.get(&None).map_or(&[], Vec::as_slice), session.kernel_maps());
        let keys: BTreeSet<_> = self.threads.values().map(|thread| thread.process_key).collect();
        assert!(self.processes.keys().eq(&keys), "{keys:?} {:?}", self.processes.keys());
    }
}

fn check_maps(list: &[Mapping], maps: &Maps) {
    let mut list: Vec<_> = list.iter().collect();
    list.sort_by_key(|mapping| mapping.range().start);
    assert!(list.iter().copied().eq(maps.iter()), "{list:?} {:?}", maps.iter().collect::<Vec<_>>());
}

/// Takes what a change cut from a list, which has all of it.
fn cut_from(list: &mut Vec<Mapping>, cut: CutMappings<'_>) {
    for cut in cut {
        let count = list.len();
        list.retain(|mapping| mapping != cut.mapping);
        assert_eq!(list.len() + 1, count, "{cut:?}");
        let whole = cut.mapping.range();
        assert!(
            whole.start <= cut.range.start && cut.range.start < cut.range.end && cut.range.end <= whole.end
        );
        let rest: Vec<_> = cut.rest().collect();
        let left: u64 = rest.iter().map(|it| it.range().end - it.range().start).sum();
        assert_eq!(left, whole.end - whole.start - (cut.range.end - cut.range.start));
        for mapping in &rest {
            let start = mapping.range().start;
            assert_eq!(mapping.offset_of(start), cut.mapping.offset_of(start));
        }
        list.extend(rest);
    }
}
