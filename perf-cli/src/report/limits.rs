//! Limits of what is kept of samples.

/// The limits of what is kept of samples. Samples that need more are counted in a row of their own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Number of different addresses.
    pub(super) frames: usize,
    /// Number of frames of all stacks, those that stacks share counted once.
    pub(super) stack_nodes: usize,
    /// Number of different samples: with another stack, thread, or other key.
    pub(super) groups: usize,
    /// Number of bytes of names of threads and texts of tracepoints, each counted with 64 bytes more.
    pub(super) texts: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { frames: 1 << 20, stack_nodes: 1 << 22, groups: 1 << 20, texts: 64 << 20 }
    }
}
