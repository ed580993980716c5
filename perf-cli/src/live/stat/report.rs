//! The output of the counts, and its format.

use core::time::Duration;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;

use perf_open::workload::CpuTime;
use perf_record::stat::CountRow;

use crate::args::live::StatArgs;
use crate::escape::{make_json_safe, make_lines_safe, shown};
use crate::outcome::Failure;

mod csv;
mod json;
mod metrics;
mod text;

/// The format of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
enum StatFormat {
    Text {
        /// Whether a comma follows the thousands.
        big_num: bool,
    },
    Json,
    Csv {
        separator: String,
    },
}

/// The values printed after the counts.
#[derive(Clone, Debug)]
pub(crate) struct RunTotals {
    /// The seconds that each run took.
    pub(crate) elapsed: Vec<f64>,
    /// The cpu time of each run of a command.
    pub(crate) cpu_times: Vec<CpuTime>,
    /// Whether to print the time of each run.
    pub(crate) table: bool,
}

/// The span of time of the rows to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportedSpan {
    /// The whole time, of this many runs.
    Whole { runs: usize },
    /// The whole time, after the intervals were printed.
    Summary,
    /// An interval that ended so long after the start.
    Interval(Duration),
}

/// The output of the counts.
pub(crate) struct StatReport {
    format: StatFormat,
    out: Box<dyn Write>,
    /// The name of the output in messages.
    name: String,
    /// Whether the reader has closed its end, as `head` does. Then nothing more is written.
    closed: bool,
    /// The columns for the units.
    unit_width: usize,
    metric_only: bool,
    /// Whether the lines of a summary in CSV begin with a word that says so.
    marks_summary: bool,
    clear: bool,
    metric_columns: metrics::MetricColumns,
}

impl StatReport {
    /// Opens the output.
    pub(crate) fn new(args: &StatArgs) -> Result<Self, Failure> {
        let format = match &args.field_separator {
            _ if args.json => StatFormat::Json,
            // As perf does, so that shells need no special quotes.
            Some(separator) => StatFormat::Csv { separator: separator.replace("\\t", "\t") },
            None => StatFormat::Text { big_num: !args.no_big_num },
        };
        let (out, name): (Box<dyn Write>, _) = if args.quiet {
            (Box::new(io::sink()), String::new())
        } else if let Some(path) = &args.output {
            file(path, args.append)?
        } else if let Some(number) = args.log_fd {
            file(&PathBuf::from(format!("/proc/self/fd/{number}")), true)?
        } else {
            (Box::new(io::stderr()), "standard error".to_owned())
        };
        Ok(Self {
            format,
            out,
            name,
            closed: false,
            unit_width: 0,
            metric_only: args.metric_only || args.topdown,
            marks_summary: !args.no_csv_summary,
            clear: args.interval_clear,
            metric_columns: metrics::MetricColumns::default(),
        })
    }

    /// Prints the head of a text report: what is counted and the number of runs; with intervals, the heads of the
    /// columns. CSV and JSON have no head. `unit_width` is the number of characters of the longest unit.
    pub(crate) fn head(
        &mut self,
        what: &str,
        runs: usize,
        with_intervals: bool,
        unit_width: usize,
    ) -> Result<(), Failure> {
        self.unit_width = unit_width;
        match self.format {
            StatFormat::Text { .. } if with_intervals && self.metric_only => Ok(()),
            StatFormat::Text { .. } if with_intervals => {
                self.unit_width = unit_width.max(text::UNIT.len());
                self.print(text::interval_head(self.unit_width))
            }
            StatFormat::Text { .. } => self.print(text::head(what, runs)),
            StatFormat::Json | StatFormat::Csv { .. } => Ok(()),
        }
    }

    /// Prints the rows of a span of time.
    pub(crate) fn rows(&mut self, rows: &[CountRow<'_>], span: ReportedSpan) -> Result<(), Failure> {
        let mut lines = String::new();
        if self.clear && matches!((&self.format, span), (StatFormat::Text { .. }, ReportedSpan::Interval(_)))
        {
            lines += "\x1b[H\x1b[2J";
            self.print_raw(&core::mem::take(&mut lines))?;
        }
        if self.metric_only {
            lines = self.metric_columns.lines(rows, span, &self.format);
            return self.print(lines);
        }
        for row in rows {
            lines += &match &self.format {
                StatFormat::Text { big_num } => text::row(row, span, self.unit_width, *big_num),
                StatFormat::Json => json::row(row, span),
                StatFormat::Csv { separator } => csv::row(row, span, separator, self.marks_summary),
            };
            lines.push('\n');
        }
        self.print(lines)
    }

    /// Prints what follows the counts.
    pub(crate) fn totals(&mut self, totals: &RunTotals) -> Result<(), Failure> {
        match self.format {
            StatFormat::Text { .. } => self.print(text::totals(totals)),
            StatFormat::Json | StatFormat::Csv { .. } => Ok(()),
        }
    }

    /// Returns whether there is still a reader.
    pub(crate) fn is_open(&self) -> bool {
        !self.closed
    }

    fn print(&mut self, text: String) -> Result<(), Failure> {
        let mut text = text.into_bytes();
        match self.format {
            StatFormat::Json => make_json_safe(&mut text, 0),
            StatFormat::Text { .. } | StatFormat::Csv { .. } => make_lines_safe(&mut text, 0),
        }
        self.write(&text)
    }

    /// Prints text of this program, which may control the terminal.
    fn print_raw(&mut self, text: &str) -> Result<(), Failure> {
        self.write(text.as_bytes())
    }

    fn write(&mut self, text: &[u8]) -> Result<(), Failure> {
        if self.closed {
            return Ok(());
        }
        match self.out.write_all(text).and_then(|()| self.out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => self.closed = true,
            result => result.map_err(|error| format!("{}: {error}", self.name))?,
        }
        Ok(())
    }
}

/// Opens a file to write, and to append to if `append` is set.
fn file(path: &PathBuf, append: bool) -> Result<(Box<dyn Write>, String), Failure> {
    let name = shown(path).to_string();
    let file = match append {
        true => File::options().append(true).create(true).open(path),
        false => File::create(path),
    };
    let mut file = file.map_err(|error| format!("{name}: {error}"))?;
    if append && file.metadata().is_ok_and(|file| file.is_file() && file.len() > 0) {
        writeln!(file).map_err(|error| format!("{name}: {error}"))?;
    }
    Ok((Box::new(file), name))
}

#[cfg(test)]
mod tests;
