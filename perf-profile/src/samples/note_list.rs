//! The notes of a batch.

/// Notes, in the order of their records.
#[derive(Debug)]
pub(crate) struct NoteList<N> {
    pub(crate) notes: Vec<N>,
    /// The number of bytes that they keep elsewhere.
    pub(super) bytes: usize,
    /// Whether the stack of the record is unwound.
    pub(super) unwinds: bool,
}
