//! The arguments of `perfdata fold`.

use super::profile::ProfileArgs;

pub(super) const EXAMPLES: &str =
    "Each line is a stack: the name of the thread, then the functions from the outermost one on, separated by semicolons, \
and what the event counted. Arguments of functions are cut, blanks in names of threads become underscores, and a function \
without a name is that of its file, in brackets. flamegraph.pl, inferno, speedscope and others read this.

Of a capture with several events, the first one with samples is folded, unless --event names another one.

Examples:
  perfdata fold > out.folded
  perfdata fold --mark all | inferno-flamegraph > out.svg
  perfdata fold --root tid --no-inline --time 10%-20% perf.data
  perfdata fold --weight samples --event instructions host-a.data host-b.data";

#[derive(Debug, clap::Args)]
pub(crate) struct FoldArgs {
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,

    /// The outermost frame: comm, the name of the thread; pid, with the id of its process; tid, with both ids
    #[arg(long, value_enum, default_value_t = FoldRoot::Comm)]
    pub(crate) root: FoldRoot,

    /// What stacks count
    #[arg(long, value_enum, default_value_t = WeightArg::Period)]
    pub(crate) weight: WeightArg,

    /// Mark functions by what they are: kernel with _[k], inlined with _[i], jit with _[j], or all
    #[arg(long, value_enum, value_name = "KINDS", value_delimiter = ',')]
    pub(crate) mark: Vec<FoldMark>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum FoldRoot {
    Comm,
    Pid,
    Tid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum WeightArg {
    /// What the event counted: the sum of the periods of samples. Those of tracepoints count 1 each
    Period,
    /// Number of samples
    Samples,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum FoldMark {
    Kernel,
    Inlined,
    Jit,
    All,
}
