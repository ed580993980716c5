//! The contents of a report, as they follow from its options and from the capture.

use perf_abi::event::EventType;
use perf_abi::feature::Feature;
use perf_abi::sample_type::SampleType;
use regex_lite::Regex;

use super::call_graph::{CallGraphOptions, CallGraphStyle, StackOrder};
use super::key_list::KeyList;
use super::layout::{Layout, SampleKind};
use super::machine::RecordingMachine;
use super::options::Options;
use super::sort_key::SortKey;
use super::table_events::RecordedEvents;
use super::time_quantum::TimeQuantum;
use crate::capture_info::CaptureInfo;
use crate::error::ReportError;
use crate::limits::Limits;
use crate::symbols::Symbols;
use crate::tracepoints::TracepointTexts;

/// The contents of a report, as they follow from its options and from the capture.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of perf report")]
#[non_exhaustive]
pub struct ReportPlan {
    /// The columns, and the order of rows.
    pub layout: Layout,
    /// The call graphs of rows. [`CallGraphStyle::None`] if there are none.
    pub graph: CallGraphOptions,
    /// The end of the stacks that comes first in call graphs.
    pub order: StackOrder,
    /// Whether rows include the cost of callees.
    pub children: bool,
    /// Whether samples are their branches.
    pub branches: bool,
    /// Whether samples are memory accesses.
    pub memory: bool,
    /// Rows below this percentage are left out.
    pub min_percent: f64,
    pub(super) machine: RecordingMachine,
    pub(super) events: RecordedEvents,
    /// The pattern for parents, if a key or option needs them.
    pub(super) parent: Option<Regex>,
    pub(super) excludes_other: bool,
    pub(super) hides_unresolved: bool,
    pub(super) time_quantum: TimeQuantum,
    pub(super) max_stack: usize,
    pub(super) off_cpu: bool,
    pub(super) inlines: bool,
    pub(super) limits: Limits,
    /// Whether keys need addresses in memory, and the sizes of mappings.
    pub(super) needs_address: bool,
    pub(super) needs_mapping: bool,
}

/// perf: `default_parent_pattern`, `tools/perf/util/sort.c`.
const PARENTS: &str = "^sys_|^do_page_fault";

impl ReportPlan {
    /// Plans the report of a capture. Reads the events and features at its beginning, and no records.
    ///
    /// # Errors
    ///
    /// The option that the capture cannot have, or whose value is none.
    pub fn new<'c>(options: &Options, capture: impl Into<CaptureInfo<'c>>) -> Result<Self, ReportError> {
        let info = capture.into();
        let events = info.events();
        // A stream that does not begin with its events may have any.
        let is_complete = info.is_complete() || !events.is_empty();
        let has = |kind: SampleType| events.iter().any(|event| event.attr.sample_type.contains(kind));
        let has_stacks = !is_complete || has(SampleType::CALLCHAIN) || has(SampleType::STACK_USER);
        let has_branches = !is_complete || has(SampleType::BRANCH_STACK);
        if options.branches == Some(true) && !has_branches {
            return Err(ReportError::NoBranches);
        }
        let prefers_branches = info.feature(Feature::BRANCH_STACK).is_some() && !has(SampleType::STACK_USER);
        let memory = options.memory;
        if memory && is_complete && !has(SampleType::DATA_SRC) {
            return Err(ReportError::NoDataSource);
        }
        let branches = !memory && options.branches.unwrap_or(prefers_branches);
        let mut graph = options.call_graph.unwrap_or_default();
        if options.call_graph.is_some() && graph.style != CallGraphStyle::None && !has_stacks {
            return Err(ReportError::NoStacks);
        }
        if !has_stacks || branches {
            graph.style = CallGraphStyle::None;
        }
        let mut min_percent = 0.0;
        if let Some(limit) = options.percent_limit {
            if !(0.0..=100.0).contains(&limit) {
                return Err(ReportError::PercentLimit(limit.to_string()));
            }
            (min_percent, graph.min_percent) = (limit, limit);
        }
        let children = options.children && has_stacks && !branches && !memory;
        let is_caller_first = children || options.inverted;
        let default_order = if is_caller_first { StackOrder::Caller } else { StackOrder::Callee };
        let order = graph.order.filter(|_| !options.inverted).unwrap_or(default_order);
        let machine = RecordingMachine::new(info.features());
        let only_tracepoints = !options.off_cpu
            && !memory
            && !events.is_empty()
            && events.iter().all(|event| event.attr.kind == EventType::TRACEPOINT);
        let pipeline = machine.has_pipeline;
        let kind = SampleKind { children, branches, memory, pipeline, only_tracepoints };
        let tracepoints =
            match [&options.sort, &options.fields].into_iter().flatten().any(KeyList::may_have_fields) {
                true => TracepointTexts::new(info),
                false => TracepointTexts::none(),
            };
        let layout = Layout::new(options, kind, &tracepoints)?;
        if layout.has(SortKey::Parent) && !has_stacks {
            return Err(ReportError::NoParents);
        }
        let pattern = options.parent.as_deref().unwrap_or(PARENTS);
        let needs_parent = layout.has(SortKey::Parent) || options.excludes_other;
        let parent = needs_parent.then(|| Regex::new(pattern)).transpose();
        let parent = parent.map_err(|error| ReportError::ParentPattern {
            pattern: pattern.to_owned(),
            reason: error.to_string(),
        })?;
        let (needs_address, needs_mapping) = (layout.has(SortKey::Addr), layout.has(SortKey::DsoSize));
        Ok(Self {
            needs_address,
            needs_mapping,
            layout,
            graph,
            order,
            children,
            branches,
            memory,
            min_percent,
            machine,
            events: RecordedEvents::new(info, options.grouping),
            parent,
            excludes_other: options.excludes_other,
            hides_unresolved: options.hides_unresolved,
            time_quantum: options.time_quantum,
            max_stack: Symbols::max_stack(info.features(), options.max_stack),
            off_cpu: options.off_cpu,
            inlines: options.inlines,
            limits: options.limits,
        })
    }

    /// Returns whether source lines are needed, whatever else is shown of inlined functions.
    #[must_use]
    pub fn needs_lines(&self) -> bool {
        self.layout.has_source() || self.graph.shows_lines()
    }

    /// Returns whether the stacks of samples are needed.
    #[must_use]
    pub fn needs_stacks(&self) -> bool {
        self.children || self.graph.style != CallGraphStyle::None || self.parent.is_some()
    }
}
