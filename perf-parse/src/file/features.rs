//! Feature sections: what the recorder knew of the machine, of the events and of itself.
//!
//! One file a family: [`machine`], [`topology`], [`memory`], [`pmu`], [`event`], [`clock`], [`bpf`] and [`storage`]
//! decode; [`table`] finds the sections of a file.

mod bpf;
mod check;
mod clock;
mod event;
mod fields;
mod machine;
mod memory;
mod pmu;
mod storage;
mod table;
mod topology;

pub use bpf::{BpfBtf, BpfProgInfo, BpfProgram};
pub use clock::ClockData;
pub use event::{EventDesc, EventDescs, GroupDesc};
pub use machine::EMachine;
pub use memory::{Bitmap, Cache, MemNode, MemTopology, NumaNode};
pub use pmu::{HybridPmu, PmuCap, PmuCaps};
pub use storage::Compression;
pub use topology::{CpuDomains, CpuPlace, CpuTopology, DomainInfo, SchedDomain};

pub(super) use check::check;
#[cfg(feature = "std")]
pub(super) use table::is_of_32_bits;
pub(super) use table::sections;

use perf_abi::endian::Endian;
use perf_abi::feature::Feature;

use super::build_id::BuildIds;
use super::error::{FileError, FileErrorKind};
use crate::cursor::Cursor;
use crate::error::Error;

/// A feature: a section of a file, or what a HEADER_FEATURE record of a pipe carries. Borrows; decoded when asked.
///
/// Each method decodes the payload of the feature that it names, in the byte order `O` of the capture. A payload is
/// consumed exactly or is an error, but for the zeros that some builds of perf put behind the features of a pipe, up to
/// a multiple of 8 bytes. Lists take memory by the bytes that their items have, never by the count that the capture
/// gives.
///
/// [`TRACING_DATA`](Feature::TRACING_DATA), and a feature of a newer perf, whose number has no name, stay
/// [`bytes`](Self::bytes).
///
/// perf: `HEADER_*` and `feat_ops`, `tools/perf/util/header.c`.
///
/// # Examples
///
/// ```
/// use perf_parse::abi::endian::LittleEndian;
/// use perf_parse::abi::feature::Feature;
/// use perf_parse::file::FeatureSection;
///
/// let section = FeatureSection::new(Feature::NRCPUS, 0, &[8, 0, 0, 0, 6, 0, 0, 0]);
/// assert_eq!(section.nr_cpus::<LittleEndian>(), Ok((8, 6)));
///
/// let cut = FeatureSection::new(Feature::NRCPUS, 0x1000, &[8, 0, 0, 0, 6, 0]);
/// let error = cut.nr_cpus::<LittleEndian>().unwrap_err();
/// assert_eq!(error.to_string(), "0x1004: NRCPUS: nr_cpus_online: needs 4 bytes, 2 are left");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeatureSection<'a> {
    /// Which feature.
    pub feature: Feature,
    /// Where its bytes begin, in bytes from the start of the capture.
    pub offset: u64,
    /// Its bytes.
    pub bytes: &'a [u8],
}

impl<'a> FeatureSection<'a> {
    /// The feature whose payload is `bytes`, which begin `offset` bytes into the capture.
    #[must_use]
    pub const fn new(feature: Feature, offset: u64, bytes: &'a [u8]) -> Self {
        Self { feature, offset, bytes }
    }

    /// `BUILD_ID`: the build ids of the files that samples hit. Ends after the first error.
    #[must_use]
    pub fn build_ids<O: Endian>(&self) -> BuildIds<'a, O> {
        BuildIds::new(*self)
    }

    /// `BRANCH_STACK`, `STAT`: says by being there that samples have branch stacks, that perf stat wrote the file.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Feature`] if it has bytes.
    pub fn mark(&self) -> Result<(), FileError> {
        self.whole(|_| Ok(()))
    }

    /// Decodes the section with `decode`, which must use all of it.
    fn whole<T>(&self, decode: impl FnOnce(&mut Cursor<'a>) -> Result<T, Error>) -> Result<T, FileError> {
        self.rest(Cursor::new(self.bytes, 0), decode)
    }

    /// Decodes what is left of the section with `decode`, which must use all of it.
    fn rest<T>(
        &self,
        mut at: Cursor<'a>,
        decode: impl FnOnce(&mut Cursor<'a>) -> Result<T, Error>,
    ) -> Result<T, FileError> {
        decode(&mut at).and_then(|value| self.finish(&at).map(|()| value)).map_err(|error| self.error(error))
    }

    /// Decodes a section that begins with a version, as [`rest`](Self::rest) does what is behind it.
    ///
    /// Nothing is known of the layout of another version than 1, and perf reads no other.
    fn version_1<T>(
        &self,
        field: &'static str,
        version: impl FnOnce(&mut Cursor<'a>) -> Result<u64, Error>,
        decode: impl FnOnce(&mut Cursor<'a>) -> Result<T, Error>,
    ) -> Result<T, FileError> {
        let mut at = Cursor::new(self.bytes, 0);
        match version(&mut at).map_err(|error| self.error(error))? {
            1 => self.rest(at, decode),
            other => Err(FileError::invalid(field, other, "1, the version known here", self.offset)),
        }
    }

    /// Whether nothing more is to be decoded: the end, or the padding of a pipe's feature.
    ///
    /// The padding is taken for what it is by its zeros, which end a multiple of 8 bytes. No feature has an optional
    /// part that is as small, where the capture's NRCPUS is not zero.
    fn ends(&self, at: &Cursor<'a>) -> bool {
        let rest = at.rest();
        rest.is_empty()
            || (rest.len() < 8 && self.bytes.len().is_multiple_of(8) && rest.iter().all(|&byte| byte == 0))
    }

    /// Ends the decoding.
    fn finish(&self, at: &Cursor<'a>) -> Result<(), Error> {
        if self.ends(at) { Ok(()) } else { at.finish() }
    }

    pub(super) fn error(&self, error: Error) -> FileError {
        let kind = FileErrorKind::Feature { feature: self.feature, error };
        FileError::new(kind, self.offset.saturating_add(u64::from(error.offset)))
    }
}
