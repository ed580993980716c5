//! An output may not be an input or another output, under any path.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Stdio;

use crate::{Folder, Run, new, with_capture, with_rings};

/// Checks that a run refuses to write, and leaves all files and their content unchanged.
fn refused(folder: &Folder, run: impl FnOnce() -> Run, why: &[&str]) {
    let state = || -> Vec<_> {
        let content = |name: &String| fs::read(folder.path(name)).ok();
        folder.names().into_iter().map(|name| (content(&name), name)).collect()
    };
    let before = state();
    let run = run();
    run.fails(why);
    assert_eq!(run.out, "");
    assert!(before == state(), "{run:?}: files have changed");
}

#[test]
fn repair_does_not_write_to_its_input() {
    let folder = with_capture("repair_input");
    fs::hard_link(folder.path("in.data"), folder.path("hard")).unwrap();
    symlink("in.data", folder.path("soft")).unwrap();
    symlink("soft", folder.path("softer")).unwrap();
    symlink(".", folder.path("here")).unwrap();
    for output in ["in.data", "./in.data", "hard", "soft", "softer", "here/in.data"] {
        let why = [output, "read as input; give -o another name"];
        refused(&folder, || folder.run(&["repair", "in.data", "-o", output]), &why);
        let why = ["give --report another name"];
        refused(&folder, || folder.run(&["repair", "in.data", "-o", "x", "--report", output]), &why);
    }
    refused(
        &folder,
        || folder.run(&["repair", "soft", "-o", "hard"]),
        &["hard: is the same file as soft, which is read as input"],
    );
    refused(
        &folder,
        || folder.run(&["repair", "--no-mmap", "in.data", "-o", "hard"]),
        &["the same file as in.data"],
    );
}

#[test]
fn repair_does_not_write_to_standard_input() {
    let folder = with_capture("repair_stdin");
    for args in [["-", "-o", "in.data"], ["-", "-o", "/dev/stdin"], ["/dev/stdin", "-o", "in.data"]] {
        let args = [&["repair"], &args[..]].concat();
        let run = || Run::of(folder.command(&args).stdin(folder.open("in.data")));
        refused(&folder, run, &["read as input", "give -o another name"]);
    }
}

#[test]
fn repair_does_not_write_into_the_folder_it_reads() {
    let folder = new("repair_folder");
    let threads = testdata::path("threads.dir");
    for entry in fs::read_dir(threads).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), folder.path(entry.file_name().to_str().unwrap())).unwrap();
    }
    let names: Vec<_> = folder.names().into_iter().filter(|name| name.starts_with("data")).collect();
    assert!(names.len() > 2, "{names:?}");
    for name in &names {
        refused(&folder, || folder.run(&["repair", ".", "-o", name]), &[name, "give -o another name"]);
        let report = || folder.run(&["repair", ".", "-o", "x", "--report", name]);
        refused(&folder, report, &[name, "give --report another name"]);
    }
    let new = || folder.run(&["repair", ".", "-o", "data.new"]);
    refused(&folder, new, &["data.new: would become a data file of .; give -o another name"]);
    folder.run(&["repair", ".", "-o", "mended.data"]).succeeds();
}

#[test]
fn two_outputs_are_two_files() {
    let folder = with_capture("two_outputs");
    symlink(".", folder.path("here")).unwrap();
    symlink("new", folder.path("dangling")).unwrap();
    for report in ["new", "./new", "here/new", "dangling"] {
        let why = [report, "is also the output of -o; give --report another name"];
        refused(&folder, || folder.run(&["repair", "in.data", "-o", "new", "--report", report]), &why);
    }
    fs::write(folder.path("there"), "something").unwrap();
    fs::hard_link(folder.path("there"), folder.path("hard")).unwrap();
    symlink("there", folder.path("soft")).unwrap();
    for report in ["there", "hard", "soft"] {
        let why = [report, "is also the output of -o; give --report another name"];
        refused(&folder, || folder.run(&["repair", "in.data", "-o", "there", "--report", report]), &why);
    }
    // Files without content to overwrite may be the same.
    folder.run(&["repair", "in.data", "-o", "/dev/null", "--report", "/dev/null"]).succeeds();
}

#[test]
fn ring_does_not_write_to_what_it_reads() {
    let folder = with_rings("ring_inputs");
    fs::hard_link(folder.path("attr.data"), folder.path("attr.hard")).unwrap();
    symlink("attr.data", folder.path("attr.soft")).unwrap();
    fs::write(folder.path("area"), [0; 4096]).unwrap();
    let args = ["ring", "0.ring", "1.ring", "--attr", "attr.data"];
    for file in ["0.ring", "1.ring", "attr.data", "attr.hard", "attr.soft"] {
        let why = [file, "read as input; give -o another name"];
        refused(&folder, || folder.run(&[&args[..], &["-o", file]].concat()), &why);
        let why = [file, "read as input; give --aux-output another name"];
        refused(&folder, || folder.run(&[&args[..], &["--aux-output", file]].concat()), &why);
    }
    let apart = [&args[..], &["--aux", "area", "--aux-output", "area"]].concat();
    refused(&folder, || folder.run(&apart), &["area: is read as input; give --aux-output another name"]);
    let both = [&args[..], &["--aux-output", "new", "-o", "new"]].concat();
    refused(
        &folder,
        || folder.run(&both),
        &["new: is also the output of --aux-output; give -o another name"],
    );
}

#[test]
fn ring_does_not_write_to_what_it_prints_to() {
    let folder = with_rings("ring_prints");
    let args = ["ring", "0.ring", "--attr", "attr.data", "--aux-output", "new"];
    let mut run = folder.command(&args);
    run.stdout(Stdio::from(fs::File::create(folder.path("new")).unwrap()));
    Run::of(&mut run).fails(&["new: is also the output of standard output; give --aux-output another name"]);
    assert_eq!(folder.read("new"), b"");
}
