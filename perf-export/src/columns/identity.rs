//! The identity of a capture.

use perf_abi::endian::{BigEndian, Endianness, LittleEndian};
use perf_parse::EventRecord;
use perf_parse::file::Reader;
use sha2::{Digest, Sha256};

use super::context::hex;

/// Number of records that are in the hash.
const FIRST: usize = 1024;

/// The hash of what tells captures apart: the events with their ids, the features, and the first records.
#[derive(Clone, Debug)]
pub(super) struct CaptureIdentity(Sha256);

impl CaptureIdentity {
    pub(super) fn new(reader: &Reader<'_>) -> Self {
        let mut hash = Sha256::new();
        hash.update(reader.mode().name());
        for event in reader.events().iter() {
            let attr = &event.attr;
            // Only an attr with a field that no version has cannot be written; its ids are in the hash.
            let bytes = match reader.endianness() {
                Endianness::Little => attr.write::<LittleEndian>(attr.oldest_version()),
                Endianness::Big => attr.write::<BigEndian>(attr.oldest_version()),
            };
            if let Ok(bytes) = bytes {
                hash.update(bytes.as_ref());
            }
            event.ids.iter().for_each(|id| hash.update(id.to_le_bytes()));
        }
        for section in reader.features().iter() {
            hash.update(section.feature.0.to_le_bytes());
            hash.update((section.bytes.len() as u64).to_le_bytes());
            hash.update(section.bytes);
        }
        Self(hash)
    }

    /// Adds the first records of a capture that can be walked again.
    pub(super) fn add_first(&mut self, reader: &Reader<'_>) {
        reader.records().filter_map(Result::ok).take(FIRST).for_each(|record| self.add(&record));
    }

    pub(super) fn add(&mut self, record: &EventRecord<'_>) {
        self.0.update(record.raw().as_bytes());
    }

    /// Returns the first half of the hash in hexadecimal.
    pub(super) fn name(self) -> String {
        hex(self.0.finalize().get(..16).unwrap_or_default())
    }
}
