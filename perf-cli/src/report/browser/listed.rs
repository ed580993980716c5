//! The rows of a table that are shown, with their expanded call chains, as lines.

use core::cmp::Ordering;
use std::collections::HashMap;

use perf_profile::SampleTotal;
use perf_profile::report::{
    CallGraphOptions, CallGraphStyle, Percentage, ReportColumn, ReportRow, ReportTable, RowStacks,
    TableEvents,
};

use super::super::text::TablePrinter;
use super::super::{ReportView, graph, text};
use super::chains::{BranchScale, ChainLine, RowChains};
use super::state::BrowserState;

/// The rows of a table that are shown.
#[derive(Debug)]
pub(super) struct ListedRows<'a> {
    view: ReportView<'a>,
    /// Those of the report, with another limit.
    graph: CallGraphOptions,
    /// Rows below this percentage are left out.
    min_percent: f64,
    pub(super) table: ReportTable<'a>,
    /// What percentages are of if they are of all samples.
    totals: Vec<SampleTotal>,
    pub(super) style: text::TableStyle,
    /// The columns, as wide as all rows need.
    pub(super) columns: Vec<(ReportColumn, usize)>,
    /// By row: its stacks.
    stacks: Vec<RowStacks>,
    /// All rows, in their order.
    order: Vec<usize>,
    /// Those that are shown.
    pub(super) shown: Vec<usize>,
    pub(super) chains: HashMap<usize, RowChains>,
    /// The number of the line of each row that is shown, and of the end.
    starts: Vec<usize>,
}

/// What a line shows.
#[derive(Clone, Copy, Debug)]
pub(super) enum LineContent<'r> {
    /// A row, and whether it is expanded; `None` without call chains.
    Row(&'r ReportRow, Option<bool>),
    Chain(&'r ChainLine),
}

/// The largest number of lines that expanding all rows makes.
const EXPANDED: usize = 1 << 20;

impl<'a> ListedRows<'a> {
    /// Makes the table of events.
    pub(super) fn new(view: ReportView<'a>, events: &'a TableEvents, state: &BrowserState) -> Self {
        let table = view.report.table(events, Percentage::Absolute);
        let mut style = view.style();
        (style.terminal, style.colors, style.separator) = (None, crate::colors::Colors(false), None);
        let columns = TablePrinter::new(&table, &style).columns().to_vec();
        let mut listed = Self {
            view,
            graph: view.report.plan().graph,
            min_percent: view.report.plan().min_percent,
            totals: table.totals().to_vec(),
            order: table.order().to_vec(),
            table,
            style,
            columns,
            stacks: Vec::new(),
            shown: Vec::new(),
            chains: HashMap::new(),
            starts: Vec::new(),
        };
        listed.limit(state);
        listed.sort(state);
        listed.select(state);
        listed
    }

    /// Takes a new limit for rows and branches.
    pub(super) fn limit(&mut self, state: &BrowserState) {
        // The first limit of rows is not that of branches.
        let first = self.view.report.plan();
        let is_first = state.min_percent == first.min_percent;
        self.graph.min_percent = if is_first { first.graph.min_percent } else { state.min_percent };
        self.min_percent = state.min_percent;
        self.chains.clear();
        self.stacks = self.table.row_stacks(&self.graph, self.min_percent);
    }

    /// Orders the rows.
    pub(super) fn sort(&mut self, state: &BrowserState) {
        let table = &self.table;
        let rows = table.rows();
        let by = |one: &ReportRow, other: &ReportRow| match state.sort {
            None => Ordering::Equal,
            Some((column @ ReportColumn::Key(_), _) | (column, 0)) => table.compare_by(column, one, other),
            Some((column, member)) => {
                let number = |row: &ReportRow| row.counts().get(member).map_or(0, |it| it.number(column));
                number(other).cmp(&number(one))
            }
        };
        self.order.sort_by(|&one: &usize, &other: &usize| {
            let (one, other) = (&rows[one], &rows[other]);
            let ordering = by(one, other).then_with(|| table.compare(one, other));
            if state.is_reversed { ordering.reverse() } else { ordering }
        });
    }

    /// Selects the rows that are shown.
    ///
    /// perf: `hists__filter_by_thread` and the like, `hists__total_period`, `tools/perf/util/hist.c`.
    pub(super) fn select(&mut self, state: &BrowserState) {
        let rows = self.table.rows();
        let order = self.order.iter().copied();
        let mut shown: Vec<_> = order.filter(|&row| state.shows(&self.table, &rows[row])).collect();
        let mut totals = self.totals.clone();
        if state.is_relative {
            totals.iter_mut().for_each(|it| *it = SampleTotal::default());
            for &row in &shown {
                let counts = rows[row].counts().iter();
                totals.iter_mut().zip(counts).for_each(|(total, count)| total.add(count.own));
            }
        }
        self.table.set_totals(&totals);
        shown.retain(|&row| !self.table.is_below(&self.table.rows()[row], self.min_percent));
        self.shown = shown;
        let open: Vec<_> = self.chains.keys().copied().collect();
        for row in open {
            self.update(row);
        }
        self.number();
    }

    /// Counts the lines.
    pub(super) fn number(&mut self) {
        self.starts.clear();
        let mut line = 0;
        for row in &self.shown {
            self.starts.push(line);
            line += 1 + self.chains.get(row).map_or(0, RowChains::len);
        }
        self.starts.push(line);
    }

    /// Returns the number of lines.
    pub(super) fn len(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Returns the sum of what is shown, or of all, by event.
    pub(super) fn totals(&self) -> &[SampleTotal] {
        self.table.totals()
    }

    /// Returns the position of the row of a line among those that are shown, and the number of the line in it.
    fn position(&self, line: usize) -> Option<(usize, usize)> {
        let position = self.starts.partition_point(|&start| start <= line).checked_sub(1)?;
        self.shown.get(position)?;
        Some((position, line - self.starts[position]))
    }

    /// Returns what a line shows.
    pub(super) fn line(&self, line: usize) -> Option<LineContent<'_>> {
        let (position, inner) = self.position(line)?;
        let row = self.shown[position];
        match inner.checked_sub(1) {
            None => {
                let is_open = self.chains.get(&row).is_some_and(|it| it.is_open);
                let has_chains =
                    self.table.has_stacks() && self.stacks.get(row).is_some_and(|stacks| !stacks.is_empty());
                Some(LineContent::Row(&self.table.rows()[row], has_chains.then_some(is_open)))
            }
            Some(inner) => self.chains.get(&row)?.lines.get(inner).map(LineContent::Chain),
        }
    }

    /// Returns the row of a line, and the number of that row's line.
    pub(super) fn row(&self, line: usize) -> Option<(&ReportRow, usize)> {
        let (position, _) = self.position(line)?;
        Some((&self.table.rows()[self.shown[position]], self.starts[position]))
    }

    /// Returns the position of the row of a line among those that are shown.
    pub(super) fn position_of_row(&self, line: usize) -> usize {
        self.position(line).map_or(0, |(position, _)| position)
    }

    /// Makes the lines of a row's call chains anew.
    fn update(&mut self, row: usize) {
        let Some(mut chains) = self.chains.remove(&row) else { return };
        chains.update(self.scale(row));
        self.chains.insert(row, chains);
    }

    pub(super) fn scale(&self, row: usize) -> BranchScale<'_> {
        let total = self.table.totals().first().map_or(0, |it| it.period);
        let weight = self.table.weight(&self.table.rows()[row]);
        BranchScale { graph: &self.graph, total, weight, min: self.table.min_weight(&self.graph) }
    }

    /// Takes the call chains of a row out, to change them; `None` if it has none.
    pub(super) fn take(&mut self, row: usize) -> Option<RowChains> {
        if let Some(chains) = self.chains.remove(&row) {
            return Some(chains);
        }
        if self.graph.style == CallGraphStyle::None {
            return None;
        }
        self.table.call_graph(self.stacks.get(row)?, &self.graph, &mut Vec::new()).map(RowChains::new)
    }

    /// Expands or collapses one level: the row of a line, or the branch that the line begins. Returns whether there is
    /// something to expand.
    pub(super) fn toggle(&mut self, line: usize) -> bool {
        let Some((position, inner)) = self.position(line) else { return false };
        let row = self.shown[position];
        let Some(mut chains) = self.take(row) else { return false };
        let mut is_done = true;
        match inner.checked_sub(1) {
            None => {
                chains.is_open = !chains.is_open;
                chains.update(self.scale(row));
                is_done = !chains.lines.is_empty();
                chains.is_open &= is_done;
            }
            Some(inner) => match chains.lines.get(inner).and_then(|line| line.branch) {
                Some((branch, _)) => chains.toggle(branch, self.scale(row)),
                None => is_done = false,
            },
        }
        self.chains.insert(row, chains);
        self.number();
        is_done
    }

    /// Expands all of the row of a line, or collapses it. Returns whether there is something to expand.
    pub(super) fn toggle_row(&mut self, line: usize) -> bool {
        let Some((position, _)) = self.position(line) else { return false };
        let row = self.shown[position];
        let Some(mut chains) = self.take(row) else { return false };
        if chains.is_open {
            chains.collapse();
        } else {
            chains.expand(self.scale(row));
            chains.is_open = !chains.lines.is_empty();
        }
        let is_done = !chains.lines.is_empty();
        self.chains.insert(row, chains);
        self.number();
        is_done
    }

    /// Collapses the row of a line.
    pub(super) fn collapse(&mut self, line: usize) {
        let Some((position, _)) = self.position(line) else { return };
        if let Some(chains) = self.chains.get_mut(&self.shown[position]) {
            chains.collapse();
        }
        self.number();
    }

    /// Collapses all rows.
    pub(super) fn collapse_all(&mut self) {
        self.chains.values_mut().for_each(RowChains::collapse);
        self.number();
    }

    /// Expands all rows, as far as there is room. Returns whether all are expanded.
    pub(super) fn expand_all(&mut self) -> bool {
        let mut lines = 0;
        let mut is_all = true;
        for row in self.shown.clone() {
            if lines >= EXPANDED {
                is_all = false;
                break;
            }
            let Some(mut chains) = self.take(row) else { continue };
            chains.expand(self.scale(row));
            chains.is_open = !chains.lines.is_empty();
            lines += chains.len();
            self.chains.insert(row, chains);
        }
        self.number();
        is_all
    }

    /// Returns what prints rows on lines of a width.
    pub(super) fn printer<'s>(&'s self, style: &'s text::TableStyle) -> TablePrinter<'s> {
        TablePrinter::with_columns(&self.table, style, self.columns.clone())
    }

    /// Returns what prints functions of call chains.
    pub(super) fn graph(&self) -> graph::CallGraphPrinter<'_> {
        let report = self.view.report;
        graph::CallGraphPrinter::of_parts(report.frames(), report.function_table(), &self.graph)
    }
}
