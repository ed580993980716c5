//! `perfdata repair`: writes a valid perf.data from the readable parts of a capture.

use std::ffi::OsString;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use perf_abi::feature::Feature;
use perf_parse::rewrite::{EditSummary, RepairOrder, repair};
use serde_json::json;

use crate::args::RepairArgs;
use crate::edit::StepReporter;
use crate::escape::{make_json_safe, shown};
use crate::input;
use crate::outcome::{Failure, Outcome};
use crate::output::{BUFFER, FileContent, Outputs, say};
use crate::render::account;

pub(crate) fn run(args: &RepairArgs) -> Result<Outcome, Failure> {
    #[cfg(target_os = "linux")]
    crate::output::remove_unfinished_on_signals();
    let path = args.output.clone().unwrap_or_else(|| default_output(&args.file));
    input::read_whole(&args.file, |reader, memory| {
        let mut outputs = Outputs::of(memory.inputs.iter().cloned());
        let output = outputs.claim("-o", &path)?;
        let report = args.report.as_ref().map(|path| outputs.claim("--report", path)).transpose()?;
        let (file, output) = output.create(FileContent::Capture)?;
        let report = report.map(|report| report.create(FileContent::Report)).transpose()?;

        let mut reporter = StepReporter::new(memory.size);
        let out = BufWriter::with_capacity(BUFFER, file);
        let repaired = repair(&reader, RepairOrder::Capture, out, |step| reporter.step(&step));
        drop(reporter);
        let failure = |error| Failure(format!("{}: {error}", shown(&path)));
        let EditSummary { written, dropped, features_dropped, account, .. } = repaired.map_err(failure)?;
        if let Some(((mut file, report), path)) = report.zip(args.report.as_ref()) {
            let value = json!({
                "account": account::value(&account),
                "written": written,
                "dropped": dropped,
                "features_dropped": features_dropped.iter().map(Feature::to_string).collect::<Vec<_>>(),
            });
            let mut text = format!("{value:#}\n").into_bytes();
            make_json_safe(&mut text, 0);
            file.write_all(&text).map_err(|error| Failure(format!("{}: {error}", shown(path))))?;
            report.publish()?;
        }
        output.publish()?;
        if account.unfinished {
            say!(
                "perfdata: the recorder did not finish the file; an unknown number of records is missing at its end"
            );
        }
        let skipped = account.bytes_skipped;
        say!("perfdata: records written: {written}, dropped: {dropped}, bytes skipped: {skipped}");
        if args.output.is_none() {
            say!("perfdata: wrote {}", shown(&path));
        }
        Ok(if account.is_clean() && dropped == 0 { Outcome::Clean } else { Outcome::Partial })
    })
}

/// Returns the name of the repaired capture, if none is given.
fn default_output(file: &Path) -> PathBuf {
    let file = if file == Path::new("-") { Path::new("perf.data") } else { file };
    // The name of a folder may end in a slash.
    let mut name: OsString = file.components().collect::<PathBuf>().into();
    name.push(".repaired");
    name.into()
}
