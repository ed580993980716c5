//! `perfdata`: shows what is in a Linux performance capture.

mod args;
mod dump;
mod info;
mod input;
mod output;
mod progress;
mod render;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Verb};

/// How a run ended, as its exit status tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Everything was decoded.
    Clean,
    /// Records were delivered, but some bytes were truncated, skipped or not decodable.
    Partial,
}

/// Nothing could be decoded; the message says why and what to do.
#[derive(Debug)]
struct Failure(String);

impl<T: core::fmt::Display> From<T> for Failure {
    fn from(error: T) -> Self {
        Self(error.to_string())
    }
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
    };
    match outcome {
        Ok(Outcome::Clean) => ExitCode::SUCCESS,
        Ok(Outcome::Partial) => ExitCode::from(3),
        Err(Failure(message)) => {
            eprintln!("perfdata: {message}");
            ExitCode::from(1)
        }
    }
}
