//! Copies of the user stack.

/// The top of the user stack. Borrows from the record.
///
/// Kernel: `perf_output_sample_ustack`; since Linux 3.7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct StackUser<'a> {
    /// The recorded bytes, from the stack pointer upward; empty for a kernel thread. Bytes after the first `dyn_size`
    /// are undefined.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub data: &'a [u8],
    /// Number of bytes of `data` that the kernel copied; `None` if `data` is empty, because the kernel does not write
    /// it then.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub dyn_size: Option<u64>,
}

impl<'a> StackUser<'a> {
    /// Returns the bytes of `data` that the kernel copied.
    #[must_use]
    pub fn copied(&self) -> &'a [u8] {
        let len = self.dyn_size.and_then(|size| usize::try_from(size).ok()).unwrap_or(0);
        self.data.get(..len).unwrap_or(self.data)
    }
}
