//! The newest data of an AUX area that the hardware overwrites.

/// Bytes at the end of an area that show whether it was filled once.
const END: usize = 4096;

/// The data that earlier snapshots of an area took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SnapshotHistory {
    /// The position after the data that the last snapshot took.
    taken: u64,
    /// Whether the area was filled once.
    is_full: bool,
}

/// A piece of an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AuxPiece<'a> {
    /// The data, up to the end of the area.
    pub(crate) first: &'a [u8],
    /// The rest of the data, from the start of the area.
    pub(crate) second: &'a [u8],
    /// The position of the data: a byte count.
    pub(crate) offset: u64,
}

impl SnapshotHistory {
    /// Returns the newest data, at most `most` bytes; `None` if there is nothing new. `head` is `aux_head` while the trace
    /// is stopped, which some PMUs report modulo the size of the area. As long as the area was never full, it is the data
    /// since the last snapshot.
    ///
    /// Whether the area was ever full is not reported, but it is zeroed when it is mapped.
    ///
    /// perf: `find_snapshot` of each PMU, and `__auxtrace_mmap__read`.
    pub(crate) fn newest<'a>(&mut self, data: &'a [u8], head: u64, most: usize) -> Option<AuxPiece<'a>> {
        let size = data.len() as u64;
        if size == 0 {
            return None;
        }
        let at = usize::try_from(head % size).unwrap_or(0);
        let unwritten = data.get(data.len().saturating_sub(END).max(at)..).unwrap_or_default();
        self.is_full |= head >= size || unwritten.iter().any(|&byte| byte != 0);
        let (length, end) = if self.is_full {
            (data.len(), if head < size { head.saturating_add(size) } else { head })
        } else {
            let taken = usize::try_from(self.taken % size).unwrap_or(0);
            match at.checked_sub(taken) {
                Some(length) => (length, head),
                None => (data.len() - (taken - at), head.saturating_add(size)),
            }
        };
        self.taken = end;
        let length = length.min(most);
        if length == 0 {
            return None;
        }
        let before = length.saturating_sub(at);
        let first = &data[data.len() - before..];
        let second = &data[at - (length - before)..at];
        let offset = end.wrapping_sub(length as u64);
        Some(if before > 0 {
            AuxPiece { first, second, offset }
        } else {
            AuxPiece { first: second, second: &[], offset }
        })
    }
}
