//! The branches of branch stacks (LBR), by their addresses in files.

use std::sync::Arc;

use hashbrown::HashMap;
use perf_abi::branch::BranchFlags;
use perf_parse::sample::BranchStack;
use perf_profile::annotation::AnnotatedBranch;
use perf_session::{Dso, SampleContext};

/// An address: the DSO by its address in memory, which the counts keep alive, and the offset in it.
type Place = (usize, u64);

/// Counts of branches.
#[derive(Debug, Default)]
pub(crate) struct BranchCounts {
    counts: HashMap<(Option<Place>, Option<Place>), BranchCount>,
    dsos: HashMap<usize, Arc<Dso>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct BranchCount {
    count: u64,
    mispredicted: u64,
    cycles: u64,
    timed: u64,
}

impl BranchCounts {
    /// Adds the branch stack of a sample; branches beyond the limit only if they are there already.
    pub(crate) fn add(&mut self, at: &SampleContext<'_, '_>, stack: &BranchStack<'_>, limit: usize) {
        for branch in stack.entries.iter() {
            let key = (self.place(at, branch.from), self.place(at, branch.to));
            if key == (None, None) || self.counts.len() >= limit && !self.counts.contains_key(&key) {
                continue;
            }
            let count = self.counts.entry(key).or_default();
            count.count += 1;
            count.mispredicted += u64::from(branch.flags.contains(BranchFlags::MISPRED));
            let cycles = branch.flags.cycles();
            count.cycles += u64::from(cycles);
            count.timed += u64::from(cycles != 0);
        }
    }

    fn place(&mut self, at: &SampleContext<'_, '_>, address: u64) -> Option<Place> {
        let mapping = at.find_data(address)?;
        let key = Arc::as_ptr(mapping.dso()).addr();
        self.dsos.entry(key).or_insert_with(|| Arc::clone(mapping.dso()));
        Some((key, mapping.offset_of(address)))
    }

    /// Returns the branches that start or end in a part of a DSO, given by offsets, with their addresses if the first byte has
    /// the address `start`.
    pub(crate) fn of_function(
        &self,
        dso: &Arc<Dso>,
        offsets: &std::ops::Range<u64>,
        start: u64,
    ) -> Vec<AnnotatedBranch> {
        let key = Arc::as_ptr(dso).addr();
        let within = |place: Option<Place>| {
            let (_, offset) = place.filter(|(dso, offset)| *dso == key && offsets.contains(offset))?;
            Some(start.wrapping_add(offset.wrapping_sub(offsets.start)))
        };
        let mut found: Vec<_> = self
            .counts
            .iter()
            .map(|(&(from, to), count)| (within(from), within(to), count))
            .filter(|(from, to, _)| from.is_some() || to.is_some())
            .map(|(from, to, count)| {
                let mut branch = AnnotatedBranch::default();
                (branch.from, branch.to) = (from, to);
                (branch.count, branch.mispredicted) = (count.count, count.mispredicted);
                (branch.cycles, branch.timed) = (count.cycles, count.timed);
                branch
            })
            .collect();
        found.sort_by_key(|it| (it.from, it.to));
        // Branches to several functions of elsewhere are one.
        found.dedup_by(|next, first| {
            let is_same = (next.from, next.to) == (first.from, first.to);
            if is_same {
                first.count += next.count;
                first.mispredicted += next.mispredicted;
                first.cycles += next.cycles;
                first.timed += next.timed;
            }
            is_same
        });
        found
    }
}
