//! The program `perfdata`, built from the main workspace.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::failure::Failure;

/// Returns cargo, of the toolchain that runs this program; of the user's, if it was started without cargo.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Builds the program and returns its path.
///
/// # Errors
///
/// If the build fails.
pub(crate) fn build(release: bool) -> Result<PathBuf, Failure> {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let mut cargo = cargo();
    cargo.args(["build", "--quiet", "--package", "perf-cli", "--message-format", "json-render-diagnostics"]);
    cargo.args(["--manifest-path", manifest]).args(release.then_some("--release"));
    let output = cargo.stderr(Stdio::inherit()).output().map_err(|error| Failure::of("cargo", error))?;
    if !output.status.success() {
        return Err(Failure::of("cargo build", output.status));
    }
    // cargo prints one JSON object per line; the object of the program has its path.
    let messages = String::from_utf8_lossy(&output.stdout);
    let executable =
        messages.lines().find_map(|line| line.split_once("\"executable\":\"")?.1.split('"').next());
    executable.map(PathBuf::from).ok_or_else(|| Failure("cargo built no program".into()))
}
