//! The AUX data of rings: the hardware traces that AUX records describe.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use perf_abi::record::RecordType;
use perf_parse::Record;
use perf_parse::file::{FileError, Reader};
use perf_parse::record::Aux;
use perf_parse::ring::{AuxArea, RingError, RingErrorKind};

use super::linear::fault;
use crate::dump::RingOrigins;

/// The result of writing the AUX data.
#[derive(Debug, Default)]
pub(super) struct AuxSummary {
    pub(super) records: u64,
    pub(super) bytes: usize,
    /// Whether a ring has AUX records but its AUX area is missing.
    pub(super) lacks_area: bool,
}

/// Writes the data that AUX records describe to `out`, ring by ring, end to end. `areas` are the AUX areas of the
/// rings.
///
/// Calls `report` with the ring and the error for data that is missing.
pub(super) fn extract(
    reader: &Reader<'_>,
    areas: &[Option<AuxArea<'_>>],
    origins: &RingOrigins,
    out: File,
    mut report: impl FnMut(usize, FileError),
) -> io::Result<AuxSummary> {
    let mut file = BufWriter::new(out);
    let mut extracted = AuxSummary::default();
    // Errors in records are reported when the records are printed.
    for record in reader.records().only(&[RecordType::AUX]).flatten() {
        let ring = record.position().data_file;
        let Ok(Record::Aux(aux)) = record.decode() else { continue };
        let area = areas.get(ring).copied().flatten();
        extracted.lacks_area |= area.is_none();
        match area.map_or_else(|| Err(area_missing(&aux)), |area| area.data(&aux)) {
            Ok(data) => {
                file.write_all(data.first)?;
                file.write_all(data.second)?;
                extracted.records += 1;
                extracted.bytes += data.first.len() + data.second.len();
            }
            Err(error) => report(ring, fault(error, origins.offset(ring, record.offset()))),
        }
    }
    file.flush()?;
    Ok(extracted)
}

/// Returns the error for an AUX record of a ring whose AUX area is missing.
fn area_missing(aux: &Aux) -> RingError {
    let kind = RingErrorKind::Truncated { field: "aux_size", needed: aux.aux_size, available: 0 };
    RingError { kind, position: aux.aux_offset }
}
