//! A recorded ring: control page, data area, AUX area, and the account of what was read.

use perf_abi::endian::{Endian, U64};
use perf_abi::record::RecordType;
use zerocopy::FromBytes;

use super::account::Account;
use super::area::{DataArea, DecidedBy, aux_of};
use super::aux_area::AuxArea;
use super::backward::Backward;
use super::buffer::Buffer;
use super::error::RingError;
use super::forward::Forward;
#[cfg(feature = "alloc")]
use super::oldest::OldestFirst;
use super::page::Page;
#[cfg(feature = "alloc")]
use super::walk::Found;
use super::walk::{Rest, Walk};
use crate::record::RawRecord;

/// Which way a ring is written: what its attr's `write_backward` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// As rings are.
    Forward,
    /// `write_backward` is set.
    Backward,
}

/// A ring as it was recorded, and the walk over its records.
///
/// Borrows the dump; allocates nothing, unless it is turned around. The [module's page](super) has an example.
#[derive(Clone, Debug)]
pub struct Dump<'a, O: Endian> {
    page: Option<Page>,
    area: DataArea,
    /// The mapping, or the data area alone.
    mapping: &'a [u8],
    /// The data area of a backward ring that is not turned around yet.
    #[cfg(feature = "alloc")]
    backward: Option<&'a [u8]>,
    walk: Walk<'a, O>,
    /// What `walk` found, where the ring was turned around.
    #[cfg(feature = "alloc")]
    turned: Option<OldestFirst<'a, O>>,
    /// Bytes there were to be walked.
    length: u64,
    /// What was counted on the way.
    seen: Account,
}

impl<'a, O: Endian> Dump<'a, O> {
    /// Opens a mapping: the control page, the data area, and the AUX area if it is there too.
    ///
    /// Where the areas are is what the control page says. A kernel before 4.1 leaves `data_offset` and `data_size` 0:
    /// then it is one page of `page_size` bytes and the data behind it, and if that is `None`, one page and a power of
    /// two of pages, of which the length leaves only one choice. [`data_area`](Self::data_area) tells which it was.
    ///
    /// # Errors
    ///
    /// [`Truncated`](super::RingErrorKind::Truncated) or [`Invalid`](super::RingErrorKind::Invalid) for a page that
    /// does not fit the mapping or itself, and what [`Forward::new`] and [`Backward::new`] find wrong with
    /// `data_head` and `data_tail`.
    pub fn open(mapping: &'a [u8], direction: Direction, page_size: Option<u64>) -> Result<Self, RingError> {
        let page = Page::read::<O>(mapping)?;
        let area = DataArea::find(&page, mapping.len() as u64, page_size)?;
        let [offset, size] = [area.offset, area.size].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
        let data = mapping.get(offset..).and_then(|from| from.get(..size)).unwrap_or_default();
        let dump = Self::new(data, direction, page.data_tail, page.data_head)?;
        Ok(Self { page: Some(page), area, mapping, ..dump })
    }

    /// Opens a data area that was recorded without its control page. `tail` is not looked at in a backward ring.
    ///
    /// # Errors
    ///
    /// As [`Forward::new`] and [`Backward::new`].
    pub fn new(data: &'a [u8], direction: Direction, tail: u64, head: u64) -> Result<Self, RingError> {
        let walk = match direction {
            Direction::Forward => Forward::new(data, tail, head)?.walk,
            Direction::Backward => Backward::new(data, head)?.walk,
        };
        Ok(Self {
            page: None,
            area: DataArea { offset: 0, size: data.len() as u64, by: DecidedBy::Caller },
            mapping: data,
            #[cfg(feature = "alloc")]
            backward: (direction == Direction::Backward).then_some(data),
            length: walk.left(),
            walk,
            #[cfg(feature = "alloc")]
            turned: None,
            seen: Account::default(),
        })
    }

    /// What is unread of a live ring that is written forward: see [`Forward::of_pieces`].
    #[must_use]
    pub fn of_pieces(first: &'a [u8], second: &'a [u8], position: u64) -> Self {
        let walk = Forward::of_pieces(first, second, position).walk;
        Self {
            page: None,
            area: DataArea { offset: 0, size: first.len() as u64, by: DecidedBy::Caller },
            mapping: first,
            #[cfg(feature = "alloc")]
            backward: None,
            length: walk.left(),
            walk,
            #[cfg(feature = "alloc")]
            turned: None,
            seen: Account::default(),
        }
    }

    /// Turns a backward ring around, so that [`next`](Self::next) gives the oldest record that was not yet given
    /// first; keeps two bytes a record. A forward ring stays as it is.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn oldest_first(mut self) -> Self {
        if let Some(data) = self.backward.take() {
            self.turned = Some(OldestFirst::new(data, &mut self.walk));
        }
        self
    }

    /// The next record, in the order in which they stand: a backward ring's newest first. It borrows the dump, or
    /// `buffer` if it wraps; not this.
    ///
    /// # Errors
    ///
    /// As [`Forward::next`] and [`Backward::next`]; [`OldestFirst::next`](super::OldestFirst::next) for a ring that
    /// was turned around.
    #[inline]
    pub fn next<'b>(&mut self, buffer: &'b mut Buffer) -> Option<Result<RawRecord<'b, O>, RingError>>
    where
        'a: 'b,
    {
        #[cfg(feature = "alloc")]
        if self.turned.is_some() {
            return self.next_turned(buffer);
        }
        let record = match self.walk.next(buffer)? {
            Ok(record) => record,
            Err(error) => return Some(Err(error)),
        };
        self.count(&record);
        Some(Ok(record))
    }

    /// As [`next`](Self::next), for a ring that was turned around.
    #[cfg(feature = "alloc")]
    fn next_turned<'b>(&mut self, buffer: &'b mut Buffer) -> Option<Result<RawRecord<'b, O>, RingError>>
    where
        'a: 'b,
    {
        let next = self.turned.as_mut()?.next(buffer)?;
        if let Ok(record) = &next {
            self.count(record);
        }
        Some(next)
    }

    /// The next record, and where it is. The caller [counts](Self::count) it.
    #[cfg(feature = "alloc")]
    #[inline]
    pub(super) fn step(&mut self) -> Option<(u64, Result<Found<'a, O>, RingError>)> {
        match &mut self.turned {
            None => {
                let position = self.walk.position();
                Some((position, self.walk.step()?))
            }
            Some(turned) => {
                let found = turned.step()?;
                Some((turned.position(), found))
            }
        }
    }

    #[inline]
    pub(super) fn count(&mut self, record: &RawRecord<'_, O>) {
        self.seen.records = self.seen.records.wrapping_add(1);
        if matches!(record.kind(), RecordType::LOST | RecordType::LOST_SAMPLES) {
            self.count_lost(record);
        }
    }

    #[cold]
    fn count_lost(&mut self, record: &RawRecord<'_, O>) {
        // LOST begins with an id.
        let (at, sum) = match record.kind() {
            RecordType::LOST => (8, &mut self.seen.lost),
            _ => (0, &mut self.seen.lost_samples),
        };
        let lost = record.payload().get(at..).and_then(|from| U64::<O>::read_from_prefix(from).ok());
        *sum = sum.saturating_add(lost.map_or(0, |(lost, _)| lost.get()));
    }

    /// What was read so far, and what not.
    #[must_use]
    pub fn account(&self) -> Account {
        let walk = &self.walk;
        let (unread, unwritten) = (walk.given_up(Rest::Unread), walk.given_up(Rest::Unwritten));
        let (left, torn, wrapped) = (self.left(), walk.torn(), walk.wrapped());
        let not_read = [left, unread, unwritten, torn.map_or(0, |torn| torn.bytes)];
        let bytes = not_read.into_iter().fold(self.length, u64::saturating_sub);
        Account { bytes, left, unread, unwritten, torn, wrapped, ..self.seen }
    }

    fn left(&self) -> u64 {
        #[cfg(feature = "alloc")]
        if let Some(turned) = &self.turned {
            return turned.left();
        }
        self.walk.left()
    }

    /// The control page; `None` for a data area alone.
    #[must_use]
    pub const fn page(&self) -> Option<&Page> {
        self.page.as_ref()
    }

    /// Where the data area is in the dump, and how that was told.
    #[must_use]
    pub const fn data_area(&self) -> DataArea {
        self.area
    }

    /// The AUX area; `None` if the dump has none.
    ///
    /// # Errors
    ///
    /// [`Truncated`](super::RingErrorKind::Truncated) or [`Invalid`](super::RingErrorKind::Invalid) for an
    /// `aux_offset` or `aux_size` that does not fit the mapping, and as [`AuxArea::new`].
    pub fn aux(&self) -> Result<Option<AuxArea<'a>>, RingError> {
        self.page.as_ref().map_or(Ok(None), |page| self.area.aux(page, self.mapping))
    }

    /// The AUX area where it was recorded apart, as it is mapped: `bytes`. `None` for a data area alone, whose
    /// [`AuxArea`] the caller makes.
    ///
    /// # Errors
    ///
    /// [`Invalid`](super::RingErrorKind::Invalid) if the page's `aux_size` is another, and as [`AuxArea::new`].
    pub fn aux_apart<'b>(&self, bytes: &'b [u8]) -> Result<Option<AuxArea<'b>>, RingError> {
        self.page.as_ref().map(|page| aux_of(page, bytes)).transpose()
    }
}
