//! The mappings of a kernel.

use alloc::vec::Vec;

use perf_parse::record::{FileId, Ksymbol};

use crate::dso::{Dso, DsoKind, Dsos, PROT_EXEC};
use crate::kernel_names::KERNEL;
use crate::ledger::{ChangeNote, Ledger};
use crate::map::Mapping;
use crate::maps::Maps;
use perf_abi::ksymbol::KsymbolFlags;

/// The mappings of a kernel: its text, its modules, and code that was registered later.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kernel {
    pub(crate) maps: Maps,
    pub(crate) relocation: Option<(Vec<u8>, u64)>,
}

/// An MMAP or MMAP2 record whose CPU mode is the kernel's.
pub(crate) struct KernelMmap<'a> {
    pub(crate) guest: Option<i32>,
    pub(crate) addr: u64,
    pub(crate) len: u64,
    pub(crate) pgoff: u64,
    pub(crate) id: Option<FileId>,
    pub(crate) filename: &'a [u8],
}

impl Kernel {
    /// Applies an MMAP record of the kernel: of its text, or of a module.
    ///
    /// perf: `machine__process_kernel_mmap_event`.
    pub(crate) fn map(&mut self, dsos: &mut Dsos, ledger: &mut Ledger, record: &KernelMmap<'_>) {
        let KernelMmap { guest, addr: start, len, pgoff, id, filename } = *record;
        let (dso, pgoff) = match relocation_symbol(filename) {
            Some((name, symbol)) => {
                // Where the addresses of the kernel are hidden, perf writes zero.
                if pgoff != 0 {
                    self.relocation = Some((Vec::from(symbol), pgoff));
                }
                (Dso::kernel(name, id), start)
            }
            None => (Dso::module(filename, id), 0),
        };
        // The first versions of perf wrote no length for the text.
        let is_whole = dso.kind() == DsoKind::Kernel && len == 0;
        let end = if is_whole { u64::MAX } else { start.saturating_add(len) };
        let dso = dsos.intern(dso);
        let mapping = Mapping { start, end, pgoff, prot: PROT_EXEC, flags: 0, dso };
        self.insert(ledger, guest, mapping);
    }

    fn insert(&mut self, ledger: &mut Ledger, guest: Option<i32>, mapping: Mapping) {
        ledger.map(&mut self.maps, mapping, |mapping, before| ChangeNote::KernelMapped {
            guest,
            mapping,
            before,
        });
    }

    /// Returns the lowest address that a kernel uses.
    ///
    /// perf: `machine__get_kernel_start`, `tools/perf/util/machine.c`.
    pub(crate) fn start(&self) -> u64 {
        let first = self.maps.iter().next().map(|mapping| mapping.start);
        first.map_or(UPPER_HALF, |first| first.min(UPPER_HALF))
    }

    /// Applies a KSYMBOL record, which is of the host. Code in a known mapping, such as the text of the kernel, is a symbol
    /// there, and no mapping of its own.
    ///
    /// perf: `machine__process_ksymbol`.
    pub(crate) fn symbol(&mut self, dsos: &mut Dsos, ledger: &mut Ledger, record: &Ksymbol<'_>) {
        let known = self.maps.find(record.addr);
        let is_registered = known.is_some_and(|mapping| matches!(mapping.dso.kind(), DsoKind::Ksymbol(_)));
        if record.flags.contains(KsymbolFlags::UNREGISTER) {
            if let Some(mapping) = known.filter(|_| is_registered) {
                ledger.note(|| ChangeNote::KernelUnmapped { guest: None, mapping: mapping.clone() });
                self.maps.remove(record.addr);
            }
        } else if known.is_none() || is_registered {
            // What was registered there is gone: the record that unregistered it was lost.
            let dso = dsos.intern(Dso::ksymbol(record.name, record.ksym_type));
            let (start, end) = (record.addr, record.addr.saturating_add(record.len.into()));
            let mapping = Mapping { start, end, pgoff: 0, prot: PROT_EXEC, flags: 0, dso };
            self.insert(ledger, None, mapping);
        }
    }
}

/// Where the addresses of the kernel begin on 64-bit machines.
const UPPER_HALF: u64 = 1 << 63;

/// Returns the name of the kernel and the symbol after it, as in `[kernel.kallsyms]_text`; `None` for a module.
fn relocation_symbol(filename: &[u8]) -> Option<(&[u8], &[u8])> {
    if !filename.starts_with(KERNEL) && !filename.starts_with(b"[guest.kernel.kallsyms") {
        return None;
    }
    let end = filename.iter().position(|&byte| byte == b']')?;
    filename.split_at_checked(end.saturating_add(1))
}
