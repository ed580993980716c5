//! `perfdata`: shows what is in a Linux performance capture.
//!
//! The library has one function, [`run`], which is the program. Tests and fuzz targets call it without starting a
//! process.

#![forbid(unsafe_code)]

extern crate alloc;

mod annotate;
#[cfg(target_os = "linux")]
mod archive;
mod args;
mod batch;
mod branches;
mod build_ids;
mod c2c;
mod capture_names;
mod colors;
mod column;
mod debug_archive;
mod diff;
#[cfg(feature = "debuginfod")]
mod downloads;
mod dump;
mod edit;
mod escape;
mod evlist;
mod export;
mod flamegraph;
mod fold;
mod greeting;
mod index;
mod info;
mod input;
mod itrace;
#[cfg(target_os = "linux")]
mod live;
mod local_time;
mod lock;
mod mapped_files;
mod names;
mod observer;
mod outcome;
mod output;
#[cfg(target_os = "linux")]
mod pager;
mod perf_text;
mod profile;
mod progress;
mod quality;
mod render;
mod repair;
mod report;
mod ring;
mod sched;
mod script;
mod selection;
mod shell;
mod streams;
mod terminal;

use std::ffi::OsString;
use std::io::Write;

use clap::error::ContextValue;

use args::{Args, Verb};
use escape::OneLine;
use outcome::{Failure, Outcome};
use output::say;
pub use streams::Streams;

/// Escapes unsafe characters in the arguments that a usage message repeats.
fn repeatable(mut error: clap::Error) -> clap::Error {
    let safe = |text: &String| OneLine(text.as_bytes()).to_string();
    let words: Vec<_> = error
        .context()
        .filter_map(|(kind, value)| match value {
            ContextValue::String(text) => Some((kind, ContextValue::String(safe(text)))),
            ContextValue::Strings(texts) => {
                Some((kind, ContextValue::Strings(texts.iter().map(safe).collect())))
            }
            _ => None,
        })
        .collect();
    for (kind, value) in words {
        error.insert(kind, value);
    }
    error
}

/// Runs `perfdata` with `args`, the name of the program first. It uses `streams`, or the streams of the process if
/// `None`.
///
/// Returns the exit status: 0 if everything was decoded, 1 if nothing could be decoded, 3 if records were delivered but
/// some bytes were truncated, skipped or not decodable. `record` and `stat` return the status of the command they run.
///
/// With `streams`, `run` leaves the handling of signals to the caller: a file that is being written when the process is
/// ended remains under its hidden temporary name.
///
/// # Examples
///
/// ```
/// use perf_cli::{Streams, run};
///
/// let streams = Streams {
///     input: Box::new(&b"no capture"[..]),
///     output: Box::new(std::io::sink()),
///     errors: Box::new(std::io::sink()),
/// };
/// assert_eq!(run(["perfdata", "info", "-"].map(Into::into), Some(streams)), 1);
/// ```
#[must_use]
pub fn run(args: impl IntoIterator<Item = OsString>, streams: Option<Streams>) -> u8 {
    streams::with(streams, || run_here(args))
}

fn run_here(args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    if args.len() < 2 {
        // Scripts rely on the status of wrong usage. Nothing can be done if standard error is closed.
        let _ = streams::Errors.write_all(greeting::text().as_bytes());
        return 1;
    }
    let mut args = match Args::read(args) {
        Ok(args) => args,
        Err(error) => {
            // --help and --version are errors too; clap prints those to standard output.
            let usage = error.use_stderr();
            let error = repeatable(error);
            let _ = match usage {
                _ if streams::are_of_process() => error.print(),
                true => write!(streams::Errors, "{}", error.render()),
                false => write!(streams::Output, "{}", error.render()),
            };
            return u8::from(usage);
        }
    };
    let reading = args.verb.reading();
    input::map(!reading.is_some_and(|it| it.no_mmap));
    input::decode_provisional_abi(reading.is_some_and(|it| it.provisional_abi));
    #[cfg(target_os = "linux")]
    output::survive_file_size_limit();
    #[cfg(target_os = "linux")]
    if args.verb.is_paged() && !args.no_pager && streams::are_of_process() && !terminal::is_dumb() {
        pager::plan();
    }
    let outcome = run_verb(&mut args.verb);
    #[cfg(target_os = "linux")]
    pager::end();
    #[cfg(target_os = "linux")]
    output::leave_end_to_signal();
    match outcome {
        Ok(Outcome::Clean) => 0,
        Ok(Outcome::Partial) => 3,
        #[cfg(target_os = "linux")]
        Ok(Outcome::Command(status)) => status,
        Err(Failure(message)) => {
            say!("perfdata: {message}");
            1
        }
    }
}

fn run_verb(verb: &mut Verb) -> Result<Outcome, Failure> {
    match verb {
        Verb::Info(args) => info::run(args),
        Verb::Dump(args) => dump::run(args),
        Verb::Ring(args) => ring::run(args),
        Verb::Repair(args) => repair::run(args),
        Verb::Edit(args) => edit::run(args),
        Verb::Index(args) => index::run(args),
        #[cfg(target_os = "linux")]
        Verb::Archive(args) => archive::run(args),
        Verb::Script(args) => script::run(args),
        Verb::Report(args) => report::run(args),
        Verb::Annotate(args) => annotate::run(args),
        Verb::Sched(args) => sched::run(args),
        Verb::Lock(args) => lock::run(args),
        Verb::C2c(args) => c2c::run(args),
        Verb::Fold(args) => fold::run(args),
        Verb::Diff(args) => diff::run(args),
        Verb::Flamegraph(args) => flamegraph::run(args),
        Verb::Export(args) => export::run(args),
        #[cfg(target_os = "linux")]
        Verb::Live(verb) => live::run(verb),
        Verb::Evlist(args) => evlist::run(args),
        Verb::BuildidList(args) => build_ids::run(&args.file, args.with_hits),
        Verb::Completions(args) => shell::completions(args),
        Verb::Man(args) => shell::man(args),
    }
}
