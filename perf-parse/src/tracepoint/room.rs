//! The limit on the number of values of raw data.

use perf_abi::endian::ByteOrder;

use super::value::Value;

/// The number of values that raw data may still return: about one for each of its bytes.
///
/// Without this limit, fields that share bytes would multiply the output for a sample: a format may have 1024
/// strings, each of which is the whole raw data. Made by [`Format::room`](super::Format::room).
#[derive(Clone, Copy, Debug)]
pub struct Room(usize);

/// Additional fields without bytes that raw data may have, such as an empty array at its end or an empty string.
const EMPTY: usize = 64;

impl Room {
    /// Returns room for any number of values.
    pub(super) fn unlimited() -> Self {
        Self(usize::MAX)
    }

    /// Returns the room of raw data of `len` bytes.
    pub(super) fn of_bytes(len: usize) -> Self {
        Self(len.saturating_add(EMPTY))
    }

    /// Takes the room that a value needs. Returns whether there was enough; if not, takes nothing.
    #[inline]
    pub fn take<O: ByteOrder>(&mut self, value: &Value<'_, O>) -> bool {
        self.take_values(needed(value))
    }

    #[inline]
    pub(super) fn take_values(&mut self, needed: usize) -> bool {
        if self.0 == usize::MAX {
            return true;
        }
        let left = self.0.checked_sub(needed);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

/// Returns the number of values in a value: its bytes, or its elements, each of which has bytes of its own.
pub(super) fn needed<O: ByteOrder>(value: &Value<'_, O>) -> usize {
    match value {
        Value::Str(bytes) | Value::Bytes(bytes) => bytes.len().max(1),
        Value::Array(array) => array.len().max(1),
        _ => 1,
    }
}
