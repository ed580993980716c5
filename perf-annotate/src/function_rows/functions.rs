//! The inlined function and the line of each instruction.

use std::sync::Arc;

use hashbrown::HashMap;
use perf_profile::annotation::{AnnotatedFunction, AnnotatedLine, AnnotatedSource, Annotation};
use perf_symbol::Function;

use super::{FunctionRows, PlaceInProcess, add_totals};
use crate::code::BpfLine;

/// What tells an inlined function apart: what it is inlined into, its name, and the line of the call.
type InlinedKey = (u32, Arc<[u8]>, Option<Arc<[u8]>>, Option<u32>);

/// The line of an instruction.
struct Line<'f> {
    file: &'f Arc<[u8]>,
    line: u32,
    column: Option<u32>,
}

/// Numbers of inlined functions and lines.
#[derive(Default)]
struct Numbers {
    inlined: HashMap<InlinedKey, u32>,
    sources: HashMap<Arc<[u8]>, u32>,
    lines: HashMap<(u32, u32), u32>,
}

impl FunctionRows<'_> {
    /// Finds the inlined function and the line of each instruction, and adds up their samples. The lines are those of a BPF
    /// program if it has any.
    pub(super) fn add_functions(
        &mut self,
        place: &PlaceInProcess<'_>,
        of_bpf: &[BpfLine],
        to: &mut Annotation,
    ) {
        let Annotation { instructions, functions, lines, sources, symbol, start, .. } = to;
        let mut itself = AnnotatedFunction::default();
        itself.name = Arc::clone(symbol);
        functions.push(itself);
        let mut numbers = Numbers::default();
        for instruction in instructions {
            let offset = instruction.address.wrapping_sub(*start);
            let found = self.symbolizer.functions(self.session, &place.at(offset), false, place.last);
            instruction.function = numbers.function(found, functions, self.options.limits.inlined);
            let line = match of_bpf.partition_point(|it| it.address <= place.range.start.wrapping_add(offset))
            {
                0 => found.iter().find_map(line_of),
                after => of_bpf.get(after - 1).map(|it| Line {
                    file: &it.file,
                    line: it.line,
                    column: Some(it.column),
                }),
            };
            if let Some(line) = line {
                instruction.column = line.column.filter(|&column| column != 0);
                instruction.line = Some(numbers.line(&line, lines, sources));
            }
            if let Some(function) = functions.get_mut(instruction.function as usize) {
                add_totals(&mut function.totals, instruction);
            }
            if let Some(line) = instruction.line.and_then(|line| lines.get_mut(line as usize)) {
                add_totals(&mut line.totals, instruction);
            }
        }
        // What has no instruction of its own has totals, too.
        let events = to.instructions.first().map_or(0, |it| it.totals.len());
        to.functions.iter_mut().for_each(|it| it.totals.resize(events, Default::default()));
    }
}

/// Returns the line of a function.
fn line_of(function: &Function) -> Option<Line<'_>> {
    Some(Line { file: function.file.as_ref()?, line: function.line?, column: function.column })
}

impl Numbers {
    /// Returns the number of the innermost of the functions at an address.
    fn function(&mut self, found: &[Function], functions: &mut Vec<AnnotatedFunction>, limit: usize) -> u32 {
        let mut number = 0;
        // From the outermost one, which is the first, each with the one that it is inlined into.
        for (inlined, around) in found.iter().zip(found.iter().skip(1)).rev() {
            let name = inlined.name.clone().unwrap_or_default();
            let key = (number, name, around.file.clone(), around.line);
            let next = functions.len() as u32;
            number = match self.inlined.get(&key) {
                Some(&known) => known,
                None if functions.len() > limit => return number,
                None => {
                    let mut function = AnnotatedFunction::default();
                    (function.name, function.caller) = (Arc::clone(&key.1), Some(number));
                    functions.push(function);
                    self.inlined.insert(key, next);
                    next
                }
            };
        }
        number
    }

    fn line(
        &mut self,
        it: &Line<'_>,
        lines: &mut Vec<AnnotatedLine>,
        sources: &mut Vec<AnnotatedSource>,
    ) -> u32 {
        let source = match self.sources.get(it.file) {
            Some(&source) => source,
            None => {
                let next = sources.len() as u32;
                let mut source = AnnotatedSource::default();
                source.path = Arc::clone(it.file);
                sources.push(source);
                self.sources.insert(Arc::clone(it.file), next);
                next
            }
        };
        *self.lines.entry((source, it.line)).or_insert_with(|| {
            let mut line = AnnotatedLine::default();
            (line.source, line.line) = (source, it.line);
            lines.push(line);
            lines.len() as u32 - 1
        })
    }
}
