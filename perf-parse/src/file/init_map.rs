//! The records in the feature `INIT_MAP`.

use alloc::vec::Vec;

use perf_abi::attr::Attr;

use super::Reader;
use crate::feature::InitMap;

impl<'a> InitMap<'a> {
    /// Returns a reader of the records, which decompresses them. Offsets count from the start of the section. The records are
    /// those of an event without fields: bytes after their names are the `sample_id` of the capture's first event.
    #[must_use]
    pub fn reader(&self) -> Reader<'a> {
        let events = [(Attr::default(), Vec::new())].into_iter().collect();
        Reader::from_records(events, self.endianness, self.bytes)
    }
}
