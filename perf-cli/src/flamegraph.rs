//! `perfdata flamegraph`: a page or a picture of where the time went.

use std::path::Path;

use perf_export::flamegraph::{self, FlameDocument};
use perf_profile::{Profile, SampleDetail, TimeDetail};

use crate::args::flamegraph::FlamegraphArgs;
use crate::capture_names::capture_names;
use crate::escape::shown;
use crate::outcome::{Failure, Outcome};
use crate::output::{InputFile, say};
use crate::profile::{self, Profiles};
use crate::selection;

pub(crate) fn run(args: &FlamegraphArgs) -> Result<Outcome, Failure> {
    #[cfg(target_os = "linux")]
    crate::output::remove_unfinished_on_signals();
    let path = &*args.output;
    let document = document_of(path)?;
    // A picture has no times.
    let times = if document == FlameDocument::Svg { TimeDetail::Nothing } else { TimeDetail::Spans };
    let detail = SampleDetail { times, ..SampleDetail::default() };
    let Profiles { profiles, inputs, outcome } = profile::read(&(&args.profile).into(), detail)?;
    let mut options = flamegraph::Options::default();
    options.captures = capture_names(&args.profile.files.0);
    options.threads = args.profile.threads();
    options.event = selection::first_event(&args.profile.only, args.profile.off_cpu).map(Into::into);
    options.document = document;
    write(path, &profiles, &options, &inputs)?;
    Ok(outcome)
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
