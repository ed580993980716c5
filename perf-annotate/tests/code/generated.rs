//! Code that was generated while the program ran.

use perf_symbol::CodeOrigin;
use testdata::{Bytes, JitdumpBytes};

use crate::recording::{KERNEL, Memory, Recording, USER};
use crate::{FIRST, SECOND, annotated, lines};

const CODE: u64 = 0x4000_0000;

/// A jitdump with the code of `f`, which was overwritten by that of `g`, and then moved.
fn jitdump() -> Vec<u8> {
    let load = |name: &str, code: &[u8], index| {
        let head = Bytes::new(false).u32(5).u32(5).u64s(&[CODE, CODE, code.len() as u64, index]);
        [&head.out[..], name.as_bytes(), &[0], code].concat()
    };
    let dump = JitdumpBytes::new(false).record(0, 10, &load("f", &FIRST, 1));
    dump.record(0, 20, &load("g", &SECOND, 2)).moved(30, CODE, CODE + 0x100, 2, 2).out
}

fn recording() -> Recording {
    Recording::new().map(CODE, 0x1000, false, "//anon").map(0x5000_0000, 0x1000, false, "/tmp/jit-5.dump")
}

#[test]
fn code_of_a_jitdump_at_its_time() {
    let files = || Memory::default().with("/tmp/jit-5.dump", jitdump());
    let recording =
        recording().sample(USER, CODE + 1, 15).sample(USER, CODE + 1, 25).sample(USER, CODE + 0x101, 35);
    let mut annotator = recording.annotator(files());
    let f = annotated(&mut annotator, "f").unwrap();
    assert_eq!((f.start, f.origin), (CODE, CodeOrigin::Jitdump));
    assert_eq!(
        lines(&f)[..2],
        ["40000000 push   %rbp [0]".to_owned(), "40000001 mov    %rsp,%rbp [1]".to_owned()]
    );
    let all: Vec<_> = annotator.find(b"g").into_iter().map(|it| annotator.annotate(it).unwrap()).collect();
    let mut all: Vec<_> = all.iter().map(lines).collect();
    all.sort();
    assert_eq!(all, [["40000000 nop [0]", "40000001 ret [1]"], ["40000100 nop [0]", "40000101 ret [1]"]]);
}

#[test]
fn without_a_jitdump() {
    let recording = Recording::new().map(CODE, 0x1000, false, "//anon").sample(USER, CODE + 1, 15);
    let files = Memory::default().with("/tmp/perf-5.map", format!("{CODE:x} 10 f\n"));
    let why = annotated(&mut recording.annotator(files), "f").unwrap_err();
    assert!(why.contains("no jitdump"), "{why}");
}

const BPF: u64 = 0xffff_ffff_a000_0000;

/// A program of two functions, with the line of the second instruction of the second.
fn bpf_prog_info() -> Vec<u8> {
    let code = [&FIRST[..], &SECOND[..]].concat();
    let (ksyms, lens, infos, addresses) = (24, 40, 48, 64);
    let data = Bytes::new(false).padded(&code, 24).u64s(&[BPF, BPF + 0x100]).u32(16).u32(2);
    // insn_off, file_name_off, line_off, line_col; then the address.
    let data = data.u32(0).u32(1).u32(5).u32(7 << 10 | 3).u64(BPF + 0x101);
    let info = Bytes::new(false).u32(26).u32(2).zeros(8).u32(18).u32(0).u64s(&[0, 0, 0]).u32(0).u32(0).u64(0);
    let info = info.padded(b"prog", 16).u32(0).u32(0).u64s(&[0, 0]).u32(2).u32(2).u64s(&[ksyms, lens]);
    let info = info.u32(9).u32(0).u64(0).u32(0).u32(1).u64(infos).u64(addresses).u32(1).u32(16).u32(8).u32(0);
    // Machine code, addresses, lengths, lines and their addresses.
    let arrays = 1 | 1 << 3 | 1 << 4 | 1 << 6 | 1 << 7;
    let head = Bytes::new(false).u32(1).u32(info.len() as u32).u32(data.len() as u32).u64(arrays);
    [head.out, info.out, data.out].concat()
}

fn bpf_btf() -> Vec<u8> {
    let strings = b"\0a.c\0    return 1;\0";
    let btf =
        Bytes::new(false).u16(0xeb9f).u8(1).u8(0).u32(24).u32(0).u32(0).u32(0).u32(strings.len() as u32);
    let btf = btf.raw(strings);
    let head = Bytes::new(false).u32(1).u32(9).u32(btf.len() as u32);
    [head.out, btf.out].concat()
}

fn bpf_recording() -> Recording {
    const BPF_KIND: u16 = 1;
    let recording = Recording::new().kernel(
        0xffff_ffff_9000_0000,
        0x100_0000,
        0xffff_ffff_9000_0000,
        "[kernel.kallsyms]_text",
    );
    recording.ksymbol(BPF + 0x100, 2, BPF_KIND, "bpf_prog_7c_second").sample(KERNEL, BPF + 0x101, 5)
}

#[test]
fn code_and_lines_of_a_bpf_program() {
    let recording = bpf_recording().feature(25, bpf_prog_info()).feature(26, bpf_btf());
    let second = annotated(&mut recording.annotator(Memory::default()), "bpf_prog_7c_second").unwrap();
    assert_eq!(second.origin, CodeOrigin::BpfProgram);
    assert_eq!(lines(&second), ["ffffffffa0000100 nop [0]", "ffffffffa0000101 ret [1]"]);
    assert_eq!(second.instructions[0].line, None);
    let line = &second.lines[second.instructions[1].line.unwrap() as usize];
    assert_eq!((line.line, line.totals[0].samples, second.instructions[1].column), (7, 1, Some(3)));
    assert_eq!(&*second.sources[0].path, b"a.c");
    assert_eq!(second.sources[0].line(7), Some(&b"    return 1;"[..]));
}

#[test]
fn without_the_code_of_a_bpf_program() {
    let why = annotated(&mut bpf_recording().annotator(Memory::default()), "bpf_prog_7c_second").unwrap_err();
    assert!(why.contains("BPF program"), "{why}");
}

/// A trampoline, which only a `TEXT_POKE` record has.
#[test]
fn code_that_the_kernel_generated() {
    const OUT_OF_LINE: u16 = 2;
    let recording = |is_poked| {
        let recording = Recording::new().kernel(
            0xffff_ffff_9000_0000,
            0x100_0000,
            0xffff_ffff_9000_0000,
            "[kernel.kallsyms]_text",
        );
        let recording = recording.ksymbol(BPF, 2, OUT_OF_LINE, "ftrace_trampoline");
        let recording = if is_poked { recording.text_poke(2, BPF, &[], &SECOND) } else { recording };
        recording.sample(KERNEL, BPF, 5)
    };
    let found = annotated(&mut recording(true).annotator(Memory::default()), "ftrace_trampoline").unwrap();
    assert_eq!((lines(&found)[0].as_str(), found.origin), ("ffffffffa0000000 nop [1]", CodeOrigin::TextPoke));
    let why = annotated(&mut recording(false).annotator(Memory::default()), "ftrace_trampoline").unwrap_err();
    assert!(why.contains("that the kernel generated"), "{why}");
}
