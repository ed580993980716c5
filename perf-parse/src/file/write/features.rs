//! The payloads of the feature sections to be written.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use perf_abi::endian::Endianness;
use perf_abi::feature::Feature;
use perf_abi::file::CompressType;

use super::ZstdOptions;
use super::compress::MMAP_LEN;
use super::error::WriteFileError;
use crate::feature::{AuxtraceEntry, Compression, EncodeError, Entries, FeatureData, is_absent};

/// What is known about the machine, the tool and the events: one payload for each feature.
///
/// Setting a feature again replaces it. `COMPRESSED` and `AUXTRACE` describe the bytes of a capture, so the writers
/// create them: payloads that are set for them are replaced, or left out if the capture is not compressed or has no
/// AUXTRACE records.
///
/// # Examples
///
/// ```
/// use perf_parse::abi::endian::Endianness;
/// use perf_parse::abi::feature::Feature;
/// use perf_parse::feature::{FeatureData, NrCpus};
/// use perf_parse::file::write::FeaturePayloads;
///
/// let mut features = FeaturePayloads::new_in(Endianness::Little);
/// features.set(&FeatureData::Arch("x86_64".into()))?;
/// features.set(&FeatureData::NrCpus(NrCpus { available: 8, online: 4 }))?;
/// assert_eq!(features.get(Feature::NRCPUS), Some(&[8, 0, 0, 0, 4, 0, 0, 0][..]));
/// assert!(features.set(&FeatureData::Hostname("two\0parts".into())).is_err());
/// # Ok::<(), perf_parse::file::write::WriteFileError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeaturePayloads {
    payloads: BTreeMap<Feature, Vec<u8>>,
    endianness: Endianness,
}

impl Default for FeaturePayloads {
    fn default() -> Self {
        Self::new()
    }
}

impl FeaturePayloads {
    /// Creates an empty set of features in the byte order of this machine.
    #[must_use]
    pub const fn new() -> Self {
        Self::new_in(Endianness::NATIVE)
    }

    /// Creates an empty set of features in a byte order, which must be that of the capture to be written.
    #[must_use]
    pub const fn new_in(endianness: Endianness) -> Self {
        Self { payloads: BTreeMap::new(), endianness }
    }

    /// Returns the byte order of the payloads.
    #[must_use]
    pub const fn endianness(&self) -> Endianness {
        self.endianness
    }

    /// Returns the payload of a feature; `None` if it was not set.
    #[must_use]
    pub fn get(&self, feature: Feature) -> Option<&[u8]> {
        self.payloads.get(&feature).map(Vec::as_slice)
    }

    /// Returns the features and their payloads, in ascending order of features.
    pub fn iter(&self) -> impl Iterator<Item = (Feature, &[u8])> {
        self.payloads.iter().map(|(feature, payload)| (*feature, payload.as_slice()))
    }

    /// Removes a feature and returns its payload.
    pub fn remove(&mut self, feature: Feature) -> Option<Vec<u8>> {
        self.payloads.remove(&feature)
    }

    /// Sets a feature.
    ///
    /// # Errors
    ///
    /// [`WriteFileError::Feature`] for what the section cannot hold, such as a string with a NUL inside, and as for
    /// [`raw`](Self::raw).
    pub fn set(&mut self, data: &FeatureData<'_>) -> Result<(), WriteFileError> {
        let payload = data.encode(self.endianness)?;
        self.keep(data.feature(), payload)
    }

    /// Sets any feature to a payload: one that was read from a capture of the same byte order, or an empty one for
    /// `BRANCH_STACK` and `STAT`. For other known features an empty payload removes the feature, as readers do.
    ///
    /// # Errors
    ///
    /// [`WriteFileError::Feature`] for a number that has no bit in the header of a file.
    pub fn raw(&mut self, feature: Feature, payload: &[u8]) -> Result<(), WriteFileError> {
        self.keep(feature, payload.to_vec())
    }

    fn keep(&mut self, feature: Feature, payload: Vec<u8>) -> Result<(), WriteFileError> {
        if !(Feature::FIRST..Feature::FEAT_BITS).contains(&feature.0) {
            return Err(WriteFileError::Feature { feature, field: "", must: "a number from 1 to 255" });
        }
        if is_absent(feature, payload.len() as u64) {
            self.payloads.remove(&feature);
        } else {
            self.payloads.insert(feature, payload);
        }
        Ok(())
    }

    /// Sets `COMPRESSED`: version 1, the algorithm, level and ratio, and the size of the buffer to decompress a record.
    pub(super) fn compressed(&mut self, zstd: ZstdOptions, ratio: u32) -> Result<(), WriteFileError> {
        let (kind, level) = (CompressType::ZSTD, u32::from(zstd.level));
        let data = Compression { version: 1, kind, level, ratio, mmap_len: MMAP_LEN };
        self.set(&FeatureData::Compressed(data))
    }

    /// Sets `AUXTRACE`: the position of each AUXTRACE record.
    pub(super) fn auxtrace(&mut self, records: &[AuxtraceEntry]) -> Result<(), WriteFileError> {
        self.set(&FeatureData::Auxtrace(Entries::from(records)))
    }

    /// Sets `EVENT_DESC`, if it was not set.
    pub(super) fn event_desc(&mut self, payload: Vec<u8>) {
        self.payloads.entry(Feature::EVENT_DESC).or_insert(payload);
    }
}

impl From<EncodeError> for WriteFileError {
    fn from(EncodeError { feature, field, must }: EncodeError) -> Self {
        Self::Feature { feature, field, must }
    }
}
