//! The arguments of the verbs that write samples in other formats.

use core::num::NonZero;

use super::ReadingArgs;
use super::capture::Captures;
use super::only::OnlyArgs;
use super::symbols::SymbolArgs;

/// Which samples of which captures, and how they get names.
#[derive(Debug, clap::Args)]
pub(crate) struct ProfileArgs {
    #[command(flatten)]
    pub(crate) files: Captures,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    /// Add the event off-cpu: the nanoseconds that threads were off the CPU, at the stack where they left it. Needs a
    /// capture with sched:sched_switch, whose stacks are exact, or with SWITCH records (--switch-events), where the stack is
    /// that of the thread's last sample
    #[arg(long)]
    pub(crate) off_cpu: bool,

    #[command(flatten)]
    pub(crate) naming: NamingArgs,

    #[command(flatten)]
    pub(crate) only: OnlyArgs,

    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,
}

/// How much of stacks is named, and by how many threads.
#[derive(Debug, clap::Args)]
pub(crate) struct NamingArgs {
    /// Keep no more frames of a stack than this, from the innermost on
    #[arg(long, value_name = "N", default_value_t = 127)]
    pub(crate) max_stack: usize,

    /// Number of threads that look up names. The output is the same for any number [default: number of processors]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZero<usize>>,
}
