//! `perfdata sched latency`: the delays between wake-up and run, as `perf sched latency` prints them.

use perf_abi::record::RecordType;
use perf_parse::file::Reader;
use perf_parse::{EventRecord, FileError, Record};
use perf_profile::Symbols;
use perf_profile::samples::pass::CountedSample;
use perf_profile::sched::{Latency, LatencyRow, PerfTasks, PerfVersion, SchedEvent, SchedReader};
use perf_session::SampleContext;
use serde_json::{Value, json};

use super::pass::{self, SchedPrinter};
use crate::args::perf_text::PrintFormat;
use crate::args::sched::LatencyArgs;
use crate::escape::{json_text, print, push_json_value};
use crate::input::Memory;
use crate::outcome::{Failure, Outcome};
use crate::output::Output;
use crate::perf_text::print::{pad_to, push_microseconds, push_name};
use crate::selection;

/// The delays, and the numbers of records.
struct LatencyPrinter<'a> {
    reader: SchedReader<'a>,
    latency: Latency,
    records: u64,
    lost: u64,
    lost_records: u64,
}

impl SchedPrinter for LatencyPrinter<'_> {
    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        _: &CountedSample<'_>,
        _: &mut Vec<u8>,
    ) -> Result<(), FileError> {
        self.records += 1;
        let Some(sample) = self.reader.read(at) else { return Ok(()) };
        if let SchedEvent::Switch(_) = sample.event {
            let state = self.reader.state(at);
            self.latency.event(&sample, &state.letters);
        } else {
            self.latency.event(&sample, "");
        }
        Ok(())
    }

    fn tasks(&self) -> &PerfTasks {
        self.latency.tasks()
    }

    fn record(&mut self, record: &EventRecord<'_>, _: &mut Vec<u8>) {
        self.records += 1;
        if record.kind() == RecordType::LOST
            && let Ok(Record::Lost(it)) = record.decode()
        {
            (self.lost, self.lost_records) = (self.lost.saturating_add(it.lost), self.lost_records + 1);
        }
        self.latency.tasks_mut().record(record);
    }
}

pub(super) fn run(reader: &Reader<'_>, memory: Memory<'_>, args: &LatencyArgs) -> Result<Outcome, Failure> {
    let version = args.print.perf_version.into();
    let sched = SchedReader::new(reader).map_err(selection::failure)?;
    let latency = Latency::new(version, args.cpu);
    let latency = if sched.has_runtimes() { latency } else { latency.with_runs_by_switches() };
    let mut printer = LatencyPrinter {
        reader: if version == PerfVersion::V6_1 { sched.without_waking() } else { sched },
        latency,
        records: 0,
        lost: 0,
        lost_records: 0,
    };
    let symbols = Symbols::of(reader).without_names();
    pass::walk(reader, memory, symbols, &mut printer, &mut Output::new(), |printer, out| {
        let rows = printer.latency.rows(args.pids, &args.sort);
        match args.print.format {
            PrintFormat::Text => push_text(printer, &rows, version, out),
            PrintFormat::Json => push_json(printer, &rows, out),
        }
    })
}

fn dashes(out: &mut Vec<u8>, count: usize) {
    out.push(b' ');
    out.resize(out.len() + count, b'-');
    out.push(b'\n');
}

fn milliseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e6
}

fn push_text(printer: &LatencyPrinter<'_>, rows: &[LatencyRow], version: PerfVersion, out: &mut Vec<u8>) {
    out.push(b'\n');
    dashes(out, 139);
    let count = if version == PerfVersion::V6_1 { "Switches" } else { " Count  " };
    print(
        out,
        format_args!(
            "  Task                  |   Runtime ms  | {count} | Avg delay ms    | Max delay ms    | Max delay start           | Max delay end          |\n"
        ),
    );
    dashes(out, 139);
    let (mut runtime, mut switches) = (0_u64, 0_u64);
    for row in rows {
        (runtime, switches) = (runtime.saturating_add(row.runtime), switches + row.count);
        let start = out.len();
        out.extend_from_slice(b"  ");
        push_name(out, &row.comm);
        if row.threads > 1 {
            print(out, format_args!(":({}) ", row.threads));
        } else {
            print(out, format_args!(":{} ", row.tid));
        }
        pad_to(out, start, 24);
        print(
            out,
            format_args!(
                "|{:11.3} ms |{:9} | avg:{:8.3} ms | max:{:8.3} ms | max start: ",
                milliseconds(row.runtime),
                row.count,
                milliseconds(row.average()),
                milliseconds(row.max)
            ),
        );
        push_microseconds(out, row.max_start, 5);
        out.extend_from_slice(b" s | max end: ");
        push_microseconds(out, row.max_end, 5);
        out.extend_from_slice(b" s\n");
    }
    dashes(out, 113);
    print(out, format_args!("  TOTAL:                |{:11.3} ms |{switches:9} |\n", milliseconds(runtime)));
    dashes(out, 51);
    let faults = printer.latency.faults();
    let percent = |part: u64, whole: u64| part as f64 / whole as f64 * 100.0;
    if faults.unordered > 0 && faults.wakeups > 0 {
        let percent = percent(faults.unordered, faults.wakeups);
        print(
            out,
            format_args!(
                "  INFO: {percent:.3}% unordered timestamps ({} out of {})\n",
                faults.unordered, faults.wakeups
            ),
        );
    }
    if printer.lost > 0 && printer.records > 0 {
        let percent = percent(printer.lost, printer.records);
        let (lost, records, chunks) = (printer.lost, printer.records, printer.lost_records);
        print(
            out,
            format_args!("  INFO: {percent:.3}% lost events ({lost} out of {records}, in {chunks} chunks)\n"),
        );
    }
    if faults.switches > 0 && faults.wakeups > 0 {
        let percent = percent(faults.switches, faults.wakeups);
        let (switches, wakeups) = (faults.switches, faults.wakeups);
        let why = if printer.lost > 0 { " (due to lost events?)" } else { "" };
        print(
            out,
            format_args!("  INFO: {percent:.3}% context switch bugs ({switches} out of {wakeups}){why}\n"),
        );
    }
    out.push(b'\n');
}

fn push_json(printer: &LatencyPrinter<'_>, rows: &[LatencyRow], out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"rows\":[");
    for (number, row) in rows.iter().enumerate() {
        out.extend_from_slice(if number > 0 { b",\n" } else { b"\n" });
        let is_one = row.threads == 1;
        let value = json!({
            "comm": json_text(&row.comm),
            "tid": if is_one { Value::from(row.tid) } else { Value::Null },
            "threads": row.threads,
            "runtime": row.runtime,
            "switches": row.count,
            "delay": row.delay,
            "average_delay": row.average(),
            "max_delay": row.max,
            "max_delay_start": row.max_start,
            "max_delay_end": row.max_end,
        });
        push_json_value(out, &value);
    }
    let faults = printer.latency.faults();
    out.extend_from_slice(b"],\n\"faults\":");
    let value = json!({
        "unordered_wakeups": faults.unordered,
        "switches_from_other_threads": faults.switches,
        "lost_events": printer.lost,
    });
    push_json_value(out, &value);
    out.extend_from_slice(b"}\n");
}
