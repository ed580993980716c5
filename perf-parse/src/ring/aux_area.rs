//! The AUX area: finds the data of an AUX record.

use perf_abi::aux_area::AuxFlags;

use super::error::{PageField, RingError, RingErrorKind};
use super::pieces::pieces;
use crate::record::Aux;

/// The AUX area of a ring, for the AUX records of the ring.
///
/// Borrows the area; allocates nothing.
///
/// Kernel: `perf_aux_output_end`, `kernel/events/ring_buffer.c`; since Linux 4.1.
#[derive(Clone, Copy, Debug)]
pub struct AuxArea<'a> {
    data: &'a [u8],
    tail: u64,
    head: u64,
}

/// The data of an AUX record, in at most two pieces. The second piece is empty unless the data wraps at the end of
/// the area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuxData<'a> {
    /// Position at which the data begins: a byte count that never wraps. Some drivers count modulo the area for
    /// snapshots.
    pub position: u64,
    /// The data up to the end of the area.
    pub first: &'a [u8],
    /// The remaining data, from the start of the area.
    pub second: &'a [u8],
    /// State of the data: truncated, an overwriting snapshot, with gaps, or in collision with another event.
    pub flags: AuxFlags,
    /// Whether the reader had released the data (`aux_tail`). If the hardware was still on, it may have overwritten
    /// the data with newer data that no record describes yet.
    pub is_released: bool,
}

impl<'a> AuxData<'a> {
    /// Returns the data of a record from the unread part of a live area that the hardware does not overwrite. Only
    /// this part may be borrowed. `first` begins at `aux_tail` and ends at the end of the area or at `aux_head`;
    /// `second` begins at the start of the area and ends at `aux_head`.
    ///
    /// # Errors
    ///
    /// The position is the start of the data. [`Invalid`](RingErrorKind::Invalid) if the start (`aux_offset`) or the
    /// end (`aux_size`) of the data is not between `aux_tail` and `aux_head`.
    pub fn from_unread(
        first: &'a [u8],
        second: &'a [u8],
        tail: u64,
        record: &Aux,
    ) -> Result<Self, RingError> {
        let Aux { aux_offset: position, aux_size, flags } = *record;
        let invalid =
            |field, value, must| RingError { kind: RingErrorKind::Invalid { field, value, must }, position };
        let skipped = usize::try_from(position.wrapping_sub(tail)).unwrap_or(usize::MAX);
        let (first, second) = match (first.get(skipped..), skipped.checked_sub(first.len())) {
            (Some(first), _) => (first, Some(second)),
            (None, skipped) => (&[][..], skipped.and_then(|skipped| second.get(skipped..))),
        };
        let second = second.ok_or(invalid("aux_offset", position, "between aux_tail and aux_head"))?;
        let length = usize::try_from(aux_size).unwrap_or(usize::MAX);
        let (first, second) = match (first.get(..length), length.checked_sub(first.len())) {
            (Some(first), _) => (first, Some(&[][..])),
            (None, length) => (first, length.and_then(|length| second.get(..length))),
        };
        let second = second.ok_or(invalid(
            "aux_size",
            aux_size,
            "at most the number of unread bytes after aux_offset",
        ))?;
        Ok(Self { position, first, second, flags, is_released: false })
    }
}

impl<'a> AuxArea<'a> {
    /// Returns the AUX area with contents `data` and the page's `aux_tail` and `aux_head`.
    ///
    /// # Errors
    ///
    /// [`Invalid`](RingErrorKind::Invalid) for a length that is not a power of two (`aux_size`), a tail beyond the
    /// head (`aux_tail`), and a head more than the size of the area beyond the tail (`aux_head`). A tail of 0 may be
    /// any distance before the head: the tail stays 0 in an area mapped without `PROT_WRITE`, which the kernel
    /// overwrites.
    pub fn new(data: &'a [u8], tail: u64, head: u64) -> Result<Self, RingError> {
        let size = data.len() as u64;
        if !data.len().is_power_of_two() {
            return Err(PageField::AUX_SIZE.invalid(size, "a power of two"));
        }
        match head.checked_sub(tail) {
            None => Err(PageField::AUX_TAIL.invalid(tail, "at most aux_head")),
            Some(unread) if unread > size && tail != 0 => {
                Err(PageField::AUX_HEAD.invalid(head, "at most aux_size beyond aux_tail"))
            }
            Some(_) => Ok(Self { data, tail, head }),
        }
    }

    /// Returns the data of an AUX record. Takes constant time.
    ///
    /// With [`OVERWRITE`](AuxFlags::OVERWRITE), `aux_offset` is the end of the data, otherwise its start. In an
    /// overwritten area the driver reports the head after the write, and the start of a snapshot that does not fill
    /// the area may be below 0.
    ///
    /// # Errors
    ///
    /// The position is the start of the data. [`Invalid`](RingErrorKind::Invalid) if the data ends beyond `aux_head`
    /// (`aux_offset`) or is larger than the area (`aux_size`); [`Overwritten`](RingErrorKind::Overwritten)
    /// (`aux_offset`) if newer data has replaced the start of the data.
    pub fn data(&self, record: &Aux) -> Result<AuxData<'a>, RingError> {
        let Aux { aux_offset: value, aux_size: length, flags } = *record;
        let available = self.data.len() as u64;
        let is_snapshot = flags.contains(AuxFlags::OVERWRITE);
        let position = if is_snapshot { value.wrapping_sub(length) } else { value };
        let error = |kind| RingError { kind, position };
        let field = "aux_offset";
        let length = match usize::try_from(length) {
            Ok(length) if length <= self.data.len() => length,
            _ => {
                let must = "at most the size of the AUX area";
                return Err(error(RingErrorKind::Invalid { field: "aux_size", value: length, must }));
            }
        };
        let end = if is_snapshot { Some(value) } else { value.checked_add(length as u64) };
        let Some(since_end) = end.and_then(|end| self.head.checked_sub(end)) else {
            let must = "at most aux_head";
            return Err(error(RingErrorKind::Invalid { field, value, must }));
        };
        let needed = since_end.saturating_add(length as u64);
        let overwritten = RingErrorKind::Overwritten { field, value, needed, available };
        if needed > available {
            return Err(error(overwritten));
        }
        let (first, second) = pieces(self.data, position, length).ok_or(error(overwritten))?;
        let is_released = !is_snapshot && needed > self.head.saturating_sub(self.tail);
        Ok(AuxData { position, first, second, flags, is_released })
    }

    /// Returns the position up to which the area is written: the page's `aux_head`.
    #[must_use]
    pub const fn head(&self) -> u64 {
        self.head
    }

    /// Returns the whole area.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.data
    }
}
