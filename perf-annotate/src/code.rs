//! The bytes of a function: of its file, or of what has generated it.

mod bpf_programs;
mod jit_codes;
mod text_pokes;

pub(crate) use bpf_programs::{BpfLine, BpfPrograms};
pub(crate) use jit_codes::{JitCode, JitCodes, jitdump_of};
pub(crate) use text_pokes::TextPokes;
