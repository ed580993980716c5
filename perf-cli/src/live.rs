//! The verbs that use the running kernel; Linux only.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use perf_record::CgroupError;

use crate::args::live::Verb;
use crate::outcome::{Failure, Outcome};

mod control;
mod in_memory;
mod list;
mod observed;
mod record;
mod requests;
mod serve;
mod stat;
mod top;

pub(crate) fn run(verb: &Verb) -> Result<Outcome, Failure> {
    match verb {
        Verb::Record(args) => record::run(args),
        Verb::Stat(args) => stat::run(args),
        Verb::Top(args) => top::run(args),
        Verb::Serve(args) => serve::run(args),
        Verb::List(args) => list::run(args),
    }
}

/// Returns the failure of `--cgroup`.
fn cgroup_failure(error: CgroupError) -> Failure {
    match error {
        CgroupError::MixedGroup | CgroupError::CountMismatch { .. } => Failure(format!("--cgroup: {error}")),
        // It names the cgroup.
        _ => Failure(error.to_string()),
    }
}

/// Returns the exit code that a shell would report for a status.
fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| signal.saturating_add(128)));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}
