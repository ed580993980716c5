//! `perfdata export`: samples in the formats of other tools.

#[cfg(feature = "parquet")]
mod columns;
#[cfg(feature = "parquet")]
mod data_set;

use std::path::{Path, PathBuf};

use perf_export::otlp::OtlpEncoding;
use perf_export::{callgrind, chrome, csv, dot, firefox, fold, otlp, pprof, speedscope};
use perf_profile::{SampleDetail, TimeDetail};

use crate::args::export::{ExportArgs, To};
use crate::branches;
use crate::escape::{OneLine, shown};
use crate::outcome::{Failure, Outcome};
use crate::output::{say, write_document};
use crate::profile::{self, ProfileRequest, Profiles};

pub(crate) fn run(args: &ExportArgs) -> Result<Outcome, Failure> {
    #[cfg(target_os = "linux")]
    crate::output::remove_unfinished_on_signals();
    let outcome = export(args)?;
    if args.output.is_none() {
        say!("perfdata: wrote {}", shown(&args.out()));
    }
    Ok(outcome)
}

fn export(args: &ExportArgs) -> Result<Outcome, Failure> {
    if let Some(option) = args.columns.given().filter(|_| args.to != To::Parquet) {
        return Err(Failure(format!("{option} needs --to parquet")));
    }
    let detail = match args.to {
        To::Parquet => return columns::run(args),
        To::Callgrind | To::Dot | To::Folded => SampleDetail::default(),
        To::Chrome => SampleDetail { times: TimeDetail::Each, ..SampleDetail::default() },
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
    if args.to == To::Firefox && files.len() > 1 {
        return Err(Failure("--to firefox writes one capture; export each to a file of its own".into()));
    }
    let request = ProfileRequest { marks: args.to == To::Firefox, ..(&args.profile).into() };
    let Profiles { profiles, inputs, outcome } = profile::read(&request, detail)?;
    let threads = args.profile.threads();
    write_document(&args.out(), &inputs, |out| match args.to {
        To::Folded => {
            let mut options = fold::Options::default();
            options.threads = threads;
            fold::write(&profiles, &options, out)
        }
        // Written above.
        To::Brstack | To::Preagg | To::Autofdo | To::Parquet => Ok(()),
        To::Callgrind => callgrind::write(&profiles, &callgrind::Options::default(), out),
        To::Chrome => chrome::write(&profiles, &chrome::Options::default(), out),
        To::Csv => csv::write(&profiles, &csv::Options::default(), out),
        To::Dot => dot::write(&profiles, &dot::Options::default(), out),
        To::Firefox => {
            let mut options = firefox::Options::default();
            options.product = name(files);
            options.threads = threads;
            firefox::write(&profiles, &options, out)
        }
        To::Speedscope => {
            let mut options = speedscope::Options::default();
            options.name = name(files);
            options.threads = threads;
            speedscope::write(&profiles, &options, out)
        }
        To::Pprof => {
            let mut options = pprof::Options::default();
            options.threads = threads;
            pprof::write(&profiles, &options, out)
        }
        To::Otlp | To::OtlpJson => {
            let is_protobuf = args.to == To::Otlp && !is_json(&args.out());
            let mut options = otlp::Options::default();
            options.encoding = if is_protobuf { OtlpEncoding::Protobuf } else { OtlpEncoding::Json };
            options.threads = threads;
            otlp::write(&profiles, &options, out)
        }
    })?;
    Ok(outcome)
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
