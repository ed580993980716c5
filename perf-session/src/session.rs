//! The state that the records of a capture describe, up to the last one.

mod sample_context;
mod simpleperf;

use alloc::sync::Arc;

use perf_abi::feature::Feature;
use perf_abi::record::{CpuMode, Misc, RecordType};
use perf_parse::feature::{FeatureData, Features};
use perf_parse::record::{FileId, SplitJoiner, UserRecord, user};
use perf_parse::{EventRecord, FileError, Record, Sample};

use crate::build_ids::{BuildId, BuildIds};
use crate::cgroups::Cgroups;
use crate::dso::{Dso, DsoKind, Dsos, JIT_SYMFILE, PROT_EXEC, PROTECTIONS, VDSO};
use crate::kernel::KernelMmap;
use crate::kernel_names::KERNEL;
use crate::ledger::ChangeNote;
use crate::limits::SessionLimits;
use crate::machine::Machine;
use crate::machines::{Machines, is_guest};
use crate::map::Mapping;
use crate::maps::Maps;
use crate::recorded_file::RecordedFiles;
use crate::remapped;
use crate::spaces::AddressSpaces;
use crate::thread::Thread;
pub use sample_context::SampleContext;

/// What is known of the processes, threads, mappings and files of a capture, up to the last record that it got. See the
/// [crate docs](crate) for an example.
///
/// perf: `struct perf_session`, `struct machines`.
#[derive(Clone, Debug)]
pub struct Session {
    pub(crate) machines: Machines,
    dsos: Dsos,
    build_ids: BuildIds,
    cgroups: Cgroups,
    /// The files that the capture has symbols of. Shared, as clones of a session seldom add any.
    recorded: Arc<RecordedFiles>,
    split: SplitJoiner,
    /// Whether the capture says that its machine has 32 bits.
    is_32_bit: bool,
    is_of_simpleperf: bool,
    failed_unwinds: u64,
    limits: SessionLimits,
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

impl Session {
    /// Creates a session that knows nothing, with the default [`SessionLimits`].
    #[must_use]
    pub fn new() -> Self {
        Self::within(&SessionLimits::default())
    }

    /// Creates a session that knows nothing, with the given limits.
    #[must_use]
    pub fn within(limits: &SessionLimits) -> Self {
        let mut session = Self {
            machines: Machines::default(),
            dsos: Dsos::default(),
            build_ids: BuildIds::default(),
            cgroups: Cgroups::default(),
            recorded: Arc::default(),
            split: SplitJoiner::new(),
            is_32_bit: false,
            is_of_simpleperf: false,
            failed_unwinds: 0,
            limits: *limits,
        };
        // The idle threads of all CPUs. No record says so.
        let (host, ledger) = session.machines.of_mut(CpuMode::KERNEL, 0);
        host.set_comm(ledger, 0, 0, b"swapper", false);
        session
    }

    /// Adds what the features of a capture say: the build ids of its files, and whether its machine has 32 bits. Features
    /// that cannot be decoded are skipped. Call it before [`update`](Self::update).
    pub fn add_features(&mut self, features: &Features<'_>) {
        if let Ok(Some(machine)) = features.arch() {
            self.is_32_bit = is_32_bit(&machine);
        }
        self.add_recorded(features);
        let Some(section) = features.get(Feature::BUILD_ID) else { return };
        if let Ok(FeatureData::BuildId(ids)) = section.decode() {
            for id in ids.iter().filter(|id| !is_guest(id.cpumode())) {
                self.build_ids.add(&id, self.limits.build_ids);
            }
        }
    }

    /// Applies a record. Call it with each record of the capture, in time order, samples included.
    ///
    /// Costs a lookup of the thread for a sample. Records that say nothing about processes cost nothing.
    ///
    /// # Errors
    ///
    /// Those of [`EventRecord::decode`]. The state is then as before.
    #[inline]
    pub fn update(&mut self, record: &EventRecord<'_>) -> Result<(), FileError> {
        self.update_at(record).map(drop)
    }

    /// Applies a record as [`update`](Self::update) does, and returns where it was taken as [`at`](Self::at) does. Decodes
    /// a sample once, and so is faster than one call after the other.
    ///
    /// # Errors
    ///
    /// Those of [`update`](Self::update).
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::Reader;
    /// use perf_session::Session;
    ///
    /// # let path = "examples/captures/plain.data";
    /// let reader = Reader::open(path)?;
    /// let mut session = Session::new();
    /// let mut samples = 0;
    /// for record in reader.records().in_time_order() {
    ///     if let Some(at) = session.update_at(&record?)? {
    ///         assert!(at.thread().tid() >= -1);
    ///         samples += 1;
    ///     }
    /// }
    /// assert!(samples > 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    // Always, as its result is large, and a call would write it to memory.
    #[inline(always)]
    pub fn update_at<'s, 'r>(
        &'s mut self,
        record: &'r EventRecord<'r>,
    ) -> Result<Option<SampleContext<'s, 'r>>, FileError> {
        if record.kind() != RecordType::SAMPLE {
            return self.apply(record).map(|()| None);
        }
        let Some(sample) = record.sample() else { return record.decode().map(|_| None) };
        let (pid, tid) = ids_of(&sample);
        let mode = record.misc().cpumode();
        let (machine, ledger) = self.machines.of_mut(mode, pid);
        let is_user_code = mode == CpuMode::USER || mode == CpuMode::GUEST_USER;
        let place = machine.see_sample(ledger, pid, tid, is_user_code, sample.ip());
        let thread = |machine: &'s Machine| machine.thread_at(place?);
        Ok(self.at_thread(record, sample, mode, pid, thread))
    }

    /// Applies a record that is not a sample.
    #[inline(never)]
    fn apply(&mut self, record: &EventRecord<'_>) -> Result<(), FileError> {
        let misc = record.misc();
        match record.kind() {
            RecordType::MMAP
            | RecordType::MMAP2
            | RecordType::COMM
            | RecordType::FORK
            | RecordType::EXIT
            | RecordType::KSYMBOL
            | RecordType::CGROUP
            | RecordType::HEADER_BUILD_ID => {}
            kind if kind.is_simpleperf() => return self.apply_of_simpleperf(record),
            _ => return Ok(()),
        }
        self.apply_decoded(misc, record.decode()?);
        Ok(())
    }

    fn apply_decoded(&mut self, misc: Misc, record: Record<'_>) {
        let mode = misc.cpumode();
        // The protection of a record that has one bit for it.
        let of_misc = if misc.contains(Misc::MMAP_DATA) { 0 } else { PROT_EXEC };
        match record {
            Record::Mmap(it) => {
                let map = ProcessMmap {
                    addr: it.addr,
                    len: it.len,
                    pgoff: it.pgoff,
                    id: None,
                    prot: of_misc,
                    flags: 0,
                };
                self.map(mode, it.pid, it.tid, &map, it.filename);
            }
            Record::Mmap2(it) => {
                let (prot, flags) = it.prot_flags.unwrap_or((of_misc, 0));
                let prot = match prot & !PROTECTIONS {
                    0 => prot,
                    JIT_SYMFILE => of_misc | JIT_SYMFILE,
                    _ => of_misc,
                };
                let map =
                    ProcessMmap { addr: it.addr, len: it.len, pgoff: it.pgoff, id: Some(it.id), prot, flags };
                self.map(mode, it.pid, it.tid, &map, it.filename);
            }
            Record::Comm(it) => {
                let is_exec = misc.contains(Misc::COMM_EXEC);
                let (machine, ledger) = self.machines.of_mut(mode, it.pid);
                machine.set_comm(ledger, it.pid, it.tid, it.comm, is_exec);
            }
            Record::Fork(it) => {
                let (machine, ledger) = self.machines.of_mut(mode, it.pid);
                machine.fork(ledger, &it, misc.contains(Misc::FORK_EXEC));
            }
            Record::Exit(it) => self.machines.exit(mode, it.pid, it.tid, self.limits.exited),
            Record::Ksymbol(it) => {
                let Machines { host, ledger, .. } = &mut self.machines;
                host.kernel.symbol(&mut self.dsos, ledger, &it);
            }
            Record::Cgroup(it) => self.name_cgroup(it.id, it.path),
            Record::User(UserRecord::HeaderBuildId(it), _) if !is_guest(it.cpumode()) => {
                self.list_build_id(&it);
            }
            _ => {}
        }
    }

    fn name_cgroup(&mut self, id: u64, path: &[u8]) {
        if self.cgroups.add(id, path, self.limits.cgroups) {
            self.machines.ledger.note(|| ChangeNote::Cgroup(id));
        }
    }

    fn list_build_id(&mut self, entry: &user::BuildId<'_>) {
        if self.build_ids.add(entry, self.limits.build_ids) {
            self.machines.ledger.note(|| ChangeNote::BuildId(entry.filename.to_vec()));
        }
    }

    fn map(&mut self, mode: CpuMode, pid: i32, tid: i32, map: &ProcessMmap, filename: &[u8]) {
        let ProcessMmap { addr, len, pgoff, id, prot, flags } = *map;
        if mode == CpuMode::KERNEL || mode == CpuMode::GUEST_KERNEL {
            let (machine, ledger) = self.machines.of_mut(mode, pid);
            let record = KernelMmap { guest: machine.guest, addr, len, pgoff, id, filename };
            return machine.kernel.map(&mut self.dsos, ledger, &record);
        }
        let dso = match filename {
            VDSO if addr <= LAST_32_BIT && !self.is_32_bit => Dso::vdso32(id),
            _ => Dso::of_process((pid, addr), filename, id, prot, flags),
        };
        let end = addr.saturating_add(len);
        let dso = if dso.kind() == DsoKind::Memory && prot & PROT_EXEC != 0 {
            let maps = self.machines.of(mode, pid).and_then(|machine| machine.maps_of_ids(pid, tid));
            dso.over(maps.and_then(|maps| remapped::file_below(maps, addr..end)))
        } else {
            dso
        };
        let dso = self.dsos.intern(dso);
        // The kernel's own offsets in it mean nothing.
        let pgoff = if dso.kind() == DsoKind::Vdso { 0 } else { pgoff };
        let mapping = Mapping { start: addr, end, pgoff, prot, flags, dso };
        let (machine, ledger) = self.machines.of_mut(mode, pid);
        machine.map(ledger, pid, tid, mapping);
    }

    /// Returns where a sample was taken; `None` for every other record. [`update`](Self::update) must have got the
    /// sample, and no later record of its thread.
    #[must_use]
    #[inline]
    pub fn at<'s, 'r>(&'s self, record: &'r EventRecord<'r>) -> Option<SampleContext<'s, 'r>> {
        let sample = record.sample()?;
        let (pid, tid) = ids_of(&sample);
        let mode = record.misc().cpumode();
        self.at_thread(record, sample, mode, pid, |machine| machine.thread(tid))
    }

    /// Returns where a sample of a thread was taken.
    #[inline(always)]
    fn at_thread<'s, 'r>(
        &'s self,
        record: &'r EventRecord<'r>,
        sample: Sample<'r>,
        mode: CpuMode,
        pid: i32,
        thread: impl FnOnce(&'s Machine) -> Option<&'s Thread>,
    ) -> Option<SampleContext<'s, 'r>> {
        let machine = self.machines.of(mode, pid)?;
        let thread = thread(machine)?;
        let spaces = AddressSpaces { host: &self.machines.host, machine, thread };
        Some(SampleContext { session: self, spaces, record, sample, mode })
    }

    /// Returns a thread of the host; `None` if no record had it, or if it was dropped after its exit.
    #[must_use]
    pub fn thread(&self, tid: i32) -> Option<&Thread> {
        self.machines.host.thread(tid)
    }

    /// Returns the threads of the host that are known, in ascending order of their ids.
    pub fn threads(&self) -> impl Iterator<Item = &Thread> {
        self.machines.host.threads()
    }

    /// Returns the mappings of a thread of the host; `None` for a thread that is not known any more.
    #[must_use]
    pub fn maps(&self, thread: &Thread) -> Option<&Maps> {
        self.machines.host.maps_of(thread)
    }

    /// Returns what the process of a thread of the host had mapped before its last exec, until the new image runs; `None` after
    /// that. Samples of the kernel [find](SampleContext::find) them until then.
    #[must_use]
    pub fn maps_before_exec(&self, thread: &Thread) -> Option<&Maps> {
        self.machines.host.maps_before_exec(thread).filter(|maps| !maps.is_empty())
    }

    /// Returns the mappings of the host's kernel.
    #[must_use]
    pub fn kernel_maps(&self) -> &Maps {
        &self.machines.host.kernel.maps
    }

    /// Returns the name of a symbol of the host's kernel and its address while the capture was recorded. The difference
    /// to its address in a file is by how much the kernel was moved. `None` if the capture does not have it.
    #[must_use]
    pub fn kernel_relocation(&self) -> Option<(&[u8], u64)> {
        self.machines.host.kernel.relocation.as_ref().map(|(name, addr)| (name.as_slice(), *addr))
    }

    /// Returns the path of the host's kernel in the list of build ids, such as `/usr/lib/debug/boot/vmlinux-6.1.0`:
    /// the file that perf had found when it wrote the list, otherwise `[kernel.kallsyms]`. `None` if the list does not have
    /// the kernel.
    ///
    /// perf: `machine__write_buildid_table`, `tools/perf/util/build-id.c`.
    #[must_use]
    pub fn kernel_path(&self) -> Option<&[u8]> {
        self.build_ids.kernel.as_deref()
    }

    /// Returns the path of a cgroup in its hierarchy, by the id that samples have; `None` if no record had it.
    #[must_use]
    pub fn cgroup(&self, id: u64) -> Option<&[u8]> {
        self.cgroups.get(id)
    }

    /// Returns the number of cgroups whose paths were dropped: see [`SessionLimits::cgroups`].
    #[must_use]
    pub fn dropped_cgroups(&self) -> u64 {
        self.cgroups.dropped
    }

    /// Returns the number of threads, processes, files, cgroups and build ids that a clone of the session copies; mappings
    /// are shared. Takes constant time, and with guests a time in proportion to their number.
    #[must_use]
    pub fn entries(&self) -> usize {
        let lists = [self.dsos.len(), self.cgroups.len(), self.build_ids.len()];
        lists.into_iter().fold(self.machines.entries(), usize::saturating_add)
    }

    /// Returns a session that knows the same, and the DSOs of `later`: a state of the same session after further records. If
    /// these are applied again, mappings have the same DSOs as in `later`, not only equal ones. For threads that work on parts
    /// of a capture.
    ///
    /// Takes time for each DSO of `later` if it has more or fewer.
    #[must_use]
    pub fn with_dsos_of(self, later: &Self) -> Self {
        if self.dsos.len() == later.dsos.len() {
            return self;
        }
        Self { dsos: later.dsos.clone(), ..self }
    }

    /// Returns the build id of what is mapped: that of its MMAP2 record, or that which the capture lists for its path, for
    /// the kernel also that of [its path](Self::kernel_path) in the list. `None` if the capture has none, or lists several
    /// for the path.
    #[must_use]
    pub fn build_id(&self, dso: &Dso) -> Option<BuildId> {
        let by_path = || match dso.kind() {
            // The path of the vDSO of a 32-bit process is that of another one.
            DsoKind::Vdso => None,
            _ => self.build_ids.get(dso.path()),
        };
        // The list of build ids has the host's kernel alone.
        let of_kernel = || {
            let path = self.kernel_path().filter(|_| dso.name() == KERNEL)?;
            self.build_ids.get(path)
        };
        let by_name = || self.build_ids.get(dso.name());
        dso.build_id().or_else(by_path).or_else(by_name).or_else(of_kernel)
    }

    /// Returns the number of build ids that were dropped: see [`SessionLimits::build_ids`].
    #[must_use]
    pub fn dropped_build_ids(&self) -> u64 {
        self.build_ids.dropped
    }
}

/// The last address of a 32-bit process. A 64-bit kernel maps the vDSO of other processes far above it.
const LAST_32_BIT: u64 = u32::MAX as u64;

/// Returns whether `uname -m` prints this on a 32-bit machine.
fn is_32_bit(machine: &[u8]) -> bool {
    const STARTS: [&[u8]; 4] = [b"i386", b"i486", b"i586", b"i686"];
    let is_arm = machine.starts_with(b"arm") && !machine.starts_with(b"arm64");
    let others: [&[u8]; 7] = [b"ppc", b"mips", b"s390", b"riscv32", b"sparc", b"parisc", b"csky"];
    is_arm || STARTS.contains(&machine) || others.contains(&machine)
}

/// An MMAP or MMAP2 record without its ids and its name.
struct ProcessMmap {
    addr: u64,
    len: u64,
    pgoff: u64,
    id: Option<FileId>,
    prot: u32,
    flags: u32,
}

/// Returns the process id and the thread id of a sample; -1 if they were not recorded.
fn ids_of(sample: &Sample<'_>) -> (i32, i32) {
    (sample.pid().unwrap_or(-1), sample.tid().unwrap_or(-1))
}
