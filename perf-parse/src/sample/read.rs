//! Counter values, in samples and in READ records.

use perf_abi::endian::{ByteOrder, Endian, Endianness};
use perf_abi::read_format::ReadFormat;

use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind};
use crate::list::List;

/// The values of a counter, or of the counters of a group. A view over the words; getters take constant time.
///
/// Kernel: `perf_output_read_one`, `perf_output_read_group`, `kernel/events/core.c`; `read(2)` gives the same layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read<'a, O: ByteOrder = Endianness> {
    format: ReadFormat,
    /// Nanoseconds enabled and running, if `format` has them.
    times: List<'a, u64, O>,
    /// Value, id and lost count of each event, if `format` has them.
    values: List<'a, u64, O>,
}

/// Returns the number of words of an event: its value, its id and its lost count, as far as `format` has them.
const fn words_of(format: ReadFormat) -> usize {
    1_usize
        .wrapping_add(format.contains(ReadFormat::ID) as usize)
        .wrapping_add(format.contains(ReadFormat::LOST) as usize)
}

impl<'a, O: Endian> Read<'a, O> {
    /// Decodes the result of `read(2)` of an event whose attr has `format`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnknownBits`] if the format has a bit that this crate does not know; [`ErrorKind::Truncated`] and
    /// [`ErrorKind::Residue`] if `bytes` does not have exactly the length of the format. Offsets are from the start
    /// of `bytes`.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::abi::endian::LittleEndian;
    /// use perf_parse::abi::read_format::ReadFormat;
    /// use perf_parse::sample::Read;
    ///
    /// let bytes = [7, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0];
    /// let read = Read::<LittleEndian>::from_bytes(&bytes, ReadFormat::TOTAL_TIME_ENABLED)?;
    /// assert_eq!(read.values().next().map(|event| event.value), Some(7));
    /// assert_eq!(read.time_enabled(), Some(3));
    /// assert!(Read::<LittleEndian>::from_bytes(&bytes, ReadFormat::NONE).is_err());
    /// # Ok::<(), perf_parse::Error>(())
    /// ```
    pub fn from_bytes(bytes: &'a [u8], format: ReadFormat) -> Result<Self, Error> {
        Self::from_bytes_in((), bytes, format)
    }
}

impl<'a, O: ByteOrder> Read<'a, O> {
    /// Does the same as [`from_bytes`](Read::from_bytes) for bytes in the byte order `order`.
    ///
    /// # Errors
    ///
    /// Those of [`from_bytes`](Read::from_bytes).
    pub fn from_bytes_in(order: O::Value, bytes: &'a [u8], format: ReadFormat) -> Result<Self, Error> {
        let mut at = Cursor::new(bytes, 0);
        let read = Self::parse(order, &mut at, format)?;
        at.finish()?;
        Ok(read)
    }

    /// Takes the values. A separate function, because few events record them.
    #[inline(never)]
    pub(crate) fn parse(order: O::Value, at: &mut Cursor<'a>, format: ReadFormat) -> Result<Self, Error> {
        if format.unknown() != 0 {
            let kind = ErrorKind::UnknownBits { field: "read_format", bits: format.unknown() };
            return Err(Error::new(kind, at.offset()));
        }
        let enabled = u64::from(format.contains(ReadFormat::TOTAL_TIME_ENABLED));
        let running = u64::from(format.contains(ReadFormat::TOTAL_TIME_RUNNING));
        let times = enabled.wrapping_add(running);
        let words = words_of(format) as u64;
        if !format.contains(ReadFormat::GROUP) {
            // A single event: its value precedes the times, and the other words follow them.
            let all = at.list(order, words.wrapping_add(times), "read")?;
            return Ok(Self { format, times: List::empty(order), values: all });
        }
        let nr = at.word_in::<O>(order, "read.nr")?;
        let times = at.list(order, times, "read.time_enabled")?;
        let values = at.list(order, nr.saturating_mul(words), "read.values")?;
        Ok(Self { format, times, values })
    }

    /// Returns the format of the words.
    #[cfg(feature = "alloc")]
    pub(crate) fn format(&self) -> ReadFormat {
        self.format
    }

    /// Returns the words after a group's count, as recorded: the times of a group, then the other words.
    #[cfg(feature = "alloc")]
    pub(crate) fn words(&self) -> (List<'a, u64, O>, List<'a, u64, O>) {
        (self.times, self.values)
    }

    /// Returns whether the values are those of a group.
    #[must_use]
    pub fn is_group(&self) -> bool {
        self.format.contains(ReadFormat::GROUP)
    }

    /// Returns the number of events that have a value.
    #[must_use]
    pub fn nr(&self) -> usize {
        if self.is_group() { self.values.len().checked_div(words_of(self.format)).unwrap_or(0) } else { 1 }
    }

    /// Returns the nanoseconds for which the event, or the group's leader, was enabled; `None` if not recorded.
    #[must_use]
    pub fn time_enabled(&self) -> Option<u64> {
        self.time(ReadFormat::TOTAL_TIME_ENABLED, 0)
    }

    /// Returns the nanoseconds for which the event, or the group's leader, was on a counter; `None` if not recorded.
    #[must_use]
    pub fn time_running(&self) -> Option<u64> {
        self.time(
            ReadFormat::TOTAL_TIME_RUNNING,
            usize::from(self.format.contains(ReadFormat::TOTAL_TIME_ENABLED)),
        )
    }

    fn time(&self, which: ReadFormat, index: usize) -> Option<u64> {
        if !self.format.contains(which) {
            return None;
        }
        if self.is_group() { self.times.get(index) } else { self.values.get(index.wrapping_add(1)) }
    }

    /// Returns the counts of the events. For a group, the leader is first; the members follow in the order in which
    /// they were opened.
    #[must_use]
    pub fn values(&self) -> ReadValues<'a, O> {
        ReadValues { read: *self, next: 0 }
    }

    fn value(&self, index: usize) -> Option<ReadValue> {
        let (first, between) = if self.is_group() {
            (index.checked_mul(words_of(self.format))?, 0)
        } else if index == 0 {
            let times = ReadFormat::TOTAL_TIME_ENABLED.union(ReadFormat::TOTAL_TIME_RUNNING);
            (0, (self.format.0 & times.0).count_ones() as usize)
        } else {
            return None;
        };
        let value = self.values.get(first)?;
        let mut next = first.wrapping_add(between).wrapping_add(1);
        let mut take = |which| {
            if !self.format.contains(which) {
                return None;
            }
            let word = self.values.get(next)?;
            next = next.wrapping_add(1);
            Some(word)
        };
        let id = take(ReadFormat::ID);
        let lost = take(ReadFormat::LOST);
        Some(ReadValue { value, id, lost })
    }
}

/// The times that are recorded, and the [`values`](Read::values).
#[cfg(feature = "serde")]
impl<O: ByteOrder> serde::Serialize for Read<'_, O> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        crate::serialize::fields!(to, "Read" {
            time_enabled: self.time_enabled(),
            time_running: self.time_running(),
            values: Some(crate::serialize::Seq(|| self.values())),
        })
    }
}

/// The count of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ReadValue {
    /// Occurrences counted.
    pub value: u64,
    /// Id of the event; `None` if not recorded.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub id: Option<u64>,
    /// Number of samples that the event lost; `None` if not recorded. Since Linux 6.0.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub lost: Option<u64>,
}

/// An iterator over the counts of a read; made by [`Read::values`].
#[derive(Clone, Copy, Debug)]
pub struct ReadValues<'a, O: ByteOrder = Endianness> {
    read: Read<'a, O>,
    next: usize,
}

impl<O: ByteOrder> Iterator for ReadValues<'_, O> {
    type Item = ReadValue;

    #[inline]
    fn next(&mut self) -> Option<ReadValue> {
        let value = self.read.value(self.next)?;
        self.next = self.next.wrapping_add(1);
        Some(value)
    }
}
