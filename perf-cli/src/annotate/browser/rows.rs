//! The rows of an annotated function: instructions, with source lines between them.

use perf_profile::annotation::Annotation;

/// A row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnnotatedRow {
    /// The index of an instruction.
    Instruction(usize),
    /// The index of a source line whose text is known.
    Source(u32),
    /// The index of a source line, as a file and a number: the text is not known, or the file is another one than before.
    Place(u32),
    /// The index of the function whose instructions follow.
    Function(u32),
}

/// The rows of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct AnnotatedRows {
    rows: Vec<AnnotatedRow>,
    /// By instruction: the number of its row.
    of_instructions: Vec<usize>,
}

impl AnnotatedRows {
    /// Makes the rows, with source lines or without.
    pub(super) fn new(annotation: &Annotation, has_source: bool) -> Self {
        let mut it = Self::default();
        it.of_instructions.reserve(annotation.instructions.len());
        let (mut function, mut line, mut source) = (0, None, None);
        for (index, instruction) in annotation.instructions.iter().enumerate() {
            if has_source && instruction.function != function {
                it.rows.push(AnnotatedRow::Function(instruction.function));
                line = None;
            }
            if has_source && instruction.line != line {
                it.push_line(annotation, instruction.line, &mut source);
            }
            (function, line) = (instruction.function, instruction.line);
            it.of_instructions.push(it.rows.len());
            it.rows.push(AnnotatedRow::Instruction(index));
        }
        it
    }

    /// Appends a source line, with its file if that is another one than `source`.
    fn push_line(&mut self, annotation: &Annotation, line: Option<u32>, source: &mut Option<u32>) {
        let Some(index) = line else { return };
        let Some(it) = annotation.lines.get(index as usize) else { return };
        let file = annotation.sources.get(it.source as usize);
        let has_text = file.is_some_and(|file| file.line(it.line).is_some());
        if !has_text || *source != Some(it.source) {
            self.rows.push(AnnotatedRow::Place(index));
        }
        if has_text {
            self.rows.push(AnnotatedRow::Source(index));
        }
        *source = Some(it.source);
    }

    /// Returns the number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns a row; `None` after the last one.
    pub(super) fn get(&self, row: usize) -> Option<AnnotatedRow> {
        self.rows.get(row).copied()
    }

    /// Returns the row of an instruction.
    pub(super) fn of_instruction(&self, instruction: usize) -> Option<usize> {
        self.of_instructions.get(instruction).copied()
    }

    /// Returns the instruction of a row, or the first one after it; `None` after the last one.
    pub(super) fn instruction_from(&self, row: usize) -> Option<usize> {
        let index = self.of_instructions.partition_point(|&it| it < row);
        (index < self.of_instructions.len()).then_some(index)
    }
}
