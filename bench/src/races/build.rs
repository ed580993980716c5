//! The build times of perf-parse and perfdata, and the size of perfdata.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::Instant;

use super::Context;
use crate::failure::Failure;
use crate::perfdata;
use crate::race::median;
use crate::table::{Goal, Table};

/// Number of timed builds. Each takes seconds, so a few are enough.
const BUILDS: usize = 3;

pub(crate) fn run(context: &Context) -> Result<Vec<Table>, Failure> {
    if context.quick {
        return Ok(Vec::new());
    }
    // Fetches missing dependencies before the time is measured.
    cargo(&["fetch"], None)?;
    let mut seconds = Vec::new();
    for _ in 0..BUILDS {
        let target = Folder::new()?;
        let start = Instant::now();
        cargo(&["build", "--release", "-p", "perf-parse", "--no-default-features"], Some(&target.0))?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    let (program, size) = perfdata(&[])?;
    let (_, largest) = perfdata(&["--all-features"])?;

    let least = seconds.iter().copied().fold(f64::INFINITY, f64::min);
    let most = seconds.iter().copied().fold(0.0, f64::max);
    let middle = median(seconds);
    let cores = thread::available_parallelism()?;
    let mut table = Table::new(format!("Building, {cores} cores"), &["what", "figure", "min-max"]);
    table.rows = vec![
        vec![
            "perf-parse without default features, release, from nothing: s".into(),
            format!("{middle:.1}"),
            format!("{least:.1}-{most:.1}"),
        ],
        vec!["perfdata, release, from nothing: s".into(), format!("{program:.0}"), "".into()],
        vec!["perfdata, release, stripped: MB".into(), format!("{size:.2}"), "".into()],
        vec!["perfdata with all features, the same: MB".into(), format!("{largest:.2}"), "".into()],
    ];
    table.judge("seconds of perf-parse", middle, Goal::AtMost(10.0));
    table.judge("seconds of perfdata", program, Goal::AtMost(150.0));
    table.judge("MB", size, Goal::AtMost(12.0));
    table.judge("MB with all features", largest, Goal::AtMost(40.0));
    Ok(vec![table])
}

/// Builds perfdata from nothing. Returns the seconds, and the megabytes of the program.
fn perfdata(features: &[&str]) -> Result<(f64, f64), Failure> {
    let target = Folder::new()?;
    let start = Instant::now();
    cargo(&[&["build", "--release", "-p", "perf-cli"], features].concat(), Some(&target.0))?;
    let seconds = start.elapsed().as_secs_f64();
    Ok((seconds, fs::metadata(target.0.join("release/perfdata"))?.len() as f64 / 1e6))
}

/// Runs cargo in the main workspace.
fn cargo(args: &[&str], target: Option<&Path>) -> Result<(), Failure> {
    let mut command = perfdata::cargo();
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).args(args);
    command.arg("--quiet").stdin(Stdio::null()).env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
    if let Some(target) = target {
        command.env("CARGO_TARGET_DIR", target);
    }
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(Failure::of(format!("cargo {}", args.join(" ")), status)) }
}

/// An empty temporary directory, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, Failure> {
        let folder = env::temp_dir().join(format!("perf-abi-bench-{}", std::process::id()));
        fs::create_dir(&folder).map_err(|error| Failure::of(folder.display(), error))?;
        Ok(Self(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // If the removal fails, the system cleans up its directory of temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}
