//! The AUX data of rings: what the hardware traced, as their AUX records tell of it.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;
use perf_parse::Record;
use perf_parse::file::{FileError, Reader};
use perf_parse::record::Aux;
use perf_parse::ring::{AuxArea, RingError, RingErrorKind};

use super::linear::fault;
use crate::dump::Places;

/// What was written of the AUX data.
#[derive(Debug, Default)]
pub(super) struct Extracted {
    pub(super) records: u64,
    pub(super) bytes: usize,
    /// Whether a ring has AUX records, and its AUX area is not at hand.
    pub(super) lacks_area: bool,
}

/// Writes the data that AUX records tell of to `out`, ring by ring, end to end. `areas` are the rings' AUX areas.
///
/// Goes over the records of the reader. `tell` hears of what cannot be had: the ring, and the fault.
pub(super) fn extract<O: Endian>(
    reader: &mut Reader<'_, O>,
    areas: &[Option<AuxArea<'_>>],
    places: &Places,
    out: File,
    mut tell: impl FnMut(usize, FileError),
) -> io::Result<Extracted> {
    let mut file = BufWriter::new(out);
    let mut extracted = Extracted::default();
    loop {
        // What is wrong with records is told when they are shown.
        let Ok(record) = reader.next() else { continue };
        let Some(record) = record else { break };
        if record.raw.kind() != RecordType::AUX {
            continue;
        }
        let ring = record.data_file;
        let Ok(Record::Aux(aux)) = record.decode() else { continue };
        let area = areas.get(ring).copied().flatten();
        extracted.lacks_area |= area.is_none();
        match area.map_or_else(|| Err(nowhere(&aux)), |area| area.data(&aux)) {
            Ok(data) => {
                file.write_all(data.first)?;
                file.write_all(data.second)?;
                extracted.records += 1;
                extracted.bytes += data.first.len() + data.second.len();
            }
            Err(error) => tell(ring, fault(error, places.of(ring, record.offset))),
        }
    }
    file.flush()?;
    Ok(extracted)
}

/// Why there is no data of a ring whose AUX area is not at hand.
fn nowhere(aux: &Aux) -> RingError {
    let kind = RingErrorKind::Truncated { field: "aux_size", needed: aux.aux_size, available: 0 };
    RingError { kind, position: aux.aux_offset }
}
