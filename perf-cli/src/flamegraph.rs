//! `perfdata flamegraph`: a page or a picture of where the time went.

use std::path::Path;

use perf_annotate::AnnotateOptions;
use perf_export::flamegraph::{self, FlameDocument};
use perf_parse::Reader;
use perf_profile::annotation::Annotation;
use perf_profile::edit::ItraceOptions;
use perf_profile::{Profile, SampleDetail, TimeDetail};

use crate::annotate;
use crate::args::flamegraph::FlamegraphArgs;
use crate::args::profile::ProfileArgs;
use crate::capture_names::capture_names;
use crate::escape::shown;
use crate::input::Memory;
use crate::outcome::{Failure, Outcome};
use crate::output::{InputFile, say};
use crate::profile::{self, Profiles};
use crate::{itrace, selection};

pub(crate) fn run(args: &FlamegraphArgs) -> Result<Outcome, Failure> {
    #[cfg(target_os = "linux")]
    crate::output::remove_unfinished_on_signals();
    let path = &*args.output;
    let document = document_of(path)?;
    // A picture has no times.
    let times = if document == FlameDocument::Svg { TimeDetail::Nothing } else { TimeDetail::Spans };
    if args.annotate.is_some() && document == FlameDocument::Svg {
        return Err(Failure(
            "--annotate: a picture has no instructions; give -o a name that ends in .html".into(),
        ));
    }
    let detail = SampleDetail { times, ..SampleDetail::default() };
    let Profiles { profiles, inputs, outcome } = profile::read(&(&args.profile).into(), detail)?;
    let mut options = flamegraph::Options::default();
    options.captures = capture_names(&args.profile.files.0);
    options.threads = args.profile.threads();
    options.event = selection::first_event(&args.profile, &profiles).map(Into::into);
    options.document = document;
    if let Some(limit) = args.annotate {
        options.annotations = annotations(&args.profile, limit)?;
    }
    write(path, &profiles, &options, &inputs)?;
    Ok(outcome)
}

/// Returns the functions of captures that have at least `limit` percent of an event's samples.
fn annotations(args: &ProfileArgs, limit: f64) -> Result<Vec<Annotation>, Failure> {
    let mut all = Vec::new();
    for path in &args.files.0 {
        // What cannot be decoded has been reported.
        let work = |reader: Reader<'_>, memory: Memory<'_>| {
            if memory.path.is_none() {
                let what = "a capture from a pipe is read once; write it to a file first";
                return Err(Failure(format!("--annotate: {what}")));
            }
            let options = AnnotateOptions::default();
            let threads = args.naming.threads;
            let mut annotator =
                annotate::counted(&reader, memory, &args.only, &args.symbols, threads, options, &mut ())?;
            let wanted = annotator.select(None, Some(limit), false).unwrap_or_default();
            let annotated = annotator.annotate_all(&wanted, &mut ()).map_err(selection::failure)?;
            all.extend(annotated.shown);
            Ok(Outcome::Clean)
        };
        crate::input::read(path, itrace::decoded(args.itrace, ItraceOptions::default(), work))?;
    }
    Ok(all)
}

/// Writes a page or a picture, and says so.
pub(crate) fn write(
    path: &Path,
    profiles: &[Profile],
    options: &flamegraph::Options,
    inputs: &[InputFile],
) -> Result<(), Failure> {
    crate::output::write_document(path, inputs, |out| flamegraph::write(profiles, options, out))?;
    if path != Path::new("-") {
        let how = if options.document == FlameDocument::Svg { "" } else { "; open it in a browser" };
        say!("perfdata: wrote {}{how}", shown(path));
    }
    Ok(())
}

/// Returns the document that the name of a file asks for. A name that is not one of a page or a picture is probably a mistake;
/// devices and pipes often have no extension.
pub(crate) fn document_of(path: &Path) -> Result<FlameDocument, Failure> {
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    match ending.as_deref().and_then(|ending| ending.to_str()) {
        Some("svg") => Ok(FlameDocument::Svg),
        Some("html" | "htm") => Ok(FlameDocument::Page),
        None if ending.is_none() => Ok(FlameDocument::Page),
        _ => {
            let what = "flame graphs are pages or pictures in SVG; give -o a name that ends in .html or .svg";
            Err(Failure(format!("{}: {what}", shown(path))))
        }
    }
}
