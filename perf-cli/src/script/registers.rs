//! The registers of a sample.

use perf_abi::provisional::simd_regs::register_name;
use perf_abi::regs::{Arch, RegsAbi};
use perf_parse::sample::{Regs, SimdRegs};

use crate::perf_text::print::left_padded;
use crate::render::digits::{push_decimal, push_hex};
use crate::render::simd_regs::{Side, SimdRegNames, push_register};

/// Appends registers with their names; nothing if the task had none.
///
/// perf: `perf_sample__fprintf_regs`, `tools/perf/builtin-script.c`.
pub(super) fn push(out: &mut Vec<u8>, regs: &Regs<'_>, arch: Option<Arch>) {
    if regs.abi == RegsAbi::NONE {
        return;
    }
    out.extend_from_slice(b" ABI:");
    push_decimal(out, regs.abi.0);
    out.push(b' ');
    for (bit, value) in regs {
        let name = arch.and_then(|arch| register_name(arch, regs.abi, bit)).unwrap_or("unknown");
        left_padded(out, 5, |out| out.extend_from_slice(name.as_bytes()));
        out.push(b':');
        push_hex(out, value);
        out.push(b' ');
    }
}

/// Appends vector and predicate registers, which follow the others: `XMM0:0x...`. No release of perf prints them.
pub(super) fn push_simd(out: &mut Vec<u8>, regs: &SimdRegs<'_>, side: Side, names: SimdRegNames) {
    names.each(side, regs, |name, words| {
        left_padded(out, 5, |out| out.extend_from_slice(name.as_bytes()));
        out.push(b':');
        push_register(out, words);
        out.push(b' ');
    });
}
