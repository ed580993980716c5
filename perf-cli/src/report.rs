//! `perfdata report`: where the time went, as `perf report --stdio` prints it.

mod browser;
mod cells;
mod chains;
mod collect;
mod facts;
mod fit;
mod graph;
mod json;
mod keys;
mod limits;
mod machine;
mod memory;
mod order;
mod plan;
mod quality;
mod rows;
mod tables;
mod text;
mod texts;
mod timeline;
mod transaction;

use core::num::NonZero;
use std::io::IsTerminal;

use perf_export::{Missing, Named, Naming, Quality, Total};
use perf_parse::file::{Account, Reader};

use crate::args::call_graph::Style;
use crate::args::only::OnlyArgs;
use crate::args::report::{Percentage, ReportArgs, ReportFormat};
use crate::escape::{print, push_name};
use crate::input::Memory;
use crate::names::Names;
use crate::off_cpu::OffCpu;
use crate::output::{Output, say};
use crate::progress::NamingProgress;
use crate::samples::Samples;
use crate::script::header;
use crate::script::trace::Traces;
use crate::{Failure, Outcome, streams};
use chains::{Builder, Tree};
use collect::{Collected, Collecting, Wants};
use facts::AllFacts;
use keys::{Column, Key, MEMORY};
use limits::Limits;
use plan::Plan;
use rows::{Row, Source, Table};
use text::{Colors, percent};

pub(crate) fn run(args: &ReportArgs) -> Result<Outcome, Failure> {
    if let Some((option, instead)) = args.refused.given() {
        return Err(Failure(format!("{option}: perfdata report does not have this option; {instead}")));
    }
    if args.timeline {
        return timeline::run(args);
    }
    let limits = Limits::default();
    crate::input::read(&args.file, |reader, memory| report(&reader, memory, args, limits))
}

fn report(
    reader: &Reader<'_>,
    memory: Memory<'_>,
    args: &ReportArgs,
    limits: Limits,
) -> Result<Outcome, Failure> {
    let mut output = Output::new();
    if args.header || args.header_only {
        header::push(&mut output.buffer, reader, &args.file);
        if args.header_only {
            output.flush()?;
            return Ok(Outcome::Clean);
        }
    }
    if browser::is_wanted(args) {
        return browser::run(reader, memory, args, limits);
    }
    with_report(reader, memory, args, &args.only, limits, &mut |report, tables| {
        match args.format {
            ReportFormat::Text => report.push_text(&mut output, tables)?,
            ReportFormat::Json => json::push(report, &mut output, reader, tables)?,
        };
        output.flush()?;
        Ok(())
    })
}

/// What is done with a report and its tables.
type Act<'a> = dyn FnMut(&Report<'_>, &[tables::Members]) -> Result<(), Failure> + 'a;

/// Counts the samples that `only` selects, and calls `act` with the report.
fn with_report(
    reader: &Reader<'_>,
    memory: Memory<'_>,
    args: &ReportArgs,
    only: &OnlyArgs,
    limits: Limits,
    act: &mut Act<'_>,
) -> Result<Outcome, Failure> {
    let plan = Plan::new(args, reader)?;
    let facts = AllFacts::new(plan.layout.keys().collect(), plan.time_quantum, plan.machine.clone());
    let wants = Wants {
        stacks: plan.children || plan.graph.style != Style::None || plan.parent.is_some(),
        branches: plan.branches,
        memory: plan.memory,
        ips: plan.layout.has(Key::Addr),
        sizes: plan.layout.has(Key::DsoSize),
        max_stack: args.max_stack,
        limits,
    };
    let traces = Traces::new(reader);
    let off_cpu = if args.off_cpu { Some(OffCpu::new(reader)?) } else { None };
    let collected = Collected::new(wants, facts);
    let mut collecting = Collecting { collected, traces, off_cpu, weight: 0 };
    let samples = Samples::new(reader, memory, only)?.all_if(args.off_cpu);
    let names =
        Names::with_lines(&args.symbols, reader.features(), memory, plan.layout.needs_lines(&plan.graph))?;
    let Some(walked) = samples.walk(names, &mut collecting)? else { return Ok(Outcome::Clean) };
    let Collecting { mut collected, traces, off_cpu, .. } = collecting;
    if let Some(off_cpu) = off_cpu {
        off_cpu.report_still_away();
    }
    collected.finish();
    if traces.as_fields > 0 {
        let count = traces.as_fields;
        say!(
            "perfdata: samples counted by their fields, because their print formats cannot be evaluated: {count}"
        );
    }
    let threads =
        args.threads.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZero::<usize>::MIN);
    let naming = Naming { inlines: !args.symbols.no_inline, threads };
    let mut progress = NamingProgress::new();
    let named = Named::find(
        &collected.table.frames,
        &walked.session,
        walked.names.symbolizer(),
        naming,
        &mut |done, all| progress.at(done, all),
    );
    drop(progress);
    let mut source = Source::new(&collected, &named, &plan.layout, plan.parent.as_ref());
    (source.children, source.order) = (plan.children, plan.order);
    source.by_depth = plan.graph.style != Style::None;
    (source.hides_unresolved, source.excludes_other) = (args.hide_unresolved, args.exclude_other);
    let quality = quality::count(&collected, &named, &|dso| walked.session.build_id(dso));
    // Without a look, no file is known to lack names.
    let missing = if args.symbols.no_symbols { Vec::new() } else { quality.missing(&walked.names.looked()) };
    let report = Report {
        args,
        plan: &plan,
        source: &source,
        account: walked.account(),
        names: &walked.names,
        quality: &quality,
        missing: &missing,
    };
    let grouping = match () {
        () if args.no_group => tables::Grouping::Never,
        () if args.group => tables::Grouping::Always,
        () => tables::Grouping::AsRecorded,
    };
    let tables = tables::of(reader, &collected, grouping);
    act(&report, &tables)?;
    Ok(walked.finish("counted"))
}

/// A report, ready to be printed.
#[derive(Clone, Copy, Debug)]
struct Report<'a> {
    args: &'a ReportArgs,
    plan: &'a Plan,
    source: &'a Source<'a>,
    account: &'a Account,
    names: &'a Names,
    quality: &'a Quality,
    missing: &'a [Missing],
}

/// The width of the terminal that the text goes to; `None` if it goes elsewhere.
fn terminal() -> Option<usize> {
    if !streams::are_of_process() || !std::io::stdout().is_terminal() {
        return None;
    }
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}

impl Report<'_> {
    fn style(&self) -> text::Style {
        let args = self.args;
        let is_terminal = streams::are_of_process() && std::io::stdout().is_terminal();
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
        let fits = args.column_widths.is_empty() && args.field_separator.is_none();
        text::Style {
            widths: args.column_widths.clone(),
            separator: args.field_separator,
            terminal: terminal().filter(|_| fits),
            colors: Colors(is_terminal && !no_color),
            ns: args.ns,
            elided: self.plan.elided(args).into_iter().map(|(key, ..)| Column::Key(key)).collect(),
            has_dso_filter: !args.only.dsos.is_empty(),
        }
    }

    /// perf: `evlist__tty_browse_hists`, `tools/perf/builtin-report.c`.
    fn push_text(&self, output: &mut Output, tables: &[tables::Members]) -> Result<bool, Failure> {
        let out = &mut output.buffer;
        if !self.args.header {
            out.extend_from_slice(
                b"# To display the perf.data header info, please use --header/--header-only options.\n#\n",
            );
        }
        for (_, name, text) in self.plan.elided(self.args) {
            print(out, format_args!("# {name}: "));
            push_name(out, text.as_bytes());
            out.push(b'\n');
        }
        let lost = self.account.lost_samples;
        print(out, format_args!("#\n# Total Lost Samples: {lost}\n#\n"));
        let style = self.style();
        let is_relative = self.args.percentage == Percentage::Relative;
        let mut beyond = 0;
        for members in tables {
            let table = self.source.table(members, is_relative);
            beyond += table.beyond();
            self.push_summary(&mut output.buffer, &table);
            self.push_table(output, &table, &style)?;
            output.buffer.extend_from_slice(b"\n\n");
        }
        let out = &mut output.buffer;
        let samples = self.source.collected.events.values().map(|it| it.selected.samples).sum();
        out.extend_from_slice(b"#\n");
        quality::push(out, samples, self.quality, self.missing);
        if beyond > 0 {
            let beyond = quality::grouped(beyond);
            print(
                out,
                format_args!(
                    "# {beyond} samples are beyond the limits; select fewer by --time or --comms, or use fewer keys\n"
                ),
            );
        }
        out.extend_from_slice(b"#\n");
        output.flush()
    }

    /// Appends the number of samples and what they count.
    ///
    /// perf: `hists__fprintf_nr_sample_events`, `tools/perf/builtin-report.c`.
    fn push_summary(&self, out: &mut Vec<u8>, table: &Table<'_>) {
        let mut total = Total::default();
        table.totals.iter().for_each(|it| total.add(*it));
        let (samples, unit) = abbreviated(total.samples);
        let members = table.members;
        let plural = if members.events.len() > 1 || members.leads_others { "s" } else { "" };
        print(out, format_args!("# Samples: {samples}{unit} of event{plural} '"));
        push_name(out, &members.name);
        out.push(b'\'');
        if let Some(spans) = &self.args.only.time {
            print(out, format_args!(" (time slices: "));
            push_name(out, spans.as_bytes());
            out.push(b')');
        }
        if !self.plan.memory {
            print(out, format_args!("\n# Event count (approx.): {}\n#\n", total.period));
            return;
        }
        let (sort, more) = match self.args.sort.as_deref().map(|keys| (keys, keys.strip_prefix('+'))) {
            None => (MEMORY, ""),
            Some((_, Some(more))) => (MEMORY, more),
            Some((keys, None)) => (keys, ""),
        };
        let comma = if more.is_empty() { "" } else { "," };
        print(out, format_args!("\n# Total weight : {}\n# Sort order   : ", total.period));
        push_name(out, format!("{sort}{comma}{more}").as_bytes());
        out.extend_from_slice(b"\n#\n");
    }

    /// perf: `hists__fprintf`, `tools/perf/ui/stdio/hist.c`.
    fn push_table(
        &self,
        output: &mut Output,
        table: &Table<'_>,
        style: &text::Style,
    ) -> Result<bool, Failure> {
        let printer = text::Printer::new(self.source, table, style);
        printer.push_headings(&mut output.buffer);
        let weights = self.weights(table);
        let mut uses = self.uses(table);
        let mut elements = Vec::new();
        let graph = graph::Printer {
            source: self.source,
            graph: &self.plan.graph,
            colors: style.colors,
            separator: style.separator,
            skips_first: self.args.fields.is_none()
                && self.args.sort.as_deref().is_some_and(|keys| keys.starts_with("sym")),
            total: weights.total,
            min: weights.min,
        };
        for &number in &table.order {
            let row = &table.rows[number];
            if self.is_left_out(table, row) {
                continue;
            }
            printer.push_row(&mut output.buffer, row);
            let uses = uses.get_mut(number).map(core::mem::take).unwrap_or_default();
            if let Some(tree) = self.tree(&uses, &mut elements) {
                let start = output.buffer.len();
                graph.push(&mut output.buffer, &tree, self.weight(row));
                if let Some(width) = style.terminal {
                    fit::cut_lines(&mut output.buffer, start, width);
                }
            }
            if !output.flush_full()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns what a row counts, as its call graph has it.
    fn weight(&self, row: &Row) -> u64 {
        row.counts.first().map_or(0, |it| if self.plan.children { it.children.period } else { it.own.period })
    }

    /// Returns whether a row is below the limit. perf compares with the precision of a `float`.
    ///
    /// perf: `hist_entry__get_percent_limit`, `tools/perf/util/hist.h`.
    fn is_left_out(&self, table: &Table<'_>, row: &Row) -> bool {
        let total = table.totals.first().map_or(0, |it| it.period);
        (percent(self.weight(row), total) as f32) < self.plan.min_percent as f32
    }

    fn weights(&self, table: &Table<'_>) -> Weights {
        let total = table.totals.first().map_or(0, |it| it.period);
        // perf counts what has a call chain, selected or not.
        Weights { total, min: (total as f64 * (self.plan.graph.min_percent / 100.0)) as u64 }
    }

    /// Collects the stacks of the rows whose call graphs are shown: for each row the groups, and the number of functions
    /// before the row's in the stack. Empty without call graphs.
    fn uses(&self, table: &Table<'_>) -> Vec<Uses> {
        let mut uses: Vec<Uses> = Vec::new();
        let min = match self.plan.graph.style {
            Style::Fractal => 0,
            _ => self.weights(table).min,
        };
        if self.plan.graph.style != Style::None && table.has_chains {
            uses.resize_with(table.rows.len(), Vec::new);
            let is_shown: Vec<_> = table
                .rows
                .iter()
                .map(|row| self.weight(row) >= min && !self.is_left_out(table, row) && row.key.is_some())
                .collect();
            let mut elements = Vec::new();
            for (number, group) in self.source.collected.groups.iter().enumerate() {
                if table.members.events.first() != Some(&(group.same.event as usize)) {
                    continue;
                }
                self.source.elements(group.same.stack, &mut elements);
                self.source.each_row(group, &elements, &mut |key, _, before| {
                    let row = table.numbers.get(&key).copied().unwrap_or(usize::MAX);
                    // The first time that a row has the stack counts.
                    let is_new = |last: Option<&(u32, u32)>| last.is_none_or(|last| last.0 != number as u32);
                    if is_shown.get(row) == Some(&true) && is_new(uses[row].last()) {
                        uses[row].push((number as u32, before.unwrap_or(0) as u32));
                    }
                });
            }
        }
        uses
    }

    /// Returns the call graph of a row; `None` if there is none.
    fn tree(&self, uses: &[(u32, u32)], elements: &mut Vec<rows::Element>) -> Option<Tree> {
        let mut builder = Builder::new(self.source, &self.plan.graph);
        for &(group, before) in uses {
            let group = &self.source.collected.groups[group as usize];
            self.source.elements(group.same.stack, elements);
            builder.add(elements.get(before as usize..).unwrap_or_default(), group.total);
        }
        Some(builder.finish()).filter(|tree| !tree.is_empty())
    }
}

/// The groups that a row counts, and the number of functions before the row's in the stack of each.
type Uses = Vec<(u32, u32)>;

/// Returns a number in thousands, millions or milliards, as perf does, and the letter of that.
///
/// perf: `convert_unit`, `tools/perf/util/units.c`.
fn abbreviated(number: u64) -> (u64, char) {
    let (mut number, mut unit) = (number as f64, ' ');
    for larger in ['K', 'M', 'G'] {
        if number > 1000.0 {
            (number, unit) = (number / 1000.0, larger);
        }
    }
    (number as u64, unit)
}

/// What branches are compared with.
#[derive(Clone, Copy, Debug)]
struct Weights {
    total: u64,
    min: u64,
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io::{Cursor, Write};
    use std::path::Path;
    use std::rc::Rc;

    use perf_abi::attr::Attr;
    use perf_abi::callchain::CallchainContext;
    use perf_abi::endian::LittleEndian;
    use perf_abi::record::Misc;
    use perf_parse::SampleLayout;
    use perf_parse::file::write::{EventFields, FileWriter, Options};
    use perf_parse::write::{self, SampleFields};

    use super::*;
    use crate::Streams;
    use crate::args::{Args, Verb};
    use perf_abi::event::EventType;
    use perf_abi::sample_type::SampleType;

    #[derive(Clone, Default)]
    struct Text(Rc<RefCell<Vec<u8>>>);

    impl Write for Text {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.borrow_mut().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// Writes a capture of 150 samples, of three threads with stacks of 1 to 8 frames.
    fn write(path: &Path) {
        let attr = Attr {
            kind: EventType::SOFTWARE,
            sample_type: SampleType::IP | SampleType::TID | SampleType::CALLCHAIN,
            ..Attr::default()
        };
        let event = EventFields { attr, ..EventFields::default() };
        let out = Cursor::new(Vec::new());
        let mut writer = FileWriter::<LittleEndian, _>::new(out, &[event], &Options::default()).unwrap();
        let layout = SampleLayout::new(&attr).unwrap();
        for n in 0..150_u64 {
            let frames = (0..n % 8 + 1).map(|depth| 0x1000 + n % 11 * 16 + depth * 256);
            let chain: Vec<_> = [CallchainContext::USER.0].into_iter().chain(frames).collect();
            let tid = 100 + (n % 3) as i32;
            let fields = SampleFields {
                ip: Some(chain[1]),
                pid_tid: Some((tid, tid)),
                callchain: Some(chain),
                ..SampleFields::default()
            };
            let mut record = Vec::new();
            // PERF_RECORD_MISC_USER
            write::sample::<LittleEndian>(&mut record, &layout, Misc(2), &fields).unwrap();
            writer.record(&record).unwrap();
        }
        std::fs::write(path, writer.finish().unwrap().into_inner()).unwrap();
    }

    /// Returns the report of a capture within limits.
    fn text(limits: Limits) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("perf.data");
        write(&path);
        let args = ["perfdata", "report", "--no-symbols", "--sort", "comm,sym", "-n", "-g", "none"];
        let args = args.map(Into::into).into_iter().chain([path.into_os_string()]);
        let Verb::Report(args) = Args::read(args).unwrap().verb else { panic!("another verb") };
        let output = Text::default();
        let streams = Streams {
            input: Box::new(std::io::empty()),
            output: Box::new(output.clone()),
            errors: Box::new(std::io::sink()),
        };
        let run = || {
            crate::input::read(&args.file, |reader, memory| {
                let outcome = report(&reader, memory, &args, limits);
                assert_eq!(outcome.unwrap(), Outcome::Clean);
                Ok(Outcome::Clean)
            })
        };
        assert!(streams::with(Some(streams), run).is_ok());
        let text = output.0.borrow().clone();
        String::from_utf8(text).unwrap()
    }

    /// Returns the samples of all rows, those of the row beyond the limits, and those that the last comment reports.
    fn counts(text: &str) -> (u64, u64, u64) {
        let rows = || text.lines().filter(|line| line.starts_with("  "));
        let samples = |line: &str| {
            line.split_whitespace().nth(2).unwrap().parse::<u64>().unwrap_or_else(|_| panic!("{line}"))
        };
        let beyond = rows().filter(|line| line.contains("[beyond the limits]")).map(samples).sum();
        let said = text.lines().find_map(|line| line.strip_prefix("# ")?.split_once(" samples are beyond"));
        (rows().map(samples).sum(), beyond, said.map_or(0, |(number, _)| number.parse().unwrap()))
    }

    #[test]
    fn samples_beyond_each_limit_have_a_row_of_their_own() {
        let all = Limits::default();
        let (samples, beyond, said) = counts(&text(all));
        assert!(samples > 100 && (beyond, said) == (0, 0), "{samples} {beyond} {said}");
        let with: [fn(usize) -> Limits; 4] = [
            |frames| Limits { frames, ..Limits::default() },
            |stack_nodes| Limits { stack_nodes, ..Limits::default() },
            |groups| Limits { groups, ..Limits::default() },
            |texts| Limits { texts, ..Limits::default() },
        ];
        for with in with {
            // Without room for anything, all samples are beyond the limit; with more room, fewer.
            assert_eq!(counts(&text(with(0))), (samples, samples, samples));
            let (of_rows, beyond, said) = counts(&text(with(1)));
            assert!(of_rows == samples && beyond == said && beyond > 0);
            let enough =
                (0..17).map(|power| 1 << power).find(|&room| counts(&text(with(room))).1 == 0).unwrap();
            assert_eq!(text(with(enough)), text(all));
        }
    }
}
