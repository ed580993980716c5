//! `perfdata`: shows what is in a Linux performance capture.

#[cfg(target_os = "linux")]
extern crate alloc;

mod args;
mod dump;
mod info;
mod input;
#[cfg(target_os = "linux")]
mod live;
mod output;
mod progress;
mod render;
mod repair;

use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use perf_parse::file::{FileError, FileErrorKind};

use args::{Args, Verb};

/// How a run ended, as its exit status tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Everything was decoded.
    Clean,
    /// Records were delivered, but some bytes were truncated, skipped or not decodable.
    Partial,
    /// The command that was run ended with this status, which is passed on.
    #[cfg(target_os = "linux")]
    Command(u8),
}

/// Nothing could be decoded; the message says why and what to do.
#[derive(Debug)]
struct Failure(String);

impl<T: core::fmt::Display> From<T> for Failure {
    fn from(error: T) -> Self {
        Self(error.to_string())
    }
}

/// Says on standard error what is wrong in a capture.
fn diagnose(error: &FileError) {
    eprintln!("{error}");
}

/// The failure of a file that is no capture, with what to do about it.
fn not_readable(file: &Path, error: &FileError) -> Failure {
    let hint = match error.kind {
        FileErrorKind::NotPerfData => "; is it what perf record -o wrote?",
        FileErrorKind::Truncated { .. } => {
            "; the file was cut short: copy it again from where it was recorded"
        }
        _ => "",
    };
    Failure(format!("{}: {error}{hint}", file.display()))
}

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // --help and --version come this way too; clap prints those to standard output.
            let usage = error.use_stderr();
            let _ = error.print();
            return ExitCode::from(u8::from(usage));
        }
    };
    let outcome = match &args.verb {
        Verb::Info(args) => info::run(args),
        Verb::Dump(args) => dump::run(args),
        Verb::Repair(args) => repair::run(args),
        #[cfg(target_os = "linux")]
        Verb::Live(verb) => live::run(verb),
    };
    match outcome {
        Ok(Outcome::Clean) => ExitCode::SUCCESS,
        Ok(Outcome::Partial) => ExitCode::from(3),
        #[cfg(target_os = "linux")]
        Ok(Outcome::Command(status)) => ExitCode::from(status),
        Err(Failure(message)) => {
            eprintln!("perfdata: {message}");
            ExitCode::from(1)
        }
    }
}
