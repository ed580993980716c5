//! The text that `llvm-profgen --perfscript` reads: that of `perf script -F ip,brstack --show-mmap-events`, with one mapping,
//! that of the file at its own addresses. So it does not matter where the file was mapped, and in how many processes, which
//! `llvm-profgen` cannot tell apart.
//!
//! LLVM: `PerfScriptReader::extractLBRStack` and `extractCallstack`, `llvm/tools/llvm-profgen/PerfReader.cpp`.

use core::fmt::{Display, Formatter};
use std::collections::HashMap;
use std::io::{self, Write};
use std::num::NonZero;
use std::sync::Arc;

use perf_abi::branch::BranchFlags;
use perf_parse::FileError;
use perf_parse::file::Account;
use perf_parse::list::Branch;
use perf_parse::sample::BranchStack;
use perf_profile::branches::{BranchFile, FileAddresses, branch_stack};
use perf_profile::samples::pass::{CountedSample, NoWorker, RecordNotes, SamplePass, WalkContext};
use perf_profile::text::OneLine;
use perf_profile::{Observer, ProfileError, Samples, Symbols, has_stacks};
use perf_session::{Dso, DsoKind, Mapping, SampleContext, Session};

/// The size of the pages that files are mapped by.
const PAGE: u64 = 4096;

/// What was read of a capture whose samples were written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Written {
    /// What was read, lost and skipped.
    pub account: Account,
    /// Number of samples without the user part of their call chain: see [`Profile::omitted`](perf_profile::Profile::omitted).
    pub omitted: u64,
}

/// Why samples cannot be written.
#[derive(Debug)]
pub enum WriteError {
    /// What is wrong with the selection of samples, or that the observer cancelled.
    Profile(ProfileError),
    /// An error of the output.
    Io(io::Error),
}

impl Display for WriteError {
    fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Profile(error) => error.fmt(f),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for WriteError {}

impl From<ProfileError> for WriteError {
    fn from(error: ProfileError) -> Self {
        Self::Profile(error)
    }
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Writes the mapping of a file, and the selected samples with a branch stack, as they are read. `addresses` are those of the file's
/// segments: see [`CountedBranches::segments`](perf_profile::branches::CountedBranches::segments). Works on one thread.
///
/// # Errors
///
/// [`WriteError`].
pub fn write(
    samples: Samples<'_>,
    symbols: &Symbols,
    file: &BranchFile,
    addresses: FileAddresses<'_>,
    observer: &mut dyn Observer,
    out: &mut dyn Write,
) -> Result<Written, WriteError> {
    write_mapping(file.dso.path(), addresses, out)?;
    let mut pass = BranchTexts {
        symbols: symbols.clone(),
        file,
        addresses,
        known: HashMap::new(),
        text: Vec::new(),
        out,
    };
    let end = samples.walk(symbols.clone(), &mut pass, &mut NoWorker, NonZero::<usize>::MIN, observer)?;
    Ok(Written { account: end.account().clone(), omitted: end.omitted() })
}

/// Writes the samples of a walk.
struct BranchTexts<'a> {
    symbols: Symbols,
    file: &'a BranchFile,
    addresses: FileAddresses<'a>,
    /// Whether a DSO is the file, by its address; it is kept alive.
    known: HashMap<usize, (Arc<Dso>, bool)>,
    /// The text that is not written yet.
    text: Vec<u8>,
    out: &'a mut dyn Write,
}

impl BranchTexts<'_> {
    /// Returns the address that the file's symbols have for an address of a process; `None` outside of the file.
    fn address(&mut self, session: &Session, mapping: Option<&Mapping>, addr: u64) -> Option<u64> {
        let Self { file, addresses, known, .. } = self;
        let mapping = mapping?;
        let dso = mapping.dso();
        let (_, is_file) = known.entry(Arc::as_ptr(dso) as usize).or_insert_with(|| {
            let is_file = dso.kind() == DsoKind::File
                && dso.path() == file.dso.path()
                && session.build_id(dso) == file.build_id;
            (Arc::clone(dso), is_file)
        });
        if *is_file { addresses.address(mapping.offset_of(addr)) } else { None }
    }
}

impl SamplePass<'_> for BranchTexts<'_> {
    type Note = ();
    type Worker = NoWorker;
    type Error = WriteError;

    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        _: &WalkContext<'_>,
        _: &mut RecordNotes<'_, ()>,
    ) -> Result<(), FileError> {
        let Some(stack) = branch_stack(at)? else { return Ok(()) };
        let session = at.session();
        let mut chain = Vec::new();
        if has_stacks(counted.event) {
            let (frames, _) = self.symbols.stack(at, counted.deferred)?;
            chain.extend(frames.iter().map(|it| self.address(session, it.frame.mapping, it.frame.ip)));
            self.symbols.done(frames);
        }
        let ip = at.sample().ip().and_then(|ip| self.address(session, at.find_data(ip), ip));
        let mut text = core::mem::take(&mut self.text);
        let mut place = |addr| self.address(session, at.find_data(addr), addr);
        // Writing to memory cannot fail.
        let _ = write_sample(ip, &chain, &stack, &mut place, &mut text);
        self.text = text;
        Ok(())
    }

    fn deliver(&mut self, (): (), _: &Session) -> Result<(), WriteError> {
        self.out.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }
}

/// Writes the mapping of the file's code. `path` is the file; `llvm-profgen` compares its name without folders to that of
/// its program.
///
/// # Errors
///
/// Those of `out`.
pub fn write_mapping(path: &[u8], addresses: FileAddresses<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Some(segment) = addresses.executable() else { return Ok(()) };
    // A segment's address and offset are equal within a page.
    let before = segment.address.checked_rem(PAGE).unwrap_or(0);
    let (address, offset) = (segment.address.wrapping_sub(before), segment.offset.wrapping_sub(before));
    let size = segment.size.saturating_add(before);
    let path = OneLine(path);
    writeln!(out, "PERF_RECORD_MMAP2 0/0: [{address:#x}({size:#x}) @ {offset:#x} 00:00 0 0]: r-xp {path}")
}

/// Writes a sample, or nothing if none of its branches begins or ends in the file.
///
/// `chain` has the frames of its call chain, innermost first; empty if it has none. `address_of` returns the address that the
/// file's symbols have for an address of the process, `None` outside of the file; `ip` and `chain` are such addresses too. `None`
/// is written as 0, where no file has code.
///
/// # Errors
///
/// Those of `out`.
pub fn write_sample(
    ip: Option<u64>,
    chain: &[Option<u64>],
    stack: &BranchStack<'_>,
    address_of: &mut dyn FnMut(u64) -> Option<u64>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut entries = Vec::new();
    for Branch { from, to, flags, not_taken } in stack.entries.iter() {
        let (from, to) = (address_of(from), address_of(to));
        if (from, to) == (None, None) {
            continue;
        }
        let outcome = if flags.contains(BranchFlags::PREDICTED) {
            'P'
        } else if flags.contains(BranchFlags::MISPRED) {
            'M'
        } else {
            '-'
        };
        // Of AUX data alone.
        let not_taken = if not_taken { "N" } else { "" };
        let in_tx = if flags.contains(BranchFlags::IN_TX) { 'X' } else { '-' };
        let abort = if flags.contains(BranchFlags::ABORT) { 'A' } else { '-' };
        let (from, to) = (from.unwrap_or(0), to.unwrap_or(0));
        write!(entries, " {from:#x}/{to:#x}/{outcome}{not_taken}/{in_tx}/{abort}/{} ", flags.cycles())?;
    }
    if entries.is_empty() {
        return Ok(());
    }
    if chain.is_empty() {
        write!(out, "{:16x}", ip.unwrap_or(0))?;
    } else {
        for frame in chain {
            writeln!(out, "\t{:16x}", frame.unwrap_or(0))?;
        }
    }
    out.write_all(&entries)?;
    out.write_all(b"\n")
}
