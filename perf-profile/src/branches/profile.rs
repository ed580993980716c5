//! The branches of a file, by the addresses that its symbols have.

use std::collections::BTreeMap;

use super::{BranchCount, BranchFile, BranchTrace, FileAddresses};

/// A branch from one address to another. Not both are `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchEdge {
    /// Address of the branch; `None` outside of the file.
    pub from: Option<u64>,
    /// Address of its target; `None` outside of the file.
    pub to: Option<u64>,
    /// How often it was taken.
    pub count: BranchCount,
}

/// Code that ran from the target of a branch up to the next branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchRange {
    /// Address of the target.
    pub begin: u64,
    /// Address of the next branch.
    pub end: u64,
    /// Whether the branch before came from another function, or from outside of the file.
    pub is_external: bool,
    /// How often the code ran.
    pub count: u64,
}

/// The branches of a file, by the addresses that its symbols have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BranchProfile {
    /// Address of the file's first segment; 0 if it has none.
    pub first_address: u64,
    /// The branches, each once, ordered by `from` and `to`.
    pub branches: Vec<BranchEdge>,
    /// The code between branches, each once, ordered by `begin`, `end` and `is_external`.
    pub ranges: Vec<BranchRange>,
    /// Number of samples at each address.
    pub samples: BTreeMap<u64, u64>,
}

impl BranchFile {
    /// Returns the branches by the addresses that the file's symbols have. Offsets in no segment count as outside of the
    /// file.
    ///
    /// `function_of` returns the start of the function at an offset in the file, `None` if no function is known. It
    /// decides which [ranges](BranchRange::is_external) follow a branch from another function.
    #[must_use]
    pub fn profile(
        &self,
        addresses: FileAddresses<'_>,
        function_of: &mut dyn FnMut(u64) -> Option<u64>,
    ) -> BranchProfile {
        let mut branches: BTreeMap<(Option<u64>, Option<u64>), BranchCount> = BTreeMap::new();
        let mut ranges: BTreeMap<(u64, u64, bool), u64> = BTreeMap::new();
        let address = |offset: Option<u64>| offset.and_then(|offset| addresses.address(offset));
        for (&BranchTrace { from, to, end }, taken) in &self.traces {
            let edge = (address(from), address(to));
            if edge != (None, None) {
                let sum = branches.entry(edge).or_default();
                sum.count += taken.count;
                sum.mispredicted += taken.mispredicted;
            }
            if let Some(((begin, end), to)) = address(to).zip(address(end)).zip(to) {
                let is_external = from.is_none_or(|from| function_of(from) != function_of(to));
                *ranges.entry((begin, end, is_external)).or_default() += taken.count;
            }
        }
        let mut samples: BTreeMap<u64, u64> = BTreeMap::new();
        for (&offset, &count) in &self.samples {
            if let Some(address) = addresses.address(offset) {
                *samples.entry(address).or_default() += count;
            }
        }
        let range = |((begin, end, is_external), count)| BranchRange { begin, end, is_external, count };
        BranchProfile {
            first_address: addresses.first_address(),
            branches: branches
                .into_iter()
                .map(|((from, to), count)| BranchEdge { from, to, count })
                .collect(),
            ranges: ranges.into_iter().map(range).collect(),
            samples,
        }
    }
}
