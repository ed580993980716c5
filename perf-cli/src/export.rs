//! `perfdata export`: samples in the formats of other tools.

#[cfg(feature = "parquet")]
mod columns;
#[cfg(feature = "parquet")]
mod data_set;
mod send;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use perf_export::otlp::OtlpEncoding;
use perf_export::{callgrind, chrome, csv, dot, firefox, fold, otlp, perfetto, pprof, speedscope};
use perf_parse::file::Reader;
use perf_profile::sched::SchedTrace;
use perf_profile::{Limits, Profile, ProfileError, SampleDetail, Symbols, TimeDetail};

use self::send::Destination;
use crate::args::export::{ExportArgs, To};
use crate::args::only::OnlyArgs;
use crate::escape::{OneLine, shown};
use crate::input::Memory;
use crate::outcome::{Failure, Outcome};
use crate::output::{say, write_document};
use crate::profile::{self, ProfileRequest, Profiles};
use crate::{branches, selection};

pub(crate) fn run(args: &ExportArgs) -> Result<Outcome, Failure> {
    #[cfg(target_os = "linux")]
    crate::output::remove_unfinished_on_signals();
    let outcome = export(args)?;
    if args.output.is_none() && args.sending.send.is_none() {
        say!("perfdata: wrote {}", shown(&args.out()));
    }
    Ok(outcome)
}

fn export(args: &ExportArgs) -> Result<Outcome, Failure> {
    if let Some(option) = args.columns.given().filter(|_| args.to != To::Parquet) {
        return Err(Failure(format!("{option} needs --to parquet")));
    }
    let destination = Destination::of(args)?;
    let detail = match args.to {
        To::Parquet => return columns::run(args),
        To::Callgrind | To::Dot | To::Folded => SampleDetail::default(),
        To::Chrome => SampleDetail { times: TimeDetail::Each, ..SampleDetail::default() },
        To::Perfetto => SampleDetail { times: TimeDetail::Each, cpus: true, ..SampleDetail::default() },
        To::Csv => SampleDetail { times: TimeDetail::Each, cpus: true, ..SampleDetail::default() },
        // Of branches no profile is made.
        To::Brstack | To::Preagg | To::Autofdo => {
            return branches::run(args, &|inputs, content| write_document(&args.out(), inputs, content));
        }
        To::Firefox => SampleDetail { times: TimeDetail::Each, cpus: true, ..SampleDetail::default() },
        To::Speedscope => SampleDetail { times: TimeDetail::Each, ..SampleDetail::default() },
        To::Pprof => SampleDetail { cpus: true, ..SampleDetail::default() },
        To::Otlp | To::OtlpJson => {
            SampleDetail { times: TimeDetail::Each, cpus: true, ..SampleDetail::default() }
        }
    };
    let files = &args.profile.files.0;
    if let (To::Firefox | To::Perfetto, [_, _, ..]) = (args.to, &files[..]) {
        let to = if args.to == To::Firefox { "firefox" } else { "perfetto" };
        return Err(Failure(format!("--to {to} writes one capture; export each to a file of its own")));
    }
    let request = ProfileRequest { marks: args.to == To::Firefox, ..(&args.profile).into() };
    let mut sched = None;
    let Profiles { profiles, inputs, outcome } =
        profile::read_and(&request, detail, &mut |reader, memory| {
            if args.to == To::Perfetto {
                sched = sched_trace(reader, memory, request.only)?.map(Arc::new);
            }
            Ok(())
        })?;
    let content = |out: &mut dyn Write| write(args, &profiles, sched, out);
    let Some(destination) = destination else {
        write_document(&args.out(), &inputs, content)?;
        return Ok(outcome);
    };
    let mut body = Vec::new();
    content(&mut body).map_err(|error| Failure(error.to_string()))?;
    if let Some(path) = &args.output {
        write_document(path, &inputs, |out| out.write_all(&body))?;
    }
    destination.send(&body)?;
    Ok(outcome)
}

/// Writes profiles in a format.
fn write(
    args: &ExportArgs,
    profiles: &[Profile],
    sched: Option<Arc<SchedTrace>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let threads = args.profile.threads();
    let files = &args.profile.files.0;
    match args.to {
        To::Folded => {
            let mut options = fold::Options::default();
            options.threads = threads;
            fold::write(profiles, &options, out)
        }
        // They are written of the captures.
        To::Brstack | To::Preagg | To::Autofdo | To::Parquet => Ok(()),
        To::Callgrind => callgrind::write(profiles, &callgrind::Options::default(), out),
        To::Chrome => chrome::write(profiles, &chrome::Options::default(), out),
        To::Perfetto => {
            let mut options = perfetto::Options::default();
            options.sched = sched;
            perfetto::write(profiles, &options, out)
        }
        To::Csv => csv::write(profiles, &csv::Options::default(), out),
        To::Dot => dot::write(profiles, &dot::Options::default(), out),
        To::Firefox => {
            let mut options = firefox::Options::default();
            options.product = name(files);
            options.threads = threads;
            firefox::write(profiles, &options, out)
        }
        To::Speedscope => {
            let mut options = speedscope::Options::default();
            options.name = name(files);
            options.threads = threads;
            speedscope::write(profiles, &options, out)
        }
        To::Pprof => {
            let mut options = pprof::Options::default();
            options.threads = threads;
            pprof::write(profiles, &options, out)
        }
        To::Otlp | To::OtlpJson => {
            let mut options = otlp::Options::default();
            options.encoding = encoding(args);
            options.threads = threads;
            otlp::write(profiles, &options, out)
        }
    }
}

/// Returns the encoding of profiles of OpenTelemetry.
fn encoding(args: &ExportArgs) -> OtlpEncoding {
    let is_protobuf = args.to == To::Otlp && !is_json(&args.out());
    if is_protobuf { OtlpEncoding::Protobuf } else { OtlpEncoding::Json }
}

/// Returns the switches and wake-ups of a capture; `None` if it does not have them.
fn sched_trace(
    reader: &Reader<'_>,
    memory: Memory<'_>,
    only: &OnlyArgs,
) -> Result<Option<SchedTrace>, Failure> {
    let samples =
        selection::unresolved(reader, memory, only, false)?.resolved().map_err(selection::failure)?;
    // What cannot be decoded was reported when the profile was made.
    let symbols = Symbols::of(reader).without_names();
    match samples.sched_trace(Limits::default(), &symbols, &mut ()) {
        Ok(trace) => {
            if trace.beyond() > 0 {
                say!(
                    "perfdata: switches and wake-ups left out, because they are beyond the limits: {}",
                    trace.beyond()
                );
            }
            Ok(Some(trace))
        }
        Err(ProfileError::SchedNotRecorded) => Ok(None),
        Err(error) => Err(selection::failure(error)),
    }
}

#[cfg(not(feature = "parquet"))]
mod columns {
    use super::{ExportArgs, Failure, Outcome};

    pub(super) fn run(_: &ExportArgs) -> Result<Outcome, Failure> {
        Err("--to parquet: this perfdata was built without Parquet; build one that has it: cargo install perf-cli --features parquet".into())
    }
}

/// Returns the names of the captures, without folders.
fn name(files: &[PathBuf]) -> String {
    let names = files.iter().filter_map(|path| path.file_name());
    let names: Vec<_> = names.map(|name| OneLine(name.as_encoded_bytes()).to_string()).collect();
    names.join(", ")
}

/// Returns whether the name of a file ends in `.json`.
fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}
