//! The limit on the number of values of raw data.

use alloc::vec::Vec;

use perf_abi::endian::Endian;

use super::format::{Field, Format};
use super::value::Value;

/// The number of values that raw data may still return: about one for each of its bytes.
///
/// Without this limit, fields that share bytes would multiply the output for a sample: a format may have 1024
/// strings, each of which is the whole raw data. Made by [`Format::room`].
#[derive(Clone, Copy, Debug)]
pub struct Room(usize);

/// Additional fields without bytes that raw data may have, such as an empty array at its end or an empty string.
const EMPTY: usize = 64;

impl Room {
    pub(super) fn new(format: &Format<'_>, raw: &[u8]) -> Self {
        // Fields at known offsets that share no bytes need no count.
        Self(if format.min_size.is_some() { usize::MAX } else { raw.len().saturating_add(EMPTY) })
    }

    /// Takes the room that a value needs. Returns whether there was enough; if not, takes nothing.
    #[inline]
    pub fn take<O: Endian>(&mut self, value: &Value<'_, O>) -> bool {
        if self.0 == usize::MAX {
            return true;
        }
        let left = self.0.checked_sub(needed(value));
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

/// Returns the number of values in a value: its bytes, or its elements, each of which has bytes of its own.
pub(super) fn needed<O: Endian>(value: &Value<'_, O>) -> usize {
    match value {
        Value::Str(bytes) | Value::Bytes(bytes) => bytes.len().max(1),
        Value::Array(array) => array.len().max(1),
        _ => 1,
    }
}

/// Returns whether fields share bytes. A field without bytes counts as 1 byte, so that a format cannot have many of
/// them.
pub(super) fn share_bytes(fields: &[Field<'_>]) -> bool {
    let range = |field: &Field<'_>| {
        let start = u64::from(field.offset);
        (start, start.saturating_add(field.size.max(1).into()))
    };
    let mut ranges: Vec<_> = fields.iter().map(range).collect();
    ranges.sort_unstable();
    let mut end_before = 0;
    ranges.iter().any(|&(start, end)| {
        let shares = start < end_before;
        end_before = end.max(end_before);
        shares
    })
}
