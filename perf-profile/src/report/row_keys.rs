//! The identities of the rows in which a sample counts.

use super::Report;
use super::row_key::{NOWHERE, RowAddress, RowKey, RowSpot};
use super::samples::{GroupKey, SampleGroup};
use super::sort_key::SortKey;
use super::stack_function::StackFunction;
use crate::table::frames::NONE;

/// The keys of an end of a branch.
#[derive(Clone, Copy, Debug)]
struct BranchEndKeys {
    dso: SortKey,
    symbol: SortKey,
    line: SortKey,
    address: SortKey,
}

const FROM: BranchEndKeys = BranchEndKeys {
    dso: SortKey::DsoFrom,
    symbol: SortKey::SymbolFrom,
    line: SortKey::SrclineFrom,
    address: SortKey::AddrFrom,
};

const TO: BranchEndKeys = BranchEndKeys {
    dso: SortKey::DsoTo,
    symbol: SortKey::SymbolTo,
    line: SortKey::SrclineTo,
    address: SortKey::AddrTo,
};

impl Report {
    /// Returns what keys need of an address: of its function that is not inlined, or of the given one.
    fn address(&self, frame: u32, symbol: u32, line: u32) -> RowAddress {
        let Some(place) = self.samples.table.frames.location(frame) else { return NOWHERE };
        let mut address = NOWHERE;
        let layout = &self.plan.layout;
        if layout.has(SortKey::Dso) || layout.has(SortKey::Symbol) {
            address.dso = self.named.short_name_of(place.dso);
        }
        if layout.has(SortKey::Symbol) {
            address.symbol = self.row_symbols.get(symbol as usize).copied().unwrap_or(NONE);
            address.offset = if symbol == NONE { place.offset } else { 0 };
        }
        if layout.has(SortKey::SymbolSize) {
            address.size = self.named.symbol(symbol).map(|it| it.size.unwrap_or(0));
        }
        if layout.has(SortKey::Srcline) {
            address.srcline = self.lines.srcline(line, frame);
        }
        if layout.has(SortKey::Srcfile) {
            address.srcfile = self.lines.srcfile(line);
        }
        address
    }

    fn branch_end(&self, frame: u32, end: BranchEndKeys) -> RowAddress {
        let mut address = NOWHERE;
        let Some(place) = self.samples.table.frames.location(frame) else { return address };
        // The keys of samples are those of the target here.
        let is_target = end.dso == SortKey::DsoTo;
        let has = |key: SortKey| self.plan.layout.has(key);
        let of_sample = |key: SortKey| is_target && has(key);
        let has_symbol = has(end.symbol) || of_sample(SortKey::Symbol);
        if has(end.dso) || of_sample(SortKey::Dso) || has_symbol {
            address.dso = self.named.short_name_of(place.dso);
        }
        if has_symbol {
            address.symbol = self.named.symbol_of(frame);
            address.offset = if address.symbol == NONE { place.offset } else { 0 };
        }
        if of_sample(SortKey::SymbolSize) {
            address.size = self.named.symbol(self.named.symbol_of(frame)).map(|it| it.size.unwrap_or(0));
        }
        if has(end.line) || of_sample(SortKey::Srcline) {
            address.srcline = self.lines.srcline(self.named.line_of(frame), frame);
        }
        if of_sample(SortKey::Srcfile) {
            address.srcfile = self.lines.srcfile(self.named.line_of(frame));
        }
        if has(end.address) {
            address.frame = frame;
        }
        address
    }

    /// Returns the key of the row that has a group as its own.
    pub(super) fn own_key(&self, group: &SampleGroup, stack: &[StackFunction]) -> RowKey {
        let GroupKey { facts, ip, mapped, frame, from, data, .. } = group.key;
        let address = if from == NONE {
            self.address(frame, self.named.innermost_symbol_of(frame), self.named.line_of(frame))
        } else {
            self.branch_end(frame, TO)
        };
        let from = self.branch_end(from, FROM);
        let data = match self.samples.table.frames.location(data) {
            Some(place) if self.plan.layout.has(SortKey::DsoDaddr) => self.named.short_name_of(place.dso),
            _ => NONE,
        };
        RowKey { facts, address, from, ip, mapped, data, parent: self.parent_of(stack) }
    }

    /// Returns the address of a caller in memory, and the size of its mapping: those of the first sample that has it.
    fn in_memory(&self, frame: u32) -> (u64, u64) {
        let frames = &self.samples.table.frames;
        let ip = || frames.location(frame).map_or(0, |it| it.ip);
        let mapped = || frames.mapping(frame).map_or(0, |it| it.range().end - it.range().start);
        let has = |key: SortKey| self.plan.layout.has(key);
        (if has(SortKey::Addr) { ip() } else { 0 }, if has(SortKey::DsoSize) { mapped() } else { 0 })
    }

    /// Returns whether the rows show a group.
    pub(super) fn shows(&self, group: &SampleGroup, own: &RowKey) -> bool {
        !(self.is_hidden(group) || self.plan.excludes_other && own.parent == NONE)
    }

    /// Returns whether a group is left out, as its function has no name.
    pub(super) fn is_hidden(&self, group: &SampleGroup) -> bool {
        self.plan.hides_unresolved && self.named.symbol_of(group.key.frame) == NONE
    }

    /// Returns the spot of a function of a stack.
    pub(super) fn spot_of(&self, it: StackFunction) -> RowSpot {
        let line = self.named.function(it.function).map_or(NONE, |it| it.line);
        let address = self.address(it.frame, self.symbol_of(it), line);
        let (ip, mapped) = self.in_memory(it.frame);
        RowSpot { address, ip, mapped }
    }

    /// Returns the functions of a stack whose rows have a sample: all, or none if callers do not count what they call.
    pub(super) fn callers<'e>(&self, stack: &'e [StackFunction]) -> &'e [StackFunction] {
        if self.plan.children { stack } else { &[] }
    }
}
