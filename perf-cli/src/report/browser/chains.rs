//! The call chains of a row, as far as they are expanded.

use std::collections::HashSet;

use perf_profile::SampleTotal;
use perf_profile::report::{CallGraphOptions, CallGraphStyle, GraphBranch, GraphTree, StackFunction};

/// A function of a call chain, as a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChainLine {
    pub(super) depth: usize,
    pub(super) function: StackFunction,
    /// The branch that the line begins, if it can be expanded, and whether it is.
    pub(super) branch: Option<(usize, bool)>,
    /// What the branch counts, and what of; only in the first line of a branch that is not all of the row.
    pub(super) share: Option<(SampleTotal, u64)>,
}

/// The call chains of a row.
#[derive(Debug)]
pub(super) struct RowChains {
    pub(super) tree: GraphTree,
    /// The branches that are expanded, by their last node.
    pub(super) expanded: HashSet<usize>,
    /// Whether the row itself is expanded.
    pub(super) is_open: bool,
    pub(super) lines: Vec<ChainLine>,
}

/// What branches are compared with.
#[derive(Clone, Copy, Debug)]
pub(super) struct BranchScale<'a> {
    pub(super) graph: &'a CallGraphOptions,
    /// What percentages of a graph are of.
    pub(super) total: u64,
    /// What the row counts.
    pub(super) weight: u64,
    /// Branches below this weight are left out.
    pub(super) min: u64,
}

impl RowChains {
    /// Returns the call chains of a row, all of them collapsed.
    pub(super) fn new(tree: GraphTree) -> Self {
        Self { tree, expanded: HashSet::new(), is_open: false, lines: Vec::new() }
    }

    /// Returns the number of lines that are shown.
    pub(super) fn len(&self) -> usize {
        if self.is_open { self.lines.len() } else { 0 }
    }

    /// Expands or collapses a branch.
    pub(super) fn toggle(&mut self, branch: usize, scale: BranchScale<'_>) {
        if !self.expanded.remove(&branch) {
            self.expanded.insert(branch);
        }
        self.update(scale);
    }

    /// Expands the row and all of its branches.
    pub(super) fn expand(&mut self, scale: BranchScale<'_>) {
        let mut nodes = vec![GraphTree::ROOT];
        while let Some(node) = nodes.pop() {
            let branches = self.tree.branches(node, scale.graph, scale.min);
            nodes.extend(branches.iter().map(|branch| branch.last));
            self.expanded.extend(branches.iter().map(|branch| branch.last));
        }
        self.is_open = true;
        self.update(scale);
    }

    /// Collapses the row and all of its branches.
    pub(super) fn collapse(&mut self) {
        self.expanded.clear();
        self.is_open = false;
    }

    /// Makes the lines anew.
    pub(super) fn update(&mut self, scale: BranchScale<'_>) {
        let is_fractal = scale.graph.style == CallGraphStyle::Fractal;
        let tree = &self.tree;
        // The branches after a node, with the depth, and what they are shares of; the heaviest last.
        let after = |node: usize, depth: usize, weight: u64| {
            let branches = tree.branches(node, scale.graph, scale.min);
            let total = if is_fractal { weight } else { scale.total };
            // What the row has is not said again.
            let is_whole = |it: &GraphBranch| node == GraphTree::ROOT && tree.whole(it.last).period == weight;
            let of = |branch| (is_whole(&branch), branch);
            let all = branches.into_iter().rev().map(of);
            all.map(|(is_whole, branch)| (branch, depth, (!is_whole).then_some(total))).collect::<Vec<_>>()
        };
        let mut lines = Vec::new();
        let mut left = after(GraphTree::ROOT, 0, scale.weight);
        while let Some((branch, depth, total)) = left.pop() {
            let whole = tree.whole(branch.last);
            let below = after(branch.last, depth + 1, tree.after(branch.last).period);
            let is_expanded = self.expanded.contains(&branch.last);
            let can_expand = branch.functions.len() > 1 || !below.is_empty();
            let shown = if is_expanded { branch.functions.len() } else { 1 };
            for (number, &function) in branch.functions.iter().take(shown).enumerate() {
                let is_first = number == 0;
                lines.push(ChainLine {
                    depth,
                    function,
                    branch: (is_first && can_expand).then_some((branch.last, is_expanded)),
                    share: total.filter(|_| is_first).map(|total| (whole, total)),
                });
            }
            if is_expanded {
                left.extend(below);
            }
        }
        self.lines = lines;
    }
}
