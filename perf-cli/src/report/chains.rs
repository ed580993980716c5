//! The call chains of a row, as a tree.

use hashbrown::HashMap;
use perf_profile::{NONE, Total};

use super::rows::{Element, Source};
use crate::args::call_graph::{By, CallGraph, Style};

/// What makes two functions of a stack the same.
///
/// perf: `match_chain`, `tools/perf/util/callchain.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Match {
    Symbol(u32),
    /// The DSO and the offset in it, the symbol, which tells inlined functions at the address apart, and whether the frame is
    /// a guess.
    Address(u32, u64, u32, bool),
    Line(u32),
}

/// A function in the tree.
#[derive(Debug)]
struct Node {
    element: Element,
    /// The stacks that end here.
    own: Total,
    /// With those that go on.
    whole: Total,
    parent: usize,
    children: Vec<usize>,
}

/// The call chains of a row.
#[derive(Debug)]
pub(super) struct Tree {
    /// The first one is the root, which is no function. Parents come before their children.
    nodes: Vec<Node>,
}

/// Functions, one calling the next, and no other one being called in between.
///
/// perf: `struct callchain_node`.
#[derive(Debug)]
pub(super) struct Branch {
    pub(super) elements: Vec<Element>,
    /// The node of the last one.
    pub(super) last: usize,
}

/// Makes trees.
#[derive(Debug)]
pub(super) struct Builder<'a> {
    source: &'a Source<'a>,
    graph: &'a CallGraph,
    nodes: Vec<Node>,
    numbers: HashMap<(usize, Match), usize>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(source: &'a Source<'a>, graph: &'a CallGraph) -> Self {
        let element = Element { frame: NONE, function: NONE };
        let (own, whole) = (Total::default(), Total::default());
        let root = Node { element, own, whole, parent: 0, children: Vec::new() };
        Self { source, graph, nodes: vec![root], numbers: HashMap::new() }
    }

    fn matched(&self, element: Element) -> Match {
        let symbol = self.source.symbol(element);
        let line = self.source.named.function(element.function).map_or(NONE, |it| it.line);
        match self.graph.by {
            By::Srcline if line != NONE => Match::Line(line),
            By::Srcline | By::Function if symbol != NONE => Match::Symbol(symbol),
            _ => {
                let known = self.source.collected.table.frames.place(element.frame);
                known.map_or(Match::Address(NONE, 0, NONE, false), |it| {
                    Match::Address(it.dso, it.offset, symbol, it.guess.is_some())
                })
            }
        }
    }

    /// Adds stacks with the same functions.
    pub(super) fn add(&mut self, elements: &[Element], total: Total) {
        let mut node = 0;
        for &element in elements {
            let next = self.nodes.len();
            let found = *self.numbers.entry((node, self.matched(element))).or_insert(next);
            if found == next {
                self.nodes[node].children.push(next);
                let (own, whole) = (Total::default(), Total::default());
                self.nodes.push(Node { element, own, whole, parent: node, children: Vec::new() });
            }
            node = found;
        }
        if !elements.is_empty() {
            self.nodes[node].own.add(total);
        }
    }

    pub(super) fn finish(mut self) -> Tree {
        for number in (0..self.nodes.len()).rev() {
            let own = self.nodes[number].own;
            self.nodes[number].whole.add(own);
            let Node { whole, parent, .. } = self.nodes[number];
            if number > 0 {
                self.nodes[parent].whole.add(whole);
            }
        }
        // In perf's order: equal ones by descending address.
        for number in 0..self.nodes.len() {
            let mut children = core::mem::take(&mut self.nodes[number].children);
            children.sort_by_cached_key(|&child| core::cmp::Reverse(self.place(self.nodes[child].element)));
            self.nodes[number].children = children;
        }
        Tree { nodes: self.nodes }
    }

    /// Returns what orders functions with the same weight: the file, in the order of the capture, and the start of the
    /// function.
    fn place(&self, element: Element) -> (u32, i64, Vec<u8>) {
        let Some(known) = self.source.collected.table.frames.place(element.frame) else {
            return (0, 0, Vec::new());
        };
        let dso = known.dso.wrapping_add(1);
        match self.source.named.symbol(self.source.symbol(element)) {
            Some(symbol) => (dso, symbol.start.cast_signed(), symbol.name.to_vec()),
            None => (dso, known.offset.cast_signed(), Vec::new()),
        }
    }
}

impl Tree {
    pub(super) const ROOT: usize = 0;

    pub(super) fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    /// The stacks that end at a node.
    pub(super) fn own(&self, node: usize) -> Total {
        self.nodes[node].own
    }

    /// The stacks that go through a node or end there.
    pub(super) fn whole(&self, node: usize) -> Total {
        self.nodes[node].whole
    }

    /// The stacks that go on after a node.
    pub(super) fn after(&self, node: usize) -> Total {
        let mut total = self.nodes[node].whole;
        total.subtract(self.nodes[node].own);
        total
    }

    /// Returns the branches after a node that have at least a weight, the heaviest first.
    ///
    /// perf: `sort_chain_graph_abs` and `sort_chain_graph_rel`, `tools/perf/util/callchain.c`.
    pub(super) fn branches(&self, node: usize, graph: &CallGraph, min: u64) -> Vec<Branch> {
        let min = match graph.style {
            Style::Fractal => (self.after(node).period as f64 * (graph.min_percent / 100.0)).ceil() as u64,
            _ => min,
        };
        let mut branches: Vec<_> =
            self.nodes[node].children.iter().map(|&child| self.branch(child)).collect();
        branches.retain(|branch| self.whole(branch.last).period >= min);
        branches.sort_by_key(|branch| core::cmp::Reverse(self.whole(branch.last).period));
        branches
    }

    fn branch(&self, first: usize) -> Branch {
        let mut branch = Branch { elements: vec![self.nodes[first].element], last: first };
        loop {
            let node = &self.nodes[branch.last];
            match node.children[..] {
                [only] if node.own.samples == 0 => {
                    branch.elements.push(self.nodes[only].element);
                    branch.last = only;
                }
                _ => return branch,
            }
        }
    }

    /// Returns the nodes at which stacks end that have at least a weight, the heaviest first.
    ///
    /// perf: `sort_chain_flat`.
    pub(super) fn ends(&self, min: u64) -> Vec<usize> {
        let mut ends = Vec::new();
        // Children come before their parent, and the first child first.
        let mut stack = vec![(Self::ROOT, false)];
        while let Some((node, is_done)) = stack.pop() {
            if is_done {
                let period = self.own(node).period;
                if period > 0 && period >= min {
                    ends.push(node);
                }
                continue;
            }
            stack.push((node, true));
            stack.extend(self.nodes[node].children.iter().rev().map(|&child| (child, false)));
        }
        ends.sort_by_key(|&node| core::cmp::Reverse(self.own(node).period));
        ends
    }

    /// Returns the functions from the root to a node.
    pub(super) fn path(&self, mut node: usize) -> Vec<Element> {
        let mut path = Vec::new();
        while node != Self::ROOT {
            path.push(self.nodes[node].element);
            node = self.nodes[node].parent;
        }
        path.reverse();
        path
    }
}
