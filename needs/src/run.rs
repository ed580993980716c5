use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::any::Any;
use std::panic::resume_unwind;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

use libtest_mimic::{Arguments, Completion, Failed, FormatSetting, Trial};

use crate::{Need, all};

/// The variable that turns skips into failures: `all`, or the names of needs, separated by commas.
pub const REQUIRE: &str = "PERF_TESTS_REQUIRE";

/// A test: its name, its needs, and its function.
#[derive(Debug, Clone, Copy)]
pub struct Test {
    name: &'static str,
    needs: &'static [Need],
    run: fn(),
}

impl Test {
    /// Creates a test. `name` is its path from the root of the test program; [`tests!`](crate::tests) calls this.
    #[must_use]
    pub const fn new(name: &'static str, needs: &'static [Need], run: fn()) -> Self {
        Self { name, needs, run }
    }
}

/// The panic payload of a skipped test.
#[derive(Debug)]
pub(crate) struct Skip {
    pub(crate) name: String,
    pub(crate) reason: String,
}

/// The number of skipped tests for each reason.
type Reasons = BTreeMap<String, u32>;

/// Runs the tests that the program's arguments select, like the test harness of the standard library. At the end,
/// prints how many tests were skipped for each reason. The status is a failure if a test failed.
#[must_use]
pub fn run(modules: &[&[Test]]) -> ExitCode {
    let arguments = Arguments::from_args();
    let reasons = Arc::new(Mutex::new(Reasons::new()));
    let trials = modules.iter().copied().flatten().map(|&test| trial(test, Arc::clone(&reasons))).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    let reasons = reasons.lock().unwrap_or_else(PoisonError::into_inner);
    if !reasons.is_empty() && arguments.format != Some(FormatSetting::Json) {
        println!("skipped, because this machine lacks what they need:");
        for (reason, count) in &*reasons {
            println!("{count:5}  {reason}");
        }
        println!();
    }
    conclusion.exit_code()
}

fn trial(test: Test, reasons: Arc<Mutex<Reasons>>) -> Trial {
    // The path starts with the name of the program.
    let name = test.name.split_once("::").map_or(test.name, |(_, name)| name);
    Trial::ignorable_test(name, move || match on_a_thread(name, test) {
        Ok(()) => Ok(Completion::Completed),
        Err(payload) => match payload.downcast::<Skip>() {
            Ok(skip) if is_required(&std::env::var(REQUIRE).unwrap_or_default(), &skip.name) => {
                Err(Failed::from(format!("{}; {REQUIRE} requires it", skip.reason)))
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

/// Runs a test on its own thread, which has the name of the test. State that the test leaves in its thread, such as
/// blocked signals and the events of a task, does not affect other tests.
fn on_a_thread(name: &str, test: Test) -> Result<(), Box<dyn Any + Send>> {
    let thread = Builder::new().name(name.to_owned()).spawn(move || {
        all(test.needs);
        (test.run)();
    });
    thread.map_err(|error| Box::new(error.to_string()) as Box<dyn Any + Send>)?.join()
}

/// Returns whether a need must be met, by the value of [`REQUIRE`].
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
