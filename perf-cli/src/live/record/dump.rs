//! Copies of the rings, for `perfdata ring`.

use std::fs::{self, File};
use std::path::Path;

use perf_abi::attr::AttrFlags;
use perf_abi::endian::NativeEndian;
use perf_parse::file::write::{EventFields, FileWriter, Options};

use super::capture::Capture;
use crate::Failure;

/// Writes each ring to `ring.N` in `folder`, and a perf.data without records next to them, which describes the events.
pub(super) fn rings(
    folder: &Path,
    capture: &Capture<'_>,
    rings: impl Iterator<Item = Vec<u8>>,
) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure(format!("{}: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(failed)?;
    for (number, ring) in rings.enumerate() {
        fs::write(folder.join(format!("ring.{number}")), ring).map_err(failed)?;
    }
    let file = File::create(folder.join("attr.data")).map_err(failed)?;
    // Only rings that keep the newest records are dumped, not that of the event for mappings, names and tasks.
    let is_backward = |event: &&EventFields| event.attr.flags.contains(AttrFlags::WRITE_BACKWARD);
    let backward: Vec<_> = capture.events.iter().filter(is_backward).cloned().collect();
    let events = if backward.is_empty() { &capture.events } else { &backward };
    let mut writer = FileWriter::<NativeEndian, _>::new(file, events, &Options::default())?;
    *writer.features() = capture.features.clone();
    writer.finish()?;
    if !capture.args.quiet {
        eprintln!("perfdata: {}: the rings as they stand", folder.display());
    }
    Ok(())
}
