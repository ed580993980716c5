//! A mapping: a range of addresses, and what is mapped there.

use alloc::sync::Arc;
use core::ops::Range;

use crate::dso::{Dso, JIT_SYMFILE, PROT_EXEC, RemappedCode};

/// A range of addresses, and what is mapped there.
///
/// perf: `struct map`, `tools/perf/util/map.h`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    pub(crate) start: u64,
    /// The address after the last one. Larger than `start`.
    pub(crate) end: u64,
    pub(crate) pgoff: u64,
    pub(crate) prot: u32,
    pub(crate) flags: u32,
    pub(crate) dso: Arc<Dso>,
}

impl Mapping {
    /// Returns the addresses of the mapping. Never empty.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.start..self.end
    }

    /// Returns whether the mapping has an address.
    #[inline]
    pub(crate) fn contains(&self, addr: u64) -> bool {
        self.start <= addr && addr < self.end
    }

    /// Returns the offset in the file at which the mapping begins, in bytes.
    #[must_use]
    pub fn pgoff(&self) -> u64 {
        self.pgoff
    }

    /// Returns the bits of `PROT_READ`, `PROT_WRITE` and `PROT_EXEC`. An MMAP record has only whether the mapping is
    /// executable, and so has an MMAP2 record with another value than a protection.
    #[must_use]
    pub fn prot(&self) -> u32 {
        self.prot & !JIT_SYMFILE
    }

    /// Returns the bits of `MAP_SHARED`, `MAP_PRIVATE` and so on; 0 from an MMAP record, which has none.
    #[must_use]
    pub fn flags(&self) -> u32 {
        self.flags
    }

    /// Returns whether the mapping is executable.
    #[must_use]
    pub fn is_executable(&self) -> bool {
        self.prot & PROT_EXEC != 0
    }

    /// Returns whether these are addresses of code that Android's runtime generated, and the DSO is a copy of its symbols:
    /// simpleperf writes such mappings.
    ///
    /// simpleperf: `PROT_JIT_SYMFILE_MAP`, `system/extras/simpleperf/thread_tree.h`.
    #[must_use]
    pub fn is_jit_symfile(&self) -> bool {
        self.prot & JIT_SYMFILE != 0
    }

    /// Returns what is mapped.
    #[must_use]
    pub fn dso(&self) -> &Arc<Dso> {
        &self.dso
    }

    /// Returns the same mapping of `dso`, which equals its own: sessions that got the same records have equal DSOs, not the
    /// same ones.
    #[must_use]
    pub fn in_dso(&self, dso: &Arc<Dso>) -> Self {
        Self { dso: Arc::clone(dso), ..*self }
    }

    /// Returns the same mapping as one of a file that is [stored](Dso::stored) in the mapped archive from the offset `start` on.
    /// `None` if the mapping begins before the file.
    #[must_use]
    pub fn of_stored(&self, file: &Arc<Dso>, start: u64) -> Option<Self> {
        let pgoff = self.pgoff.checked_sub(start)?;
        Some(Self { pgoff, dso: Arc::clone(file), ..*self })
    }

    /// Returns the executable mapping of a file that this one, of executable memory without a file, was laid over as a whole:
    /// programs move their code to large pages so. `None` for all other mappings.
    ///
    /// That the memory has the code of the file is an assumption. A file that was unmapped leaves no record, so its addresses may
    /// have other code by now.
    #[must_use]
    pub fn remapped(&self) -> Option<Self> {
        let RemappedCode { dso, start, end, pgoff, prot, flags } = &**self.dso.code()?;
        let dso = Arc::clone(dso);
        Some(Self { start: *start, end: *end, pgoff: *pgoff, prot: *prot, flags: *flags, dso })
    }

    /// Returns the place of an address in the file, as an offset in bytes. For what has no file, such as the heap and
    /// generated code, also [with a copy of its symbols](Self::is_jit_symfile), and for the text of the kernel, this is the
    /// address itself.
    ///
    /// perf: `map__map_ip`.
    #[must_use]
    pub fn offset_of(&self, addr: u64) -> u64 {
        let has_offset = self.dso.has_offsets() && !self.is_jit_symfile();
        if has_offset { addr.wrapping_sub(self.start).wrapping_add(self.pgoff) } else { addr }
    }

    /// Returns the part of the mapping before `end`, which is inside of it.
    pub(crate) fn head(&self, end: u64) -> Self {
        Self { end, ..self.clone() }
    }

    /// Returns the rest of the mapping from `start` on, which is inside of it.
    pub(crate) fn tail(&self, start: u64) -> Self {
        let pgoff = self.pgoff.wrapping_add(start.wrapping_sub(self.start));
        Self { start, pgoff, ..self.clone() }
    }
}
