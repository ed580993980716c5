//! `perfdata record`, `stat` and `list` on the machine that runs the tests; the installed perf on our captures; cargo
//! on our dependencies. Each test names what it needs from the machine. If the machine lacks it, the test is shown as
//! ignored, with the reason.

extern crate alloc;

mod annotate;
mod dependencies;
mod dump;
mod list;
mod packages;
mod pager;
mod perf_habits;
mod record;
mod ring;
mod serve;
mod stat;
mod top;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    if record::workload::was_asked_for() {
        return std::process::ExitCode::SUCCESS;
    }
    let status = needs::run(&[
        annotate::TESTS,
        dependencies::TESTS,
        dump::TESTS,
        list::TESTS,
        packages::TESTS,
        pager::TESTS,
        perf_habits::TESTS,
        record::aux_area::TESTS,
        record::bpf::TESTS,
        record::cache::TESTS,
        record::events::TESTS,
        record::files::TESTS,
        record::kcore::TESTS,
        record::messages::TESTS,
        record::namespaces::TESTS,
        record::output::TESTS,
        record::overwrite::TESTS,
        record::perf::TESTS,
        record::python::TESTS,
        record::requests::TESTS,
        record::synthesized::TESTS,
        record::threads::TESTS,
        record::observed::TESTS,
        ring::TESTS,
        serve::TESTS,
        stat::counts::TESTS,
        stat::ends::TESTS,
        stat::options::TESTS,
        stat::perf::TESTS,
        stat::recorded::TESTS,
        stat::usage::TESTS,
        top::TESTS,
    ]);
    record::workload::clean_up();
    status
}

/// Runs a script that checks something: its status must be 0, and a failure shows what it says.
#[cfg(target_os = "linux")]
fn check(script: &mut std::process::Command) {
    let output = script.output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
}

#[cfg(not(target_os = "linux"))]
fn main() {}
