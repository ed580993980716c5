//! Branch stacks (LBR): the branches that were taken in the code of each file, and the code that ran between them.
//!
//! [`Samples::branches`](crate::Samples::branches) counts the branches of samples by file, as [`Branches`]. [`BranchFile::profile`] turns the counts of a file into a
//! [`BranchProfile`], whose addresses are those that the file's symbols have: so it does not matter where the file was
//! mapped, nor in how many processes.

mod addresses;
mod counted;
mod profile;

use core::fmt::{Display, Formatter};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use perf_abi::branch::BranchFlags;
use perf_parse::sample::BranchStack;
use perf_session::{BuildId, Dso, DsoKind, Mapping, SampleContext};

pub use addresses::FileAddresses;
pub use counted::{CountedBranches, branch_stack};
pub use profile::{BranchEdge, BranchProfile, BranchRange};

/// A branch that was taken, and the code that ran after it: from its target up to the next branch. All are offsets in the
/// file.
///
/// BOLT has the same: `DataAggregator::Trace`, `bolt/include/bolt/Profile/DataAggregator.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BranchTrace {
    /// The branch; `None` outside of the file.
    pub from: Option<u64>,
    /// Its target; `None` outside of the file.
    pub to: Option<u64>,
    /// The next branch; `None` if it is unknown: the branch is the newest of a sample, or the next one is in another file or
    /// before the target.
    pub end: Option<u64>,
}

/// Counts of a branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BranchCount {
    /// Number of entries of branch stacks that are this branch.
    pub count: u64,
    /// Number of these that were mispredicted.
    pub mispredicted: u64,
}

/// The branches of a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BranchFile {
    /// The file as the capture names it.
    pub dso: Arc<Dso>,
    /// Its recorded build id; `None` if the capture has none.
    pub build_id: Option<BuildId>,
    /// One of the mappings that have its code.
    pub mapping: Mapping,
    /// Number of entries of branch stacks that begin or end in the file.
    pub entries: u64,
    /// Number of these that are not in `traces`, because they are beyond the limit.
    pub beyond: u64,
    /// The branches that begin or end in the file.
    pub traces: HashMap<BranchTrace, BranchCount>,
    /// Number of samples by the offset of their instruction pointer.
    pub samples: BTreeMap<u64, u64>,
    /// Number of samples that are not in `samples`, because they are beyond the limit.
    pub beyond_samples: u64,
}

/// Why there is no file with branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoBranches {
    /// No sample has a branch stack.
    NoStacks,
    /// No branch is in a file.
    InNoFile,
    /// No branch is in a file of the name.
    InOtherFiles,
}

impl Display for NoBranches {
    fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::NoStacks => {
                "no sample has a branch stack; record them with perf record -b, which needs a processor with LBR or the like"
            }
            Self::InNoFile => "no branch is in a file",
            Self::InOtherFiles => "no branch is in this file",
        })
    }
}

impl core::error::Error for NoBranches {}

/// Counts the branches of samples.
#[derive(Debug)]
pub struct Branches {
    limit: usize,
    files: Vec<BranchFile>,
    /// The index of each file by the address of its DSO, which is kept alive.
    of_dsos: HashMap<usize, (Arc<Dso>, u32)>,
    /// The index of each file by its path and build id.
    of_paths: HashMap<(Vec<u8>, Option<BuildId>), u32>,
    traces: usize,
    stacks: u64,
    entries: u64,
}

impl Default for Branches {
    /// With a limit of four million distinct branches: half a gigabyte.
    fn default() -> Self {
        Self::new(1 << 22)
    }
}

/// An address in code: the index of the file, and the offset in it.
type FileOffset = Option<(u32, u64)>;

impl Branches {
    /// Counts at most `limit` distinct traces and sample offsets in all files together.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            files: Vec::new(),
            of_dsos: HashMap::new(),
            of_paths: HashMap::new(),
            traces: 0,
            stacks: 0,
            entries: 0,
        }
    }

    /// Adds the branch stack of a sample. Captures may follow each other: files are the same if path and build id are.
    ///
    /// Costs two address look-ups for each entry.
    pub fn sample(&mut self, at: &SampleContext<'_, '_>, stack: &BranchStack<'_>) {
        self.stacks += 1;
        if let Some(ip) = at.sample().ip()
            && let Some((file, offset)) = self.locate(at, ip)
        {
            self.add_sample(file, offset);
        }
        // The branch before which the code ended: the one that was taken next.
        let mut next: FileOffset = None;
        for branch in stack.entries.iter() {
            self.entries += 1;
            let (from, to) = (self.locate(at, branch.from), self.locate(at, branch.to));
            let is_mispredicted = branch.flags.contains(BranchFlags::MISPRED);
            let offset_in = |at: FileOffset, file: u32| at.filter(|it| it.0 == file).map(|it| it.1);
            if let Some((file, to)) = to {
                let end = offset_in(next, file).filter(|&end| end >= to);
                let from = offset_in(from, file);
                self.add(file, BranchTrace { from, to: Some(to), end }, is_mispredicted);
            }
            if let Some((file, from)) = from
                && offset_in(to, file).is_none()
            {
                self.add(file, BranchTrace { from: Some(from), to: None, end: None }, is_mispredicted);
            }
            next = from;
        }
    }

    fn locate(&mut self, at: &SampleContext<'_, '_>, addr: u64) -> FileOffset {
        let mapping = at.find_data(addr)?;
        if mapping.dso().kind() != DsoKind::File {
            return None;
        }
        Some((self.index_of(at, mapping), mapping.offset_of(addr)))
    }

    fn index_of(&mut self, at: &SampleContext<'_, '_>, mapping: &Mapping) -> u32 {
        let dso = mapping.dso();
        if let Some(&(_, index)) = self.of_dsos.get(&(Arc::as_ptr(dso) as usize)) {
            return index;
        }
        let build_id = at.session().build_id(dso);
        let next = self.files.len() as u32;
        let index = *self.of_paths.entry((dso.path().to_vec(), build_id)).or_insert(next);
        if index == next {
            self.files.push(BranchFile {
                dso: Arc::clone(dso),
                build_id,
                mapping: mapping.clone(),
                entries: 0,
                beyond: 0,
                traces: HashMap::new(),
                samples: BTreeMap::new(),
                beyond_samples: 0,
            });
        }
        self.of_dsos.insert(Arc::as_ptr(dso) as usize, (Arc::clone(dso), index));
        index
    }

    fn add(&mut self, file: u32, trace: BranchTrace, is_mispredicted: bool) {
        let Some(file) = self.files.get_mut(file as usize) else { return };
        file.entries += 1;
        if !file.traces.contains_key(&trace) {
            if self.traces >= self.limit {
                file.beyond += 1;
                return;
            }
            self.traces += 1;
        }
        let taken = file.traces.entry(trace).or_default();
        taken.count += 1;
        taken.mispredicted += u64::from(is_mispredicted);
    }

    fn add_sample(&mut self, file: u32, offset: u64) {
        let Some(file) = self.files.get_mut(file as usize) else { return };
        if !file.samples.contains_key(&offset) {
            if self.traces >= self.limit {
                file.beyond_samples += 1;
                return;
            }
            self.traces += 1;
        }
        *file.samples.entry(offset).or_default() += 1;
    }

    /// Returns the files in which branches begin or end, or that have samples, in the order of their first ones.
    #[must_use]
    pub fn files(&self) -> &[BranchFile] {
        &self.files
    }

    /// Returns the file with the most branches among those that `wants` accepts, the first of equal ones; `None` if no
    /// accepted file has a branch.
    #[must_use]
    pub fn busiest(&self, mut wants: impl FnMut(&Dso) -> bool) -> Option<&BranchFile> {
        let files = self.files.iter().filter(|file| file.entries > 0 && wants(&file.dso));
        files.rev().max_by_key(|file| file.entries)
    }

    /// Returns the file whose branches are wanted: the one of a [name](Self::named), or without a name the one with the most.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub fn choose(&self, name: Option<&[u8]>) -> Result<&BranchFile, NoBranches> {
        match name {
            _ if self.stacks == 0 => Err(NoBranches::NoStacks),
            None => self.busiest(|_| true).ok_or(NoBranches::InNoFile),
            Some(name) => self.named(name).ok_or(NoBranches::InOtherFiles),
        }
    }

    /// Returns the file with the most branches among those of a name: their path, that without folders, or the name of the DSO.
    #[must_use]
    pub fn named(&self, name: &[u8]) -> Option<&BranchFile> {
        self.busiest(|dso| {
            let file_name = dso.path().rsplit(|&byte| byte == b'/').next();
            [Some(dso.name()), Some(dso.path()), file_name].contains(&Some(name))
        })
    }

    /// Returns the number of samples with a branch stack, even an empty one.
    #[must_use]
    pub fn stacks(&self) -> u64 {
        self.stacks
    }

    /// Returns the number of entries of all branch stacks.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.entries
    }
}
