//! The decompressed sections of a file that are in use.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::bytes::{FileBytes, WeakBytes};
use crate::cancellation::Cancellation;
use crate::front::Front;
use crate::no_symbols::NoSymbols;

/// The decompressed sections of a file that are in use, by any thread. What nobody uses any more is not kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Decompressed {
    sections: Arc<Mutex<HashMap<SectionKey, WeakBytes>>>,
    fronts: Arc<Mutex<HashMap<SectionKey, Weak<Mutex<Front>>>>>,
}

/// Offset and size of a section in the file, and whether it is compressed as older files are.
pub(crate) type SectionKey = (u64, u64, bool);

impl Decompressed {
    /// Returns what a section has when it is decompressed. Calls `decompress` only if nobody uses the section; other threads
    /// that want a section of the file wait for it.
    ///
    /// # Errors
    ///
    /// Those of `decompress`, and [`NoSymbols::TooLarge`] if the section is larger than `limit`.
    pub(crate) fn get(
        &self,
        place: SectionKey,
        limit: u64,
        cancellation: &Cancellation,
        decompress: impl FnOnce() -> Result<Vec<u8>, NoSymbols>,
    ) -> Result<FileBytes, NoSymbols> {
        let mut sections = lock(&self.sections);
        if let Some(bytes) = sections.get(&place).and_then(WeakBytes::upgrade) {
            return if bytes.len() as u64 > limit { Err(NoSymbols::TooLarge) } else { Ok(bytes) };
        }
        // What has its front decompressed is decompressed from there on.
        let front = lock(&self.fronts).get(&place).and_then(Weak::upgrade);
        let rest = front.and_then(|front| lock(&front).complete(limit, cancellation));
        let bytes = FileBytes::new(rest.unwrap_or_else(decompress)?);
        sections.insert(place, bytes.downgrade());
        Ok(bytes)
    }

    /// Returns a section of which the front is decompressed. Calls `front` only if nobody uses it. `None` if the section is in
    /// use as a whole.
    pub(crate) fn front(
        &self,
        place: SectionKey,
        front: impl FnOnce() -> Front,
    ) -> Option<Arc<Mutex<Front>>> {
        if lock(&self.sections).get(&place).and_then(WeakBytes::upgrade).is_some() {
            return None;
        }
        let mut fronts = lock(&self.fronts);
        if let Some(front) = fronts.get(&place).and_then(Weak::upgrade) {
            return Some(front);
        }
        let front = Arc::new(Mutex::new(front()));
        fronts.insert(place, Arc::downgrade(&front));
        Some(front)
    }
}

/// Locks what stays valid if a thread panics while it has the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_in_use_is_decompressed_once() {
        let (sections, flag) = (Decompressed::default(), Cancellation::default());
        let first = sections.get((1, 2, false), 3, &flag, || Ok(vec![1, 2, 3])).unwrap();
        let clone = sections.clone();
        let never = || -> Result<Vec<u8>, NoSymbols> { panic!("is decompressed already") };
        assert_eq!(*clone.get((1, 2, false), 3, &flag, never).unwrap(), [1, 2, 3]);
        assert_eq!(*clone.get((1, 2, true), 3, &flag, || Ok(vec![4])).unwrap(), [4]);
        assert!(matches!(clone.get((1, 2, false), 2, &flag, never), Err(NoSymbols::TooLarge)));
        drop(first);
        assert_eq!(*clone.get((1, 2, false), 3, &flag, || Ok(vec![5])).unwrap(), [5]);
        assert!(matches!(
            clone.get((7, 2, false), 3, &flag, || Err(NoSymbols::NotInTable)),
            Err(NoSymbols::NotInTable)
        ));
    }
}
