//! Processed profiles of the Firefox Profiler, with the names of all functions: they open without a server of symbols.
//!
//! Format 60, in which all threads share the tables of functions and stacks. The crate `fxprof-processed-profile` writes
//! an earlier one, and neither lines nor files nor inlined functions.
//!
//! Firefox Profiler: `src/types/profile.ts`, `docs-developer/CHANGELOG-formats.md`.

mod tables;
mod threads;

use std::io::{self, Write};
use std::num::NonZero;
use std::ops::Range;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::event::{EventType, HW_EVENT_MASK, HwId};
use perf_parse::event::Event;
use perf_profile::{
    CaptureOrigin, Profile, event_name,
    text::OneLine,
    unit::{has_periods, is_clock},
    work::both::both,
    work::waves::each_range,
};
use serde::Serialize;

use crate::json::JsonDocument;
use tables::SharedTables;
use threads::{FirefoxProcess, FirefoxThread, ThreadSpan};

/// The format that is written.
const VERSION: u32 = 60;

/// Number of samples and other moments of threads whose tables are in memory together.
const MOMENTS: usize = 1 << 17;

/// Options of a Firefox profile.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Name of the event whose samples are shown, as [`event_name`] returns it. `None` chooses the first event of the
    /// capture that is not a tracepoint, or the first one if all are.
    pub event: Option<Vec<u8>>,
    /// Name of what was recorded: the program or the machine.
    pub product: String,
    /// Number of threads that write. The output is the same for any number.
    pub threads: NonZero<usize>,
}

impl Default for Options {
    /// The first event, no name, and one thread.
    fn default() -> Self {
        Self { event: None, product: String::new(), threads: NonZero::<usize>::MIN }
    }
}

/// Writes the samples of one capture, whose profile needs the time of [each](perf_profile::TimeDetail::Each) sample.
///
/// Each thread has the samples of one event. A sample weighs 1. The CPU time of a sample is its period, if the event
/// counts nanoseconds or cycles. Samples of other events are markers with stacks, as are those with a
/// [text](perf_profile::ProfileBuilder::describe). Times [without a CPU](perf_profile::ProfileBuilder::switch) are markers
/// too, and gaps between samples: each begins with a sample without a stack that weighs 0. A thread with a new name is
/// another thread; if it is the main thread, another process.
///
/// Besides the profile, costs memory for each frame and stack, and 4 bytes for each sample and time without a CPU; of the
/// threads that are written, 8 bytes more.
///
/// # Errors
///
/// [`io::ErrorKind::InvalidInput`] if there is not exactly one profile: the format has one clock and one machine. Those of
/// `out`.
pub fn write(profiles: &[Profile], options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let [profile] = profiles else {
        let error = format!("a Firefox profile has one capture, and these are {}", profiles.len());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
    };
    write_by(MOMENTS, profile, options, out)
}

/// Does the same. Makes the tables of threads together until they have `most` moments.
fn write_by(most: usize, profile: &Profile, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let names: Vec<_> = profile.events().iter().map(|it| event_name(&it.event)).collect();
    let of_option = options.event.as_ref().and_then(|event| names.iter().position(|name| name == event));
    let first = || {
        let events = profile.events().iter().zip(0..);
        let key = |event: &Event| (event.attr.kind == EventType::TRACEPOINT, event.index);
        events.min_by_key(|(it, _)| key(&it.event)).map_or(0, |(_, number)| number)
    };
    let event = of_option.unwrap_or_else(first);
    let rows = || threads::rows(profile, event as u32);
    let (mut shared, (processes, rows)) =
        both(options.threads, || SharedTables::new(profile, options.threads), rows);
    let markers: Vec<_> = names.iter().map(|name| shared.strings.number(name)).collect();
    let off_cpu_name = shared.strings.number(b"off CPU");
    let start = profile.span().map_or(0, |(start, _)| start);
    let shown = names.get(event).map(|name| OneLine(name).to_string());
    let attr = profile.events().get(event).map(|it| it.event.attr);
    let of_cpu = profile.events().get(event).and_then(|it| unit_of_cpu(&it.event));
    let meta = meta(options, profile.origin(), attr.as_ref(), of_cpu, start, shown.unwrap_or_default());
    let mut document = JsonDocument::default();
    document.open(b'{');
    document.field("meta", &meta);
    document.field("libs", &shared.libs);
    for empty in ["pages", "profilerOverhead", "counters"] {
        document.field(empty, &[(); 0]);
    }
    document.key("shared");
    document.open(b'{');
    shared.add_to(&mut document);
    document.close(b'}');
    document.key("threads");
    document.open(b'[');
    document.write(options.threads, out)?;
    let has_cpu = of_cpu.is_some();
    let threads =
        ThreadsWriter { profile, shared: &shared, processes, rows, markers, off_cpu_name, start, has_cpu };
    threads.write(most, options.threads, out)?;
    out.write_all(b"]}\n")
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FirefoxMeta<'a> {
    categories: [Category; tables::CATEGORIES.len()],
    interval: f64,
    preprocessed_profile_version: u32,
    version: u32,
    process_type: u32,
    product: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    oscpu: String,
    #[serde(rename = "CPUName", skip_serializing_if = "str::is_empty")]
    cpu_name: String,
    #[serde(rename = "logicalCPUs", skip_serializing_if = "Option::is_none")]
    logical_cpus: Option<u32>,
    sample_units: SampleUnits,
    start_time: f64,
    symbolicated: bool,
    stackwalk: u32,
    debug: bool,
    uses_only_one_stack_type: bool,
    source_code_is_not_on_searchfox: bool,
    imported_from: &'static str,
    extensions: BrowserExtensions,
    marker_schema: [MarkerSchema; 2],
    extra: [PanelSection; 1],
}

/// Lines of the panel about the profile.
#[derive(Serialize)]
struct PanelSection {
    label: &'static str,
    entries: [PanelLine; 1],
}

#[derive(Serialize)]
struct PanelLine {
    label: &'static str,
    format: &'static str,
    value: String,
}

#[derive(Serialize)]
struct Category {
    name: &'static str,
    color: &'static str,
    subcategories: [&'static str; 1],
}

#[derive(Serialize)]
struct SampleUnits {
    time: &'static str,
    #[serde(rename = "eventDelay")]
    event_delay: &'static str,
    #[serde(rename = "threadCPUDelta")]
    thread_cpu_delta: &'static str,
}

#[derive(Serialize)]
struct BrowserExtensions {
    length: u32,
    #[serde(rename = "baseURL")]
    base_url: [(); 0],
    id: [(); 0],
    name: [(); 0],
}

/// Display of the markers of a type in the Firefox Profiler.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MarkerSchema {
    name: &'static str,
    display: [&'static str; 2],
    table_label: &'static str,
    fields: Vec<MarkerField>,
}

#[derive(Serialize)]
struct MarkerField {
    key: &'static str,
    label: &'static str,
    format: &'static str,
}

fn meta<'a>(
    options: &'a Options,
    origin: &CaptureOrigin,
    attr: Option<&Attr>,
    unit_of_cpu: Option<&'static str>,
    start: u64,
    shown: String,
) -> FirefoxMeta<'a> {
    let text = |name: &Option<Vec<u8>>| OneLine(name.as_deref().unwrap_or_default()).to_string();
    let field = |key, label| MarkerField { key, label, format: "integer" };
    let details = || MarkerField { key: "text", label: "Details", format: "string" };
    let schema = |name, fields| MarkerSchema {
        name,
        display: ["marker-chart", "marker-table"],
        table_label: "{marker.data.text}",
        fields,
    };
    FirefoxMeta {
        categories: tables::CATEGORIES.map(|(name, color)| Category {
            name,
            color,
            subcategories: ["Other"],
        }),
        interval: attr.map_or(1.0, interval),
        preprocessed_profile_version: VERSION,
        // Of another format, which this one was made of; the profiler does not read it.
        version: 24,
        process_type: 0,
        product: &options.product,
        oscpu: format!("Linux {}", text(&origin.release)).trim_end().to_owned(),
        cpu_name: text(&origin.processor),
        logical_cpus: origin.cpus,
        sample_units: SampleUnits {
            time: "ms",
            event_delay: "ms",
            thread_cpu_delta: unit_of_cpu.unwrap_or("ns"),
        },
        // Without a relation of the clocks, the profile begins in 1970.
        start_time: origin.wall_clock(start).map_or(0.0, milliseconds),
        symbolicated: true,
        stackwalk: 1,
        debug: false,
        uses_only_one_stack_type: true,
        source_code_is_not_on_searchfox: true,
        imported_from: "perf",
        extensions: BrowserExtensions { length: 0, base_url: [], id: [], name: [] },
        marker_schema: [
            schema(threads::SAMPLE, vec![details(), field("period", "Period"), field("cpu", "CPU")]),
            schema(threads::OFF_CPU, vec![details()]),
        ],
        extra: [PanelSection {
            label: "perf",
            entries: [PanelLine { label: "Event", format: "string", value: shown }],
        }],
    }
}

fn milliseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e6
}

/// Returns the unit of what CPU times of samples are; `None` if the periods of the event are no such time.
fn unit_of_cpu(event: &Event) -> Option<&'static str> {
    let Attr { kind, config, .. } = event.attr;
    let is_cycles = kind == EventType::HARDWARE && config & HW_EVENT_MASK == u64::from(HwId::CPU_CYCLES.0);
    if !has_periods(event) {
        return None;
    }
    if is_clock(&event.attr) { Some("ns") } else { is_cycles.then_some("variable CPU cycles") }
}

/// Returns the milliseconds between two samples, as they were asked for; 1 if it was for something else than time.
fn interval(attr: &Attr) -> f64 {
    match attr.sample_period {
        0 => 1.0,
        frequency if attr.flags.contains(AttrFlags::FREQ) => 1000.0 / frequency as f64,
        period if is_clock(attr) => milliseconds(period),
        _ => 1.0,
    }
}

/// The threads.
struct ThreadsWriter<'a> {
    profile: &'a Profile,
    shared: &'a SharedTables,
    processes: Vec<FirefoxProcess>,
    rows: Vec<ThreadSpan>,
    /// The names of the events' markers.
    markers: Vec<u32>,
    /// The name of the markers of times without a CPU.
    off_cpu_name: u32,
    start: u64,
    has_cpu: bool,
}

impl ThreadsWriter<'_> {
    /// Writes the threads, those with few samples together.
    fn write(&self, most: usize, threads: NonZero<usize>, out: &mut dyn Write) -> io::Result<()> {
        let mut rest = &self.rows[..];
        while !rest.is_empty() {
            let is_first = rest.len() == self.rows.len();
            let mut moments = 0;
            let count = rest.iter().take_while(|row| {
                let is_room = moments < most;
                moments += row.moments();
                is_room
            });
            let (rows, others) = rest.split_at_checked(count.count()).unwrap_or((rest, &[]));
            rest = others;
            let of_row = |row| Some(FirefoxThread::new(self, row, self.processes.get(row.process)?));
            let of_rows = |range: Range<usize>| -> Vec<_> {
                rows.get(range).unwrap_or_default().iter().filter_map(of_row).collect()
            };
            let mut tables = Vec::new();
            each_range(rows.len(), rows.len().div_ceil(threads.get()), threads, of_rows, |of_rows| {
                tables.extend(of_rows);
                Ok(())
            })?;
            let mut document = JsonDocument::default();
            tables.iter().for_each(|thread| thread.add_to(&mut document));
            if !is_first {
                out.write_all(b",")?;
            }
            document.write(threads, out)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::endian::LittleEndian;
    use perf_abi::regs::Arch;
    use perf_abi::sample_type::SampleType;
    use perf_parse::event::{Events, RecordPosition};
    use perf_parse::{EventRecord, RawRecord};
    use perf_session::Session;
    use perf_symbol::{StackFinder, Symbolizer};

    use super::*;
    use perf_profile::Limits;
    use perf_profile::NamingOptions;
    use perf_profile::ProfileBuilder;
    use perf_profile::SampleDetail;
    use perf_profile::TimeDetail;

    /// Samples without stacks, of threads with these ids of their process and their own.
    fn profile(threads: &[(u32, u32)]) -> Profile {
        let attr = Attr { sample_type: SampleType::TID | SampleType::TIME, ..Attr::default() };
        let events: Events = [(attr, vec![])].into_iter().collect();
        let mut session = Session::new();
        let detail = SampleDetail { times: TimeDetail::Each, ..SampleDetail::default() };
        let mut builder = ProfileBuilder::new(detail, Limits::default());
        let finder = Symbolizer::new(perf_symbol::SymbolOptions::default()).finder().clone();
        let mut finder = StackFinder::new(Arch::X86, 0, finder);
        for (&(pid, tid), time) in threads.iter().zip(1_u64..) {
            let ids = [pid, tid].map(u32::to_le_bytes).concat();
            let record = [&[9, 0, 0, 0, 2, 0, 24, 0], &ids[..], &time.to_le_bytes()].concat();
            let (raw, _) = RawRecord::<LittleEndian>::parse(&record).unwrap();
            let record = EventRecord::with_event(raw.untyped(), &events[0], RecordPosition::default());
            let at = session.update_at(&record).unwrap().unwrap();
            builder.sample(&at, &events[0], 1, &[], None, None);
        }
        builder.finish(&session, &mut finder, None, NamingOptions::default(), &mut |_, _| {})
    }

    #[test]
    fn the_profile_does_not_depend_on_how_many_threads_are_written_together() {
        let profile = profile(&[(1, 1), (1, 2), (1, 2), (3, 3), (1, 2), (4, 4), (1, 2), (3, 3), (3, 5)]);
        let mut options = Options::default();
        let mut written = |most, threads| {
            options.threads = NonZero::new(threads).unwrap();
            let mut out = Vec::new();
            write_by(most, &profile, &options, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let all = written(usize::MAX, 1);
        let document: serde_json::Value = serde_json::from_str(&all).unwrap();
        let threads = document["threads"].as_array().unwrap();
        let samples: Vec<_> = threads.iter().map(|it| it["samples"]["length"].as_u64().unwrap()).collect();
        assert_eq!(samples, [1, 4, 2, 1, 1]);
        // Below, at and above the samples of the first threads, of the largest one, and of all.
        for most in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] {
            assert!([1, 3].map(|threads| written(most, threads)).iter().all(|it| *it == all), "{most}");
        }
    }
}
