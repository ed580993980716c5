//! Rings as they stand in memory, for `perfdata ring`.

use std::fs::{self, File};
use std::path::Path;

use perf_abi::endian::NativeEndian;
use perf_parse::file::write::{FileWriter, Options};

use super::capture::Capture;
use crate::Failure;

/// Writes each ring to `ring.N` in `folder`, and beside them a perf.data without records, which tells of the events.
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
    let mut writer = FileWriter::<NativeEndian, _>::new(file, &capture.events, &Options::default())?;
    *writer.features() = capture.features.clone();
    writer.finish()?;
    if !capture.args.quiet {
        eprintln!("perfdata: {}: the rings as they stand", folder.display());
    }
    Ok(())
}
