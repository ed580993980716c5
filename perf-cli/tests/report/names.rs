//! Names of generated code, whose file the test writes, and names that a terminal would obey.

use std::fs;
use std::path::PathBuf;

use perf_parse::record::{FileId, Mmap2};
use perf_parse::sample::Reading;

use crate::made::Made;
use crate::report;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    callers_have_what_they_call,
    call_graphs_of_all_kinds,
    the_parent_is_the_first_that_matches,
    unresolved_addresses_are_left_out,
    names_cannot_control_a_terminal,
    a_jitdump_of_another_clock,
];

const PID: i32 = 4_194_000;

/// A capture of a process with generated code, and a folder with the file that names the code.
fn generated(functions: &str, comm: &str) -> (PathBuf, PathBuf) {
    let folder = needs::folder();
    let root = folder.join("root");
    fs::create_dir_all(root.join("tmp")).unwrap();
    fs::write(root.join(format!("tmp/perf-{PID}.map")), functions).unwrap();
    let capture = Made::new()
        .comm(PID, comm)
        .map(PID, "//anon")
        .sample(PID, 60, &[0x3010, 0x2010, 0x1010])
        .sample(PID, 25, &[0x2020, 0x1010])
        .sample(PID, 10, &[0x3020, 0x1020])
        .sample(PID, 5, &[0x7000])
        .file("generated.data");
    (capture, root)
}

/// The capture has perf's own clock, and the jitdump that of `CLOCK_MONOTONIC`: three functions had one address, one after
/// the other, and one function another.
fn a_jitdump_of_another_clock() {
    let folder = needs::folder();
    let mut dump =
        testdata::Bytes::new(false).u32(0x4a69_5444).u32(1).u32(40).u32(62).u32(0).u32(0).u64(0).u64(0).out;
    for (number, (address, name)) in
        [(0x1000, "fA"), (0x1000, "fB"), (0x1000, "fC"), (0x2000, "fD")].into_iter().enumerate()
    {
        let head = testdata::Bytes::new(false).u32(0).u32(56 + 3).u64(number as u64 + 1).u32(0).u32(0);
        let load = head.u64s(&[address, address, 0x10, number as u64]).raw(name.as_bytes()).zeros(1);
        dump.extend_from_slice(&load.out);
    }
    fs::create_dir_all(folder.join("root/home")).unwrap();
    fs::write(folder.join("root/home/jit-7.dump"), dump).unwrap();
    let marker = Mmap2 {
        pid: PID,
        tid: PID,
        addr: 0x10_0000,
        len: 0x1000,
        pgoff: 0,
        id: FileId::Inode { maj: 0, min: 0, ino: 0, ino_generation: 0 },
        prot_flags: Some((5, 2)),
        filename: b"/home/jit-7.dump",
        reading: Reading::Certain,
    };
    let capture = Made::new()
        .comm(PID, "prog")
        .map(PID, "//anon")
        .map2(PID, marker)
        .sample(PID, 60, &[0x1004])
        .sample(PID, 20, &[0x2004])
        .file("clocks.data");
    let root = folder.join("root");
    let run = report(
        capture.to_str().unwrap(),
        &["--symfs", root.to_str().unwrap(), "-F", "period,sym", "-s", "sym"],
    );
    assert!(run.out.contains("20  [.] fD [guessed]\n"), "{}", run.out);
    assert!(["fA", "fB", "fC"].iter().all(|name| !run.out.contains(name)), "{}", run.out);
    let clock = "the clock of its jitdump is not that of the samples";
    let lines = [
        format!("/tmp/perf-{PID}.map: 1 frame without a name: {clock}, and addresses were reused"),
        format!("/tmp/perf-{PID}.map: its names are guesses: {clock}"),
    ];
    assert!(lines.iter().all(|line| run.out.contains(line)), "{}", run.out);
}

const FUNCTIONS: &str = "1000 100 main\n2000 100 work\n3000 100 leaf\n";

fn rows(args: &[&str]) -> String {
    let (capture, root) = generated(FUNCTIONS, "prog");
    let args = [&["--symfs", root.to_str().unwrap()], args].concat();
    let run = report(capture.to_str().unwrap(), &args);
    assert_eq!((run.status, &*run.err), (0, ""), "{args:?}");
    let lines = run.out.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(|line| format!("{}\n", line.trim_end())).collect()
}

fn callers_have_what_they_call() {
    let expected = "    95.00%     0.00%  prog     [JIT] tid 4194000  [.] main
    85.00%    25.00%  prog     [JIT] tid 4194000  [.] work
    70.00%    70.00%  prog     [JIT] tid 4194000  [.] leaf
     5.00%     5.00%  prog     [JIT] tid 4194000  [.] 0x0000000000007000
";
    assert_eq!(rows(&["-g", "none"]), expected);
    let expected = "    70.00%  leaf
    25.00%  work
     5.00%  0x0000000000007000
";
    assert_eq!(rows(&["--no-children", "-g", "none", "--sort", "sym"]).replace("[.] ", ""), expected);
}

fn call_graphs_of_all_kinds() {
    let leaf = |args: &[&str]| {
        let text = rows(&[&["--no-children", "--sort", "sym"], args].concat());
        let graph = text.lines().skip(1).take_while(|line| !line.contains("[.]"));
        graph.map(|line| format!("{}\n", line.trim_start())).collect::<String>()
    };
    assert_eq!(leaf(&[]), "|\n|--60.00%--work\n|          main\n|\n--10.00%--main\n");
    assert_eq!(leaf(&["-g", "callee,20"]), "|\n--60.00%--work\nmain\n");
    assert_eq!(leaf(&["-g", "fractal"]), "|\n|--85.71%--work\n|          main\n|\n--14.29%--main\n");
    assert_eq!(leaf(&["-g", "fractal,20"]), "|\n|--85.71%--work\n|          main\n--14.29%--[...]\n");
    // As in perf, the first function is left out if rows begin with the symbol, whichever end of the stack it is.
    assert_eq!(leaf(&["-g", "caller"]), "|\n|--60.00%--work\n|          leaf\n|\n--10.00%--leaf\n");
    assert_eq!(leaf(&["-g", "flat"]), "60.00%\nleaf\nwork\nmain\n10.00%\nleaf\nmain\n");
    assert_eq!(leaf(&["-g", "folded,count"]), "1 leaf;work;main\n1 leaf;main\n");
    assert_eq!(leaf(&["-g", "folded,period,1"]), "60 leaf;work;main\n10 leaf;main\n");
    assert_eq!(leaf(&["-g", "folded,0.5,1"]), "60.00% leaf;work;main\n");
    assert_eq!(leaf(&["-g", "none"]), "");
    assert_eq!(leaf(&["--no-call-graph"]), "");
    assert_eq!(leaf(&["--max-stack", "2", "-g", "folded"]), "60.00% leaf;work\n10.00% leaf;main\n");
}

fn the_parent_is_the_first_that_matches() {
    let args = ["--no-children", "-g", "none", "--sort", "parent"];
    assert_eq!(
        rows(&[&args[..], &["-p", "^(work|main)$"]].concat()),
        "    85.00%  work\n    10.00%  main\n     5.00%  [other]\n"
    );
    assert_eq!(rows(&[&args[..], &["-p", "^work$", "-x"]].concat()), "    85.00%  work\n");
}

fn unresolved_addresses_are_left_out() {
    let args = ["--no-children", "-g", "none", "--sort", "sym", "-U"];
    assert_eq!(rows(&args).replace("[.] ", ""), "    73.68%  leaf\n    26.32%  work\n");
}

fn names_cannot_control_a_terminal() {
    let hostile = "\u{1b}[31mred\u{202e}";
    let functions = format!("1000 8000 {hostile}\n");
    let (capture, root) = generated(&functions, hostile);
    for args in [&[][..], &["--format", "json"], &["-g", "folded"], &["-t", ";"], &["--sort", "tid,sym"]] {
        let args = [&["--symfs", root.to_str().unwrap()], args].concat();
        let run = report(capture.to_str().unwrap(), &args);
        assert_eq!(run.status, 0, "{}", run.err);
        let is_unsafe = |character: char| matches!(character, '\u{1b}' | '\u{202e}');
        assert!(!run.out.contains(is_unsafe) && run.out.contains("[31mred"), "{args:?}: {}", run.out);
    }
}
