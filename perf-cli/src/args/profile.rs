//! The arguments of the verbs that write samples in other formats.

use core::num::NonZero;

use super::ReadingArgs;
use super::capture::Captures;
use super::itrace::ItraceArgs;
use super::only::OnlyArgs;
use super::symbols::SymbolArgs;

/// Which samples of which captures, and how they get names.
#[derive(Debug, clap::Args)]
pub(crate) struct ProfileArgs {
    #[command(flatten)]
    pub(crate) files: Captures,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    #[command(flatten)]
    pub(crate) itrace: ItraceArgs,

    /// Add the event off-cpu: the nanoseconds for which threads were blocked (states S, D and I), at the stack where they
    /// began to wait, without the scheduler's own functions. Threads that waited for a CPU (R, R+) are the event runnable,
    /// stopped ones (T, t, P) the event stopped; --event selects one of the three. Needs a capture of perfdata record
    /// --off-cpu, of simpleperf record --trace-offcpu, or with sched:sched_switch; or with SWITCH records (--switch-events),
    /// where the stack is that of the thread's last sample, and stopped threads count as blocked
    #[arg(long)]
    pub(crate) off_cpu: bool,

    /// With --off-cpu: after the stack of each thread, [woken by NAME] and the stack of the thread that woke it up, from the
    /// innermost frame on; then, up to N times, of the thread that had woken that one up. Needs a capture of perfdata record
    /// --off-cpu, or with sched:sched_waking
    #[arg(long, value_name = "N", requires = "off_cpu", num_args = 0..=1, require_equals = true,
          default_missing_value = "1")]
    pub(crate) wakers: Option<NonZero<usize>>,

    /// Add the event lock-wait: the nanoseconds for which threads waited for locks of the kernel, at the stack that waited; and
    /// futex-wait, those for which they waited for futexes. --event selects one of the two. Needs a capture of perfdata record
    /// --lock or perf lock record
    #[arg(long, conflicts_with = "off_cpu")]
    pub(crate) lock_waits: bool,

    #[command(flatten)]
    pub(crate) naming: NamingArgs,

    #[command(flatten)]
    pub(crate) only: OnlyArgs,

    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,
}

impl ProfileArgs {
    /// Returns the number of threads.
    pub(crate) fn threads(&self) -> NonZero<usize> {
        self.symbols.naming(self.naming.threads).threads
    }
}

/// How much of stacks is named, and by how many threads.
#[derive(Debug, clap::Args)]
pub(crate) struct NamingArgs {
    /// Keep no more frames of a stack than this, from the innermost on; 127 keeps all in captures of simpleperf
    #[arg(long, value_name = "N", default_value_t = 127)]
    pub(crate) max_stack: usize,

    /// Number of threads that find stacks and look up names. The output is the same for any number [default: number of
    /// processors]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZero<usize>>,
}
