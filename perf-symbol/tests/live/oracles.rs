//! What other programs print about addresses and lines.

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Stdio};

fn run(program: &str, arguments: &[&str], file: &Path, input: String) -> String {
    let mut command = Command::new(program);
    command.args(arguments).arg(file).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "{command:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
}

/// A function: its addresses, and those of its instructions.
pub(crate) struct Function {
    pub(crate) range: Range<u64>,
    pub(crate) instructions: Vec<u64>,
}

/// Returns functions whose names contain a text, by `nm` and `objdump`.
pub(crate) fn functions(file: &Path, name: &str, most: usize) -> Vec<Function> {
    let symbols = run("nm", &["-S", "--defined-only"], file, String::new());
    let mut ranges: Vec<Range<u64>> = symbols
        .lines()
        .filter_map(|line| {
            let [start, size, kind, symbol] = line.split(' ').collect::<Vec<_>>()[..] else { return None };
            let start = hex(start);
            ("tTwW".contains(kind) && symbol.contains(name)).then(|| start..start + hex(size))
        })
        .collect();
    ranges.sort_by_key(|range| range.start);
    ranges.dedup();
    ranges.truncate(most);
    let code = run("objdump", &["-d", "--no-show-raw-insn"], file, String::new());
    let addresses: Vec<u64> = code
        .lines()
        .filter_map(|line| line.strip_prefix(' ')?.split_once(":\t"))
        .map(|(address, _)| hex(address.trim()))
        .collect();
    let of = |range: Range<u64>| {
        let first = addresses.partition_point(|&it| it < range.start);
        let instructions = addresses[first..].iter().copied().take_while(|it| range.contains(it)).collect();
        Function { range, instructions }
    };
    ranges.into_iter().map(of).collect()
}

/// File and line; `None` and 0 where a program prints question marks.
pub(crate) type Place = (Option<String>, u32);

/// Returns what addr2line prints of each address.
pub(crate) fn addr2line(file: &Path, addresses: &[u64]) -> Vec<Place> {
    let input = addresses.iter().map(|address| format!("{address:#x}\n")).collect();
    let printed = run("addr2line", &["-e"], file, input);
    let place = |line: &str| {
        let line = line.split(" (discriminator").next().unwrap();
        let (file, line) = line.rsplit_once(':').unwrap();
        (Some(file.to_owned()).filter(|file| file != "??"), line.parse().unwrap_or(0))
    };
    printed.lines().map(place).collect()
}

/// Returns what llvm-symbolizer prints of each address, with the columns.
pub(crate) fn llvm_symbolizer(file: &Path, addresses: &[u64]) -> Vec<(Place, u32)> {
    let input = addresses.iter().map(|address| format!("{address:#x}\n")).collect();
    let printed = run("llvm-symbolizer", &["--no-inlines", "-e"], file, input);
    let place = |lines: &str| {
        let line = lines.lines().nth(1).unwrap();
        let [column, line, file] = line.rsplitn(3, ':').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let file = Some(file.to_owned()).filter(|file| file != "??");
        ((file, line.parse().unwrap()), column.parse().unwrap())
    };
    printed.trim_end().split("\n\n").map(place).collect()
}

/// A row: line, column, whether it is a statement, and the discriminator.
pub(crate) type Row = (u32, u32, bool, u64);

/// Returns the last row of each address that llvm-dwarfdump prints. Sequences at 0 are of code that the linker has left out.
pub(crate) fn llvm_dwarfdump(file: &Path) -> BTreeMap<u64, Row> {
    let printed = run("llvm-dwarfdump", &["--debug-line"], file, String::new());
    let (mut all, mut sequence) = (BTreeMap::new(), BTreeMap::new());
    for line in printed.lines().filter(|line| line.starts_with("0x")) {
        let fields: Vec<_> = line.split_whitespace().collect();
        let number = |at: usize| fields[at].parse::<u64>().unwrap();
        if fields.contains(&"end_sequence") {
            if sequence.first_key_value().is_some_and(|(&start, _)| start != 0 && start < hex(fields[0])) {
                all.append(&mut sequence);
            }
            sequence.clear();
            continue;
        }
        let row = (number(1) as u32, number(2) as u32, fields.contains(&"is_stmt"), number(5));
        sequence.insert(hex(fields[0]), row);
    }
    all
}
