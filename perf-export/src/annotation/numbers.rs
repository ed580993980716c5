//! The numbers of an annotated function as bytes, which `data.js` reads.

use perf_profile::SampleTotal;
use perf_profile::annotation::{AnnotatedBranch, AnnotatedTarget, Annotation};
use perf_profile::text::OneLine;

use super::links::FunctionLinks;
use crate::html::numbers::{push, push_signed};
use crate::strings::Strings;

/// Number of columns between tab stops.
const TAB: usize = 8;
/// The largest number of bytes of a source line.
const LONGEST: usize = 2000;

/// Bits of an instruction: it has a target, which is a call, in the same function, or in another function of the page.
const TARGET: u64 = 1;
const CALL: u64 = 2;
const INSIDE: u64 = 4;
const LINKED: u64 = 8;

/// Writes functions as numbers. Texts are interned.
#[derive(Debug)]
pub(super) struct FunctionNumbers<'a> {
    pub(super) strings: Strings,
    pub(super) links: FunctionLinks<'a>,
}

impl FunctionNumbers<'_> {
    /// Returns the inlined functions, lines, instructions, their samples, and the branches of a function.
    pub(super) fn bytes(&mut self, of: &Annotation) -> Vec<u8> {
        let mut out = Vec::new();
        for function in &of.functions {
            push(&mut out, self.strings.number(&function.name).into());
            push(&mut out, function.caller.map_or(0, |caller| u64::from(caller) + 1));
        }
        let mut before = 0;
        for line in &of.lines {
            let text = of.sources.get(line.source as usize).and_then(|source| source.line(line.line));
            push(&mut out, line.source.into());
            push_signed(&mut out, i64::from(line.line) - before);
            push(&mut out, text.map_or(0, |text| u64::from(self.strings.number_of(&source_text(text))) + 1));
            before = line.line.into();
        }
        self.instructions(of, &mut out);
        push_totals(&mut out, of, of.functions.iter().map(|it| &*it.totals));
        push_totals(&mut out, of, of.lines.iter().map(|it| &*it.totals));
        push_totals(&mut out, of, of.instructions.iter().map(|it| &*it.totals));
        push_branches(&mut out, of);
        out
    }

    fn instructions(&mut self, of: &Annotation, out: &mut Vec<u8>) {
        let (mut address, mut line) = (of.start, 0);
        for (it, row) in of.instructions.iter().zip(0_i64..) {
            push(out, it.address.wrapping_sub(address));
            push(out, self.strings.number(it.text.as_bytes()).into());
            // The first line is 1, as 0 is none.
            let next = it.line.map_or(0, |line| i64::from(line) + 1);
            push_signed(out, next - line);
            push(out, it.function.into());
            (address, line) = (it.address, next);
            match &it.target {
                None => push(out, 0),
                Some(target) => self.target(of, target, row, out),
            }
        }
    }

    fn target(&mut self, of: &Annotation, target: &AnnotatedTarget, row: i64, out: &mut Vec<u8>) {
        let call = if target.is_call { CALL } else { 0 };
        if let Some(to) = of.instruction_at(target.address).filter(|_| !target.is_call) {
            push(out, TARGET | call | INSIDE);
            push_signed(out, to as i64 - row);
            return;
        }
        let name = match (&*target.name, target.offset) {
            (b"", _) => format!("{:#x}", target.address),
            (name, 0) => OneLine(name).to_string(),
            (name, offset) => format!("{}+{offset:#x}", OneLine(name)),
        };
        let link = self.links.target(&of.dso, target);
        push(out, TARGET | call | if link.is_some() { LINKED } else { 0 });
        push(out, self.strings.number_of(&name).into());
        if let Some((function, instruction)) = link {
            push(out, function.into());
            push(out, instruction as u64);
        }
    }
}

/// Appends the samples of each event: how many items have some, and for each of these its distance from the one before.
fn push_totals<'a>(
    out: &mut Vec<u8>,
    of: &Annotation,
    items: impl Iterator<Item = &'a [SampleTotal]> + Clone,
) {
    for event in 0..of.events.len() {
        let totals = items.clone().map(|it| it.get(event).copied().unwrap_or_default());
        let counted: Vec<_> =
            totals.enumerate().filter(|(_, total)| *total != SampleTotal::default()).collect();
        push(out, counted.len() as u64);
        let mut before = 0;
        for (item, total) in counted {
            push(out, (item - before) as u64);
            push(out, total.samples);
            push(out, total.period);
            before = item;
        }
    }
}

/// Appends the branches that were recorded at each instruction, one for each place that they went to.
fn push_branches(out: &mut Vec<u8>, of: &Annotation) {
    let counts = |it: &AnnotatedBranch| [it.count, it.mispredicted, it.cycles, it.timed];
    let mut rows: Vec<_> =
        of.branches.iter().filter_map(|it| Some((of.instruction_at(it.from?)?, counts(it)))).collect();
    rows.sort_unstable();
    push(out, rows.len() as u64);
    let mut before = 0;
    for (row, counts) in rows {
        push(out, (row - before) as u64);
        counts.into_iter().for_each(|count| push(out, count));
        before = row;
    }
}

/// Returns a source line as text: tabs become blanks, and the end of a very long line is cut.
fn source_text(line: &[u8]) -> String {
    let cut = line.get(..LONGEST).unwrap_or(line);
    let mut text = String::new();
    for (part, index) in cut.split(|&byte| byte == b'\t').zip(0..) {
        if index > 0 {
            let column = text.chars().count();
            text.extend(core::iter::repeat_n(' ', TAB - column % TAB));
        }
        text.push_str(&OneLine(part).to_string());
    }
    if cut.len() < line.len() {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_lines_are_text() {
        assert_eq!(source_text(b"\tif (x)\t{"), "        if (x)  {");
        assert_eq!(source_text(b"a\r\x1b[2J\xff"), "a\\r\\u{1b}[2J\\xff");
        assert_eq!(source_text(&[b'x'; 2001]).chars().count(), 2001);
        assert!(source_text(&[b'x'; 2001]).ends_with("x…"));
        assert_eq!(source_text(b""), "");
    }
}
