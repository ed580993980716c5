//! The call graph of a row: its stacks, as a tree.

use core::hash::BuildHasher;
use core::ops::Range;

use hashbrown::DefaultHashBuilder;

use super::call_graph::{CallGraphOptions, CallGraphStyle, FrameIdentity};
use super::stack_function::StackFunction;
use crate::function_table::FunctionTable;
use crate::sample::SampleTotal;
use crate::table::frames::{FrameTable, NONE};
use crate::table::numbering::Numbering;

/// The identity of a function in a call graph.
///
/// perf: `match_chain`, `tools/perf/util/callchain.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum NodeIdentity {
    Symbol(u32),
    /// The DSO and the offset in it, the symbol, which tells inlined functions at the address apart, and whether the frame is
    /// a guess.
    Address(u32, u64, u32, bool),
    Line(u32),
}

/// A function in the tree. Small, as there may be one for each function of each stack.
#[derive(Debug)]
struct GraphNode {
    function: StackFunction,
    /// The stacks that end here.
    own: SampleTotal,
    /// The same, and those that go on.
    whole: SampleTotal,
    parent: u32,
    /// Where the children are in the list of all. Empty until the tree is finished.
    children: Range<u32>,
}

impl GraphNode {
    fn new(function: StackFunction, parent: u32) -> Self {
        let (own, whole) = (SampleTotal::default(), SampleTotal::default());
        Self { function, own, whole, parent, children: 0..0 }
    }
}

/// The call graph of a row: its stacks, as a tree of functions. A node is an index.
#[derive(Debug)]
pub struct GraphTree {
    /// The first one is the root, which is no function. Parents come before their children.
    nodes: Vec<GraphNode>,
    /// The children of all nodes, one node after the other.
    children: Vec<u32>,
}

/// Functions, one calling the next, and no other one being called in between.
///
/// perf: `struct callchain_node`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GraphBranch {
    /// The functions, in the [order](super::StackOrder) of the report. Not empty.
    pub functions: Vec<StackFunction>,
    /// The node of the last one.
    pub last: usize,
}

/// Makes the call graph of a row.
#[derive(Debug)]
pub(crate) struct GraphBuilder<'a> {
    frames: &'a FrameTable,
    named: &'a FunctionTable,
    by: FrameIdentity,
    nodes: Vec<GraphNode>,
    /// The numbers of nodes, by parent and identity. Without the root, which is nobody's child.
    numbers: Numbering,
    hasher: DefaultHashBuilder,
}

impl<'a> GraphBuilder<'a> {
    pub(crate) fn new(frames: &'a FrameTable, named: &'a FunctionTable, by: FrameIdentity) -> Self {
        let root = GraphNode::new(StackFunction { frame: NONE, function: NONE }, 0);
        let (numbers, hasher) = (Numbering::default(), DefaultHashBuilder::default());
        Self { frames, named, by, nodes: vec![root], numbers, hasher }
    }

    fn identity(&self, it: StackFunction) -> NodeIdentity {
        let symbol = it.symbol(self.named);
        let line = self.named.function(it.function).map_or(NONE, |it| it.line);
        match self.by {
            FrameIdentity::Srcline if line != NONE => NodeIdentity::Line(line),
            FrameIdentity::Srcline | FrameIdentity::Function if symbol != NONE => {
                NodeIdentity::Symbol(symbol)
            }
            _ => {
                let place = self.frames.location(it.frame);
                place.map_or(NodeIdentity::Address(NONE, 0, NONE, false), |it| {
                    NodeIdentity::Address(it.dso, it.offset, symbol, it.guess.is_some())
                })
            }
        }
    }

    /// Adds stacks with the same functions.
    pub(crate) fn add(&mut self, stack: &[StackFunction], total: SampleTotal) {
        let mut node = 0;
        for &function in stack {
            node = self.child(node, function);
        }
        if let Some(node) = self.nodes.get_mut(node as usize).filter(|_| !stack.is_empty()) {
            node.own.add(total);
        }
    }

    /// Returns the number of the child of a node that is a function.
    fn child(&mut self, parent: u32, function: StackFunction) -> u32 {
        let mut numbers = core::mem::take(&mut self.numbers);
        let identity = self.identity(function);
        let of = |number: u32| {
            let it = self.nodes.get(number as usize)?;
            Some((it.parent, self.identity(it.function)))
        };
        let hash_of = |number: u32| self.hasher.hash_one(of(number));
        let next = self.nodes.len() as u32;
        let is_it = |number: u32| of(number) == Some((parent, identity));
        let hash = self.hasher.hash_one(Some((parent, identity)));
        let found = numbers.number_or(hash, is_it, hash_of, Some(next)).unwrap_or(next);
        self.numbers = numbers;
        if found == next {
            self.nodes.push(GraphNode::new(function, parent));
        }
        found
    }

    pub(crate) fn finish(mut self) -> GraphTree {
        self.numbers = Numbering::default();
        // Parents have lower numbers: what a node has, its parent has when it is reached. Until the places of children are known, their
        // number is in place of the end.
        for number in (1..self.nodes.len()).rev() {
            let Some(node) = self.nodes.get_mut(number) else { continue };
            let own = node.own;
            node.whole.add(own);
            let (whole, parent) = (node.whole, node.parent);
            if let Some(parent) = self.nodes.get_mut(parent as usize) {
                parent.whole.add(whole);
                parent.children.end += 1;
            }
        }
        let mut start = 0;
        for node in &mut self.nodes {
            let count = node.children.end;
            node.children = start..start;
            start += count;
        }
        let mut children = vec![0; start as usize];
        for number in 1..self.nodes.len() {
            let parent = self.nodes.get(number).map_or(0, |node| node.parent);
            let Some(parent) = self.nodes.get_mut(parent as usize) else { continue };
            if let Some(place) = children.get_mut(parent.children.end as usize) {
                *place = number as u32;
            }
            parent.children.end += 1;
        }
        for node in &self.nodes {
            let range = node.children.start as usize..node.children.end as usize;
            self.put_in_order(children.get_mut(range).unwrap_or_default());
        }
        GraphTree { nodes: self.nodes, children }
    }

    /// Puts the children of a node in perf's order: equal ones by descending address.
    fn put_in_order(&self, children: &mut [u32]) {
        if children.len() > 1 {
            children.sort_by_cached_key(|&child| {
                core::cmp::Reverse(self.nodes.get(child as usize).map(|it| self.address(it.function)))
            });
        }
    }

    /// Returns what orders functions with the same weight: the file, in the order of the capture, and the start of the
    /// function.
    fn address(&self, it: StackFunction) -> (u32, i64, Vec<u8>) {
        let Some(place) = self.frames.location(it.frame) else {
            return (0, 0, Vec::new());
        };
        let dso = place.dso.wrapping_add(1);
        match self.named.symbol(it.symbol(self.named)) {
            Some(symbol) => (dso, symbol.start.cast_signed(), symbol.name.to_vec()),
            None => (dso, place.offset.cast_signed(), Vec::new()),
        }
    }
}

impl GraphTree {
    /// The node before the first functions, which is none.
    pub const ROOT: usize = 0;

    /// Returns whether no stack has a function.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    /// Returns the stacks that end at a node.
    #[must_use]
    pub fn own(&self, node: usize) -> SampleTotal {
        self.nodes.get(node).map_or(SampleTotal::default(), |it| it.own)
    }

    /// Returns the stacks that go through a node or end there.
    #[must_use]
    pub fn whole(&self, node: usize) -> SampleTotal {
        self.nodes.get(node).map_or(SampleTotal::default(), |it| it.whole)
    }

    /// Returns the stacks that go on after a node.
    #[must_use]
    pub fn after(&self, node: usize) -> SampleTotal {
        let mut total = self.whole(node);
        total.subtract(self.own(node));
        total
    }

    fn children(&self, node: usize) -> impl DoubleEndedIterator<Item = usize> + '_ {
        let range =
            self.nodes.get(node).map_or(0..0, |it| it.children.start as usize..it.children.end as usize);
        self.children.get(range).unwrap_or_default().iter().map(|&child| child as usize)
    }

    /// Returns the branches after a node that have at least a weight, the heaviest first. For
    /// [`CallGraphStyle::Fractal`], the weight is the smallest percentage of the options, of what goes on after the node.
    ///
    /// perf: `sort_chain_graph_abs` and `sort_chain_graph_rel`, `tools/perf/util/callchain.c`.
    #[must_use]
    pub fn branches(&self, node: usize, graph: &CallGraphOptions, min: u64) -> Vec<GraphBranch> {
        let min = match graph.style {
            CallGraphStyle::Fractal => {
                (self.after(node).period as f64 * (graph.min_percent / 100.0)).ceil() as u64
            }
            _ => min,
        };
        let mut branches: Vec<_> = self.children(node).filter_map(|child| self.branch(child)).collect();
        branches.retain(|branch| self.whole(branch.last).period >= min);
        branches.sort_by_key(|branch| core::cmp::Reverse(self.whole(branch.last).period));
        branches
    }

    fn branch(&self, first: usize) -> Option<GraphBranch> {
        let mut node = self.nodes.get(first)?;
        let mut branch = GraphBranch { functions: vec![node.function], last: first };
        while node.children.len() == 1
            && node.own.samples == 0
            && let Some(only) = self.children(branch.last).next()
        {
            node = self.nodes.get(only)?;
            branch.functions.push(node.function);
            branch.last = only;
        }
        Some(branch)
    }

    /// Returns the nodes at which stacks end that have at least a weight, the heaviest first.
    ///
    /// perf: `sort_chain_flat`.
    #[must_use]
    pub fn ends(&self, min: u64) -> Vec<usize> {
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
            stack.extend(self.children(node).rev().map(|child| (child, false)));
        }
        ends.sort_by_key(|&node| core::cmp::Reverse(self.own(node).period));
        ends
    }

    /// Returns the functions from the root to a node.
    #[must_use]
    pub fn path(&self, mut node: usize) -> Vec<StackFunction> {
        let mut path = Vec::new();
        while let Some(it) = self.nodes.get(node).filter(|_| node != Self::ROOT) {
            path.push(it.function);
            node = it.parent as usize;
        }
        path.reverse();
        path
    }
}
