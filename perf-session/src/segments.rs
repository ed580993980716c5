//! From an offset in a file to the address that its symbols use.

/// A loadable segment of an ELF file: a program header of type `PT_LOAD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Segment {
    /// Offset in the file: `p_offset`.
    pub offset: u64,
    /// Address: `p_vaddr`.
    pub address: u64,
    /// Number of bytes in the file: `p_filesz`.
    pub size: u64,
    /// Whether the segment is executable: `PF_X` in `p_flags`.
    pub is_executable: bool,
}

/// Returns the address that a file's symbols use for an offset in the file, such as
/// [`Mapping::offset_of`](crate::Mapping::offset_of) returns. `None` if no segment has the offset.
///
/// Pages are mapped whole. So an executable mapping may begin before its segment, in the page that ends the segment
/// before it, and an offset can be in two segments. The one counts that is executable if the mapping is. A mapping may
/// also end after the bytes of its segment: variables without a value in the file (`.bss`) begin in the same page.
///
/// # Examples
///
/// ```
/// use perf_session::{Segment, address_of};
///
/// // lld puts the segments on pages of their own addresses, but not of the file.
/// let segments = [
///     Segment { offset: 0, address: 0x20_0000, size: 0x6f4, is_executable: false },
///     Segment { offset: 0x700, address: 0x20_1700, size: 0x140, is_executable: true },
/// ];
/// assert_eq!(address_of(&segments, 0x720, true), Some(0x20_1720));
/// assert_eq!(address_of(&segments, 0x680, false), Some(0x20_0680));
/// // Before the executable segment, in the page that is mapped with it.
/// assert_eq!(address_of(&segments, 0x680, true), Some(0x20_1680));
/// // After its bytes, in its last page.
/// assert_eq!(address_of(&segments, 0x900, true), Some(0x20_1900));
/// assert_eq!(address_of(&segments, 0x9000, true), None);
/// ```
#[must_use]
pub fn address_of(segments: &[Segment], offset: u64, is_executable: bool) -> Option<u64> {
    const PAGE: u64 = 4096;
    let has = |segment: &&Segment, before: u64, after: u64| {
        let start = segment.offset.saturating_sub(segment.offset.checked_rem(before).unwrap_or(0));
        let end = segment.offset.saturating_add(segment.size);
        start <= offset && offset < end.checked_next_multiple_of(after).unwrap_or(end)
    };
    let of_kind = || segments.iter().filter(|segment| segment.is_executable == is_executable);
    let segment = of_kind()
        .find(|segment| has(segment, 1, 1))
        .or_else(|| of_kind().find(|segment| has(segment, PAGE, 1)))
        .or_else(|| of_kind().find(|segment| has(segment, PAGE, PAGE)))
        .or_else(|| segments.iter().find(|segment| has(segment, 1, 1)))?;
    Some(offset.wrapping_sub(segment.offset).wrapping_add(segment.address))
}
