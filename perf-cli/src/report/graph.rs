//! The text of call chains.

use perf_profile::report::{
    BranchValue, CallGraphOptions, CallGraphStyle, GraphBranch, GraphTree, StackFunction,
};

use crate::colors::Colors;
use crate::escape::{Alternate, print, push_name};
use crate::names::file_name;
use perf_profile::{FrameTable, FunctionTable, NONE, SampleTotal};
use perf_symbol::Guess;

/// Prints the call chains of rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallGraphPrinter<'a> {
    pub(super) frames: &'a FrameTable,
    pub(super) named: &'a FunctionTable,
    pub(crate) graph: &'a CallGraphOptions,
    pub(super) colors: Colors,
    pub(super) separator: Option<char>,
    /// Whether the first function of a single branch is left out, as the row has it.
    pub(super) skips_first: bool,
    /// What percentages of a graph are of.
    pub(crate) total: u64,
    /// Branches below this weight are left out.
    pub(super) min: u64,
}

/// The branches that are left of a node, to be printed at a depth.
struct GraphLevel {
    node: usize,
    /// The heaviest last.
    branches: Vec<GraphBranch>,
    total: u64,
    remaining: u64,
    counted: u64,
    printed: u64,
    /// Whether something was printed.
    has_siblings: bool,
}

const MARGIN: &[u8] = b"            ";

impl<'a> CallGraphPrinter<'a> {
    /// Returns a printer without colours, limit and total: of names and values alone, until it gets a total.
    pub(crate) fn of_parts(
        frames: &'a FrameTable,
        named: &'a FunctionTable,
        graph: &'a CallGraphOptions,
    ) -> Self {
        Self {
            frames,
            named,
            graph,
            colors: Colors(false),
            separator: None,
            skips_first: false,
            total: 0,
            min: 0,
        }
    }

    /// Appends the call chains of a row. `weight` is that of the row.
    ///
    /// perf: `hist_entry_callchain__fprintf`, `tools/perf/ui/stdio/hist.c`.
    pub(crate) fn push(&self, out: &mut Vec<u8>, tree: &GraphTree, weight: u64) {
        match self.graph.style {
            CallGraphStyle::None => {}
            CallGraphStyle::Graph | CallGraphStyle::Fractal => self.push_graph(out, tree, weight),
            CallGraphStyle::Flat => self.push_flat(out, tree),
            CallGraphStyle::Folded => self.push_folded(out, tree),
        }
    }

    pub(super) fn push_value(&self, out: &mut Vec<u8>, value: SampleTotal, total: u64) {
        match self.graph.value {
            BranchValue::Percent => {
                let percent = if total > 0 { value.period as f64 * 100.0 / total as f64 } else { 0.0 };
                self.colors.push_percent(out, percent, &format!("{percent:.2}%"));
            }
            BranchValue::Period => print(out, format_args!("{}", value.period)),
            BranchValue::Count => print(out, format_args!("{}", value.samples)),
        }
    }

    /// perf: `callchain_list__sym_name`, `tools/perf/util/callchain.c`.
    pub(super) fn push_name(&self, out: &mut Vec<u8>, element: StackFunction) {
        let Self { frames, named, .. } = self;
        let function = named.function(element.function);
        let Some(symbol) = function.and_then(|it| named.symbol(it.symbol)) else {
            let Some(known) = frames.location(element.frame) else { return };
            let mark = if known.guess.is_some() { Guess::MARK } else { "" };
            if known.is_at_several && known.dso != NONE {
                push_name(out, named.short_name(named.short_name_of(known.dso)));
                return print(out, format_args!("+0x{:x}{mark}", known.offset));
            }
            return print(out, format_args!("{}{mark}", Alternate(known.shown)));
        };
        push_name(out, &symbol.label());
        let line = function.and_then(|it| named.line(it.line));
        if let Some(line) = line.filter(|_| self.graph.shows_lines()) {
            out.push(b' ');
            push_name(out, file_name(&line.file));
            print(out, format_args!(":{}", line.line));
        }
        if symbol.is_inlined {
            out.extend_from_slice(b" (inlined)");
        }
    }

    /// perf: `callchain__fprintf_graph`.
    fn push_graph(&self, out: &mut Vec<u8>, tree: &GraphTree, weight: u64) {
        let start = out.len();
        let mut branches = tree.branches(GraphTree::ROOT, self.graph, self.min);
        let (mut margin, mut node) = (0, GraphTree::ROOT);
        let is_single = |branch: &GraphBranch| tree.whole(branch.last).period == weight;
        if let [branch] = &branches[..]
            && is_single(branch)
        {
            node = branch.last;
            let shown = branch.functions.iter().skip(self.skips_first.into());
            let limit = usize::try_from(self.graph.print_limit).ok().filter(|&limit| limit > 0);
            for (number, &element) in shown.take(limit.unwrap_or(usize::MAX)).enumerate() {
                if number == 0 {
                    push_margin(out, 0);
                    out.extend_from_slice(b"|\n");
                    push_margin(out, 0);
                    out.extend_from_slice(b"---");
                    margin = 3;
                } else {
                    push_margin(out, margin);
                }
                self.push_name(out, element);
                out.push(b'\n');
            }
            branches = tree.branches(node, self.graph, self.min);
        }
        let total = if self.graph.style == CallGraphStyle::Fractal { weight } else { self.total };
        self.push_levels(out, tree, self.level(node, branches, total), margin);
        if out.len() > start {
            out.push(b'\n');
        }
    }

    fn level(&self, node: usize, mut branches: Vec<GraphBranch>, total: u64) -> GraphLevel {
        branches.reverse();
        let remaining = if self.graph.style == CallGraphStyle::Fractal { total } else { u64::MAX };
        GraphLevel { node, branches, total, remaining, counted: 0, printed: 0, has_siblings: false }
    }

    /// perf: `__callchain__fprintf_graph`.
    fn push_levels(&self, out: &mut Vec<u8>, tree: &GraphTree, first: GraphLevel, margin: usize) {
        let is_fractal = self.graph.style == CallGraphStyle::Fractal;
        let mut levels = vec![first];
        // Whether there is a line at each depth.
        let mut lines = vec![true];
        while let Some(level) = levels.last_mut() {
            let is_at_limit = self.graph.print_limit > 0 && level.printed == self.graph.print_limit;
            let branch = if is_at_limit { None } else { level.branches.pop() };
            let Some(branch) = branch else {
                self.push_rest(out, tree, level, &mut lines, margin);
                levels.pop();
                lines.pop();
                continue;
            };
            let whole = tree.whole(branch.last);
            level.remaining = level.remaining.wrapping_sub(whole.period);
            level.counted += whole.samples;
            level.printed += 1;
            level.has_siblings = true;
            let before = lines.clone();
            if level.branches.is_empty() && (!is_fractal || level.remaining == 0) {
                lines.pop();
                lines.push(false);
            }
            push_margin(out, margin);
            push_lines(out, &before);
            out.push(b'\n');
            for (number, &element) in branch.functions.iter().enumerate() {
                push_margin(out, margin);
                // The line of this level ends in the branch.
                if number == 0 {
                    push_lines(out, &lines[..lines.len() - 1]);
                    out.extend_from_slice(if lines.last() == Some(&true) { b"|--" } else { b" --" });
                    self.push_value(out, whole, level.total);
                    out.extend_from_slice(b"--");
                } else {
                    push_lines(out, &lines);
                }
                self.push_name(out, element);
                out.push(b'\n');
            }
            let total = if is_fractal { tree.after(branch.last).period } else { level.total };
            let branches = tree.branches(branch.last, self.graph, self.min);
            levels.push(self.level(branch.last, branches, total));
            lines.push(true);
        }
    }

    /// Appends what the branches that were left out count, if percentages are of the level above.
    fn push_rest(
        &self,
        out: &mut Vec<u8>,
        tree: &GraphTree,
        level: &GraphLevel,
        lines: &mut [bool],
        margin: usize,
    ) {
        let is_some = self.graph.style == CallGraphStyle::Fractal
            && level.remaining != 0
            && level.remaining != level.total;
        if !is_some || !level.has_siblings {
            return;
        }
        let mut rest = SampleTotal { samples: 0, period: level.remaining };
        if self.graph.value == BranchValue::Count {
            rest.samples = tree.after(level.node).samples.saturating_sub(level.counted);
            if rest.samples == 0 {
                return;
            }
        }
        if let Some(last) = lines.last_mut() {
            *last = false;
        }
        push_margin(out, margin);
        push_lines(out, &lines[..lines.len() - 1]);
        out.extend_from_slice(b" --");
        self.push_value(out, rest, level.total);
        out.extend_from_slice(b"--[...]\n");
    }

    /// perf: `callchain__fprintf_flat`.
    fn push_flat(&self, out: &mut Vec<u8>, tree: &GraphTree) {
        for node in self.limited(tree.ends(self.min)) {
            out.extend_from_slice(b"           ");
            self.push_value(out, tree.whole(node), self.total);
            out.push(b'\n');
            for element in tree.path(node) {
                out.extend_from_slice(b"                ");
                self.push_name(out, element);
                out.push(b'\n');
            }
            out.push(b'\n');
        }
    }

    /// perf: `callchain__fprintf_folded`.
    fn push_folded(&self, out: &mut Vec<u8>, tree: &GraphTree) {
        for node in self.limited(tree.ends(self.min)) {
            self.push_value(out, tree.own(node), self.total);
            for (number, element) in tree.path(node).into_iter().enumerate() {
                match (number, self.separator) {
                    (0, _) => out.push(b' '),
                    (_, None) => out.push(b';'),
                    (_, Some(separator)) => print(out, format_args!("{separator}")),
                }
                self.push_name(out, element);
            }
            out.push(b'\n');
        }
    }

    fn limited(&self, nodes: Vec<usize>) -> impl Iterator<Item = usize> {
        let limit = usize::try_from(self.graph.print_limit).ok().filter(|&limit| limit > 0);
        nodes.into_iter().take(limit.unwrap_or(usize::MAX))
    }
}

fn push_margin(out: &mut Vec<u8>, margin: usize) {
    out.extend_from_slice(MARGIN);
    out.resize(out.len() + margin, b' ');
}

fn push_lines(out: &mut Vec<u8>, lines: &[bool]) {
    for &is_line in lines {
        out.extend_from_slice(if is_line { b"|          " } else { b"           " });
    }
}
