//! Compares the disassembly of the machine's programs with objdump's.

mod listing;

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;

use needs::Need;
use perf_annotate::disassembly::{Disassembler, Instruction, Syntax};
use perf_symbol::CodeMachine;

use listing::Line;

/// Each prints its version.
const X86: &[&str] = &["x86_64-linux-gnu-objdump", "--version"];
const AARCH64: &[&str] = &["aarch64-linux-gnu-objdump", "--version"];
const ARM: &[&str] = &["arm-linux-gnueabihf-objdump", "--version"];

const TESTS: &[needs::Test] = needs::tests![
    libc,
    libc_in_intel_syntax,
    libm,
    the_dynamic_linker,
    libstdcpp,
    libperl,
    bash,
    git,
    perf,
    libc_of_aarch64,
    libm_of_aarch64,
    the_dynamic_linker_of_aarch64,
    libstdcpp_of_aarch64,
    libgcc_of_aarch64,
    libgomp_of_aarch64,
    libc_of_arm,
    libm_of_arm,
    the_dynamic_linker_of_arm,
    libgcc_of_arm,
    libgomp_of_arm,
];

fn main() -> ExitCode {
    needs::run(&[TESTS])
}

fn x86(path: &str) {
    let same = compare(X86, &[], path, CodeMachine::X86_64, Syntax::Att);
    assert!(same > 0.998, "{path}: {same}");
}

fn aarch64(path: &str) {
    let path = format!("/usr/aarch64-linux-gnu/lib/{path}");
    let same = compare(AARCH64, &[], &path, CodeMachine::Aarch64, Syntax::Att);
    assert!(same > 0.98, "{path}: {same}");
}

/// VFP and NEON have no text, and IT blocks have the text of instructions outside one.
fn arm(path: &str) {
    let path = format!("/usr/arm-linux-gnueabihf/lib/{path}");
    compare(ARM, &[], &path, CodeMachine::Arm, Syntax::Att);
}

/// Compares boundaries and targets, and returns the part of the texts that is the same.
fn compare(
    objdump: &'static [&'static str],
    arguments: &[&str],
    path: &str,
    machine: CodeMachine,
    syntax: Syntax,
) -> f64 {
    needs::all(&[Need::Runs(objdump)]);
    if !Path::new(path).exists() {
        needs::skip("binaries", &format!("there is no {path}"));
    }
    let lines = listing::of(objdump[0], arguments, path, machine);
    let (mut all, mut same) = (0_u32, 0_u32);
    let is_run = |a: &Line, b: &Line| a.machine == b.machine && a.address + a.bytes.len() as u64 == b.address;
    for run in lines.chunk_by(is_run) {
        let Some(machine) = run[0].machine else { continue };
        let mut disassembler = Disassembler::new(machine).unwrap().with_syntax(syntax);
        let code: Vec<u8> = run.iter().flat_map(|it| it.bytes.iter().copied()).collect();
        let ours: HashMap<_, _> =
            disassembler.instructions(&code, run[0].address).map(|it| (it.address, it)).collect();
        for line in run {
            let Some(it) = ours.get(&line.address) else { panic!("{path}: no boundary at {line:x?}") };
            assert!(has_size(line, it), "{path}: {line:x?} {it:x?}");
            assert_eq!(line.target(), it.target, "{path}: {line:x?} {it:x?}");
            all += 1;
            same += u32::from(words(&line.text) == words(&it.text));
        }
    }
    assert!(all > 1000, "{path}: {all}");
    f64::from(same) / f64::from(all)
}

/// Whether the size is objdump's. It shows an fwait and the instruction after it as one, but the processor executes two.
fn has_size(line: &Line, it: &Instruction) -> bool {
    let is_fwait = it.size == 1 && line.bytes.first() == Some(&0x9b);
    usize::from(it.size) == line.bytes.len() || is_fwait
}

/// Returns a text without the names of addresses and without comments on conditions.
fn words(text: &str) -> Vec<&str> {
    let text = text.split(" //").next().unwrap();
    let is_name = |it: &&str| it.starts_with('<') && it.ends_with('>');
    text.split_whitespace().filter(|it| !is_name(it)).collect()
}

fn libc() {
    x86("/usr/lib/x86_64-linux-gnu/libc.so.6");
}

fn libc_in_intel_syntax() {
    let path = "/usr/lib/x86_64-linux-gnu/libc.so.6";
    let same = compare(X86, &["-M", "intel"], path, CodeMachine::X86_64, Syntax::Intel);
    assert!(same > 0.98, "{same}");
}

fn libm() {
    x86("/usr/lib/x86_64-linux-gnu/libm.so.6");
}

fn the_dynamic_linker() {
    x86("/lib64/ld-linux-x86-64.so.2");
}

fn libstdcpp() {
    x86("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
}

fn libperl() {
    x86("/usr/lib/x86_64-linux-gnu/libperl.so.5.36");
}

fn bash() {
    x86("/usr/bin/bash");
}

fn git() {
    x86("/usr/bin/git");
}

fn perf() {
    x86("/usr/bin/perf");
}

fn libc_of_aarch64() {
    aarch64("libc.so.6");
}

fn libm_of_aarch64() {
    aarch64("libm.so.6");
}

fn the_dynamic_linker_of_aarch64() {
    aarch64("ld-linux-aarch64.so.1");
}

fn libstdcpp_of_aarch64() {
    aarch64("libstdc++.so.6");
}

fn libgcc_of_aarch64() {
    aarch64("libgcc_s.so.1");
}

fn libgomp_of_aarch64() {
    aarch64("libgomp.so.1");
}

fn libc_of_arm() {
    arm("libc.so.6");
}

fn libm_of_arm() {
    arm("libm.so.6");
}

fn the_dynamic_linker_of_arm() {
    arm("ld-linux-armhf.so.3");
}

fn libgcc_of_arm() {
    arm("libgcc_s.so.1");
}

fn libgomp_of_arm() {
    arm("libgomp.so.1");
}
