use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::any::Any;
use std::panic::resume_unwind;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

use libtest_mimic::{Arguments, Completion, Failed, FormatSetting, Trial};

use crate::{Need, all};

/// The variable that makes skips failures: `all`, or the names of needs with commas between them.
pub const REQUIRE: &str = "PERF_TESTS_REQUIRE";

/// A test: its name, what it needs, and what it does.
#[derive(Debug, Clone, Copy)]
pub struct Test {
    name: &'static str,
    needs: &'static [Need],
    run: fn(),
}

impl Test {
    /// The test `run`, whose `name` is its path from the root of the test program; [`tests!`](crate::tests) calls this.
    #[must_use]
    pub const fn new(name: &'static str, needs: &'static [Need], run: fn()) -> Self {
        Self { name, needs, run }
    }
}

/// What a test that is skipped unwinds with.
#[derive(Debug)]
pub(crate) struct Skip {
    pub(crate) name: String,
    pub(crate) reason: String,
}

/// How many tests were skipped for each reason.
type Reasons = BTreeMap<String, u32>;

/// Runs the tests that the arguments of the program choose, as the test program of the standard library would, and prints in
/// the end how many were skipped for which reasons. The status is a failure if a test failed.
#[must_use]
pub fn run(modules: &[&[Test]]) -> ExitCode {
    let arguments = Arguments::from_args();
    let reasons = Arc::new(Mutex::new(Reasons::new()));
    let trials = modules.iter().copied().flatten().map(|&test| trial(test, Arc::clone(&reasons))).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    let reasons = reasons.lock().unwrap_or_else(PoisonError::into_inner);
    if !reasons.is_empty() && arguments.format != Some(FormatSetting::Json) {
        println!("skipped, as this machine lacks what they need:");
        for (reason, count) in &*reasons {
            println!("{count:5}  {reason}");
        }
        println!();
    }
    conclusion.exit_code()
}

fn trial(test: Test, reasons: Arc<Mutex<Reasons>>) -> Trial {
    // The program's own name comes first.
    let name = test.name.split_once("::").map_or(test.name, |(_, name)| name);
    Trial::ignorable_test(name, move || match on_a_thread(name, test) {
        Ok(()) => Ok(Completion::Completed),
        Err(payload) => match payload.downcast::<Skip>() {
            Ok(skip) if is_required(&std::env::var(REQUIRE).unwrap_or_default(), &skip.name) => {
                Err(Failed::from(format!("{}; {REQUIRE} says that this machine has it", skip.reason)))
            }
            Ok(skip) => {
                let mut reasons = reasons.lock().unwrap_or_else(PoisonError::into_inner);
                *reasons.entry(skip.reason.clone()).or_default() += 1;
                Ok(Completion::ignored_with(skip.reason))
            }
            Err(payload) => resume_unwind(payload),
        },
    })
}

/// Runs a test on a thread of its own, which is called as the test is: what it leaves in its thread, such as blocked signals
/// and the events of a task, is no other test's.
fn on_a_thread(name: &str, test: Test) -> Result<(), Box<dyn Any + Send>> {
    let thread = Builder::new().name(name.to_owned()).spawn(move || {
        all(test.needs);
        (test.run)();
    });
    thread.map_err(|error| Box::new(error.to_string()) as Box<dyn Any + Send>)?.join()
}

/// Whether a need must be met, by the value of [`REQUIRE`].
fn is_required(variable: &str, name: &str) -> bool {
    variable.split(',').map(str::trim).any(|required| required == "all" || required == name)
}

#[cfg(test)]
mod tests {
    use super::is_required;

    #[test]
    fn needs_are_required_by_name_or_all_at_once() {
        assert!(is_required("all", "perf"));
        assert!(is_required("events, perf", "perf"));
        assert!(!is_required("events", "perf"));
        assert!(!is_required("", "perf"));
    }
}
