//! Offsets in a file to the addresses that its symbols have.

use perf_session::{Segment, address_of};

/// The segments of a file, which map offsets in it to addresses.
#[derive(Clone, Copy, Debug)]
pub struct FileAddresses<'a> {
    segments: &'a [Segment],
}

impl<'a> FileAddresses<'a> {
    /// `segments` are those of the file, in its order: see [`perf_symbol::ElfImage::segments`].
    #[must_use]
    pub fn new(segments: &'a [Segment]) -> Self {
        Self { segments }
    }

    /// Returns the address of an offset in the file; `None` if no segment has it.
    #[must_use]
    pub fn address(&self, offset: u64) -> Option<u64> {
        address_of(self.segments, offset, true)
    }

    /// Returns the address of the first segment; 0 if there is none.
    #[must_use]
    pub fn first_address(&self) -> u64 {
        self.segments.first().map_or(0, |segment| segment.address)
    }

    /// Returns the first segment that is executable.
    #[must_use]
    pub fn executable(&self) -> Option<&'a Segment> {
        self.segments.iter().find(|segment| segment.is_executable)
    }
}
