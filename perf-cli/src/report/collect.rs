//! The samples of a capture, equal ones counted together.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use hashbrown::HashMap;
use perf_abi::record::CpuMode;
use perf_parse::event::Event;
use perf_parse::file::EventRecords;
use perf_parse::{EventRecord, FileError};
use perf_profile::symbols::{own_frame, recorded_frame};
use perf_profile::tracepoints::TracepointTexts;
use perf_profile::{EMPTY, NONE, NewStacks, StackTable, Symbols, Total, has_stacks};
use perf_session::{At, DsoKind, Frame, Mapping, Session};
use perf_symbol::StackFrame;
use perf_symbol::unwind::StackEnd;

use super::facts::{AllFacts, Facts};
use super::limits::Limits;
use super::memory;
use crate::off_cpu::{Back, OffCpu, SchedulerFrames};
use crate::samples::{self, Collect, Counted, Filter, Found, Stack, Visit, Visited, Wanted};

/// The samples of an event.
#[derive(Debug)]
pub(super) struct OfEvent {
    pub(super) event: Arc<Event>,
    /// All samples, those of other threads, files and functions than the selected ones included.
    pub(super) all: Total,
    pub(super) selected: Total,
    /// Those that are beyond the limits.
    pub(super) beyond: Total,
}

/// Samples with the same event, addresses, and what else keys need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Same {
    pub(super) event: u32,
    pub(super) facts: u32,
    /// The frame of the sample, or of the target of the branch.
    pub(super) frame: u32,
    /// The frame that the branch left; [`NONE`] for other samples.
    pub(super) from: u32,
    pub(super) stack: u32,
    /// The address of the frame, in memory; 0 if no key needs it.
    pub(super) ip: u64,
    /// The number of bytes of the mapping that the frame is in; 0 if no key needs it, or nothing is mapped there.
    pub(super) mapped: u64,
    /// The frame of the data that a memory access is of; [`NONE`] if no key needs it.
    pub(super) data: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) same: Same,
    pub(super) total: Total,
    /// Whose code the first sample is of.
    pub(super) mode: CpuMode,
}

/// What is collected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wants {
    pub(super) stacks: bool,
    /// Each branch counts as a sample.
    pub(super) branches: bool,
    /// Samples are memory accesses, which count their weights.
    pub(super) memory: bool,
    /// Keys need the addresses in memory.
    pub(super) ips: bool,
    /// Keys need the sizes of mappings.
    pub(super) sizes: bool,
    /// The largest number of frames of a stack.
    pub(super) max_stack: usize,
    pub(super) limits: Limits,
}

impl Wants {
    /// Returns the limits of the table of stacks.
    pub(super) fn of_table(&self) -> perf_profile::Limits {
        let mut limits = perf_profile::Limits::default();
        (limits.frames, limits.stack_nodes) = (self.limits.frames, self.limits.stack_nodes);
        limits
    }

    /// Returns the address of a frame and the size of its mapping, if keys need them.
    fn in_memory(&self, frame: &Frame<'_>) -> (u64, u64) {
        let size = || frame.mapping.map_or(0, |it| it.range().end - it.range().start);
        (if self.ips { frame.ip } else { 0 }, if self.sizes { size() } else { 0 })
    }
}

/// The samples of a capture, equal ones counted together.
#[derive(Debug)]
pub(super) struct Collected {
    wants: Wants,
    /// By index.
    pub(super) events: BTreeMap<usize, OfEvent>,
    pub(super) table: StackTable,
    pub(super) facts: AllFacts,
    /// In the order in which their first samples came.
    pub(super) groups: Vec<Group>,
    numbers: HashMap<Same, u32>,
}

impl Collected {
    pub(super) fn new(wants: Wants, facts: AllFacts) -> Self {
        Self {
            wants,
            events: BTreeMap::new(),
            table: StackTable::default(),
            facts,
            groups: Vec::new(),
            numbers: HashMap::new(),
        }
    }

    /// Returns whether all that is needed of a sample is known without its stack, or in it.
    pub(super) fn can_be_in_parts(&self) -> bool {
        !self.wants.branches && !self.wants.memory && !self.facts.needs_data() && !self.facts.needs_trace()
    }

    /// Drops what only collecting needs.
    pub(super) fn finish(&mut self) {
        self.numbers = HashMap::new();
        self.table.finish();
        self.groups.shrink_to_fit();
    }

    fn of_event(&mut self, event: &Arc<Event>) -> &mut OfEvent {
        self.events.entry(event.index).or_insert_with(|| OfEvent {
            event: Arc::clone(event),
            all: Total::default(),
            selected: Total::default(),
            beyond: Total::default(),
        })
    }

    fn add(&mut self, same: Same, total: Total, mode: CpuMode) -> Option<()> {
        let next = self.groups.len();
        match self.numbers.get(&same) {
            Some(&number) => self.groups[number as usize].total.add(total),
            None if next >= self.wants.limits.groups => return None,
            None => {
                self.numbers.insert(same, next as u32);
                self.groups.push(Group { same, total, mode });
            }
        }
        Some(())
    }

    /// Counts a sample of an event; `None` is a sample that there is no room for.
    fn count(&mut self, event: &Arc<Event>, same: Option<Same>, period: u64, mode: CpuMode) {
        let total = Total { samples: 1, period };
        let is_added = same.and_then(|same| self.add(same, total, mode)).is_some();
        let of_event = self.of_event(event);
        of_event.all.add(total);
        of_event.selected.add(total);
        if !is_added {
            of_event.beyond.add(total);
        }
    }

    /// Returns the number of a frame that no stack is kept for.
    fn place(&mut self, at: &At<'_, '_>, frame: &StackFrame<'_>, names: &mut Symbols) -> Option<u32> {
        self.table.frames.number(at, frame, names.symbolizer_mut(), self.wants.limits.frames)
    }

    /// Adds what is mapped at the data of a memory access, if a key needs it. Returns the number of its frame.
    ///
    /// perf: `ip__resolve_data`, `tools/perf/util/machine.c`.
    fn data(&mut self, at: &At<'_, '_>, facts: Facts, names: &mut Symbols) -> Option<(Facts, u32)> {
        if !self.facts.needs_data() {
            return Some((facts, NONE));
        }
        let ip = memory::address_of(at);
        let mapping = at.find(at.mode(), ip);
        let data = self.place(at, &recorded_frame(Frame { ip, mode: at.mode(), mapping }), names)?;
        let dso = self.table.frames.place(data).map_or(NONE, |it| it.dso);
        Some((self.facts.with_line(facts, at, mapping, dso), data))
    }

    /// Returns the number of a stack, and notes how it ends.
    fn stack(
        &mut self,
        at: &At<'_, '_>,
        stack: &[StackFrame<'_>],
        end: Option<StackEnd>,
        names: &mut Symbols,
    ) -> Option<u32> {
        let limits = self.wants.of_table();
        self.table.number(at, stack, end, names.symbolizer_mut(), self.wants.max_stack, &limits)
    }
}

/// Collects samples during a walk.
#[derive(Debug)]
pub(super) struct Collecting<'a> {
    pub(super) collected: Collected,
    pub(super) traces: TracepointTexts<'a>,
    /// With it, only times off the CPU are counted.
    pub(super) off_cpu: Option<OffCpu<'a, Option<Same>>>,
    scheduler: SchedulerFrames,
    /// What the sample counts as a memory access.
    weight: u64,
}

/// What is known of a sample before its stack is.
#[derive(Debug)]
pub(super) struct Taken {
    event: Arc<Event>,
    period: u64,
    mode: CpuMode,
    /// `None` if there is no room for the sample.
    same: Option<Same>,
}

impl<'r> Collect<'r> for Collecting<'_> {
    type Taken = Taken;

    fn take(&mut self, at: &At<'_, '_>, counted: &Counted<'_>) -> Result<(Taken, Wanted), FileError> {
        let Counted { event, period, .. } = *counted;
        let collected = &mut self.collected;
        let wants = collected.wants;
        let has_stack = wants.stacks && samples::has_stack(at, counted)?;
        let facts = collected.facts.of(at, event, None, wants.limits.texts);
        let facts = facts.and_then(|facts| collected.facts.number(facts, wants.limits.groups));
        let same = facts.map(|facts| {
            let (ip, mapped) = wants.in_memory(&own_frame(at));
            let event = event.index as u32;
            Same { event, facts, frame: NONE, from: NONE, stack: EMPTY, ip, mapped, data: NONE }
        });
        let stack = if has_stack && same.is_some() { Stack::Recorded } else { Stack::None };
        let wanted = Wanted { frame: same.is_some(), stack, trace: None };
        Ok((Taken { event: Arc::clone(event), period, mode: at.mode(), same }, wanted))
    }

    fn filtered(&mut self, counted: &Counted<'_>) {
        let total = Total { samples: 1, period: counted.period };
        self.collected.of_event(counted.event).all.add(total);
    }

    fn other(&mut self, record: &EventRecord<'r>, _session: &Session, _filter: &Filter<'_>) {
        self.collected.facts.apply(record);
    }

    fn take_over(&mut self, new: NewStacks, session: &Session) -> u32 {
        let limits = self.collected.wants.of_table();
        self.collected.table.take_over(new, session, &limits)
    }

    fn count(&mut self, taken: Taken, part: u32, found: Found) {
        let Taken { event, period, mode, same } = taken;
        let table = &mut self.collected.table;
        let limits = self.collected.wants.of_table();
        let mut numbered = |same: Same| {
            let frame = table.frame_of_part(part, found.frame?)?;
            let stack = match found.stack {
                Some(stack) => table.stack_of_part(part, stack, &limits)?,
                None => EMPTY,
            };
            Some(Same { frame, stack, ..same })
        };
        let same = same.and_then(&mut numbered);
        self.collected.count(&event, same, period, mode);
    }
}

/// Returns whose code a mapping has.
fn mode_of(mapping: &Mapping) -> CpuMode {
    match mapping.dso().kind() {
        DsoKind::Kernel | DsoKind::Module | DsoKind::Ksymbol(_) => CpuMode::KERNEL,
        _ => CpuMode::USER,
    }
}

impl<'r> Visit<'r> for Collecting<'_> {
    fn sample(
        &mut self,
        at: &At<'_, '_>,
        counted: &Counted<'_>,
        names: &mut Symbols,
        _records: &EventRecords<'_>,
    ) -> Visited {
        if self.collected.wants.branches {
            return Ok(self.branches(at, counted, names));
        }
        let same = match self.same(at, counted, names) {
            Ok(same) => same,
            Err(error) => return Ok(Err(error)),
        };
        match &mut self.off_cpu {
            Some(off_cpu) => off_cpu.sample(at, same),
            None => {
                let period = if self.collected.wants.memory { self.weight } else { counted.period };
                self.collected.count(counted.event, same, period, at.mode());
            }
        }
        Ok(Ok(()))
    }

    fn filtered(&mut self, _at: &At<'_, '_>, counted: &Counted<'_>, _names: &mut Symbols) -> Visited {
        // perf counts the branches of samples that are not selected too; without a look at them, there is one.
        let period = match self.collected.wants {
            Wants { branches: true, .. } => 1,
            Wants { memory: true, .. } => self.weight,
            _ => counted.period,
        };
        if self.off_cpu.is_none() {
            self.collected.of_event(counted.event).all.add(Total { samples: 1, period });
        }
        Ok(Ok(()))
    }

    fn other(
        &mut self,
        record: &EventRecord<'_>,
        _session: &Session,
        _filter: &Filter<'_>,
        _records: &EventRecords<'_>,
    ) -> Visited {
        self.collected.facts.apply(record);
        let back = self.off_cpu.as_mut().and_then(|off_cpu| off_cpu.other(record));
        self.count_off_cpu(back);
        Ok(Ok(()))
    }

    fn before(&mut self, at: &At<'_, '_>, _record: &EventRecord<'r>) {
        if self.collected.wants.memory {
            // The walk has the error of a sample that cannot be decoded.
            self.weight = at.sample().tail().map_or(1, |tail| memory::period(&tail));
        }
        let back = self.off_cpu.as_mut().and_then(|off_cpu| off_cpu.before(at));
        self.count_off_cpu(back);
    }
}

impl<'a> Collecting<'a> {
    pub(super) fn new(
        collected: Collected,
        traces: TracepointTexts<'a>,
        off_cpu: Option<OffCpu<'a, Option<Same>>>,
    ) -> Self {
        Self { collected, traces, off_cpu, scheduler: SchedulerFrames::default(), weight: 0 }
    }

    fn count_off_cpu(&mut self, back: Option<Back<Option<Same>>>) {
        if let Some((off_cpu, Back { wait, before, away, .. })) = self.off_cpu.as_ref().zip(back) {
            let made = off_cpu.event(wait);
            let same = before.map(|same| Same { event: made.index as u32, ..same });
            self.collected.count(made, same, away, CpuMode::CPUMODE_UNKNOWN);
        }
    }

    /// Returns what makes a sample the same as others; `None` if there is no room for it.
    fn same(
        &mut self,
        at: &At<'_, '_>,
        counted: &Counted<'_>,
        names: &mut Symbols,
    ) -> Result<Option<Same>, FileError> {
        // The stack of a switch is that of the thread that waits.
        let is_switch = self.off_cpu.as_ref().is_some_and(|off_cpu| off_cpu.is_switch(at));
        // A chain without frames would lose where the sample is: the sample's own address counts alone.
        let has_stack = (self.collected.wants.stacks || is_switch) && has_stacks(counted.event);
        let stack = if has_stack { Some(names.stack(at, counted.user)?) } else { None };
        let frames = stack.as_ref().map_or(&[][..], |(frames, _)| frames);
        let of_scheduler = if is_switch { self.scheduler.count(at, frames, names) } else { 0 };
        let waits = if is_switch { frames.get(of_scheduler) } else { None };
        let own = waits.map_or_else(|| recorded_frame(own_frame(at)), StackFrame::clone);
        let Self { collected, traces, .. } = self;
        let mut same = |this: &mut Collected, traces: &mut TracepointTexts<'_>| {
            let tracing = Some((traces, &mut *names));
            let facts = this.facts.of(at, counted.event, tracing, this.wants.limits.texts)?;
            let (facts, data) = this.data(at, facts, names)?;
            let facts = this.facts.number(facts, this.wants.limits.groups)?;
            let (ip, mapped) = this.wants.in_memory(&own.frame);
            let own = StackFrame { frame: names.in_kernel(at, own.frame), ..own };
            let frame = this.place(at, &own, names)?;
            let stack = match &stack {
                Some((stack, end)) if this.wants.stacks => {
                    let number = this.stack(at, stack, *end, names)?;
                    this.table.stacks.outer(number, of_scheduler)
                }
                _ => EMPTY,
            };
            let event = counted.event.index as u32;
            Some(Same { event, facts, frame, from: NONE, stack, ip, mapped, data })
        };
        let same = same(collected, traces);
        if let Some((stack, _)) = stack {
            names.done(stack);
        }
        Ok(same)
    }

    /// Counts the branches of a sample, each with the period 1.
    ///
    /// perf: `iter_add_next_branch_entry`, `tools/perf/util/hist.c`.
    fn branches(
        &mut self,
        at: &At<'_, '_>,
        counted: &Counted<'_>,
        names: &mut Symbols,
    ) -> Result<(), FileError> {
        let tail = at.sample().tail().map_err(|error| at.record().error(error))?;
        let limits = self.collected.wants.limits;
        for branch in tail.branch_stack.iter().flat_map(|stack| stack.entries.iter()) {
            let place = |ip: u64| {
                let mapping = at.find_data(ip);
                Frame { ip, mode: mapping.map_or(CpuMode::CPUMODE_UNKNOWN, mode_of), mapping }
            };
            let Self { collected, traces, .. } = self;
            let mut same = |this: &mut Collected, traces: &mut TracepointTexts<'_>| {
                let tracing = Some((traces, &mut *names));
                let facts = this.facts.of(at, counted.event, tracing, limits.texts)?;
                let facts = this.facts.with_branch(facts, branch.flags);
                let facts = this.facts.number(facts, limits.groups)?;
                let (ip, mapped) = this.wants.in_memory(&place(branch.to));
                let frame = this.place(at, &recorded_frame(place(branch.to)), names)?;
                let from = this.place(at, &recorded_frame(place(branch.from)), names)?;
                let event = counted.event.index as u32;
                Some(Same { event, facts, frame, from, stack: EMPTY, ip, mapped, data: NONE })
            };
            let same = same(collected, traces);
            collected.count(counted.event, same, 1, at.mode());
        }
        Ok(())
    }
}
