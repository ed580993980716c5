//! Copies of the rings, for `perfdata ring`.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use perf_abi::attr::AttrFlags;
use perf_parse::file::write::{EventFields, FeaturePayloads, FileWriter, WriteOptions};

use crate::escape::shown;
use crate::outcome::Failure;
use crate::output::{FileContent, Outputs, UnfinishedFile, say};

/// The name of the capture that describes the events.
const ATTR: &str = "attr.data";

/// Returns an error if `output` is in `folder` and has the name of a file that is dumped there, or if a snapshot of
/// `output` could have such a name.
pub(super) fn check(folder: &Path, output: &Path) -> Result<(), Failure> {
    let is_same = || {
        let of_output = output.parent().filter(|parent| !parent.as_os_str().is_empty());
        let of_output = of_output.unwrap_or(Path::new(".")).canonicalize().ok();
        of_output.is_some() && of_output == folder.canonicalize().ok()
    };
    let name = output.file_name().unwrap_or_default().as_encoded_bytes();
    if (name == ATTR.as_bytes() || name == b"ring" || name.starts_with(b"ring.")) && is_same() {
        let what = "is the name of a file that --dump-rings writes; give --output another name";
        return Err(Failure(format!("{}: {what}", shown(output))));
    }
    Ok(())
}

fn create(folder: &Path, name: &str) -> Result<(File, UnfinishedFile), Failure> {
    Outputs::default().claim("--dump-rings", &folder.join(name))?.create(FileContent::Capture)
}

/// Writes each ring to `ring.N` in `folder`, and a perf.data without records next to them, which describes the events.
pub(super) fn rings(
    folder: &Path,
    (events, features): (&[EventFields], &FeaturePayloads),
    rings: Vec<Vec<u8>>,
    quiet: bool,
) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure(format!("{}: {error}", shown(folder)));
    fs::create_dir_all(folder).map_err(failed)?;
    for (number, ring) in rings.into_iter().enumerate() {
        let (mut file, unfinished) = create(folder, &format!("ring.{number}"))?;
        file.write_all(&ring).map_err(failed)?;
        unfinished.publish()?;
    }
    let (file, unfinished) = create(folder, ATTR)?;
    // Only rings that keep the newest records are dumped, not that of the event for mappings, names and tasks.
    let is_backward = |event: &&EventFields| event.attr.flags.contains(AttrFlags::WRITE_BACKWARD);
    let backward: Vec<_> = events.iter().filter(is_backward).cloned().collect();
    let events = if backward.is_empty() { events } else { &backward };
    let mut writer = FileWriter::new(file, events, &WriteOptions::default())?;
    *writer.features() = features.clone();
    writer.finish()?;
    unfinished.publish()?;
    if !quiet {
        say!("perfdata: {}: wrote copies of the rings", shown(folder));
    }
    Ok(())
}
