//! The records of the last while, kept in memory.

use core::time::Duration;
use std::collections::VecDeque;
use std::time::Instant;

use perf_abi::endian::NativeEndian;
use perf_abi::record::RecordType;
use perf_parse::RawRecord;

use crate::sink::RecordingSink;
use crate::{Error, SidebandSink};

/// A sink that keeps the records of the last while in memory: the samples of a span of time, and the records of mappings, names and
/// tasks that they need. What a live view shows comes from it, by [`Recorder::snapshot`](crate::Recorder::snapshot).
///
/// # Examples
///
/// The last ten seconds of the whole machine, each second:
///
/// ```no_run
/// use core::time::Duration;
///
/// use perf_record::open::EventSpec;
/// use perf_record::open::abi::event::SwId;
/// use perf_record::{FileSink, RecordOptions, RecordWindow, Recorder, Targets};
///
/// # fn example() -> Result<(), Box<dyn core::error::Error>> {
/// let clock = vec![EventSpec::software(SwId::CPU_CLOCK).into()];
/// let mut recorder = Recorder::open(clock, Targets::machine()?, None, RecordOptions::default())?;
/// let mut window = RecordWindow::new(Duration::from_secs(10));
/// recorder.begin(&mut window)?;
/// recorder.start()?;
/// loop {
///     recorder.wait(Some(Duration::from_secs(1)), &[])?;
///     recorder.drain(&mut window)?;
///     recorder.trim_window(&mut window);
///     let snapshot = recorder.snapshot(&window, Duration::MAX).without_build_ids();
///     let mut sink = FileSink::new(std::io::Cursor::new(Vec::new()));
///     snapshot.write(window.sideband(), &mut sink)?;
///     let capture = sink.into_inner().unwrap_or_default().into_inner();
///     println!("{} bytes", capture.len());
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct RecordWindow {
    kept: SidebandSink,
    /// Oldest first.
    rounds: VecDeque<WindowRound>,
    /// The records of the round that goes on.
    current: Vec<u8>,
    span: Duration,
    /// The largest number of bytes of the rounds, and their number of bytes.
    most: usize,
    size: usize,
    dropped: u64,
    is_beside_capture: bool,
}

/// The samples between two looks at the rings.
#[derive(Debug)]
struct WindowRound {
    ended: Instant,
    records: Vec<u8>,
}

/// The largest number of bytes of samples, unless [`RecordWindow::within`] sets another.
const MOST: usize = 256 << 20;

impl RecordWindow {
    /// Keeps the samples of a span of time, as far as 256 MiB have room for them.
    #[must_use]
    pub fn new(span: Duration) -> Self {
        Self {
            kept: SidebandSink::default(),
            rounds: VecDeque::new(),
            current: Vec::new(),
            span,
            most: MOST,
            size: 0,
            dropped: 0,
            is_beside_capture: false,
        }
    }

    /// Keeps at most this many bytes of samples: those of older rounds are dropped before their time.
    #[must_use]
    pub fn within(self, bytes: usize) -> Self {
        Self { most: bytes, ..self }
    }

    /// Says that another sink takes all records too: [`Recorder::trim_window`](crate::Recorder::trim_window) then forgets nothing
    /// that the other one needs at the end, such as the files whose build ids it lists.
    #[must_use]
    pub fn beside_capture(self) -> Self {
        Self { is_beside_capture: true, ..self }
    }

    pub(crate) fn is_beside_capture(&self) -> bool {
        self.is_beside_capture
    }

    /// Returns the records of mappings, names and tasks.
    #[must_use]
    pub fn sideband(&self) -> &SidebandSink {
        &self.kept
    }

    pub(crate) fn sideband_mut(&mut self) -> &mut SidebandSink {
        &mut self.kept
    }

    /// Returns the number of bytes of samples that are kept.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the number of bytes of samples that were dropped before their time, because there was no room for them.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Forgets all samples. What they need is kept.
    pub fn clear(&mut self) {
        (self.size, self.rounds) = (0, VecDeque::new());
    }

    /// Returns the records of the rounds that ended in the last `span`.
    pub(crate) fn last(&self, span: Duration) -> Vec<u8> {
        let first = Instant::now().checked_sub(span);
        let is_new = |round: &&WindowRound| first.is_none_or(|first| round.ended >= first);
        self.rounds.iter().filter(is_new).flat_map(|round| &round.records).copied().collect()
    }

    /// Ends a round at a time. Removes what is too old, or too much.
    fn end_round(&mut self, now: Instant) {
        let records = core::mem::take(&mut self.current);
        if !records.is_empty() {
            self.size = self.size.saturating_add(records.len());
            self.rounds.push_back(WindowRound { ended: now, records });
        }
        let first = now.checked_sub(self.span);
        while let Some(oldest) = self.rounds.front() {
            let (is_old, len) = (first.is_some_and(|first| oldest.ended < first), oldest.records.len());
            if !is_old && self.size <= self.most {
                return;
            }
            if !is_old {
                self.dropped = self.dropped.saturating_add(len as u64);
            }
            self.size = self.size.saturating_sub(len);
            self.rounds.pop_front();
        }
    }
}

/// Returns whether records of a type belong to a time, as samples do. Others hold until further ones.
fn is_of_time(kind: RecordType) -> bool {
    matches!(
        kind,
        RecordType::SAMPLE
            | RecordType::READ
            | RecordType::LOST
            | RecordType::LOST_SAMPLES
            | RecordType::THROTTLE
            | RecordType::UNTHROTTLE
            | RecordType::SWITCH
            | RecordType::SWITCH_CPU_WIDE
    )
}

impl RecordingSink for RecordWindow {
    fn records(&mut self, records: &[u8]) -> Result<(), Error> {
        let mut rest = records;
        while let Ok((record, after)) = RawRecord::<NativeEndian>::parse(rest) {
            if is_of_time(record.kind()) {
                self.current.extend_from_slice(record.as_bytes());
            } else {
                self.kept.records(record.as_bytes())?;
            }
            rest = after;
        }
        // One round cannot have more than all may.
        if self.current.len() > self.most {
            self.dropped = self.dropped.saturating_add(self.current.len() as u64);
            self.current.clear();
        }
        Ok(())
    }

    fn round(&mut self) -> Result<(), Error> {
        self.kept.round()?;
        self.end_round(Instant::now());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: RecordType, size: u16) -> Vec<u8> {
        let mut record = kind.0.to_ne_bytes().to_vec();
        record.extend_from_slice(&[0; 2]);
        record.extend_from_slice(&size.to_ne_bytes());
        record.resize(size.into(), 0);
        record
    }

    #[test]
    fn rounds_leave_when_they_are_old() {
        let mut window = RecordWindow::new(Duration::from_secs(10));
        let start = Instant::now();
        // A day at ten rounds a second, with a process that starts in each thousandth.
        for number in 0..864_000_u32 {
            if number % 1000 == 0 {
                window.records(&record(RecordType::COMM, 40)).unwrap();
            }
            window.records(&record(RecordType::SAMPLE, 48)).unwrap();
            window.end_round(start + Duration::from_millis(100) * number);
            assert!(window.size() <= 101 * 48 && window.rounds.len() <= 101);
        }
        assert_eq!((window.size(), window.dropped()), (101 * 48, 0));
        assert_eq!(window.sideband().bytes().len(), 864 * 40);
        window.clear();
        assert_eq!((window.size(), window.last(Duration::MAX).len()), (0, 0));
    }

    #[test]
    fn rounds_leave_when_there_are_too_many() {
        let mut window = RecordWindow::new(Duration::from_secs(3600)).within(100);
        for number in 0..4_u16 {
            window.records(&record(RecordType::SAMPLE, 32 + number * 8)).unwrap();
            window.round().unwrap();
        }
        // 32 + 40, then 40 + 48, then 56.
        assert_eq!((window.size(), window.dropped()), (56, 32 + 40 + 48));
        assert_eq!(window.last(Duration::MAX).len(), 56);
        window.records(&record(RecordType::SAMPLE, 104)).unwrap();
        window.round().unwrap();
        assert_eq!((window.size(), window.dropped()), (56, 32 + 40 + 48 + 104));
        window.records(&record(RecordType::SAMPLE, 44)).unwrap();
        window.round().unwrap();
        assert_eq!(window.size(), 56 + 44, "exactly as much as there is room for");
    }

    #[test]
    fn only_the_last_while_is_taken() {
        let mut window = RecordWindow::new(Duration::from_secs(3600));
        let now = Instant::now();
        for seconds in [50, 5] {
            window.records(&record(RecordType::SAMPLE, 16)).unwrap();
            window.end_round(now.checked_sub(Duration::from_secs(seconds)).unwrap());
        }
        let len = |seconds| window.last(Duration::from_secs(seconds)).len();
        assert_eq!([len(2), len(20), len(600)], [0, 16, 32]);
    }
}
