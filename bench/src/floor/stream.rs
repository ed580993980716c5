//! Compressed captures and pipes: a buffer that is filled, decoded up to the last whole record, and filled again.

use std::io::Read;

use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

use super::Floor;
use crate::capture::{HEADER, Headers, kind};
use crate::failure::Failure;
use crate::sums::Sums;

const COMPRESSED: u32 = 81;

/// Bytes of the buffer: it stays in the second-level cache, and holds the longest record several times.
const BUFFER: usize = 1 << 18;

/// Decompresses the payloads, and gives each filling of the buffer to `take`, which tells how much of it it took.
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

/// Decompresses alone; how much came out.
///
/// # Errors
///
/// If the library finds fault.
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
    /// Decodes the whole records at the front of `bytes`; how much that was.
    fn whole_records(&self, sums: &mut Sums, bytes: &[u8]) -> Result<usize, Failure> {
        let mut rest = Headers(bytes);
        for record in rest.by_ref() {
            self.record(sums, record).ok_or_else(|| Failure("a record is cut off".into()))?;
        }
        Ok(bytes.len() - rest.0.len())
    }
}

/// All fields of all records of a compressed capture.
///
/// # Errors
///
/// If the library finds fault, or a record is cut off.
#[inline(never)]
pub(crate) fn zstd(floor: &Floor, records: &[u8]) -> Result<Sums, Failure> {
    let mut sums = Sums::default();
    for record in Headers(records).filter(|record| kind(record) != COMPRESSED) {
        floor.record(&mut sums, record);
    }
    inflate(records, |bytes| floor.whole_records(&mut sums, bytes))?;
    Ok(sums)
}

/// All fields of all records of a pipe, whose events are known.
///
/// # Errors
///
/// If it cannot be read, or a record is cut off.
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
