//! The messages of Perfetto's traces, as far as they are written.
//!
//! Source: `protos/perfetto` of the Perfetto project, package `perfetto.protos`.

/// A part of a trace: protobuf joins those that follow each other.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct PerfettoTrace {
    #[prost(message, repeated, tag = "1")]
    pub(super) packet: Vec<TracePacket>,
}

/// A packet, which has one kind of content.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TracePacket {
    /// Nanoseconds of the trace's clock.
    #[prost(uint64, optional, tag = "8")]
    pub(super) timestamp: Option<u64>,
    #[prost(uint32, tag = "10")]
    pub(super) trusted_packet_sequence_id: u32,
    #[prost(uint32, optional, tag = "13")]
    pub(super) sequence_flags: Option<u32>,
    #[prost(bool, optional, tag = "87")]
    pub(super) first_packet_on_sequence: Option<bool>,
    #[prost(message, optional, tag = "12")]
    pub(super) interned_data: Option<InternedData>,
    #[prost(message, optional, tag = "59")]
    pub(super) trace_packet_defaults: Option<TracePacketDefaults>,
    #[prost(message, optional, tag = "1")]
    pub(super) ftrace_events: Option<FtraceEventBundle>,
    #[prost(message, optional, tag = "2")]
    pub(super) process_tree: Option<ProcessTree>,
    #[prost(message, optional, tag = "6")]
    pub(super) clock_snapshot: Option<ClockSnapshot>,
    #[prost(message, optional, tag = "45")]
    pub(super) system_info: Option<SystemInfo>,
    #[prost(message, optional, tag = "66")]
    pub(super) perf_sample: Option<PerfSample>,
}

/// What later packets of the sequence refer to by numbers.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct InternedData {
    #[prost(message, repeated, tag = "5")]
    pub(super) function_names: Vec<InternedString>,
    #[prost(message, repeated, tag = "6")]
    pub(super) frames: Vec<PerfettoFrame>,
    #[prost(message, repeated, tag = "7")]
    pub(super) callstacks: Vec<Callstack>,
    #[prost(message, repeated, tag = "16")]
    pub(super) build_ids: Vec<InternedString>,
    #[prost(message, repeated, tag = "17")]
    pub(super) mapping_paths: Vec<InternedString>,
    #[prost(message, repeated, tag = "18")]
    pub(super) source_paths: Vec<InternedString>,
    #[prost(message, repeated, tag = "19")]
    pub(super) mappings: Vec<PerfettoMapping>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct InternedString {
    /// From 1 on, as all such numbers.
    #[prost(uint64, tag = "1")]
    pub(super) iid: u64,
    #[prost(bytes = "vec", tag = "2")]
    pub(super) str: Vec<u8>,
}

/// A mapped file or region.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct PerfettoMapping {
    #[prost(uint64, tag = "1")]
    pub(super) iid: u64,
    /// A string; 0 for none.
    #[prost(uint64, tag = "2")]
    pub(super) build_id: u64,
    #[prost(uint64, tag = "4")]
    pub(super) start: u64,
    #[prost(uint64, tag = "5")]
    pub(super) end: u64,
    #[prost(uint64, repeated, packed = "false", tag = "7")]
    pub(super) path_string_ids: Vec<u64>,
    /// The offset in the file.
    #[prost(uint64, tag = "8")]
    pub(super) exact_offset: u64,
}

/// A function at an address. Functions that are inlined there are frames of their own.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct PerfettoFrame {
    #[prost(uint64, tag = "1")]
    pub(super) iid: u64,
    #[prost(uint64, tag = "2")]
    pub(super) function_name_id: u64,
    #[prost(uint64, tag = "3")]
    pub(super) mapping_id: u64,
    #[prost(uint64, optional, tag = "4")]
    pub(super) rel_pc: Option<u64>,
    #[prost(uint64, optional, tag = "5")]
    pub(super) source_path_iid: Option<u64>,
    #[prost(uint32, optional, tag = "6")]
    pub(super) line_number: Option<u32>,
    #[prost(int32, optional, tag = "7")]
    pub(super) kind: Option<i32>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Callstack {
    #[prost(uint64, tag = "1")]
    pub(super) iid: u64,
    /// The outermost frame first. Not packed, as in all of proto2.
    #[prost(uint64, repeated, packed = "false", tag = "2")]
    pub(super) frame_ids: Vec<u64>,
}

/// What all samples of a sequence have in common.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TracePacketDefaults {
    #[prost(message, optional, tag = "12")]
    pub(super) perf_sample_defaults: Option<PerfSampleDefaults>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct PerfSampleDefaults {
    #[prost(message, optional, tag = "1")]
    pub(super) timebase: Option<Timebase>,
}

/// An event: at most one of frequency and period, and one of counter, tracepoint and raw event.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Timebase {
    #[prost(uint64, optional, tag = "1")]
    pub(super) period: Option<u64>,
    #[prost(uint64, optional, tag = "2")]
    pub(super) frequency: Option<u64>,
    #[prost(message, optional, tag = "3")]
    pub(super) tracepoint: Option<PerfTracepoint>,
    #[prost(int32, optional, tag = "4")]
    pub(super) counter: Option<i32>,
    #[prost(message, optional, tag = "5")]
    pub(super) raw_event: Option<RawEvent>,
    #[prost(string, tag = "10")]
    pub(super) name: String,
    #[prost(int32, optional, tag = "11")]
    pub(super) timestamp_clock: Option<i32>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct PerfTracepoint {
    #[prost(string, tag = "1")]
    pub(super) name: String,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct RawEvent {
    #[prost(uint32, tag = "1")]
    pub(super) r#type: u32,
    #[prost(uint64, tag = "2")]
    pub(super) config: u64,
    #[prost(uint64, tag = "3")]
    pub(super) config1: u64,
    #[prost(uint64, tag = "4")]
    pub(super) config2: u64,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct PerfSample {
    #[prost(uint32, optional, tag = "1")]
    pub(super) cpu: Option<u32>,
    #[prost(uint32, optional, tag = "2")]
    pub(super) pid: Option<u32>,
    #[prost(uint32, optional, tag = "3")]
    pub(super) tid: Option<u32>,
    #[prost(uint64, optional, tag = "4")]
    pub(super) callstack_iid: Option<u64>,
    #[prost(int32, optional, tag = "5")]
    pub(super) cpu_mode: Option<i32>,
    /// The value of the counter.
    #[prost(uint64, optional, tag = "6")]
    pub(super) timebase_count: Option<u64>,
}

/// Names of processes and threads.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ProcessTree {
    #[prost(message, repeated, tag = "1")]
    pub(super) processes: Vec<ProcessEntry>,
    #[prost(message, repeated, tag = "2")]
    pub(super) threads: Vec<ThreadEntry>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ProcessEntry {
    #[prost(int32, optional, tag = "1")]
    pub(super) pid: Option<i32>,
    #[prost(string, repeated, tag = "3")]
    pub(super) cmdline: Vec<String>,
    /// Whether the command line is the name of the main thread.
    #[prost(bool, optional, tag = "9")]
    pub(super) cmdline_is_comm: Option<bool>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ThreadEntry {
    #[prost(int32, optional, tag = "1")]
    pub(super) tid: Option<i32>,
    #[prost(string, optional, tag = "2")]
    pub(super) name: Option<String>,
    #[prost(int32, optional, tag = "3")]
    pub(super) tgid: Option<i32>,
}

/// A moment on several clocks.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ClockSnapshot {
    #[prost(message, repeated, tag = "1")]
    pub(super) clocks: Vec<ClockTime>,
    /// The clock of the trace.
    #[prost(int32, optional, tag = "2")]
    pub(super) primary_trace_clock: Option<i32>,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct ClockTime {
    #[prost(uint32, tag = "1")]
    pub(super) clock_id: u32,
    #[prost(uint64, optional, tag = "2")]
    pub(super) timestamp: Option<u64>,
}

/// The machine.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct SystemInfo {
    #[prost(message, optional, tag = "1")]
    pub(super) utsname: Option<Utsname>,
    #[prost(uint32, optional, tag = "8")]
    pub(super) num_cpus: Option<u32>,
    #[prost(string, optional, tag = "17")]
    pub(super) machine_name: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Utsname {
    #[prost(string, tag = "1")]
    pub(super) sysname: String,
    #[prost(string, optional, tag = "3")]
    pub(super) release: Option<String>,
    #[prost(string, optional, tag = "4")]
    pub(super) machine: Option<String>,
}

/// Events of the scheduler on a CPU.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct FtraceEventBundle {
    #[prost(uint32, optional, tag = "1")]
    pub(super) cpu: Option<u32>,
    #[prost(message, repeated, tag = "2")]
    pub(super) event: Vec<FtraceEvent>,
}

/// An event: a switch or a wake-up.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct FtraceEvent {
    #[prost(uint64, optional, tag = "1")]
    pub(super) timestamp: Option<u64>,
    /// The thread in which it happened.
    #[prost(uint32, optional, tag = "2")]
    pub(super) pid: Option<u32>,
    #[prost(message, optional, tag = "4")]
    pub(super) sched_switch: Option<SchedSwitch>,
    #[prost(message, optional, tag = "17")]
    pub(super) sched_wakeup: Option<SchedWakeup>,
    #[prost(message, optional, tag = "20")]
    pub(super) sched_waking: Option<SchedWakeup>,
    #[prost(message, optional, tag = "114")]
    pub(super) sched_wakeup_new: Option<SchedWakeup>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct SchedSwitch {
    #[prost(string, optional, tag = "1")]
    pub(super) prev_comm: Option<String>,
    #[prost(int32, optional, tag = "2")]
    pub(super) prev_pid: Option<i32>,
    #[prost(int32, optional, tag = "3")]
    pub(super) prev_prio: Option<i32>,
    #[prost(int64, optional, tag = "4")]
    pub(super) prev_state: Option<i64>,
    #[prost(string, optional, tag = "5")]
    pub(super) next_comm: Option<String>,
    #[prost(int32, optional, tag = "6")]
    pub(super) next_pid: Option<i32>,
    #[prost(int32, optional, tag = "7")]
    pub(super) next_prio: Option<i32>,
}

/// A thread is woken up. The three tracepoints have the same fields.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct SchedWakeup {
    #[prost(string, optional, tag = "1")]
    pub(super) comm: Option<String>,
    #[prost(int32, optional, tag = "2")]
    pub(super) pid: Option<i32>,
    #[prost(int32, optional, tag = "4")]
    pub(super) success: Option<i32>,
    #[prost(int32, optional, tag = "5")]
    pub(super) target_cpu: Option<i32>,
}
