//! The headings of perf's tables of two lines of headings.

use crate::column;

/// The heading of a column.
#[derive(Clone, Debug)]
pub(super) struct Heading {
    /// The text of each line.
    lines: [String; 2],
    /// The number of columns to the right that the first line goes on over.
    span: usize,
    pub(super) width: usize,
}

impl Heading {
    pub(super) fn new(upper: impl Into<String>, lower: &str, width: usize) -> Self {
        Self { lines: [upper.into(), lower.to_owned()], span: 0, width }
    }

    pub(super) fn over(self, span: usize) -> Self {
        Self { span, ..self }
    }
}

/// Appends the headings, and a line of dots.
///
/// perf: `hists__fprintf_standard_headers`, `tools/perf/ui/stdio/hist.c`.
pub(super) fn push(out: &mut Vec<u8>, headings: &[Heading]) {
    for line in 0..2 {
        out.extend_from_slice(b"# ");
        let mut covered = 0;
        for (number, heading) in headings.iter().enumerate() {
            if covered > 0 {
                covered -= 1;
                continue;
            }
            if number > 0 {
                out.extend_from_slice(b"  ");
            }
            let [upper, lower] = &heading.lines;
            let text = if line == 0 { upper } else { lower };
            out.extend_from_slice(column::right(text, heading.width).as_bytes());
            covered = if line == 0 { heading.span } else { 0 };
        }
        out.push(b'\n');
    }
    out.extend_from_slice(b"# ");
    for (number, heading) in headings.iter().enumerate() {
        out.extend_from_slice(if number > 0 { b"  " } else { b"" });
        out.resize(out.len() + heading.width, b'.');
    }
    out.extend_from_slice(b"\n#\n");
}

/// Returns a text in the middle of a line of dashes, which `width` has with the columns that it goes over.
///
/// perf: `fill_line`, `tools/perf/builtin-c2c.c`.
pub(super) fn dashed(text: &str, width: usize) -> String {
    let before = (width / 2).saturating_sub(text.len() / 2 + 1);
    let after = width.saturating_sub(before + text.len() + 2);
    format!("{} {text} {}", "-".repeat(before), "-".repeat(after))
}
