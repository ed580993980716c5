//! The search for a text in the rows.

use perf_profile::annotation::Annotation;

use super::rows::{AnnotatedRow, AnnotatedRows};

/// The number of bytes of a text that are searched: many rows may have the same long text.
const SEARCHED: usize = 4096;

/// A row with a text that was searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundRow {
    pub(super) row: usize,
    /// Whether the search went on from the other end.
    pub(super) is_wrapped: bool,
}

/// Returns the next row after `from`, or before it if the search is backwards, that contains a pattern; `None` if none does.
pub(super) fn find(
    annotation: &Annotation,
    rows: &AnnotatedRows,
    from: usize,
    pattern: &[u8],
    is_backwards: bool,
) -> Option<FoundRow> {
    let len = rows.len();
    let from = from.min(len.saturating_sub(1));
    let at = |distance: usize| (if is_backwards { from + len - distance } else { from + distance }) % len;
    let row = (1..=len).map(at).find(|&row| rows.get(row).is_some_and(|it| has(annotation, it, pattern)))?;
    Some(FoundRow { row, is_wrapped: if is_backwards { row >= from } else { row <= from } })
}

/// Returns whether a row contains a pattern.
fn has(annotation: &Annotation, row: AnnotatedRow, pattern: &[u8]) -> bool {
    let file = |line: u32| {
        let line = annotation.lines.get(line as usize)?;
        Some((annotation.sources.get(line.source as usize)?, line.line))
    };
    match row {
        AnnotatedRow::Instruction(index) => annotation.instructions.get(index).is_some_and(|it| {
            let target = it.target.as_ref().map(|target| &*target.name);
            contains(it.text.as_bytes(), pattern) || target.is_some_and(|name| contains(name, pattern))
        }),
        AnnotatedRow::Source(line) => file(line)
            .and_then(|(source, number)| source.line(number))
            .is_some_and(|text| contains(text, pattern)),
        AnnotatedRow::Place(line) => file(line).is_some_and(|(source, _)| contains(&source.path, pattern)),
        AnnotatedRow::Function(index) => {
            annotation.functions.get(index as usize).is_some_and(|it| contains(&it.name, pattern))
        }
    }
}

fn contains(text: &[u8], pattern: &[u8]) -> bool {
    let text = text.get(..SEARCHED).unwrap_or(text);
    !pattern.is_empty() && text.windows(pattern.len()).any(|it| it == pattern)
}
