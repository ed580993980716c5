//! The command line of `perfdata record`.

mod accepted;
mod aux_area;
mod events;
mod samples;
pub(super) mod values;
mod when;

use std::ffi::OsString;
use std::path::PathBuf;

use perf_record::{CallGraphMode, SynthesizedRecords, ThreadSpec};

use super::observed::ObservedArgs;
pub(crate) use accepted::AcceptedArgs;
pub(crate) use aux_area::{AuxAreaArgs, MmapPages};
pub(crate) use events::{EventArgs, EventOption};
pub(crate) use samples::SampleArgs;
pub(crate) use values::{Delay, Freq, RegisterOption, Switch, register_names};
pub(crate) use when::WhenArgs;

pub(super) const AFTER_HELP: &str = "\
Without -p, -t, -a and -C, records the command and everything that it starts. Without these options and without a \
command, records the whole machine until Ctrl-C. perf report, perf script and perfdata can read the resulting \
perf.data. If the recorder is killed, perfdata repair can repair the file.

With --overwrite the rings keep the newest records, and nothing is written until SIGUSR2 or the end. SIGUSR2 writes a \
snapshot to a separate file (perf.data.1, perf.data.2).

Events of intel_pt, intel_bts, arm_spe_0 and hisi_ptt write a hardware trace, which perf script decodes. perfdata list \
shows the PMUs of this machine. With -S the newest part of the trace is written when SIGUSR2 comes, and with -Se at the end.

--control reads commands, one a line, from an open descriptor or a FIFO: enable and disable start and stop the events, or \
the EVENT that follows; snapshot does what SIGUSR2 does; stop ends the recording; evlist [-v|-g|-F] prints the events on \
standard error; ping does nothing. After each command, ack is written to the second descriptor or FIFO, if there is one.

Exit status: that of the command, or 128 plus the signal's number if a signal ended it; 0 if there is no command; 1 if \
nothing was recorded.

Examples:
  perfdata record -- ./program --its-option
  perfdata record -g -F 999 -- make
  perfdata record -e sched:sched_switch -a -- sleep 5
  perfdata record -e '{cpu-clock,page-faults}:S' -p 1234 -o busy.data
  perfdata record --call-graph dwarf -o - -- ./program | perfdata dump -
  perfdata record --threads -a -e cpu-clock -F max -- make
  perfdata record --live -g -- make
  perfdata record --overwrite -a & kill -USR2 $!
  perfdata record --off-cpu -e dummy -- ./program && perfdata report --off-cpu
  perfdata record --sched -a -- sleep 1 && perfdata sched waits
  perfdata record -a -e cpu-clock -e page-faults -G system.slice,user.slice -- sleep 5
  perfdata record --overwrite -a --switch-output-event sched:sched_process_exit -- make
  perfdata record -e intel_pt//u -m ,16M -- ./program
  perfdata record -e '{intel_pt//u,branch-misses:u}' --aux-sample=8192 -- ./program
  perfdata record -D -1 --control fifo:commands,answers -- ./program";

#[derive(Debug, clap::Args)]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    pub(crate) events: EventArgs,

    /// Sampling frequency, in samples per second, or max for the highest that the kernel allows [default: 4000; every
    /// occurrence of a tracepoint or breakpoint]. One that is too high is lowered
    #[arg(short = 'F', long = "freq", value_name = "HZ", conflicts_with = "count", value_parser = values::freq)]
    pub(crate) freq: Option<Freq>,

    /// Fail if the sampling frequency is higher than the kernel allows, rather than lower it
    #[arg(long)]
    pub(crate) strict_freq: bool,

    /// Sampling period: the number of occurrences between two samples
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,

    /// Record call chains, by frame pointers
    #[arg(short = 'g')]
    pub(crate) frame_pointers: bool,

    /// Record call chains by this method: fp for frame pointers; dwarf or dwarf,BYTES for a copy of the stack; lbr
    /// for the last branch records of Intel's processors
    #[arg(long, value_name = "HOW", value_parser = values::call_graph)]
    pub(crate) call_graph: Option<CallGraphMode>,

    /// Record data addresses, and the mappings of data
    #[arg(short, long)]
    pub(crate) data: bool,

    /// Record the CPU of each sample, also for a command or a task
    #[arg(long)]
    pub(crate) sample_cpu: bool,

    /// Record context switches
    #[arg(long)]
    pub(crate) switch_events: bool,

    /// Record where and how long threads wait, for perfdata report --off-cpu, and what wakes them up, for perfdata fold
    /// --off-cpu --wakers: by the tracepoints sched:sched_switch and sched:sched_waking with call chains, and by context
    /// switches. Where these tracepoints may not be used, by context switches alone, which belong to the sample before them.
    /// Only -a records wakers that are not recorded themselves
    #[arg(long)]
    pub(crate) off_cpu: bool,

    /// Record when threads run, wait and wake up, for perfdata sched, at the least cost: by the tracepoints sched:sched_switch,
    /// sched_waking, sched_wakeup_new and sched_migrate_task, and by context switches without -a. Without --event, nothing else is
    /// recorded. Add -g for where threads wait, and -a for what wakes them and what runs instead
    #[arg(long)]
    pub(crate) sched: bool,

    /// Record when threads wait for locks of the kernel and for futexes, for perfdata lock: by the tracepoints
    /// lock:contention_begin and contention_end, and by the system calls of futexes. Without --event, nothing else is recorded. Add
    /// -g for where threads wait, and -a for all threads
    #[arg(long)]
    pub(crate) lock: bool,

    /// Also show where the time goes while it is recorded, as perfdata top does: leaving the view ends the recording. Without a
    /// terminal, each second is printed as text
    #[arg(long)]
    pub(crate) live: bool,

    /// Record namespaces
    #[arg(long)]
    pub(crate) namespaces: bool,

    /// Clock for the times, by a name such as monotonic, mono or CLOCK_MONOTONIC, or by its number [default: monotonic; the
    /// kernel's own, sched_clock, with a hardware trace]. How the clock relates to the date is recorded, too
    #[arg(short = 'k', long, value_name = "CLOCK", value_parser = values::clock, overrides_with = "no_clockid")]
    pub(crate) clockid: Option<i32>,

    /// Use the kernel's own clock, as perf record does without --clockid. No date is recorded then
    #[arg(long, overrides_with = "clockid")]
    pub(crate) no_clockid: bool,

    #[command(flatten)]
    pub(crate) samples: SampleArgs,

    #[command(flatten)]
    pub(crate) observed: ObservedArgs,

    /// Observe the processes of this user, by name or number
    #[arg(short, long, value_name = "USER", conflicts_with_all = ["pid", "tid", "all_cpus"])]
    pub(crate) uid: Option<String>,

    /// Record only the tasks of these cgroups: one name for all events, or one for each event, which may be empty; with -a
    /// or -C
    #[arg(short = 'G', long, value_name = "NAMES", value_delimiter = ',', conflicts_with_all = ["pid", "tid", "uid"])]
    pub(crate) cgroup: Vec<String>,

    /// Record with a ring for each thread rather than for each CPU; tasks that they start are not recorded
    #[arg(long, conflicts_with_all = ["all_cpus", "cpu"])]
    pub(crate) per_thread: bool,

    #[command(flatten)]
    pub(crate) when: WhenArgs,

    /// Do not record tasks that the recorded tasks start
    #[arg(short = 'i', long)]
    pub(crate) no_inherit: bool,

    /// Pages of each ring, a power of two, or its size, for example 1M [default: as many as the sysctl
    /// kernel.perf_event_mlock_kb allows for each CPU]. After a comma, those of each AUX area for a hardware trace
    /// [default: 4 MiB, or 128 KiB for an ordinary user]
    #[arg(short, long, value_name = "PAGES[,AUXPAGES]", value_parser = aux_area::mmap_pages)]
    pub(crate) mmap_pages: Option<MmapPages>,

    #[command(flatten)]
    pub(crate) aux_area: AuxAreaArgs,

    /// Read the rings with several threads, and write a folder with a file for each ring: one thread for each cpu, core,
    /// package or numa node; or masks such as 0,2-4/2-4:1,5-7/5-7, each with the CPUs that a thread records, and those
    /// that it runs on
    #[arg(long, value_name = "SPEC", num_args = 0..=1, require_equals = true, default_missing_value = "cpu",
          value_parser = |text: &str| text.parse::<ThreadSpec>())]
    pub(crate) threads: Option<ThreadSpec>,

    /// Write a folder that also has the code of the running kernel, with which perf annotate disassembles it; for root
    #[arg(long)]
    pub(crate) kcore: bool,

    /// Synthesize these records of what exists already: no, all, task, mmap (with task), cgroup [default: all]
    #[arg(long, value_name = "KINDS", value_parser = values::synth)]
    pub(crate) synth: Option<SynthesizedRecords>,

    /// Synthesize the records of tasks and mappings at the end, of those that exist then. --overwrite keeps those of the
    /// start
    #[arg(long)]
    pub(crate) tail_synthesize: bool,

    /// Read a ring only when it has this many bytes of records, for example 64K; at most a quarter of the ring
    #[arg(long, value_name = "BYTES", value_parser = values::bytes)]
    pub(crate) mmap_flush: Option<usize>,

    /// Read the rings with this real-time priority (SCHED_FIFO), from 1 to 99
    #[arg(short, long, value_name = "PRIO", value_parser = clap::value_parser!(u32).range(1..=99))]
    pub(crate) realtime: Option<u32>,

    /// Keep the newest records in the rings until a snapshot is requested
    #[arg(long)]
    pub(crate) overwrite: bool,

    /// On SIGUSR2, also dump the rings unchanged to this folder, with an attr.data for perfdata ring
    #[arg(long, value_name = "FOLDER")]
    pub(crate) dump_rings: Option<PathBuf>,

    /// File to write, readable by its owner only; - writes a stream to standard output. An existing file is renamed to
    /// FILE.old when the recording begins
    #[arg(short, long, value_name = "FILE", default_value = "perf.data")]
    pub(crate) output: PathBuf,

    /// Compress the records, at a level from 1 (fast) to 22 (small)
    #[arg(short = 'z', long, value_name = "LEVEL", num_args = 0..=1, default_missing_value = "1", require_equals = true,
          value_parser = clap::value_parser!(u8).range(1..=22))]
    pub(crate) compression_level: Option<u8>,

    /// Do not record build IDs
    #[arg(short = 'B', long, conflicts_with = "buildid_all")]
    pub(crate) no_buildid: bool,

    /// Do not add the files that were mapped to the build-ID cache, ~/.debug
    #[arg(short = 'N', long)]
    pub(crate) no_buildid_cache: bool,

    /// At the end, also write FILE.tar.zst, an archive that another machine can read: the capture, and the files that its names
    /// come from, with perf maps and jitdumps. Files of containers that end meanwhile come from the build-ID cache, so not with -N.
    /// See perfdata archive
    #[arg(long)]
    pub(crate) collect: bool,

    /// Record build IDs of all files that were mapped, as is the default. perf's default is those that were hit
    #[arg(long)]
    pub(crate) buildid_all: bool,

    /// Parse the command line and end
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) accepted: AcceptedArgs,

    /// Print only errors on standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Command to run, with its arguments
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}
