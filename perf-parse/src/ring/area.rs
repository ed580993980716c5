//! The places of the areas in a mapping.

use super::aux_area::AuxArea;
use super::error::{PageField, RingError, RingErrorKind};
use super::page::Page;
use super::pieces::ALIGN;

/// Used bytes of the control page. The data area cannot begin earlier.
const PAGE_IN_USE: u64 = 1088;

/// Bytes of the smallest page on any machine that runs Linux.
const MIN_PAGE: u64 = 4096;

/// The place of the data area in a mapping, and its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataArea {
    /// Offset of the data area in bytes. The area follows the control page.
    pub offset: u64,
    /// Bytes of the data area: a power of two.
    pub size: u64,
    /// Source of the offset and the size.
    pub by: DecidedBy,
}

/// The source of the data area's offset and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecidedBy {
    /// `data_offset` and `data_size` of the control page; since Linux 4.1.
    Page,
    /// The caller's page size. The rest of the mapping is the data area.
    PageSize,
    /// The length of the mapping. It is one page and a power of two of pages, so only one page size is possible: the
    /// lowest set bit of the length, or half the length if only one bit is set.
    Length,
    /// The caller, who provided only the data area.
    Caller,
}

impl DataArea {
    /// Finds the data area in a mapping of `length` bytes. Uses `page_size` if the control page has no offset and
    /// size.
    pub(super) fn find(page: &Page, length: u64, page_size: Option<u64>) -> Result<Self, RingError> {
        let area = match (page.data_offset, page.data_size) {
            (0, 0) => Self::derive(length, page_size)?,
            (0, _) => return Err(PageField::DATA_OFFSET.invalid(0, "not 0, because data_size is not")),
            (_, 0) => return Err(PageField::DATA_SIZE.invalid(0, "not 0, because data_offset is not")),
            (offset, size) => Self { offset, size, by: DecidedBy::Page },
        };
        if area.offset < PAGE_IN_USE {
            return Err(
                PageField::DATA_OFFSET.invalid(area.offset, "at least 1088, the end of the control page")
            );
        }
        if !area.size.is_power_of_two() || area.size < ALIGN as u64 {
            return Err(PageField::DATA_SIZE.invalid(area.size, "a power of two of at least 8"));
        }
        let needed = area.end();
        if needed > length {
            return Err(PageField::DATA_SIZE.truncated(needed, length));
        }
        if needed < length && page.aux_size == 0 {
            let must = "the number of bytes after data_offset, because the mapping has no AUX area";
            return Err(PageField::DATA_SIZE.invalid(area.size, must));
        }
        Ok(area)
    }

    fn derive(length: u64, page_size: Option<u64>) -> Result<Self, RingError> {
        let lowest_bit = length & length.wrapping_neg();
        let by_length = if length.is_power_of_two() { length >> 1 } else { lowest_bit };
        let (offset, by, must) = match page_size {
            Some(page_size) => {
                (page_size, DecidedBy::PageSize, "the page size, a power of two of at least 4096")
            }
            None => (
                by_length,
                DecidedBy::Length,
                "a power of two of at least 4096, if the length of the mapping is right",
            ),
        };
        if !offset.is_power_of_two() || offset < MIN_PAGE {
            return Err(PageField::DATA_OFFSET.invalid(offset, must));
        }
        Ok(Self { offset, size: length.saturating_sub(offset), by })
    }

    fn end(&self) -> u64 {
        self.offset.saturating_add(self.size)
    }

    /// Returns the AUX area in a mapping that includes it; `None` if the mapping ends with the data area or the page
    /// has no AUX area.
    pub(super) fn aux<'a>(&self, page: &Page, mapping: &'a [u8]) -> Result<Option<AuxArea<'a>>, RingError> {
        let length = mapping.len() as u64;
        if page.aux_size == 0 {
            return Ok(None);
        }
        if page.aux_offset < self.end() {
            return Err(PageField::AUX_OFFSET.invalid(page.aux_offset, "at least the end of the data area"));
        }
        if length == self.end() {
            return Ok(None);
        }
        let needed = page.aux_offset.saturating_add(page.aux_size);
        if needed > length {
            return Err(PageField::AUX_SIZE.truncated(needed, length));
        }
        if needed < length {
            return Err(PageField::AUX_SIZE.invalid(page.aux_size, "the number of bytes after aux_offset"));
        }
        let start = usize::try_from(page.aux_offset).unwrap_or(usize::MAX);
        aux_of(page, mapping.get(start..).unwrap_or_default()).map(Some)
    }
}

/// Returns the AUX area that the control page describes; `bytes` are its contents.
pub(super) fn aux_of<'a>(page: &Page, bytes: &'a [u8]) -> Result<AuxArea<'a>, RingError> {
    if page.aux_size != bytes.len() as u64 {
        return Err(PageField::AUX_SIZE.invalid(page.aux_size, "the length of the separate AUX area"));
    }
    AuxArea::new(bytes, page.aux_tail, page.aux_head)
}

impl PageField {
    /// Returns an error for this field, which needs more bytes than are available.
    const fn truncated(self, needed: u64, available: u64) -> RingError {
        RingError { kind: RingErrorKind::Truncated { field: self.0, needed, available }, position: self.1 }
    }
}
