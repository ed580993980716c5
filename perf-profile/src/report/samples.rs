//! The samples of a report, equal ones counted together.

use core::hash::BuildHasher;
use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::DefaultHashBuilder;
use perf_abi::record::CpuMode;
use perf_parse::event::Event;

use super::event_totals::EventTotals;
use super::facts::FactsInterner;
use super::plan::ReportPlan;
use crate::sample::SampleTotal;
use crate::stack_table::StackTable;
use crate::table::numbering::Numbering;

/// Event, addresses, and what else keys need of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct GroupKey {
    pub(super) event: u32,
    pub(super) facts: u32,
    /// The frame of the sample, or of the target of the branch.
    pub(super) frame: u32,
    /// The frame that the branch left; [`NONE`](crate::NONE) for other samples.
    pub(super) from: u32,
    pub(super) stack: u32,
    /// The address of the frame, in memory; 0 if no key needs it.
    pub(super) ip: u64,
    /// Number of bytes of the mapping that the frame is in; 0 if no key needs it, or nothing is mapped there.
    pub(super) mapped: u64,
    /// The frame of the data that a memory access is of; [`NONE`](crate::NONE) if no key needs it.
    pub(super) data: u32,
}

/// Samples with one key.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampleGroup {
    pub(super) key: GroupKey,
    pub(super) total: SampleTotal,
    /// Whose code the first sample is of.
    pub(super) mode: CpuMode,
}

/// The samples of a report, equal ones counted together.
#[derive(Debug)]
pub(super) struct ReportSamples {
    /// By index.
    pub(super) events: BTreeMap<usize, EventTotals>,
    pub(super) table: StackTable,
    pub(super) facts: FactsInterner,
    /// In the order in which their first samples came.
    pub(super) groups: Vec<SampleGroup>,
    /// The numbers of groups by the hashes of their keys, which are in `groups`: with a stack for each sample, this table would be the
    /// largest one.
    numbers: Numbering,
    hasher: DefaultHashBuilder,
    /// The largest number of groups.
    limit: usize,
}

impl ReportSamples {
    pub(super) fn new(plan: &ReportPlan) -> Self {
        Self {
            events: BTreeMap::new(),
            table: StackTable::default(),
            facts: FactsInterner::new(plan),
            groups: Vec::new(),
            numbers: Numbering::default(),
            hasher: DefaultHashBuilder::default(),
            limit: plan.limits.samples,
        }
    }

    /// Drops what only collecting needs.
    pub(super) fn finish(&mut self) {
        self.numbers = Numbering::default();
        self.table.finish();
        self.groups.shrink_to_fit();
    }

    pub(super) fn of_event(&mut self, event: &Arc<Event>) -> &mut EventTotals {
        self.events.entry(event.index).or_insert_with(|| EventTotals::new(event))
    }

    /// Counts a sample of an event; `None` is a sample that there is no room for.
    pub(super) fn count(&mut self, event: &Arc<Event>, key: Option<GroupKey>, period: u64, mode: CpuMode) {
        let total = SampleTotal { samples: 1, period };
        let is_added = key.and_then(|key| self.add(key, total, mode)).is_some();
        let of_event = self.of_event(event);
        of_event.all.add(total);
        of_event.selected.add(total);
        if !is_added {
            of_event.beyond.add(total);
        }
    }

    fn add(&mut self, key: GroupKey, total: SampleTotal, mode: CpuMode) -> Option<()> {
        let Self { groups, numbers, hasher, limit, .. } = self;
        let next = groups.len();
        let of = |number: u32| groups.get(number as usize).map(|group| group.key);
        let is_it = |number: u32| of(number) == Some(key);
        let hash_of = |number: u32| hasher.hash_one(of(number));
        let free = (next < *limit).then_some(next as u32);
        let number = numbers.number_or(hasher.hash_one(Some(key)), is_it, hash_of, free)? as usize;
        match groups.get_mut(number) {
            Some(group) => group.total.add(total),
            None => groups.push(SampleGroup { key, total, mode }),
        }
        Some(())
    }
}
