//! Feature sections: what the recorder knew about the machine, the events and itself.
//!
//! Each family has a file: [`machine`], [`topology`], [`memory`], [`pmu`], [`event`], [`clock`], [`bpf`] and
//! [`storage`] decode; [`table`] finds the sections of a file.

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
use crate::cursor::Cursor;
use crate::error::Error;
use crate::error::{FileError, FileErrorKind};

/// A feature: a section of a file, or the payload of a pipe's HEADER_FEATURE record. Borrows its bytes, and decodes
/// them on request.
///
/// Each method decodes the payload of the feature that it names, in the byte order `O` of the capture. A payload is
/// decoded to its last byte, or the method returns an error. One exception: some builds of perf pad the features of a
/// pipe with zeros to a multiple of 8 bytes. The memory of a list depends on the bytes of its items, never on the count
/// in the capture.
///
/// No method decodes [`TRACING_DATA`](Feature::TRACING_DATA) or the features of a newer perf, which have no name here;
/// use [`bytes`](Self::bytes).
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
    /// The feature.
    pub feature: Feature,
    /// Offset of its bytes from the start of the capture.
    pub offset: u64,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// Returns whether a feature is absent although the capture lists it, with a payload of `size` bytes.
///
/// perf lists some features whose data it could not get: CPUDESC and TOTAL_MEM if `/proc/cpuinfo` and `/proc/meminfo`
/// do not have the line, and BPF_PROG_INFO if perf was built without libbpf. Features that only mark a property never
/// have bytes, and an unknown feature may be one of these. A pipe has no features without bytes.
///
/// perf: `do_write_feat`, which keeps the output of a `write_*` function if it did not return a negative number, and
/// `perf_event__synthesize_features`, `tools/perf/util/header.c`.
pub(super) fn is_absent(feature: Feature, size: u64) -> bool {
    let may_be_a_mark = matches!(feature, Feature::BRANCH_STACK | Feature::STAT) || feature.name().is_none();
    size == 0 && !may_be_a_mark
}

impl<'a> FeatureSection<'a> {
    /// Returns the feature whose payload is `bytes`, which begin `offset` bytes into the capture.
    #[must_use]
    pub const fn new(feature: Feature, offset: u64, bytes: &'a [u8]) -> Self {
        Self { feature, offset, bytes }
    }

    /// Decodes `BUILD_ID`: the build ids of the files that samples hit. The iterator ends after the first error.
    #[must_use]
    pub fn build_ids<O: Endian>(&self) -> BuildIds<'a, O> {
        BuildIds::new(*self)
    }

    /// Decodes `BRANCH_STACK` or `STAT`, which have no payload. Their presence means that samples have branch stacks,
    /// and that perf stat wrote the file.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Feature`] if the section has bytes.
    pub fn mark(&self) -> Result<(), FileError> {
        self.whole(|_| Ok(()))
    }

    /// Decodes the section with `decode`, which must use all of it.
    fn whole<T>(&self, decode: impl FnOnce(&mut Cursor<'a>) -> Result<T, Error>) -> Result<T, FileError> {
        self.rest(Cursor::new(self.bytes, 0), decode)
    }

    /// Decodes the rest of the section with `decode`, which must use all of it.
    fn rest<T>(
        &self,
        mut at: Cursor<'a>,
        decode: impl FnOnce(&mut Cursor<'a>) -> Result<T, Error>,
    ) -> Result<T, FileError> {
        decode(&mut at).and_then(|value| self.finish(&at).map(|()| value)).map_err(|error| self.error(error))
    }

    /// Decodes a section that begins with a version, and the rest of it as [`rest`](Self::rest) does.
    ///
    /// The layout of versions other than 1 is unknown, and perf does not read them.
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

    /// Returns whether there is nothing more to decode: at the end, or at the padding of a pipe's feature.
    ///
    /// Padding is recognised by its zeros, which end at a multiple of 8 bytes. No feature has an optional part that
    /// small, unless the capture's NRCPUS is zero.
    fn ends(&self, at: &Cursor<'a>) -> bool {
        let rest = at.rest();
        rest.is_empty()
            || (rest.len() < 8 && self.bytes.len().is_multiple_of(8) && rest.iter().all(|&byte| byte == 0))
    }

    /// Checks that the section has been decoded to its end.
    fn finish(&self, at: &Cursor<'a>) -> Result<(), Error> {
        if self.ends(at) { Ok(()) } else { at.finish() }
    }

    pub(super) fn error(&self, error: Error) -> FileError {
        let kind = FileErrorKind::Feature { feature: self.feature, error };
        FileError::new(kind, self.offset.saturating_add(u64::from(error.offset)))
    }
}
