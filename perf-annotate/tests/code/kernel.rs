//! Code of the kernel and its modules.

use perf_symbol::CodeOrigin;
use testdata::Bytes;
use testdata::elf::{Elf, TEXT};

use crate::recording::{KERNEL, Memory, Recording};
use crate::{FIRST, annotated, lines};

/// Where the kernel was: vmlinux is at [`TEXT`].
const KERNEL_TEXT: u64 = 0xffff_ffff_9000_0000;
const MODULE: u64 = 0xffff_ffff_c000_0000;

fn vmlinux() -> Vec<u8> {
    let mut elf = Elf::new(62, true).code(0x100, &FIRST);
    elf.functions = vec![("_text", 0, 0x10), ("entry", 0x100, 11)];
    elf.build()
}

fn recording() -> Recording {
    let mut recording =
        Recording::new().kernel(KERNEL_TEXT, 0x100_0000, KERNEL_TEXT, "[kernel.kallsyms]_text");
    recording.options.vmlinux = Some("/vmlinux".into());
    recording
}

const KALLSYMS: &str = "ffffffff90000000 T _text\nffffffff90000100 T entry\nffffffff9000010b T after\n";

/// The memory of a kernel: one segment, with `entry`.
fn kcore(address: u64) -> Vec<u8> {
    let head = Bytes::new(false).raw(b"\x7fELF\x02\x01\x01").zeros(9).u16(4).u16(62).u32(1).u64(0);
    let head = head.u64(64).u64(0).u32(0).u16(64).u16(56).u16(1).u16(0).u16(0).u16(0);
    let segment = head.u32(1).u32(7).u64s(&[120, address, 0, 0x200, 0x200, 0x1000]);
    segment.zeros(0x100).raw(&FIRST).zeros(0xf0).out
}

#[test]
fn vmlinux_at_another_address() {
    let recording = recording().sample(KERNEL, KERNEL_TEXT + 0x101, 2);
    let entry =
        annotated(&mut recording.annotator(Memory::default().with("/vmlinux", vmlinux())), "entry").unwrap();
    assert_eq!((entry.start, entry.origin), (TEXT + 0x100, CodeOrigin::File));
    assert_eq!(lines(&entry)[1], "5101 mov    %rsp,%rbp [1]");
}

#[test]
fn the_memory_that_was_copied_with_the_capture() {
    let mut recording = recording().sample(KERNEL, KERNEL_TEXT + 0x104, 2);
    recording.options.vmlinux = None;
    recording.options.kallsyms = Some("/kallsyms".into());
    let files = || Memory::default().with("/kallsyms", KALLSYMS).with("/kcore", kcore(KERNEL_TEXT));
    let why = annotated(&mut recording.annotator(files()), "entry").unwrap_err();
    assert!(why.contains("--vmlinux"), "{why}");
    recording.options.kcore = Some("/kcore".into());
    let entry = annotated(&mut recording.annotator(files()), "entry").unwrap();
    assert_eq!((entry.start, entry.origin), (KERNEL_TEXT + 0x100, CodeOrigin::Kcore));
    assert_eq!(lines(&entry)[2], "ffffffff90000104 call   ffffffff90000110 <after+0x5> [1]");
}

#[test]
fn the_memory_of_the_kernel_that_runs() {
    let mut recording = recording().kernel_id().sample(KERNEL, KERNEL_TEXT + 0x104, 2);
    recording.options.vmlinux = None;
    let note = [&[4u32, 20, 3].map(u32::to_ne_bytes).concat()[..], b"GNU\0", &crate::recording::ID].concat();
    let running = |kallsyms: &str, note: &[u8]| {
        let files = Memory::default().with("/sys/kernel/notes", note).with("/proc/kallsyms", kallsyms);
        // A copy in the cache, as perf record makes it.
        let cached = "/cache/.build-id/ab/ababababababababababababababababababab/kallsyms";
        files.with(cached, KALLSYMS).with("/proc/kcore", kcore(KERNEL_TEXT))
    };
    let entry = annotated(&mut recording.annotator(running(KALLSYMS, &note)), "entry").unwrap();
    assert_eq!((entry.instructions.len(), entry.origin), (5, CodeOrigin::Kcore));
    // The machine was started anew since.
    let moved = KALLSYMS.replace("ffffffff9", "ffffffff8");
    assert!(annotated(&mut recording.annotator(running(&moved, &note)), "entry").is_err());
    // Another kernel runs.
    let other = [&note[..16], &[0xcd; 20]].concat();
    assert!(annotated(&mut recording.annotator(running(KALLSYMS, &other)), "entry").is_err());
}

#[test]
fn code_that_was_changed_while_it_was_recorded() {
    let poked = |time| {
        recording()
            .text_poke(10, KERNEL_TEXT + 0x100, &FIRST[..4], &[0xf, 0x1f, 0x40, 0])
            .text_poke(20, KERNEL_TEXT + 0x100, &[0xf, 0x1f, 0x40, 0], &[0x90, 0x90, 0x90, 0xf4])
            .sample(KERNEL, KERNEL_TEXT + 0x104, time)
    };
    let first = |time| {
        let mut annotator = poked(time).annotator(Memory::default().with("/vmlinux", vmlinux()));
        lines(&annotated(&mut annotator, "entry").unwrap())[0].clone()
    };
    assert_eq!(first(9), "5100 push   %rbp [0]");
    assert_eq!(first(15), "5100 nopl   0x0(%rax) [0]");
    assert_eq!(first(25), "5100 nop [0]");
}

/// The instructions of a module have no targets before it is loaded: relocations have their names.
#[test]
fn a_module() {
    let path = "/lib/modules/6.1.0/kernel/x.ko";
    let recording = recording().kernel(MODULE, 0x1000, 0, path).sample(KERNEL, MODULE + 1, 2);
    let module = module();
    let calls = annotated(&mut recording.annotator(Memory::default().with(path, module)), "calls").unwrap();
    assert_eq!(
        lines(&calls)[..2],
        ["0 push   %rbp [0]".to_owned(), "1 call   6 <printk+0x0> [1]".to_owned()]
    );
}

/// A relocatable file: a function in `.text` that calls `printk`, by a relocation.
fn module() -> Vec<u8> {
    let names = b"\0.text\0.symtab\0.strtab\0.rela.text\0";
    let strings = b"\0calls\0printk\0";
    let text = [0x55, 0xe8, 0, 0, 0, 0, 0x5d, 0xc3];
    let symbols = Bytes::new(false)
        .zeros(24)
        .u32(1)
        .u8(0x12)
        .u8(0)
        .u16(1)
        .u64s(&[0, 8])
        .u32(7)
        .u8(0x10)
        .u8(0)
        .u16(0)
        .u64s(&[0, 0]);
    // R_X86_64_PLT32 to the second symbol.
    let relocations = Bytes::new(false).u64s(&[2, 2 << 32 | 4, (-4_i64) as u64]);
    let contents: [&[u8]; 5] = [&text, &symbols.out, strings, &relocations.out, names];
    let mut at = 64_u64;
    let places: Vec<_> = contents
        .iter()
        .map(|it| {
            let place = at;
            at += (it.len() as u64).next_multiple_of(8);
            place
        })
        .collect();
    let head = Bytes::new(false).raw(b"\x7fELF\x02\x01\x01").zeros(9).u16(1).u16(62).u32(1).u64s(&[0, 0, at]);
    let mut out = head.u32(0).u16(64).u16(0).u16(0).u16(64).u16(6).u16(5);
    for it in contents {
        out = out.padded(it, it.len().next_multiple_of(8));
    }
    out = out.zeros(64);
    // Name, type, flags, link, info, size of an entry.
    let sections = [
        (1, 1, 6, 0, 0, 0),
        (7, 2, 0, 3, 0, 24),
        (15, 3, 0, 0, 0, 0),
        (23, 4, 0, 2, 1, 24),
        (15, 3, 0, 0, 0, 0),
    ];
    for (((name, kind, flags, link, info, entry), place), it) in
        sections.into_iter().zip(places).zip(contents)
    {
        out = out
            .u32(name)
            .u32(kind)
            .u64s(&[flags, 0, place, it.len() as u64])
            .u32(link)
            .u32(info)
            .u64s(&[8, entry]);
    }
    out.out
}
