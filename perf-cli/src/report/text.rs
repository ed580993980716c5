//! The text of tables, as `perf report --stdio` prints it.

mod widths;

use perf_profile::report::{ReportColumn, ReportRow, ReportTable, SortKey, percent};

use super::cell_text;
use super::cells::{aligned, is_cut, is_padded, replaced, zero_padded};
use crate::colors::Colors;
use crate::column::{self, WIDEST, shown_len};
use crate::escape::print;

/// How a table is printed.
#[derive(Clone, Debug)]
pub(super) struct TableStyle {
    /// The widths that the user gave; 0 for a column without one.
    pub(super) widths: Vec<usize>,
    pub(super) separator: Option<char>,
    /// The number of columns of the terminal; `None` if the text goes elsewhere.
    pub(super) terminal: Option<usize>,
    pub(super) colors: Colors,
    /// Times have nine decimal places instead of six.
    pub(super) ns: bool,
    /// The columns that are left out, as all rows have the same there.
    pub(super) elided: Vec<ReportColumn>,
    /// Whether samples are of selected files only.
    pub(super) has_dso_filter: bool,
}

/// A table, ready to be printed.
#[derive(Debug)]
pub(super) struct TablePrinter<'a> {
    table: &'a ReportTable<'a>,
    style: &'a TableStyle,
    /// The columns that are printed, with their widths.
    columns: Vec<(ReportColumn, usize)>,
}

impl<'a> TablePrinter<'a> {
    pub(super) fn new(table: &'a ReportTable<'a>, style: &'a TableStyle) -> Self {
        let mut printer = Self { table, style, columns: Vec::new() };
        let shown = table
            .report()
            .plan()
            .layout
            .columns
            .iter()
            .enumerate()
            .filter(|(_, it)| !style.elided.contains(it));
        printer.columns = shown
            .map(|(index, &column)| {
                let given = style.widths.get(index).copied().filter(|&width| width > 0);
                (column, given.unwrap_or_else(|| printer.width(column)).min(WIDEST))
            })
            .collect();
        printer.fit();
        printer
    }

    /// Makes a printer of a part of a table, with the columns of the whole one.
    pub(super) fn with_columns(
        table: &'a ReportTable<'a>,
        style: &'a TableStyle,
        columns: Vec<(ReportColumn, usize)>,
    ) -> Self {
        let mut printer = Self { table, style, columns };
        printer.fit();
        printer
    }

    /// Returns the columns that are printed, with their widths.
    pub(super) fn columns(&self) -> &[(ReportColumn, usize)] {
        &self.columns
    }

    /// Returns the heading of a column.
    pub(super) fn heading(&self, column: ReportColumn) -> &str {
        self.table.report().plan().layout.heading(column)
    }

    /// Appends the headings.
    ///
    /// perf: `hists__fprintf_standard_headers`, `tools/perf/ui/stdio/hist.c`.
    pub(super) fn push_headings(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"# ");
        for (number, &(column, width)) in self.columns.iter().enumerate() {
            self.push_separator(out, number);
            let heading = self.heading(column);
            match column {
                ReportColumn::Key(SortKey::Field(_)) => {
                    print(out, format_args!("{}", column::right(heading, width)))
                }
                ReportColumn::Key(_) => print(out, format_args!("{}", heading_of_key(heading, width))),
                _ => print(out, format_args!("{}", column::right(heading, width))),
            }
        }
        out.push(b'\n');
        if self.style.separator.is_some() {
            return;
        }
        out.extend_from_slice(b"# ");
        for (number, &(_, width)) in self.columns.iter().enumerate() {
            self.push_separator(out, number);
            out.resize(out.len() + width, b'.');
        }
        out.extend_from_slice(b"\n#\n");
    }

    fn push_separator(&self, out: &mut Vec<u8>, number: usize) {
        match self.style.separator {
            _ if number == 0 => {}
            Some(separator) => print(out, format_args!("{separator}")),
            None => out.extend_from_slice(b"  "),
        }
    }

    /// Appends a row.
    ///
    /// perf: `__hist_entry__snprintf`, `tools/perf/ui/stdio/hist.c`.
    pub(super) fn push_row(&self, out: &mut Vec<u8>, row: &ReportRow) {
        if self.style.separator.is_none() {
            out.extend_from_slice(b"  ");
        }
        for (number, &(column, width)) in self.columns.iter().enumerate() {
            self.push_separator(out, number);
            let printed = match column {
                ReportColumn::Key(key) => {
                    let mut text = self.text(row, column);
                    match key {
                        SortKey::Cpu => text = zero_padded(&text, width),
                        SortKey::Socket => {
                            text = aligned(&zero_padded(&text, width.saturating_sub(3)), width)
                        }
                        SortKey::SymbolSize | SortKey::DsoSize | SortKey::Field(_) => {
                            text = aligned(&text, width);
                        }
                        _ => {}
                    }
                    if let Some(separator) = self.style.separator {
                        text = replaced(&text, separator);
                    }
                    let text = if is_cut(key) { self.cut(&text, width) } else { text };
                    out.extend_from_slice(&text);
                    shown_len(&text)
                }
                _ => self.push_number(out, row, column, width),
            };
            let is_last = number + 1 == self.columns.len();
            if !is_last || matches!(column, ReportColumn::Key(key) if is_padded(key)) {
                out.resize(out.len() + width.saturating_sub(printed), b' ');
            }
        }
        out.push(b'\n');
    }

    /// Appends the numbers of a column, one for each event. Returns how many characters they take.
    ///
    /// perf: `__hpp__fmt`, `tools/perf/ui/hist.c`.
    fn push_number(&self, out: &mut Vec<u8>, row: &ReportRow, column: ReportColumn, width: usize) -> usize {
        let members = self.table.events().events.len();
        let width = match self.style.separator {
            Some(_) => 2,
            // A width that the user gave is that of each number.
            None if members == 1 => width,
            None => self.number_width(column),
        };
        let width = width.saturating_sub(1);
        let mut printed = 0;
        if column == ReportColumn::Children && !self.table.report().plan().children {
            let text = format!(" {}", column::right("N/A", width));
            out.extend_from_slice(text.as_bytes());
            return text.len();
        }
        for (count, total) in row.counts().iter().zip(self.table.totals()) {
            let number = count.number(column);
            out.push(b' ');
            let text = if matches!(column, ReportColumn::Samples | ReportColumn::Period) {
                let text = column::right(&number.to_string(), width);
                out.extend_from_slice(text.as_bytes());
                text
            } else {
                let percent = percent(number, total.period);
                let text = column::right(&format!("{percent:.2}%"), width);
                self.style.colors.push_percent(out, percent, &text);
                text
            };
            printed += text.len() + 1;
        }
        printed
    }

    /// Shortens a text to a width, as perf does; on a terminal in the middle.
    pub(super) fn cut(&self, text: &[u8], width: usize) -> Vec<u8> {
        if shown_len(text) <= width {
            return text.to_vec();
        }
        let text = String::from_utf8_lossy(text);
        if self.style.terminal.is_none() || width < 8 {
            return column::begin(&text, width).as_bytes().to_vec();
        }
        let kept = width - 3;
        let end = kept / 3;
        format!("{}...{}", column::begin(&text, kept - end), column::end(&text, end)).into_bytes()
    }

    /// Returns the text of a key in a row, cut to the widest column.
    pub(super) fn text(&self, row: &ReportRow, column: ReportColumn) -> Vec<u8> {
        let mut text = Vec::new();
        if let ReportColumn::Key(key) = column {
            cell_text::push(&mut text, key, &self.table.cell(row, key), self.style.ns);
        }
        column::cut(&mut text, 0);
        text
    }
}

/// Returns the heading of a key, as wide as its column.
pub(super) fn heading_of_key(heading: &str, width: usize) -> String {
    column::left(column::begin(heading, width), width)
}
