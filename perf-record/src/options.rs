//! Sampling options.

use alloc::sync::Arc;
use std::fs::File;

use perf_abi::branch::BranchSampleType;
use perf_abi::sample_type::SampleType;

/// The options of a recording: how its events are sampled. The terms of an event take precedence over these options.
///
/// Fields may be added: end a literal with `..RecordOptions::default()`. The default is that of `perf record`.
///
/// # Examples
///
/// ```
/// use perf_record::{CallGraphMode, RecordOptions};
///
/// let options = RecordOptions { freq: Some(999), call_graph: Some(CallGraphMode::Fp), ..RecordOptions::default() };
/// assert!(options.inherit);
/// ```
#[derive(Clone, Debug)]
pub struct RecordOptions {
    /// Samples per second; `None` for 4000, and for each hit of a tracepoint, a breakpoint or `bpf-output`.
    pub freq: Option<u64>,
    /// Occurrences between two samples. Takes precedence over `freq`.
    pub count: Option<u64>,
    /// The method that records call chains; `None` for no call chains.
    pub call_graph: Option<CallGraphMode>,
    /// Whether data addresses, and the mappings of data, are recorded.
    pub data: bool,
    /// Whether the mappings of data are recorded, without the addresses.
    pub data_mmap: bool,
    /// Fields that every sample gets in addition: `ADDR`, `CPU`, `WEIGHT`, `PHYS_ADDR`, `TRANSACTION`, ...
    pub sample_type: SampleType,
    /// The branches to record; `None` for no branch stacks. Kernel: `branch_sample_type`.
    pub branches: Option<BranchSampleType>,
    /// The user-space registers to record; 0 for none, or those that unwinding needs. Kernel: `sample_regs_user`.
    pub regs_user: u64,
    /// The registers at the interrupt to record; 0 for none. Kernel: `sample_regs_intr`.
    pub regs_intr: u64,
    /// Whether context switches are recorded.
    pub switch_events: bool,
    /// Whether namespaces are recorded.
    pub namespaces: bool,
    /// Whether the cgroups of samples, and the cgroups themselves, are recorded.
    pub cgroups: bool,
    /// Whether MMAP2 records have build ids in place of inodes. Since Linux 5.12.
    pub buildid_mmap: bool,
    /// Whether BPF programs are recorded: those that are loaded, with their functions, machine code and types, and loading
    /// and unloading.
    pub bpf_events: bool,
    /// Whether changes of the kernel's code are recorded, as TEXT_POKE records: on cpus all of them, otherwise those that
    /// the recorded tasks make. Since Linux 5.9.
    pub text_poke: bool,
    /// The clock of the times, such as `CLOCK_MONOTONIC`, 1; `None` for the kernel's own.
    pub clockid: Option<i32>,
    /// Whether tasks that the recorded tasks start are recorded too.
    pub inherit: bool,
    /// Whether the kernel is excluded from events that have no modifiers.
    pub all_user: bool,
    /// Whether user space is excluded from events that have no modifiers.
    pub all_kernel: bool,
    /// Whether kernel frames are left out of call chains.
    pub user_callchains: bool,
    /// Whether user frames are left out of call chains.
    pub kernel_callchains: bool,
    /// Whether the kernel wakes the recorder after every sample.
    pub no_buffering: bool,
    /// Whether each sample has its period, even if that is constant.
    pub period: bool,
    /// Whether each sample has the id of its event, even if there is only one event.
    pub identifier: bool,
    /// Filters of events, each with the index of its event in all groups. An event can have several, which must all
    /// hold. Kernel: `PERF_EVENT_IOC_SET_FILTER`; the syntax of tracepoints is in `Documentation/trace/events.rst`.
    pub filters: Vec<(usize, String)>,
    /// The cgroups whose tasks alone are recorded, as open directories, each with the index of its event in all groups.
    /// Needs [`Targets::Cpus`](crate::Targets::Cpus). Kernel: `PERF_FLAG_PID_CGROUP`.
    pub in_cgroups: Vec<(usize, Arc<File>)>,
    /// Whether the events record no samples, but only mappings, names and tasks.
    pub no_samples: bool,
    /// Whether the counts of each task are recorded when it ends or is switched, as READ records.
    pub inherit_stat: bool,
    /// Whether the counts of a group have the times that it was enabled and running.
    pub running_time: bool,
    /// Whether samples have no times.
    pub no_timestamps: bool,
    /// Whether each thread has a ring, rather than each cpu. Records no tasks that are started later.
    pub per_thread: bool,
    /// The cpus on which threads or a command are recorded; `None` for all. Their mappings, names and tasks are recorded
    /// on all cpus. Cannot be combined with `per_thread`.
    pub cpus: Option<Vec<u32>>,
    /// Pages of each ring, a power of two; `None` for as many as `perf_event_mlock_kb` allows for each cpu, or fewer if this
    /// user has locked other memory.
    pub mmap_pages: Option<usize>,
    /// Pages of each AUX area, a power of two; `None` for 4 MiB, or 128 KiB for an ordinary user. Only for an event that
    /// writes a hardware trace, such as `intel_pt//`.
    pub aux_pages: Option<usize>,
    /// Whether AUX areas keep the newest data until a [snapshot](crate::Recorder::snapshot_areas), and its maximum number
    /// of bytes; 0 for the whole area.
    pub aux_snapshot: Option<usize>,
    /// Bytes of the AUX area in each sample of the other members of the group whose leader writes to it; 0 for 4096. The
    /// term `aux-sample-size` of an event takes precedence.
    pub aux_sample: Option<u32>,
    /// The bytes of records that a ring must hold before it is read, at most a quarter of the ring. The end of a capture
    /// reads all. 1 reads whatever is there.
    pub mmap_flush: usize,
    /// Whether the rings keep the newest records until a [snapshot](crate::Recorder::freeze).
    pub overwrite: bool,
    /// Whether the events wait for [`start`](crate::Recorder::start) even if they record a command.
    pub delayed: bool,
    /// Whether mappings, names and tasks are recorded by the kernel. Without them, samples have addresses alone.
    pub tracking: bool,
    /// Whether mappings, names and tasks are also recorded while the events are
    /// [paused](crate::Recorder::pause).
    pub pausable: bool,
    /// The records to synthesize of tasks, mappings and cgroups that existed before the recording.
    pub synthesize: SynthesizedRecords,
    /// Whether these records are synthesized at the end of a capture, of what exists then, rather than at its start. A
    /// recording that [overwrites](Self::overwrite) synthesizes them at the start, and keeps them.
    pub tail_synthesize: bool,
    /// Whether BUILD_ID lists the build ids of all mapped files.
    pub build_ids: bool,
    /// Whether the cycles event may be replaced by a clock where nothing counts cycles, and the kernel excluded where
    /// it may not be recorded. [`Recorder::notes`](crate::Recorder::notes) lists what was done.
    pub fall_back: bool,
    /// Words of the command line, for the feature `CMDLINE`; empty for those of this process.
    pub command_line: Vec<Vec<u8>>,
    /// Name and version of the program that records, for the feature `VERSION`.
    pub version: String,
    // `#[non_exhaustive]` would also forbid `..RecordOptions::default()` in other crates.
    #[doc(hidden)]
    pub non_exhaustive: (),
}

impl Default for RecordOptions {
    fn default() -> Self {
        Self {
            freq: None,
            count: None,
            call_graph: None,
            data: false,
            data_mmap: false,
            sample_type: SampleType::NONE,
            branches: None,
            regs_user: 0,
            regs_intr: 0,
            switch_events: false,
            namespaces: false,
            cgroups: false,
            buildid_mmap: false,
            bpf_events: true,
            text_poke: false,
            clockid: None,
            inherit: true,
            all_user: false,
            all_kernel: false,
            user_callchains: false,
            kernel_callchains: false,
            no_buffering: false,
            period: false,
            identifier: false,
            filters: Vec::new(),
            in_cgroups: Vec::new(),
            no_samples: false,
            inherit_stat: false,
            running_time: false,
            no_timestamps: false,
            per_thread: false,
            cpus: None,
            mmap_pages: None,
            aux_pages: None,
            aux_snapshot: None,
            aux_sample: None,
            mmap_flush: 1,
            overwrite: false,
            delayed: false,
            tracking: true,
            pausable: false,
            synthesize: SynthesizedRecords::default(),
            tail_synthesize: false,
            build_ids: true,
            fall_back: true,
            command_line: Vec::new(),
            version: concat!("perf-record ", env!("CARGO_PKG_VERSION")).to_owned(),
            non_exhaustive: (),
        }
    }
}

/// The kinds of records to synthesize of tasks, mappings and cgroups that existed before a recording. Those of the kernel and its
/// modules always are.
/// The default is all of them.
///
/// perf: `--synth`, `parse_synth_opt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a caller that chooses must choose for each kind")]
pub struct SynthesizedRecords {
    /// Names and parents of tasks: COMM, FORK, NAMESPACES.
    pub tasks: bool,
    /// Mappings of the tasks: MMAP2. Has no effect without `tasks`.
    pub mappings: bool,
    /// Names of cgroups: CGROUP, if [`RecordOptions::cgroups`] is set.
    pub cgroups: bool,
}

impl Default for SynthesizedRecords {
    fn default() -> Self {
        Self { tasks: true, mappings: true, cgroups: true }
    }
}

/// The method that records call chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallGraphMode {
    /// By the kernel, from frame pointers.
    Fp,
    /// The same, but the user part once for all samples since the task entered the kernel, when it returns to user space: a
    /// CALLCHAIN_DEFERRED record. Since Linux 6.19; earlier kernels record it with each sample, which a note says.
    FpDeferred,
    /// After the recording, from a copy of this many bytes of the stack. The mappings of data are recorded too, because
    /// unwinders need those that the tables of a file are in.
    Dwarf(u32),
    /// From the last branch records of Intel's processors.
    Lbr,
}

impl CallGraphMode {
    /// The number of stack bytes that perf copies by default.
    pub const STACK_BYTES: u32 = 8192;
}
