//! Samples of AUX data: the capture that has them takes the place of the one that was given.
//!
//! It is written into a file without a name, which its owner alone can read and which is gone with the program: a capture of AUX
//! data can be far larger than memory, and every verb reads a capture more than once or in order of time.

use std::fs::File;
use std::io;
use std::path::Path;

use perf_abi::auxtrace::AuxtraceType;
use perf_aux::trace::AuxInfo;
use perf_parse::Reader;
use perf_parse::rewrite::RepairStep;
use perf_profile::edit::{ItraceOptions, TraceSamples};

use crate::args::itrace::{ItraceArgs, ItraceChoice};
use crate::input::{CaptureWork, Memory};
use crate::outcome::{Failure, Outcome};
use crate::output::{Diagnostics, say};

/// A capture with samples of AUX data, without a name.
pub(crate) struct CaptureWithSamples {
    pub(crate) reader: Reader<'static>,
    /// What the samples were made of.
    #[cfg_attr(
        not(feature = "parquet"),
        expect(dead_code, reason = "only the tables have records of traces")
    )]
    pub(crate) samples: TraceSamples,
    /// Whether everything was read and decoded.
    pub(crate) is_whole: bool,
}

/// Returns work on a capture with the samples that the arguments select, or that `default` has if they select none. A sample counts 1
/// if the letters have no period, where perf's sample has the period 0.
pub(crate) fn decoded(
    mut args: ItraceArgs,
    default: ItraceOptions,
    work: impl CaptureWork,
) -> impl CaptureWork {
    if let Some(ItraceChoice(Some(options))) = &mut args.itrace {
        *options = options.counted();
    }
    decoded_as_perf(args, default, work)
}

/// Like [`decoded`], with the periods of perf.
pub(crate) fn decoded_as_perf(
    args: ItraceArgs,
    default: ItraceOptions,
    work: impl CaptureWork,
) -> impl CaptureWork {
    move |reader: Reader<'_>, memory: Memory<'_>| {
        let Some(options) = options(args, default, &reader) else { return work(reader, memory) };
        let Some(made) = make(&reader, &options, None)? else { return work(reader, memory) };
        let outcome = work(made.reader, Memory { is_made: true, ..memory })?;
        Ok(if made.is_whole { outcome } else { Outcome::Partial })
    }
}

/// Returns which samples are made; `None` for none.
pub(crate) fn options(
    args: ItraceArgs,
    default: ItraceOptions,
    reader: &Reader<'_>,
) -> Option<ItraceOptions> {
    match args.itrace {
        Some(ItraceChoice(options)) => Some(options.unwrap_or(default)),
        None if args.no_itrace => None,
        None => TraceSamples::are_in(reader).then_some(default),
    }
}

/// Makes the samples: in a file in `folder`, or in that for temporary files. `None` for a capture without AUX data of which samples
/// are made.
pub(crate) fn make(
    reader: &Reader<'_>,
    options: &ItraceOptions,
    folder: Option<&Path>,
) -> Result<Option<CaptureWithSamples>, Failure> {
    let failure = |error: &dyn core::fmt::Display| Failure(format!("--itrace: {error}"));
    let samples = TraceSamples::of(reader, options).map_err(|error| failure(&error))?;
    let Some(samples) = samples else {
        say_no_samples(reader);
        return Ok(None);
    };
    say_without_effect(options, samples.tracer());
    let file: io::Result<File> = match folder {
        Some(folder) => tempfile::tempfile_in(folder),
        None => tempfile::tempfile(),
    };
    let file = file.map_err(|error| failure(&error))?;
    let mut diagnostics = Diagnostics::new();
    let traced = samples.into_file(reader, file, |step| {
        if let RepairStep::Capture { error } | RepairStep::Unreadable { error, .. } = step {
            diagnostics.report(&error);
        }
    });
    let traced = traced.map_err(|error| failure(&error))?;
    for (what, count) in traced.account.notes() {
        say!("perfdata: AUX data: {what}: {count}");
    }
    Ok(Some(CaptureWithSamples { reader: traced.reader, samples, is_whole: traced.is_whole }))
}

/// Reports that no samples are made of the AUX data of a capture, if it has some.
fn say_no_samples(reader: &Reader<'_>) {
    let Some(AuxInfo { kind, .. }) = AuxInfo::find(reader) else { return };
    if matches!(kind, AuxtraceType::ARM_SPE | AuxtraceType::INTEL_PT) {
        say!("perfdata: --itrace: the capture has no event of its tracer, {kind}");
    } else {
        say!(
            "perfdata: --itrace: samples are made of ARM_SPE and INTEL_PT; the tracer of this capture is {kind}"
        );
    }
}

/// Reports the letters that select no samples of a tracer.
fn say_without_effect(options: &ItraceOptions, tracer: AuxtraceType) {
    let letters: String = options.letters.without_effect(tracer).iter().collect();
    if letters.is_empty() {
        return;
    }
    if tracer == AuxtraceType::INTEL_PT {
        say!(
            "perfdata: --itrace={letters}: of Intel PT these letters have no effect, as its flow of instructions is not rebuilt; use p, \
             w, I and e, or perf script --itrace"
        );
    } else {
        say!(
            "perfdata: --itrace={letters}: of Arm SPE these letters have no effect; use i, b, f, m, t, a, M and l"
        );
    }
}
