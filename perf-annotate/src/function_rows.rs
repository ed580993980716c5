//! The rows of a function: instructions, lines, inlined functions and their samples.

mod functions;
mod sources;
mod targets;

use std::ops::Range;
use std::sync::Arc;

use perf_abi::record::CpuMode;
use perf_profile::SampleTotal;
use perf_profile::annotation::{AnnotatedInstruction, Annotation};
use perf_session::{Dso, DsoKind, Frame, Session};
use perf_symbol::{CodeMachine, CodeOrigin, FunctionCode, NoCode, Symbolizer};

use crate::code::{BpfLine, BpfPrograms, JitCode, JitCodes};
use crate::disassembly::Disassembler;
use crate::no_annotation::NoAnnotation;
use crate::options::AnnotateOptions;
use crate::pass::AddressCounts;
use crate::sampled_function::SampledFunction;
use crate::source::SourceFinder;

/// What the rows of a function are made of.
pub(crate) struct FunctionRows<'a> {
    pub(crate) session: &'a Session,
    pub(crate) symbolizer: &'a mut Symbolizer,
    pub(crate) counts: &'a AddressCounts,
    pub(crate) function: &'a SampledFunction,
    pub(crate) bpf: &'a BpfPrograms,
    pub(crate) jit: &'a mut JitCodes,
    pub(crate) sources: &'a mut SourceFinder,
    pub(crate) options: &'a AnnotateOptions,
    /// The machine of the kernel.
    pub(crate) machine: CodeMachine,
}

/// Where a function was in a process.
#[derive(Clone, Debug)]
struct PlaceInProcess<'a> {
    /// The frame of one of its samples.
    frame: Frame<'a>,
    /// Its addresses.
    range: Range<u64>,
    dso: &'a Arc<Dso>,
    /// The time of its last sample.
    last: Option<u64>,
}

impl PlaceInProcess<'_> {
    /// Returns the frame at another address of the function.
    fn at(&self, offset: u64) -> Frame<'_> {
        Frame { ip: self.range.start.wrapping_add(offset), ..self.frame }
    }
}

impl<'a> FunctionRows<'a> {
    /// Makes the annotation, but for what only the [`Annotator`](crate::Annotator) knows.
    ///
    /// # Errors
    ///
    /// If there is no code, or of a machine that is not known.
    pub(crate) fn annotation(&mut self) -> Result<Annotation, NoAnnotation> {
        let place = self.place()?;
        let (code, lines) = self.code(&place)?;
        let mut annotation = Annotation::default();
        annotation.symbol = Arc::clone(&self.function.name);
        annotation.guess = self.function.guess;
        annotation.dso = Arc::clone(&self.function.dso);
        annotation.build_id = self.session.build_id(place.dso);
        annotation.origin = code.origin;
        annotation.start = code.start;
        annotation.end = code.start.wrapping_add(code.bytes.len() as u64);
        self.disassemble(&code, &mut annotation)?;
        self.count(&mut annotation);
        self.add_functions(&place, &lines, &mut annotation);
        let embedded = self.add_statements(&place, &mut annotation);
        self.add_texts(&embedded, &lines, &mut annotation);
        self.name_targets(&place, &code, &mut annotation);
        let offset = place.frame.mapping.map_or(place.range.start, |it| it.offset_of(place.range.start));
        let offsets = offset..offset.wrapping_add(code.bytes.len() as u64);
        annotation.branches = self.counts.branches.of_function(place.dso, &offsets, code.start);
        Ok(annotation)
    }

    /// Returns where the function was when its first sample was taken.
    fn place(&self) -> Result<PlaceInProcess<'a>, NoAnnotation> {
        let (counts, function) = (self.counts, self.function);
        let number = *function.frames.first().ok_or(NoAnnotation::NoFunction)?;
        let (frame, _) = counts.frames.frame(number).ok_or(NoAnnotation::NoFunction)?;
        let location = counts.frames.location(number).ok_or(NoAnnotation::NoFunction)?;
        let dso = counts.frames.dso_of(number).ok_or(NoAnnotation::NoFunction)?;
        let size = function.size.filter(|&size| size > 0).ok_or(NoAnnotation::NoSize)?;
        let start = frame.ip.wrapping_sub(location.offset.wrapping_sub(function.start));
        let size = size.min(self.options.limits.code);
        let end = start.checked_add(size).ok_or(NoAnnotation::NoCode(NoCode::NotInFile))?;
        let last = |frame: &u32| counts.last.get(*frame as usize).copied().flatten();
        let last = function.frames.iter().filter_map(last).max();
        Ok(PlaceInProcess { frame, range: start..end, dso, last })
    }

    /// Returns the code, and the lines of a BPF program.
    fn code(&mut self, place: &PlaceInProcess<'_>) -> Result<(FunctionCode, Vec<BpfLine>), NoAnnotation> {
        let range = place.range.clone();
        let found = self.symbolizer.code(self.session, &place.frame, range);
        let is_kernel = matches!(place.frame.mode, CpuMode::KERNEL);
        let (mut code, lines) = match (found, place.dso.kind()) {
            (Ok(code), _) => (code, Vec::new()),
            (Err(NoCode::Generated), DsoKind::Memory) => (self.jitted(place)?, Vec::new()),
            (Err(NoCode::Generated), _) => match self.bpf.code(place.range.start) {
                Some((bytes, lines)) => {
                    (self.generated(place, bytes.to_vec(), None, CodeOrigin::BpfProgram), lines.to_vec())
                }
                None => (self.written(place)?, Vec::new()),
            },
            (Err(why), _) => match self.counts.pokes.written(&place.range, place.last) {
                Some(bytes) if is_kernel => {
                    (self.generated(place, bytes, None, CodeOrigin::TextPoke), Vec::new())
                }
                _ => return Err(NoAnnotation::NoCode(why)),
            },
        };
        if is_kernel && code.origin != CodeOrigin::TextPoke {
            let mut bytes = code.bytes.to_vec();
            if self.counts.pokes.apply(place.range.start, &mut bytes, place.last) {
                code.bytes = perf_symbol::FileBytes::new(bytes);
            }
        }
        Ok((code, lines))
    }

    /// Returns the code that a JIT compiler wrote to its jitdump.
    fn jitted(&mut self, place: &PlaceInProcess<'_>) -> Result<FunctionCode, NoAnnotation> {
        let dump = self.counts.jitdumps.get(&Arc::as_ptr(place.dso).addr());
        let dump = dump.ok_or(NoAnnotation::NoJitdump(None))?;
        let found = self.jit.function(self.symbolizer.finder(), dump, place.range.start, place.last);
        let found = found.map_err(|why| NoAnnotation::NoJitdump(Some(why)))?;
        let JitCode { bytes, machine } = found.ok_or(NoAnnotation::NoJitdump(None))?;
        let size = usize::try_from(place.range.end - place.range.start).unwrap_or(usize::MAX);
        let bytes = bytes.get(..size).unwrap_or(&bytes).to_vec();
        Ok(self.generated(place, bytes, Some(machine), CodeOrigin::Jitdump))
    }

    /// Returns code that the kernel generated.
    fn written(&self, place: &PlaceInProcess<'_>) -> Result<FunctionCode, NoAnnotation> {
        let bytes = self.counts.pokes.written(&place.range, place.last);
        let why = match place.dso.kind() {
            DsoKind::Ksymbol(kind) if kind == perf_abi::ksymbol::KsymbolType::BPF => NoAnnotation::NoBpfCode,
            _ => NoAnnotation::NoKernelCode,
        };
        Ok(self.generated(place, bytes.ok_or(why)?, None, CodeOrigin::TextPoke))
    }

    fn generated(
        &self,
        place: &PlaceInProcess<'_>,
        bytes: Vec<u8>,
        machine: Option<CodeMachine>,
        origin: CodeOrigin,
    ) -> FunctionCode {
        FunctionCode::generated(place.range.start, bytes, machine.unwrap_or(self.machine), origin)
    }

    fn disassemble(&self, code: &FunctionCode, to: &mut Annotation) -> Result<(), NoAnnotation> {
        let mut disassembler = Disassembler::new(code.machine).ok_or(NoAnnotation::Machine(code.machine))?;
        disassembler = disassembler.with_syntax(self.options.syntax);
        let bytes = &*code.bytes;
        let mut at = 0;
        // Constants between the instructions are none.
        for data in code.data.iter().chain([&(to.end..to.end)]) {
            let start = usize::try_from(data.start.saturating_sub(code.start)).unwrap_or(usize::MAX);
            let end = usize::try_from(data.end.saturating_sub(code.start)).unwrap_or(usize::MAX);
            if let Some(part) = bytes.get(at..start.min(bytes.len())) {
                let address = code.start.wrapping_add(at as u64);
                to.instructions.extend(
                    disassembler.instructions(part, address).map(|it| targets::instruction(it, code)),
                );
            }
            at = start.min(bytes.len());
            if let Some(part) = bytes.get(at..end.min(bytes.len())) {
                targets::push_data(part, code.start.wrapping_add(at as u64), &mut to.instructions);
                at = end.min(bytes.len()).max(at);
            }
        }
        Ok(())
    }

    /// Counts the samples at each instruction.
    fn count(&self, to: &mut Annotation) {
        let order = self.counts.event_order(&self.function.totals);
        for it in &mut to.instructions {
            it.totals = vec![SampleTotal::default(); order.len()];
        }
        let function_offset = self.function.start;
        for &frame in &self.function.frames {
            let Some(location) = self.counts.frames.location(frame) else { continue };
            let address = to.start.wrapping_add(location.offset.wrapping_sub(function_offset));
            let Some(index) = to.instruction_at(address) else { continue };
            let Some(instruction) = to.instructions.get_mut(index) else { continue };
            for (total, &event) in instruction.totals.iter_mut().zip(&order) {
                total.add(self.counts.totals.get(&(event, frame)).copied().unwrap_or_default());
            }
        }
    }
}

/// Adds the totals of an instruction to those of its line or function.
fn add_totals(to: &mut Vec<SampleTotal>, instruction: &AnnotatedInstruction) {
    to.resize(instruction.totals.len(), SampleTotal::default());
    to.iter_mut().zip(&instruction.totals).for_each(|(to, total)| to.add(*total));
}
