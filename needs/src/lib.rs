//! Tests that need something of the machine: the right to open events, tracefs, perf, a compiler.
//!
//! A test names its needs first. Each is tried: the system call is made, the file is read, the program is run. Where one
//! fails, the test ends there and shows as ignored with the reason, and the last lines of the output count the reasons.
//! Where the variable [`REQUIRE`] names the need, the test fails instead.
//!
//! This is a crate apart from `testdata`, which the fuzz targets use too: they need neither the test program nor the system
//! calls.
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
mod run;

pub use need::{Need, as_ordinary_user};
pub use run::{REQUIRE, Test, run};

use std::path::PathBuf;

use tempfile::TempDir;

/// Ends the test as skipped if the machine lacks one of `needs`.
///
/// To be called on the thread that the test began on.
///
/// # Panics
///
/// It unwinds with a payload of its own where a need is not met, which [`run`] takes.
pub fn all(needs: &[Need]) {
    for need in needs {
        if let Err(reason) = need.check() {
            skip(need.name(), &reason);
        }
    }
}

/// Ends the test as skipped: it needs `name`, which the test itself has tried, and `reason` says what came of it.
///
/// # Panics
///
/// Always, as [`all`] does.
pub fn skip(name: &str, reason: &str) -> ! {
    // A reason is one line.
    let reason = format!("needs {name}: {}", reason.split_whitespace().collect::<Vec<_>>().join(" "));
    std::panic::resume_unwind(Box::new(run::Skip { name: name.to_owned(), reason }))
}

/// The modifier of events that are to be sampled or counted here: none where the kernel may be, else `:u`.
#[must_use]
pub fn modifier() -> &'static str {
    if Need::KernelEvents.check().is_ok() { "" } else { ":u" }
}

/// The folder of this test, empty when it is first asked for, which goes away with the thread that the test runs on.
///
/// Two tests never have the same, be they of one program or of two that run at once, and no test needs to write to the source
/// tree or the build's.
///
/// # Panics
///
/// If the folder of temporary files cannot be written to.
#[must_use]
pub fn folder() -> PathBuf {
    thread_local! {
        static FOLDER: TempDir = tempfile::tempdir().expect("a folder of temporary files");
    }
    FOLDER.with(|folder| folder.path().to_owned())
}

/// The tests of a module, by the names of their functions; before them, what each of them needs.
///
/// A function that is forgotten here is one that nothing calls, which the compiler says.
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
