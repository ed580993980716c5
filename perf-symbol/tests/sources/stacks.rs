//! The frames of call chains, by the symbols of the kernel.

use perf_parse::Reader;
use perf_parse::abi::attr::Attr;
use perf_parse::abi::branch::BranchSampleType;
use perf_parse::abi::endian::Endianness;
use perf_parse::abi::regs::Arch;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::event::Events;
use perf_session::Session;
use perf_symbol::{StackFinder, Symbolizer};

use crate::elf::{Elf, FUNC, SYMTAB};
use crate::{KERNEL, Memory, Records, options, shown, symbolizer};

const TEXT: u64 = 0xffff_ffff_9000_0000;
const CODE: u64 = 0x40_0000;
/// Context markers.
const OF_KERNEL: u64 = -128_i64 as u64;
const OF_USER: u64 = -512_i64 as u64;

/// As Linux 6.1 has them: without padding before functions.
const KALLSYMS: &str = "ffffffff90000000 T _text
ffffffff90001000 T asm_sysvec_apic_timer_interrupt
ffffffff90001020 T asm_load_gs_index
ffffffff90002000 t sysvec_apic_timer_interrupt
ffffffff90003000 t before
ffffffff90003010 t ___pte_offset_map
ffffffff90004000 t __x64_sys_exit_group
ffffffff90005000 T do_group_exit
ffffffff90005010 T next
ffffffff90006000 T _etext
ffffffff91000000 T start_kernel
";

/// Returns the stack of a sample as `FUNCTION+OFFSET FILE`, innermost first. `branches` are from and to of each.
fn stack(kallsyms: &str, chain: &[u64], branches: Option<&[(u64, u64)]>) -> Vec<String> {
    let mut attr =
        Attr { sample_type: SampleType::IP | SampleType::TID | SampleType::CALLCHAIN, ..Attr::default() };
    let ip = chain.get(1).copied().unwrap_or(0);
    let mut payload = Records::bytes().u64(ip).i32(5).i32(5).u64(chain.len() as u64).u64s(chain);
    if let Some(branches) = branches {
        attr.sample_type |= SampleType::BRANCH_STACK;
        attr.branch_sample_type = BranchSampleType::CALL_STACK | BranchSampleType::USER;
        payload = payload.u64(branches.len() as u64);
        payload = branches.iter().fold(payload, |it, &(from, to)| it.u64s(&[from, to, 0]));
    }
    let records = Records::default()
        .kernel(TEXT, 0x6000, TEXT, "[kernel.kallsyms]_text")
        .map(5, CODE, 0x1000, &[], "/a")
        .record(9, KERNEL, payload);
    let events: Events = [(attr, vec![])].into_iter().collect();
    let functions = [(FUNC, 0x10, 0x10, "f"), (FUNC, 0x20, 0x10, "g"), (FUNC, 0x30, 0x10, "__restore_rt")];
    let files =
        Memory::default().with("/copy", kallsyms).with("/a", Elf::new(0).symbols(SYMTAB, &functions).build());
    let mut options = options();
    options.kallsyms = Some("/copy".into());
    let mut symbolizer = Symbolizer::with_files(options, std::sync::Arc::new(files));
    let mut stacks = StackFinder::new(Arch::X86, 127, symbolizer.finder().clone()).with_symbols(&symbolizer);
    let mut session = Session::new();
    let mut names = Vec::new();
    for record in Reader::from_records(events, Endianness::Little, &records.0).records() {
        let record = record.unwrap();
        let Some(at) = session.update_at(&record).unwrap() else { continue };
        let mut frames = Vec::new();
        stacks.push(&at, None, &mut frames).unwrap();
        for it in frames {
            let name = symbolizer.functions(at.session(), &it.frame, it.is_caller, None).last().map(shown);
            let file = it.frame.mapping.map_or("?".into(), |it| it.dso().name().escape_ascii().to_string());
            names.push(format!("{} {file}", name.unwrap_or_else(|| "?".into())));
        }
    }
    names
}

/// The address after that of an interrupt's entry is the next instruction of what was interrupted. perf, which takes all
/// addresses of a chain for exact ones, prints `___pte_offset_map+0x0` too.
#[test]
fn an_interrupt_came_before_the_first_byte_of_a_function() {
    let found =
        stack(KALLSYMS, &[OF_KERNEL, TEXT + 0x2010, TEXT + 0x1010, TEXT + 0x3010, TEXT + 0x4010], None);
    let expected = [
        "sysvec_apic_timer_interrupt+0x10 kallsyms [kernel.kallsyms]",
        "asm_sysvec_apic_timer_interrupt+0x10 kallsyms [kernel.kallsyms]",
        "___pte_offset_map+0x0 kallsyms [kernel.kallsyms]",
        "__x64_sys_exit_group+0x10 kallsyms [kernel.kallsyms]",
    ];
    assert_eq!(found, expected);
    // In the entry itself, before its first instruction.
    let found = stack(KALLSYMS, &[OF_KERNEL, TEXT + 0x1000, TEXT + 0x3010], None);
    assert_eq!(found[1], "___pte_offset_map+0x0 kallsyms [kernel.kallsyms]");
}

/// `do_group_exit` ends with the call of `do_exit`, which does not return.
#[test]
fn a_call_is_the_last_instruction_of_a_function() {
    let found = stack(KALLSYMS, &[OF_KERNEL, TEXT + 0x2010, TEXT + 0x5010, TEXT + 0x4010], None);
    assert_eq!(found[1], "do_group_exit+0x10 kallsyms [kernel.kallsyms]");
    // The function before is none in which interrupts enter.
    let found = stack(KALLSYMS, &[OF_KERNEL, TEXT + 0x1030, TEXT + 0x5010], None);
    assert_eq!(found[1], "do_group_exit+0x10 kallsyms [kernel.kallsyms]");
}

/// A retpoline has the address of the function that it is about to enter on the stack.
#[test]
fn no_call_is_in_the_padding_before_a_function() {
    let text = "ffffffff90000000 T _text\nffffffff90002000 T __x86_indirect_thunk_rax\n\
        ffffffff90003000 t __pfx_f\nffffffff90003010 t f\n";
    let found = stack(text, &[OF_KERNEL, TEXT + 0x2010, TEXT + 0x3010], None);
    assert_eq!(found[1], "f+0x0 kallsyms [kernel.kallsyms]");
    let found = stack(text, &[OF_KERNEL, TEXT + 0x2010, TEXT + 0x3020], None);
    assert_eq!(found[1], "f+0x10 kallsyms [kernel.kallsyms]");
}

#[test]
fn the_code_below_a_system_call_was_about_to_run() {
    let found = stack(KALLSYMS, &[OF_KERNEL, TEXT + 0x4010, OF_USER, CODE + 0x20, CODE + 0x20], None);
    assert_eq!(found[1..], ["g+0x0 symtab /a", "f+0x10 symtab /a"]);
}

#[test]
fn a_signal_handler_returns_to_no_call() {
    let found = stack(KALLSYMS, &[OF_USER, CODE + 0x10, CODE + 0x30, CODE + 0x20], None);
    assert_eq!(found, ["f+0x0 symtab /a", "__restore_rt+0x0 symtab /a", "f+0x10 symtab /a"]);
}

/// Branch records have the addresses of calls, and not those after them.
#[test]
fn calls_of_branch_records_are_exact() {
    let found = stack(KALLSYMS, &[OF_USER, CODE + 0x18], Some(&[(CODE + 0x20, CODE + 0x10)]));
    assert_eq!(found, ["f+0x0 symtab /a", "g+0x0 symtab /a"]);
}

/// perf: `map__fixup_end`.
#[test]
fn addresses_after_the_recorded_text_are_the_kernels() {
    let after = TEXT + 0x100_0000;
    let found = stack(KALLSYMS, &[OF_KERNEL, TEXT + 0x2010, after + 0x44, TEXT + 0x2000_0000], None);
    assert_eq!(found[1..], ["start_kernel+0x44 kallsyms [kernel.kallsyms]", "? ?"]);
    assert_eq!(stack("", &[OF_KERNEL, after], None), ["? ?"]);
}

/// Symbols that only tell of stacks are no file that names were looked for in.
#[test]
fn symbols_of_stacks_are_not_looked_for() {
    let it = symbolizer(Memory::default());
    drop(StackFinder::new(Arch::X86, 127, it.finder().clone()).with_symbols(&it));
    assert!(it.lookups().is_empty());
}
