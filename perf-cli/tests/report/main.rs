//! `perfdata report`: against the installed perf, which is shown as ignored where there is none; against goldens; its JSON
//! against its text; generated and long names; and what it says about wrong arguments.

#[cfg(target_os = "linux")]
mod archive;
mod arguments;
#[cfg(feature = "debuginfod")]
mod debuginfod;
mod examples;
mod golden;
mod inlined;
mod interpreters;
mod json;
mod long_names;
mod made;
mod memory;
mod merge;
mod missing;
mod names;
mod off_cpu;
mod perf;
mod rows;
mod symbol_cache;
mod trace_fields;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    needs::run(&[
        #[cfg(target_os = "linux")]
        archive::TESTS,
        arguments::TESTS,
        #[cfg(feature = "debuginfod")]
        debuginfod::TESTS,
        examples::TESTS,
        golden::TESTS,
        inlined::TESTS,
        interpreters::TESTS,
        json::TESTS,
        long_names::TESTS,
        memory::TESTS,
        merge::TESTS,
        missing::TESTS,
        names::TESTS,
        off_cpu::TESTS,
        perf::TESTS,
        rows::TESTS,
        symbol_cache::TESTS,
        trace_fields::TESTS,
    ])
}

/// The output and exit status of a run.
#[derive(Debug)]
struct Run {
    status: i32,
    out: String,
    err: String,
}

/// A file of `testdata`, such as `captures/plain.data`; other paths as they are.
fn path(file: &str) -> PathBuf {
    testdata::path("").parent().unwrap().join(file)
}

/// Runs `perfdata report` on a file.
fn report(file: &str, args: &[&str]) -> Run {
    perfdata("report", file, args)
}

/// Runs a verb of perfdata on a file.
fn perfdata(verb: &str, file: &str, args: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    let output = command.arg(verb).args(args).arg(path(file)).env("TZ", "UTC").output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { status: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

/// Captures that can be reported without files of this machine, with stacks, groups, tracepoints and branches.
const CAPTURES: [&str; 12] = [
    "captures/callchain.data",
    "captures/everything.data",
    "captures/group_read.data",
    "captures/raw.data",
    "captures/cgroups.data",
    "captures/namespaces.data",
    "captures/system_wide.data",
    "captures/mem.data",
    "captures/threads.dir",
    "captures/tracing.pipe.data",
    "captures/compressed.zstd.pipe.data",
    "synthetic/branches.le.data",
];
