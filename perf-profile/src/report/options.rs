//! The options of a report.

use super::call_graph::CallGraphOptions;
use super::key_list::KeyList;
use super::time_quantum::TimeQuantum;
use crate::limits::Limits;

/// The options of a report. The default is that of `perf report`.
///
/// What an option leaves open follows from the capture: see [`ReportPlan`](super::ReportPlan).
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of perf report")]
#[non_exhaustive]
pub struct Options {
    /// The keys that samples are grouped by, in the order in which rows are compared. `None` for `comm,dso,symbol`;
    /// `trace` for captures of tracepoints alone; `comm,dso_from,symbol_from,symbol_to,cycles` for branches; and
    /// `local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,local_ins_lat` for memory accesses, on
    /// POWER also `local_p_stage_cyc`.
    pub sort: Option<KeyList>,
    /// The columns, from the left. `None` for the percentages, and the columns of [`sort`](Self::sort).
    pub fields: Option<KeyList>,
    /// Rows include the cost of callees, if samples have stacks and are neither branches nor memory accesses.
    pub children: bool,
    /// Whether samples are their branches. `None` if the capture was recorded for its branches and has no copied stacks.
    pub branches: Option<bool>,
    /// Samples are memory accesses, each of which counts its weight, or 1 if it has none.
    pub memory: bool,
    /// Samples are the times for which threads were off the CPU.
    pub off_cpu: bool,
    /// Inlined functions are functions of their own.
    pub inlines: bool,
    /// The call graphs of rows. `None` for the default, [`CallGraphStyle::None`](super::CallGraphStyle::None) if samples have
    /// no stacks.
    pub call_graph: Option<CallGraphOptions>,
    /// The callers are on top of call graphs, whatever [`call_graph`](Self::call_graph) says.
    pub inverted: bool,
    /// The largest number of frames of a stack. Of a longer one, the innermost frames count. The default of 127 uses all in
    /// captures of simpleperf: see [`Symbols::max_stack`](crate::Symbols::max_stack).
    pub max_stack: usize,
    /// Rows and branches below this percentage are left out, from 0 to 100. `None` for no limit of rows, and that of
    /// [`call_graph`](Self::call_graph) for branches.
    pub percent_limit: Option<f64>,
    /// Adds the column [`Samples`](super::ReportColumn::Samples).
    pub shows_samples: bool,
    /// Adds the column [`Period`](super::ReportColumn::Period).
    pub shows_period: bool,
    /// Adds the columns [`Sys`](super::ReportColumn::Sys) and [`User`](super::ReportColumn::User).
    pub shows_cpu_utilization: bool,
    /// A regular expression for the functions of [`SortKey::Parent`](super::SortKey::Parent): the first function of a stack
    /// that it matches is the sample's parent. Adds that key. `None` for `^sys_|^do_page_fault`, and no key.
    pub parent: Option<String>,
    /// Samples without a parent are left out.
    pub excludes_other: bool,
    /// Samples and frames without a name are left out.
    pub hides_unresolved: bool,
    /// The events that share a table.
    pub grouping: EventGrouping,
    /// The length of the spans of [`SortKey::Time`](super::SortKey::Time).
    pub time_quantum: TimeQuantum,
    /// The limits of what is kept. [`samples`](Limits::samples) limits the number of samples that differ in a key or in the
    /// stack; samples beyond a limit are counted in one row.
    pub limits: Limits,
}

/// The events that share a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventGrouping {
    /// Those that were recorded as a group.
    #[default]
    AsRecorded,
    /// All of them, if none were recorded as a group.
    Always,
    /// None.
    Never,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            sort: None,
            fields: None,
            children: true,
            branches: None,
            memory: false,
            off_cpu: false,
            inlines: true,
            call_graph: None,
            inverted: false,
            max_stack: 127,
            percent_limit: None,
            shows_samples: false,
            shows_period: false,
            shows_cpu_utilization: false,
            parent: None,
            excludes_other: false,
            hides_unresolved: false,
            grouping: EventGrouping::AsRecorded,
            time_quantum: TimeQuantum::default(),
            limits: Limits { samples: 1 << 20, ..Limits::default() },
        }
    }
}
