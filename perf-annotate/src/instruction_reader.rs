//! The instructions at addresses of samples.

mod code_windows;

use std::ops::Range;
use std::sync::Arc;

use perf_parse::feature::Features;
use perf_profile::machine_of;
use perf_session::{DsoKind, Frame, SampleContext, Session};
use perf_symbol::{CodeMachine, FileBytes, FunctionCode, NoCode, Symbolizer, elf_machine};

use self::code_windows::{CodeWindow, CodeWindows, WindowKey};
use crate::code::{BpfPrograms, JitCode, JitCodes};
use crate::disassembly::{Disassembler, Instruction, LONGEST_INSTRUCTION};

/// Reads single instructions of processes and kernels, as many as there are samples.
///
/// Code is looked up once for a part of a file, and not once for an address. A clone is for another thread: it shares the code of
/// BPF programs, and looks up all other code on its own. What is read does not depend on the addresses before.
///
/// What the kernel wrote over its code while it was recorded (`TEXT_POKE`) is not applied.
///
/// # Examples
///
/// The instruction at the address of each sample:
///
/// ```
/// use perf_annotate::InstructionReader;
/// use perf_parse::Reader;
/// use perf_session::{Frame, Session};
/// use perf_symbol::Symbolizer;
///
/// # let path = "examples/captures/plain.data";
/// let reader = Reader::open(path)?;
/// let mut session = Session::new();
/// session.add_features(reader.features());
/// let mut symbolizer = Symbolizer::new(Default::default());
/// let mut instructions = InstructionReader::new(reader.features());
/// for record in reader.records().in_time_order() {
///     let record = record?;
///     let Some(at) = session.update_at(&record)? else { continue };
///     let ip = at.sample().ip().unwrap_or(0);
///     let frame = Frame { ip, mode: at.mode(), mapping: at.find(at.mode(), ip) };
///     if let Some(found) = instructions.read(&mut symbolizer, &at, &frame) {
///         println!("{ip:x}: {:02x?} {:?}", found.bytes(), found.disassemble());
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct InstructionReader {
    bpf: Arc<BpfPrograms>,
    jit: JitCodes,
    windows: CodeWindows,
    /// The machine of the kernel, and of code that it generates.
    machine: CodeMachine,
}

/// The bytes at an address, up to the end of the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InstructionBytes {
    address: u64,
    bytes: [u8; LONGEST_INSTRUCTION as usize],
    size: u8,
    machine: CodeMachine,
}

impl InstructionBytes {
    fn new(address: u64, code: &[u8], machine: CodeMachine, is_data: bool) -> Option<Self> {
        let disassembler = Disassembler::new(machine)?;
        let size = if is_data { None } else { disassembler.length(code, address) };
        let mut bytes = [0; LONGEST_INSTRUCTION as usize];
        bytes.iter_mut().zip(code).for_each(|(to, from)| *to = *from);
        Some(Self { address, bytes, size: size.unwrap_or(0), machine })
    }

    /// Returns the address of the instruction in the process.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Returns the bytes of the instruction; empty if there is code at the address, but no instruction: constants, bytes that the
    /// machine cannot execute, or only the start of an instruction.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.size)).unwrap_or_default()
    }

    /// Returns the instruction if it has no more than `size` bytes, and otherwise none.
    #[must_use]
    pub fn within(self, size: u64) -> Self {
        if u64::from(self.size) > size { Self { size: 0, ..self } } else { self }
    }

    /// Returns the text of the instruction, and what it does; `None` if there is none. Names are left to the caller.
    #[must_use]
    pub fn disassemble(&self) -> Option<Instruction> {
        // None is kept: a reader may move to another thread, and the formatter of x86 may not.
        Disassembler::new(self.machine)?.instructions(self.bytes(), self.address).next()
    }

    /// Returns what runs the instruction.
    #[must_use]
    pub fn machine(&self) -> CodeMachine {
        self.machine
    }
}

impl InstructionReader {
    /// Creates a reader for a capture with these features.
    #[must_use]
    pub fn new(features: &Features<'_>) -> Self {
        let machine = CodeMachine::of_elf(elf_machine(&machine_of(features)), false);
        Self::with(Arc::new(BpfPrograms::of(features)), machine)
    }

    fn with(bpf: Arc<BpfPrograms>, machine: CodeMachine) -> Self {
        Self { bpf, jit: JitCodes::default(), windows: CodeWindows::default(), machine }
    }

    /// Returns the instruction at the address of a frame; `None` if its code is not found, or is of a machine without
    /// [`Disassembler`].
    ///
    /// `at` is the sample that has the frame. Code of JIT compilers depends on its time if its clock is `CLOCK_MONOTONIC`, and is
    /// otherwise the code that was written last.
    pub fn read(
        &mut self,
        symbolizer: &mut Symbolizer,
        at: &SampleContext<'_, '_>,
        frame: &Frame<'_>,
    ) -> Option<InstructionBytes> {
        let session = at.session();
        if frame.mapping.is_some_and(|it| it.dso().kind() == DsoKind::Memory)
            && let Some(found) = self.jitted(symbolizer, at, frame)
        {
            return InstructionBytes::new(frame.ip, &found.bytes, found.machine, false);
        }
        let key = WindowKey::of(frame);
        if self.windows.find(&key).is_none() {
            if self.windows.is_missing(&key) {
                return None;
            }
            let Some((before, window)) = self.load(symbolizer, session, frame) else {
                self.windows.insert_missing(key);
                return None;
            };
            let start = WindowKey { offset: key.offset.wrapping_sub(before), ..key.clone() };
            self.windows.insert(start, window);
        }
        let (window, offset) = self.windows.find(&key)?;
        let bytes = window.bytes_at(offset)?;
        InstructionBytes::new(frame.ip, &bytes, window.machine, window.is_data(offset))
    }

    /// Returns the bytes at an address that a JIT compiler wrote to its jitdump.
    fn jitted(
        &mut self,
        symbolizer: &mut Symbolizer,
        at: &SampleContext<'_, '_>,
        frame: &Frame<'_>,
    ) -> Option<JitCode> {
        let offset = symbolizer.functions_at(at, frame, false).last()?.offset?;
        let is_monotonic = at.record().event().is_some_and(|event| event.attr.has_monotonic_times());
        let time = at.sample().time().filter(|_| is_monotonic);
        self.jit.code(symbolizer.finder(), at, (frame.ip, offset), time)
    }

    /// Returns a part of the code that has the address of a frame, and the number of bytes before the address.
    fn load(
        &self,
        symbolizer: &mut Symbolizer,
        session: &Session,
        frame: &Frame<'_>,
    ) -> Option<(u64, CodeWindow)> {
        let ip = frame.ip;
        let whole = window_of(frame);
        let before = ip.wrapping_sub(whole.start);
        let mut code = symbolizer.code(session, frame, whole.clone());
        if let Ok(found) = &code
            && found.bytes.len() as u64 > before
        {
            if !is_uniform(found.machine) {
                return arm_function(symbolizer, session, frame);
            }
            return Some((before, CodeWindow::new(code.ok()?)));
        }
        // A segment may start within the part, and the kernel's memory may end there.
        match code {
            Ok(_) | Err(NoCode::NotInFile) => code = symbolizer.code(session, frame, ip..whole.end),
            Err(NoCode::Kernel) => {
                code = symbolizer.code(session, frame, ip..ip.saturating_add(LONGEST_INSTRUCTION));
            }
            Err(_) => {}
        }
        match code {
            Ok(found) if !is_uniform(found.machine) => arm_function(symbolizer, session, frame),
            Ok(found) => Some((0, CodeWindow::new(found))),
            Err(NoCode::Generated) => {
                let (start, bytes) = self.bpf.code_at(ip)?;
                let bytes = FileBytes::new(bytes.to_vec());
                Some((ip.wrapping_sub(start), CodeWindow::of_function(bytes, self.machine)))
            }
            Err(_) => None,
        }
    }
}

impl Clone for InstructionReader {
    fn clone(&self) -> Self {
        Self::with(Arc::clone(&self.bpf), self.machine)
    }
}

/// Returns the addresses of the part of a file that has the address of a frame, and of the instruction that crosses its end.
fn window_of(frame: &Frame<'_>) -> Range<u64> {
    let ip = frame.ip;
    let mapped = frame.mapping.map_or(0, |it| it.range().start);
    let start = ip.saturating_sub(WindowKey::of(frame).offset % CodeWindow::SIZE).max(mapped).min(ip);
    start..start.saturating_add(CodeWindow::SIZE + LONGEST_INSTRUCTION)
}

/// Whether all code of a file is of the same machine. A32 and T32 change from function to function.
fn is_uniform(machine: CodeMachine) -> bool {
    !matches!(machine, CodeMachine::Arm | CodeMachine::Thumb)
}

/// Returns the code of the function of an address, or else of its instruction alone, and the number of bytes before the address.
fn arm_function(
    symbolizer: &mut Symbolizer,
    session: &Session,
    frame: &Frame<'_>,
) -> Option<(u64, CodeWindow)> {
    let ip = frame.ip;
    let function = symbolizer.functions(session, frame, false, None).last();
    let place = function.and_then(|it| it.offset.zip(it.size)).filter(|(offset, size)| offset < size);
    let (before, size) = place.unwrap_or((0, LONGEST_INSTRUCTION));
    let start = ip.checked_sub(before)?;
    let code: FunctionCode = symbolizer.code(session, frame, start..start.saturating_add(size)).ok()?;
    Some((before, CodeWindow::new_function(code)))
}
