//! Copies of the user stack.

/// The top of the user stack. Borrows from the record.
///
/// Kernel: `perf_output_sample_ustack`; since Linux 3.7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackUser<'a> {
    /// What the record holds, from the stack pointer up; empty for a kernel thread. Behind `dyn_size` it is undefined.
    pub data: &'a [u8],
    /// Bytes of `data` that the kernel could copy; `None` where `data` is empty, as then it is not written.
    pub dyn_size: Option<u64>,
}

impl<'a> StackUser<'a> {
    /// The bytes that are the stack's.
    #[must_use]
    pub fn copied(&self) -> &'a [u8] {
        let len = self.dyn_size.and_then(|size| usize::try_from(size).ok()).unwrap_or(0);
        self.data.get(..len).unwrap_or(self.data)
    }
}
