//! The AUX data of rings: what the hardware traced, as their AUX records tell of it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;
use perf_parse::Record;
use perf_parse::file::{FileError, Reader};
use perf_parse::record::Aux;
use perf_parse::ring::{AuxArea, RingError, RingErrorKind};

use super::linear::fault;
use crate::Failure;
use crate::dump::Places;

/// Writes the data that AUX records tell of to `out`, ring by ring, end to end. `areas` are the rings' AUX areas.
///
/// Goes over the records of the reader. Gives what cannot be had: the ring, and the fault.
pub(super) fn extract<O: Endian>(
    reader: &mut Reader<'_, O>,
    areas: &[Option<AuxArea<'_>>],
    places: &Places,
    out: &Path,
) -> Result<Vec<(usize, FileError)>, Failure> {
    let failure = |error| Failure(format!("{}: {error}", out.display()));
    let mut file = BufWriter::new(File::create(out).map_err(failure)?);
    let (mut faults, mut records, mut bytes) = (Vec::new(), 0_u64, 0_usize);
    loop {
        // What is wrong with records is told when they are shown.
        let Ok(record) = reader.next() else { continue };
        let Some(record) = record else { break };
        if record.raw.kind() != RecordType::AUX {
            continue;
        }
        let ring = record.data_file;
        let Ok(Record::Aux(aux)) = record.decode() else { continue };
        let data = match areas.get(ring).copied().flatten() {
            Some(area) => area.data(&aux),
            None => Err(nowhere(&aux)),
        };
        match data {
            Ok(data) => {
                let written = file.write_all(data.first).and_then(|()| file.write_all(data.second));
                written.map_err(failure)?;
                records += 1;
                bytes += data.first.len() + data.second.len();
            }
            Err(error) => faults.push((ring, fault(error, places.of(ring, record.offset)))),
        }
    }
    if faults.iter().any(|(ring, _)| matches!(areas.get(*ring), Some(None))) {
        eprintln!("perfdata: there is a ring without its AUX area: --aux names those that were dumped apart");
    }
    file.flush().map_err(failure)?;
    eprintln!("perfdata: {}: {bytes} bytes of {records} AUX records", out.display());
    Ok(faults)
}

/// Why there is no data of a ring whose AUX area is not at hand.
fn nowhere(aux: &Aux) -> RingError {
    let kind = RingErrorKind::Truncated { field: "aux_size", needed: aux.aux_size, available: 0 };
    RingError { kind, position: aux.aux_offset }
}
