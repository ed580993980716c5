//! Taking records from a ring: the guard.

use perf_abi::endian::NativeEndian;
use perf_parse::event::Events;
use perf_parse::file::FileErrorKind;
use perf_parse::ring::{Buffer, RingError, RingWalk};
use perf_parse::{RawRecord, Record, Sample, SampleLayout};

use super::{Ring, RingAccount};
use crate::sys::consumer::Consumer;

/// The records that were in a ring when [`Ring::read`] was called. Borrows them from the ring.
///
/// [`next_record`](Self::next_record) takes the record that it returns. Dropping the guard returns the room of the
/// taken records to the kernel, and counts them. The other records stay in the ring for the next [`Ring::read`]. A
/// taken record that could not be processed can be put back: the last one by [`keep_last`](Self::keep_last), all by
/// [`cancel`](Self::cancel). The kernel cannot use the room of taken records before they are released. If processing
/// takes long, call [`release`](Self::release) in between.
#[derive(Debug)]
pub struct Drain<'r> {
    ring: &'r mut Ring,
    progress: DrainProgress,
}

/// The progress of a guard.
#[derive(Clone, Copy, Debug)]
struct DrainProgress {
    /// The position of the next record.
    position: u64,
    /// The position of the last record taken since the last release; equal to `position` if none was taken.
    last: u64,
    /// The account of the records taken since the last release, except their bytes.
    taken: RingAccount,
    failed: bool,
}

impl DrainProgress {
    /// Starts at `position`, with nothing taken.
    fn new(position: u64) -> Self {
        Self { position, last: position, taken: RingAccount::default(), failed: false }
    }

    /// Takes the next record if it does not wrap. At most one record in a ring wraps. For the others, `walk` would
    /// return the same record.
    ///
    /// This function is separate and returns no `Result`, because moving a record out of a `Result` copies it through
    /// memory in pieces. That copy costs more than the rest of the function.
    #[inline]
    fn take_in_one<'b>(&mut self, data: &'b Consumer) -> Option<RawRecord<'b, NativeEndian>> {
        match RawRecord::parse_in_ring(data.unread_in_one(self.position)) {
            Some((record, rest)) if rest.len().is_multiple_of(8) => {
                self.step(&record);
                Some(record)
            }
            _ => None,
        }
    }

    /// Takes the next record, whether it wraps or not.
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
        let result = RingWalk::from_pieces(first, second, self.position).next(buffer)?;
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
pub struct LiveRecord<'a> {
    /// The number of the event, from [`Ring::add`]; 0 for the ring's own event.
    pub event: usize,
    /// The record.
    pub raw: RawRecord<'a, NativeEndian>,
    layout: &'a SampleLayout,
}

impl<'a> LiveRecord<'a> {
    /// Decodes the record with the layout of its event. Allocates nothing.
    ///
    /// # Errors
    ///
    /// The same as [`RawRecord::decode`]; offsets count from the start of the record. The following records are not
    /// affected.
    #[inline]
    pub fn decode(&self) -> Result<Record<'a, NativeEndian>, perf_parse::Error> {
        self.raw.decode(self.layout)
    }

    /// Returns the record as a sample: the fast way to samples, like [`RawRecord::sample`].
    ///
    /// `None` for every other record, and for a malformed sample. Pass those to [`decode`](Self::decode), or errors go
    /// unnoticed.
    #[must_use]
    #[inline(always)]
    pub fn sample(&self) -> Option<Sample<'a, NativeEndian>> {
        self.raw.sample(self.layout)
    }
}

/// An error of taking a record, or of finding its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DrainError {
    /// The next record cannot be found.
    Ring(RingError),
    /// The event of a record is not known. The following records can still be taken.
    Event {
        /// The position of the record in the ring.
        position: u64,
        /// The reason.
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
        let progress = DrainProgress::new(ring.data.tail());
        Self { ring, progress }
    }

    /// Takes the next record; `None` when all records have been taken.
    ///
    /// The record borrows from the ring, or from the ring's buffer if it wraps, until the next call. Takes constant
    /// time, except for the one record that may wrap, which is copied.
    ///
    /// # Errors
    ///
    /// The same as [`RingWalk::next`]. After an error the guard returns no more records, and the rest stays in the
    /// ring. [`skip_rest`](Self::skip_rest) skips it.
    #[inline]
    pub fn next_record(&mut self) -> Option<Result<RawRecord<'_, NativeEndian>, RingError>> {
        let Ring { data, buffer, .. } = &mut *self.ring;
        match self.progress.take_in_one(data) {
            Some(record) => Some(Ok(record)),
            None => self.progress.walk(data, buffer),
        }
    }

    /// Takes all records that are contiguous in the ring and returns their bytes; `None` when all records have been
    /// taken. A full ring has at most three such spans: before its end, the one record that wraps, and after its start.
    ///
    /// This is the fast way to copy records, for example to a file. Walks the headers, and copies only the record that
    /// wraps.
    ///
    /// # Errors
    ///
    /// As [`next_record`](Self::next_record); the records before the error are in the span before it.
    pub fn next_span(&mut self) -> Option<Result<&[u8], RingError>> {
        let Ring { data, buffer, .. } = &mut *self.ring;
        let from = self.progress.position;
        let piece = data.unread_in_one(from);
        let mut len = 0;
        // The record after a whole piece is at the start of the ring.
        while len < piece.len()
            && let Some(record) = self.progress.take_in_one(data)
        {
            len += record.as_bytes().len();
        }
        if let Some(span @ [_, ..]) = piece.get(..len) {
            return Some(Ok(span));
        }
        self.progress.walk(data, buffer).map(|record| record.map(|record| record.as_bytes()))
    }

    /// Takes the next record, and finds its event.
    ///
    /// # Errors
    ///
    /// [`DrainError::Ring`] as for [`next_record`](Self::next_record). [`DrainError::Event`] for a record of an event
    /// that was not [added](Ring::add); the record is taken, and the next call continues after it. The error is boxed
    /// because a larger error would make every record go through memory in pieces, which costs more than decoding it.
    #[inline(always)]
    pub fn next_with_event(&mut self) -> Option<Result<LiveRecord<'_>, Box<DrainError>>> {
        let position = self.progress.position;
        let Ring { data, buffer, sources, .. } = &mut *self.ring;
        if let Some(raw) = self.progress.take_in_one(data) {
            if let Some((event, layout)) = event_of(sources.events(), raw) {
                return Some(Ok(LiveRecord { event, raw, layout }));
            }
            return Some(with_event(sources.events(), raw, position));
        }
        let record = self.progress.walk(data, buffer)?.map_err(|error| Box::new(DrainError::Ring(error)));
        Some(record.and_then(|raw| with_event(sources.events(), raw, position)))
    }

    /// Returns the position of the next record, a byte count that never wraps.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.progress.position
    }

    /// Returns the number of bytes that are not taken yet.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.ring.data.head().wrapping_sub(self.progress.position)
    }

    /// Puts the last taken record back: the next record taken is that record again. Does nothing if none was taken
    /// since the last release.
    pub fn keep_last(&mut self) {
        let DrainProgress { position, last, taken, .. } = self.progress;
        if last == position {
            return;
        }
        self.progress = DrainProgress::new(last);
        // Take it again, to subtract exactly what it was counted as.
        self.next_record();
        let counted = self.progress.taken;
        self.progress = DrainProgress { taken: taken.without(counted), ..DrainProgress::new(last) };
    }

    /// Returns the room of the records taken so far to the kernel, and counts them.
    pub fn release(&mut self) {
        let DrainProgress { position, taken, failed, .. } = self.progress;
        self.ring.commit(position, taken);
        self.progress = DrainProgress { failed, ..DrainProgress::new(position) };
    }

    /// Skips the records that are not taken and returns their number of bytes; [`RingAccount::skipped`] counts them.
    pub fn skip_rest(mut self) -> u64 {
        let skipped = self.left();
        self.progress.position = self.ring.data.head();
        self.progress.taken.skipped = skipped;
        skipped
    }

    /// Drops the guard and keeps all records taken since the last release in the ring.
    pub fn cancel(mut self) {
        self.progress = DrainProgress::new(self.ring.data.tail());
    }
}

/// Returns the number and the layout of a record's event in `events`. Takes the record by value, so that the caller's
/// record stays in registers.
#[inline]
fn event_of<'a>(events: &'a Events, raw: RawRecord<'_, NativeEndian>) -> Option<(usize, &'a SampleLayout)> {
    let event = events.of(&raw).ok()??;
    events.get(event).map(|known| (event, &known.layout))
}

/// Returns a record with its event, or why the event is not known.
#[inline(never)]
pub(super) fn with_event<'a>(
    events: &'a Events,
    raw: RawRecord<'a, NativeEndian>,
    position: u64,
) -> Result<LiveRecord<'a>, Box<DrainError>> {
    if let Some((event, layout)) = event_of(events, raw) {
        return Ok(LiveRecord { event, raw, layout });
    }
    // Only the perf tool's own records have no event, and the kernel does not write them.
    let unknown = FileErrorKind::UnknownEvent { kind: raw.kind() };
    Err(Box::new(DrainError::Event { position, error: events.of(&raw).err().unwrap_or(unknown) }))
}

impl Drop for Drain<'_> {
    fn drop(&mut self) {
        self.release();
    }
}
