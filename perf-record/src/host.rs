//! The features that describe the machine and this program. They are the same for every event of a capture.
//!
//! Features with unknown values are left out.

mod cpus;
mod memory;

use std::path::Path;

use perf_abi::event::EventType;
use perf_parse::ByteStr;
use perf_parse::feature::{Entries, FeatureData, PmuMapping};
use perf_parse::file::write::{FeaturePayloads, WriteFileError};

use crate::sysfs::{names, number, text};

/// The root folder of the machine that is recorded.
pub(crate) const ROOT: &str = "/";

/// Adds the features of the machine below `root`, and the words of the command line.
///
/// perf: `perf_header__adds_write`, `tools/perf/util/header.c`.
///
/// # Errors
///
/// [`WriteFileError::Feature`] if a value does not fit in its feature, such as a word with a NUL.
pub fn describe(
    root: &Path,
    version: &str,
    command: &[ByteStr<'_>],
    features: &mut FeaturePayloads,
) -> Result<(), WriteFileError> {
    let cpuinfo = text(&root.join("proc/cpuinfo")).unwrap_or_default();
    let sysctl = |name: &str| text(&root.join("proc/sys/kernel").join(name));
    let strings: [(fn(_) -> _, _); 6] = [
        (FeatureData::Hostname, sysctl("hostname")),
        (FeatureData::OsRelease, sysctl("osrelease")),
        (FeatureData::Version, Some(version.to_owned())),
        // The kernel reports the architecture since Linux 6.1. Rust has the same name for most.
        (FeatureData::Arch, sysctl("arch").or(Some(std::env::consts::ARCH.to_owned()))),
        (FeatureData::CpuDesc, cpus::description(&cpuinfo)),
        (FeatureData::CpuId, cpus::id(root, &cpuinfo)),
    ];
    for (feature, value) in &strings {
        if let Some(value) = value {
            features.set(&feature(value.as_str().into()))?;
        }
    }
    if let Some(kib) = memory::total(root) {
        features.set(&FeatureData::TotalMem(kib))?;
    }
    features.set(&FeatureData::CmdLine(command.into()))?;
    cpus::describe(root, features)?;
    memory::describe(root, features)?;
    pmus(root, features)
}

/// Adds `PMU_MAPPINGS`, in ascending order of type.
fn pmus(root: &Path, features: &mut FeaturePayloads) -> Result<(), WriteFileError> {
    let folder = root.join("sys/bus/event_source/devices");
    let pmu = |name: String| Some((EventType(number(&folder.join(&name).join("type"))?), name));
    let mut pmus: Vec<_> = names(&folder).into_iter().filter_map(pmu).collect();
    if pmus.is_empty() {
        return Ok(());
    }
    pmus.sort();
    let pmus = pmus.iter().map(|(kind, name)| PmuMapping { kind: *kind, name: name.as_str().into() });
    let pmus: Vec<_> = pmus.collect();
    features.set(&FeatureData::PmuMappings(Entries::from(&pmus)))
}

/// Returns the first and last number of each range in a list such as `0-3,8`; `None` if it is not such a list.
fn ranges(list: &str) -> Option<Vec<(u32, u32)>> {
    let range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last).then_some((first, last))
    };
    list.trim().split(',').map(range).collect()
}
