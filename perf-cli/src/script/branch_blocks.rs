//! The instructions between the branches of a sample.

use perf_abi::branch::BranchFlags;
use perf_annotate::disassembly::Flow;
use perf_annotate::{InstructionBytes, InstructionReader};
use perf_parse::list::Branch;
use perf_parse::sample::BranchStack;
use perf_profile::Symbols;
use perf_session::SampleContext;

use super::ScriptEvent;
use super::fields::Fields;
use super::instruction_text::{frame_at, push_text};
use crate::escape::{print, push_hex as push_bytes};
use crate::names::file_name;
use crate::perf_text::print::push_name;

/// The greatest distance of the two ends of a block in bytes.
///
/// perf: `MAXBB` and `MAXINSN`, `tools/perf/builtin-script.c`.
const MAX_BLOCK: u64 = 16384 - MAX_INSTRUCTION;
const MAX_INSTRUCTION: u64 = 15;

/// The bytes that are searched for a branch if the sample is before the target of the last one.
const MISSING_BRANCH: u64 = 128;

/// The most instructions of one sample. Branches of a processor have some hundreds between them.
const MAX_INSTRUCTIONS: u32 = 1 << 16;

/// Width of a branch, before what is known of it.
const JUMP_WIDTH: usize = 30;

/// Appends the instructions that were executed before a sample: those between its branches, the oldest first, and those after the
/// last branch.
///
/// perf: `perf_sample__fprintf_brstackinsn`, `tools/perf/builtin-script.c`.
pub(super) fn push(
    out: &mut Vec<u8>,
    at: &SampleContext<'_, '_>,
    stack: &BranchStack<'_>,
    known: &ScriptEvent,
    names: &mut Symbols,
    reader: &mut InstructionReader,
) {
    let entries: Vec<_> = stack.entries.iter().collect();
    let Some((newest, oldest)) = entries.first().zip(entries.last()) else { return };
    out.push(b'\n');
    let mut printer = BlockPrinter { out, at, known, names, reader, symbol: 0..0, cycles: 0, count: 0 };
    printer.push_first(oldest);
    printer.push_blocks(&entries);
    if at.sample().ip() != Some(newest.from) && !newest.flags.contains(BranchFlags::ABORT) {
        printer.push_last(newest.to, at.sample().ip().unwrap_or(0));
    }
    if printer.is_cut() {
        print(printer.out, format_args!("\t... more than {MAX_INSTRUCTIONS} instructions ...\n"));
    }
}

/// Code from the target of a branch to the next branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Code,
    /// It is not found, or longer than any that is executed between two branches.
    Missing,
    /// It starts in the kernel and ends in the process, or the other way round.
    CrossesKernel,
}

/// Prints the instructions of a sample.
struct BlockPrinter<'a, 's, 'r> {
    out: &'a mut Vec<u8>,
    at: &'a SampleContext<'s, 'r>,
    known: &'a ScriptEvent,
    names: &'a mut Symbols,
    reader: &'a mut InstructionReader,
    /// The addresses of the function that was named last.
    symbol: core::ops::Range<u64>,
    /// The cycles of all blocks so far.
    cycles: u64,
    /// Number of instructions, up to the first that is not printed.
    count: u32,
}

impl BlockPrinter<'_, '_, '_> {
    /// Appends the oldest branch, whose block is not known.
    fn push_first(&mut self, oldest: &Branch) {
        if self.block(oldest.from, oldest.from) == Block::Code {
            self.push_symbol(oldest.from);
            self.push_jump(oldest, 0);
        }
    }

    fn push_blocks(&mut self, entries: &[Branch]) {
        let mut older_first = entries.iter().rev();
        let Some(mut before) = older_first.next() else { return };
        while let Some(mut branch) = older_first.next() {
            let start = before.to;
            let mut block = self.block(start, branch.from);
            // Filters may leave out branches into the kernel, and have those that leave it.
            if block == Block::CrossesKernel
                && let Some(next) = older_first.next()
            {
                branch = next;
                block = self.block(start, branch.from);
            }
            if block == Block::Code && !self.is_cut() {
                self.push_block(start, branch);
            }
            before = branch;
        }
    }

    fn push_block(&mut self, start: u64, branch: &Branch) {
        let length = branch.from.wrapping_sub(start);
        let (mut offset, mut instructions) = (0, 0);
        while offset < length + MAX_INSTRUCTION && self.take() {
            let ip = start.wrapping_add(offset);
            let Some(found) = self.read(ip, length + MAX_INSTRUCTION - offset) else { break };
            instructions += 1;
            self.push_symbol(ip);
            if offset == length {
                self.push_jump(branch, instructions);
                break;
            }
            self.push_instruction(&found);
            if found.bytes().is_empty() {
                break;
            }
            offset += found.bytes().len() as u64;
        }
        if offset != length && !self.is_cut() {
            self.out.extend_from_slice(b"\tmismatch of LBR data and executable\n");
        }
    }

    /// Appends what was executed from the target of the last branch to the address of the sample. If branches between them are
    /// missing, ends at the next branch.
    fn push_last(&mut self, start: u64, ip: u64) {
        let end = if ip < start { start.wrapping_add(MISSING_BRANCH) } else { ip };
        let block = self.block(start, end);
        self.push_symbol(start);
        if block != Block::Code {
            if self.block(ip, ip) == Block::Code
                && self.take()
                && let Some(found) = self.read(ip, MAX_INSTRUCTION)
            {
                self.push_instruction(&found);
            }
            return;
        }
        let length = end.wrapping_sub(start);
        let mut offset = 0;
        while offset <= length && self.take() {
            let at = start.wrapping_add(offset);
            let Some(found) = self.read(at, length + MAX_INSTRUCTION - offset) else { break };
            self.push_instruction(&found);
            if found.bytes().is_empty() {
                break;
            }
            let flow = found.disassemble().map(|it| it.flow);
            if flow.is_some_and(|flow| flow != Flow::Next) && at != ip {
                self.out.extend_from_slice(b"\t... not reaching sample ...\n");
                break;
            }
            offset += found.bytes().len() as u64;
        }
    }

    /// Finds the code of a block.
    ///
    /// perf: `grab_bb`.
    fn block(&mut self, start: u64, end: u64) -> Block {
        if start == 0 || end == 0 {
            Block::Missing
        } else if self.is_kernel(start) != self.is_kernel(end) {
            Block::CrossesKernel
        } else if end.wrapping_sub(start) > MAX_BLOCK || self.read(start, MAX_INSTRUCTION).is_none() {
            Block::Missing
        } else {
            Block::Code
        }
    }

    fn is_kernel(&self, addr: u64) -> bool {
        const HALF: u64 = 1 << 63;
        self.at.find_data(addr).map_or(addr >= HALF, |it| it.dso().kind().is_kernel())
    }

    /// Counts an instruction, and returns whether it is printed.
    fn take(&mut self) -> bool {
        self.count = self.count.saturating_add(1);
        !self.is_cut()
    }

    fn is_cut(&self) -> bool {
        self.count > MAX_INSTRUCTIONS
    }

    /// Returns the instruction at an address, which is none if it has more bytes than `size`.
    fn read(&mut self, ip: u64, size: u64) -> Option<InstructionBytes> {
        let frame = frame_at(self.at, ip);
        let found = self.reader.read(self.names.symbolizer_mut()?, self.at, &frame)?;
        Some(found.within(size))
    }

    /// Appends the function of an address, unless the last one has the address too.
    ///
    /// perf: `ip__fprintf_sym`.
    fn push_symbol(&mut self, ip: u64) {
        if self.symbol.contains(&ip) {
            return;
        }
        let functions = self.names.functions(self.at, &frame_at(self.at, ip), false);
        let Some((innermost, function)) = functions.first().zip(functions.last()) else { return };
        let Some((name, offset)) = function.name.as_deref().zip(function.offset) else { return };
        let start = ip.wrapping_sub(offset);
        self.symbol = start..start.saturating_add(function.size.unwrap_or(0));
        self.out.push(b'\t');
        push_name(self.out, name);
        if offset != 0 {
            print(self.out, format_args!("+{offset}"));
        }
        self.out.push(b':');
        if self.known.fields.has(Fields::SRCLINE)
            && let Some((path, line)) = innermost.file.as_deref().zip(innermost.line)
        {
            self.out.push(b'\t');
            push_name(self.out, file_name(path));
            print(self.out, format_args!(":{line}"));
        }
        self.out.push(b'\n');
    }

    /// Appends an instruction on a line of its own.
    fn push_instruction(&mut self, it: &InstructionBytes) {
        self.push_address(it.address());
        self.push_code(it);
        if self.known.fields.has(Fields::BRSTACKINSNLEN) {
            print(self.out, format_args!("\tilen: {}", it.bytes().len()));
        }
        self.out.push(b'\n');
    }

    /// Appends a branch; `instructions` is the number of those in its block.
    ///
    /// perf: `ip__fprintf_jump`.
    fn push_jump(&mut self, branch: &Branch, instructions: u32) {
        let Some(found) = self.read(branch.from, MAX_INSTRUCTION) else { return };
        self.push_address(branch.from);
        let start = self.out.len();
        self.push_code(&found);
        self.out.resize(self.out.len().max(start + JUMP_WIDTH), b' ');
        self.out.push(b'\t');
        if self.known.fields.has(Fields::BRSTACKINSNLEN) {
            print(self.out, format_args!("ilen: {}\t", found.bytes().len()));
        }
        self.out.push(b'#');
        let names = [
            (BranchFlags::PREDICTED, " PRED"),
            (BranchFlags::MISPRED, " MISPRED"),
            (BranchFlags::IN_TX, " INTX"),
            (BranchFlags::ABORT, " ABORT"),
        ];
        for (_, name) in names.into_iter().filter(|(flag, _)| branch.flags.contains(*flag)) {
            self.out.extend_from_slice(name.as_bytes());
        }
        let cycles = branch.flags.cycles();
        if cycles != 0 {
            self.cycles += u64::from(cycles);
            print(self.out, format_args!(" {cycles} cycles [{}]", self.cycles));
            if instructions != 0 {
                print(self.out, format_args!(" {:.2} IPC", instructions as f32 / f32::from(cycles)));
            }
        }
        self.out.push(b'\n');
    }

    fn push_address(&mut self, ip: u64) {
        self.out.push(b'\t');
        push_bytes(self.out, &ip.to_be_bytes());
        self.out.push(b'\t');
    }

    /// Appends the bytes or the text of an instruction.
    ///
    /// perf: `dump_insn`, `tools/perf/util/intel-pt-decoder/intel-pt-insn-decoder.c`.
    fn push_code(&mut self, it: &InstructionBytes) {
        if it.bytes().is_empty() {
            self.out.extend_from_slice(b"<bad>");
        } else if self.known.fields.has(Fields::BRSTACKDISASM) {
            push_text(self.out, self.at, it, self.names);
        } else {
            self.out.extend_from_slice(b"insn: ");
            for byte in it.bytes() {
                push_bytes(self.out, &[*byte]);
                self.out.push(b' ');
            }
        }
    }
}
