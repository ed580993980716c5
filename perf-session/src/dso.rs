//! Mapped objects: files, memory without a file, and the parts of a kernel.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use perf_abi::ksymbol::KsymbolType;
use perf_parse::record::FileId;

use crate::build_ids::BuildId;
use crate::first_mapping::{FirstMapping, Unidentifying};
use crate::kernel_names::module_stem;

/// What is mapped at some addresses: a file, memory without a file, or a part of a kernel.
///
/// Two of them are the same if all that was recorded of them is the same: the path, and the build id or else device,
/// inode and generation. So two files that had one path at two times are two.
///
/// perf: `struct dso`, `tools/perf/util/dso.h`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dso {
    name: Vec<u8>,
    path: Option<Vec<u8>>,
    kind: DsoKind,
    build_id: Option<BuildId>,
    inode: Option<Inode>,
    first: Unidentifying,
    /// The mapping of a file that this memory was laid over. Here, as few mappings have one.
    code: Option<Arc<RemappedCode>>,
}

/// The executable mapping of a file that memory was laid over.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RemappedCode {
    pub(crate) dso: Arc<Dso>,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) pgoff: u64,
    pub(crate) prot: u32,
    pub(crate) flags: u32,
}

/// The kind of a [`Dso`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DsoKind {
    /// A file, by its path; also what has only a name, such as `anon_inode:[perf_event]`.
    File,
    /// Memory without a file: `//anon`, `/dev/zero`, huge pages, `[heap]`, `[stack]` and System V shared memory. If it is
    /// executable, it has generated code, and the name is `/tmp/perf-PID.map`: the file in which a program may name the
    /// code, as perf's tools agree on.
    Memory,
    /// `[vdso]`, the code that the kernel maps into each process; `[vdso32]` in a 32-bit process of a 64-bit machine, whose
    /// code is another one.
    Vdso,
    /// `[vsyscall]`, a page at a fixed address of x86.
    Vsyscall,
    /// The text of the kernel.
    Kernel,
    /// A module of the kernel.
    Module,
    /// Code of the kernel that a KSYMBOL record registered: a BPF program, or code outside of the kernel's text.
    Ksymbol(KsymbolType),
}

impl DsoKind {
    /// Returns whether it is code of the kernel: of its image, a module, or a program that it loaded.
    #[must_use]
    pub fn is_kernel(self) -> bool {
        matches!(self, Self::Kernel | Self::Module | Self::Ksymbol(_))
    }
}

/// The identity of a file on the machine that recorded the capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Inode {
    /// Major number of the device.
    pub maj: u32,
    /// Minor number of the device.
    pub min: u32,
    /// Number of the inode.
    pub ino: u64,
    /// Generation of the inode.
    pub ino_generation: u64,
}

impl Dso {
    /// Returns the name, as perf prints it: the path of a file, `[kernel.kallsyms]`, `[ext4]`, `[vdso]`,
    /// `/tmp/perf-1234.map` or the name of a BPF program. As simpleperf prints it: `[JIT app cache]`.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// Returns the recorded path, if it differs from the name: that of a module, `//anon`, or that of symbols that simpleperf
    /// copied. Otherwise the name.
    #[must_use]
    pub fn path(&self) -> &[u8] {
        self.path.as_ref().unwrap_or(&self.name)
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> DsoKind {
        self.kind
    }

    /// Returns the build id that the MMAP2 record has; `None` if it has none.
    /// [`Session::build_id`](crate::Session::build_id) knows those of other records, too.
    #[must_use]
    pub fn build_id(&self) -> Option<BuildId> {
        self.build_id
    }

    /// Returns device, inode and generation; `None` for a record without them.
    #[must_use]
    pub fn inode(&self) -> Option<Inode> {
        self.inode
    }

    /// Returns the first mapping of it by a process; `None` for the kernel and what it registered. It does not distinguish
    /// DSOs: of two that are equal, one may have the mapping of an earlier record.
    #[must_use]
    pub fn first_mapping(&self) -> Option<FirstMapping> {
        self.first.0
    }

    /// Returns the file whose code this executable memory was laid over, as programs do that move their code to large pages; `None`
    /// for all others. [`Mapping::remapped`](crate::Mapping::remapped) has the addresses.
    #[must_use]
    pub fn laid_over(&self) -> Option<&Arc<Self>> {
        Some(&self.code.as_ref()?.dso)
    }

    /// Returns the mapping of a file that this memory was laid over.
    pub(crate) fn code(&self) -> Option<&Arc<RemappedCode>> {
        self.code.as_ref()
    }

    /// Returns the same memory, which was laid over the mapping of a file.
    pub(crate) fn over(self, code: Option<Arc<RemappedCode>>) -> Self {
        Self { code, ..self }
    }

    /// Returns a file that is stored in this one, which is an archive, by its path there. The path is `ARCHIVE!/PATH`, as Android
    /// and simpleperf have it; the inode is that of the archive. It equals the DSO that simpleperf's records of the file make,
    /// if they have the inode.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # fn of(apk: &perf_session::Dso) {
    /// assert_eq!(apk.name(), b"/data/app/a/base.apk");
    /// assert_eq!(apk.stored(b"lib/arm64-v8a/b.so").name(), b"/data/app/a/base.apk!/lib/arm64-v8a/b.so");
    /// # }
    /// ```
    #[must_use]
    pub fn stored(&self, path: &[u8]) -> Self {
        let name = [self.path(), b"!/", path].concat();
        Self { name, path: None, kind: DsoKind::File, build_id: None, code: None, ..self.clone() }
    }

    /// Returns whether an address in it has an offset in a file.
    pub(crate) fn has_offsets(&self) -> bool {
        !matches!(self.kind, DsoKind::Memory | DsoKind::Kernel)
    }

    /// What a process has mapped.
    pub(crate) fn of_process(
        (pid, start): (i32, u64),
        filename: &[u8],
        id: Option<FileId>,
        prot: u32,
        flags: u32,
    ) -> Self {
        let is_memory = is_anonymous(filename) || flags & MAP_HUGETLB != 0 || has_no_file(filename);
        let kind = match filename {
            VDSO => DsoKind::Vdso,
            b"[vsyscall]" => DsoKind::Vsyscall,
            _ if is_memory => DsoKind::Memory,
            _ => DsoKind::File,
        };
        let (mut name, mut path) = (Vec::from(filename), None);
        if kind == DsoKind::Memory && prot & PROT_EXEC != 0 {
            path = Some(core::mem::replace(&mut name, format!("/tmp/perf-{pid}.map").into_bytes()));
        } else if let Some(cache) = jit_cache(filename).filter(|_| prot & JIT_SYMFILE != 0) {
            path = Some(core::mem::replace(&mut name, Vec::from(cache)));
        }
        let (build_id, inode) = identity(id);
        // Memory has no identity but its name.
        let inode = inode.filter(|_| kind == DsoKind::File);
        let first = Unidentifying(Some(FirstMapping { pid, start }));
        Self { name, path, kind, build_id, inode, first, code: None }
    }

    /// The vDSO of a 32-bit process of a 64-bit machine.
    ///
    /// perf: `DSO__NAME_VDSO32`, `tools/perf/util/vdso.c`.
    pub(crate) fn vdso32(id: Option<FileId>) -> Self {
        let (name, path) = (Vec::from(VDSO32), Some(Vec::from(VDSO)));
        Self {
            name,
            path,
            kind: DsoKind::Vdso,
            build_id: identity(id).0,
            inode: None,
            first: Unidentifying::default(),
            code: None,
        }
    }

    /// The text of a kernel.
    pub(crate) fn kernel(name: &[u8], id: Option<FileId>) -> Self {
        let build_id = identity(id).0;
        Self {
            name: Vec::from(name),
            path: None,
            kind: DsoKind::Kernel,
            build_id,
            inode: None,
            first: Unidentifying::default(),
            code: None,
        }
    }

    /// A module, by its path or by its name in brackets.
    pub(crate) fn module(path: &[u8], id: Option<FileId>) -> Self {
        let name = module_name(path);
        let path = (name != path).then(|| Vec::from(path));
        Self {
            name,
            path,
            kind: DsoKind::Module,
            build_id: identity(id).0,
            inode: None,
            first: Unidentifying::default(),
            code: None,
        }
    }

    pub(crate) fn ksymbol(name: &[u8], kind: KsymbolType) -> Self {
        let kind = DsoKind::Ksymbol(kind);
        Self {
            name: Vec::from(name),
            path: None,
            kind,
            build_id: None,
            inode: None,
            first: Unidentifying::default(),
            code: None,
        }
    }
}

/// The kernel's name of its code in each process.
pub(crate) const VDSO: &[u8] = b"[vdso]";
/// perf's name of that code in a 32-bit process of a 64-bit machine.
const VDSO32: &[u8] = b"[vdso32]";

/// Kernel: `PROT_EXEC`, `include/uapi/asm-generic/mman-common.h`.
pub(crate) const PROT_EXEC: u32 = 4;

/// simpleperf: `PROT_JIT_SYMFILE_MAP`, `system/extras/simpleperf/thread_tree.h`.
pub(crate) const JIT_SYMFILE: u32 = 0x4000;

/// The bits of protections: the common ones, those of architectures, `PROT_GROWSDOWN` and `PROT_GROWSUP`. Writers store
/// other values in their place: `perf inject --jit` the mode of the file, simpleperf 0x4000 for code of a JIT.
pub(crate) const PROTECTIONS: u32 = 0x0300_00ff;

/// Kernel: `MAP_HUGETLB`, `include/uapi/asm-generic/mman-common.h`.
const MAP_HUGETLB: u32 = 0x40000;

/// perf: `is_anon_memory`, `tools/perf/util/map.c`.
fn is_anonymous(filename: &[u8]) -> bool {
    filename == b"//anon" || filename.starts_with(b"/dev/zero") || filename.starts_with(b"/anon_hugepage")
}

/// perf: `is_no_dso_memory`, `tools/perf/util/map.c`.
fn has_no_file(filename: &[u8]) -> bool {
    filename.starts_with(b"[stack") || filename.starts_with(b"/SYSV") || filename == b"[heap]"
}

/// Returns the name in simpleperf's reports of code whose symbols it copied into a file.
///
/// simpleperf: `ElfDso::GetReportPath`, `system/extras/simpleperf/dso.cpp`.
fn jit_cache(path: &[u8]) -> Option<&'static [u8]> {
    let has = |part: &[u8]| path.windows(part.len()).any(|it| it == part);
    match () {
        () if has(b"_jit_app_cache:") => Some(b"[JIT app cache]"),
        () if has(b"_jit_zygote_cache:") => Some(b"[JIT zygote cache]"),
        () => None,
    }
}

fn identity(id: Option<FileId>) -> (Option<BuildId>, Option<Inode>) {
    match id {
        Some(FileId::Inode { maj, min, ino, ino_generation }) => {
            (None, Some(Inode { maj, min, ino, ino_generation }))
        }
        Some(id) => (id.build_id().map(BuildId::new), None),
        None => (None, None),
    }
}

/// Returns the name of a module in brackets, with `_` for `-`, as perf has it.
///
/// perf: `__kmod_path__parse`, `tools/perf/util/dso.c`.
fn module_name(path: &[u8]) -> Vec<u8> {
    let Some(stem) = module_stem(path).filter(|_| path.starts_with(b"/")) else {
        return Vec::from(path);
    };
    let mut name = Vec::with_capacity(stem.len().saturating_add(2));
    name.push(b'[');
    name.extend(stem.iter().map(|&byte| if byte == b'-' { b'_' } else { byte }));
    name.push(b']');
    name
}

/// The DSOs that mappings have, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dsos {
    set: BTreeSet<Arc<Dso>>,
    /// The number at which those are removed that no mapping has any more.
    sweep_at: usize,
}

/// The smallest number of DSOs of which unused ones are removed.
const FEW: usize = 1024;

impl Dsos {
    pub(crate) fn len(&self) -> usize {
        self.set.len()
    }

    /// Returns the DSO that equals this one.
    pub(crate) fn intern(&mut self, dso: Dso) -> Arc<Dso> {
        if let Some(known) = self.set.get(&dso) {
            return Arc::clone(known);
        }
        if self.set.len() >= self.sweep_at.max(FEW) {
            self.set.retain(|dso| Arc::strong_count(dso) > 1);
            self.sweep_at = self.set.len().saturating_mul(2);
        }
        let dso = Arc::new(dso);
        self.set.insert(Arc::clone(&dso));
        dso
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_modules() {
        let name = |path: &str| alloc::string::String::from_utf8(module_name(path.as_bytes())).unwrap();
        assert_eq!(name("/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko"), "[ext4]");
        assert_eq!(name("/lib/modules/6.1.0/kernel/drivers/snd-hda-intel.ko.xz"), "[snd_hda_intel]");
        assert_eq!(name("[ext4]"), "[ext4]");
        assert_eq!(name("/no/module"), "/no/module");
    }

    #[test]
    fn dsos_that_no_mapping_has_are_removed() {
        let mut dsos = Dsos::default();
        let kept = dsos.intern(Dso::kernel(b"kept", None));
        for number in 0..FEW * 3 {
            dsos.intern(Dso::kernel(format!("{number}").as_bytes(), None));
            assert!(dsos.set.len() <= FEW);
        }
        assert!(Arc::ptr_eq(&kept, &dsos.intern(Dso::kernel(b"kept", None))));
    }
}
