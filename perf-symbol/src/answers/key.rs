//! What an answer is found by.

/// What functions at an address of a file depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AnswerKey {
    /// The offset in the file that was mapped.
    pub(crate) offset: u64,
    pub(crate) is_caller: bool,
    pub(crate) is_executable: bool,
}
