//! The AUX data of rings: what the hardware traced, as their AUX records tell of it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;
use perf_parse::Record;
use perf_parse::file::{FileError, Reader};
use perf_parse::ring::AuxArea;

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
        if let (Ok(Record::Aux(aux)), Some(Some(area))) = (record.decode(), areas.get(ring)) {
            match area.data(&aux) {
                Ok(data) => {
                    let written = file.write_all(data.first).and_then(|()| file.write_all(data.second));
                    written.map_err(failure)?;
                    records += 1;
                    bytes += data.first.len() + data.second.len();
                }
                Err(error) => faults.push((ring, fault(error, places.of(ring, record.offset)))),
            }
        }
    }
    file.flush().map_err(failure)?;
    eprintln!("perfdata: {}: {bytes} bytes of {records} AUX records", out.display());
    Ok(faults)
}
