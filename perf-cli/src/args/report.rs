//! The arguments of `perfdata report`.

use core::fmt::Display;
use core::num::NonZero;
use core::str::FromStr;
use std::path::PathBuf;

use perf_profile::report::{
    CallGraphOptions, CallGraphStyle, EventGrouping, KeyNeed, Options, Percentage, ReportColumn,
};

use super::ReadingArgs;
use super::annotate::ColorWhen;
use super::capture::Captures;
use super::itrace::ItraceArgs;
use super::only::OnlyArgs;
use super::symbols::SymbolArgs;
use crate::outcome::Failure;

/// Returns the help after the options.
pub(super) fn examples() -> String {
    let names = |columns: &mut dyn Iterator<Item = ReportColumn>| {
        columns.map(ReportColumn::name).collect::<Vec<_>>().join(", ")
    };
    let is_key = |column: &ReportColumn| matches!(column, ReportColumn::Key(_));
    let of = |need: KeyNeed| names(&mut ReportColumn::all().filter(is_key).filter(|it| it.need() == need));
    EXAMPLES
        .replace("{keys}", &of(KeyNeed::Nothing))
        .replace("{branch keys}", &of(KeyNeed::Branches))
        .replace("{memory keys}", &of(KeyNeed::MemoryAccesses))
        .replace("{numbers}", &names(&mut ReportColumn::all().filter(|it| !is_key(it))))
}

const EXAMPLES: &str =
    "The text is that of perf report --stdio of Linux 6.1, a table for each event or group of events. It ends with the \
quality of stacks and names, as comments. On a terminal, a browser of the tables with perf's keys opens instead; ? shows \
them. With --stdio, the columns of the text are then as wide as the terminal permits. Percentages of 0.5 and more are \
coloured, unless NO_COLOR is set or TERM is dumb (--color).

The keys of --sort and --fields, as perf has them: {keys}; for samples with branches: {branch keys}; with --mem-mode: \
{memory keys}; and the numbers {numbers}. A key may be shortened, as symbol to sym. perfdata adds tid, which is perf's pid under its right name, and tgid, the process. \
A field of a tracepoint is a key too: FIELD, EVENT.FIELD or SYSTEM:EVENT.FIELD; trace_fields are all of them. It does not have ipc_null and ipc_lbr, which need \
the program's code. A list that begins with + is added to the default, which is comm,dso,symbol; trace for captures of \
tracepoints alone; comm,dso_from,symbol_from,symbol_to,cycles for branches; and local_weight,mem,sym,dso,symbol_daddr,\
dso_daddr,snoop,tlb,locked,blocked,local_ins_lat with --mem-mode, on POWER also local_p_stage_cyc. A line of the cache \
(dcacheline) has 64 bytes, on POWER 128 and on s390 256.

If samples have stacks, rows include the cost of callees (Children), and call graphs are printed below the rows. \
Inlined functions have rows and branches of their own. Functions are named by the files that the capture was recorded \
from, as perfdata script --help describes.

Samples that differ in more than 1,048,576 ways, or whose stacks have more than 4,194,304 frames that no other stack \
shares, are counted in one row, [beyond the limits], which the last comment reports.

The document of --format json has header, tables, quality and account. A table has events, totals, columns and rows. A row \
has a member for each key, and samples, period and percent of each event of the table, itself and with its children. Its \
callchain lists the tree of its stacks in the order of the text; depth tells the level of a branch.

Examples:
  perfdata report
  perfdata report --no-children --sort dso,sym --percent-limit 1
  perfdata report -g caller,2 --comms nginx --time 10%-20%
  perfdata report --sort tid,srcline -n | head -40
  perfdata report --sort prev_comm,next_comm --event sched:sched_switch
  perfdata report --timeline --comms nginx
  perfdata report --off-cpu -g caller
  perfdata report --mem-mode --sort mem,symbol_daddr
  perfdata report --format json | jq -r '.tables[0].rows[] | [.self[0].percent, .symbol] | @tsv'";

#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of perf report")]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) files: Captures,

    /// The one of them that is read.
    #[arg(skip)]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    #[command(flatten)]
    pub(crate) itrace: ItraceArgs,

    /// Output format
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,

    /// Print text on a terminal too, instead of opening the browser
    #[arg(long)]
    pub(crate) stdio: bool,

    /// When percentages in text are coloured
    #[arg(long, alias = "stdio-color", value_enum, value_name = "WHEN", default_value_t = ColorWhen::Auto)]
    pub(crate) color: ColorWhen,

    /// Group samples by these keys
    #[arg(short, long, value_name = "KEYS")]
    pub(crate) sort: Option<String>,

    /// Columns to print. Without --sort, rows are ordered by them
    #[arg(short = 'F', long, value_name = "KEYS")]
    pub(crate) fields: Option<String>,

    /// Instead of samples, count the nanoseconds for which threads were blocked (event off-cpu: states S, D and I), waited for
    /// a CPU (event runnable: R, R+) and were stopped (event stopped: T, t, P), at the function where they began to wait,
    /// without the scheduler's own functions; --event selects one of the three. Needs a capture of perfdata record
    /// --off-cpu, of simpleperf record --trace-offcpu, or with sched:sched_switch; or with SWITCH records (--switch-events),
    /// where the stack is that of the thread's last sample, and stopped threads count as blocked
    #[arg(long, conflicts_with = "branch_stack")]
    pub(crate) off_cpu: bool,

    /// Add the cost of callees to each function's row [default: if samples have stacks]
    #[arg(long, overrides_with = "no_children")]
    pub(crate) children: bool,

    /// Count only samples in the function itself
    #[arg(long, overrides_with = "children")]
    pub(crate) no_children: bool,

    /// Form of call graphs: graph, fractal, flat, folded or none; a percentage, below which branches are left out;
    /// a number of branches; caller or callee, which is on top; function, address or srcline, what makes branches the
    /// same; percent, period or count, what is printed. Each may be left out [default: graph,0.5,caller,function,percent;
    /// callee with --no-children]
    #[arg(short = 'g', long, value_name = "WORDS", num_args = 0..=1, require_equals = true,
          default_missing_value = "graph,0.5,caller,function,percent", overrides_with = "no_call_graph")]
    pub(crate) call_graph: Option<String>,

    /// Print no call graphs
    #[arg(long, overrides_with = "call_graph")]
    pub(crate) no_call_graph: bool,

    /// Print call graphs with the callers on top
    #[arg(short = 'G', long)]
    pub(crate) inverted: bool,

    /// Use at most N frames per stack, innermost first; 127 uses all in captures of simpleperf
    #[arg(long, value_name = "N", default_value_t = 127)]
    pub(crate) max_stack: usize,

    /// Leave out rows and branches below this percentage
    #[arg(long, value_name = "PERCENT")]
    pub(crate) percent_limit: Option<f64>,

    /// Base of percentages: absolute, all samples; relative, those that --comms, --pid, --tid, --dsos and --symbols
    /// select
    #[arg(long, value_enum, default_value_t = PercentageArg::Absolute)]
    pub(crate) percentage: PercentageArg,

    /// Print the number of samples
    #[arg(short = 'n', long)]
    pub(crate) show_nr_samples: bool,

    /// Print the sum of periods
    #[arg(long)]
    pub(crate) show_total_period: bool,

    /// Print the shares of kernel and user code
    #[arg(long)]
    pub(crate) show_cpu_utilization: bool,

    /// Regular expression for the functions of --sort parent: the first one of a stack that it matches. Adds that key
    /// [default: ^sys_|^do_page_fault]
    #[arg(short, long, value_name = "REGEX")]
    pub(crate) parent: Option<String>,

    /// Leave out samples without a parent
    #[arg(short = 'x', long)]
    pub(crate) exclude_other: bool,

    /// Leave out samples and frames without a name
    #[arg(short = 'U', long)]
    pub(crate) hide_unresolved: bool,

    /// Show the branches of samples instead of the samples [default: if the capture has branches and no copied stacks]
    #[arg(short = 'b', long, overrides_with = "no_branch_stack")]
    pub(crate) branch_stack: bool,

    /// Show samples, even if they have branches
    #[arg(long, overrides_with = "branch_stack")]
    pub(crate) no_branch_stack: bool,

    /// Show memory accesses instead of samples: each counts its weight, or 1 if it has none. Needs samples of perf mem
    /// record, or of another event whose samples tell where data was found
    #[arg(long, conflicts_with_all = ["branch_stack", "off_cpu"])]
    pub(crate) mem_mode: bool,

    /// Show all events in one table. By default, the events that were recorded as a group share one
    #[arg(long, overrides_with = "no_group")]
    pub(crate) group: bool,

    /// Show each event in a table of its own
    #[arg(long, overrides_with = "group")]
    pub(crate) no_group: bool,

    /// Length of the spans of --sort time: a number with ns, us, ms or s
    #[arg(long, value_name = "TIME", default_value = "100ms")]
    pub(crate) time_quantum: String,

    /// Print times with 9 decimal places
    #[arg(long)]
    pub(crate) ns: bool,

    /// Widths of the columns, from the left, up to 4096; 0 for as wide as needed
    #[arg(short = 'w', long, value_name = "WIDTHS", value_delimiter = ',')]
    pub(crate) column_widths: Vec<usize>,

    /// Separate columns by this character. In names it is replaced by a dot
    #[arg(short = 't', long, value_name = "CHARACTER")]
    pub(crate) field_separator: Option<char>,

    /// Print properties of the recording and of the machine first, as comments
    #[arg(long)]
    pub(crate) header: bool,

    /// Print when threads were active instead: the samples of each thread in each hundredth of the time
    #[arg(long)]
    pub(crate) timeline: bool,

    /// Print only what --header prints
    #[arg(long)]
    pub(crate) header_only: bool,

    /// Number of threads that find stacks, look up names and print rows. The output is the same for any number [default:
    /// number of processors]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZero<usize>>,

    #[command(flatten)]
    pub(crate) only: OnlyArgs,

    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,
}

impl ReportArgs {
    /// Returns the options of the report.
    ///
    /// # Errors
    ///
    /// The first option whose value is none.
    pub(crate) fn options(&self) -> Result<Options, Failure> {
        let mut options = Options::default();
        options.sort = self.sort.as_deref().map(|list| parsed("--sort", list)).transpose()?;
        options.fields = self.fields.as_deref().map(|list| parsed("--fields", list)).transpose()?;
        options.children = !self.no_children;
        options.branches = match () {
            () if self.branch_stack => Some(true),
            () if self.no_branch_stack => Some(false),
            () => None,
        };
        (options.memory, options.off_cpu) = (self.mem_mode, self.off_cpu);
        options.call_graph =
            self.call_graph.as_deref().map(|text| parsed("--call-graph", text)).transpose()?;
        if self.no_call_graph {
            let mut none = CallGraphOptions::default();
            none.style = CallGraphStyle::None;
            options.call_graph = Some(none);
        }
        options.inverted = self.inverted;
        options.max_stack = self.max_stack;
        options.percent_limit = self.percent_limit;
        options.shows_samples = self.show_nr_samples;
        options.shows_period = self.show_total_period;
        options.shows_cpu_utilization = self.show_cpu_utilization;
        options.parent.clone_from(&self.parent);
        options.excludes_other = self.exclude_other;
        options.hides_unresolved = self.hide_unresolved;
        options.grouping = match () {
            () if self.no_group => EventGrouping::Never,
            () if self.group => EventGrouping::Always,
            () => EventGrouping::AsRecorded,
        };
        options.time_quantum = parsed("--time-quantum", &self.time_quantum)?;
        Ok(options)
    }
}

/// Parses the value of an option. The error begins with the value.
fn parsed<T: FromStr<Err: Display>>(option: &str, value: &str) -> Result<T, Failure> {
    value.parse().map_err(|error| Failure(format!("{option} {error}")))
}

/// The format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ReportFormat {
    /// Tables as perf report --stdio prints them
    Text,
    /// One JSON document, described at the end of this help
    Json,
}

/// The argument of `--percentage`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PercentageArg {
    /// Of the selected samples
    Relative,
    /// Of all samples
    Absolute,
}

impl From<PercentageArg> for Percentage {
    fn from(arg: PercentageArg) -> Self {
        match arg {
            PercentageArg::Relative => Self::Relative,
            PercentageArg::Absolute => Self::Absolute,
        }
    }
}
