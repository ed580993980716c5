//! What is known of a capture before its records are read.

use perf_abi::endian::Endianness;
use perf_parse::{ByteStr, FileError, Reader};
use perf_profile::CaptureOrigin;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::text::text;

/// Returns the facts of a capture. What it does not state is None.
pub(crate) fn dict<'py>(py: Python<'py>, reader: &Reader<'_>) -> PyResult<Bound<'py, PyDict>> {
    let features = reader.features();
    let origin = CaptureOrigin::of(features);
    let of_origin = |value: Option<&Vec<u8>>| value.map(|it| text(it));
    let of_feature = |value: Result<Option<ByteStr<'_>>, FileError>| value.ok().flatten().map(|it| text(&it));
    let cpus = features.nr_cpus().ok().flatten();
    let cmdline = features.cmdline().ok().flatten();
    let words = cmdline.map(|words| words.iter().map(|it| text(&it)).collect::<Vec<_>>());
    let dict = PyDict::new(py);
    dict.set_item("mode", reader.mode().name())?;
    dict.set_item("endianness", if reader.endianness() == Endianness::Big { "big" } else { "little" })?;
    dict.set_item("features", features.iter().map(|it| it.feature.to_string()).collect::<Vec<_>>())?;
    dict.set_item("hostname", of_origin(origin.hostname.as_ref()))?;
    dict.set_item("release", of_origin(origin.release.as_ref()))?;
    dict.set_item("arch", of_origin(origin.arch.as_ref()))?;
    dict.set_item("processor", of_origin(origin.processor.as_ref()))?;
    dict.set_item("cpus", cpus.map(|it| it.online))?;
    dict.set_item("cpus_available", cpus.map(|it| it.available))?;
    dict.set_item("memory", features.total_mem().ok().flatten().map(|kib| kib.saturating_mul(1024)))?;
    dict.set_item("perf_version", of_feature(features.version()))?;
    dict.set_item("cmdline", words)?;
    dict.set_item("to_wall_clock", origin.to_wall_clock)?;
    Ok(dict)
}
