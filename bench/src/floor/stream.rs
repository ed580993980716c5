//! Compressed captures and pipes: fills a buffer, decodes it up to the last complete record,
//! and fills it again.

use std::io::Read;

use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

use super::Floor;
use crate::capture::{HEADER, Headers, kind};
use crate::failure::Failure;
use crate::sums::Sums;

const COMPRESSED: u32 = 81;

/// Bytes of the buffer. It fits into the second-level cache and is several times as long as
/// the longest record.
const BUFFER: usize = 1 << 18;

/// Decompresses the payloads, and passes the buffer to `take` after each fill. `take` returns the
/// bytes it consumed.
fn inflate(records: &[u8], mut take: impl FnMut(&[u8]) -> Result<usize, Failure>) -> Result<(), Failure> {
    let mut decoder = Decoder::new()?;
    let mut buffer = vec![0; BUFFER];
    let mut held = 0;
    for record in Headers(records).filter(|record| kind(record) == COMPRESSED) {
        let mut input = InBuffer::around(&record[HEADER..]);
        loop {
            let mut output = OutBuffer::around(&mut buffer[held..]);
            decoder.run(&mut input, &mut output)?;
            let filled = held + output.pos();
            let taken = take(&buffer[..filled])?;
            buffer.copy_within(taken..filled, 0);
            held = filled - taken;
            if filled < BUFFER && input.pos() == record.len() - HEADER {
                break;
            }
        }
    }
    Ok(())
}

/// Only decompresses; returns the number of bytes.
///
/// # Errors
///
/// If the library reports an error.
#[inline(never)]
pub(crate) fn decompress(records: &[u8]) -> Result<u64, Failure> {
    let mut size = 0;
    inflate(records, |bytes| {
        size += bytes.len() as u64;
        Ok(bytes.len())
    })?;
    Ok(size)
}

impl Floor {
    /// Decodes the complete records at the start of `bytes`; returns their number of bytes.
    fn whole_records(&self, sums: &mut Sums, bytes: &[u8]) -> Result<usize, Failure> {
        let mut rest = Headers(bytes);
        for record in rest.by_ref() {
            self.record(sums, record).ok_or_else(|| Failure("a record is truncated".into()))?;
        }
        Ok(bytes.len() - rest.0.len())
    }
}

/// Reads all fields of all records of a compressed capture.
///
/// # Errors
///
/// If the library reports an error or a record is truncated.
#[inline(never)]
pub(crate) fn zstd(floor: &Floor, records: &[u8]) -> Result<Sums, Failure> {
    let mut sums = Sums::default();
    for record in Headers(records).filter(|record| kind(record) != COMPRESSED) {
        floor.record(&mut sums, record);
    }
    inflate(records, |bytes| floor.whole_records(&mut sums, bytes))?;
    Ok(sums)
}

/// Reads all fields of all records of a pipe, whose events are known.
///
/// # Errors
///
/// If the pipe cannot be read or a record is truncated.
#[inline(never)]
pub(crate) fn pipe(floor: &Floor, mut input: impl Read) -> Result<Sums, Failure> {
    let mut sums = Sums::default();
    input.read_exact(&mut [0; 16])?;
    let mut buffer = vec![0; BUFFER];
    let mut held = 0;
    loop {
        let read = input.read(&mut buffer[held..])?;
        if read == 0 {
            return Ok(sums);
        }
        let filled = held + read;
        let taken = floor.whole_records(&mut sums, &buffer[..filled])?;
        buffer.copy_within(taken..filled, 0);
        held = filled - taken;
    }
}
