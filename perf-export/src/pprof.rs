//! Profiles of pprof: one gzip-compressed protobuf message, which `go tool pprof` and many services read.
//!
//! All captures become one profile. It has a sample type for the number of samples, which comes first, and one for what each
//! event counted: events of one name and unit have one. Each sample has the labels `pid`, `tid`, `comm`, and `cpu` if it was
//! recorded. A location has the functions at its address, inlined ones first; of a caller, the address is that of the last
//! byte of the call instruction.
//!
//! Source: `proto/profile.proto` of the pprof project.

mod gzip;
mod messages;

use std::io::{self, Write};
use std::num::NonZero;
use std::ops::Range;

use hashbrown::HashMap;
use perf_abi::attr::AttrFlags;
use perf_profile::{
    NONE, Profile, SampleTotal, event_name, table::interner::Interner, unit::is_clock,
    work::waves::each_range,
};
use prost::Message;

use self::gzip::Gzip;
use self::messages::{
    PprofFunction, PprofLabel, PprofLine, PprofLocation, PprofMapping, PprofProfile, PprofSample,
    PprofValueType,
};
use crate::proto_tables::{CodeLocation, FunctionStrings, MappedFile, ProtoTables};

/// Maximum number of sample types. Each sample has a value for each of them, so more would make the profile far
/// larger than the capture.
const MAX_TYPES: usize = 1 << 10;

/// Number of samples, or of rows of a table, in the unit of work of a thread.
const PART: usize = 256;

/// Options of a pprof profile.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Number of threads that encode and compress. The output is the same for any number.
    pub threads: NonZero<usize>,
}

impl Default for Options {
    /// One thread.
    fn default() -> Self {
        Self { threads: NonZero::<usize>::MIN }
    }
}

/// Writes all captures as one profile. The bytes depend on the profiles alone: not on the options, the date or the machine.
///
/// Costs time and bytes for each frame of the stack of each sample, and memory for each sample and each distinct address.
///
/// # Errors
///
/// [`io::ErrorKind::InvalidInput`] if there are more than 1023 events with different names. Those of `out`.
pub fn write(profiles: &[Profile], options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let threads = options.threads;
    let mut writer = PprofWriter::default();
    let types = writer.sample_types(profiles);
    if types.list.len() > MAX_TYPES {
        let limit = MAX_TYPES - 1;
        let error =
            format!("a pprof profile can have {limit} events, and these are {}", types.list.len() - 1);
        return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
    }
    let mut out = Gzip::new(out, threads)?;
    let mut rows = PprofRows::default();
    for (profile, types) in profiles.iter().zip(&types.of_events) {
        writer.add(profile, types, &mut rows);
    }
    let main = writer.main_mapping(profiles);
    writer.write_samples(rows, types.list.len(), threads, &mut out)?;
    writer.write_tables(main, threads, &mut out)?;
    let whole = PprofProfile { sample_type: types.list, ..writer.times(profiles, types.of_period) };
    put(&whole, &mut out)?;
    out.finish()
}

/// Writes a part of the profile.
fn put(part: &PprofProfile, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&part.encode_to_vec())
}

/// Writes parts of the profile, which have the entries of a list, in their order.
fn put_each(
    len: usize,
    threads: NonZero<usize>,
    message: impl Fn(Range<usize>) -> PprofProfile + Sync,
    out: &mut dyn Write,
) -> io::Result<()> {
    let encode = |range| message(range).encode_to_vec();
    each_range(len, PART, threads, encode, |bytes| out.write_all(&bytes))
}

/// The sample types of a profile.
struct SampleTypes {
    list: Vec<PprofValueType>,
    /// The indices of the sample types of a profile's events.
    of_events: Vec<Vec<u32>>,
    /// The first event, and its period if it is fixed.
    of_period: Option<(PprofValueType, u64)>,
}

/// The samples of some profiles with the same stack and labels.
#[derive(Default)]
struct PprofRows {
    /// Stack, thread and CPU, or [`NONE`].
    keys: Interner<(u32, u32, u32)>,
    /// The row, the sample type, and what was counted.
    counts: Vec<(u32, u32, SampleTotal)>,
}

#[derive(Default)]
struct PprofWriter {
    tables: ProtoTables,
    /// Pid, tid, and the number of the name.
    threads: Interner<(i32, i32, u32)>,
}

impl PprofWriter {
    fn string(&mut self, text: &[u8]) -> i64 {
        self.tables.strings.number(text).into()
    }

    fn sample_types(&mut self, profiles: &[Profile]) -> SampleTypes {
        let samples = PprofValueType { r#type: self.string(b"samples"), unit: self.string(b"count") };
        let mut types = SampleTypes { list: vec![samples], of_events: Vec::new(), of_period: None };
        let mut numbers = HashMap::new();
        for profile in profiles {
            let mut of_events = Vec::new();
            for of in profile.events() {
                let attr = &of.event.attr;
                let it = PprofValueType {
                    r#type: self.string(&event_name(&of.event)),
                    unit: self.string(if is_clock(&of.event.attr) { b"nanoseconds" } else { b"count" }),
                };
                let next = types.list.len() as u32;
                let number = *numbers.entry((it.r#type, it.unit)).or_insert(next);
                if number == next {
                    types.list.push(it);
                }
                let period = if attr.flags.contains(AttrFlags::FREQ) { 0 } else { attr.sample_period };
                types.of_period.get_or_insert((it, period));
                of_events.push(number);
            }
            types.of_events.push(of_events);
        }
        types
    }

    fn add(&mut self, profile: &Profile, types: &[u32], rows: &mut PprofRows) {
        let stacks = self.tables.add(profile);
        let threads = profile.threads().iter();
        let threads: Vec<u32> = threads
            .map(|thread| {
                let comm = self.tables.strings.number(&thread.comm);
                self.threads.number((thread.pid, thread.tid, comm))
            })
            .collect();
        for sample in profile.samples() {
            let (Some(&stack), Some(&thread), Some(&kind)) = (
                stacks.get(sample.stack as usize),
                threads.get(sample.thread as usize),
                types.get(sample.event as usize),
            ) else {
                continue;
            };
            let row = rows.keys.number((stack, thread, sample.cpu.unwrap_or(NONE)));
            rows.counts.push((row, kind, sample.total));
        }
    }

    fn write_samples(
        &mut self,
        rows: PprofRows,
        types: usize,
        threads: NonZero<usize>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let PprofRows { keys, mut counts } = rows;
        counts.sort_by_key(|&(row, ..)| row);
        let of_rows: Vec<_> = counts.chunk_by(|(one, ..), (other, ..)| one == other).collect();
        let labels = [b"pid".as_slice(), b"tid", b"comm", b"cpu"].map(|key| self.string(key));
        let sample = |(&key, counts): (&_, &&_)| self.sample(key, counts, types, labels);
        // Each row has counts, and they are in the order of the rows.
        let message = |range: Range<usize>| {
            let keys = keys.list().get(range.clone()).unwrap_or_default();
            let of_rows = of_rows.get(range).unwrap_or_default();
            PprofProfile { sample: keys.iter().zip(of_rows).map(sample).collect(), ..Default::default() }
        };
        put_each(of_rows.len(), threads, message, out)
    }

    /// Returns the sample of a row. `labels` are the names of its labels.
    fn sample(
        &self,
        (stack, thread, number): (u32, u32, u32),
        counts: &[(u32, u32, SampleTotal)],
        types: usize,
        [pid, tid, comm, cpu]: [i64; 4],
    ) -> PprofSample {
        let mut value = vec![0_i64; types];
        for (_, kind, total) in counts {
            // Above the largest i64 they wrap around, as sums of impossible periods do.
            for (index, count) in [(0, total.samples), (*kind as usize, total.period)] {
                if let Some(value) = value.get_mut(index) {
                    *value = value.wrapping_add(count.cast_signed());
                }
            }
        }
        let thread = self.threads.list().get(thread as usize).copied().unwrap_or_default();
        // A number is there even if it is zero: pprof takes a label without string, number and unit as none.
        let number_of = |key, num: i64| PprofLabel { key, str: 0, num, num_unit: key };
        let mut label = Vec::with_capacity(4);
        label.push(number_of(pid, thread.0.into()));
        label.push(number_of(tid, thread.1.into()));
        label.push(PprofLabel { key: comm, str: thread.2.into(), num: 0, num_unit: 0 });
        if number != NONE {
            label.push(number_of(cpu, number.into()));
        }
        let location_id = self.tables.stacks.frames(stack).map(|it| u64::from(it) + 1).collect();
        PprofSample { location_id, value, label }
    }

    /// Writes the tables, the main mapping first.
    fn write_tables(&mut self, main: usize, threads: NonZero<usize>, out: &mut dyn Write) -> io::Result<()> {
        let mappings = self.tables.mappings().to_vec();
        let order = (mappings.len() > main).then_some(main).into_iter().chain(0..mappings.len());
        for (place, number) in order.enumerate() {
            // The main mapping is not written again.
            if let Some(it) = mappings.get(number)
                && (place == 0 || number != main)
            {
                let build_id = self.tables.build_ids.get(it.key.build_id).to_owned();
                let build_id = self.string(build_id.as_bytes());
                let mapping = vec![PprofMapping { build_id, ..mapping(number, it) }];
                put(&PprofProfile { mapping, ..Default::default() }, out)?;
            }
        }
        let ProtoTables { strings, .. } = &self.tables;
        let (locations, functions) = (self.tables.locations(), self.tables.functions());
        let message = |range: Range<usize>| {
            let of = locations.get(range.clone()).unwrap_or_default().iter();
            let location = of.zip(range.start as u64 + 1..).map(|(it, id)| location(id, it)).collect();
            PprofProfile { location, ..Default::default() }
        };
        put_each(locations.len(), threads, message, out)?;
        let message = |range: Range<usize>| {
            let of = functions.get(range.clone()).unwrap_or_default().iter();
            let function = of.zip(range.start as u64 + 1..).map(|(it, id)| function(id, it)).collect();
            PprofProfile { function, ..Default::default() }
        };
        put_each(functions.len(), threads, message, out)?;
        let message = |range: Range<usize>| {
            let of = strings.list().get(range).unwrap_or_default().iter();
            PprofProfile { string_table: of.map(|it| String::from(&**it)).collect(), ..Default::default() }
        };
        put_each(strings.list().len(), threads, message, out)
    }

    /// Returns the number of the mapping of the main program, which pprof names the profile after: the file that has the name
    /// of the threads with the most samples. Threads have the first 15 bytes of the name of their program.
    fn main_mapping(&self, profiles: &[Profile]) -> usize {
        let mut comms: HashMap<&[u8], u64> = HashMap::new();
        for profile in profiles {
            for sample in profile.samples() {
                if let Some(thread) = profile.threads().get(sample.thread as usize) {
                    *comms.entry(&thread.comm).or_default() += sample.total.samples;
                }
            }
        }
        let path = |it: &MappedFile| self.tables.strings.get(it.key.file).as_bytes();
        let samples = |it: &MappedFile| {
            let name = path(it).rsplit(|&byte| byte == b'/').next().unwrap_or_default();
            comms.get(name.get(..15).unwrap_or(name)).copied().unwrap_or(0)
        };
        let files = self.tables.mappings().iter().enumerate().filter(|(_, it)| path(it).starts_with(b"/"));
        // Of equal ones the first.
        files.rev().max_by_key(|(_, it)| samples(it)).map_or(0, |(number, _)| number)
    }

    /// Returns the part of the profile that has its times and periods.
    fn times(&mut self, profiles: &[Profile], of_period: Option<(PprofValueType, u64)>) -> PprofProfile {
        let spans = || profiles.iter().filter_map(|profile| profile.span().map(|span| (profile, span)));
        let starts = spans().filter_map(|(profile, (first, _))| profile.origin().wall_clock(first));
        let (period_type, period) = of_period.unzip();
        PprofProfile {
            time_nanos: starts.min().unwrap_or(0).cast_signed(),
            duration_nanos: spans()
                .fold(0, |sum: u64, (_, (first, last))| sum.wrapping_add(last - first))
                .cast_signed(),
            period_type,
            period: period.unwrap_or(0).cast_signed(),
            default_sample_type: period_type.map_or(0, |it| it.r#type),
            ..Default::default()
        }
    }
}

/// Returns a mapping without its build id.
fn mapping(number: usize, it: &MappedFile) -> PprofMapping {
    PprofMapping {
        id: number as u64 + 1,
        memory_start: it.key.start,
        memory_limit: it.limit,
        file_offset: it.key.pgoff,
        filename: it.key.file.into(),
        has_functions: it.has_functions,
        has_filenames: it.has_files,
        has_line_numbers: it.has_lines,
        has_inline_frames: it.has_inlines,
        ..PprofMapping::default()
    }
}

fn location(id: u64, it: &CodeLocation) -> PprofLocation {
    let of = |&(function, line): &(u32, u32)| PprofLine {
        function_id: u64::from(function) + 1,
        line: line.into(),
    };
    let mapping_id = if it.mapping == NONE { 0 } else { u64::from(it.mapping) + 1 };
    PprofLocation { id, mapping_id, address: it.address, line: it.lines.iter().map(of).collect() }
}

fn function(id: u64, it: &FunctionStrings) -> PprofFunction {
    PprofFunction { id, name: it.name.into(), system_name: it.system_name.into(), filename: it.file.into() }
}
