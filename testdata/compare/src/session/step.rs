//! Records of few processes and few addresses, from bytes.

use perf_session::DsoKind;
use testdata::Bytes;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Fork,
    Exit,
    Comm,
    Mmap,
    Mmap2,
    Ksymbol,
    Sample,
}

/// A record. A type of record uses some of the fields.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) kind: Kind,
    /// The CPU mode of `misc`.
    pub(super) mode: u16,
    /// Whether an exec, data or the end of a symbol is meant: the bit of `misc`, or the flag.
    pub(super) bit: bool,
    pub(super) has_build_id: bool,
    pub(super) pid: i32,
    pub(super) tid: i32,
    pub(super) ppid: i32,
    pub(super) ptid: i32,
    pub(super) addr: u64,
    pub(super) len: u64,
    pub(super) pgoff: u64,
    pub(super) prot: u32,
    pub(super) flags: u32,
    pub(super) file: &'static File,
}

/// What a record names, and what it is if a process maps it.
#[derive(Debug)]
pub(super) struct File {
    pub(super) name: &'static str,
    pub(super) kind: DsoKind,
    /// What it is called if the kernel maps it. If it is text of the kernel, the rest is the symbol.
    pub(super) in_kernel: &'static str,
}

pub(super) const FILES: &[File] = &[
    File { name: "/bin/a", kind: DsoKind::File, in_kernel: "/bin/a" },
    File { name: "/bin/b", kind: DsoKind::File, in_kernel: "/bin/b" },
    File { name: "//anon", kind: DsoKind::Memory, in_kernel: "//anon" },
    File { name: "[heap]", kind: DsoKind::Memory, in_kernel: "[heap]" },
    File { name: "[stack]", kind: DsoKind::Memory, in_kernel: "[stack]" },
    File { name: "[stack:12]", kind: DsoKind::Memory, in_kernel: "[stack:12]" },
    File { name: "[vdso]", kind: DsoKind::Vdso, in_kernel: "[vdso]" },
    File { name: "[vsyscall]", kind: DsoKind::Vsyscall, in_kernel: "[vsyscall]" },
    File { name: "/SYSV00000000 (deleted)", kind: DsoKind::Memory, in_kernel: "/SYSV00000000 (deleted)" },
    File { name: "/dev/zero (deleted)", kind: DsoKind::Memory, in_kernel: "/dev/zero (deleted)" },
    File { name: "/memfd:x (deleted)", kind: DsoKind::File, in_kernel: "/memfd:x (deleted)" },
    File { name: "/anon_hugepage (deleted)", kind: DsoKind::Memory, in_kernel: "/anon_hugepage (deleted)" },
    File { name: "/lib/modules/6.1/a-b.ko.xz", kind: DsoKind::File, in_kernel: "[a_b]" },
    File { name: "[mod]", kind: DsoKind::File, in_kernel: "[mod]" },
    File { name: "[kernel.kallsyms]_text", kind: DsoKind::File, in_kernel: "[kernel.kallsyms]" },
    File { name: "", kind: DsoKind::File, in_kernel: "" },
];

/// Kernel: `MAP_HUGETLB`.
pub(super) const MAP_HUGETLB: u32 = 0x40000;

impl Step {
    pub(super) fn of(bytes: &[u8; 8]) -> Self {
        let [what, ids, parents, start, size, more, file, modes] = *bytes;
        let kind = match what & 15 {
            0..=2 => Kind::Fork,
            3 => Kind::Exit,
            4 | 5 => Kind::Comm,
            6 | 7 => Kind::Mmap,
            8..=11 => Kind::Mmap2,
            12 => Kind::Ksymbol,
            _ => Kind::Sample,
        };
        let (pid, tid) = ids_of(ids);
        let (ppid, ptid) = ids_of(parents);
        // Mostly of the host's processes.
        let mode = match modes {
            0..=191 => [0, 2][usize::from(modes & 1)],
            192..=223 => 1,
            224..=239 => 4,
            _ => 5,
        };
        let mode = if kind == Kind::Sample || matches!(kind, Kind::Mmap | Kind::Mmap2) || mode > 3 {
            mode
        } else {
            0
        };
        Self {
            kind,
            mode,
            bit: what & 16 != 0,
            has_build_id: what & 32 != 0,
            pid,
            tid,
            ppid,
            ptid,
            addr: address(start),
            len: address(size),
            pgoff: u64::from(more >> 4) << 12,
            prot: u32::from(more & 7),
            flags: if more & 8 != 0 && what & 64 != 0 { MAP_HUGETLB | 2 } else { 2 },
            file: &FILES[usize::from(file) % FILES.len()],
        }
    }

    /// The guest that the record is of.
    pub(super) fn machine(&self) -> Option<i32> {
        (self.mode >= 4).then_some(self.pid.max(0))
    }

    pub(super) fn record(&self, big: bool) -> Vec<u8> {
        let Self { pid, tid, ppid, ptid, addr, len, pgoff, .. } = *self;
        let new = || Bytes::new(big);
        let misc = self.mode | u16::from(self.bit) << 13;
        let name = self.file.name.as_bytes();
        let padded = (name.len() + 1).next_multiple_of(8);
        match self.kind {
            Kind::Fork => new().i32(pid).i32(ppid).i32(tid).i32(ptid).u64(0).record(7, misc),
            Kind::Exit => new().i32(pid).i32(ppid).i32(tid).i32(ptid).u64(0).record(4, self.mode),
            Kind::Comm => new().i32(pid).i32(tid).padded(name, padded).record(3, misc),
            Kind::Mmap => {
                new().i32(pid).i32(tid).u64s(&[addr, len, pgoff]).padded(name, padded).record(1, misc)
            }
            Kind::Mmap2 => {
                let fixed = new().i32(pid).i32(tid).u64s(&[addr, len, pgoff]);
                let file = if self.has_build_id {
                    fixed.u8(4).zeros(3).raw(&self.build_id()).zeros(16)
                } else {
                    fixed.u32(8).u32(1).u64(self.ino()).u64(0)
                };
                let misc = self.mode | u16::from(self.has_build_id) << 14;
                file.u32(self.prot).u32(self.flags).padded(name, padded).record(10, misc)
            }
            Kind::Ksymbol => {
                let end = u16::from(self.bit);
                new().u64(addr).u32(len as u32).u16(1).u16(end).padded(name, padded).record(17, 0)
            }
            Kind::Sample => new().u64(addr).i32(pid).i32(tid).record(9, self.mode),
        }
    }

    pub(super) fn ino(&self) -> u64 {
        // One path has several.
        self.pgoff >> 12 & 1
    }

    pub(super) fn build_id(&self) -> [u8; 4] {
        [1, 2, 3, self.ino() as u8]
    }
}

/// Process and thread: the one in the low half of a byte, the other in the high half. Half of the threads are leaders.
fn ids_of(byte: u8) -> (i32, i32) {
    let id = |bits: u8| i32::from(bits & 7) - 1;
    let pid = id(byte);
    (pid, if byte & 0x80 == 0 { pid } else { id(byte >> 4) })
}

/// An address or a length: one of few, up to the last.
fn address(byte: u8) -> u64 {
    match byte {
        250..=255 => u64::MAX - u64::from(255 - byte),
        _ => u64::from(byte & 0x3f) << 12,
    }
}
