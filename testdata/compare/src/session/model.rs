//! The plain model of a session: lists that are searched from end to end, and nothing that is shared.

use perf_abi::ksymbol::KsymbolType;
use perf_session::DsoKind;

use super::step::{Kind, MAP_HUGETLB, Step};

/// The threads and mappings of all machines.
#[derive(Debug, Default)]
pub(super) struct Model {
    threads: Vec<Thread>,
    /// All that was ever mapped, in the order of the records. The last one that has an address counts.
    entries: Vec<Entry>,
    /// The births of threads that have exited.
    exited: Vec<u64>,
    limit: usize,
    births: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Thread {
    machine: Option<i32>,
    pub(super) pid: i32,
    pub(super) tid: i32,
    pub(super) ppid: Option<i32>,
    pub(super) comm: Vec<u8>,
    pub(super) is_named: bool,
    pub(super) process: u64,
    pub(super) birth: u64,
    has_exited: bool,
}

/// Where mappings are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Process(u64),
    /// What a process had mapped before its last exec, until it is seen to run its own code.
    BeforeExec(u64),
    /// Of a guest, or of the host.
    Kernel(Option<i32>),
}

#[derive(Clone, Debug)]
struct Entry {
    space: Space,
    start: u64,
    end: u64,
    /// `None` if nothing is mapped there any more.
    what: Option<What>,
}

/// What is mapped.
#[derive(Clone, Debug)]
pub(super) struct What {
    pub(super) kind: DsoKind,
    pub(super) name: Vec<u8>,
    pub(super) path: Vec<u8>,
    pub(super) pgoff: u64,
    pub(super) prot: u32,
    pub(super) flags: u32,
    pub(super) ino: Option<u64>,
    pub(super) build_id: Option<Vec<u8>>,
}

/// A part of an entry that is still visible.
#[derive(Clone, Debug)]
pub(super) struct Fragment<'m> {
    pub(super) start: u64,
    pub(super) end: u64,
    from: u64,
    pub(super) what: &'m What,
}

impl Fragment<'_> {
    pub(super) fn offset_of(&self, addr: u64) -> u64 {
        match self.what.kind {
            DsoKind::Memory | DsoKind::Kernel => addr,
            _ => addr.wrapping_sub(self.from).wrapping_add(self.what.pgoff),
        }
    }
}

impl Model {
    pub(super) fn new(limit: usize) -> Self {
        let mut model = Self { limit, ..Self::default() };
        let process = model.birth();
        model.add(None, 0, 0, None, Some("swapper".into()), process);
        model
    }

    /// The threads of a machine, in the order of their ids.
    pub(super) fn threads(&self, machine: Option<i32>) -> Vec<&Thread> {
        let mut threads: Vec<_> = self.threads.iter().filter(|thread| thread.machine == machine).collect();
        threads.sort_by_key(|thread| thread.tid);
        threads
    }

    /// What is visible in a space, in the order of addresses.
    pub(super) fn fragments(&self, space: Space) -> Vec<Fragment<'_>> {
        let entries: Vec<_> = self.entries.iter().filter(|entry| entry.space == space).collect();
        let mut bounds: Vec<u64> = entries.iter().flat_map(|entry| [entry.start, entry.end]).collect();
        bounds.sort_unstable();
        bounds.dedup();
        let mut fragments = Vec::<Fragment<'_>>::new();
        // The entry of the part before.
        let mut before = None;
        for (&start, &end) in bounds.iter().zip(bounds.iter().skip(1)) {
            let top = entries.iter().rposition(|entry| entry.start <= start && start < entry.end);
            if let Some((top, what)) = top.and_then(|top| Some((top, entries[top].what.as_ref()?))) {
                match fragments.last_mut() {
                    Some(last) if before == Some(top) => last.end = end,
                    _ => fragments.push(Fragment { start, end, from: entries[top].start, what }),
                }
            }
            before = top;
        }
        fragments
    }

    pub(super) fn apply(&mut self, step: &Step) {
        let machine = step.machine();
        let Step { pid, tid, .. } = *step;
        match step.kind {
            Kind::Sample => {
                self.see(machine, pid, tid);
                if step.mode == 2 || step.mode == 5 {
                    let at = self.position(machine, tid).expect("it was just seen");
                    let before = Space::BeforeExec(self.threads[at].process);
                    self.entries.retain(|entry| entry.space != before);
                }
            }
            Kind::Fork => self.fork(machine, step),
            Kind::Exit => self.exit(machine, pid, tid),
            Kind::Comm => {
                self.see(machine, pid, tid);
                let at = self.position(machine, tid).expect("it was just seen");
                let thread = &mut self.threads[at];
                thread.comm = step.file.name.into();
                thread.is_named = true;
                let process = thread.process;
                if step.bit {
                    self.entries.retain(|entry| entry.space != Space::BeforeExec(process));
                    let of_process = self.entries.iter_mut().filter(|it| it.space == Space::Process(process));
                    of_process.for_each(|entry| entry.space = Space::BeforeExec(process));
                }
            }
            Kind::Mmap | Kind::Mmap2 if step.mode == 1 || step.mode == 4 => self.map_kernel(machine, step),
            Kind::Mmap | Kind::Mmap2 => {
                self.see(machine, pid, tid);
                let at = self.position(machine, tid).expect("it was just seen");
                let space = Space::Process(self.threads[at].process);
                self.put(space, step.addr, step.len, Some(what_of_process(step)));
            }
            Kind::Ksymbol => self.symbol(step),
        }
    }

    fn position(&self, machine: Option<i32>, tid: i32) -> Option<usize> {
        self.threads.iter().position(|thread| thread.machine == machine && thread.tid == tid)
    }

    fn birth(&mut self) -> u64 {
        self.births += 1;
        self.births
    }

    fn see(&mut self, machine: Option<i32>, pid: i32, tid: i32) {
        let known = self.position(machine, tid).map(|at| self.threads[at].clone());
        match known {
            Some(thread) if thread.pid == pid || pid == -1 => {}
            Some(thread) if thread.pid == -1 => {
                let process = if pid == tid { thread.process } else { self.process_of(machine, pid, tid) };
                let at = self.position(machine, tid).expect("it was just found");
                (self.threads[at].pid, self.threads[at].process) = (pid, process);
            }
            _ => {
                let process = self.process_of(machine, pid, tid);
                self.add(machine, pid, tid, None, None, process);
            }
        }
    }

    /// The process of a new thread: that of the leader.
    fn process_of(&mut self, machine: Option<i32>, pid: i32, tid: i32) -> u64 {
        if pid == tid || pid == -1 {
            return self.birth();
        }
        self.see(machine, pid, pid);
        let leader = self.position(machine, pid).expect("it was just seen");
        self.threads[leader].process
    }

    fn add(
        &mut self,
        machine: Option<i32>,
        pid: i32,
        tid: i32,
        ppid: Option<i32>,
        comm: Option<Vec<u8>>,
        process: u64,
    ) {
        self.threads.retain(|thread| thread.machine != machine || thread.tid != tid);
        let is_named = comm.is_some();
        let comm = comm.unwrap_or_else(|| format!(":{tid}").into_bytes());
        let birth = self.birth();
        self.threads.push(Thread {
            machine,
            pid,
            tid,
            ppid,
            comm,
            is_named,
            process,
            birth,
            has_exited: false,
        });
    }

    fn fork(&mut self, machine: Option<i32>, step: &Step) {
        let Step { pid, tid, ppid, ptid, .. } = *step;
        self.see(machine, ppid, ptid);
        let parent = self.threads[self.position(machine, ptid).expect("it was just seen")].clone();
        let process = if parent.pid == pid && tid != pid {
            parent.process
        } else if tid != pid || step.bit {
            self.process_of(machine, pid, tid)
        } else {
            let process = self.birth();
            let inherited: Vec<_> = self
                .entries
                .iter()
                .filter(|it| it.space == Space::Process(parent.process))
                .cloned()
                .collect();
            self.entries
                .extend(inherited.into_iter().map(|it| Entry { space: Space::Process(process), ..it }));
            process
        };
        let comm = parent.is_named.then_some(parent.comm);
        self.add(machine, pid, tid, Some(ppid), comm, process);
    }

    fn exit(&mut self, machine: Option<i32>, pid: i32, tid: i32) {
        self.see(machine, pid, tid);
        let at = self.position(machine, tid).expect("it was just seen");
        if !self.threads[at].has_exited {
            self.threads[at].has_exited = true;
            self.exited.push(self.threads[at].birth);
        }
        while self.exited.len() > self.limit {
            let birth = self.exited.remove(0);
            self.threads.retain(|thread| thread.birth != birth);
        }
    }

    fn put(&mut self, space: Space, start: u64, len: u64, what: Option<What>) {
        let end = start.saturating_add(len);
        if start < end {
            self.entries.push(Entry { space, start, end, what });
        }
    }

    fn map_kernel(&mut self, machine: Option<i32>, step: &Step) {
        let name = step.file.in_kernel;
        let is_text = name == "[kernel.kallsyms]";
        let path = if is_text { name } else { step.file.name };
        let what = What {
            kind: if is_text { DsoKind::Kernel } else { DsoKind::Module },
            name: name.into(),
            path: path.into(),
            pgoff: 0,
            prot: 4,
            flags: 0,
            ino: None,
            build_id: (step.kind == Kind::Mmap2 && step.has_build_id).then(|| step.build_id().into()),
        };
        let len = if is_text && step.len == 0 { u64::MAX } else { step.len };
        self.put(Space::Kernel(machine), step.addr, len, Some(what));
    }

    fn symbol(&mut self, step: &Step) {
        let space = Space::Kernel(None);
        let fragments = self.fragments(space);
        let there = fragments.iter().find(|it| it.start <= step.addr && step.addr < it.end);
        let symbol = there.filter(|it| matches!(it.what.kind, DsoKind::Ksymbol(_)));
        if step.bit {
            if let Some(&Fragment { start, end, .. }) = symbol {
                self.put(space, start, end - start, None);
            }
        } else if there.is_none() || symbol.is_some() {
            let name = Vec::from(step.file.name);
            let what = What {
                kind: DsoKind::Ksymbol(KsymbolType(1)),
                path: name.clone(),
                name,
                pgoff: 0,
                prot: 4,
                flags: 0,
                ino: None,
                build_id: None,
            };
            self.put(space, step.addr, u64::from(step.len as u32), Some(what));
        }
    }
}

fn what_of_process(step: &Step) -> What {
    let is_mmap2 = step.kind == Kind::Mmap2;
    let of_mmap = if step.bit { 0 } else { 4 };
    let (prot, flags) = if is_mmap2 { (step.prot, step.flags) } else { (of_mmap, 0) };
    let is_huge = flags & MAP_HUGETLB != 0 && !matches!(step.file.kind, DsoKind::Vdso | DsoKind::Vsyscall);
    let is_memory = is_huge || step.file.kind == DsoKind::Memory;
    let kind = if is_memory { DsoKind::Memory } else { step.file.kind };
    let path = Vec::from(step.file.name);
    let is_code = is_memory && prot & 4 != 0;
    let name = match kind {
        _ if is_code => format!("/tmp/perf-{}.map", step.pid).into_bytes(),
        // No record says that the machine has 32 bits.
        DsoKind::Vdso if step.addr >> 32 == 0 => b"[vdso32]".to_vec(),
        _ => path.clone(),
    };
    let ino = (is_mmap2 && !step.has_build_id && kind == DsoKind::File).then(|| step.ino());
    let build_id = (is_mmap2 && step.has_build_id).then(|| step.build_id().into());
    let pgoff = if kind == DsoKind::Vdso { 0 } else { step.pgoff };
    What { kind, name, path, pgoff, prot, flags, ino, build_id }
}
