//! The bytes of records that the perf tool writes, in the byte order of this machine.

use perf_abi::record::RecordType;

use crate::Error;

/// Appends a word to the body of a record.
pub(crate) fn word(body: &mut Vec<u8>, word: u64) {
    body.extend(word.to_ne_bytes());
}

/// Passes a record to `sink`, unless it is too long.
pub(crate) fn put(
    kind: RecordType,
    body: &[u8],
    sink: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let Ok(size) = u16::try_from(body.len() + 8) else { return Ok(()) };
    let mut record = Vec::with_capacity(usize::from(size));
    record.extend(kind.0.to_ne_bytes());
    record.extend(0_u16.to_ne_bytes());
    record.extend(size.to_ne_bytes());
    record.extend(body);
    sink(&record)
}
