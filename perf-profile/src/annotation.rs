//! A function's instructions and source lines with their samples: plain rows, for a text, a terminal, a page or a program.
//!
//! The crate `perf-annotate` makes them. Nothing here disassembles or reads a file.

use std::sync::Arc;

use perf_session::BuildId;
use perf_symbol::{CodeOrigin, Guess};

use crate::report::percent;
use crate::sample::SampleTotal;

/// A function with its instructions, source lines and samples.
///
/// Lists of totals have one total for each of [`events`](Self::events), in the same order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Annotation {
    /// The name of the function as people read it.
    pub symbol: Arc<[u8]>,
    /// Why the name is a guess; `None` if it is not one.
    pub guess: Option<Guess>,
    /// The path of its file, or the name of what else has the code.
    pub dso: Arc<[u8]>,
    /// The recorded build id of the file; `None` if none was recorded.
    pub build_id: Option<BuildId>,
    /// Where its bytes are from.
    pub origin: CodeOrigin,
    /// Address of its first instruction: in the memory of the file, or of the process if the code is in no file.
    pub start: u64,
    /// The address after its last byte.
    pub end: u64,
    /// The events that have samples in the function, those with most samples in the capture first.
    pub events: Vec<AnnotatedEvent>,
    /// The function itself, which is the first, and each function that is inlined into it.
    pub functions: Vec<AnnotatedFunction>,
    /// Files of its source lines.
    pub sources: Vec<AnnotatedSource>,
    /// Its source lines that have instructions, each once, in the order of their first instructions.
    pub lines: Vec<AnnotatedLine>,
    /// The instructions in the order of their addresses, without gaps.
    pub instructions: Vec<AnnotatedInstruction>,
    /// Branches that were recorded within the function, into it and out of it, in the order of their addresses; empty without
    /// branch stacks.
    pub branches: Vec<AnnotatedBranch>,
}

/// An event of an [`Annotation`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnnotatedEvent {
    /// Its name.
    pub name: Arc<str>,
    /// Its samples in the function.
    pub total: SampleTotal,
    /// All its selected samples in the capture.
    pub of_capture: SampleTotal,
    /// How exact the addresses are: `attr.precise_ip`. With 0, a sample may be at an instruction after the one that caused it.
    pub precise_ip: u8,
}

/// A function, or a function that is inlined into it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnnotatedFunction {
    /// Its name; empty if it has none.
    pub name: Arc<[u8]>,
    /// The index of the function that it is inlined into; `None` for the first.
    pub caller: Option<u32>,
    /// The samples at its instructions, without those of functions that are inlined into it.
    pub totals: Vec<SampleTotal>,
}

/// A file of source lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnnotatedSource {
    /// The path that the compiler recorded.
    pub path: Arc<[u8]>,
    /// Whether the file was modified after the recording, so that its lines may be others.
    pub is_newer: bool,
    /// The number of the first of [`text`](Self::text), from 1 on.
    pub first: u32,
    /// The texts of lines: from the first line that has instructions to the last, without line ends. Empty if the file was not
    /// found.
    pub text: Vec<Box<[u8]>>,
}

impl AnnotatedSource {
    /// Returns the text of a line; `None` if it is not known.
    #[must_use]
    pub fn line(&self, number: u32) -> Option<&[u8]> {
        let index = number.checked_sub(self.first)?;
        self.text.get(index as usize).map(|line| &**line)
    }
}

/// A source line that has instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnnotatedLine {
    /// The index in [`Annotation::sources`].
    pub source: u32,
    /// Its number, from 1 on.
    pub line: u32,
    /// The samples at its instructions.
    pub totals: Vec<SampleTotal>,
}

/// An instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnnotatedInstruction {
    /// Its address, as [`Annotation::start`].
    pub address: u64,
    /// Its bytes.
    pub bytes: Box<[u8]>,
    /// Its mnemonic and operands; `(bad)` for bytes that are no instruction.
    pub text: Box<str>,
    /// Where it branches to, if that is in its bytes.
    pub target: Option<AnnotatedTarget>,
    /// What it loads, stores or computes the address of, if that is relative to its own address.
    pub data: Option<AnnotatedTarget>,
    /// The index of its line in [`Annotation::lines`]; `None` if none is known.
    pub line: Option<u32>,
    /// The column of that line, from 1 on; `None` if it is not known.
    pub column: Option<u32>,
    /// Whether the compiler recommends it as the place of a breakpoint for the line.
    pub is_stmt: bool,
    /// Tells blocks of the same line apart; 0 if there is one.
    pub discriminator: u64,
    /// The index of the innermost function in [`Annotation::functions`].
    pub function: u32,
    /// The samples at the instruction.
    pub totals: Vec<SampleTotal>,
}

/// Where an instruction branches to, or what it uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnnotatedTarget {
    /// The address, as [`Annotation::start`].
    pub address: u64,
    /// The function or variable there; empty if it is not known.
    pub name: Arc<[u8]>,
    /// The offset in it.
    pub offset: u64,
    /// Whether it is a call.
    pub is_call: bool,
}

/// Branches that were recorded from one address to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnnotatedBranch {
    /// The address of the branch, as [`Annotation::start`]; `None` if it is in another function.
    pub from: Option<u64>,
    /// The address that it went to; `None` if it is in another function.
    pub to: Option<u64>,
    /// How often it was recorded.
    pub count: u64,
    /// How often it was mispredicted.
    pub mispredicted: u64,
    /// The sum of the cycles since the branch before it, of the branches that have them.
    pub cycles: u64,
    /// How many branches have cycles.
    pub timed: u64,
}

/// The samples that percentages are of, and the number that is compared.
///
/// perf: `enum annotation_data_percent_type`, `tools/perf/util/annotate.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PercentType {
    /// Whether percentages are of all samples of the capture (global), not of those in the function (local).
    pub of_capture: bool,
    /// Whether samples are counted (hits), not their periods.
    pub by_samples: bool,
}

impl PercentType {
    /// Returns its name in perf.
    #[must_use]
    pub fn name(self) -> &'static str {
        match (self.of_capture, self.by_samples) {
            (false, false) => "local period",
            (false, true) => "local hits",
            (true, false) => "global period",
            (true, true) => "global hits",
        }
    }

    /// Returns the number of a total that is compared.
    #[must_use]
    pub fn number(self, total: &SampleTotal) -> u64 {
        if self.by_samples { total.samples } else { total.period }
    }

    /// Returns the percentage that a total of an event is; 0 if the event has no samples.
    #[must_use]
    pub fn percent(self, event: &AnnotatedEvent, total: &SampleTotal) -> f64 {
        let all = if self.of_capture { &event.of_capture } else { &event.total };
        percent(self.number(total), self.number(all))
    }
}

impl Annotation {
    /// Returns the index of the instruction that has an address; `None` if none has.
    #[must_use]
    pub fn instruction_at(&self, address: u64) -> Option<usize> {
        let after = self.instructions.partition_point(|it| it.address <= address);
        let index = after.checked_sub(1)?;
        let it = self.instructions.get(index)?;
        (address - it.address < it.bytes.len() as u64).then_some(index)
    }
}
