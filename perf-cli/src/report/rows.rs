//! The rows of a table.

mod counts;
mod numbers;

use alloc::borrow::Cow;

use hashbrown::HashMap;
use perf_abi::record::CpuMode;
use regex_lite::Regex;

use super::collect::{Collected, Group, OfEvent, Same};
use super::keys::{Key, Layout};
use super::ranks::AllRanks;
use super::source_texts::SourceTexts;
use super::tables::Members;
use crate::args::call_graph::Order;
pub(super) use counts::{Count, Counts};
use numbers::RowNumbers;
use perf_profile::{EMPTY, NONE, Named, Total};

/// What rows are made of.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) collected: &'a Collected,
    pub(super) named: &'a Named,
    pub(super) layout: &'a Layout,
    /// Whether callers count what their callees take.
    pub(super) children: bool,
    /// Which end of a stack comes first.
    pub(super) order: Order,
    /// Whether callers come before what they call, if both count the same. In perf, only with call graphs.
    pub(super) by_depth: bool,
    /// Whether addresses without a name are left out.
    pub(super) hides_unresolved: bool,
    /// Whether samples without a parent are left out.
    pub(super) excludes_other: bool,
    /// By symbol whose name matches that of parents: the first symbol with the same name; [`NONE`] for others. Empty if no key
    /// needs it.
    parents: Vec<u32>,
    /// By symbol: the one that rows have for it, see [`row_symbols`].
    row_symbols: Vec<u32>,
    /// The texts of source lines, if a key needs them.
    pub(super) lines: SourceTexts,
    pub(super) ranks: AllRanks,
}

/// A function in a stack: the frame, and the number of the function in [`Named::function`] or [`NONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) frame: u32,
    pub(super) function: u32,
}

/// An address, as far as rows are distinguished by it. What no key needs is [`NONE`] or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    /// The number of the short name.
    pub(super) dso: u32,
    pub(super) symbol: u32,
    /// The number of bytes of the symbol; `None` if there is no symbol.
    pub(super) size: Option<u64>,
    /// The offset in the file, if there is no symbol.
    pub(super) address: u64,
    /// The numbers of the texts of the source line and of the source file.
    pub(super) srcline: u32,
    pub(super) srcfile: u32,
    /// The frame, for keys of addresses.
    pub(super) frame: u32,
}

/// The keys of an end of a branch.
#[derive(Clone, Copy, Debug)]
struct End {
    dso: Key,
    symbol: Key,
    line: Key,
    address: Key,
}

const FROM: End =
    End { dso: Key::DsoFrom, symbol: Key::SymbolFrom, line: Key::SrclineFrom, address: Key::AddrFrom };
const TO: End = End { dso: Key::DsoTo, symbol: Key::SymbolTo, line: Key::SrclineTo, address: Key::AddrTo };

const NOWHERE: Place =
    Place { dso: NONE, symbol: NONE, size: None, address: 0, srcline: NONE, srcfile: NONE, frame: NONE };

/// What distinguishes a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct RowKey {
    pub(super) facts: u32,
    pub(super) place: Place,
    pub(super) from: Place,
    /// The address in memory.
    pub(super) ip: u64,
    /// The number of bytes of the mapping; 0 where nothing is mapped.
    pub(super) mapped: u64,
    /// The number of the short name of what is mapped where the data is.
    pub(super) data: u32,
    /// The symbol of the parent.
    pub(super) parent: u32,
}

/// Where a row is: its address, as far as rows are distinguished by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Spot {
    place: Place,
    ip: u64,
    mapped: u64,
}

impl RowKey {
    fn spot(&self) -> Spot {
        let Self { place, ip, mapped, .. } = *self;
        Spot { place, ip, mapped }
    }

    fn at(self, spot: Spot) -> Self {
        let Spot { place, ip, mapped } = spot;
        Self { place, ip, mapped, ..self }
    }

    /// Returns what all rows of a sample share.
    pub(super) fn without_spot(self) -> Self {
        self.at(Spot { place: NOWHERE, ip: 0, mapped: 0 })
    }
}

/// A row. Small, as each function of each stack may have one: what distinguishes it is [`Table::key`].
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The number of what the rows of its samples share, and that of where it is; [`NONE`] for the samples beyond the limits.
    shared: u32,
    spot: u32,
    /// By member of the table.
    pub(super) counts: Counts,
    /// The frame of the first sample, the one that its branch left, and the one of its data.
    pub(super) frame: u32,
    pub(super) from: u32,
    pub(super) data: u32,
    /// Whose code the first sample is of.
    pub(super) mode: CpuMode,
    /// The largest number of functions of its stacks.
    pub(super) depth: u32,
    /// The last group that was counted.
    stamp: u32,
}

/// A table with its rows.
#[derive(Debug)]
pub(super) struct Table<'a> {
    pub(super) members: &'a Members,
    pub(super) rows: Vec<Row>,
    numbers: RowNumbers,
    /// The indices of the rows, in the order in which they are printed.
    pub(super) order: Vec<usize>,
    /// What percentages are of, by member.
    pub(super) totals: Vec<Total>,
    pub(super) has_chains: bool,
}

impl<'a> Source<'a> {
    pub(super) fn new(
        collected: &'a Collected,
        named: &'a Named,
        layout: &'a Layout,
        parent: Option<&Regex>,
    ) -> Self {
        let parents = match parent.filter(|_| layout.has(Key::Parent)) {
            Some(pattern) => parents(named, pattern),
            None => Vec::new(),
        };
        let lines = match layout.has_source() {
            true => SourceTexts::new(named, &collected.table),
            false => SourceTexts::default(),
        };
        Self {
            collected,
            named,
            layout,
            children: false,
            order: Order::Callee,
            by_depth: false,
            hides_unresolved: false,
            excludes_other: false,
            parents,
            row_symbols: row_symbols(named),
            lines,
            ranks: AllRanks::default(),
        }
    }

    /// Appends the functions of a stack, in the order of the report.
    pub(super) fn elements(&self, stack: u32, out: &mut Vec<Element>) {
        out.clear();
        for frame in self.collected.table.stacks.frames(stack) {
            let functions = self.named.functions(frame);
            if functions.is_empty() && !self.hides_unresolved {
                out.push(Element { frame, function: NONE });
            }
            out.extend(functions.map(|function| Element { frame, function }));
        }
        if self.order == Order::Caller {
            out.reverse();
        }
    }

    /// Returns the symbol of an element; [`NONE`] if it has none.
    pub(super) fn symbol(&self, element: Element) -> u32 {
        self.named.function(element.function).map_or(NONE, |it| it.symbol)
    }

    fn parent(&self, elements: &[Element]) -> u32 {
        if self.parents.is_empty() {
            return NONE;
        }
        let parent = |&element| self.parents.get(self.symbol(element) as usize).copied();
        elements.iter().filter_map(parent).find(|&parent| parent != NONE).unwrap_or(NONE)
    }

    /// Returns what keys need of an address: of its function that is not inlined, or of the given one.
    fn place(&self, frame: u32, symbol: u32, line: u32) -> Place {
        let Some(known) = self.collected.table.frames.place(frame) else { return NOWHERE };
        let mut place = NOWHERE;
        let layout = self.layout;
        if layout.has(Key::Dso) || layout.has(Key::Symbol) {
            place.dso = self.named.short_name_of(known.dso);
        }
        if layout.has(Key::Symbol) {
            place.symbol = self.row_symbols.get(symbol as usize).copied().unwrap_or(NONE);
            place.address = if symbol == NONE { known.offset } else { 0 };
        }
        if layout.has(Key::SymbolSize) {
            place.size = self.named.symbol(symbol).map(|it| it.size.unwrap_or(0));
        }
        if layout.has(Key::Srcline) {
            place.srcline = self.lines.srcline(line, frame);
        }
        if layout.has(Key::Srcfile) {
            place.srcfile = self.lines.srcfile(line);
        }
        place
    }

    fn branch_place(&self, frame: u32, end: End) -> Place {
        let mut place = NOWHERE;
        let Some(known) = self.collected.table.frames.place(frame) else { return place };
        // The keys of samples are those of the target here.
        let is_target = end.dso == Key::DsoTo;
        let of_sample = |key: Key| is_target && self.layout.has(key);
        let has = |key: Key| self.layout.has(key);
        let has_symbol = has(end.symbol) || of_sample(Key::Symbol);
        if has(end.dso) || of_sample(Key::Dso) || has_symbol {
            place.dso = self.named.short_name_of(known.dso);
        }
        if has_symbol {
            place.symbol = self.named.symbol_of(frame);
            place.address = if place.symbol == NONE { known.offset } else { 0 };
        }
        if of_sample(Key::SymbolSize) {
            place.size = self.named.symbol(self.named.symbol_of(frame)).map(|it| it.size.unwrap_or(0));
        }
        if has(end.line) || of_sample(Key::Srcline) {
            place.srcline = self.lines.srcline(self.named.line_of(frame), frame);
        }
        if of_sample(Key::Srcfile) {
            place.srcfile = self.lines.srcfile(self.named.line_of(frame));
        }
        if has(end.address) {
            place.frame = frame;
        }
        place
    }

    /// Returns the key of the row that has a group as its own.
    fn own_key(&self, group: &Group, elements: &[Element]) -> RowKey {
        let same = &group.same;
        let is_branch = same.from != NONE;
        let place = if is_branch {
            self.branch_place(same.frame, TO)
        } else {
            self.place(same.frame, self.named.innermost_symbol_of(same.frame), self.named.line_of(same.frame))
        };
        let from = self.branch_place(same.from, FROM);
        let data = match self.collected.table.frames.place(same.data) {
            Some(known) if self.layout.has(Key::DsoDaddr) => self.named.short_name_of(known.dso),
            _ => NONE,
        };
        let Same { facts, ip, mapped, .. } = *same;
        RowKey { facts, place, from, ip, mapped, data, parent: self.parent(elements) }
    }

    /// Returns the address of a caller in memory, and the size of its mapping: those of the first sample that has it.
    fn in_memory(&self, frame: u32) -> (u64, u64) {
        let frames = &self.collected.table.frames;
        let ip = || frames.place(frame).map_or(0, |it| it.ip);
        let mapped = || frames.mapping(frame).map_or(0, |it| it.range().end - it.range().start);
        let has = |key: Key| self.layout.has(key);
        (if has(Key::Addr) { ip() } else { 0 }, if has(Key::DsoSize) { mapped() } else { 0 })
    }

    /// Returns whether the rows show a group.
    fn shows(&self, group: &Group, own: &RowKey) -> bool {
        let is_hidden = self.hides_unresolved && self.named.symbol_of(group.same.frame) == NONE;
        !(is_hidden || self.excludes_other && own.parent == NONE)
    }

    /// Returns where the row of a function of a stack is.
    fn spot_of(&self, element: Element) -> Spot {
        let line = self.named.function(element.function).map_or(NONE, |it| it.line);
        let place = self.place(element.frame, self.symbol(element), line);
        let (ip, mapped) = self.in_memory(element.frame);
        Spot { place, ip, mapped }
    }

    /// Returns the functions of a stack whose rows have a sample: all, or none if callers do not count what they call.
    fn callers<'e>(&self, elements: &'e [Element]) -> &'e [Element] {
        if self.children { elements } else { &[] }
    }

    /// Calls `take` for each row of a table that a group counts in: with its number, and the number of functions before it
    /// in the stack, `None` for its own row, which is the first one. A row is passed again for each time that the stack has
    /// it; only the first time counts.
    pub(super) fn each_row(
        &self,
        table: &Table<'_>,
        group: &Group,
        elements: &[Element],
        take: &mut dyn FnMut(usize, Option<usize>),
    ) {
        let own = self.own_key(group, elements);
        if !self.shows(group, &own) {
            return;
        }
        let numbers = &table.numbers;
        let shared = numbers.known_shared(&own);
        let mut take = |spot: u32, before| {
            if let Some(row) = numbers.known_row(shared, spot, &table.rows) {
                take(row, before);
            }
        };
        take(numbers.known_spot(own.spot()), None);
        for (before, &element) in self.callers(elements).iter().enumerate() {
            take(numbers.known_spot_of(element), Some(before));
        }
    }

    /// Returns the table of events with its rows. `is_relative` is whether percentages are of the selected samples.
    ///
    /// perf: `iter_add_single_cumulative_entry` and `iter_add_next_cumulative_entry`, `tools/perf/util/hist.c`.
    pub(super) fn table(&self, members: &'a Members, is_relative: bool) -> Table<'a> {
        let events = || members.events.iter().map(|index| self.collected.events.get(index));
        let member_of = |event: u32| members.events.iter().position(|&it| it == event as usize);
        let total = |it: &OfEvent| if is_relative { it.selected } else { it.all };
        let totals = events().map(|it| it.map_or(Total::default(), total)).collect();
        let mut table = Table {
            members,
            rows: Vec::new(),
            numbers: RowNumbers::default(),
            totals,
            has_chains: false,
            order: Vec::new(),
        };
        let mut elements = Vec::new();
        let shows_modes =
            self.layout.columns.iter().chain(&self.layout.order).any(|column| column.is_of_mode());
        for (stamp, group) in (0..).zip(&self.collected.groups) {
            let Some(member) = member_of(group.same.event) else { continue };
            if self.hides_unresolved && self.named.symbol_of(group.same.frame) == NONE {
                table.totals[member].subtract(group.total);
            }
            self.elements(group.same.stack, &mut elements);
            table.has_chains |= group.same.stack != EMPTY;
            let own = self.own_key(group, &elements);
            if !self.shows(group, &own) {
                continue;
            }
            let shared = table.numbers.shared(&own);
            let spot = table.numbers.spot(own.spot());
            let row = table.row(shared, spot, group, group.same.frame);
            if let Some(count) = table.count_of(row, member, stamp, elements.len()) {
                count.children.add(group.total);
                if shows_modes {
                    count.add_mode(group.total, self.collected.table.frames.mode(group.same.frame));
                }
                count.own.add(group.total);
            }
            for (before, &element) in self.callers(&elements).iter().enumerate() {
                let spot = table.numbers.spot_of(element, || self.spot_of(element));
                let row = table.row(shared, spot, group, element.frame);
                if let Some(count) = table.count_of(row, member, stamp, elements.len() - before) {
                    count.children.add(group.total);
                }
            }
        }
        let beyond: Vec<_> = events().map(|it| it.map_or(Total::default(), |it| it.beyond)).collect();
        if beyond.iter().any(|it| it.samples > 0) {
            let counts = beyond.iter().map(|&own| Count { own, children: own, modes: None }).collect();
            let (shared, spot, frame, from, data) = (NONE, NONE, NONE, NONE, NONE);
            let mode = CpuMode::CPUMODE_UNKNOWN;
            table.rows.push(Row { shared, spot, counts, frame, from, data, mode, depth: 0, stamp: 0 });
        }
        table.order = self.order(&table);
        table
    }
}

/// Returns for each symbol the one that rows have for it: an inlined function is one function, whichever ones it is inlined
/// into. In perf it is one in each of them.
fn row_symbols(named: &Named) -> Vec<u32> {
    let mut first: HashMap<(u32, Cow<'_, [u8]>), u32> = HashMap::new();
    let mut numbers = Vec::new();
    for (symbol, number) in named.symbols().iter().zip(0..) {
        numbers.push(match symbol.is_inlined {
            true => *first.entry((symbol.dso, symbol.label())).or_insert(number),
            false => number,
        });
    }
    numbers
}

/// Returns the parents of a [`Source`]: perf merges rows by their names.
///
/// perf: `sort__parent_cmp`, `tools/perf/util/sort.c`.
fn parents(named: &Named, pattern: &Regex) -> Vec<u32> {
    let mut first: HashMap<Cow<'_, [u8]>, u32> = HashMap::new();
    let mut parents = Vec::new();
    for (symbol, number) in named.symbols().iter().zip(0..) {
        let is_parent = pattern.is_match(&String::from_utf8_lossy(&symbol.name));
        parents.push(if is_parent { *first.entry(symbol.label()).or_insert(number) } else { NONE });
    }
    parents
}

impl Row {
    /// Returns whether it has the samples beyond the limits.
    pub(super) fn is_beyond(&self) -> bool {
        self.spot == NONE
    }

    /// Returns the number of its own samples, of all events.
    pub(super) fn samples(&self) -> u64 {
        self.counts.iter().map(|it| it.own.samples).sum()
    }
}

impl Table<'_> {
    /// Returns what distinguishes a row; `None` for the samples beyond the limits.
    pub(super) fn key(&self, row: &Row) -> Option<RowKey> {
        self.numbers.key(row.shared, row.spot)
    }

    /// Returns the number of a row. If it is new, `group` is the first that has it, in `frame`.
    fn row(&mut self, shared: u32, spot: u32, group: &Group, frame: u32) -> usize {
        let new = self.rows.len();
        let number = self.numbers.row(shared, spot, &self.rows);
        if number == new {
            let counts = Counts::of(self.totals.len());
            let Same { from, data, .. } = group.same;
            let mode = group.mode;
            self.rows.push(Row { shared, spot, counts, frame, from, data, mode, depth: 0, stamp: NONE });
        }
        number
    }

    /// Returns what a member counts in a row; `None` if the row has counted the group with the number `stamp`. `depth` is the
    /// number of functions from the row's on.
    #[inline]
    fn count_of(&mut self, row: usize, member: usize, stamp: u32, depth: usize) -> Option<&mut Count> {
        let row = self.rows.get_mut(row).filter(|row| row.stamp != stamp)?;
        row.stamp = stamp;
        if member == 0 {
            row.depth = row.depth.max(u32::try_from(depth).unwrap_or(u32::MAX));
        }
        row.counts.get_mut(member)
    }

    /// Returns the number of samples that are beyond the limits.
    pub(super) fn beyond(&self) -> u64 {
        let beyond = self.rows.iter().filter(|row| row.is_beyond()).flat_map(|row| row.counts.iter());
        beyond.map(|it| it.own.samples).sum()
    }
}
