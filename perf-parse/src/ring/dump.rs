//! A recorded ring: control page, data area, AUX area, and the account of the walk.

use perf_abi::endian::{Endian, NativeEndian, U64};
use perf_abi::record::RecordType;
use zerocopy::FromBytes;

use super::account::DumpAccount;
use super::area::{DataArea, DecidedBy, aux_of};
use super::aux_area::AuxArea;
use super::buffer::Buffer;
use super::error::RingError;
#[cfg(feature = "alloc")]
use super::oldest::OldestFirst;
use super::page::Page;
#[cfg(feature = "alloc")]
use super::pieces::RecordPieces;
use super::walk::{LossReason, RingWalk};
use crate::record::RawRecord;

/// The direction in which a ring is written, according to the attr's `write_backward`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The usual direction.
    Forward,
    /// `write_backward` is set.
    Backward,
}

/// A recorded ring and the walk over its records.
///
/// Borrows the dump. Allocates nothing unless a backward ring is reversed. The [module documentation](super) has an
/// example.
#[derive(Clone, Debug)]
pub struct Dump<'a, O: Endian = NativeEndian> {
    page: Option<Page>,
    area: DataArea,
    /// The mapping, or the data area alone.
    mapping: &'a [u8],
    /// The data area of a backward ring that is not reversed yet.
    #[cfg(feature = "alloc")]
    backward: Option<&'a [u8]>,
    walk: RingWalk<'a, O>,
    /// The records that `walk` found, if the ring was reversed.
    #[cfg(feature = "alloc")]
    reversed: Option<OldestFirst<'a, O>>,
    /// Bytes to walk in total.
    length: u64,
    /// Counts of the records returned so far.
    counts: DumpAccount,
}

impl<'a, O: Endian> Dump<'a, O> {
    /// Opens a mapping: the control page, the data area, and the AUX area if the mapping includes it.
    ///
    /// The control page has the places of the areas. A kernel before 4.1 leaves `data_offset` and `data_size` 0. The
    /// mapping is then one page of `page_size` bytes, followed by the data. If `page_size` is `None`, the mapping is
    /// one page and a power of two of pages, so its length determines the page size. [`data_area`](Self::data_area)
    /// reports which of these was used.
    ///
    /// # Errors
    ///
    /// [`Truncated`](super::RingErrorKind::Truncated) or [`Invalid`](super::RingErrorKind::Invalid) for a page that
    /// contradicts the mapping or itself, and the errors of [`RingWalk::forward`] and [`RingWalk::backward`] for
    /// `data_head` and `data_tail`.
    pub fn open(mapping: &'a [u8], direction: Direction, page_size: Option<u64>) -> Result<Self, RingError> {
        let page = Page::read::<O>(mapping)?;
        let area = DataArea::find(&page, mapping.len() as u64, page_size)?;
        let [offset, size] = [area.offset, area.size].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
        let data = mapping.get(offset..).and_then(|from| from.get(..size)).unwrap_or_default();
        let dump = Self::new(data, direction, page.data_tail, page.data_head)?;
        Ok(Self { page: Some(page), area, mapping, ..dump })
    }

    /// Opens a data area that was recorded without its control page. `tail` has no effect for a backward ring.
    ///
    /// # Errors
    ///
    /// The errors of [`RingWalk::forward`] and [`RingWalk::backward`].
    pub fn new(data: &'a [u8], direction: Direction, tail: u64, head: u64) -> Result<Self, RingError> {
        let walk = match direction {
            Direction::Forward => RingWalk::forward(data, tail, head)?,
            Direction::Backward => RingWalk::backward(data, head)?,
        };
        Ok(Self::over(data, walk, direction))
    }

    /// Opens the unread part of a live ring that is written forward; see [`RingWalk::from_pieces`].
    #[must_use]
    pub fn from_pieces(first: &'a [u8], second: &'a [u8], position: u64) -> Self {
        Self::over(first, RingWalk::from_pieces(first, second, position), Direction::Forward)
    }

    #[cfg_attr(
        not(feature = "alloc"),
        expect(unused_variables, reason = "only a reversed ring needs its direction")
    )]
    fn over(data: &'a [u8], walk: RingWalk<'a, O>, direction: Direction) -> Self {
        Self {
            page: None,
            area: DataArea { offset: 0, size: data.len() as u64, by: DecidedBy::Caller },
            mapping: data,
            #[cfg(feature = "alloc")]
            backward: (direction == Direction::Backward).then_some(data),
            length: walk.left(),
            walk,
            #[cfg(feature = "alloc")]
            reversed: None,
            counts: DumpAccount::default(),
        }
    }

    /// Reverses a backward ring, so that [`next`](Self::next) returns the records not returned yet, oldest first.
    /// Keeps two bytes for each record. A forward ring does not change.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn oldest_first(mut self) -> Self {
        if let Some(data) = self.backward.take() {
            self.reversed = Some(OldestFirst::rest_of(data, &mut self.walk));
        }
        self
    }

    /// Returns the next record in the order of the ring in memory: for a backward ring the newest first. It borrows
    /// the dump, or `buffer` if it wraps, but not this walker.
    ///
    /// # Errors
    ///
    /// The errors of [`RingWalk::next`]; for a reversed ring, those of [`OldestFirst::next`](super::OldestFirst::next).
    #[inline]
    pub fn next<'b>(&mut self, buffer: &'b mut Buffer) -> Option<Result<RawRecord<'b, O>, RingError>>
    where
        'a: 'b,
    {
        #[cfg(feature = "alloc")]
        if self.reversed.is_some() {
            return self.next_reversed(buffer);
        }
        let record = match self.walk.next(buffer)? {
            Ok(record) => record,
            Err(error) => return Some(Err(error)),
        };
        self.count(&record);
        Some(Ok(record))
    }

    /// Does the same as [`next`](Self::next) for a reversed ring.
    #[cfg(feature = "alloc")]
    fn next_reversed<'b>(&mut self, buffer: &'b mut Buffer) -> Option<Result<RawRecord<'b, O>, RingError>>
    where
        'a: 'b,
    {
        let next = self.reversed.as_mut()?.next(buffer)?;
        if let Ok(record) = &next {
            self.count(record);
        }
        Some(next)
    }

    /// Returns the next record and its position. The caller [counts](Self::count) it.
    #[cfg(feature = "alloc")]
    #[inline]
    pub(super) fn step(&mut self) -> Option<(u64, Result<RecordPieces<'a, O>, RingError>)> {
        match &mut self.reversed {
            None => {
                let position = self.walk.position();
                Some((position, self.walk.step()?))
            }
            Some(reversed) => {
                let record = reversed.step()?;
                Some((reversed.position(), record))
            }
        }
    }

    #[inline]
    pub(super) fn count(&mut self, record: &RawRecord<'_, O>) {
        self.counts.records = self.counts.records.wrapping_add(1);
        if matches!(record.kind(), RecordType::LOST | RecordType::LOST_SAMPLES) {
            self.count_lost(record);
        }
    }

    #[cold]
    fn count_lost(&mut self, record: &RawRecord<'_, O>) {
        // The payload of LOST begins with an id.
        let (at, sum) = match record.kind() {
            RecordType::LOST => (8, &mut self.counts.lost),
            _ => (0, &mut self.counts.lost_samples),
        };
        let lost = record.payload().get(at..).and_then(|from| U64::<O>::read_from_prefix(from).ok());
        *sum = sum.saturating_add(lost.map_or(0, |(lost, _)| lost.get()));
    }

    /// Returns the account of the walk so far.
    #[must_use]
    pub fn account(&self) -> DumpAccount {
        let walk = &self.walk;
        let (unread, unwritten) = (walk.given_up(LossReason::Unread), walk.given_up(LossReason::Unwritten));
        let (left, torn, wrapped) = (self.left(), walk.torn(), walk.wrapped());
        let not_read = [left, unread, unwritten, torn.map_or(0, |torn| torn.bytes)];
        let bytes = not_read.into_iter().fold(self.length, u64::saturating_sub);
        DumpAccount { bytes, left, unread, unwritten, torn, wrapped, ..self.counts }
    }

    fn left(&self) -> u64 {
        #[cfg(feature = "alloc")]
        if let Some(reversed) = &self.reversed {
            return reversed.left();
        }
        self.walk.left()
    }

    /// Returns the control page; `None` for a data area alone.
    #[must_use]
    pub const fn page(&self) -> Option<&Page> {
        self.page.as_ref()
    }

    /// Returns the place of the data area in the dump, and its source.
    #[must_use]
    pub const fn data_area(&self) -> DataArea {
        self.area
    }

    /// Returns the AUX area; `None` if the dump has none.
    ///
    /// # Errors
    ///
    /// [`Truncated`](super::RingErrorKind::Truncated) or [`Invalid`](super::RingErrorKind::Invalid) for an
    /// `aux_offset` or `aux_size` that does not fit the mapping, and the errors of [`AuxArea::new`].
    pub fn aux(&self) -> Result<Option<AuxArea<'a>>, RingError> {
        self.page.as_ref().map_or(Ok(None), |page| self.area.aux(page, self.mapping))
    }

    /// Returns the AUX area that was recorded separately, with contents `bytes`. `None` for a data area alone; make
    /// the [`AuxArea`] with [`AuxArea::new`] then.
    ///
    /// # Errors
    ///
    /// [`Invalid`](super::RingErrorKind::Invalid) if the page's `aux_size` is not the length of `bytes`, and the
    /// errors of [`AuxArea::new`].
    pub fn separate_aux<'b>(&self, bytes: &'b [u8]) -> Result<Option<AuxArea<'b>>, RingError> {
        self.page.as_ref().map(|page| aux_of(page, bytes)).transpose()
    }
}
