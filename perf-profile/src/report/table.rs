//! A table of a report: the rows of an event, or of a group of events.

use super::Report;
use super::event_totals::EventTotals;
use super::row::{ReportRow, RowCount, RowCounts};
use super::row_index::RowIndex;
use super::row_key::RowKey;
use super::samples::SampleGroup;
use super::stack_function::StackFunction;
use super::table_events::TableEvents;
use crate::sample::SampleTotal;
use crate::table::frames::NONE;
use crate::table::stacks::EMPTY;

/// A table of a report: the rows of an event, or of a group of events. [`Report::table`] makes it.
#[derive(Debug)]
pub struct ReportTable<'a> {
    pub(super) report: &'a Report,
    events: &'a TableEvents,
    pub(super) rows: Vec<ReportRow>,
    index: RowIndex,
    order: Vec<usize>,
    totals: Vec<SampleTotal>,
    has_stacks: bool,
}

/// The samples that percentages are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Percentage {
    /// The selected samples.
    Relative,
    /// All samples, those of other threads, files and functions than the selected ones included.
    #[default]
    Absolute,
}

impl Report {
    /// Makes the rows of a table, which is one of [`tables`](Self::tables).
    ///
    /// Costs a step for each function of each different stack, and sorts the rows.
    ///
    /// perf: `iter_add_single_cumulative_entry` and `iter_add_next_cumulative_entry`, `tools/perf/util/hist.c`.
    #[must_use]
    pub fn table<'a>(&'a self, events: &'a TableEvents, percentage: Percentage) -> ReportTable<'a> {
        let mut table = ReportTable {
            report: self,
            events,
            rows: Vec::new(),
            index: RowIndex::default(),
            order: Vec::new(),
            totals: self.totals(events, |it| match percentage {
                Percentage::Relative => it.selected,
                Percentage::Absolute => it.all,
            }),
            has_stacks: false,
        };
        let columns = self.plan.layout.columns.iter().chain(&self.plan.layout.order);
        let shows_modes = columns.into_iter().any(|column| column.is_of_mode());
        let mut stack = Vec::new();
        for (stamp, group) in (0..).zip(&self.samples.groups) {
            table.add(group, stamp, shows_modes, &mut stack);
        }
        let beyond = self.totals(events, |it| it.beyond);
        if beyond.iter().any(|it| it.samples > 0) {
            table.rows.push(ReportRow::beyond(beyond.into_iter().map(RowCount::of).collect()));
        }
        table.order = table.sorted();
        table
    }

    /// Returns a number of each event of a table.
    fn totals(&self, events: &TableEvents, of: impl Fn(&EventTotals) -> SampleTotal) -> Vec<SampleTotal> {
        let total = |index| self.samples.events.get(index).map_or(SampleTotal::default(), &of);
        events.events.iter().map(total).collect()
    }
}

impl<'a> ReportTable<'a> {
    /// Counts a group in its rows, if it is of an event of the table. `stack` is for the functions of its stack.
    fn add(&mut self, group: &SampleGroup, stamp: u32, shows_modes: bool, stack: &mut Vec<StackFunction>) {
        let report = self.report;
        let event = self.events.events.iter().position(|&it| it == group.key.event as usize);
        let Some(event) = event else { return };
        if report.is_hidden(group)
            && let Some(total) = self.totals.get_mut(event)
        {
            total.subtract(group.total);
        }
        report.functions_of(group.key.stack, stack);
        self.has_stacks |= group.key.stack != EMPTY;
        let own = report.own_key(group, stack);
        if !report.shows(group, &own) {
            return;
        }
        let shared = self.index.shared(&own);
        let spot = self.index.spot(own.spot());
        let row = self.row_of(shared, spot, group, group.key.frame);
        if let Some(count) = self.count_of(row, event, stamp, stack.len()) {
            count.children.add(group.total);
            if shows_modes {
                count.add_mode(group.total, report.samples.table.frames.mode(group.key.frame));
            }
            count.own.add(group.total);
        }
        for (before, &function) in report.callers(stack).iter().enumerate() {
            let spot = self.index.spot_of(function, || report.spot_of(function));
            let row = self.row_of(shared, spot, group, function.frame);
            if let Some(count) = self.count_of(row, event, stamp, stack.len() - before) {
                count.children.add(group.total);
            }
        }
    }

    /// Returns the number of a row. If it is new, `group` is the first that has it, in `frame`.
    fn row_of(&mut self, shared: u32, spot: u32, group: &SampleGroup, frame: u32) -> usize {
        let new = self.rows.len();
        let number = self.index.row(shared, spot, &self.rows);
        if number == new {
            let counts = RowCounts::of(self.totals.len());
            let (from, data, mode) = (group.key.from, group.key.data, group.mode);
            let (depth, stamp) = (0, NONE);
            self.rows.push(ReportRow { shared, spot, counts, frame, from, data, mode, depth, stamp });
        }
        number
    }

    /// Returns what an event counts in a row; `None` if the row has counted the group with the number `stamp`. `depth` is the
    /// number of functions from the row's on.
    #[inline]
    fn count_of(&mut self, row: usize, event: usize, stamp: u32, depth: usize) -> Option<&mut RowCount> {
        let row = self.rows.get_mut(row).filter(|row| row.stamp != stamp)?;
        row.stamp = stamp;
        if event == 0 {
            row.depth = row.depth.max(u32::try_from(depth).unwrap_or(u32::MAX));
        }
        row.counts.get_mut(event)
    }

    /// Calls `take` for each row that a group counts in: with its number, and the number of functions before it in the stack,
    /// `None` for its own row, which is the first one. A row is passed again for each time that the stack has it; only the
    /// first time counts.
    pub(super) fn each_row(
        &self,
        group: &SampleGroup,
        stack: &[StackFunction],
        take: &mut dyn FnMut(usize, Option<usize>),
    ) {
        let report = self.report;
        let own = report.own_key(group, stack);
        if !report.shows(group, &own) {
            return;
        }
        let shared = self.index.known_shared(&own);
        let mut take = |spot: u32, before| {
            if let Some(row) = self.index.known_row(shared, spot, &self.rows) {
                take(row, before);
            }
        };
        take(self.index.known_spot(own.spot()), None);
        for (before, &function) in report.callers(stack).iter().enumerate() {
            take(self.index.known_spot_of(function), Some(before));
        }
    }

    /// Returns the report.
    #[must_use]
    pub fn report(&self) -> &'a Report {
        self.report
    }

    /// Returns the events of the table.
    #[must_use]
    pub fn events(&self) -> &'a TableEvents {
        self.events
    }

    /// Returns all rows, those below the limit of the options included, in the order of their first samples.
    #[must_use]
    pub fn rows(&self) -> &[ReportRow] {
        &self.rows
    }

    /// Returns the indices of all rows, in the order of the report.
    #[must_use]
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Returns what percentages are of, by event.
    #[must_use]
    pub fn totals(&self) -> &[SampleTotal] {
        &self.totals
    }

    /// Replaces what percentages are of. Has no effect with another number of events.
    pub fn set_totals(&mut self, totals: &[SampleTotal]) {
        if totals.len() == self.totals.len() {
            self.totals.copy_from_slice(totals);
        }
    }

    /// Returns whether any sample has a stack.
    #[must_use]
    pub fn has_stacks(&self) -> bool {
        self.has_stacks
    }

    /// Returns the number of samples that are beyond the [limits](super::Options::limits).
    #[must_use]
    pub fn beyond(&self) -> u64 {
        self.rows.iter().filter(|row| row.is_beyond()).map(ReportRow::samples).sum()
    }

    /// Returns what a row counts, as percentages and call graphs have it: the period of the first event, with that of what the
    /// row called if callers count that.
    #[must_use]
    pub fn weight(&self, row: &ReportRow) -> u64 {
        let children = self.report.plan.children;
        row.counts.first().map_or(0, |it| if children { it.children.period } else { it.own.period })
    }

    /// Returns the total of the first event, which limits are percentages of.
    pub(super) fn first_total(&self) -> u64 {
        self.totals.first().map_or(0, |it| it.period)
    }

    /// Returns whether a row is below a percentage. perf compares with the precision of a `float`.
    ///
    /// perf: `hist_entry__get_percent_limit`, `tools/perf/util/hist.h`.
    #[must_use]
    pub fn is_below(&self, row: &ReportRow, min_percent: f64) -> bool {
        (percent(self.weight(row), self.first_total()) as f32) < min_percent as f32
    }

    /// Returns the rows that are not below the limit of the options, in the order of the report.
    pub fn shown(&self) -> impl Iterator<Item = &ReportRow> {
        let rows = self.order.iter().filter_map(|&row| self.rows.get(row));
        rows.filter(|row| !self.is_below(row, self.report.plan.min_percent))
    }

    /// Returns the identity of a row; `None` for the samples beyond the limits.
    pub(super) fn key(&self, row: &ReportRow) -> Option<RowKey> {
        self.index.key(row.shared, row.spot)
    }
}

/// Returns a percentage; 0 of nothing.
#[must_use]
pub fn percent(number: u64, total: u64) -> f64 {
    if total == 0 { 0.0 } else { 100.0 * number as f64 / total as f64 }
}
