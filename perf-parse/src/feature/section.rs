//! A section as it was recorded.

use perf_abi::endian::{Endian, Endianness};
use perf_abi::feature::Feature;

use super::codec::SectionField;
use super::entries::Entries;
use crate::cursor::Cursor;
use crate::error::{Error, FileError, FileErrorKind};
#[cfg(feature = "tracepoint")]
use crate::tracepoint::Tracepoints;
use crate::tracepoint::TracingData;

/// A feature section as it was recorded: a section of a file, or the payload of a pipe's HEADER_FEATURE record. It
/// borrows its bytes and has what is needed to [`decode`](Self::decode) them.
///
/// perf: `struct feat_fd` and `feat_ops`, `tools/perf/util/header.c`.
///
/// # Examples
///
/// ```
/// use perf_parse::abi::endian::Endianness;
/// use perf_parse::abi::feature::Feature;
/// use perf_parse::feature::{FeatureData, FeatureSection, NrCpus};
///
/// let bytes = [8, 0, 0, 0, 6, 0, 0, 0];
/// let section = FeatureSection::new(Feature::NRCPUS, 0, &bytes, Endianness::Little);
/// assert_eq!(section.decode(), Ok(FeatureData::NrCpus(NrCpus { available: 8, online: 6 })));
///
/// let cut = FeatureSection::new(Feature::NRCPUS, 0x1000, &bytes[..6], Endianness::Little);
/// let error = cut.decode().unwrap_err();
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
    endianness: Endianness,
    /// The number of CPUs that `CPU_TOPOLOGY` needs, or the reason why the number is unknown.
    pub(super) nr_cpus: Result<u32, FileError>,
}

/// Returns whether a feature is absent although the capture lists it, with a payload of `size` bytes.
///
/// perf lists some features whose data it could not get: CPUDESC and TOTAL_MEM if `/proc/cpuinfo` and `/proc/meminfo`
/// do not have the line, and BPF_PROG_INFO if perf was built without libbpf. Features that only mark a property never
/// have bytes, and an unknown feature may be one of these. Sections of simpleperf without bytes have no entries. A pipe has no
/// features without bytes.
///
/// perf: `do_write_feat`, which keeps the output of a `write_*` function if it did not return a negative number, and
/// `perf_event__synthesize_features`, `tools/perf/util/header.c`.
pub(crate) fn is_absent(feature: Feature, size: u64) -> bool {
    let may_be_a_mark = matches!(feature, Feature::BRANCH_STACK | Feature::STAT)
        || feature.0 >= Feature::SIMPLEPERF_START
        || feature.name().is_none();
    size == 0 && !may_be_a_mark
}

impl<'a> FeatureSection<'a> {
    /// Returns the section of a feature in a capture of this byte order. Its `bytes` begin `offset` bytes into the
    /// capture.
    ///
    /// A section `CPU_TOPOLOGY` also needs [`with_nr_cpus`](Self::with_nr_cpus). [`Features`](super::Features) sets the
    /// number of CPUs of its sections.
    #[must_use]
    pub const fn new(feature: Feature, offset: u64, bytes: &'a [u8], endianness: Endianness) -> Self {
        Self { feature, offset, bytes, endianness, nr_cpus: Ok(0) }
    }

    /// Returns the section of a capture whose `NRCPUS` has this number of available CPUs. Only `CPU_TOPOLOGY` depends
    /// on the number.
    #[must_use]
    pub const fn with_nr_cpus(self, available: u32) -> Self {
        Self { nr_cpus: Ok(available), ..self }
    }

    /// As [`with_nr_cpus`](Self::with_nr_cpus), with a number that may have a fault.
    pub(super) fn with_nr_cpus_of(self, nr_cpus: Result<u32, FileError>) -> Self {
        Self { nr_cpus, ..self }
    }

    /// Returns the byte order of the capture.
    #[must_use]
    pub const fn endianness(&self) -> Endianness {
        self.endianness
    }

    /// Decodes the whole section and calls `fault` with each fault. A section with an unknown layout has none.
    ///
    /// Unlike [`decode`](Self::decode), this method checks TRACING_DATA and, with the feature `tracepoint`, each format
    /// in it. It also reports a number that no feature can have.
    pub fn check(&self, mut fault: impl FnMut(FileError)) {
        if self.feature == Feature::TRACING_DATA {
            return match TracingData::parse(self.bytes) {
                #[cfg(not(feature = "tracepoint"))]
                Ok(_) => {}
                #[cfg(feature = "tracepoint")]
                Ok(data) => {
                    Tracepoints::new(&data).faults().iter().for_each(|it| fault(it.in_file(self.offset)));
                }
                Err(error) => fault(error.in_file(self.offset)),
            };
        }
        let number = self.feature.0;
        if !(Feature::FIRST..Feature::FEAT_BITS).contains(&number) {
            return fault(FileError::invalid("feature", number.into(), "from 1 to 255", self.offset));
        }
        if let Err(error) = self.decode() {
            fault(error);
        }
    }

    /// Decodes the section with `decode`, which must use all of it.
    pub(super) fn whole<T>(
        &self,
        decode: impl FnOnce(&mut Cursor<'a>) -> Result<T, Error>,
    ) -> Result<T, FileError> {
        let mut at = Cursor::new(self.bytes, 0);
        decode(&mut at).and_then(|value| self.finish(&at).map(|()| value)).map_err(|error| self.error(error))
    }

    /// Returns the decoded data; the fault if there is one.
    pub(super) fn all<T>((data, fault): (T, Option<FileError>)) -> Result<T, FileError> {
        fault.map_or(Ok(data), Err)
    }

    /// Decodes entries up to the end of the section.
    pub(super) fn until_end<O: Endian, T: SectionField<'a>>(
        &self,
        name: &'static str,
        context: u32,
    ) -> Result<Entries<'a, T>, FileError> {
        self.whole(|at| {
            let (from, mut len) = (*at, 0_u64);
            while !self.ends(at) {
                T::take::<O>(at, name, context)?;
                len = len.saturating_add(1);
            }
            Ok(Entries::between::<O>(&from, at, len, context))
        })
    }

    /// Checks the version with which a section begins. The layout of versions other than 1 is unknown, and perf does
    /// not read them.
    pub(super) fn check_version(
        &self,
        field: &'static str,
        version: impl FnOnce(&mut Cursor<'a>) -> Result<u64, Error>,
    ) -> Result<(), FileError> {
        match version(&mut Cursor::new(self.bytes, 0)).map_err(|error| self.error(error))? {
            1 => Ok(()),
            other => Err(FileError::invalid(
                field,
                other,
                "1, the only version that this crate knows",
                self.offset,
            )),
        }
    }

    /// Returns whether there is nothing more to decode: at the end, or at the padding of a pipe's feature.
    ///
    /// Padding is recognised by its zeros, which end at a multiple of 8 bytes. No feature has an optional part that
    /// small, unless the capture's NRCPUS is zero.
    pub(super) fn ends(&self, at: &Cursor<'a>) -> bool {
        let rest = at.rest();
        rest.is_empty()
            || (rest.len() < 8 && self.bytes.len().is_multiple_of(8) && rest.iter().all(|&byte| byte == 0))
    }

    /// Checks that the section has been decoded to its end.
    pub(super) fn finish(&self, at: &Cursor<'a>) -> Result<(), Error> {
        if self.ends(at) { Ok(()) } else { at.finish() }
    }

    pub(super) fn error(&self, error: Error) -> FileError {
        let kind = FileErrorKind::Feature { feature: self.feature, error };
        FileError::new(kind, self.offset.saturating_add(u64::from(error.offset)))
    }
}
