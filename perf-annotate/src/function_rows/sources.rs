//! The texts of source lines, and what line tables say of instructions besides.

use std::sync::Arc;

use hashbrown::HashMap;
use perf_profile::annotation::Annotation;

use super::{FunctionRows, PlaceInProcess};
use crate::code::BpfLine;

impl FunctionRows<'_> {
    /// Adds what the line table says of instructions besides their lines. Returns the texts of files that the compiler embedded, by
    /// their paths.
    pub(super) fn add_statements(
        &mut self,
        place: &PlaceInProcess<'_>,
        to: &mut Annotation,
    ) -> EmbeddedTexts {
        let mut embedded = EmbeddedTexts::new();
        let start = to.start;
        let Annotation { instructions, .. } = to;
        let range = place.range.clone();
        self.symbolizer.line_rows(self.session, &place.frame, range, &mut |row| {
            let offset = |address: u64| start.wrapping_add(address.wrapping_sub(place.range.start));
            let first = instructions.partition_point(|it| it.address < offset(row.start));
            let of_row = instructions.iter_mut().skip(first).take_while(|it| it.address < offset(row.end));
            for instruction in of_row {
                // Only the first instruction of a row is where a breakpoint is best.
                instruction.is_stmt = row.is_stmt && instruction.address == offset(row.start);
                instruction.discriminator = row.discriminator;
            }
            if let Some((path, text)) = row.file.zip(row.source)
                && !embedded.contains_key(path.as_bytes())
            {
                embedded.insert(path.as_bytes().into(), text.into());
            }
        });
        embedded
    }

    /// Adds the texts of the lines of each file, from the first line that has instructions to the last.
    pub(super) fn add_texts(&mut self, embedded: &EmbeddedTexts, of_bpf: &[BpfLine], to: &mut Annotation) {
        for (source, number) in to.sources.iter_mut().zip(0..) {
            let of_source = || to.lines.iter().filter(|line| line.source == number).map(|line| line.line);
            let Some((first, last)) = of_source().min().zip(of_source().max()) else { continue };
            let embedded = embedded.get(&source.path).map(|text| &**text);
            if let Some(text) = self.sources.source(&source.path, to.build_id, embedded) {
                source.is_newer = text.is_newer;
                let lines = (first..=last).map_while(|line| text.line(line));
                (source.first, source.text) = (first, lines.map(Into::into).collect());
            } else if !of_bpf.is_empty() {
                (source.first, source.text) = (first, texts_of_bpf(of_bpf, &source.path, first..=last));
            }
        }
    }
}

/// Texts of files, by their paths.
pub(super) type EmbeddedTexts = HashMap<Arc<[u8]>, Box<[u8]>>;

/// Returns the texts of the lines that a BPF program brings along; the others are empty.
fn texts_of_bpf(lines: &[BpfLine], path: &[u8], range: std::ops::RangeInclusive<u32>) -> Vec<Box<[u8]>> {
    const MOST: usize = 1 << 16;
    let of_line = |number: u32| lines.iter().find(|it| it.line == number && *it.file == *path);
    let text = |number| of_line(number).map_or_else(Box::default, |it| it.text.as_ref().into());
    range.take(MOST).map(text).collect()
}
