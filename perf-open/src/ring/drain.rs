//! Taking records: the guard.

use perf_abi::endian::NativeEndian;
use perf_abi::record::RecordType;
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
#[derive(Debug)]
struct Progress {
    /// Of the next record.
    position: u64,
    /// What is taken since the last release.
    taken: Account,
    /// Where the last record is that was taken since; `None` if none was.
    last: Option<u64>,
    failed: bool,
}

impl Progress {
    /// Takes the next record.
    #[inline]
    fn take<'b>(
        &mut self,
        data: &'b Consumer,
        buffer: &'b mut Buffer,
    ) -> Option<Result<RawRecord<'b, NativeEndian>, RingError>> {
        // A record that does not wrap, which is all but one in a ring: the walker would find the same.
        match RawRecord::parse(data.unread_in_one(self.position)) {
            Ok((record, rest)) if rest.len() % 8 == 0 => {
                self.step(&record);
                Some(Ok(record))
            }
            _ => self.walk(data, buffer),
        }
    }

    #[cold]
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
        self.last = Some(self.position);
        self.position = self.position.wrapping_add(u64::from(record.size()));
        self.taken.count(record);
    }
}

/// A record, decoded by the layout of its event.
#[derive(Clone, Copy, Debug)]
pub struct Decoded<'a> {
    /// Its event: the number that [`Ring::add`] gave; 0 for the ring's own.
    pub event: usize,
    /// Its bytes.
    pub raw: RawRecord<'a, NativeEndian>,
    /// What it says.
    pub record: Record<'a, NativeEndian>,
}

/// Why a record could not be taken, or not be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DrainError {
    /// The next record cannot be found.
    Ring(RingError),
    /// A record cannot be decoded, or its event not be told; the ones behind it can.
    Record {
        /// Where it is in the ring.
        position: u64,
        /// Why.
        error: FileErrorKind,
    },
}

impl core::fmt::Display for DrainError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Ring(error) => error.fmt(f),
            Self::Record { position, error } => write!(f, "position {position}: {error}"),
        }
    }
}

impl core::error::Error for DrainError {}

impl<'r> Drain<'r> {
    pub(super) fn new(ring: &'r mut Ring) -> Self {
        let position = ring.data.tail();
        Self { ring, progress: Progress { position, taken: Account::default(), last: None, failed: false } }
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
        self.progress.take(data, buffer)
    }

    /// Takes the next record and decodes it.
    ///
    /// # Errors
    ///
    /// [`DrainError::Ring`] as [`next_record`](Self::next_record). [`DrainError::Record`] for a record that cannot be
    /// decoded, or is of an event that was not [added](Ring::add); it is taken, and the next can be.
    #[inline(always)]
    pub fn next_decoded(&mut self) -> Option<Result<Decoded<'_>, DrainError>> {
        let position = self.progress.position;
        let Ring { data, buffer, sources, .. } = &mut *self.ring;
        match self.progress.take(data, buffer)? {
            Ok(raw) => {
                Some(decode(sources.events(), raw).map_err(|error| DrainError::Record { position, error }))
            }
            Err(error) => Some(Err(DrainError::Ring(error))),
        }
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
        let Some(last) = self.progress.last.take() else { return };
        let Ring { data, buffer, .. } = &mut *self.ring;
        let taken = self.progress.taken;
        self.progress = Progress { position: last, taken: Account::default(), last: None, failed: false };
        // What it was counted as, it is counted as again.
        self.progress.take(data, buffer);
        let counted = self.progress.taken;
        self.progress = Progress { position: last, taken: taken.without(counted), last: None, failed: false };
    }

    /// Gives the room of the records taken so far back to the kernel, and counts them.
    pub fn release(&mut self) {
        let taken = core::mem::take(&mut self.progress.taken);
        self.ring.commit(self.progress.position, taken);
        self.progress.last = None;
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
        self.progress.position = self.ring.data.tail();
        self.progress.taken = Account::default();
    }
}

/// Decodes a record by the layout of its event.
///
/// Inlined wherever it is used, so that the record is looked at where it is made: moving it costs more than making it.
#[inline(always)]
pub(super) fn decode<'a>(
    events: &'a Events,
    raw: RawRecord<'a, NativeEndian>,
) -> Result<Decoded<'a>, FileErrorKind> {
    let kind = raw.kind();
    // The kernel writes none of the perf tool's own records, which alone have no event.
    let index = events.of(&raw)?.ok_or(FileErrorKind::UnknownEvent { kind })?;
    let event = events.get(index).ok_or(FileErrorKind::UnknownEvent { kind })?;
    // Most records are samples: they are not moved through the other variants of the larger enum.
    if kind == RecordType::SAMPLE {
        return match Sample::parse(&event.layout, &raw) {
            Ok(sample) => Ok(Decoded { event: index, raw, record: Record::Sample(sample) }),
            Err(error) => Err(FileErrorKind::Record { kind, error }),
        };
    }
    decode_other(index, &event.layout, raw)
}

#[cold]
#[inline(never)]
fn decode_other<'a>(
    event: usize,
    layout: &'a SampleLayout,
    raw: RawRecord<'a, NativeEndian>,
) -> Result<Decoded<'a>, FileErrorKind> {
    let record = raw.decode(layout).map_err(|error| FileErrorKind::Record { kind: raw.kind(), error })?;
    Ok(Decoded { event, raw, record })
}

impl Drop for Drain<'_> {
    fn drop(&mut self) {
        self.release();
    }
}
