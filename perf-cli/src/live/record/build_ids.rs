//! The build ids of the files that a recording refers to.

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::BufReader;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use perf_abi::callchain::CallchainContext;
use perf_abi::endian::{ByteOrder, Endian};
use perf_abi::record::{CpuMode, Misc};
use perf_parse::feature::{BuildId, Entries, FeatureData};
use perf_parse::file::write::{FeaturePayloads, WriteFileError};
use perf_parse::sample::Frame;
use perf_parse::{Record, Sample};

use super::{elf, kernel, maps};

/// perf's name of the kernel.
const KERNEL: &[u8] = b"[kernel.kallsyms]";
const VDSO: &[u8] = b"[vdso]";

/// Finds the files whose build ids are needed, from the records of a capture in time order.
///
/// perf: `process_buildids`, `tools/perf/builtin-record.c`.
pub(crate) struct Collector {
    /// Whether all mapped files are needed, rather than only those that samples hit.
    all: bool,
    files: Vec<Mapped>,
    by_name: HashMap<(CpuMode, Vec<u8>), usize>,
    modules: Map,
    processes: HashMap<i32, Process>,
}

/// A file that was mapped, or the kernel's name of memory without a file.
struct Mapped {
    name: Vec<u8>,
    /// Whether the mapping belongs to the kernel or to a program.
    mode: CpuMode,
    /// The first process that mapped it.
    pid: i32,
    /// The build id, if the kernel reported it.
    build_id: Option<Vec<u8>>,
    is_meant: bool,
}

/// A process: its threads, and its mappings, which it shares with its parent until one of the two changes them.
#[derive(Default)]
struct Process {
    map: Rc<Map>,
    threads: HashSet<i32>,
}

/// Ranges of addresses that do not overlap, each with the index of its file.
#[derive(Clone, Default)]
struct Map(BTreeMap<u64, (u64, usize)>);

impl Collector {
    /// Collects all mapped files if `all`. Otherwise only those that samples and their call chains hit, and the vdso.
    pub(crate) fn new(all: bool) -> Self {
        let mut collector = Self {
            all,
            files: Vec::new(),
            by_name: HashMap::new(),
            modules: Map::default(),
            processes: HashMap::new(),
        };
        collector.file(CpuMode::KERNEL, -1, KERNEL);
        collector
    }

    /// Processes a record.
    pub(crate) fn record<O: ByteOrder>(&mut self, misc: Misc, record: &Record<'_, O>) {
        match record {
            Record::Mmap(it) => self.mapped(misc, it.pid, (it.addr, it.len), it.filename, None),
            Record::Mmap2(it) => {
                self.mapped(misc, it.pid, (it.addr, it.len), it.filename, it.id.build_id());
            }
            Record::Comm(it) => {
                let process = self.processes.entry(it.pid).or_default();
                process.threads.insert(it.tid);
                if misc.contains(Misc::COMM_EXEC) {
                    process.map = Rc::default();
                }
            }
            Record::Fork(it) => {
                // A synthesized FORK is followed by records of the task's own mappings.
                if it.pid != it.ppid && !misc.contains(Misc::FORK_EXEC) {
                    let map = self.processes.get(&it.ppid).map(|parent| Rc::clone(&parent.map));
                    self.processes.entry(it.pid).or_default().map = map.unwrap_or_default();
                }
                self.processes.entry(it.pid).or_default().threads.insert(it.tid);
            }
            Record::Exit(it) => {
                if let Some(process) = self.processes.get_mut(&it.pid) {
                    process.threads.remove(&it.tid);
                    if process.threads.is_empty() {
                        self.processes.remove(&it.pid);
                    }
                }
            }
            Record::Sample(it) if !self.all => self.sample(misc.cpumode(), it),
            _ => {}
        }
    }

    fn mapped(
        &mut self,
        misc: Misc,
        pid: i32,
        (start, len): (u64, u64),
        name: &[u8],
        build_id: Option<&[u8]>,
    ) {
        let mode = misc.cpumode();
        let is_kernel = mode == CpuMode::KERNEL;
        // The symbol after the name depends on where the kernel was loaded.
        let name = if is_kernel && name.starts_with(KERNEL) { KERNEL } else { name };
        let file = self.file(mode, pid, name);
        let mapped = &mut self.files[file];
        // perf includes the vdso wherever it is mapped. Its build id cannot be read later, unlike that of a file.
        mapped.is_meant |= self.all || name == VDSO;
        if let Some(build_id) = build_id {
            mapped.build_id = Some(build_id.to_vec());
        }
        if !self.all && name != KERNEL {
            let map = if is_kernel {
                &mut self.modules
            } else {
                Rc::make_mut(&mut self.processes.entry(pid).or_default().map)
            };
            map.insert(start, start.saturating_add(len), file);
        }
    }

    /// Returns the index of a file; adds it if it is new.
    fn file(&mut self, mode: CpuMode, pid: i32, name: &[u8]) -> usize {
        let next = self.files.len();
        let index = *self.by_name.entry((mode, name.to_vec())).or_insert(next);
        if index == next {
            let name = name.to_vec();
            self.files.push(Mapped { name, mode, pid, build_id: None, is_meant: false });
        }
        index
    }

    fn sample<O: ByteOrder>(&mut self, mode: CpuMode, sample: &Sample<'_, O>) {
        let pid = sample.pid().unwrap_or(-1);
        if let Some(ip) = sample.ip() {
            self.hit(mode, pid, ip);
        }
        let Ok(Some(callchain)) = sample.callchain() else { return };
        for frame in callchain.frames() {
            match frame {
                Frame::Ip { ip, context: Some(CallchainContext::KERNEL) } => {
                    self.hit(CpuMode::KERNEL, pid, ip);
                }
                Frame::Ip { ip, context: Some(CallchainContext::USER) } => self.hit(CpuMode::USER, pid, ip),
                _ => {}
            }
        }
    }

    fn hit(&mut self, mode: CpuMode, pid: i32, ip: u64) {
        let file = match mode {
            // An address in no module is in the kernel.
            CpuMode::KERNEL => Some(self.modules.find(ip).unwrap_or(0)),
            CpuMode::USER => self.processes.get(&pid).and_then(|process| process.map.find(ip)),
            _ => None,
        };
        if let Some(file) = file {
            self.files[file].is_meant = true;
        }
    }

    /// Reads the build ids and adds them to `features`, unless there are none.
    ///
    /// Looks up files in the root folder of the process that mapped them. If the process has ended, looks them up below
    /// `root`.
    ///
    /// # Errors
    ///
    /// The same as [`FeaturePayloads::set`].
    pub(crate) fn finish<O: Endian>(
        self,
        root: &Path,
        features: &mut FeaturePayloads<O>,
    ) -> Result<(), WriteFileError> {
        let meant = self.files.iter().filter(|file| file.is_meant);
        let with_build_ids: Vec<_> = meant.filter_map(|file| Some((file, file.read(root)?))).collect();
        let entries = with_build_ids.iter().map(|(file, build_id)| {
            let misc = Misc::from(file.mode);
            BuildId { misc, pid: -1, build_id, filename: &file.name }
        });
        let entries: Vec<_> = entries.collect();
        if entries.is_empty() {
            return Ok(());
        }
        features.set(&FeatureData::BuildId(Entries::from(&entries)))
    }
}

impl Mapped {
    fn read(&self, root: &Path) -> Option<Vec<u8>> {
        if let Some(build_id) = &self.build_id {
            return Some(build_id.clone());
        }
        match (self.mode, self.name.as_slice()) {
            (CpuMode::KERNEL, KERNEL) => elf::of_notes(&fs::read(root.join("sys/kernel/notes")).ok()?),
            (CpuMode::KERNEL, file) => {
                let name = kernel::module_name(file);
                let folder = root.join("sys/module").join(OsStr::from_bytes(&name));
                elf::of_notes(&fs::read(folder.join("notes/.note.gnu.build-id")).ok()?)
            }
            (CpuMode::USER, VDSO) => vdso(),
            (CpuMode::USER, [b'/', path @ ..]) if !path.starts_with(b"/") => {
                let path = OsStr::from_bytes(path);
                let its_own: PathBuf = root.join(format!("proc/{}/root", self.pid));
                elf::of_file(&its_own.join(path)).or_else(|| elf::of_file(&root.join(path)))
            }
            _ => None,
        }
    }
}

/// Returns the build id of this program's vdso. All 64-bit programs have the same vdso.
fn vdso() -> Option<Vec<u8>> {
    let mut start = None;
    let file = BufReader::new(File::open("/proc/self/maps").ok()?);
    let Ok(_) = maps::each(file, |mapping| {
        if mapping.name == VDSO {
            start = Some(mapping.start);
        }
        Ok::<_, core::convert::Infallible>(())
    });
    let start: u64 = start?;
    let memory = File::open("/proc/self/mem").ok()?;
    elf::of_image(&|offset, len| {
        let mut bytes = vec![0; len];
        memory.read_exact_at(&mut bytes, start.checked_add(offset)?).ok()?;
        Some(bytes)
    })
}

impl Map {
    /// Inserts a range. It replaces what overlaps it.
    fn insert(&mut self, start: u64, end: u64, file: usize) {
        if start >= end {
            return;
        }
        let before = self.0.range(..start).next_back().map(|(&from, &range)| (from, range));
        let inside: Vec<_> = self.0.range(start..end).map(|(&from, &range)| (from, range)).collect();
        for (from, (to, other)) in before.into_iter().chain(inside) {
            if to <= start {
                continue;
            }
            self.0.remove(&from);
            if from < start {
                self.0.insert(from, (start, other));
            }
            if to > end {
                self.0.insert(end, (to, other));
            }
        }
        self.0.insert(start, (end, file));
    }

    /// Returns the file at an address.
    fn find(&self, address: u64) -> Option<usize> {
        let (_, &(end, file)) = self.0.range(..=address).next_back()?;
        (address < end).then_some(file)
    }
}
