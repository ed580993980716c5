//! Annotated functions as text, in the columns of `perf annotate --stdio`.
//!
//! perf: `symbol__annotate_printf`, `annotation_line__print`, `tools/perf/util/annotate.c`.

use perf_profile::SampleTotal;
use perf_profile::annotation::{AnnotatedInstruction, Annotation};

use crate::args::annotate::AnnotateArgs;
use crate::colors::Colors;
use crate::escape::{OneLine, print};
use crate::names::file_name;
use crate::outcome::Failure;
use crate::output::Output;

/// Prints functions, each with its events one after the other, or side by side. Returns whether there is still a reader.
pub(super) fn push(all: &[Annotation], args: &AnnotateArgs, output: &mut Output) -> Result<bool, Failure> {
    let colors = Colors::of(args.stdio_color);
    for annotation in all {
        let events: Vec<usize> = (0..annotation.events.len()).collect();
        let groups: Vec<&[usize]> = if args.group { vec![&events] } else { events.chunks(1).collect() };
        for events in groups {
            let printer = FunctionPrinter { annotation, events, args, colors };
            printer.push(output)?;
            if !output.flush_full()? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Prints a function with some of its events.
struct FunctionPrinter<'a> {
    annotation: &'a Annotation,
    events: &'a [usize],
    args: &'a AnnotateArgs,
    colors: Colors,
}

/// What the last instruction was of.
#[derive(Default)]
struct Last {
    function: Option<u32>,
    source: Option<u32>,
    line: Option<u32>,
}

impl FunctionPrinter<'_> {
    fn push(&self, output: &mut Output) -> Result<(), Failure> {
        let Self { annotation, args, .. } = self;
        if args.print_line {
            self.push_summary(&mut output.buffer);
        }
        self.push_head(&mut output.buffer);
        let mut last = Last::default();
        for instruction in &annotation.instructions {
            self.push_origin(&mut last, instruction, &mut output.buffer);
            self.push_instruction(instruction, &mut output.buffer);
            if !output.flush_full()? {
                return Ok(());
            }
        }
        Ok(())
    }

    fn path<'p>(&self, path: &'p [u8]) -> OneLine<'p> {
        OneLine(if self.args.full_paths { path } else { file_name(path) })
    }

    /// Prints the lines by their percentages.
    fn push_summary(&self, out: &mut Vec<u8>) {
        const LEAST: f64 = 0.5;
        let Self { annotation, events, .. } = self;
        let head = format!("Sorted summary for file {}", OneLine(&annotation.dso));
        print(out, format_args!("\n{head}\n{}\n\n", "-".repeat(head.chars().count() + 3)));
        let most =
            |totals: &[SampleTotal]| events.iter().map(|&it| self.percent(it, totals)).fold(0.0, f64::max);
        let mut lines: Vec<_> = annotation.lines.iter().map(|it| (most(&it.totals), it)).collect();
        lines.retain(|(percent, _)| *percent >= LEAST);
        lines.sort_by(|one, other| other.0.total_cmp(&one.0));
        for (_, line) in lines {
            let path = annotation.sources.get(line.source as usize).map_or(&b""[..], |it| &it.path);
            for &event in *events {
                let percent = self.percent(event, &line.totals);
                self.colors.push_percent(out, percent, &format!("{percent:8.2}"));
            }
            print(out, format_args!(" {}:{}\n", self.path(path), line.line));
        }
    }

    fn push_head(&self, out: &mut Vec<u8>) {
        let Self { annotation, events, args, .. } = self;
        let title = if args.show_total_period {
            format!("{:<12} ", "Period")
        } else if args.show_nr_samples {
            "Samples ".to_owned()
        } else {
            "Percent ".to_owned()
        };
        let mut names = Vec::new();
        let mut samples = 0;
        for it in events.iter().filter_map(|&event| annotation.events.get(event)) {
            names.push(OneLine(it.name.as_bytes()).to_string());
            samples += it.total.samples;
        }
        let columns: String = events.iter().map(|_| format!(" {title}")).collect();
        let kind = args.percent_type.name();
        let dso = self.path(&annotation.dso);
        let names = names.join(", ");
        let head = format!(
            "{columns}|\tSource code & Disassembly of {dso} for {names} ({samples} samples, percent: {kind})"
        );
        print(out, format_args!("{head}\n{}\n", "-".repeat(head.chars().count())));
        let guess = annotation.guess.map_or("", |_| perf_symbol::Guess::MARK);
        let name = OneLine(&annotation.symbol);
        self.push_blank(out);
        print(out, format_args!(" {:016x} <{name}>{guess}:\n", annotation.start));
    }

    /// Prints the columns of a line that is no instruction.
    fn push_blank(&self, out: &mut Vec<u8>) {
        let width = if self.args.show_total_period { 13 } else { 9 };
        out.extend(core::iter::repeat_n(b' ', width * self.events.len()));
        out.push(b':');
    }

    /// Prints the function, the file and the line of an instruction, as far as they are others than before.
    fn push_origin(&self, last: &mut Last, it: &AnnotatedInstruction, out: &mut Vec<u8>) {
        let Self { annotation, args, .. } = self;
        if args.no_source {
            return;
        }
        if last.function != Some(it.function) {
            last.function = Some(it.function);
            let name = annotation.functions.get(it.function as usize).map_or(&b""[..], |it| &it.name);
            if annotation.functions.len() > 1 {
                self.push_blank(out);
                print(out, format_args!(" {}():\n", OneLine(name)));
            }
        }
        let Some(line) = it.line.and_then(|line| annotation.lines.get(line as usize)) else { return };
        if last.line == it.line {
            return;
        }
        last.line = it.line;
        let Some(source) = annotation.sources.get(line.source as usize) else { return };
        if last.source != Some(line.source) {
            last.source = Some(line.source);
            let missing = match source {
                _ if source.text.is_empty() => " (source not found)",
                _ if source.is_newer => " (modified after the recording)",
                _ => "",
            };
            self.push_blank(out);
            print(out, format_args!(" {}:{}{missing}\n", OneLine(&source.path), line.line));
        }
        if let Some(text) = source.line(line.line) {
            self.push_blank(out);
            print(out, format_args!(" {:<4} {}\n", line.line, OneLine(text)));
        }
    }

    fn push_instruction(&self, it: &AnnotatedInstruction, out: &mut Vec<u8>) {
        let Self { annotation, args, .. } = self;
        for &event in self.events {
            let total = it.totals.get(event).copied().unwrap_or_default();
            if args.show_total_period {
                print(out, format_args!(" {:11} ", total.period));
            } else if args.show_nr_samples {
                print(out, format_args!(" {:7} ", total.samples));
            } else {
                let percent = self.percent(event, &it.totals);
                self.colors.push_percent(out, percent, &format!("{percent:8.2} "));
            }
        }
        print(out, format_args!(":   {:x}:   ", it.address));
        if args.asm_raw {
            let start = out.len();
            it.bytes.iter().for_each(|byte| print(out, format_args!("{byte:02x} ")));
            const BYTES: usize = 24;
            out.extend(core::iter::repeat_n(b' ', BYTES.saturating_sub(out.len() - start)));
        }
        print(out, format_args!("{}", OneLine(it.text.as_bytes())));
        if let Some(target) = it.target.as_ref().or(it.data.as_ref()).filter(|target| !target.name.is_empty())
        {
            print(out, format_args!(" <{}", OneLine(&target.name)));
            if target.offset != 0 {
                print(out, format_args!("+0x{:x}", target.offset));
            }
            out.push(b'>');
        }
        if args.print_line
            && let Some(line) = it.line.and_then(|line| annotation.lines.get(line as usize))
            && let Some(source) = annotation.sources.get(line.source as usize)
        {
            print(out, format_args!(" // {}:{}", self.path(&source.path), line.line));
        }
        out.push(b'\n');
    }

    fn percent(&self, event: usize, totals: &[SampleTotal]) -> f64 {
        let of = self.annotation.events.get(event).zip(totals.get(event));
        of.map_or(0.0, |(event, total)| self.args.percent_type.percent(event, total))
    }
}
