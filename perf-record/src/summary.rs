//! The numbers of a finished recording.

/// The totals of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The number of samples.
    pub samples: u64,
    /// The number of records that were lost because the rings were full.
    pub lost: u64,
    /// The number of bytes in rings that could not be read.
    pub skipped: u64,
    /// The number of mapped files whose build ids are not known, because they could not be read: they were replaced or deleted,
    /// or belonged to a container that has ended. Without [`RecordOptions::build_ids`](crate::RecordOptions), 0.
    pub unreadable_files: u64,
}
