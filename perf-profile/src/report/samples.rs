//! The samples of a report, equal ones counted together.

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;
use perf_abi::record::CpuMode;
use perf_parse::event::Event;

use super::event_totals::EventTotals;
use super::facts::FactsInterner;
use super::plan::ReportPlan;
use crate::sample::SampleTotal;
use crate::stack_table::StackTable;

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
    numbers: HashMap<GroupKey, u32>,
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
            numbers: HashMap::new(),
            limit: plan.limits.samples,
        }
    }

    /// Drops what only collecting needs.
    pub(super) fn finish(&mut self) {
        self.numbers = HashMap::new();
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
        let next = self.groups.len();
        match self.numbers.get(&key) {
            Some(&number) => self.groups.get_mut(number as usize)?.total.add(total),
            None if next >= self.limit => return None,
            None => {
                self.numbers.insert(key, next as u32);
                self.groups.push(SampleGroup { key, total, mode });
            }
        }
        Some(())
    }
}
