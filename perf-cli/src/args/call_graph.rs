//! The display of call chains: the argument of `--call-graph`.

use crate::Failure;

/// perf: `struct callchain_param`, `tools/perf/util/callchain.h`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CallGraph {
    pub(crate) style: Style,
    /// Branches below this percentage are left out.
    pub(crate) min_percent: f64,
    /// The largest number of branches of a row; 0 for all.
    pub(crate) print_limit: u64,
    /// `None` if it was not given.
    pub(crate) order: Option<Order>,
    pub(crate) by: By,
    pub(crate) value: Shows,
}

/// perf: `enum chain_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    None,
    /// A tree with percentages of all samples.
    Graph,
    /// A tree with percentages of the caller or callee above.
    Fractal,
    Flat,
    Folded,
}

/// Which end of the stacks is on top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Caller,
    Callee,
}

/// What makes two frames the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Function,
    Address,
    Srcline,
}

/// What is shown of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    Percent,
    Period,
    Count,
}

impl Default for CallGraph {
    fn default() -> Self {
        Self {
            style: Style::Graph,
            min_percent: 0.5,
            print_limit: 0,
            order: None,
            by: By::Function,
            value: Shows::Percent,
        }
    }
}

impl CallGraph {
    /// Parses `print_type,threshold[,print_limit],order,sort_key,value`. As in perf, each word may be shortened, and they
    /// may be in any order.
    ///
    /// perf: `parse_callchain_report_opt`, `tools/perf/util/callchain.c`.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let mut graph = Self::default();
        let mut has_percent = false;
        for word in text.split(',').filter(|word| !word.is_empty()) {
            let is = |name: &str| name.starts_with(word);
            match () {
                () if is("none") => return Ok(Self { style: Style::None, ..graph }),
                () if is("graph") => graph.style = Style::Graph,
                () if is("flat") => graph.style = Style::Flat,
                () if is("fractal") => graph.style = Style::Fractal,
                () if is("folded") => graph.style = Style::Folded,
                () if is("caller") => graph.order = Some(Order::Caller),
                () if is("callee") => graph.order = Some(Order::Callee),
                () if is("function") => graph.by = By::Function,
                () if is("address") => graph.by = By::Address,
                () if is("srcline") => graph.by = By::Srcline,
                () if is("percent") => graph.value = Shows::Percent,
                () if is("period") => graph.value = Shows::Period,
                () if is("count") => graph.value = Shows::Count,
                () if is("branch") => {
                    let what = "branches are no part of stacks here; leave branch out, or sort by symbol_from,symbol_to";
                    return Err(Failure(format!("--call-graph {text}: {what}")));
                }
                () if !has_percent => {
                    let percent = word.parse().ok().filter(|percent: &f64| (0.0..=100.0).contains(percent));
                    graph.min_percent = percent.ok_or_else(|| fault(text, word))?;
                    has_percent = true;
                }
                () => graph.print_limit = word.parse().map_err(|_| fault(text, word))?,
            }
        }
        Ok(graph)
    }

    pub(crate) fn shows_lines(&self) -> bool {
        self.style != Style::None && matches!(self.by, By::Address | By::Srcline)
    }
}

fn fault(text: &str, word: &str) -> Failure {
    Failure(format!(
        "--call-graph {text}: {word} is none of graph, flat, fractal, folded, none, caller, callee, function, address, \
         srcline, percent, period and count, nor a percentage followed by a number of branches"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_any_order() {
        let graph = CallGraph::parse("fractal,2.5,callee,7,address,count").unwrap();
        let expected = CallGraph {
            style: Style::Fractal,
            min_percent: 2.5,
            print_limit: 7,
            order: Some(Order::Callee),
            by: By::Address,
            value: Shows::Count,
        };
        assert_eq!(graph, expected);
        assert_eq!(CallGraph::parse("").unwrap(), CallGraph::default());
        assert_eq!(CallGraph::parse("caller,none").unwrap().style, Style::None);
        // As in perf, the first name that begins with the word counts.
        assert_eq!(CallGraph::parse("f").unwrap().style, Style::Flat);
        assert_eq!(CallGraph::parse("p").unwrap().value, Shows::Percent);
    }

    #[test]
    fn words_that_are_none() {
        for text in ["x", "graph,x", "1,x", "101", "-1", "NaN", "1,2.5", "branch"] {
            assert!(CallGraph::parse(text).is_err(), "{text}");
        }
    }
}
