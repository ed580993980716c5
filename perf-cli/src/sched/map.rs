//! `perfdata sched map`: the threads that run on each CPU, as `perf sched map` prints them.

use perf_parse::file::Reader;
use perf_parse::{EventRecord, FileError};
use perf_profile::Symbols;
use perf_profile::samples::pass::CountedSample;
use perf_profile::sched::{
    CpuMap, MapCell, MapLine, MapNames, PerfTasks, PerfVersion, SchedEvent, SchedReader,
};
use perf_session::SampleContext;
use serde_json::json;

use super::pass::{self, SchedPrinter};
use super::{cpus, numbers};
use crate::args::perf_text::PrintFormat;
use crate::args::sched::MapArgs;
use crate::escape::{Lossy, json_text, print, push_json_value};
use crate::input::Memory;
use crate::outcome::{Failure, Outcome};
use crate::output::Output;
use crate::perf_text::print::{push_microseconds, push_name};
use crate::{selection, terminal};

/// The map, and how it is printed.
struct MapPrinter<'a> {
    reader: SchedReader<'a>,
    map: CpuMap,
    options: MapOptions<'a>,
    /// Whether a line was printed.
    has_lines: bool,
}

struct MapOptions<'a> {
    args: &'a MapArgs,
    version: PerfVersion,
    cpus: Vec<u32>,
    color_cpus: Vec<u32>,
    has_colors: bool,
}

const BLUE: &str = "\u{1b}[34m";
const ON_RED: &str = "\u{1b}[41m";

impl SchedPrinter for MapPrinter<'_> {
    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        _: &CountedSample<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), FileError> {
        let Some(sample) = self.reader.read(at) else { return Ok(()) };
        let SchedEvent::Switch(switch) = &sample.event else { return Ok(()) };
        let shows = self.options.wants(sample.cpu);
        let Some(line) = self.map.switch(&sample, switch, shows) else { return Ok(()) };
        match self.options.args.print.format {
            PrintFormat::Text => self.options.push_text(out, &line, sample.cpu, sample.time),
            PrintFormat::Json => {
                if self.options.wants(sample.cpu) && (line.shows_next || line.shows_previous) {
                    out.extend_from_slice(if self.has_lines { b",\n" } else { b"\n" });
                    self.has_lines = true;
                    push_json(out, &line, sample.cpu, sample.time);
                }
            }
        }
        Ok(())
    }

    fn tasks(&self) -> &PerfTasks {
        self.map.tasks()
    }

    fn record(&mut self, record: &EventRecord<'_>, _: &mut Vec<u8>) {
        self.map.tasks_mut().record(record);
    }
}

impl MapOptions<'_> {
    fn wants(&self, cpu: u32) -> bool {
        self.cpus.is_empty() || self.cpus.contains(&cpu)
    }

    fn colored(&self, out: &mut Vec<u8>, color: Option<&str>, text: &[u8]) {
        match color.filter(|_| self.has_colors) {
            Some(color) => {
                print(out, format_args!("{color}"));
                out.extend_from_slice(text);
                out.extend_from_slice(b"\x1b[m");
            }
            None => out.extend_from_slice(text),
        }
    }

    fn thread_color(&self, tid: i32) -> Option<&'static str> {
        self.args.color_pids.contains(&tid).then_some(BLUE)
    }

    /// Appends what each CPU runs. `previous` is set in the line of a thread that leaves its CPU.
    fn push_cells(&self, out: &mut Vec<u8>, line: &MapLine<'_>, this: u32, previous: bool) {
        for cell in &line.cells {
            let is_this = cell.cpu == this;
            if self.version == PerfVersion::V6_1 && !self.wants(cell.cpu) {
                continue;
            }
            let color = (is_this && self.color_cpus.contains(&this)).then_some(ON_RED);
            self.colored(out, color, if is_this { b"*" } else { b" " });
            match cell.task {
                Some(_) if previous && is_this => out.extend_from_slice(b"-  "),
                Some((task, [first, second])) => {
                    self.colored(out, self.thread_color(task.tid), &[first, second, b' ']);
                }
                None => out.extend_from_slice(b"   "),
            }
        }
    }

    fn push_text(&self, out: &mut Vec<u8>, line: &MapLine<'_>, cpu: u32, time: u64) {
        if self.version != PerfVersion::V6_1 && !self.wants(cpu) {
            return;
        }
        if line.shows_next {
            out.extend_from_slice(b"  ");
            self.push_cells(out, line, cpu, false);
            if !self.wants(cpu) {
                out.push(b'\n');
                return;
            }
            out.extend_from_slice(b"  ");
            push_microseconds(out, time, 5);
            out.extend_from_slice(b" secs ");
            if let Some((task, name)) = line.named {
                let mut text = name.to_vec();
                text.extend_from_slice(b" => ");
                push_name(&mut text, &task.comm);
                print(&mut text, format_args!(":{}", task.tid));
                self.colored(out, self.thread_color(task.tid), &text);
            }
            if line.is_new_cpu {
                print(out, format_args!(" (CPU {cpu})"));
            }
            out.push(b'\n');
        }
        if line.shows_previous {
            out.extend_from_slice(b"  ");
            self.push_cells(out, line, cpu, true);
            out.extend_from_slice(b"  ");
            push_microseconds(out, time, 5);
            out.extend_from_slice(b" secs \n");
        }
    }
}

fn push_json(out: &mut Vec<u8>, line: &MapLine<'_>, cpu: u32, time: u64) {
    let short = |name: &[u8]| Lossy(name).to_string().trim_end().to_owned();
    let cell = |cell: &MapCell<'_>| {
        let runs = cell.task.map(|(task, name)| json!({"name": short(&name), "tid": task.tid}));
        json!({"cpu": cell.cpu, "runs": runs})
    };
    let cells: Vec<_> = line.cells.iter().map(cell).collect();
    let named = line
        .named
        .map(|(task, name)| json!({"name": short(&name), "comm": json_text(&task.comm), "tid": task.tid}));
    push_json_value(out, &json!({"time": time, "cpu": cpu, "cpus": cells, "named": named}));
}

pub(super) fn run(reader: &Reader<'_>, memory: Memory<'_>, args: &MapArgs) -> Result<Outcome, Failure> {
    let version = args.print.perf_version.into();
    let names = args.task_name.iter().map(|name| name.clone().into_bytes()).collect();
    let names = (!args.task_name.is_empty()).then(|| MapNames::new(names, args.fuzzy_name));
    let mut printer = MapPrinter {
        reader: SchedReader::new(reader).map_err(selection::failure)?,
        map: CpuMap::new(version, cpus(reader).1, args.compact, names),
        options: MapOptions {
            args,
            version,
            cpus: numbers("--cpus", args.cpus.as_deref())?,
            color_cpus: numbers("--color-cpus", args.color_cpus.as_deref())?,
            has_colors: terminal::is_there() && terminal::has_colors(),
        },
        has_lines: false,
    };
    let mut output = Output::new();
    let is_json = args.print.format == PrintFormat::Json;
    if is_json {
        output.buffer.extend_from_slice(b"{\"switches\":[");
    }
    let symbols = Symbols::of(reader).without_names();
    pass::walk(reader, memory, symbols, &mut printer, &mut output, |_, out| {
        if is_json {
            out.extend_from_slice(b"]}\n");
        }
    })
}
