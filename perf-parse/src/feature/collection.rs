//! The sections of a capture.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use perf_abi::endian::Endianness;
use perf_abi::feature::Feature;

use super::{FeatureData, FeatureSection};
use crate::error::FileError;

/// The feature sections of a capture: in a file in ascending order, in a pipe in the order in which they came. A method
/// for each section decodes it.
///
/// # Examples
///
/// ```
/// use perf_parse::abi::endian::Endianness;
/// use perf_parse::abi::feature::Feature;
/// use perf_parse::feature::Features;
///
/// let mut features = Features::new(Endianness::Big);
/// features.set(Feature::TOTAL_MEM, 0x100, vec![0, 0, 0, 0, 0, 0, 4, 0]);
/// assert_eq!(features.total_mem(), Ok(Some(1024)));
/// assert_eq!(features.hostname(), Ok(None));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Features<'a> {
    endianness: Endianness,
    sections: Vec<StoredSection<'a>>,
}

/// A section with its bytes: those of the file, or a copy from a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
struct StoredSection<'a> {
    feature: Feature,
    offset: u64,
    bytes: Cow<'a, [u8]>,
}

impl<'a> Features<'a> {
    /// Creates an empty collection for the sections of a capture of this byte order.
    #[must_use]
    pub const fn new(endianness: Endianness) -> Self {
        Self { endianness, sections: Vec::new() }
    }

    /// Adds a section, whose bytes begin `offset` bytes into the capture. A section that the collection has already is
    /// replaced.
    pub fn set(&mut self, feature: Feature, offset: u64, bytes: impl Into<Cow<'a, [u8]>>) {
        let stored = StoredSection { feature, offset, bytes: bytes.into() };
        match self.sections.iter_mut().find(|known| known.feature == feature) {
            Some(known) => *known = stored,
            None => self.sections.push(stored),
        }
    }

    /// Copies the bytes of the sections, so that the collection borrows nothing.
    #[must_use]
    pub fn into_owned(self) -> Features<'static> {
        let own = |it: StoredSection<'_>| StoredSection {
            feature: it.feature,
            offset: it.offset,
            bytes: Cow::Owned(it.bytes.into_owned()),
        };
        Features { endianness: self.endianness, sections: self.sections.into_iter().map(own).collect() }
    }

    /// Returns the byte order of the capture.
    #[must_use]
    pub const fn endianness(&self) -> Endianness {
        self.endianness
    }

    /// Returns the number of sections.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sections.len()
    }

    /// Returns whether there are no sections.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sections.is_empty()
    }

    /// Returns the sections.
    #[must_use]
    pub fn iter(&self) -> FeaturesIter<'_> {
        let nr_cpus = match self.find(Feature::NRCPUS).map(|section| section.decode()) {
            Some(Ok(FeatureData::NrCpus(nr_cpus))) => Ok(nr_cpus.available),
            Some(Err(error)) => Err(error),
            _ => Ok(0),
        };
        FeaturesIter { sections: self.sections.iter(), endianness: self.endianness, nr_cpus }
    }

    /// Returns the section of a feature; `None` if the capture does not have it, or if it has not been read yet.
    #[must_use]
    pub fn get(&self, feature: Feature) -> Option<FeatureSection<'_>> {
        self.iter().find(|section| section.feature == feature)
    }

    fn find(&self, feature: Feature) -> Option<FeatureSection<'_>> {
        self.sections.iter().find(|it| it.feature == feature).map(|it| it.section(self.endianness))
    }
}

impl StoredSection<'_> {
    fn section(&self, endianness: Endianness) -> FeatureSection<'_> {
        FeatureSection::new(self.feature, self.offset, &self.bytes, endianness)
    }
}

impl<'s> IntoIterator for &'s Features<'_> {
    type Item = FeatureSection<'s>;
    type IntoIter = FeaturesIter<'s>;

    fn into_iter(self) -> FeaturesIter<'s> {
        self.iter()
    }
}

/// An iterator over the sections of a capture; made by [`Features::iter`].
#[derive(Clone, Debug)]
pub struct FeaturesIter<'s> {
    sections: core::slice::Iter<'s, StoredSection<'s>>,
    endianness: Endianness,
    nr_cpus: Result<u32, FileError>,
}

impl<'s> Iterator for FeaturesIter<'s> {
    type Item = FeatureSection<'s>;

    fn next(&mut self) -> Option<FeatureSection<'s>> {
        let section = self.sections.next()?.section(self.endianness);
        Some(section.with_nr_cpus_of(self.nr_cpus))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.sections.size_hint()
    }
}

impl ExactSizeIterator for FeaturesIter<'_> {}
