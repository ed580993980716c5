//! `--interpreter-frames`: the stacks of a program of Python, with its interpreter and without.

use std::fs;

use perf_parse::record::{FileId, Mmap2};
use perf_parse::sample::Reading;
use testdata::elf::{Elf, TEXT_OFFSET};

use crate::made::Made;
use crate::perfdata;

pub(crate) const TESTS: &[needs::Test] =
    needs::tests![the_functions_of_the_program_alone, a_report_without_stacks,];

const PID: i32 = 4_194_000;
const FILE: u64 = 0x10_0000;
const GENERATED: u64 = 0x20_0000;

/// The functions of the interpreter, each 0x100 bytes.
const FUNCTIONS: [(&str, u64, u64); 5] = [
    ("_PyEval_EvalFrameDefault", 0x100, 0x100),
    ("py_trampoline_evaluator", 0x200, 0x100),
    ("list_sort_impl", 0x300, 0x100),
    ("Py_RunMain", 0x400, 0x100),
    ("long_mul", 0x500, 0x100),
];

/// Returns a capture of a sample in `long_mul` and one in the interpreting function, and options with which it has names.
fn capture() -> (String, [String; 2]) {
    let root = needs::folder().join("root");
    let mut elf = Elf::new(62, true);
    elf.functions = FUNCTIONS.to_vec();
    for (path, bytes) in [
        ("usr/lib/libpython3.12.so.1.0", elf.build()),
        (&format!("tmp/perf-{PID}.map"), b"200000 b py::inner:/a.py\n200010 b py::outer:/a.py\n".to_vec()),
    ] {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let mapped = |addr, pgoff, filename: &'static str, ino| Mmap2 {
        pid: PID,
        tid: PID,
        addr,
        len: 0x1000,
        pgoff,
        id: FileId::Inode { maj: 0, min: 0, ino, ino_generation: 0 },
        prot_flags: Some((5, 2)),
        filename: filename.as_bytes(),
        reading: Reading::Certain,
    };
    let outer = [
        FILE + 0x110,
        GENERATED + 6,
        FILE + 0x210,
        FILE + 0x310,
        FILE + 0x110,
        GENERATED + 0x16,
        FILE + 0x210,
        FILE + 0x410,
    ];
    let capture = Made::new()
        .comm(PID, "python3")
        .map2(PID, mapped(FILE, TEXT_OFFSET, "/usr/lib/libpython3.12.so.1.0", 7))
        .map2(PID, mapped(GENERATED, 0, "//anon", 0))
        .sample(PID, 1, &[&[FILE + 0x510], &outer[..]].concat())
        .sample(PID, 1, &outer);
    let file = capture.file("python.data");
    (file.to_str().unwrap().to_owned(), ["--symfs".to_owned(), root.to_str().unwrap().to_owned()])
}

fn run(verb: &str, arguments: &[&str]) -> String {
    let (file, [symfs, root]) = capture();
    let run = perfdata(verb, &file, &[arguments, &[&symfs, &root]].concat());
    assert_eq!(run.status, 0, "{}", run.err);
    run.out
}

const FOLD: [&str; 2] = ["--interpreter-frames", "fold"];

fn the_functions_of_the_program_alone() {
    let out = run("fold", &[]);
    let shown = "python3;Py_RunMain;py_trampoline_evaluator;py::outer:/a.py;_PyEval_EvalFrameDefault;list_sort_impl;\
        py_trampoline_evaluator;py::inner:/a.py;_PyEval_EvalFrameDefault";
    assert_eq!(out, format!("{shown} 1\n{shown};long_mul 1\n"));
    assert_eq!(run("fold", &["--interpreter-frames", "show"]), out);
    let folded = "python3;Py_RunMain;py::outer:/a.py;py::inner:/a.py";
    assert_eq!(run("fold", &FOLD), format!("{folded} 1\n{folded};long_mul 1\n"));
    let out = run("script", &[&FOLD[..], &["-F", "sym,ip"]].concat());
    assert!(out.contains("py::inner") && !out.contains("_PyEval") && !out.contains("list_sort"), "{out}");
    // Without names, nothing is known of the frames.
    assert_eq!(run("fold", &[&FOLD[..], &["--no-symbols"]].concat()).split(';').count(), 18);
}

/// Its rows are functions of the program, too.
fn a_report_without_stacks() {
    for threads in ["1", "2"] {
        let arguments =
            ["--stdio", "--no-children", "--no-call-graph", "--sort", "sym", "--threads", threads];
        let rows = |more: &[&str]| -> Vec<String> {
            let out = run("report", &[&arguments[..], more].concat());
            let rows = out.lines().filter_map(|line| line.split_once("[.] "));
            let mut rows: Vec<_> = rows.map(|(_, name)| name.trim_end().to_owned()).collect();
            rows.sort_unstable();
            rows
        };
        assert_eq!(rows(&[]), ["_PyEval_EvalFrameDefault", "long_mul"]);
        assert_eq!(rows(&FOLD), ["long_mul", "py::inner:/a.py"]);
    }
}
