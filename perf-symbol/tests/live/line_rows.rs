//! Rows of line tables, as addr2line, llvm-symbolizer and llvm-dwarfdump have them.

use std::path::Path;
use std::sync::Arc;

use needs::Need;
use perf_symbol::{DwarfLines, FileFinder, LineRow, ReadFiles, SymbolOptions};

use crate::oracles::{self, Function};
use crate::programs;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    c_by_gcc,
    c_by_clang,
    cpp_by_gcc,
    cpp_by_clang,
    rust,
    split,
    relinked,
    embedded_sources,
    large_programs
];

const BINUTILS: [Need; 3] = [
    Need::Runs(&["addr2line", "--version"]),
    Need::Runs(&["nm", "--version"]),
    Need::Runs(&["objdump", "--version"]),
];
const LLVM: [Need; 2] =
    [Need::Runs(&["llvm-symbolizer", "--version"]), Need::Runs(&["llvm-dwarfdump", "--version"])];

/// A row of ours.
struct Row {
    start: u64,
    end: u64,
    file: Option<String>,
    row: oracles::Row,
}

fn load(path: &Path) -> DwarfLines {
    let finder = FileFinder::new(Arc::new(ReadFiles), Arc::new(SymbolOptions::default()));
    let found = finder.find(path.to_str().unwrap().as_bytes(), None, None);
    DwarfLines::load(&finder, &found).unwrap()
}

fn rows(lines: &DwarfLines, function: &Function) -> Vec<Row> {
    let mut rows = Vec::new();
    lines.rows(function.range.clone(), &mut |LineRow {
                                                 start,
                                                 end,
                                                 file,
                                                 line,
                                                 column,
                                                 is_stmt,
                                                 discriminator,
                                                 ..
                                             }| {
        let row = (line.unwrap_or(0), column.unwrap_or(0), is_stmt, discriminator);
        rows.push(Row { start, end, file: file.map(str::to_owned), row });
    });
    rows
}

/// The same path, however it is written.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Each instruction of functions has the line that a look-up, addr2line and llvm-symbolizer find, and each row those of
/// llvm-dwarfdump. Returns the number of instructions.
fn compare(program: &Path, name: &str) -> usize {
    let lines = load(program);
    let functions = oracles::functions(program, name, 50);
    let by_function: Vec<_> = functions.iter().map(|function| rows(&lines, function)).collect();
    let dumped = oracles::llvm_dwarfdump(program);
    for (function, rows) in functions.iter().zip(&by_function) {
        let ours: Vec<_> = rows.iter().map(|row| (row.start, row.row)).collect();
        let mut expected: Vec<_> =
            dumped.range(function.range.clone()).map(|(at, row)| (*at, *row)).collect();
        // A column without a line says nothing.
        expected.iter_mut().filter(|row| row.1.0 == 0).for_each(|row| row.1.1 = 0);
        assert_eq!(ours, expected, "{:x?}", function.range);
    }
    let addresses: Vec<u64> = functions.iter().flat_map(|it| it.instructions.clone()).collect();
    let by_binutils = oracles::addr2line(program, &addresses);
    let by_llvm = oracles::llvm_symbolizer(program, &addresses);
    assert_eq!((by_binutils.len(), by_llvm.len()), (addresses.len(), addresses.len()));
    let all: Vec<_> = by_function.into_iter().flatten().collect();
    for ((&address, by_binutils), (by_llvm, column)) in addresses.iter().zip(&by_binutils).zip(&by_llvm) {
        let mut innermost = None;
        lines.look_up(address, &mut |frame| {
            innermost.get_or_insert((frame.file.map(str::to_owned), frame.line.unwrap_or(0)));
        });
        let after = all.partition_point(|row| row.start <= address);
        let row = after.checked_sub(1).map(|at| &all[at]).filter(|row| address < row.end);
        let Some(row) = row else {
            // The start of a cold part may have none.
            let lines = [innermost.map_or(0, |it| it.1), by_llvm.1, by_binutils.1];
            assert_eq!(lines, [0; 3], "{address:#x}");
            continue;
        };
        assert_eq!(innermost, Some((row.file.clone(), row.row.0)), "{address:#x}");
        let file = row.file.as_deref().map(plain);
        let of = |(file, line): &oracles::Place| (file.as_deref().map(plain), *line);
        assert_eq!((file.clone(), row.row.0), of(by_llvm), "{address:#x}");
        // binutils takes another row where there is no line.
        if row.row.0 != 0 {
            assert_eq!(row.row.1, *column, "{address:#x}");
            let (of_binutils, line) = of(by_binutils);
            match of_binutils {
                // It reads no split DWARF.
                None if program.with_file_name("program.dwo").exists() => {}
                // It takes the name of the unit for that of the file with link-time optimization, and in cold parts.
                Some(name) if ["<artificial>", "/program.cpp"].iter().any(|end| name.ends_with(end)) => {
                    assert_eq!(row.row.0, line, "{address:#x}");
                }
                _ => assert_eq!((file, row.row.0), (of_binutils, line), "{address:#x}"),
            }
        }
    }
    assert!(functions.len() >= 50 && addresses.len() > 1000, "{} {}", functions.len(), addresses.len());
    addresses.len()
}

fn needs(compiler: Need) {
    needs::all(&[&BINUTILS[..], &LLVM, &[compiler]].concat());
}

fn each_form(compiler: &str, name: &str, more: &[&str]) {
    for optimization in ["-O0", "-O2"] {
        for version in ["-gdwarf-4", "-gdwarf-5"] {
            compare(&programs::compile(&[&[compiler, optimization, version][..], more].concat()), name);
        }
    }
}

fn c_by_gcc() {
    needs(Need::Runs(&["gcc", "--version"]));
    each_form("gcc", "f", &[]);
}

fn c_by_clang() {
    needs(Need::Runs(&["clang", "--version"]));
    each_form("clang", "f", &["-fdebug-info-for-profiling"]);
}

fn cpp_by_gcc() {
    needs(Need::Runs(&["g++", "--version"]));
    each_form("g++", "_Z", &[]);
}

fn cpp_by_clang() {
    needs(Need::Runs(&["clang++", "--version"]));
    each_form("clang++", "_Z", &[]);
}

fn rust() {
    needs(Need::Runs(&["rustc", "--version"]));
    for optimization in ["-Copt-level=0", "-Copt-level=2"] {
        compare(&programs::compile(&["rustc", "-g", optimization]), "program");
    }
}

fn split() {
    needs(Need::Runs(&["gcc", "--version"]));
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        compare(&programs::compile(&["gcc", "-O2", version, "-gsplit-dwarf"]), "f");
    }
}

/// Units that share what they have in common, sections that are compressed, functions in sections of their own.
fn relinked() {
    needs(Need::Runs(&["gcc", "--version"]));
    for more in [&["-flto"][..], &["-gz=zlib"], &["-ffunction-sections", "-Wl,--gc-sections"]] {
        compare(&programs::compile(&[&["gcc", "-O2", "-g"][..], more].concat()), "f");
    }
}

fn embedded_sources() {
    needs::all(&[Need::Runs(&["clang", "--version"])]);
    let program = programs::compile(&["clang", "-O1", "-gdwarf-5", "-gembed-source"]);
    let text = programs::text_of(&program);
    let mut count = 0;
    load(&program).rows(0..u64::MAX, &mut |row| {
        assert_eq!(row.source, Some(&text[..]), "{:?}", row.file);
        count += 1;
    });
    assert!(count > 500, "{count}");
}

/// The rows of this test program, all at once: as look-ups of some of its addresses have them.
fn large_programs() {
    let lines = load(&std::env::current_exe().unwrap());
    let (mut count, mut end, mut some) = (0_u64, 0, Vec::new());
    lines.rows(0x1000..u64::MAX, &mut |row| {
        assert!(end <= row.start && row.start < row.end);
        (count, end) = (count + 1, row.end);
        if count.is_multiple_of(100) {
            some.push((row.start, row.file.map(str::to_owned), row.line));
        }
    });
    for (start, file, line) in some {
        let mut innermost = None;
        lines.look_up(start, &mut |frame| {
            innermost.get_or_insert((frame.file.map(str::to_owned), frame.line));
        });
        assert_eq!(innermost, Some((file, line)), "{start:#x}");
    }
    assert!(count > 10_000, "{count}");
}
