//! The decompressed sections of a file that are in use.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::bytes::{Bytes, WeakBytes};
use crate::error::Why;

/// The decompressed sections of a file that are in use, by any thread. What nobody uses any more is not kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Decompressed(Arc<Mutex<HashMap<Place, WeakBytes>>>);

/// Offset and size of a section in the file, and whether it is compressed as older files are.
pub(crate) type Place = (u64, u64, bool);

impl Decompressed {
    /// Returns what a section has when it is decompressed. Calls `decompress` only if nobody uses the section; other threads
    /// that want a section of the file wait for it.
    ///
    /// # Errors
    ///
    /// Those of `decompress`, and [`Why::TooLarge`] if the section is larger than `limit`.
    pub(crate) fn get(
        &self,
        place: Place,
        limit: u64,
        decompress: impl FnOnce() -> Result<Vec<u8>, Why>,
    ) -> Result<Bytes, Why> {
        let mut sections = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = sections.get(&place).and_then(WeakBytes::upgrade) {
            return if bytes.len() as u64 > limit { Err(Why::TooLarge) } else { Ok(bytes) };
        }
        let bytes = Bytes::new(decompress()?);
        sections.insert(place, bytes.downgrade());
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_in_use_is_decompressed_once() {
        let sections = Decompressed::default();
        let first = sections.get((1, 2, false), 3, || Ok(vec![1, 2, 3])).unwrap();
        let clone = sections.clone();
        let never = || -> Result<Vec<u8>, Why> { panic!("is decompressed already") };
        assert_eq!(*clone.get((1, 2, false), 3, never).unwrap(), [1, 2, 3]);
        assert_eq!(*clone.get((1, 2, true), 3, || Ok(vec![4])).unwrap(), [4]);
        assert!(matches!(clone.get((1, 2, false), 2, never), Err(Why::TooLarge)));
        drop(first);
        assert_eq!(*clone.get((1, 2, false), 3, || Ok(vec![5])).unwrap(), [5]);
        assert!(matches!(clone.get((7, 2, false), 3, || Err(Why::NoSymbols)), Err(Why::NoSymbols)));
    }
}
