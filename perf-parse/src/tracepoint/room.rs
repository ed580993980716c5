//! How many values raw data has room for.

use alloc::vec::Vec;

use perf_abi::endian::Endian;

use super::format::{Field, Format};
use super::value::Value;

/// How many more values raw data may give: about as many as it has bytes.
///
/// Fields that share bytes would otherwise multiply what is printed of a sample: a format of 1024 strings, each of which
/// is all of the raw data. Made by [`Format::room`].
#[derive(Clone, Copy, Debug)]
pub struct Room(usize);

/// Fields without bytes that raw data may have besides: an empty array at its end, an empty string.
const EMPTY: usize = 64;

impl Room {
    pub(super) fn new(format: &Format<'_>, raw: &[u8]) -> Self {
        // Fields whose places are known and that share no bytes need not be counted.
        Self(if format.whole.is_some() { usize::MAX } else { raw.len().saturating_add(EMPTY) })
    }

    /// Takes the room that a value needs. Returns whether there was enough; if not, nothing is taken.
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

/// The values in a value: its bytes, or its elements, which have bytes of their own each.
pub(super) fn needed<O: Endian>(value: &Value<'_, O>) -> usize {
    match value {
        Value::Str(bytes) | Value::Bytes(bytes) => bytes.len().max(1),
        Value::Array(array) => array.len().max(1),
        _ => 1,
    }
}

/// Returns whether fields have bytes in common. A field without bytes counts as one of a byte, so that there are not many.
pub(super) fn share_bytes(fields: &[Field<'_>]) -> bool {
    let place = |field: &Field<'_>| {
        let start = u64::from(field.offset);
        (start, start.saturating_add(field.size.max(1).into()))
    };
    let mut places: Vec<_> = fields.iter().map(place).collect();
    places.sort_unstable();
    let mut end_before = 0;
    places.iter().any(|&(start, end)| {
        let shares = start < end_before;
        end_before = end.max(end_before);
        shares
    })
}
