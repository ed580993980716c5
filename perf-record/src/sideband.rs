//! The records of mappings, names and tasks that snapshots need.

use perf_abi::endian::NativeEndian;
use perf_abi::record::RecordType;
use perf_parse::{RawRecord, SampleLayout};

use crate::Error;
use crate::sideband_tasks::{SidebandTasks, TaskSample};
use crate::sink::RecordingSink;

/// The maximum number of bytes of records that are kept: those of all tasks that run, and of the samples in the rings.
const MAX_KEPT: usize = 256 << 20;
/// The number of bytes from which on records are removed that no snapshot needs.
const FEW: usize = 1 << 20;

/// A sink that keeps the records of mappings, names and tasks in memory. Every snapshot needs those of the tasks that run, and
/// of the tasks that have samples in the rings.
#[derive(Debug)]
pub struct SidebandSink {
    records: Vec<u8>,
    is_full: bool,
    /// Number of bytes of the rounds before the last one, and of all rounds. A task that ended in the last round may have a
    /// child whose record comes in the next one.
    settled: usize,
    rounds: usize,
    /// The number of bytes at which [`is_due`](Self::is_due).
    trim_at: usize,
}

impl Default for SidebandSink {
    fn default() -> Self {
        Self { records: Vec::new(), is_full: false, settled: 0, rounds: 0, trim_at: FEW }
    }
}

impl SidebandSink {
    /// Returns whether records were dropped, because more than 256 MiB would have been kept.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Returns whether the records have doubled since unneeded ones were removed.
    pub(crate) fn is_due(&self) -> bool {
        self.records.len() >= self.trim_at
    }

    /// Removes the records that no snapshot needs, if the rings hold `samples`. They are not known if that is `None`.
    pub(crate) fn trim(&mut self, layout: &SampleLayout, samples: Option<&[TaskSample]>) {
        if let Some(samples) = samples {
            self.records = self.needed(layout, samples);
            // The places of the rounds in the rest are not known.
            (self.settled, self.rounds) = (0, self.records.len());
        }
        self.trim_at = self.records.len().saturating_mul(2).max(FEW);
    }

    /// Returns all records.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.records
    }

    /// Returns the records that a snapshot with `samples` needs.
    pub(crate) fn needed(&self, layout: &SampleLayout, samples: &[TaskSample]) -> Vec<u8> {
        let mut records = Vec::new();
        let mut rest = &self.records[..];
        while let Ok((record, next)) = RawRecord::<NativeEndian>::parse(rest) {
            let start = self.records.len() - rest.len();
            records.push((start..start + record.as_bytes().len(), record));
            rest = next;
        }
        // Records of several rings follow each other.
        let mut order: Vec<usize> = (0..records.len()).collect();
        let time = |record: &RawRecord<'_, NativeEndian>| {
            let trailer = record.sample_id(layout).ok().flatten();
            trailer.and_then(|trailer| trailer.time()).unwrap_or(0)
        };
        let times: Vec<u64> = records.iter().map(|(_, record)| time(record)).collect();
        order.sort_by_key(|&number| times[number]);

        let mut tasks = SidebandTasks::default();
        for number in order {
            let (place, record) = &records[number];
            if let Ok(decoded) = record.decode(layout) {
                let is_settled = place.end <= self.settled;
                tasks.add(number, (times[number], is_settled), record.misc(), &decoded);
            }
        }
        let unneeded = tasks.unneeded(samples);
        let first = samples.iter().filter_map(|sample| sample.time).min();
        let mut needed = Vec::new();
        for (number, (place, record)) in records.iter().enumerate() {
            let is_switch = matches!(record.kind(), RecordType::SWITCH | RecordType::SWITCH_CPU_WIDE);
            let is_old_switch = is_switch && first.is_some_and(|first| times[number] < first);
            if !is_old_switch && !unneeded.contains(&number) {
                needed.extend_from_slice(&self.records[place.clone()]);
            }
        }
        needed
    }
}

impl RecordingSink for SidebandSink {
    fn records(&mut self, records: &[u8]) -> Result<(), Error> {
        if self.records.len().saturating_add(records.len()) <= MAX_KEPT {
            self.records.extend_from_slice(records);
        } else {
            self.is_full = true;
        }
        Ok(())
    }

    fn round(&mut self) -> Result<(), Error> {
        (self.settled, self.rounds) = (self.rounds, self.records.len());
        Ok(())
    }
}
