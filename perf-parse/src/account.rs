//! The account of a pass over a capture: what was read, what was lost, what could not be read.

mod fault_counts;

pub use fault_counts::FaultCounts;

use alloc::vec::Vec;

use perf_abi::endian::ByteOrder;
use perf_abi::record::RecordType;

use crate::error::FileError;
use crate::limits::Limits;
use crate::record::{Lost, LostSamples, Mmap2, Record};
use crate::sample::Reading;

/// What a pass over a capture read, lost and skipped. The account counts everything that is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Account {
    /// Number of records that were read, including records that cannot be decoded.
    pub records: u64,
    /// Number of bytes that were read: records, and the AUX and tracing data after some of them.
    pub bytes: u64,
    /// Number of bytes in which no record could be found.
    pub bytes_skipped: u64,
    /// Number of records that the kernel lost because a ring was full: the sum of the LOST records.
    pub lost: u64,
    /// Number of samples that were lost before they reached a ring: the sum of the LOST_SAMPLES records.
    pub lost_samples: u64,
    /// Number of records that were read too late to be put in time order: each is earlier than a record that was
    /// already returned. 0 unless the walk is in time order; see [`Limits::held_records`].
    pub late: u64,
    /// MMAP2 records whose bytes fit both layouts: see [`Mmap2::reading`](crate::record::Mmap2::reading).
    pub mmap2_guesses: Mmap2Guesses,
    /// Number of bytes after AUXTRACE and HEADER_TRACING_DATA records that were passed because these records announce
    /// them. `bytes` includes them.
    pub announced: u64,
    /// Whether the recorder did not finish the file. Then an unknown number of records is missing after the last one:
    /// those that it had not read from the rings yet, and those that it had not written.
    pub unfinished: bool,
    /// The faults, in the order in which they were found: at most [`Limits::diagnostics`].
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::slice"))]
    pub diagnostics: Vec<FileError>,
    /// Number of faults that are not in `diagnostics`.
    pub diagnostics_omitted: u64,
    /// Number of faults of each kind, kept or not.
    #[cfg_attr(feature = "serde", serde(rename = "faults_by_kind"))]
    by_kind: FaultCounts,
    /// Number of records of each type below [`RecordType::HEADER_MAX`].
    #[cfg_attr(feature = "serde", serde(serialize_with = "types"))]
    by_type: [u64; RecordType::HEADER_MAX as usize],
    /// Maximum number of diagnostics to keep.
    #[cfg_attr(feature = "serde", serde(skip))]
    most: usize,
}

/// Numbers of MMAP2 records whose bytes fit both layouts, by the layout in which they were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Mmap2Guesses {
    /// With protection and flags: the layout since Linux 3.16.
    pub current: u64,
    /// With the path in their place: the layout of the time of Linux 3.12.
    pub old: u64,
}

/// An account without records, with the default of [`Limits::diagnostics`].
impl Default for Account {
    fn default() -> Self {
        Self::new(&Limits::default())
    }
}

impl Account {
    /// Maximum number of diagnostics that are kept by default. The limit prevents a file full of faults from filling
    /// the memory; see [`Limits::diagnostics`].
    pub const MAX_DIAGNOSTICS: usize = crate::limits::MAX_DIAGNOSTICS;

    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            records: 0,
            bytes: 0,
            bytes_skipped: 0,
            lost: 0,
            lost_samples: 0,
            late: 0,
            mmap2_guesses: Mmap2Guesses::default(),
            announced: 0,
            unfinished: false,
            diagnostics: Vec::new(),
            diagnostics_omitted: 0,
            by_kind: FaultCounts::default(),
            by_type: [0; RecordType::HEADER_MAX as usize],
            most: limits.diagnostics,
        }
    }

    /// Returns whether the whole capture was decoded: nothing was skipped, and no fault was found.
    ///
    /// Losses that the kernel reported do not count, because the lost records were never in the capture.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.bytes_skipped == 0 && self.faults() == 0
    }

    /// Returns the number of faults, kept or not.
    #[must_use]
    pub fn faults(&self) -> u64 {
        (self.diagnostics.len() as u64).saturating_add(self.diagnostics_omitted)
    }

    /// Adds a fault. The reader adds the faults that it finds; a caller that decodes records adds the errors that it
    /// gets.
    pub fn note(&mut self, error: FileError) {
        self.by_kind.add(&error.kind);
        self.keep(error);
    }

    /// Adds faults of records that were decoded after the walk had moved on. Each fault comes with the number of faults
    /// that the account had when the record was read; these numbers must be in ascending order. The fault is placed
    /// before the faults that were noted after its record was read.
    pub fn note_among(&mut self, found: impl IntoIterator<Item = (u64, FileError)>) {
        let noted = core::mem::take(&mut self.diagnostics);
        let mut noted = (0_u64..).zip(noted).peekable();
        for (before, error) in found {
            while let Some((_, noted)) = noted.next_if(|&(index, _)| index < before) {
                self.keep(noted);
            }
            self.note(error);
        }
        noted.for_each(|(_, noted)| self.keep(noted));
    }

    /// Adds the account of the next part of the capture: see [`Blocks`](crate::file::Blocks).
    pub fn add(&mut self, part: &Self) {
        self.records = self.records.saturating_add(part.records);
        self.bytes = self.bytes.saturating_add(part.bytes);
        self.bytes_skipped = self.bytes_skipped.saturating_add(part.bytes_skipped);
        self.lost = self.lost.saturating_add(part.lost);
        self.lost_samples = self.lost_samples.saturating_add(part.lost_samples);
        self.late = self.late.saturating_add(part.late);
        let (guesses, more) = (&mut self.mmap2_guesses, part.mmap2_guesses);
        guesses.current = guesses.current.saturating_add(more.current);
        guesses.old = guesses.old.saturating_add(more.old);
        self.announced = self.announced.saturating_add(part.announced);
        self.unfinished |= part.unfinished;
        for (all, count) in self.by_type.iter_mut().zip(part.by_type) {
            *all = all.saturating_add(count);
        }
        self.by_kind.add_all(&part.by_kind);
        part.diagnostics.iter().for_each(|&error| self.keep(error));
        self.diagnostics_omitted = self.diagnostics_omitted.saturating_add(part.diagnostics_omitted);
    }

    /// Adds faults of which only the kinds are known.
    pub fn note_omitted(&mut self, counts: &FaultCounts) {
        self.by_kind.add_all(counts);
        self.diagnostics_omitted = self.diagnostics_omitted.saturating_add(counts.total());
    }

    fn keep(&mut self, error: FileError) {
        if self.diagnostics.len() < self.most {
            self.diagnostics.push(error);
        } else {
            self.diagnostics_omitted = self.diagnostics_omitted.saturating_add(1);
        }
    }

    /// Adds a fault that may be found twice, such as a fault of a feature that is also decoded when the capture is
    /// opened. Returns whether the fault was new; see [`note`](Self::note).
    pub fn note_once(&mut self, error: FileError) -> bool {
        let is_new = !self.diagnostics.contains(&error);
        if is_new {
            self.note(error);
        }
        is_new
    }

    /// Returns the number of faults of each kind, kept or not.
    #[must_use]
    pub const fn faults_by_kind(&self) -> &FaultCounts {
        &self.by_kind
    }

    /// Returns the number of records of each type that occurred, in ascending order of types.
    ///
    /// Types that this crate does not know are not included; [`records`](Self::records) counts them too.
    pub fn by_type(&self) -> impl Iterator<Item = (RecordType, u64)> {
        let counts = (0..).map(RecordType).zip(self.by_type);
        counts.filter(|&(_, count)| count != 0)
    }

    /// Adds what the kernel lost, or an MMAP2 record whose bytes fit both layouts.
    pub(crate) fn count_content<O: ByteOrder>(&mut self, decoded: &Record<'_, O>) {
        let add = |count: &mut u64, more| *count = count.saturating_add(more);
        match decoded {
            Record::Lost(Lost { lost, .. }) => add(&mut self.lost, *lost),
            Record::LostSamples(LostSamples { lost }) => add(&mut self.lost_samples, *lost),
            Record::Mmap2(Mmap2 { reading: Reading::Usual, .. }) => add(&mut self.mmap2_guesses.current, 1),
            Record::Mmap2(Mmap2 { reading: Reading::Other, .. }) => add(&mut self.mmap2_guesses.old, 1),
            _ => {}
        }
    }

    /// Counts a record of `bytes` bytes.
    #[inline]
    pub(crate) fn count(&mut self, kind: RecordType, bytes: usize) {
        self.bytes = self.bytes.wrapping_add(bytes as u64);
        self.count_type(kind, 1);
    }

    /// Counts records of a type, but not their bytes.
    #[inline]
    pub(crate) fn count_type(&mut self, kind: RecordType, records: u64) {
        self.records = self.records.wrapping_add(records);
        if let Some(count) = self.by_type.get_mut(kind.0 as usize) {
            *count = count.wrapping_add(records);
        }
    }
}

/// Serializes the counts of the types that occurred as a map.
#[cfg(feature = "serde")]
fn types<S: serde::Serializer>(
    counts: &[u64; RecordType::HEADER_MAX as usize],
    to: S,
) -> Result<S::Ok, S::Error> {
    let occurred = || (0..).map(RecordType).zip(*counts).filter(|&(_, count)| count != 0);
    serde::Serialize::serialize(&crate::serialize::Map(occurred), to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::FileErrorKind;

    fn skipped(offset: u64) -> FileError {
        FileError::new(FileErrorKind::Skipped { bytes: 1 }, offset)
    }

    fn offsets(account: &Account) -> Vec<u64> {
        account.diagnostics.iter().map(|error| error.offset).collect()
    }

    #[test]
    fn what_is_found_later_goes_where_it_was_found() {
        let mut account = Account::new(&Limits::default());
        [10, 20, 30].map(skipped).into_iter().for_each(|error| account.note(error));
        account.note_among([(0, skipped(1)), (2, skipped(21)), (2, skipped(22)), (9, skipped(31))]);
        assert_eq!(offsets(&account), [1, 10, 20, 21, 22, 30, 31]);
        assert!(account.faults_by_kind().iter().eq([("skipped", 7)]));
    }

    #[test]
    fn all_faults_are_counted_and_the_first_are_kept() {
        for count in [Account::MAX_DIAGNOSTICS - 1, Account::MAX_DIAGNOSTICS, Account::MAX_DIAGNOSTICS + 1] {
            let mut account = Account::new(&Limits::default());
            (0..count as u64).for_each(|offset| account.note(skipped(offset)));
            account.note_among([(0, FileError::new(FileErrorKind::NotPerfData, 7))]);
            let all = count as u64 + 1;
            assert_eq!(account.diagnostics.len(), (count + 1).min(Account::MAX_DIAGNOSTICS));
            assert_eq!(account.faults(), all);
            assert_eq!(account.faults_by_kind().total(), all);
            account.note_omitted(&account.faults_by_kind().clone());
            assert_eq!((account.faults(), account.faults_by_kind().total()), (2 * all, 2 * all));
        }
    }
}
