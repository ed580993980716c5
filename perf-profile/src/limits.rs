//! Limits of what is kept of samples.

/// Limits of what a [`Profile`](crate::Profile) keeps. Samples that need more are only counted: see
/// [`ProfileEvent::beyond`](crate::ProfileEvent::beyond).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Number of different addresses.
    pub frames: usize,
    /// Number of frames of all stacks, those that stacks share counted once.
    pub stack_nodes: usize,
    /// Number of samples, those that are counted together counted once.
    pub samples: usize,
    /// Number of different threads, and of names that they had.
    pub threads: usize,
    /// Number of bytes of texts about samples, each counted with 64 bytes more. Further texts are dropped.
    pub texts: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { frames: 1 << 20, stack_nodes: 1 << 22, samples: 1 << 24, threads: 1 << 20, texts: 64 << 20 }
    }
}
