//! Synthesized records of the tasks and mappings that existed before the recording.
//!
//! The records are equal to those of `perf record`, byte for byte. All fields of the trailer, and so the time, are 0.

use alloc::collections::BTreeSet;
use std::fs::{self, File};
use std::io::BufReader;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use perf_abi::endian::{Endianness, NativeEndian};
use perf_abi::ksymbol::{BpfEventType, KsymbolFlags, KsymbolType};
use perf_abi::record::{CpuMode, Misc};
use perf_open::ring;
use perf_parse::feature::{BpfProgInfo, BpfProgram};
use perf_parse::list::List;
use perf_parse::record::{BpfEvent, Comm, FileId, Ksymbol, Mmap, Mmap2, Namespaces, Task as Fork};
use perf_parse::sample::Reading;
use perf_parse::write::{self, SampleIdFields};
use perf_parse::{Record, SampleLayout};

use crate::cgroups::{self, CgroupPath};
use crate::kernel;
use crate::maps::{self, PROT_EXEC, PROT_READ, ProcMapping};
use crate::processes::{self, ProcTask};
use crate::{BpfPrograms, Error};

/// `MAP_HUGETLB` of `mmap(2)`, as perf writes it.
const MAP_HUGETLB: u32 = 0x40000;
/// The longest file name that the kernel writes.
///
/// Kernel: `PATH_MAX`, without its NUL.
const MAX_NAME: usize = 4095;
/// The namespaces in the order of [`NamespaceIndex`](perf_abi::namespaces::NamespaceIndex).
const NAMESPACES: [&str; 7] = ["net", "uts", "ipc", "pid", "user", "mnt", "cgroup"];

/// The optional records, in addition to those of tasks and executable mappings.
#[derive(Clone, Copy, Debug, Default)]
pub struct SynthesizerOptions {
    /// Records of mappings that are readable and not executable.
    pub data: bool,
    /// Records of the namespaces of each task.
    pub namespaces: bool,
    /// No records of mappings.
    pub without_mappings: bool,
}

/// Synthesizes records and passes each to `sink`.
///
/// A process that ends during this has fewer records or none; that is not an error. Holds one record at a time.
pub struct Synthesizer<'a> {
    root: &'a Path,
    layout: &'a SampleLayout,
    wanted: SynthesizerOptions,
    /// Where hugetlbfs is mounted; `None` if it is not.
    hugetlbfs: Option<Vec<u8>>,
    record: Vec<u8>,
    sink: &'a mut dyn FnMut(&[u8]) -> Result<(), Error>,
    /// The number of lines of `/proc/PID/maps` that could not be parsed.
    unreadable: u64,
}

impl core::fmt::Debug for Synthesizer<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { root, wanted, hugetlbfs, unreadable, .. } = self;
        f.debug_struct("Synthesizer")
            .field("root", root)
            .field("wanted", wanted)
            .field("hugetlbfs", hugetlbfs)
            .field("unreadable", unreadable)
            .finish_non_exhaustive()
    }
}

impl<'a> Synthesizer<'a> {
    /// Synthesizes records of the machine below `root`, with the trailer of `layout`, the layout of the first event.
    pub fn new(
        root: &'a Path,
        layout: &'a SampleLayout,
        wanted: SynthesizerOptions,
        sink: &'a mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Self {
        let hugetlbfs = hugetlbfs(root);
        Self { root, layout, wanted, hugetlbfs, record: Vec::new(), sink, unreadable: 0 }
    }

    /// Returns how many lines of `/proc/PID/maps` could not be parsed, so that their mappings are missing.
    pub fn unreadable(&self) -> u64 {
        self.unreadable
    }

    /// Synthesizes MMAP records of the kernel and its modules. Returns whether the kernel's address is known; the
    /// kernel hides it from most users.
    ///
    /// perf: `perf_event__synthesize_kernel_mmap`, `perf_event__synthesize_modules`.
    ///
    /// # Errors
    ///
    /// The errors of `sink`.
    pub fn kernel(&mut self) -> Result<bool, Error> {
        let misc = Misc::from(CpuMode::KERNEL);
        let text = kernel::text(self.root);
        let is_told = text.is_some();
        if let Some(kernel::KernelText { symbol, start, len }) = text {
            let filename = format!("[kernel.kallsyms]{symbol}");
            let filename = filename.as_bytes();
            self.put(
                misc,
                &Record::Mmap(Mmap { pid: -1, tid: 0, addr: start, len, pgoff: start, filename }),
            )?;
        }
        for kernel::LoadedModule { start, len, file } in kernel::modules(self.root) {
            self.put(
                misc,
                &Record::Mmap(Mmap { pid: -1, tid: 0, addr: start, len, pgoff: 0, filename: &file }),
            )?;
        }
        Ok(is_told)
    }

    /// Synthesizes the records of BPF programs: KSYMBOL for each function, and BPF_EVENT. If there are programs, also
    /// KSYMBOL for each trampoline and dispatcher.
    ///
    /// perf: `perf_event__synthesize_bpf_events`.
    ///
    /// # Errors
    ///
    /// The errors of `sink`.
    pub fn bpf(&mut self, programs: &BpfPrograms) -> Result<(), Error> {
        for program in programs.each() {
            for (function, name) in programs.functions(program) {
                self.ksymbol(function.addr, function.len, &name)?;
            }
            if let Some(BpfProgInfo { program: BpfProgram { id, tag, .. }, .. }) = program.as_feature() {
                let record = BpfEvent { kind: BpfEventType::PROG_LOAD, flags: 0, id, tag };
                self.put(Misc(0), &Record::BpfEvent(record))?;
            }
        }
        if programs.is_empty() {
            return Ok(());
        }
        let page = u32::try_from(ring::page_bytes()).unwrap_or(u32::MAX);
        for (addr, name) in kernel::bpf_images(self.root) {
            self.ksymbol(addr, page, &name)?;
        }
        Ok(())
    }

    fn ksymbol(&mut self, addr: u64, len: u32, name: &[u8]) -> Result<(), Error> {
        let flags = KsymbolFlags::NONE;
        let record = Ksymbol { addr, len, ksym_type: KsymbolType::BPF, flags, name };
        self.put(Misc(0), &Record::Ksymbol(record))
    }

    /// Synthesizes the records of every thread of every process: FORK, NAMESPACES and COMM, and MMAP2 after those of
    /// the first thread.
    ///
    /// perf: `perf_event__synthesize_threads`.
    ///
    /// # Errors
    ///
    /// The errors of `sink`.
    pub fn all(&mut self) -> Result<(), Error> {
        for pid in processes::all(self.root) {
            for tid in processes::threads(self.root, pid) {
                let folder = self.root.join(format!("proc/{pid}/task/{tid}"));
                let Some(task) = ProcTask::read(&folder, tid) else { continue };
                let parent = if task.tid == task.pid { task.ppid } else { task.pid };
                let fork = Fork { pid: task.pid, ppid: parent, tid, ptid: parent, time: 0 };
                self.put(Misc::FORK_EXEC, &Record::Fork(fork))?;
                self.namespaces(&task)?;
                self.comm(&task)?;
                self.mappings(&task)?;
            }
        }
        Ok(())
    }

    /// Synthesizes the records of the given threads and of the first threads of their processes: COMM and NAMESPACES,
    /// and MMAP2 after those of a first thread.
    ///
    /// To include whole processes, pass all of their threads.
    ///
    /// perf: `perf_event__synthesize_thread_map`. It repeats the records of a first thread that was not given, once for
    /// each thread that was.
    ///
    /// # Errors
    ///
    /// The errors of `sink`.
    pub fn threads(&mut self, tids: &[i32]) -> Result<(), Error> {
        let mut synthesized: BTreeSet<i32> = tids.iter().copied().collect();
        for &tid in tids {
            let Some(pid) = self.thread(tid)? else { continue };
            if synthesized.insert(pid) {
                self.thread(pid)?;
            }
        }
        Ok(())
    }

    /// Synthesizes the NAMESPACES record of a process, if wanted.
    ///
    /// # Errors
    ///
    /// The errors of `sink`.
    pub fn namespaces_of(&mut self, pid: i32) -> Result<(), Error> {
        match ProcTask::read(&self.root.join(format!("proc/{pid}")), pid) {
            Some(task) => self.namespaces(&task),
            None => Ok(()),
        }
    }

    /// Synthesizes the records of one thread. Returns its process; `None` if the thread has ended.
    fn thread(&mut self, tid: i32) -> Result<Option<i32>, Error> {
        let Some(task) = ProcTask::read(&self.root.join(format!("proc/{tid}/task/{tid}")), tid) else {
            return Ok(None);
        };
        self.comm(&task)?;
        self.namespaces(&task)?;
        self.mappings(&task)?;
        Ok(Some(task.pid))
    }

    fn comm(&mut self, task: &ProcTask) -> Result<(), Error> {
        self.put(Misc(0), &Record::Comm(Comm { pid: task.pid, tid: task.tid, comm: &task.comm }))
    }

    /// Synthesizes NAMESPACES, if wanted. Values that the kernel does not have or does not show are zero.
    fn namespaces(&mut self, task: &ProcTask) -> Result<(), Error> {
        if !self.wanted.namespaces {
            return Ok(());
        }
        let folder = self.root.join(format!("proc/{}/ns", task.tid));
        let link_info = NAMESPACES.map(|name| {
            let (dev, ino) = match fs::metadata(folder.join(name)) {
                Ok(file) => (file.dev(), file.ino()),
                Err(_) => (0, 0),
            };
            [dev.to_ne_bytes(), ino.to_ne_bytes()]
        });
        // Each namespace is two words: the bytes are a whole number of them.
        let link_info = List::new_in(Endianness::NATIVE, link_info.as_flattened().as_flattened());
        let record = Namespaces { pid: task.pid, tid: task.tid, link_info };
        self.put(Misc(0), &Record::Namespaces(record))
    }

    /// Synthesizes the MMAP2 records of a process if `task` is its first thread.
    ///
    /// perf: `perf_event__synthesize_mmap_events`.
    fn mappings(&mut self, task: &ProcTask) -> Result<(), Error> {
        if task.tid != task.pid || self.wanted.without_mappings {
            return Ok(());
        }
        let Ok(file) = File::open(self.root.join(format!("proc/{}/maps", task.pid))) else { return Ok(()) };
        let unreadable = maps::each(BufReader::new(file), |mapping| self.mapping(task, &mapping))?;
        self.unreadable += unreadable;
        Ok(())
    }

    fn mapping(&mut self, task: &ProcTask, mapping: &ProcMapping<'_>) -> Result<(), Error> {
        let mut misc = Misc::from(CpuMode::USER);
        if mapping.prot & PROT_EXEC == 0 {
            if !self.wanted.data || mapping.prot & PROT_READ == 0 {
                return Ok(());
            }
            misc = misc.union(Misc::MMAP_DATA);
        }
        let mut flags = mapping.flags;
        let is_huge = |mount: &Vec<u8>| {
            let inside = mapping.name.strip_prefix(mount.as_slice());
            inside.is_some_and(|rest| rest.starts_with(b"/"))
        };
        let filename = if self.hugetlbfs.as_ref().is_some_and(is_huge) {
            flags |= MAP_HUGETLB;
            b"//anon"
        } else if mapping.name.is_empty() {
            b"//anon"
        } else if mapping.name.len() > MAX_NAME {
            &b"//toolong"[..]
        } else {
            &mapping.name
        };
        let &ProcMapping { maj, min, ino, .. } = mapping;
        let record = Mmap2 {
            pid: task.pid,
            tid: task.tid,
            addr: mapping.start,
            len: mapping.len,
            pgoff: mapping.pgoff,
            id: FileId::Inode { maj, min, ino, ino_generation: 0 },
            prot_flags: Some((mapping.prot, flags)),
            reading: Reading::Certain,
            filename,
        };
        self.put(misc, &Record::Mmap2(record))
    }

    /// Synthesizes CGROUP records of all cgroups, so that the ids in samples have names.
    ///
    /// perf: `perf_event__synthesize_cgroups`.
    ///
    /// # Errors
    ///
    /// The errors of `sink`.
    pub fn cgroups(&mut self) -> Result<(), Error> {
        for CgroupPath { id, path } in cgroups::all(self.root) {
            self.put(Misc(0), &Record::Cgroup(perf_parse::record::Cgroup { id, path: &path }))?;
        }
        Ok(())
    }

    fn put(&mut self, misc: Misc, record: &Record<'_, NativeEndian>) -> Result<(), Error> {
        self.record.clear();
        let written = write::record(&mut self.record, self.layout, misc, record, &SampleIdFields::default());
        written.map_err(|error| Error::Request(format!("a synthesized record: {error}")))?;
        (self.sink)(&self.record)
    }
}

/// Returns where hugetlbfs is mounted, from `/proc/mounts`. Its files are recorded as memory without a file.
fn hugetlbfs(root: &Path) -> Option<Vec<u8>> {
    let mounts = fs::read(root.join("proc/mounts")).ok()?;
    mounts.split(|&byte| byte == b'\n').find_map(|line| {
        let mut fields = line.split(|&byte| byte == b' ').skip(1);
        let (mount, kind) = (fields.next()?, fields.next()?);
        (kind == b"hugetlbfs").then(|| mount.to_vec())
    })
}
