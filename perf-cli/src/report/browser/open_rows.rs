//! The rows that are expanded, described so that they can be expanded in other rows of the same columns: those of the next update.

use std::collections::{HashMap, HashSet};

use perf_profile::report::{GraphTree, ReportColumn, StackFunction};

use super::super::text::TablePrinter;
use super::chains::{BranchScale, RowChains};
use super::listed::ListedRows;

/// The branches of a row that are expanded: each by the functions that begin it and those above, as text.
type OpenBranches = HashSet<Vec<u8>>;

/// The rows that are expanded, by the text of their keys.
#[derive(Debug, Default)]
pub(super) struct OpenRows(HashMap<Vec<u8>, OpenBranches>);

impl RowChains {
    /// Returns the branches that are expanded. `push_name` appends the name of a function.
    fn open_branches(
        &self,
        scale: BranchScale<'_>,
        push_name: &dyn Fn(&mut Vec<u8>, StackFunction),
    ) -> OpenBranches {
        let mut open = OpenBranches::new();
        self.visit_branches(scale, push_name, &mut |path, branch| {
            let is_open = self.expanded.contains(&branch);
            if is_open {
                open.insert(path.to_vec());
            }
            is_open
        });
        open
    }

    /// Expands the row, and those of its branches that were open.
    fn reopen(
        &mut self,
        open: &OpenBranches,
        scale: BranchScale<'_>,
        push_name: &dyn Fn(&mut Vec<u8>, StackFunction),
    ) {
        let mut expanded = HashSet::new();
        self.visit_branches(scale, push_name, &mut |path, branch| {
            let is_open = open.contains(path);
            if is_open {
                expanded.insert(branch);
            }
            is_open
        });
        self.expanded = expanded;
        self.is_open = true;
        self.update(scale);
    }

    /// Calls `visit` with the functions that begin a branch and those above, and its last node; then with the branches after those
    /// for which it returns true.
    fn visit_branches(
        &self,
        scale: BranchScale<'_>,
        push_name: &dyn Fn(&mut Vec<u8>, StackFunction),
        visit: &mut dyn FnMut(&[u8], usize) -> bool,
    ) {
        let mut nodes = vec![(GraphTree::ROOT, Vec::new())];
        while let Some((node, above)) = nodes.pop() {
            for branch in self.tree.branches(node, scale.graph, scale.min) {
                let mut path = above.clone();
                // Names have no control characters.
                branch.functions.iter().take(1).for_each(|&function| push_name(&mut path, function));
                path.push(b'\n');
                if visit(&path, branch.last) {
                    nodes.push((branch.last, path));
                }
            }
        }
    }
}

impl ListedRows<'_> {
    /// Returns the rows that are expanded.
    pub(super) fn open_rows(&self) -> OpenRows {
        let (printer, graph) = (self.printer(&self.style), self.graph());
        let open = self.chains.iter().filter(|(_, chains)| chains.is_open).map(|(&row, chains)| {
            let branches =
                chains.open_branches(self.scale(row), &|out, function| graph.push_name(out, function));
            (self.keys_of(row, &printer), branches)
        });
        OpenRows(open.collect())
    }

    /// Expands the rows that were open.
    pub(super) fn reopen(&mut self, open: &OpenRows) {
        if open.0.is_empty() {
            return;
        }
        let style = self.style.clone();
        let printer = self.printer(&style);
        let found = |&row: &usize| Some((row, open.0.get(&self.keys_of(row, &printer))?));
        let rows: Vec<_> = self.shown.iter().filter_map(found).collect();
        for (row, branches) in rows {
            let Some(mut chains) = self.take(row) else { continue };
            let graph = self.graph();
            chains.reopen(branches, self.scale(row), &|out, function| graph.push_name(out, function));
            self.chains.insert(row, chains);
        }
        self.number();
    }

    /// Returns the text of the keys of a row.
    fn keys_of(&self, row: usize, printer: &TablePrinter<'_>) -> Vec<u8> {
        let keys = self.columns.iter().filter(|(column, _)| matches!(column, ReportColumn::Key(_)));
        let texts = keys.map(|&(column, _)| printer.text(&self.table.rows()[row], column));
        texts.flat_map(|text| [text, b"\n".to_vec()]).flatten().collect()
    }
}
