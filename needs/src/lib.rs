//! Tests that need something from the machine: permission to open events, tracefs, perf, a compiler.
//!
//! A test first names its needs. Each need is tried: a system call is made, a file is read, a program is run. If one
//! fails, the test ends there and is shown as ignored, with the reason. The last lines of the output count the tests
//! for each reason. If the variable [`REQUIRE`] names the need, the test fails instead.
//!
//! This crate is separate from `testdata`, which the fuzz targets also use: they need neither the test harness nor the
//! system calls.
//!
//! ```
//! fn faults_are_counted() {
//!     needs::all(&[needs::Need::Events]);
//!     // ...
//! }
//!
//! const TESTS: &[needs::Test] = needs::tests![faults_are_counted];
//!
//! fn main() -> std::process::ExitCode {
//!     needs::run(&[TESTS])
//! }
//! ```

extern crate alloc;

mod kernel;
mod need;
#[cfg(unix)]
mod program;
mod run;

pub use need::{Need, as_ordinary_user};
#[cfg(unix)]
pub use program::{Folder, Run};
pub use run::{REQUIRE, Test, run};

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

/// Skips the test if the machine lacks one of `needs`.
///
/// Call it on the thread that the test started on.
///
/// # Panics
///
/// If a need is not met. It unwinds with its own payload, which [`run`] catches.
pub fn all(needs: &[Need]) {
    for need in needs {
        if let Err(reason) = need.check() {
            skip(need.name(), &reason);
        }
    }
}

/// Skips the test because it needs `name`. The test has tried that itself, and `reason` is the result.
///
/// # Panics
///
/// Always, with the payload of [`all`].
pub fn skip(name: &str, reason: &str) -> ! {
    // A reason must be one line.
    let reason = format!("needs {name}: {}", reason.split_whitespace().collect::<Vec<_>>().join(" "));
    std::panic::resume_unwind(Box::new(run::Skip { name: name.to_owned(), reason }))
}

/// Runs an example of the package whose test program this is, and returns what it prints. Skips the test if the example is
/// not built.
///
/// # Panics
///
/// If the example fails.
#[must_use]
pub fn example(name: &str, args: &[impl AsRef<OsStr>]) -> String {
    let tests = std::env::current_exe().unwrap();
    let example = tests.parent().unwrap().with_file_name("examples").join(name);
    if !example.exists() {
        skip("examples", "`cargo test --tests` does not build them");
    }
    let ended = Command::new(&example).args(args).output().unwrap();
    assert!(ended.status.success(), "{name}: {}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8(ended.stdout).unwrap()
}

/// Returns the modifier for events that are sampled or counted here: none if the kernel may be counted, else `:u`.
#[must_use]
pub fn modifier() -> &'static str {
    if Need::KernelEvents.check().is_ok() { "" } else { ":u" }
}

/// Returns the folder of this test. It is empty on the first call, and is removed when the thread of the test ends.
///
/// No two tests share a folder, even if two test programs run at once. Tests need not write to the source tree or the
/// build's folder.
///
/// # Panics
///
/// If the folder for temporary files is not writable.
#[must_use]
pub fn folder() -> PathBuf {
    thread_local! {
        static FOLDER: TempDir = tempfile::tempdir().expect("a folder of temporary files");
    }
    FOLDER.with(|folder| folder.path().to_owned())
}

/// Returns the home of this test, for programs that write there. It is like [`folder`], and another folder.
///
/// # Panics
///
/// If the folder for temporary files is not writable.
#[must_use]
pub fn home() -> PathBuf {
    thread_local! {
        static HOME: TempDir = tempfile::tempdir().expect("a folder of temporary files");
    }
    HOME.with(|home| home.path().to_owned())
}

/// Lists the tests of a module by the names of their functions. A list of what each of them needs may precede them.
///
/// The compiler warns about a test function that is not listed, because nothing calls it.
///
/// ```
/// # fn one() {}
/// # fn two() {}
/// const TESTS: &[needs::Test] = needs::tests![Events, Tracepoints: one, two];
/// ```
#[macro_export]
macro_rules! tests {
    ($($need:ident),+: $($test:ident),+ $(,)?) => {{
        const NEEDS: &[$crate::Need] = &[$($crate::Need::$need),+];
        &[$($crate::Test::new(concat!(module_path!(), "::", stringify!($test)), NEEDS, $test)),+]
    }};
    ($($test:ident),+ $(,)?) => {
        &[$($crate::Test::new(concat!(module_path!(), "::", stringify!($test)), &[], $test)),+]
    };
}
