//! The contents of a report.

use perf_abi::event::EventType;
use perf_abi::feature::Feature;
use perf_abi::sample_type::SampleType;
use perf_parse::file::{Mode, Reader};
use regex_lite::Regex;

use super::keys::{Column, Has, Key, Layout};
use super::machine::Machine;
use crate::Failure;
use crate::args::call_graph::{CallGraph, Order, Style};
use crate::args::report::ReportArgs;

/// What is shown, as follows from the arguments and from what the capture has.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) layout: Layout,
    pub(super) graph: CallGraph,
    pub(super) order: Order,
    pub(super) children: bool,
    pub(super) branches: bool,
    /// Samples are memory accesses.
    pub(super) memory: bool,
    pub(super) machine: Machine,
    pub(super) parent: Option<Regex>,
    pub(super) min_percent: f64,
    pub(super) time_quantum: u64,
}

/// perf: `default_parent_pattern`, `tools/perf/util/sort.c`.
const PARENTS: &str = "^sys_|^do_page_fault";

impl Plan {
    pub(super) fn new(args: &ReportArgs, reader: &Reader<'_>) -> Result<Self, Failure> {
        let events = reader.events();
        // A stream that does not begin with its events may have any.
        let is_complete = !matches!(reader.mode(), Mode::Pipe) || !events.is_empty();
        let has = |kind: SampleType| events.iter().any(|event| event.attr.sample_type.contains(kind));
        let has_stacks = !is_complete || has(SampleType::CALLCHAIN) || has(SampleType::STACK_USER);
        let has_branches = !is_complete || has(SampleType::BRANCH_STACK);
        if args.branch_stack && !has_branches {
            let what = "the samples have no branches; leave it out, or record with perf record -b";
            return Err(Failure(format!("--branch-stack: {what}")));
        }
        let prefers_branches =
            reader.feature(Feature::BRANCH_STACK).is_some() && !has(SampleType::STACK_USER);
        let memory = args.mem_mode;
        if memory && is_complete && !has(SampleType::DATA_SRC) {
            let what =
                "the samples do not tell where data was found; leave it out, or record with perf mem record";
            return Err(Failure(format!("--mem-mode: {what}")));
        }
        let branches = !memory && (args.branch_stack || prefers_branches && !args.no_branch_stack);
        let mut graph =
            args.call_graph.as_deref().map_or_else(|| Ok(CallGraph::default()), CallGraph::parse)?;
        if args.call_graph.is_some() && graph.style != Style::None && !has_stacks {
            let what = "the samples have no stacks; leave it out, or record with perf record -g";
            return Err(Failure(format!("--call-graph: {what}")));
        }
        if args.no_call_graph || !has_stacks || branches {
            graph.style = Style::None;
        }
        let mut min_percent = 0.0;
        if let Some(limit) = args.percent_limit {
            if !(0.0..=100.0).contains(&limit) {
                return Err(Failure(format!("--percent-limit {limit}: must be a percentage from 0 to 100")));
            }
            (min_percent, graph.min_percent) = (limit, limit);
        }
        let children = !args.no_children && has_stacks && !branches && !memory;
        let default_order = if children || args.inverted { Order::Caller } else { Order::Callee };
        let order = match graph.order {
            Some(order) if !args.inverted => order,
            _ => default_order,
        };
        let machine = Machine::new(reader);
        let only_tracepoints = !args.off_cpu
            && !memory
            && !events.is_empty()
            && events.iter().all(|event| event.attr.kind == EventType::TRACEPOINT);
        let pipeline = machine.has_pipeline;
        let layout = Layout::new(args, Has { children, branches, memory, pipeline, only_tracepoints })?;
        if layout.has(Key::Parent) && !has_stacks {
            let what = "the samples have no stacks, so they have no parents; record with perf record -g";
            return Err(Failure(format!("--sort parent: {what}")));
        }
        let pattern = args.parent.as_deref().unwrap_or(PARENTS);
        let needs_parent = layout.has(Key::Parent) || args.exclude_other;
        let parent = needs_parent.then(|| Regex::new(pattern)).transpose();
        let parent = parent.map_err(|error| Failure(format!("--parent {pattern}: {error}")))?;
        let time_quantum = nanoseconds(&args.time_quantum)?;
        Ok(Self {
            layout,
            graph,
            order,
            children,
            branches,
            memory,
            machine,
            parent,
            min_percent,
            time_quantum,
        })
    }

    /// Returns the columns that have the same in all rows, and what that is. perf prints it once, above the tables.
    ///
    /// perf: `sort__setup_elide`, `tools/perf/util/sort.c`.
    pub(super) fn elided<'a>(&self, args: &'a ReportArgs) -> Vec<(Key, &'static str, &'a str)> {
        let only = &args.only;
        let lists = [
            (Key::Symbol, "symbol", &only.functions),
            (Key::Dso, "dso", &only.dsos),
            (Key::Comm, "comm", &only.comms),
        ];
        let is_elided = |key: Key| lists.iter().any(|(of, _, list)| *of == key && list.len() == 1);
        let keys: Vec<_> = self
            .layout
            .columns
            .iter()
            .filter_map(|it| if let Column::Key(key) = it { Some(*key) } else { None })
            .collect();
        let all = keys.iter().all(|&key| is_elided(key));
        let mut elided = Vec::new();
        for key in keys {
            if let Some((_, name, list)) = lists.iter().find(|(of, _, list)| *of == key && list.len() == 1) {
                elided.push((key, *name, list[0].as_str()));
            }
        }
        // Without any key, rows would say nothing; perf prints the lines nevertheless.
        if all { Vec::new() } else { elided }
    }
}

/// Parses a length of time.
fn nanoseconds(text: &str) -> Result<u64, Failure> {
    let fault =
        || Failure(format!("--time-quantum {text}: must be a number with ns, us, ms or s, for example 10ms"));
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic() || letter == ' ');
    let unit = match text[digits.len()..].trim() {
        "" | "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return Err(fault()),
    };
    let number: u64 = digits.parse().map_err(|_| fault())?;
    number.checked_mul(unit).filter(|&time| time > 0).ok_or_else(fault)
}
