//! Snapshots of a recording that goes on: of rings that keep the newest records, and of those in memory.

use perf_open::ring;
use perf_parse::file::write::{EventFields, FeaturePayloads};

use crate::sink::{CaptureHead, RecordingSink};
use crate::summary::Summary;
use crate::survey::RecordSurvey;
use crate::{Error, SidebandSink};

/// Paused rings, which all end at the same time. Dropping it lets them continue.
#[derive(Debug)]
pub struct FrozenRings<'r> {
    pub(crate) paused: Vec<ring::PausedRing<'r>>,
    pub(crate) events: &'r [EventFields],
    pub(crate) features: &'r FeaturePayloads,
    /// The survey of the records that were kept, and so far no samples.
    pub(crate) survey: &'r RecordSurvey,
}

impl FrozenRings<'_> {
    /// Copies the rings from memory, as [`Ring::dump`](perf_open::Ring::dump) does.
    #[must_use]
    pub fn dumps(&self) -> Vec<Vec<u8>> {
        self.paused.iter().map(ring::PausedRing::dump).collect()
    }

    /// Takes the records out of the rings and lets these continue. `kept` is the sink that the recording was drained
    /// into. [`RecordingSnapshot::write`] writes them.
    ///
    /// # Errors
    ///
    /// If a ring cannot be read or resumed.
    pub fn take(mut self) -> Result<RecordingSnapshot, Error> {
        let mut records = Vec::new();
        for ring in &mut self.paused {
            let mut newest_first = ring.records()?;
            let (mut of_ring, mut sizes) = (Vec::new(), Vec::new());
            while let Some(record) = newest_first.next_record() {
                let record = record?;
                sizes.push(record.as_bytes().len());
                of_ring.extend_from_slice(record.as_bytes());
            }
            let mut end = of_ring.len();
            for size in sizes.into_iter().rev() {
                let start = end.saturating_sub(size);
                records.extend_from_slice(&of_ring[start..end]);
                end = start;
            }
        }
        self.paused.into_iter().try_for_each(ring::PausedRing::resume)?;
        let mut survey = self.survey.without_samples();
        survey.look(&records);
        Ok(RecordingSnapshot {
            records,
            survey,
            events: self.events.to_vec(),
            features: self.features.clone(),
        })
    }
}

/// The contents of the rings when they were frozen, or of a [`RecordWindow`](crate::RecordWindow).
#[derive(Debug)]
pub struct RecordingSnapshot {
    pub(crate) records: Vec<u8>,
    pub(crate) survey: RecordSurvey,
    pub(crate) events: Vec<EventFields>,
    pub(crate) features: FeaturePayloads,
}

impl RecordingSnapshot {
    /// Leaves build ids out, for which all mapped files would be read: for a capture that is read at once.
    #[must_use]
    pub fn without_build_ids(mut self) -> Self {
        self.survey.files = None;
        self
    }

    /// Writes a whole capture: of the records that were `kept` until now, those of tasks that run or have samples in it; then
    /// the samples.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write<S: RecordingSink + ?Sized>(
        mut self,
        kept: &SidebandSink,
        sink: &mut S,
    ) -> Result<Summary, Error> {
        let samples = self.survey.tasks_of(&self.records);
        let needed = samples.map(|samples| kept.needed(self.survey.layout(), &samples));
        let needed = needed.as_deref().unwrap_or(kept.bytes());
        self.survey.keep_files_of(&[needed, &self.records]);
        sink.begin(&CaptureHead { events: &self.events, features: &self.features })?;
        sink.records(needed)?;
        sink.records(&self.records)?;
        sink.round()?;
        let unreadable_files = self.survey.describe(&mut self.features)?;
        sink.finish(&self.features)?;
        Ok(Summary { samples: self.survey.samples, unreadable_files, ..Summary::default() })
    }
}
