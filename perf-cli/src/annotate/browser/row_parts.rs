//! Rows as parts of lines.

use perf_profile::annotation::{AnnotatedInstruction, Annotation};
use ratatui_core::style::Style;

use super::jumps::{self, JumpArrow};
use super::rows::AnnotatedRow;
use super::shown_number::ShownNumber;
use super::view::AnnotationView;
use crate::column::right;
use crate::terminal::{begin_of, heat};

/// A part of a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RowPart {
    /// The column where it begins.
    pub(super) at: usize,
    pub(super) text: String,
    pub(super) style: Style,
}

/// The columns of rows, as wide as all rows need.
#[derive(Debug)]
pub(super) struct RowColumns<'v> {
    view: &'v AnnotationView,
    arrow: Option<JumpArrow>,
    has_colors: bool,
    /// The width of the screen.
    width: usize,
    /// Those of the columns.
    number: usize,
    jump_sources: usize,
    address: usize,
    line_number: usize,
}

/// The width of a percentage.
const PERCENT: usize = "100.00%".len();

/// Returns the number of digits.
fn digits(number: u64) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

/// Returns the number of hexadecimal digits.
fn hex_digits(number: u64) -> usize {
    number.checked_ilog2().unwrap_or(0) as usize / 4 + 1
}

impl<'v> RowColumns<'v> {
    /// Measures the columns of a view.
    pub(super) fn new(view: &'v AnnotationView, width: usize, has_colors: bool) -> Self {
        let annotation = &view.annotation;
        let total = view.event().map(|event| event.total).unwrap_or_default();
        let number = match view.options.number {
            ShownNumber::Percent => PERCENT,
            ShownNumber::Period => digits(total.period).max(PERCENT),
            ShownNumber::Samples => digits(total.samples).max(PERCENT),
        };
        let last = annotation.instructions.last().map_or(annotation.start, |it| it.address);
        let address = if view.options.has_addresses { last } else { last.wrapping_sub(annotation.start) };
        let (line_number, jump_sources) = (view.last_line, view.most_jumps);
        Self {
            view,
            arrow: view.arrow(),
            has_colors,
            width,
            number,
            jump_sources: if view.options.has_jump_sources { digits(jump_sources.into()) + 1 } else { 0 },
            address: hex_digits(address),
            line_number: if view.options.has_line_numbers { digits(line_number.into()) + 1 } else { 0 },
        }
    }

    /// Returns the parts of a row; empty after the last one.
    pub(super) fn parts(&self, row: usize) -> Vec<RowPart> {
        let Some(content) = self.view.rows.get(row) else { return Vec::new() };
        let mut parts = Vec::new();
        let plain = |at: usize, text: String| RowPart { at, text, style: Style::new() };
        parts.push(plain(self.number + 1, "│".to_owned()));
        let at = self.number + 3;
        if let Some(part) = self.arrow.and_then(|arrow| arrow.part(row)) {
            parts.push(plain(at, part.to_owned()));
        }
        let at = at + JumpArrow::WIDTH + 1;
        let annotation = &self.view.annotation;
        match content {
            AnnotatedRow::Instruction(index) => {
                if let Some(instruction) = annotation.instructions.get(index) {
                    parts.extend(self.number(instruction));
                    parts.push(plain(at, self.instruction(index, instruction)));
                }
            }
            AnnotatedRow::Source(line) => parts.push(plain(at, self.source(line))),
            AnnotatedRow::Place(line) => {
                parts.push(RowPart {
                    at,
                    text: place(annotation, line, self.width),
                    style: Style::new().bold(),
                });
            }
            AnnotatedRow::Function(index) => {
                let text = function(annotation, index, self.width);
                parts.push(RowPart { at, text, style: Style::new().bold() });
            }
        }
        parts
    }

    /// Returns the number of an instruction; `None` if it has no samples of the event.
    fn number(&self, instruction: &AnnotatedInstruction) -> Option<RowPart> {
        let options = self.view.options;
        let event = self.view.event()?;
        let total = instruction.totals.get(self.view.event).filter(|it| it.samples > 0 || it.period > 0)?;
        let percent = options.percent.percent(event, total);
        let text = match options.number {
            ShownNumber::Percent => format!("{percent:.2}%"),
            ShownNumber::Period => total.period.to_string(),
            ShownNumber::Samples => total.samples.to_string(),
        };
        let style = heat(Some(percent), self.has_colors);
        Some(RowPart { at: 0, text: right(&text, self.number), style })
    }

    fn instruction(&self, index: usize, instruction: &AnnotatedInstruction) -> String {
        let view = self.view;
        let mut text = String::new();
        if self.jump_sources > 0 {
            let count = view.jump_sources.get(index).filter(|&&count| count > 0);
            text += &right(&count.map(u32::to_string).unwrap_or_default(), self.jump_sources - 1);
            text.push(' ');
        }
        let start = if view.options.has_addresses { 0 } else { view.annotation.start };
        let address = instruction.address.wrapping_sub(start);
        text += &right(&format!("{address:x}"), self.address);
        text += ": ";
        let inner = jumps::target_of(&view.annotation, index);
        text.push(match (&instruction.target, inner) {
            (None, _) => ' ',
            (Some(_), Some(inner)) => {
                if inner > index {
                    '↓'
                } else {
                    '↑'
                }
            }
            (Some(_), None) => '→',
        });
        text.push(' ');
        text += &begin_of(instruction.text.as_bytes(), self.width);
        if let Some(target) = &instruction.target {
            let offset = target.offset;
            if inner.is_some() {
                // The operand is an address, which no row has.
                if !view.options.has_addresses {
                    text += &format!(" <+0x{:x}>", target.address.wrapping_sub(start));
                }
            } else if !target.name.is_empty() {
                text += &format!(" <{}", begin_of(&target.name, self.width));
                text += &if offset == 0 { ">".to_owned() } else { format!("+0x{offset:x}>") };
            }
        }
        text
    }

    fn source(&self, line: u32) -> String {
        let annotation = &self.view.annotation;
        let Some(it) = annotation.lines.get(line as usize) else { return String::new() };
        let mut text = String::new();
        if self.line_number > 0 {
            text += &right(&it.line.to_string(), self.line_number - 1);
            text += " ";
        }
        let source = annotation.sources.get(it.source as usize).and_then(|source| source.line(it.line));
        text += &begin_of(source.unwrap_or_default(), self.width);
        text
    }
}

/// Returns the file and the number of a line.
fn place(annotation: &Annotation, line: u32, width: usize) -> String {
    let Some(it) = annotation.lines.get(line as usize) else { return String::new() };
    let path = annotation.sources.get(it.source as usize).map_or(&b""[..], |source| &source.path);
    format!("{}:{}", begin_of(path, width), it.line)
}

/// Returns a function, and the one that it is inlined into.
fn function(annotation: &Annotation, index: u32, width: usize) -> String {
    let name = |index: u32| match annotation.functions.get(index as usize) {
        Some(it) if !it.name.is_empty() => begin_of(&it.name, width),
        _ => "[unknown]".to_owned(),
    };
    match annotation.functions.get(index as usize).and_then(|it| it.caller) {
        Some(caller) => format!("{}, inlined into {}", name(index), name(caller)),
        None => name(index),
    }
}
