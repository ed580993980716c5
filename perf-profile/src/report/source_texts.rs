//! The texts of source lines and source files, each once: rows are grouped by what they show.

use super::texts::TextInterner;
use crate::function_table::{FunctionTable, SourceLine};
use crate::stack_table::StackTable;
use crate::table::frames::NONE;

/// The texts of source lines and source files, by their numbers.
#[derive(Debug, Default)]
pub(super) struct SourceTexts {
    lines: TextInterner,
    files: TextInterner,
    /// The numbers of the texts of each line: of file and line, and of the file.
    of_line: Vec<(u32, u32)>,
    /// The number of the text of each frame without a line.
    of_frame: Vec<u32>,
    /// The line that has each text, or a line of the file that has it; [`NONE`] if several have it.
    line_of: Vec<u32>,
    file_of: Vec<u32>,
}

/// perf: `SRCLINE_UNKNOWN`, `tools/perf/util/srcline.h`.
const UNKNOWN: &[u8] = b"??:0";

impl SourceTexts {
    /// Makes the texts of all lines, and of frames whose lines are not known.
    pub(super) fn new(named: &FunctionTable, table: &StackTable) -> Self {
        let mut all = Self::default();
        for (line, number) in named.lines().iter().zip(0..) {
            let (file, text) = (file_name(&line.file), with_line(line));
            let (srcline, srcfile) = (number_of(&mut all.lines, &text), number_of(&mut all.files, file));
            all.of_line.push((srcline, srcfile));
            note(&mut all.line_of, srcline, number, |_| false);
            let is_same = |other: u32| named.line(other).is_some_and(|it| it.file == line.file);
            note(&mut all.file_of, srcfile, number, is_same);
        }
        for frame in 0..table.frames.locations().len() as u32 {
            let functions = named.functions_of(frame);
            let needs_text = functions.is_empty() || functions.iter().any(|it| it.line == NONE);
            let number = match needs_text {
                true => number_of(&mut all.lines, &without_line(frame, named, table)),
                false => NONE,
            };
            all.of_frame.push(number);
        }
        all
    }

    /// Returns the number of the text of a line; for [`NONE`], of that of a frame.
    pub(super) fn srcline(&self, line: u32, frame: u32) -> u32 {
        match self.of_line.get(line as usize) {
            Some(&(srcline, _)) => srcline,
            None => self.of_frame.get(frame as usize).copied().unwrap_or(NONE),
        }
    }

    /// Returns the number of the text of the file of a line; [`NONE`] for [`NONE`].
    pub(super) fn srcfile(&self, line: u32) -> u32 {
        self.of_line.get(line as usize).map_or(NONE, |&(_, srcfile)| srcfile)
    }

    /// Returns the text of a line.
    pub(super) fn srcline_text(&self, number: u32) -> &[u8] {
        if number == NONE { UNKNOWN } else { self.lines.get(number) }
    }

    /// Returns the text of a file; empty for [`NONE`].
    pub(super) fn srcfile_text(&self, number: u32) -> &[u8] {
        self.files.get(number)
    }

    /// Returns the line that has a text; [`NONE`] if none or several have it.
    pub(super) fn only_line(&self, srcline: u32) -> u32 {
        self.line_of.get(srcline as usize).copied().unwrap_or(NONE)
    }

    /// Returns a line of the file that has a text; [`NONE`] if none or several have it.
    pub(super) fn line_of_only_file(&self, srcfile: u32) -> u32 {
        self.file_of.get(srcfile as usize).copied().unwrap_or(NONE)
    }
}

/// Returns the number of a text, which is kept whatever its size: the lines have their paths already.
fn number_of(texts: &mut TextInterner, text: &[u8]) -> u32 {
    texts.number(text, usize::MAX).unwrap_or(NONE)
}

/// Notes that a line has a text. TextInterner get their numbers in order.
fn note(of_text: &mut Vec<u32>, text: u32, line: u32, is_same: impl Fn(u32) -> bool) {
    match of_text.get_mut(text as usize) {
        None => of_text.push(line),
        Some(other) if is_same(*other) => {}
        Some(other) => *other = NONE,
    }
}

/// Returns the name of a file without its folders, and the line.
pub(crate) fn with_line(line: &SourceLine) -> Vec<u8> {
    [file_name(&line.file), b":", line.line.to_string().as_bytes()].concat()
}

/// Returns the symbol or the file of a frame, with an offset.
///
/// perf: `__get_srcline`, `tools/perf/util/srcline.c`.
pub(crate) fn without_line(frame: u32, named: &FunctionTable, table: &StackTable) -> Vec<u8> {
    let Some(place) = table.frames.location(frame).filter(|place| place.dso != NONE) else {
        return UNKNOWN.to_vec();
    };
    match named.symbol(named.symbol_of(frame)) {
        Some(symbol) => {
            let offset = place.offset.wrapping_sub(symbol.start).to_string();
            [&*symbol.label(), b"+", offset.as_bytes()].concat()
        }
        None => {
            let name = named.short_name(named.short_name_of(place.dso));
            [name, format!("[{:x}]", place.offset).as_bytes()].concat()
        }
    }
}

/// Returns a path without its folders.
fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}
