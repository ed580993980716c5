//! The output of the counts, and its format.

use core::time::Duration;
use std::fs::File;
use std::io::{self, ErrorKind, Write};

use perf_open::workload::CpuTime;

use super::table::Row;
use crate::Failure;
use crate::args::live::StatArgs;
use crate::escape::{make_json_safe, make_lines_safe, shown};

mod csv;
mod json;
mod text;

/// The format of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Format {
    Text,
    Json,
    Csv { separator: String },
}

/// The values printed after the counts.
#[derive(Clone, Debug)]
pub(crate) struct Totals {
    /// The seconds that each run took.
    pub(crate) elapsed: Vec<f64>,
    /// The cpu time of each run of a command.
    pub(crate) cpu_times: Vec<CpuTime>,
}

/// The output of the counts.
pub(crate) struct Report {
    format: Format,
    out: Box<dyn Write>,
    /// The name of the output in messages.
    name: String,
    /// Whether the reader has closed its end, as `head` does. Then nothing more is written.
    closed: bool,
    /// The columns for the units.
    unit_width: usize,
}

impl Report {
    /// Opens the output.
    pub(crate) fn new(args: &StatArgs) -> Result<Self, Failure> {
        let format = match &args.field_separator {
            _ if args.json => Format::Json,
            Some(separator) => Format::Csv { separator: separator.clone() },
            None => Format::Text,
        };
        let (out, name): (Box<dyn Write>, _) = match (&args.output, &format) {
            (Some(path), _) => {
                let name = shown(path).to_string();
                let file = File::create(path).map_err(|error| format!("{name}: {error}"))?;
                (Box::new(file), name)
            }
            (None, Format::Text) => (Box::new(io::stderr()), "standard error".to_owned()),
            (None, _) => (Box::new(io::stdout()), "standard output".to_owned()),
        };
        Ok(Self { format, out, name, closed: false, unit_width: 0 })
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
            Format::Text if with_intervals => {
                self.unit_width = unit_width.max(text::UNIT.len());
                self.print(text::interval_head(self.unit_width))
            }
            Format::Text => self.print(text::head(what, runs)),
            Format::Json | Format::Csv { .. } => Ok(()),
        }
    }

    /// Prints rows; with intervals, those of the time `at`.
    pub(crate) fn rows(
        &mut self,
        rows: &[Row<'_>],
        at: Option<Duration>,
        runs: usize,
    ) -> Result<(), Failure> {
        let mut lines = String::new();
        for row in rows {
            lines += &match &self.format {
                Format::Text => text::row(row, at, runs, self.unit_width),
                Format::Json => json::row(row, at, runs),
                Format::Csv { separator } => csv::row(row, at, runs, separator),
            };
            lines.push('\n');
        }
        self.print(lines)
    }

    /// Prints what follows the counts.
    pub(crate) fn totals(&mut self, totals: &Totals) -> Result<(), Failure> {
        match self.format {
            Format::Text => self.print(text::totals(totals)),
            Format::Json => self.print(json::totals(totals)),
            Format::Csv { .. } => Ok(()),
        }
    }

    /// Returns whether there is still a reader.
    pub(crate) fn is_open(&self) -> bool {
        !self.closed
    }

    fn print(&mut self, text: String) -> Result<(), Failure> {
        if self.closed {
            return Ok(());
        }
        let mut text = text.into_bytes();
        match self.format {
            Format::Json => make_json_safe(&mut text, 0),
            Format::Text | Format::Csv { .. } => make_lines_safe(&mut text, 0),
        }
        match self.out.write_all(&text).and_then(|()| self.out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => self.closed = true,
            result => result.map_err(|error| format!("{}: {error}", self.name))?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
