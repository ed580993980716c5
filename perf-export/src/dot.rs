//! Call graphs for Graphviz: a box for each function, and an arrow for each call, as gprof2dot draws them.
//!
//! A box has the function's file and name, the share of the samples that have it in their stack, and in parentheses the share of
//! those whose innermost function it is. An arrow has the share of the samples in the call. Boxes and arrows that are small are
//! left out; the title says how many.
//!
//! Graphviz: "The DOT Language".

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{self, Write};

use perf_profile::call_graph::{CallGraph, GraphFunction};
use perf_profile::{Profile, Weight, event_name, text::OneLine};

/// Options of call graphs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// What a sample counts.
    pub weight: Weight,
    /// Name of the event whose samples are drawn, as [`event_name`] returns it. `None` chooses the event of the first sample: a sum
    /// over several events has no meaning.
    pub event: Option<Vec<u8>>,
    /// Functions with a smaller percentage of the samples have no box.
    pub least_function: f64,
    /// Calls with a smaller percentage of the samples have no arrow.
    pub least_call: f64,
}

impl Default for Options {
    /// Periods; 0.5 % and 0.1 %, as gprof2dot has them.
    fn default() -> Self {
        Self { weight: Weight::default(), event: None, least_function: 0.5, least_call: 0.1 }
    }
}

/// Writes the call graph of all captures together.
///
/// Costs memory for each line of a function and for each call.
///
/// # Errors
///
/// Those of `out`.
pub fn write(profiles: &[Profile], options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let first = profiles.iter().find_map(|profile| {
        let sample = profile.sample(0)?;
        profile.events().get(sample.event as usize).map(|it| event_name(&it.event))
    });
    let event = options.event.clone().or(first).unwrap_or_default();
    let graph = CallGraph::of(profiles, options.weight, std::slice::from_ref(&event));
    out.write_all(DotText { graph: &graph, options }.text(&event).as_bytes())
}

struct DotText<'a> {
    graph: &'a CallGraph,
    options: &'a Options,
}

impl DotText<'_> {
    fn text(&self, event: &[u8]) -> String {
        let Self { graph, options } = self;
        let is_shown = |function: &GraphFunction| self.percent(&function.whole) >= options.least_function;
        let shown: HashSet<usize> = graph
            .functions
            .iter()
            .enumerate()
            .filter(|(_, it)| is_shown(it))
            .map(|(index, _)| index)
            .collect();
        let (mut boxes, mut arrows) = (String::new(), String::new());
        let (mut calls, mut left_out) = (0_usize, 0_usize);
        for (index, function) in graph.functions.iter().enumerate().filter(|(index, _)| shown.contains(index))
        {
            self.push_box(&mut boxes, index, function);
            for (callee, costs) in calls_of(function) {
                calls += 1;
                let percent = self.percent(&[costs]);
                if shown.contains(&callee) && percent >= options.least_call {
                    let _ = writeln!(
                        arrows,
                        "  f{index} -> f{callee} [label=\"{percent:.2}%\", penwidth=\"{:.2}\", color=\"{}\"];",
                        0.5 + percent / 25.0,
                        color(percent)
                    );
                } else {
                    left_out += 1;
                }
            }
        }
        let total = graph.total.first().copied().unwrap_or_default();
        let hidden = graph.functions.len() - shown.len();
        format!(
            "digraph {{\n  graph [fontname=\"Helvetica\", nodesep=0.125, ranksep=0.25, labelloc=t, \
             label=\"{}: {total}; {hidden} of {} functions and {left_out} of {calls} calls are too small to be drawn\"];\n  \
             node [fontname=\"Helvetica\", shape=box, style=filled, fontsize=10];\n  \
             edge [fontname=\"Helvetica\", fontsize=9];\n{boxes}{arrows}}}\n",
            quoted(event),
            graph.functions.len()
        )
    }

    fn push_box(&self, text: &mut String, index: usize, function: &GraphFunction) {
        let own = function
            .own
            .iter()
            .filter_map(|it| it.costs.first())
            .fold(0_u64, |sum, &it| sum.wrapping_add(it));
        let percent = self.percent(&function.whole);
        let file = function.dso.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        let _ = writeln!(
            text,
            "  f{index} [label=\"{}\\n{}\\n{percent:.2}%\\n({:.2}%)\", fillcolor=\"{}\", fontcolor=\"{}\"];",
            quoted(file),
            quoted(&function.name),
            self.percent(&[own]),
            color(percent),
            if percent >= 40.0 { "#ffffff" } else { "#000000" },
        );
    }

    /// Returns what percentage of the samples a cost is.
    fn percent(&self, costs: &[u64]) -> f64 {
        let total = self.graph.total.first().copied().unwrap_or_default();
        let cost = costs.first().copied().unwrap_or_default();
        if total == 0 { 0.0 } else { cost as f64 * 100.0 / total as f64 }
    }
}

/// Returns the called functions, each once, with the costs of the calls from all lines.
fn calls_of(function: &GraphFunction) -> Vec<(usize, u64)> {
    let cost = |costs: &[u64]| costs.first().copied().unwrap_or_default();
    let mut calls: Vec<(usize, u64)> = function.calls.iter().map(|it| (it.callee, cost(&it.costs))).collect();
    calls.sort_unstable();
    calls.dedup_by(|other, kept| {
        let is_same = other.0 == kept.0;
        if is_same {
            kept.1 = kept.1.wrapping_add(other.1);
        }
        is_same
    });
    calls
}

/// Returns a color between white and red, darker for more.
fn color(percent: f64) -> String {
    let share = (percent / 100.0).clamp(0.0, 1.0).sqrt();
    let part = |white: f64, full: f64| (white + (full - white) * share).round() as u8;
    format!("#{:02x}{:02x}{:02x}", part(250.0, 170.0), part(244.0, 20.0), part(230.0, 10.0))
}

/// Returns a name as the inside of a quoted string of DOT.
fn quoted(name: &[u8]) -> String {
    OneLine(name).to_string().replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn names_stay_inside_their_quotes() {
        assert_eq!(quoted(b"a\"];b"), "a\\\"];b");
        assert_eq!(quoted(b"a\\"), "a\\\\");
        assert!(!quoted(b"a\nb").contains('\n'));
    }
}
