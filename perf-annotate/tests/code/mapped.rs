//! Code of files that were mapped.

use perf_symbol::CodeOrigin;
use testdata::elf::{Elf, TEXT, TEXT_OFFSET};

use crate::recording::{Memory, Recording, USER};
use crate::{FIRST, SECOND, annotated, lines};

const MAP: u64 = 0x7f00_0000_0000;
const IP: u64 = MAP + TEXT_OFFSET;

/// A file with two functions and a build id. The first function calls the second.
pub(crate) fn program(machine: u16) -> Elf {
    let mut elf = Elf::new(machine, true).section(".note.gnu.build-id", build_id_note());
    elf = elf.code(0, &FIRST).code(16, &SECOND);
    elf.functions = vec![("first", 0, 11), ("second", 16, 2)];
    elf
}

fn build_id_note() -> Vec<u8> {
    let head = [4u32, 20, 3].map(u32::to_le_bytes).concat();
    [&head[..], b"GNU\0", &crate::recording::ID].concat()
}

fn recording(has_id: bool) -> Recording {
    let recording = Recording::new().map(MAP, 0x10_0000, has_id, "/bin/prog");
    // Two at the second instruction, one within the call.
    recording.sample(USER, IP + 1, 2).sample(USER, IP + 1, 3).sample(USER, IP + 6, 4).sample(USER, IP + 16, 5)
}

#[test]
fn a_file_by_its_build_id() {
    let files = Memory::default()
        .with("/cache/.build-id/ab/ababababababababababababababababababab/elf", program(62).build());
    let mut annotator = recording(true).annotator(files);
    let first = annotated(&mut annotator, "first").unwrap();
    assert_eq!(
        lines(&first),
        [
            "5000 push   %rbp [0]",
            "5001 mov    %rsp,%rbp [2]",
            "5004 call   5010 <second+0x0> [1]",
            "5009 pop    %rbp [0]",
            "500a ret [0]"
        ]
    );
    assert_eq!((first.start, first.end, first.origin), (TEXT, TEXT + 11, CodeOrigin::File));
    assert_eq!((first.events[0].total.samples, first.events[0].of_capture.period), (3, 400));
    assert_eq!(first.build_id.map(|id| id.as_bytes().to_vec()), Some(crate::recording::ID.to_vec()));
    // Without it: another file is at the path by now.
    let mut other = program(62);
    other.sections.clear();
    let annotator = recording(true).annotator(Memory::default().with("/bin/prog", other.build()));
    assert!(annotator.functions().is_empty());
}

#[test]
fn a_file_at_its_path() {
    let mut annotator = recording(false).annotator(Memory::default().with("/bin/prog", program(62).build()));
    assert_eq!(lines(&annotated(&mut annotator, "second").unwrap()), ["5010 nop [1]", "5011 ret [0]"]);
}

#[test]
fn a_machine_without_a_disassembler() {
    const RISCV: u16 = 243;
    let files = Memory::default().with("/bin/prog", program(RISCV).build());
    let why = annotated(&mut recording(false).annotator(files), "first").unwrap_err();
    assert!(why.contains("ELF machine 243"), "{why}");
}

#[test]
fn the_vdso() {
    let recording = Recording::new().map(MAP, 0x10_0000, false, "[vdso]").sample(USER, IP + 1, 2);
    let files = Memory { vdso: Some(program(62).build()), ..Memory::default() };
    let first = annotated(&mut recording.annotator(files), "first").unwrap();
    assert_eq!(lines(&first)[1], "5001 mov    %rsp,%rbp [1]");
}

#[test]
fn samples_without_a_symbol_are_told() {
    let recording = recording(false).sample(USER, IP + 0x800, 6).sample(USER, 0x10, 7);
    let annotator = recording.annotator(Memory::default().with("/bin/prog", program(62).build()));
    assert_eq!(annotator.unnamed()[0].samples, 2);
    assert_eq!(annotator.totals()[0].samples, 6);
}

/// `stp x29,x30,[sp,#-16]!; bl +12; ldp x29,x30,[sp],#16; ret`, and `nop; ret` after it.
const OF_AARCH64: [u8; 24] = [
    0xfd, 0x7b, 0xbf, 0xa9, 0x03, 0, 0, 0x94, 0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6, 0x1f, 0x20,
    0x03, 0xd5, 0xc0, 0x03, 0x5f, 0xd6,
];

#[test]
fn another_machine_below_a_root() {
    let mut elf = Elf::new(183, true).code(0, &OF_AARCH64);
    elf.functions = vec![("first", 0, 16), ("second", 16, 8)];
    let mut recording = Recording::new().map(MAP, 0x10_0000, false, "/bin/prog").sample(USER, IP + 4, 2);
    recording.options.symfs = Some("/root".into());
    let first =
        annotated(&mut recording.annotator(Memory::default().with("/root/bin/prog", elf.build())), "first")
            .unwrap();
    assert_eq!(
        lines(&first),
        [
            "5000 stp    x29, x30, [sp, #-16]! [0]",
            "5004 bl     5010 <second+0x0> [1]",
            "5008 ldp    x29, x30, [sp], #16 [0]",
            "500c ret [0]"
        ]
    );
}
