//! Perfetto's own traces (`.pftrace`), for ui.perfetto.dev and trace processor: samples with stacks, the values of counters over
//! time, and the tracks of the scheduler.
//!
//! Each event is a sequence of packets, whose defaults describe the event. A sample has what its counter had counted on its CPU
//! by then: the sum of the periods since the beginning of the capture. Stacks have inlined functions, with file and line;
//! mappings have build ids, so that Perfetto's tools can find names, too. Code without a name has none.
//!
//! The clock of the trace is that of the capture; if the capture relates it to the wall clock, the trace does so, too. The names
//! of processes and threads are written when they first appear. Perfetto tells threads apart by their ids: a thread whose id
//! was used before is one with the earlier one.
//!
//! Source: `protos/perfetto/trace` of the Perfetto project, version [`PROTO_VERSION`], and how its trace processor reads them.

mod interning;
mod messages;
mod sched;
mod timebase;

use std::io::{self, Write};
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use perf_profile::sched::SchedTrace;
use perf_profile::{EMPTY, Profile, ProfileThread, Sample, text::OneLine};
use prost::Message;

use self::interning::{InternedSoFar, InternedTables};
use self::messages::{
    ClockSnapshot, ClockTime, PerfSample, PerfSampleDefaults, PerfettoTrace, ProcessEntry, ProcessTree,
    SystemInfo, ThreadEntry, TracePacket, TracePacketDefaults, Utsname,
};
use self::timebase::{BOOTTIME, REALTIME, clock, timebase};
use crate::proto_tables::ProtoTables;

/// The version of Perfetto whose messages are written. Earlier ones ignore fields that they do not know.
pub const PROTO_VERSION: &str = "59";

/// `TracePacket.SequenceFlags`: the packet does not depend on earlier ones.
const CLEARED: u32 = 1;
/// The packet depends on those since the last one that did not.
const NEEDS_STATE: u32 = 2;

/// The sequence of packets that are no samples. Those of events follow.
const OF_TRACE: u32 = 1;

/// Options of a trace of Perfetto.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The switches and wake-ups of the capture, for the tracks of the scheduler; `None` for none.
    pub sched: Option<Arc<SchedTrace>>,
}

/// Writes one capture, whose profile needs the time of [each](perf_profile::TimeDetail::Each) sample, and its CPU.
///
/// Costs memory for each frame and stack, and 4 bytes for each sample, besides the profile.
///
/// # Errors
///
/// [`io::ErrorKind::InvalidInput`] if there is not exactly one profile: the format has one clock, and tells threads apart by
/// their ids. Those of `out`.
pub fn write(profiles: &[Profile], options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let [profile] = profiles else {
        let error = format!("a trace of Perfetto has one capture, and these are {}", profiles.len());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
    };
    let mut out = PacketWriter { out, buffer: Vec::new() };
    let sched = options.sched.as_deref().filter(|sched| sched.events().len() > 0);
    out.push(clocks(profile, sched))?;
    out.push(machine(profile))?;
    let mut tables = ProtoTables::default();
    let stacks = tables.add(profile);
    let of = CaptureTables { profile, tables: InternedTables::new(tables), stacks };
    let mut names = NamesSoFar::new(profile);
    let mut sequences: HashMap<u32, EventSequence> = HashMap::new();
    let mut order: Vec<u32> = (0..profile.samples().len() as u32).collect();
    order.sort_by_key(|&number| profile.sample(number).map(|it| it.time));
    for sample in order.into_iter().filter_map(|number| profile.sample(number)) {
        if let Some(tree) = names.new_names(profile, sample.thread) {
            out.push(TracePacket {
                timestamp: Some(sample.time),
                trusted_packet_sequence_id: OF_TRACE,
                process_tree: Some(tree),
                ..TracePacket::default()
            })?;
        }
        let next = OF_TRACE + 1 + sequences.len() as u32;
        let sequence = match sequences.entry(sample.event) {
            hashbrown::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            hashbrown::hash_map::Entry::Vacant(entry) => {
                out.push(first_packet(profile, sample.event, next))?;
                entry.insert(EventSequence { number: next, ..EventSequence::default() })
            }
        };
        out.push(sequence.packet(&of, &sample))?;
    }
    match sched {
        Some(sched) => sched::write(sched, OF_TRACE, &mut out),
        None => Ok(()),
    }
}

/// Writes packets, one after the other.
struct PacketWriter<'a> {
    out: &'a mut dyn Write,
    buffer: Vec<u8>,
}

impl PacketWriter<'_> {
    fn push(&mut self, packet: TracePacket) -> io::Result<()> {
        self.buffer.clear();
        PerfettoTrace { packet: vec![packet] }.encode(&mut self.buffer).map_err(io::Error::other)?;
        self.out.write_all(&self.buffer)
    }
}

/// A capture, and the tables that its packets refer to.
struct CaptureTables<'a> {
    profile: &'a Profile,
    tables: InternedTables,
    /// The numbers in the tables of the profile's stacks.
    stacks: Vec<u32>,
}

/// The samples of an event.
#[derive(Default)]
struct EventSequence {
    number: u32,
    known: InternedSoFar,
    /// What was counted on each CPU so far.
    counted: HashMap<Option<u32>, u64>,
}

impl EventSequence {
    fn packet(&mut self, of: &CaptureTables<'_>, sample: &Sample) -> TracePacket {
        let counted = self.counted.entry(sample.cpu).or_default();
        *counted = counted.wrapping_add(sample.total.period);
        let stack = of.stacks.get(sample.stack as usize).copied().unwrap_or(EMPTY);
        let (callstack_iid, interned_data) = match stack {
            EMPTY => (None, None),
            stack => {
                let (iid, data) = self.known.stack(&of.tables, stack);
                (Some(iid), data)
            }
        };
        let innermost = of.profile.stacks().node(sample.stack).filter(|_| sample.stack != EMPTY);
        let thread = of.profile.threads().get(sample.thread as usize);
        TracePacket {
            timestamp: Some(sample.time),
            trusted_packet_sequence_id: self.number,
            sequence_flags: Some(NEEDS_STATE),
            interned_data,
            perf_sample: Some(PerfSample {
                cpu: sample.cpu,
                pid: thread.map(|it| it.pid.cast_unsigned()),
                tid: thread.map(|it| it.tid.cast_unsigned()),
                callstack_iid,
                // `Profiling.CpuMode` has the kernel's numbers.
                cpu_mode: innermost.map(|(_, frame)| of.profile.frames().mode(frame).0.into()),
                timebase_count: Some(*counted),
            }),
            ..TracePacket::default()
        }
    }
}

/// Returns the first packet of an event.
fn first_packet(profile: &Profile, event: u32, sequence: u32) -> TracePacket {
    let of = profile.events().get(event as usize);
    let defaults = PerfSampleDefaults { timebase: of.map(|of| timebase(&of.event)) };
    TracePacket {
        trusted_packet_sequence_id: sequence,
        sequence_flags: Some(CLEARED),
        first_packet_on_sequence: Some(true),
        trace_packet_defaults: Some(TracePacketDefaults { perf_sample_defaults: Some(defaults) }),
        ..TracePacket::default()
    }
}

/// Returns the packet that tells the clock of all times.
fn clocks(profile: &Profile, sched: Option<&SchedTrace>) -> TracePacket {
    let clock_id = clock(profile.events().first().map(|of| &of.event.attr)).builtin;
    let start = profile.span().map_or(0, |(start, _)| start);
    let mut clocks = vec![ClockTime { clock_id, timestamp: Some(start) }];
    if clock_id != REALTIME
        && let Some(time) = profile.origin().wall_clock(start)
    {
        clocks.push(ClockTime { clock_id: REALTIME, timestamp: Some(time) });
    }
    // Events of the scheduler are taken to have this clock, and are dropped if it has no relation to that of the trace.
    if clock_id != BOOTTIME && sched.is_some() {
        clocks.push(ClockTime { clock_id: BOOTTIME, timestamp: Some(start) });
    }
    TracePacket {
        trusted_packet_sequence_id: OF_TRACE,
        clock_snapshot: Some(ClockSnapshot { clocks, primary_trace_clock: Some(clock_id.cast_signed()) }),
        ..TracePacket::default()
    }
}

/// Returns the packet about the machine. By the kernel's release, trace processor knows what the states of threads mean.
fn machine(profile: &Profile) -> TracePacket {
    let origin = profile.origin();
    let text = |name: &Option<Vec<u8>>| name.as_deref().map(|name| OneLine(name).to_string());
    let utsname =
        Utsname { sysname: "Linux".to_owned(), release: text(&origin.release), machine: text(&origin.arch) };
    TracePacket {
        trusted_packet_sequence_id: OF_TRACE,
        system_info: Some(SystemInfo {
            utsname: Some(utsname),
            num_cpus: origin.cpus,
            machine_name: text(&origin.hostname),
        }),
        ..TracePacket::default()
    }
}

/// The threads and processes whose names are written.
struct NamesSoFar<'a> {
    /// By the keys of processes, the first name of the main thread.
    main: HashMap<u64, &'a [u8]>,
    threads: HashSet<u32>,
    processes: HashSet<u64>,
}

impl<'a> NamesSoFar<'a> {
    fn new(profile: &'a Profile) -> Self {
        let mut main = HashMap::new();
        for thread in profile.threads().iter().filter(|thread| thread.pid == thread.tid) {
            main.entry(thread.process_key).or_insert(&*thread.comm);
        }
        Self { main, threads: HashSet::new(), processes: HashSet::new() }
    }

    /// Returns the names of a thread, and of its process, that are not written yet. Names of unknown threads, whose ids are
    /// negative, are never written.
    fn new_names(&mut self, profile: &Profile, number: u32) -> Option<ProcessTree> {
        let thread = profile.threads().get(number as usize).filter(|it| it.pid >= 0 && it.tid >= 0)?;
        if !self.threads.insert(number) {
            return None;
        }
        let ProfileThread { pid, tid, comm, process_key, .. } = thread;
        let name = |comm: &[u8]| OneLine(comm).to_string();
        let is_main = pid == tid;
        let of_process = if is_main { &**comm } else { self.main.get(process_key).copied().unwrap_or(comm) };
        let is_new = self.processes.insert(*process_key) || is_main;
        let process =
            ProcessEntry { pid: Some(*pid), cmdline: vec![name(of_process)], cmdline_is_comm: Some(true) };
        let thread = ThreadEntry { tid: Some(*tid), name: Some(name(comm)), tgid: Some(*pid) };
        Some(ProcessTree {
            processes: is_new.then_some(process).into_iter().collect(),
            threads: vec![thread],
        })
    }
}
