//! The machine code of BPF programs, and the lines that it comes from.
//!
//! perf: `symbol__disassemble_bpf`, `tools/perf/util/annotate.c`. Kernel: `struct bpf_line_info`, `include/uapi/linux/bpf.h`.

use std::ops::Range;
use std::sync::Arc;

use perf_abi::endian::{ByteOrder as _, Endianness};
use perf_parse::feature::{BpfProgInfo, Features};

/// The functions of BPF programs that a capture has the code of.
#[derive(Debug, Default)]
pub(crate) struct BpfPrograms(Vec<BpfFunction>);

#[derive(Debug)]
struct BpfFunction {
    range: Range<u64>,
    code: Box<[u8]>,
    lines: Vec<BpfLine>,
}

/// The line from which on code was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BpfLine {
    /// The address of the code.
    pub(crate) address: u64,
    /// Path of the source.
    pub(crate) file: Arc<[u8]>,
    /// The line, from 1 on.
    pub(crate) line: u32,
    /// The column, from 1 on.
    pub(crate) column: u32,
    /// The text of the line, which the program brings along.
    pub(crate) text: Arc<[u8]>,
}

impl BpfPrograms {
    /// Copies the code and the lines of the programs of a capture.
    pub(crate) fn of(features: &Features<'_>) -> Self {
        let mut functions = Vec::new();
        let Ok(Some(programs)) = features.bpf_prog_info() else { return Self::default() };
        let btfs: Vec<_> = features.bpf_btf().ok().flatten().into_iter().flat_map(|all| all.iter()).collect();
        for program in programs.iter() {
            let strings = program
                .btf_id()
                .and_then(|id| btfs.iter().find(|btf| btf.id == id))
                .and_then(|btf| strings_of(&program, btf.bytes));
            add(&program, strings.unwrap_or_default(), &mut functions);
        }
        Self(functions)
    }

    /// Returns the code of a function, and its lines in the order of their addresses.
    pub(crate) fn code(&self, start: u64) -> Option<(&[u8], &[BpfLine])> {
        let function = self.0.iter().find(|it| it.range.start == start)?;
        Some((&function.code, &function.lines))
    }

    /// Returns the first address and the code of the function that has an address.
    pub(crate) fn code_at(&self, address: u64) -> Option<(u64, &[u8])> {
        let function = self.0.iter().find(|it| it.range.contains(&address))?;
        Some((function.range.start, &function.code))
    }
}

fn add(program: &BpfProgInfo<'_>, strings: &[u8], functions: &mut Vec<BpfFunction>) {
    let (Some(code), Some(starts), Some(sizes)) =
        (program.jited_prog_insns(), program.jited_ksyms(), program.jited_func_lens())
    else {
        return;
    };
    let mut lines: Vec<BpfLine> = program
        .lines()
        .map(|(address, it)| BpfLine {
            address,
            file: text_at(strings, it.file_name_off).into(),
            line: it.line_col >> 10,
            column: it.line_col & 0x3ff,
            text: text_at(strings, it.line_off).into(),
        })
        .filter(|it| it.line != 0)
        .collect();
    lines.sort_by_key(|it| it.address);
    let mut rest = code;
    for (start, size) in starts.iter().zip(sizes.iter()) {
        let Some((of_function, after)) =
            usize::try_from(size).ok().and_then(|size| rest.split_at_checked(size))
        else {
            return;
        };
        rest = after;
        let range = start..start.saturating_add(u64::from(size));
        let within = lines.iter().filter(|it| range.contains(&it.address)).cloned().collect();
        functions.push(BpfFunction { range, code: of_function.into(), lines: within });
    }
}

/// Returns the text at an offset in the strings of BTF.
fn text_at(strings: &[u8], offset: u32) -> &[u8] {
    let rest = usize::try_from(offset).ok().and_then(|offset| strings.get(offset..)).unwrap_or_default();
    rest.split(|&byte| byte == 0).next().unwrap_or_default()
}

/// Returns the strings of BTF.
///
/// Kernel: `struct btf_header`, `include/uapi/linux/btf.h`.
fn strings_of<'a>(program: &BpfProgInfo<'_>, btf: &'a [u8]) -> Option<&'a [u8]> {
    let word = |at: usize| {
        let bytes: [u8; 4] = *btf.get(at..)?.first_chunk()?;
        usize::try_from(Endianness::u32(program.endianness, bytes)).ok()
    };
    let (header, offset, size) = (word(4)?, word(16)?, word(20)?);
    let start = header.checked_add(offset)?;
    btf.get(start..start.checked_add(size)?)
}
