//! The stacks of each row, of which call graphs are made.

use super::call_graph::{CallGraphOptions, CallGraphStyle};
use super::call_tree::{GraphBuilder, GraphTree};
use super::row::ReportRow;
use super::stack_function::StackFunction;
use super::table::ReportTable;

/// The stacks of a row, of which [`ReportTable::call_graph`] makes a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowStacks {
    /// The groups, and the number of functions before the row's in the stack of each.
    stacks: Vec<(u32, u32)>,
}

impl RowStacks {
    /// Returns the number of different stacks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.stacks.len()
    }

    /// Returns whether the row has no call graph.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stacks.is_empty()
    }

    /// Adds a group; the first time that a row has it counts.
    fn add(&mut self, group: u32, before: u32) {
        if self.stacks.last().is_none_or(|last| last.0 != group) {
            self.stacks.push((group, before));
        }
    }
}

impl ReportTable<'_> {
    /// Returns the period below which branches of call graphs are left out. [`CallGraphStyle::Fractal`] has another one for
    /// each branch.
    #[must_use]
    pub fn min_weight(&self, graph: &CallGraphOptions) -> u64 {
        // perf counts what has a call chain, selected or not.
        (self.first_total() as f64 * (graph.min_percent / 100.0)) as u64
    }

    /// Collects the stacks of the rows whose call graphs are shown, by row: of those that are not [below](Self::is_below) a
    /// percentage, and have the weight of a branch. Empty without call graphs.
    ///
    /// Costs a step for each function of each different stack.
    #[must_use]
    pub fn row_stacks(&self, graph: &CallGraphOptions, min_percent: f64) -> Vec<RowStacks> {
        if graph.style == CallGraphStyle::None || !self.has_stacks() {
            return Vec::new();
        }
        let min = match graph.style {
            CallGraphStyle::Fractal => 0,
            _ => self.min_weight(graph),
        };
        let is_shown =
            |row: &ReportRow| self.weight(row) >= min && !self.is_below(row, min_percent) && !row.is_beyond();
        let is_shown: Vec<_> = self.rows.iter().map(is_shown).collect();
        let mut of_rows = vec![RowStacks::default(); self.rows.len()];
        let mut stack = Vec::new();
        for (number, group) in (0..).zip(&self.report.samples.groups) {
            if self.events().events.first() != Some(&(group.key.event as usize)) {
                continue;
            }
            self.report.functions_of(group.key.stack, &mut stack);
            self.each_row(group, &stack, &mut |row, before| {
                if let Some(stacks) = of_rows.get_mut(row).filter(|_| is_shown.get(row) == Some(&true)) {
                    stacks.add(number, before.unwrap_or(0) as u32);
                }
            });
        }
        of_rows
    }

    /// Makes the call graph of a row; `None` if it has none. `scratch` is memory for the functions of a stack, whose content
    /// does not matter.
    #[must_use]
    pub fn call_graph(
        &self,
        stacks: &RowStacks,
        graph: &CallGraphOptions,
        scratch: &mut Vec<StackFunction>,
    ) -> Option<GraphTree> {
        let mut builder = GraphBuilder::new(self.report.frames(), self.report.function_table(), graph.by);
        for &(group, before) in &stacks.stacks {
            let Some(group) = self.report.samples.groups.get(group as usize) else { continue };
            self.report.functions_of(group.key.stack, scratch);
            builder.add(scratch.get(before as usize..).unwrap_or_default(), group.total);
        }
        Some(builder.finish()).filter(|tree| !tree.is_empty())
    }
}
