//! The perf tool.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use testdata::arm_spe::Capture;

/// A perf tool, and where it finds a capture.
pub(crate) struct Perf {
    program: OsString,
    pub(crate) is_6_1: bool,
}

impl Perf {
    pub(crate) fn new() -> Self {
        let program = std::env::var_os("SPE_PERF").unwrap_or_else(|| "perf".into());
        let output = Command::new(&program).arg("--version").output().expect("perf runs");
        let version = String::from_utf8(output.stdout).expect("a version is text");
        Self { program, is_6_1: version.starts_with("perf version 6.1") }
    }

    /// Skips the test for perf 6.1, whose samples differ.
    pub(crate) fn needs_samples_of_7_2(&self, name: &str) {
        if self.is_6_1 {
            needs::skip(name, "samples of perf 7.2 are compared, and this is perf 6.1");
        }
    }

    /// Returns what `perf script` prints of a capture.
    pub(crate) fn script(&self, name: &str, capture: &Capture, args: &[&str]) -> String {
        let path: PathBuf = needs::folder().join(name);
        std::fs::write(&path, capture.build()).expect("the folder can be written");
        let output = Command::new(&self.program)
            .arg("script")
            .args(args)
            .arg("-i")
            .arg(&path)
            .env("PERF_CONFIG", "/dev/null")
            .env("LC_ALL", "C")
            .output()
            .expect("perf runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("perf prints text")
    }
}
