//! The arguments of `perfdata script`.

use core::num::NonZero;
use std::path::PathBuf;

use super::ReadingArgs;
use super::capture::Captures;
use super::itrace::ItraceArgs;
use super::only::OnlyArgs;
use super::symbols::SymbolArgs;

pub(super) const EXAMPLES: &str =
    "The text is that of perf script of Linux 6.1, so that programs that read perf script's text read this too. Names from \
the capture are escaped where a terminal would obey them.

Functions are named by the files that the capture was recorded from: by build id in the folders of --debug-dir, in \
~/.debug and in /usr/lib/debug, then at the recorded path. A file with another build id than the recorded one is never \
used. StackTree that were copied into the samples (perf record --call-graph dwarf) are unwound. Unlike perf 6.1, inlined \
functions are printed for all stacks, and a return address at the end of a function is of that function and not of the \
next one; --no-inline prints what perf script --no-inline prints.

The fields of -F: comm tid pid time cpu event trace ip sym dso dsoff addr symoff period iregs uregs brstack brstacksym \
data_src weight bpf-output brstackoff phys_addr misc tod data_page_size code_page_size ins_lat machine_pid vcpu cgroup \
retire_lat flags srcline insn insnlen disasm synth brstackinsn brstackinsnlen brstackdisasm. synth is the content of the samples \
that --itrace makes of Intel PT. flags are blank, because only a decoder of processor traces sets them. For a pipe, perf adds sym \
to ip; here ip without sym and dso is the recorded address, as in perf 7.2, and not the offset in a file.

insn and insnlen are the bytes of the instruction at the address of the sample, and their number, which is 0 if the code is not \
found; disasm is its text. brstackinsn, brstackinsnlen and brstackdisasm print the same of all instructions between the branches of \
the sample, oldest first, with the cycles of each block; the capture must have branches of all types (perf record -b). Code comes \
from the file that the capture was recorded from, of BPF programs and of the kernel as perfdata annotate has it. perf decodes x86 \
alone; here it is x86 and Arm.

These fields of perf are refused: ipc, metric, callindent and brcntr need processor traces or counters, which perfdata does \
not decode. srccode needs the source files. A field that no sample of an event has is refused, too, unless it is given for one type of events.

A user call chain may come in a later record (CALLCHAIN_DEFERRED, Linux 6.19). Its samples are then printed when it \
comes, as perf 7.2 does: after samples that are later. Those whose chain does not come are printed without it. Up to 64 \
MiB of samples wait; more than that are printed at once, and counted on standard error.

A line of jsonl is a sample: offset, event, event_name, pid, tid, comm, cpu, time, period, stack, and what it has of \
inner, addr, phys_addr, weight, data_src, cgroup, trace and branch_stack; also insn (in hexadecimal), insnlen and disasm if -F has \
them and the code is found. A frame has ip and mode, and if its mapping is \
known, dso and what there is of build_id, file_offset, sym, sym_offset, inlined, file, line and source: the table that \
has the name. \"guessed\" is true for a frame that is a guess, or whose name is; texts have [guessed] after the name. Inlined functions come before the function that they were inlined into, with the same ip. The frames are \
those of the call chain or of the copied stack, innermost first. Without a chain, and for a chain without frames, the \
only frame is the sample's own address. --max-stack 0 leaves all frames out. stack_end tells whether the stack is \
whole: rooted, completed (from other stacks of the thread), truncated, no-unwind-info, no-mapping or garbage. A stack with a \
guessed frame is never rooted. The last line is the account, with the numbers of \
stacks by their ends and of frames, and with the files that lack names.

Examples:
  perfdata script
  perfdata script perf.data -F comm,tid,time,event,ip,dso
  perfdata script -F +addr,-period --pid 1234 --time 1203.5,1204
  perfdata script -F comm,ip,sym,disasm
  perfdata script --show-task-events --show-mmap-events | less
  perfdata script --format jsonl | jq -r '[.comm, .stack[0].dso] | @tsv' | sort | uniq -c";

#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of perf script")]
pub(crate) struct ScriptArgs {
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
    #[arg(long, value_enum, default_value_t = SampleFormat::Text)]
    pub(crate) format: SampleFormat,

    /// Fields to print, as perf script has them: a list, or a list of +FIELD and -FIELD that changes the default.
    /// TYPE:LIST is for events of one type: hw, sw, trace, raw, break or synth
    #[arg(short = 'F', long, value_name = "[TYPE:]LIST", allow_hyphen_values = true)]
    pub(crate) fields: Vec<String>,

    /// Print what is known of the recording and of the machine first, as comments
    #[arg(long)]
    pub(crate) header: bool,

    /// Print only what --header prints
    #[arg(long)]
    pub(crate) header_only: bool,

    /// Print times with 9 decimal places
    #[arg(long)]
    pub(crate) ns: bool,

    /// Print times relative to the first sample
    #[arg(long, conflicts_with = "deltatime")]
    pub(crate) reltime: bool,

    /// Print times relative to the sample before
    #[arg(long)]
    pub(crate) deltatime: bool,

    /// Do not print more frames of a stack than this; 127 prints all in captures of simpleperf
    #[arg(long, value_name = "N", default_value_t = 127)]
    pub(crate) max_stack: usize,

    /// Number of threads, including the one that reads and writes. The output is the same for any number. Each thread has
    /// its own parsed debug information [default: number of processors, but no more than 4]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZero<usize>>,

    /// Do not print call chains, only the address of the sample
    #[arg(short = 'G', long)]
    pub(crate) hide_call_graph: bool,

    #[command(flatten)]
    pub(crate) only: OnlyArgs,

    #[command(flatten)]
    pub(crate) show: ShowEventsArgs,

    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,
}

/// How samples are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SampleFormat {
    /// Lines as perf script prints them
    Text,
    /// JSON lines: one line per sample, described at the end of this help, then the account
    Jsonl,
}

/// The options that print other records.
#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of perf script")]
pub(crate) struct ShowEventsArgs {
    /// Print FORK, COMM and EXIT records
    #[arg(long)]
    pub(crate) show_task_events: bool,

    /// Print MMAP and MMAP2 records
    #[arg(long)]
    pub(crate) show_mmap_events: bool,

    /// Print SWITCH and SWITCH_CPU_WIDE records
    #[arg(long)]
    pub(crate) show_switch_events: bool,

    /// Print LOST records
    #[arg(long)]
    pub(crate) show_lost_events: bool,

    /// Print NAMESPACES records
    #[arg(long)]
    pub(crate) show_namespace_events: bool,

    /// Print CGROUP records
    #[arg(long)]
    pub(crate) show_cgroup_events: bool,

    /// Print KSYMBOL and BPF_EVENT records
    #[arg(long)]
    pub(crate) show_bpf_events: bool,
}
