//! The kernel's functions that save the registers of the code that they interrupted.

use std::ops::Range;

/// The addresses of the functions in which interrupts and exceptions enter the kernel.
///
/// The frame after such a function is the interrupted code. Its address is the next instruction, and not a return address.
#[derive(Clone, Debug, Default)]
pub(crate) struct InterruptEntries {
    /// Ordered, and apart from each other.
    ranges: Vec<Range<u64>>,
}

impl InterruptEntries {
    /// Chooses the entries among the symbols of a kernel.
    pub(crate) fn new<'a>(symbols: impl Iterator<Item = (&'a [u8], Range<u64>)>) -> Self {
        let mut found: Vec<_> = symbols.filter(|(name, _)| is_entry(name)).map(|(_, range)| range).collect();
        found.sort_unstable_by_key(|range| range.start);
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for range in found {
            match ranges.last_mut().filter(|last| range.start <= last.end) {
                Some(last) => last.end = last.end.max(range.end),
                None => ranges.push(range),
            }
        }
        Self { ranges }
    }

    /// Returns whether an instruction is in an entry.
    pub(crate) fn contains(&self, address: u64) -> bool {
        let after = self.ranges.partition_point(|range| range.start <= address);
        after.checked_sub(1).and_then(|last| self.ranges.get(last)).is_some_and(|range| address < range.end)
    }
}

/// Returns whether a function of a kernel enters it by an interrupt or an exception.
///
/// Kernel: `arch/x86/entry/entry_64.S`, `arch/x86/include/asm/idtentry.h`, `arch/arm64/kernel/entry.S`,
/// `arch/arm/kernel/entry-armv.S`, `arch/riscv/kernel/entry.S`, `arch/s390/kernel/entry.S`.
fn is_entry(name: &[u8]) -> bool {
    const STARTS: [&[u8]; 11] = [
        b"asm_exc_",
        b"asm_sysvec_",
        b"asm_common_interrupt",
        b"asm_spurious_interrupt",
        b"asm_xenpv_exc_",
        b"asm_fred_entrypoint_kernel",
        // arm64; the other ends of these names are `irq`, `fiq`, `sync` and `error`.
        b"el1h_64_",
        b"el1t_64_",
        b"el1_irq",
        b"el1_sync",
        b"el1_error",
    ];
    // One of these. The length decides about nearly all of the names of a kernel.
    let is_name = matches!(
        name,
        // The way back to what was interrupted, where an NMI may find the kernel.
        b"common_interrupt_return"
            | b"restore_regs_and_return_to_kernel"
            | b"error_return"
            | b"paranoid_exit"
            | b"native_irq_return_iret"
            // NMIs have entries within one function.
            | b"first_nmi"
            | b"repeat_nmi"
            | b"end_repeat_nmi"
            | b"nmi_no_fsgsbase"
            | b"nmi_swapgs"
            | b"nmi_restore"
            // x86 before Linux 5.8.
            | b"nmi"
            | b"common_interrupt"
            | b"ret_from_intr"
            | b"retint_kernel"
            | b"error_exit"
            | b"apic_timer_interrupt"
            | b"reschedule_interrupt"
            | b"call_function_interrupt"
            | b"call_function_single_interrupt"
            | b"irq_work_interrupt"
            | b"page_fault"
            | b"async_page_fault"
            | b"general_protection"
            | b"__irq_svc"
            | b"__dabt_svc"
            | b"__pabt_svc"
            | b"handle_exception"
            | b"pgm_check_handler"
            | b"io_int_handler"
            | b"ext_int_handler"
    );
    let is_handler = name.ends_with(b"_handler") && name.starts_with(b"el1");
    let may_start = matches!(name.first(), Some(b'a' | b'e'));
    is_name || may_start && !is_handler && STARTS.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_and_functions_that_they_call() {
        for name in ["asm_sysvec_apic_timer_interrupt", "asm_exc_page_fault", "end_repeat_nmi", "el1h_64_irq"]
        {
            assert!(is_entry(name.as_bytes()), "{name}");
        }
        for name in ["sysvec_apic_timer_interrupt", "asm_load_gs_index", "el1h_64_irq_handler", "exc_nmi"] {
            assert!(!is_entry(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn addresses_of_entries() {
        let symbols: [(&[u8], Range<u64>); 4] = [
            (b"asm_exc_page_fault", 0x40..0x60),
            (b"asm_exc_divide_error", 0x10..0x20),
            (b"asm_exc_overflow", 0x20..0x30),
            (b"entry_SYSCALL_64", 0x80..0x90),
        ];
        let entries = InterruptEntries::new(symbols.into_iter());
        let contained: Vec<_> = (0..=0x90).step_by(8).filter(|&ip| entries.contains(ip)).collect();
        assert_eq!(contained, [0x10, 0x18, 0x20, 0x28, 0x40, 0x48, 0x50, 0x58]);
        assert!(!InterruptEntries::default().contains(0));
    }
}
