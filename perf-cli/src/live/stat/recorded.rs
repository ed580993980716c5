//! `perfdata stat report`: the counts of a capture.

use alloc::collections::BTreeMap;
use core::time::Duration;

use perf_open::EventSpec;
use perf_parse::event::{Event, Events};
use perf_parse::file::{EventRecords, Mode};
use perf_parse::record::UserRecord;
use perf_parse::record::user::{EventUpdateData, Stat, StatConfig, ThreadMap};
use perf_parse::{
    Record,
    abi::record::{StatConfigTerm, StatRoundType},
};
use perf_profile::event_name;

use super::report::{Report, Span, Totals};
use super::table::{Shown, rows};
use super::tally::{Place, Reading, Tally, since};
use super::topology::{Label, Labels};
use super::unit_width;
use crate::args::live::{StatArgs, StatReportArgs};
use crate::output::{Diagnostics, say};
use crate::{Failure, Outcome, aggr_mode, input};

/// Prints the counts of each round, or the sums at the end.
pub(super) fn run(args: &StatReportArgs) -> Result<Outcome, Failure> {
    input::read(&args.file, |reader, _| {
        let mut format = StatArgs::none()?;
        (format.json, format.field_separator) = (args.json, args.field_separator.clone());
        let mut report = Report::new(&format)?;
        let mut counts = Recorded::default();
        let mut records = reader.records();
        let what = match reader.mode() {
            // As perf names it.
            Mode::Pipe => "'pipe'".to_owned(),
            _ => format!("'{}'", command_line(&records).unwrap_or_else(|| args.file.display().to_string())),
        };
        while let Some(record) = records.next() {
            let Ok(record) = record else { continue };
            let Ok(Record::User(record, _)) = record.decode() else { continue };
            counts.apply(&record, records.events(), &mut report)?;
        }
        if counts.events.is_empty() {
            return Err(Failure(
                "there are no counts in the capture; perf stat record writes some".to_owned(),
            ));
        }
        counts.finish(&what, &mut report)?;
        Diagnostics::new().report_all(records.account());
        Ok(if records.account().is_clean() { Outcome::Clean } else { Outcome::Partial })
    })
}

/// Returns the command line that wrote the capture; `None` if it is not known.
fn command_line(records: &EventRecords<'_>) -> Option<String> {
    let words = records.features().cmdline()?.ok()?;
    let words: Vec<_> = words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    Some(words.join(" "))
}

/// The counts of a capture, up to a record.
#[derive(Debug, Default)]
struct Recorded {
    /// The events, since the first count.
    events: Vec<Shown>,
    /// The unit and the scale of each event, by an id of the event.
    units: BTreeMap<u64, (Option<String>, Option<f64>)>,
    /// The numbers of the threads, and their names.
    threads: Vec<(i64, String)>,
    aggr_mode: Option<u64>,
    interval: u64,
    labels: Labels,
    /// The sums since the start, by event, cpu and index of the thread.
    sums: BTreeMap<(usize, i32, i32), Tally>,
    /// The counts and the time at the end of the round before.
    before: (Reading, Duration),
    /// When the last round ended.
    end: Duration,
}

impl Recorded {
    fn apply(
        &mut self,
        record: &UserRecord<'_>,
        events: &Events,
        report: &mut Report,
    ) -> Result<(), Failure> {
        match record {
            UserRecord::EventUpdate(it) => match it.data {
                EventUpdateData::Unit(unit) => {
                    let unit = String::from_utf8_lossy(unit).into_owned();
                    self.units.entry(it.id).or_default().0 = Some(unit);
                }
                EventUpdateData::Scale(scale) => self.units.entry(it.id).or_default().1 = Some(scale),
                _ => {}
            },
            UserRecord::ThreadMap(it) => self.threads = threads(it),
            UserRecord::StatConfig(it) => self.configure(it),
            UserRecord::Stat(it) => {
                if self.events.is_empty() {
                    self.begin(events, report)?;
                }
                self.count(it, events);
            }
            UserRecord::StatRound(it) => {
                self.end = Duration::from_nanos(it.time);
                if it.kind == StatRoundType::INTERVAL {
                    let reading = self.reading();
                    let lasted = self.end.saturating_sub(self.before.1);
                    let of_round = [since(&reading, &self.before.0)];
                    report.rows(
                        &rows(&self.events, &self.labels, &of_round, lasted, true),
                        Span::Interval(self.end),
                    )?;
                    self.before = (reading, self.end);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn configure(&mut self, config: &StatConfig<'_>) {
        for entry in config.entries.iter() {
            match entry.tag {
                StatConfigTerm::AGGR_MODE => self.aggr_mode = Some(entry.val),
                StatConfigTerm::INTERVAL => self.interval = entry.val,
                _ => {}
            }
        }
    }

    /// Begins with the first count, when all events are known.
    fn begin(&mut self, events: &Events, report: &mut Report) -> Result<(), Failure> {
        self.events = events.iter().map(|event| Shown::from(&self.spec(event))).collect();
        if !matches!(self.aggr_mode, None | Some(aggr_mode::NONE | aggr_mode::GLOBAL | aggr_mode::THREAD)) {
            say!(
                "perfdata: stat report: the counts were recorded by parts of the machine; these are the sums"
            );
        }
        if self.interval > 0 {
            report.head("", 1, true, unit_width(&self.events))?;
        }
        Ok(())
    }

    fn count(&mut self, stat: &Stat<'_>, events: &Events) {
        let Some(event) = events.by_id(stat.id) else { return };
        let label = |key, width, text| Label { key, width, text, counters: None };
        match (self.place(stat), self.threads.get(usize::try_from(stat.thread).unwrap_or(usize::MAX))) {
            (place @ Place::Cpu(cpu), _) => {
                self.labels.entry(place).or_insert_with(|| label("cpu", 8, format!("CPU{cpu}")));
            }
            (place @ Place::Thread(_), Some((tid, comm))) => {
                let text = format!("{comm}-{tid}");
                self.labels.entry(place).or_insert_with(|| label("thread", 25, text));
            }
            _ => {}
        }
        let tally = Tally { value: stat.val, enabled: stat.ena, running: stat.run, is_constant: false };
        self.sums.insert((event.index, stat.cpu, stat.thread), tally);
    }

    /// Returns the place that a count is added to.
    fn place(&self, stat: &Stat<'_>) -> Place {
        match self.aggr_mode {
            Some(aggr_mode::NONE) => u32::try_from(stat.cpu).map_or(Place::Everywhere, Place::Cpu),
            Some(aggr_mode::THREAD) => {
                let thread = usize::try_from(stat.thread).ok().and_then(|index| self.threads.get(index));
                let tid = thread.and_then(|(tid, _)| u32::try_from(*tid).ok());
                tid.map_or(Place::Everywhere, Place::Thread)
            }
            _ => Place::Everywhere,
        }
    }

    /// Returns the sums since the start. An event without a count was not supported.
    fn reading(&self) -> Reading {
        let mut reading: Reading = vec![None; self.events.len()];
        for (&(event, cpu, thread), tally) in &self.sums {
            let stat = Stat { id: 0, cpu, thread, val: 0, ena: 0, run: 0, rest: &[] };
            let place = self.place(&stat);
            if let Some(tallies) = reading.get_mut(event) {
                let sum = tallies.get_or_insert_default().entry(place).or_default();
                *sum = sum.plus(*tally);
            }
        }
        reading
    }

    /// Returns an event of the capture as one that is counted.
    fn spec(&self, event: &Event) -> EventSpec {
        let name = String::from_utf8_lossy(&event_name(event)).into_owned();
        let mut spec = EventSpec::numeric(name, event.attr.kind, event.attr.config);
        spec.attr = event.attr;
        let unit = event.ids.iter().find_map(|id| self.units.get(id));
        (spec.unit, spec.scale) = unit.cloned().unwrap_or_default();
        spec
    }

    /// Prints the sums, unless the rounds have been printed, and the time.
    fn finish(&self, what: &str, report: &mut Report) -> Result<(), Failure> {
        if self.interval == 0 {
            report.head(what, 1, false, unit_width(&self.events))?;
            let rows = rows(&self.events, &self.labels, &[self.reading()], self.end, true);
            report.rows(&rows, Span::Whole { runs: 1 })?;
        }
        let elapsed = vec![self.end.as_secs_f64()];
        report.totals(&Totals { elapsed, cpu_times: Vec::new(), table: false })
    }
}

fn threads(map: &ThreadMap<'_>) -> Vec<(i64, String)> {
    let thread = |entry: perf_parse::record::user::ThreadMapEntry| {
        (entry.pid, String::from_utf8_lossy(entry.comm()).into_owned())
    };
    map.entries.iter().map(thread).collect()
}
