//! The account of a pass over a capture: what was read, what was lost, what could not be read.

use alloc::vec::Vec;

use perf_abi::record::RecordType;

use super::error::FileError;
use super::limits::Limits;

/// What a pass over a capture read, lost and skipped. Nothing is dropped without a mark in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Records walked, the ones that cannot be decoded included.
    pub records: u64,
    /// Bytes walked: records, and the AUX and tracing data behind some.
    pub bytes: u64,
    /// Bytes that no record could be found in.
    pub bytes_skipped: u64,
    /// Records that the kernel lost as a ring was full: the sum of the LOST records.
    pub lost: u64,
    /// Samples lost before they reached a ring: the sum of the LOST_SAMPLES records.
    pub lost_samples: u64,
    /// In time order: records that are earlier than one given before them, as they came too late to be put in order. See
    /// [`Limits::held_records`].
    pub late: u64,
    /// What was wrong, in the order it was found: at most [`Limits::diagnostics`].
    pub diagnostics: Vec<FileError>,
    /// How many more things were wrong.
    pub diagnostics_omitted: u64,
    /// Records of each type below [`RecordType::HEADER_MAX`].
    by_type: [u64; RecordType::HEADER_MAX as usize],
    /// Diagnostics that are kept.
    most: usize,
}

impl Account {
    /// Diagnostics kept where no other limit is given, so that a file full of faults does not fill the memory: see
    /// [`Limits::diagnostics`].
    pub const MAX_DIAGNOSTICS: usize = 1000;

    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            records: 0,
            bytes: 0,
            bytes_skipped: 0,
            lost: 0,
            lost_samples: 0,
            late: 0,
            diagnostics: Vec::new(),
            diagnostics_omitted: 0,
            by_type: [0; RecordType::HEADER_MAX as usize],
            most: limits.diagnostics,
        }
    }

    /// Whether all there was has been decoded: nothing skipped, nothing wrong.
    ///
    /// What the kernel lost while recording does not count: the capture is whole without it.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.bytes_skipped == 0 && self.faults() == 0
    }

    /// How many things were wrong, kept or not.
    #[must_use]
    pub fn faults(&self) -> u64 {
        (self.diagnostics.len() as u64).saturating_add(self.diagnostics_omitted)
    }

    /// Adds something that was wrong. The walk itself adds what it finds; a caller that decodes adds what it gets.
    pub fn note(&mut self, error: FileError) {
        if self.diagnostics.len() < self.most {
            self.diagnostics.push(error);
        } else {
            self.diagnostics_omitted = self.diagnostics_omitted.saturating_add(1);
        }
    }

    /// As [`note`](Self::note), for what may be found twice, as a feature is that opening reads too; whether it is new.
    pub fn note_once(&mut self, error: FileError) -> bool {
        let is_new = !self.diagnostics.contains(&error);
        if is_new {
            self.note(error);
        }
        is_new
    }

    /// How many records there were of each type, by rising type; only types that occurred.
    ///
    /// Types this crate does not know are missing; they are what [`records`](Self::records) has more than the sum.
    pub fn by_type(&self) -> impl Iterator<Item = (RecordType, u64)> {
        let counts = (0..).map(RecordType).zip(self.by_type);
        counts.filter(|&(_, count)| count != 0)
    }

    /// Counts a record of so many bytes.
    #[inline]
    pub(super) fn count(&mut self, kind: RecordType, bytes: usize) {
        self.bytes = self.bytes.wrapping_add(bytes as u64);
        self.count_type(kind, 1);
    }

    /// Counts records of a type, but not their bytes.
    #[inline]
    pub(super) fn count_type(&mut self, kind: RecordType, records: u64) {
        self.records = self.records.wrapping_add(records);
        if let Some(count) = self.by_type.get_mut(kind.0 as usize) {
            *count = count.wrapping_add(records);
        }
    }
}
