//! Branch stacks (LBR), for compilers and optimizers of programs: the branches that were taken in the code of a file, and
//! the code that ran between them.
//!
//! A [`Branches`] counts the branches of samples by the files that their addresses are in. [`preagg`] and [`autofdo`] write
//! the counts of one file, [`brstack`] writes samples one by one. All three write addresses as the file's symbols have them,
//! so that it does not matter where the file was mapped, nor in how many processes.

pub mod autofdo;
pub mod brstack;
mod code;
pub mod preagg;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use perf_abi::branch::BranchFlags;
use perf_parse::sample::BranchStack;
use perf_session::{At, BuildId, Dso, DsoKind, Mapping};

pub use code::Code;

/// A branch that was taken, and the code that ran after it: from its target up to the branch before which it ended. The
/// places are offsets in the file.
///
/// BOLT has the same: `DataAggregator::Trace`, `bolt/include/bolt/Profile/DataAggregator.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Trace {
    /// Where the branch is; `None` outside of the file.
    pub from: Option<u64>,
    /// Where it led; `None` outside of the file.
    pub to: Option<u64>,
    /// The next branch; `None` if it is not known: the branch is the newest one of a sample, or the next one is in another
    /// file or before the target.
    pub end: Option<u64>,
}

/// How often a branch was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// How often it was in branch stacks.
    pub count: u64,
    /// How often of these it was mispredicted.
    pub mispredicted: u64,
}

/// The branches of a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BranchFile {
    /// The file as the capture names it.
    pub dso: Arc<Dso>,
    /// Its recorded build id; `None` if none was recorded.
    pub build_id: Option<BuildId>,
    /// One of the mappings that have its code.
    pub mapping: Mapping,
    /// Number of entries of branch stacks that begin or end in the file.
    pub entries: u64,
    /// The entries of these that are not in `traces`, because they are beyond the limit.
    pub beyond: u64,
    /// The branches that begin or end in the file.
    pub traces: HashMap<Trace, Taken>,
    /// Number of samples by the place of their instruction pointer.
    pub samples: BTreeMap<u64, u64>,
    /// Number of samples that are not in `samples`, because they are beyond the limit.
    pub beyond_samples: u64,
}

/// Counts the branches of samples.
#[derive(Debug)]
pub struct Branches {
    limit: usize,
    files: Vec<BranchFile>,
    /// The number of each file by the address of its DSO, which is kept alive.
    known: HashMap<usize, (Arc<Dso>, u32)>,
    numbers: HashMap<(Vec<u8>, Option<BuildId>), u32>,
    traces: usize,
    stacks: u64,
    entries: u64,
}

impl Default for Branches {
    /// With room for four million different branches: half a gigabyte.
    fn default() -> Self {
        Self::new(1 << 22)
    }
}

/// An address in code: the number of the file, and the offset in it.
type Place = Option<(u32, u64)>;

impl Branches {
    /// Counts no more than `limit` different traces and places of samples in all files together.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            files: Vec::new(),
            known: HashMap::new(),
            numbers: HashMap::new(),
            traces: 0,
            stacks: 0,
            entries: 0,
        }
    }

    /// Takes the branch stack of a sample. Captures may follow each other: files are the same if path and build id are.
    ///
    /// Costs two look-ups of addresses for each entry.
    pub fn sample(&mut self, at: &At<'_, '_>, stack: &BranchStack<'_>) {
        self.stacks += 1;
        if let Some(ip) = at.sample().ip()
            && let Some((file, offset)) = self.place(at, ip)
        {
            self.add_sample(file, offset);
        }
        // The branch before which the code ended: the one that was taken next.
        let mut next: Place = None;
        for branch in stack.entries.iter() {
            self.entries += 1;
            let (from, to) = (self.place(at, branch.from), self.place(at, branch.to));
            let is_mispredicted = branch.flags.contains(BranchFlags::MISPRED);
            let offset_in = |place: Place, file: u32| place.filter(|it| it.0 == file).map(|it| it.1);
            if let Some((file, to)) = to {
                let end = offset_in(next, file).filter(|&end| end >= to);
                let from = offset_in(from, file);
                self.add(file, Trace { from, to: Some(to), end }, is_mispredicted);
            }
            if let Some((file, from)) = from
                && offset_in(to, file).is_none()
            {
                self.add(file, Trace { from: Some(from), to: None, end: None }, is_mispredicted);
            }
            next = from;
        }
    }

    fn place(&mut self, at: &At<'_, '_>, addr: u64) -> Place {
        let mapping = at.find_data(addr)?;
        if mapping.dso().kind() != DsoKind::File {
            return None;
        }
        Some((self.number(at, mapping), mapping.offset_of(addr)))
    }

    fn number(&mut self, at: &At<'_, '_>, mapping: &Mapping) -> u32 {
        let dso = mapping.dso();
        if let Some(&(_, number)) = self.known.get(&(Arc::as_ptr(dso) as usize)) {
            return number;
        }
        let build_id = at.session().build_id(dso);
        let next = self.files.len() as u32;
        let number = *self.numbers.entry((dso.path().to_vec(), build_id)).or_insert(next);
        if number == next {
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
        self.known.insert(Arc::as_ptr(dso) as usize, (Arc::clone(dso), number));
        number
    }

    fn add(&mut self, file: u32, trace: Trace, is_mispredicted: bool) {
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

    /// Returns the files that branches begin or end in, and those that samples are in, in the order of their first ones.
    #[must_use]
    pub fn files(&self) -> &[BranchFile] {
        &self.files
    }

    /// Returns the file with the most branches among those that `wants` accepts, the first one of several; `None` if it
    /// accepts none that has any.
    #[must_use]
    pub fn busiest(&self, mut wants: impl FnMut(&Dso) -> bool) -> Option<&BranchFile> {
        let files = self.files.iter().filter(|file| file.entries > 0 && wants(&file.dso));
        files.rev().max_by_key(|file| file.entries)
    }

    /// Returns the number of samples that had a branch stack, even an empty one.
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
