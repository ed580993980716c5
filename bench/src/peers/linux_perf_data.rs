//! linux-perf-data: reads files and pipes, in time order.

use std::io::{Read, Seek};

use linux_perf_data::{PerfFileReader, PerfFileRecord};
use linux_perf_event_reader::EventRecord;

use super::linux_perf_event_reader::touch;
use crate::failure::Failure;
use crate::sums::Sums;

/// Reads all fields of all records of a file.
///
/// # Errors
///
/// If the input cannot be read.
#[inline(never)]
pub(crate) fn file(input: impl Read + Seek) -> Result<Sums, Failure> {
    decode(PerfFileReader::parse_file(input)?)
}

/// Reads all fields of all records of a pipe.
///
/// # Errors
///
/// If the input cannot be read.
#[inline(never)]
pub(crate) fn pipe(input: impl Read) -> Result<Sums, Failure> {
    decode(PerfFileReader::parse_pipe(input)?)
}

fn decode<R: Read>(mut reader: PerfFileReader<R>) -> Result<Sums, Failure> {
    let mut sums = Sums::default();
    let mut last = 0;
    while let Some(record) = reader.record_iter.next_record(&mut reader.perf_file)? {
        let PerfFileRecord::EventRecord { attr_index, record } = record else { continue };
        let decoded = record.parse()?;
        if let EventRecord::Sample(sample) = &decoded {
            sums.given(sample.timestamp.unwrap_or_default(), &mut last);
        }
        touch(&mut sums, attr_index, &decoded, record.parse_info.sample_regs_user)
            .ok_or_else(|| Failure("a stack is truncated".into()))?;
    }
    Ok(sums)
}
