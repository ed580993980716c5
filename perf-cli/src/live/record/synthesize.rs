//! The records of what ran before the recording.
//!
//! They are those of `perf record`, byte for byte: times are 0, and so is all of the trailer.

use alloc::collections::BTreeSet;
use std::fs::{self, File};
use std::io::BufReader;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use perf_abi::endian::{NativeEndian, U64};
use perf_abi::namespaces::NamespaceLink;
use perf_abi::record::{CpuMode, Misc};
use perf_parse::record::{Comm, FileId, Mmap, Mmap2, Namespaces, Task as Fork};
use perf_parse::write::{self, SampleIdFields};
use perf_parse::{Record, SampleLayout};

use super::kernel;
use super::maps::{self, Mapping, PROT_EXEC, PROT_READ};
use super::processes::{self, Task};
use crate::Failure;

/// `MAP_HUGETLB` of `mmap(2)`, as perf writes it.
const MAP_HUGETLB: u32 = 0x40000;
/// The longest name that the kernel writes.
///
/// Kernel: `PATH_MAX`, without its NUL.
const MAX_NAME: usize = 4095;
/// The namespaces in the order of [`NamespaceIndex`](perf_abi::namespaces::NamespaceIndex).
const NAMESPACES: [&str; 7] = ["net", "uts", "ipc", "pid", "user", "mnt", "cgroup"];

/// Which records are wanted beside those of tasks and of executable mappings.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    /// Mappings that can be read and not executed.
    pub(crate) data: bool,
    /// The namespaces of each task.
    pub(crate) namespaces: bool,
}

/// Makes up records and hands each to `sink`.
///
/// A process that ends meanwhile has fewer records or none; that is no error. Holds one record at a time.
pub(crate) struct Synthesizer<'a> {
    root: &'a Path,
    layout: &'a SampleLayout,
    wanted: Wanted,
    /// Where large pages are mounted.
    hugetlbfs: Option<Vec<u8>>,
    record: Vec<u8>,
    sink: &'a mut dyn FnMut(&[u8]) -> Result<(), Failure>,
    /// Lines of `/proc/PID/maps` that could not be read.
    unreadable: u64,
}

impl<'a> Synthesizer<'a> {
    /// Synthesises what is below `root`, with the trailer of `layout`, which is that of the first event.
    pub(crate) fn new(
        root: &'a Path,
        layout: &'a SampleLayout,
        wanted: Wanted,
        sink: &'a mut dyn FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Self {
        let hugetlbfs = hugetlbfs(root);
        Self { root, layout, wanted, hugetlbfs, record: Vec::new(), sink, unreadable: 0 }
    }

    /// How many lines of `/proc/PID/maps` could not be read, and are missing.
    pub(crate) fn unreadable(&self) -> u64 {
        self.unreadable
    }

    /// The kernel and its modules: MMAP. Whether the kernel tells where it is; it hides that from most users.
    ///
    /// perf: `perf_event__synthesize_kernel_mmap`, `perf_event__synthesize_modules`.
    ///
    /// # Errors
    ///
    /// What `sink` gives.
    pub(crate) fn kernel(&mut self) -> Result<bool, Failure> {
        let misc = Misc::from(CpuMode::KERNEL);
        let text = kernel::text(self.root);
        let is_told = text.is_some();
        if let Some(kernel::Text { symbol, start, len }) = text {
            let filename = format!("[kernel.kallsyms]{symbol}");
            let filename = filename.as_bytes();
            self.put(
                misc,
                &Record::Mmap(Mmap { pid: -1, tid: 0, addr: start, len, pgoff: start, filename }),
            )?;
        }
        for kernel::Module { start, len, file } in kernel::modules(self.root) {
            self.put(
                misc,
                &Record::Mmap(Mmap { pid: -1, tid: 0, addr: start, len, pgoff: 0, filename: &file }),
            )?;
        }
        Ok(is_told)
    }

    /// Every thread of every process: FORK, NAMESPACES, COMM, and behind the first thread's MMAP2.
    ///
    /// perf: `perf_event__synthesize_threads`.
    ///
    /// # Errors
    ///
    /// What `sink` gives.
    pub(crate) fn all(&mut self) -> Result<(), Failure> {
        for pid in processes::all(self.root) {
            for tid in processes::threads(self.root, pid) {
                let folder = self.root.join(format!("proc/{pid}/task/{tid}"));
                let Some(task) = Task::read(&folder, tid) else { continue };
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

    /// The given threads, and the first threads of their processes: COMM, NAMESPACES, and behind a first thread's
    /// MMAP2.
    ///
    /// For whole processes, give all of their [`threads`](processes::threads).
    ///
    /// perf: `perf_event__synthesize_thread_map`, which tells a first thread that is not given once for each that is.
    ///
    /// # Errors
    ///
    /// What `sink` gives.
    pub(crate) fn threads(&mut self, tids: &[i32]) -> Result<(), Failure> {
        let mut told: BTreeSet<i32> = tids.iter().copied().collect();
        for &tid in tids {
            let Some(pid) = self.thread(tid)? else { continue };
            if told.insert(pid) {
                self.thread(pid)?;
            }
        }
        Ok(())
    }

    /// A thread that was asked for; its process, unless it is gone.
    fn thread(&mut self, tid: i32) -> Result<Option<i32>, Failure> {
        let Some(task) = Task::read(&self.root.join(format!("proc/{tid}/task/{tid}")), tid) else {
            return Ok(None);
        };
        self.comm(&task)?;
        self.namespaces(&task)?;
        self.mappings(&task)?;
        Ok(Some(task.pid))
    }

    fn comm(&mut self, task: &Task) -> Result<(), Failure> {
        self.put(Misc(0), &Record::Comm(Comm { pid: task.pid, tid: task.tid, comm: &task.comm }))
    }

    /// NAMESPACES, if they are wanted. Zeros for what the kernel does not have, or does not show.
    fn namespaces(&mut self, task: &Task) -> Result<(), Failure> {
        if !self.wanted.namespaces {
            return Ok(());
        }
        let folder = self.root.join(format!("proc/{}/ns", task.tid));
        let link_info = NAMESPACES.map(|name| {
            let (dev, ino) = match fs::metadata(folder.join(name)) {
                Ok(file) => (file.dev(), file.ino()),
                Err(_) => (0, 0),
            };
            NamespaceLink { dev: U64::new(dev), ino: U64::new(ino) }
        });
        let record = Namespaces { pid: task.pid, tid: task.tid, link_info: &link_info };
        self.put(Misc(0), &Record::Namespaces(record))
    }

    /// MMAP2 of a process, behind its first thread.
    ///
    /// perf: `perf_event__synthesize_mmap_events`.
    fn mappings(&mut self, task: &Task) -> Result<(), Failure> {
        if task.tid != task.pid {
            return Ok(());
        }
        let Ok(file) = File::open(self.root.join(format!("proc/{}/maps", task.pid))) else { return Ok(()) };
        let unreadable = maps::each(BufReader::new(file), |mapping| self.mapping(task, &mapping))?;
        self.unreadable += unreadable;
        Ok(())
    }

    fn mapping(&mut self, task: &Task, mapping: &Mapping<'_>) -> Result<(), Failure> {
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
        let &Mapping { maj, min, ino, .. } = mapping;
        let record = Mmap2 {
            pid: task.pid,
            tid: task.tid,
            addr: mapping.start,
            len: mapping.len,
            pgoff: mapping.pgoff,
            id: FileId::Inode { maj, min, ino, ino_generation: 0 },
            prot_flags: Some((mapping.prot, flags)),
            filename,
        };
        self.put(misc, &Record::Mmap2(record))
    }

    fn put(&mut self, misc: Misc, record: &Record<'_, NativeEndian>) -> Result<(), Failure> {
        self.record.clear();
        write::record(&mut self.record, self.layout, misc, record, &SampleIdFields::default())?;
        (self.sink)(&self.record)
    }
}

/// Where large pages are mounted, by `/proc/mounts`: files there are memory without a file.
fn hugetlbfs(root: &Path) -> Option<Vec<u8>> {
    let mounts = fs::read(root.join("proc/mounts")).ok()?;
    mounts.split(|&byte| byte == b'\n').find_map(|line| {
        let mut fields = line.split(|&byte| byte == b' ').skip(1);
        let (mount, kind) = (fields.next()?, fields.next()?);
        (kind == b"hugetlbfs").then(|| mount.to_vec())
    })
}
