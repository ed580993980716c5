//! An AUX area of a recording, and the records with its data.

use perf_abi::auxtrace::RECORD_ALIGNMENT;
use perf_abi::record::RecordType;
use perf_open::{AuxMapping, AuxSnapshot, Ring};

use super::newest::{AuxPiece, SnapshotHistory};
use super::sizes::AuxMode;
use super::{AuxPlan, Tracer};
use crate::Error;
use crate::record_body;
use crate::sink::RecordingSink;

/// The owner of an AUX area: its ring, cpu and thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AuxTarget {
    /// The index of the ring.
    pub(crate) ring: usize,
    /// The cpu; `None` for any.
    pub(crate) cpu: Option<u32>,
    /// The first thread; `None` for all.
    pub(crate) tid: Option<u32>,
}

/// An AUX area.
#[derive(Debug)]
pub(crate) struct TracedArea {
    pub(crate) place: AuxTarget,
    tracer: Tracer,
    mapping: AuxMemory,
    /// The data of the piece that is being written.
    copy: Vec<u8>,
}

/// The memory of an area, by how it is used.
#[derive(Debug)]
pub(crate) enum AuxMemory {
    /// All data is recorded.
    Full(AuxMapping),
    /// The newest data is recorded, at most this many bytes.
    Snapshot(AuxSnapshot, SnapshotHistory, usize),
    /// Samples contain the newest data. It stays mapped.
    Samples(#[expect(dead_code, reason = "keeps the area mapped")] AuxSnapshot),
}

impl TracedArea {
    /// Maps the area of the event of a ring.
    pub(crate) fn map(plan: &AuxPlan, ring: &Ring, place: AuxTarget) -> Result<Self, perf_open::Error> {
        let pages = plan.sizes.pages;
        let mapping = match plan.sizes.mode {
            AuxMode::Full => AuxMemory::Full(AuxMapping::map(ring, pages)?),
            AuxMode::Snapshot(most) => {
                AuxMemory::Snapshot(AuxSnapshot::map(ring, pages)?, SnapshotHistory::default(), most)
            }
            AuxMode::Samples => AuxMemory::Samples(AuxSnapshot::map(ring, pages)?),
        };
        Ok(Self::new(plan.tracer, mapping, place))
    }

    pub(crate) fn new(tracer: Tracer, mapping: AuxMemory, place: AuxTarget) -> Self {
        Self { place, tracer, mapping, copy: Vec::new() }
    }

    /// Takes the data that is in the area now and passes it to `sink`, if all data is recorded. `resume` is called once the
    /// hardware has the room again. Returns the bytes of the data.
    pub(crate) fn drain<S: RecordingSink + ?Sized>(
        &mut self,
        sink: &mut S,
        resume: impl FnOnce() -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let AuxMemory::Full(area) = &mut self.mapping else { return Ok(0) };
        let mut unread = area.read()?;
        let offset = unread.position();
        let (first, second) = unread.all();
        if first.is_empty() {
            return Ok(0);
        }
        let reference = self.tracer.reference();
        fill(&mut self.copy, first, second, self.tracer.alignment());
        drop(unread);
        // A trace stops when its area is full, and does not continue by itself.
        resume()?;
        self.put(offset, reference, sink)
    }

    /// Passes the newest data of the area to `sink`, if it is for snapshots. The trace must be stopped. Returns the bytes of
    /// the data.
    pub(crate) fn snapshot<S: RecordingSink + ?Sized>(&mut self, sink: &mut S) -> Result<u64, Error> {
        let AuxMemory::Snapshot(area, history, most) = &mut self.mapping else { return Ok(0) };
        let (data, head) = area.contents();
        let Some(AuxPiece { first, second, offset }) = history.newest(data, head, *most) else {
            return Ok(0);
        };
        fill(&mut self.copy, first, second, self.tracer.alignment());
        self.put(offset, self.tracer.reference(), sink)
    }

    /// Passes an AUXTRACE record with the copied data to `sink`.
    ///
    /// perf: `__auxtrace_mmap__read`.
    fn put<S: RecordingSink + ?Sized>(
        &mut self,
        offset: u64,
        reference: u64,
        sink: &mut S,
    ) -> Result<u64, Error> {
        if self.copy.is_empty() {
            return Ok(0);
        }
        let number = |of: Option<u32>| of.and_then(|of| i32::try_from(of).ok()).unwrap_or(-1);
        let AuxTarget { ring, cpu, tid } = self.place;
        let mut body = Vec::new();
        [self.copy.len() as u64, offset, reference]
            .into_iter()
            .for_each(|word| record_body::word(&mut body, word));
        body.extend(u32::try_from(ring).unwrap_or(u32::MAX).to_ne_bytes());
        body.extend(number(tid).to_ne_bytes());
        body.extend(number(cpu).to_ne_bytes());
        body.extend(0_u32.to_ne_bytes());
        let copy = &self.copy;
        record_body::put(RecordType::AUXTRACE, &body, &mut |record| sink.record_with_data(record, copy))?;
        Ok(copy.len() as u64)
    }
}

/// Copies whole entries of the first piece and the second piece, padded with zeros to a multiple of 8 bytes.
fn fill(copy: &mut Vec<u8>, first: &[u8], second: &[u8], alignment: usize) {
    copy.clear();
    copy.extend_from_slice(&first[..first.len() - first.len() % alignment]);
    copy.extend_from_slice(second);
    copy.resize(copy.len().next_multiple_of(RECORD_ALIGNMENT), 0);
}
