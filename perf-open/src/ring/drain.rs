//! Taking records: the guard.

use perf_abi::endian::NativeEndian;
use perf_parse::file::{Events, FileErrorKind};
use perf_parse::ring::{Buffer, Forward, RingError};
use perf_parse::{RawRecord, Record, Sample, SampleLayout};

use super::{Account, Ring};
use crate::sys::consumer::Consumer;

/// The records that were in a ring when it was read, where they lie.
///
/// A record is taken when [`next_record`](Self::next_record) gives it. Dropping the guard gives the room of those taken
/// back to the kernel, and counts them; the others stay, and are the first of the next [`Ring::read`]. A record that was
/// taken and could not be dealt with goes back by [`keep_last`](Self::keep_last), all by [`cancel`](Self::cancel).
/// What is taken but not released is room that the kernel lacks: [`release`](Self::release) in between, where the work
/// on a record is long.
#[derive(Debug)]
pub struct Drain<'r> {
    ring: &'r mut Ring,
    progress: Progress,
}

/// How far a guard has come.
#[derive(Clone, Copy, Debug)]
struct Progress {
    /// Of the next record.
    position: u64,
    /// Where the last record is that was taken since the last release; `position` if none was.
    last: u64,
    /// What is taken since the last release, but for its bytes.
    taken: Account,
    failed: bool,
}

impl Progress {
    /// Nothing is taken of what begins at `position`.
    fn new(position: u64) -> Self {
        Self { position, last: position, taken: Account::default(), failed: false }
    }

    /// Takes the next record if it does not wrap, which is all but one in a ring; the walker would find the same.
    ///
    /// By itself, and not a result: a record that is moved out of a result that may be an error as well goes through
    /// memory in pieces, which costs more than all else.
    #[inline]
    fn take_in_one<'b>(&mut self, data: &'b Consumer) -> Option<RawRecord<'b, NativeEndian>> {
        match RawRecord::parse(data.unread_in_one(self.position)) {
            Ok((record, rest)) if rest.len().is_multiple_of(8) => {
                self.step(&record);
                Some(record)
            }
            _ => None,
        }
    }

    /// Takes the next record, be it one that wraps.
    #[cold]
    #[inline(never)]
    fn walk<'b>(
        &mut self,
        data: &'b Consumer,
        buffer: &'b mut Buffer,
    ) -> Option<Result<RawRecord<'b, NativeEndian>, RingError>> {
        if self.failed {
            return None;
        }
        let (first, second) = data.unread(self.position);
        let result = Forward::of_pieces(first, second, self.position).next(buffer)?;
        match &result {
            Ok(record) => self.step(record),
            Err(_) => self.failed = true,
        }
        Some(result)
    }

    #[inline]
    fn step(&mut self, record: &RawRecord<'_, NativeEndian>) {
        self.last = self.position;
        self.position = self.position.wrapping_add(u64::from(record.size()));
        self.taken.count(record);
    }
}

/// A record and its event.
#[derive(Clone, Copy, Debug)]
pub struct EventRecord<'a> {
    /// Its event: the number that [`Ring::add`] gave; 0 for the ring's own.
    pub event: usize,
    /// Its bytes.
    pub raw: RawRecord<'a, NativeEndian>,
    layout: &'a SampleLayout,
}

impl<'a> EventRecord<'a> {
    /// Decodes it by the layout of its event. Allocates nothing.
    ///
    /// # Errors
    ///
    /// As [`RawRecord::decode`], with the offset in the record. The records behind it are not affected.
    #[inline]
    pub fn decode(&self) -> Result<Record<'a, NativeEndian>, perf_parse::Error> {
        self.raw.decode(self.layout)
    }

    /// The record as a sample; `None` for every other record, and for a sample that is faulty: give those to
    /// [`decode`](Self::decode), or faults go unseen. The fast way to samples, as [`RawRecord::sample`].
    #[must_use]
    #[inline(always)]
    pub fn sample(&self) -> Option<Sample<'a, NativeEndian>> {
        self.raw.sample(self.layout)
    }
}

/// Why a record could not be taken, or its event not be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DrainError {
    /// The next record cannot be found.
    Ring(RingError),
    /// The event of a record is not known; the records behind it can be taken.
    Event {
        /// Where the record is in the ring.
        position: u64,
        /// Why.
        error: FileErrorKind,
    },
}

impl core::fmt::Display for DrainError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Ring(error) => error.fmt(f),
            Self::Event { position, error } => write!(f, "position {position}: {error}"),
        }
    }
}

impl core::error::Error for DrainError {}

impl<'r> Drain<'r> {
    pub(super) fn new(ring: &'r mut Ring) -> Self {
        let progress = Progress::new(ring.data.tail());
        Self { ring, progress }
    }

    /// Takes the next record; `None` when all that were there are taken. It borrows the ring, or the ring's buffer if it
    /// wraps, until the next is asked for.
    ///
    /// Takes constant time, but for the one record that may wrap, which is copied.
    ///
    /// # Errors
    ///
    /// As [`Forward::next`]; the guard gives no more then, and what it could not walk stays in the ring.
    /// [`skip_rest`](Self::skip_rest) gives it up.
    #[inline]
    pub fn next_record(&mut self) -> Option<Result<RawRecord<'_, NativeEndian>, RingError>> {
        let Ring { data, buffer, .. } = &mut *self.ring;
        match self.progress.take_in_one(data) {
            Some(record) => Some(Ok(record)),
            None => self.progress.walk(data, buffer),
        }
    }

    /// Takes the next record, and tells its event.
    ///
    /// # Errors
    ///
    /// [`DrainError::Ring`] as [`next_record`](Self::next_record). [`DrainError::Event`] for a record of an event that was
    /// not [added](Ring::add); it is taken, and the next can be. In a box, since a larger error makes every record go
    /// through memory in pieces, which costs more than decoding it.
    #[inline(always)]
    pub fn next_with_event(&mut self) -> Option<Result<EventRecord<'_>, Box<DrainError>>> {
        let position = self.progress.position;
        let Ring { data, buffer, sources, .. } = &mut *self.ring;
        if let Some(raw) = self.progress.take_in_one(data) {
            if let Some((event, layout)) = event_of(sources.events(), raw) {
                return Some(Ok(EventRecord { event, raw, layout }));
            }
            return Some(with_event(sources.events(), raw, position));
        }
        let record = self.progress.walk(data, buffer)?.map_err(|error| Box::new(DrainError::Ring(error)));
        Some(record.and_then(|raw| with_event(sources.events(), raw, position)))
    }

    /// The position of the next record: a byte count that never wraps.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.progress.position
    }

    /// Bytes that are not taken yet.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.ring.data.head().wrapping_sub(self.progress.position)
    }

    /// Leaves the record taken last in the ring, and the guard at it: the next one taken is that record again. Nothing
    /// happens if none was taken since the last release.
    pub fn keep_last(&mut self) {
        let Progress { position, last, taken, .. } = self.progress;
        if last == position {
            return;
        }
        self.progress = Progress::new(last);
        // What it was counted as, it is counted as again.
        self.next_record();
        let counted = self.progress.taken;
        self.progress = Progress { taken: taken.without(counted), ..Progress::new(last) };
    }

    /// Gives the room of the records taken so far back to the kernel, and counts them.
    pub fn release(&mut self) {
        let Progress { position, taken, failed, .. } = self.progress;
        self.ring.commit(position, taken);
        self.progress = Progress { failed, ..Progress::new(position) };
    }

    /// Gives up the records that are not taken, and tells how many bytes; the account counts them.
    pub fn skip_rest(mut self) -> u64 {
        let skipped = self.left();
        self.progress.position = self.ring.data.head();
        self.progress.taken.skipped = skipped;
        skipped
    }

    /// Leaves all records that were taken since the last release in the ring.
    pub fn cancel(mut self) {
        self.progress = Progress::new(self.ring.data.tail());
    }
}

/// The event of a record, which is one of `events`, and its layout. The record is a copy, so that the caller's stays in
/// registers.
#[inline]
fn event_of<'a>(events: &'a Events, raw: RawRecord<'_, NativeEndian>) -> Option<(usize, &'a SampleLayout)> {
    let event = events.of(&raw).ok()??;
    events.get(event).map(|found| (event, &found.layout))
}

/// A record with its event, or why that is not known.
#[inline(never)]
pub(super) fn with_event<'a>(
    events: &'a Events,
    raw: RawRecord<'a, NativeEndian>,
    position: u64,
) -> Result<EventRecord<'a>, Box<DrainError>> {
    if let Some((event, layout)) = event_of(events, raw) {
        return Ok(EventRecord { event, raw, layout });
    }
    // The kernel writes none of the perf tool's own records, which alone have no event.
    let unknown = FileErrorKind::UnknownEvent { kind: raw.kind() };
    Err(Box::new(DrainError::Event { position, error: events.of(&raw).err().unwrap_or(unknown) }))
}

impl Drop for Drain<'_> {
    fn drop(&mut self) {
        self.release();
    }
}
