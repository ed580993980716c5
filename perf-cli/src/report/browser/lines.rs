//! Rows and call chains as text, for the screen and for files.

use perf_profile::report::{BranchValue, ReportColumn, ReportRow, percent};

use super::super::graph;
use super::super::printed::abbreviated;
use super::super::text::{TablePrinter, TableStyle, heading_of_key};
use super::chains::ChainLine;
use super::listed::{LineContent, ListedRows};
use super::model::Browser;
use super::state::{Zoom, shown_task};
use crate::column::{self, right};
use crate::escape::push_name;
use perf_profile::SampleTotal;

/// A part of a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LinePart {
    /// The column where it begins.
    pub(super) at: usize,
    pub(super) text: String,
    /// What it is coloured by.
    pub(super) percent: Option<f64>,
}

/// The width of what marks a row that can be expanded.
const SIGN: usize = 2;

/// Makes lines of text.
#[derive(Debug)]
pub(super) struct RowLines<'a> {
    listed: &'a ListedRows<'a>,
    printer: TablePrinter<'a>,
    graph: graph::CallGraphPrinter<'a>,
    has_children: bool,
}

/// Returns the style of lines of at most a width.
pub(super) fn style(listed: &ListedRows<'_>, width: Option<usize>) -> TableStyle {
    TableStyle { terminal: width.map(|width| width.saturating_sub(SIGN)), ..listed.style.clone() }
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

fn sign(is_open: Option<bool>) -> &'static str {
    match is_open {
        None => " ",
        Some(true) => "-",
        Some(false) => "+",
    }
}

impl<'a> RowLines<'a> {
    pub(super) fn new(listed: &'a ListedRows<'a>, style: &'a TableStyle, has_children: bool) -> Self {
        Self { listed, printer: listed.printer(style), graph: listed.graph(), has_children }
    }

    /// Returns the headings, with their columns.
    pub(super) fn headings(&self) -> Vec<(ReportColumn, LinePart)> {
        let mut at = SIGN;
        let mut headings = Vec::new();
        for &(column, width) in self.printer.columns() {
            let heading = self.printer.heading(column);
            let text = match column {
                ReportColumn::Key(_) => heading_of_key(heading, width),
                _ => right(heading, width),
            };
            headings.push((column, LinePart { at, text, percent: None }));
            at += width + 2;
        }
        headings
    }

    /// Returns the parts of a line; empty after the last one.
    pub(super) fn line(&self, line: usize) -> Vec<LinePart> {
        match self.listed.line(line) {
            None => Vec::new(),
            Some(LineContent::Row(row, is_open)) => self.row(row, is_open),
            Some(LineContent::Chain(line)) => self.chain(line),
        }
    }

    fn row(&self, row: &ReportRow, is_open: Option<bool>) -> Vec<LinePart> {
        let mut parts = vec![LinePart { at: 0, text: sign(is_open).to_owned(), percent: None }];
        let mut at = SIGN;
        for &(column, width) in self.printer.columns() {
            match column {
                ReportColumn::Key(_) => {
                    let text = self.printer.cut(&self.printer.text(row, column), width);
                    parts.push(LinePart { at, text: lossy(&text), percent: None });
                }
                _ => self.push_numbers(&mut parts, row, column, at, width),
            }
            at += width + 2;
        }
        parts
    }

    /// Appends the numbers of a column, one for each event.
    fn push_numbers(
        &self,
        parts: &mut Vec<LinePart>,
        row: &ReportRow,
        column: ReportColumn,
        mut at: usize,
        width: usize,
    ) {
        let members = row.counts().len();
        let width = if members == 1 { width } else { self.printer.number_width(column) };
        for (count, total) in row.counts().iter().zip(self.listed.totals()) {
            let number = count.number(column);
            let (text, percent) = match column {
                ReportColumn::Children if !self.has_children => (right("N/A", width), None),
                ReportColumn::Samples | ReportColumn::Period => (right(&number.to_string(), width), None),
                _ => {
                    let percent = percent(number, total.period);
                    (right(&format!("{percent:.2}%"), width), Some(percent))
                }
            };
            parts.push(LinePart { at, text, percent });
            at += width;
        }
    }

    fn chain(&self, line: &ChainLine) -> Vec<LinePart> {
        let mut at = SIGN + 1 + 3 * line.depth;
        let is_open = line.branch.map(|(_, is_open)| is_open);
        let mut parts = vec![LinePart { at, text: sign(is_open).to_owned(), percent: None }];
        at += SIGN;
        if let Some((value, total)) = line.share {
            let mut text = Vec::new();
            self.graph.push_value(&mut text, value, total);
            let is_percent = self.graph.graph.value == BranchValue::Percent;
            let text = lossy(&text);
            let length = text.len() + 1;
            parts.push(LinePart { at, text, percent: is_percent.then(|| percent(value.period, total)) });
            at += length;
        }
        let mut name = Vec::new();
        self.graph.push_name(&mut name, line.function);
        parts.push(LinePart { at, text: lossy(&name), percent: None });
        parts
    }
}

/// Returns parts as one text.
pub(super) fn joined<'p>(parts: impl IntoIterator<Item = &'p LinePart>) -> String {
    let mut text = String::new();
    let mut width = 0;
    for part in parts {
        while width < part.at {
            text.push(' ');
            width += 1;
        }
        text.push_str(&part.text);
        width += column::width(&part.text);
    }
    text.truncate(text.trim_end().len());
    text
}

/// Returns what is shown, in a line. What is zoomed into comes first, where it is seen on narrow terminals too.
pub(super) fn title(browser: &Browser<'_>) -> String {
    let mut title = Vec::new();
    for zoom in &browser.state.zooms {
        match zoom {
            Zoom::Thread(task) => {
                title.extend_from_slice(b"Thread: ");
                title.extend_from_slice(&shown_task(task, browser.view.report));
            }
            Zoom::Dso(name) => {
                title.extend_from_slice(b"DSO: ");
                push_name(&mut title, name);
            }
            Zoom::Kernel => title.extend_from_slice(b"Kernel"),
            Zoom::Time(time) => {
                title.extend_from_slice(b"Time: ");
                push_name(&mut title, time.as_bytes());
            }
        }
        title.extend_from_slice(b", ");
    }
    if !browser.state.filter.is_empty() {
        title.extend_from_slice(b"Filter: ");
        push_name(&mut title, browser.state.filter.as_bytes());
        title.extend_from_slice(b", ");
    }
    let mut total = SampleTotal::default();
    browser.listed.totals().iter().for_each(|it| total.add(*it));
    let (samples, unit) = abbreviated(total.samples);
    let members = browser.members();
    let plural = if members.events.len() > 1 || members.leads_others { "s" } else { "" };
    title.extend_from_slice(format!("Samples: {samples}{unit} of event{plural} '").as_bytes());
    push_name(&mut title, &members.name);
    title.extend_from_slice(format!("', Event count (approx.): {}", total.period).as_bytes());
    lossy(&title)
}
