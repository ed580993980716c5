//! The call graph of each row of a table.

use super::Report;
use super::chains::{Builder, Tree};
use super::rows::{Element, Row, Source, Table};
use super::text::percent;
use crate::args::call_graph::{CallGraph, Style};

/// What branches are compared with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weights {
    pub(super) total: u64,
    pub(super) min: u64,
}

/// The groups that a row counts, and the number of functions before the row's in the stack of each.
pub(super) type Uses = Vec<(u32, u32)>;

impl Report<'_> {
    /// Returns what a row counts, as its call graph has it.
    pub(super) fn weight(&self, row: &Row) -> u64 {
        row.counts.first().map_or(0, |it| if self.plan.children { it.children.period } else { it.own.period })
    }

    /// Returns whether a row is below the limit. perf compares with the precision of a `float`.
    ///
    /// perf: `hist_entry__get_percent_limit`, `tools/perf/util/hist.h`.
    pub(super) fn is_left_out(&self, table: &Table<'_>, row: &Row) -> bool {
        let total = table.totals.first().map_or(0, |it| it.period);
        (percent(self.weight(row), total) as f32) < self.plan.min_percent as f32
    }

    pub(super) fn weights(&self, table: &Table<'_>) -> Weights {
        let total = table.totals.first().map_or(0, |it| it.period);
        // perf counts what has a call chain, selected or not.
        Weights { total, min: (total as f64 * (self.plan.graph.min_percent / 100.0)) as u64 }
    }

    /// Collects the stacks of the rows whose call graphs are shown: for each row the groups, and the number of functions
    /// before the row's in the stack. Empty without call graphs.
    pub(super) fn uses(&self, table: &Table<'_>) -> Vec<Uses> {
        let mut uses: Vec<Uses> = Vec::new();
        let min = match self.plan.graph.style {
            Style::Fractal => 0,
            _ => self.weights(table).min,
        };
        if self.plan.graph.style != Style::None && table.has_chains {
            uses.resize_with(table.rows.len(), Vec::new);
            let is_shown: Vec<_> = table
                .rows
                .iter()
                .map(|row| self.weight(row) >= min && !self.is_left_out(table, row) && !row.is_beyond())
                .collect();
            let mut elements = Vec::new();
            for (number, group) in self.source.collected.groups.iter().enumerate() {
                if table.members.events.first() != Some(&(group.same.event as usize)) {
                    continue;
                }
                self.source.elements(group.same.stack, &mut elements);
                self.source.each_row(table, group, &elements, &mut |row, before| {
                    // The first time that a row has the stack counts.
                    let is_new = |last: Option<&(u32, u32)>| last.is_none_or(|last| last.0 != number as u32);
                    if is_shown.get(row) == Some(&true) && is_new(uses[row].last()) {
                        uses[row].push((number as u32, before.unwrap_or(0) as u32));
                    }
                });
            }
        }
        uses
    }
}

/// Returns the call graph of a row; `None` if there is none.
pub(super) fn tree(
    source: &Source<'_>,
    graph: &CallGraph,
    uses: &[(u32, u32)],
    elements: &mut Vec<Element>,
) -> Option<Tree> {
    let mut builder = Builder::new(source, graph);
    for &(group, before) in uses {
        let group = &source.collected.groups[group as usize];
        source.elements(group.same.stack, elements);
        builder.add(elements.get(before as usize..).unwrap_or_default(), group.total);
    }
    Some(builder.finish()).filter(|tree| !tree.is_empty())
}
