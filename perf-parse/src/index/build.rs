//! A chunk that is being built.

use alloc::vec::Vec;
use core::ops::Range;

use perf_abi::record::RecordType;
use perf_abi::sample_type::SampleType;

use super::chunk::{Chunk, ChunkSpan};
use super::fields::{put, put_bytes};
use super::ids::IdSet;
use super::others::{DeltaBase, MAX_OTHERS, OtherRecord};
use crate::batch::SampleBatch;
use crate::event::{EventRecord, RecordPosition};

#[derive(Debug)]
pub(super) struct ChunkBuilder {
    place: RecordPosition,
    records: u64,
    samples: u64,
    times: Option<(u64, u64)>,
    cpus: IdSet,
    threads: IdSet,
    /// The encoded records that are not samples, unless there are too many.
    others: Vec<u8>,
    listed: u64,
    before: DeltaBase,
}

impl ChunkBuilder {
    /// Starts a chunk whose first record is at `place`.
    pub(super) fn new(place: RecordPosition) -> Self {
        Self {
            place,
            records: 0,
            samples: 0,
            times: None,
            cpus: IdSet::default(),
            threads: IdSet::default(),
            others: Vec::new(),
            listed: 0,
            before: DeltaBase::new(place.data_file),
        }
    }

    /// Returns the span of the chunk.
    pub(super) fn span(&self) -> ChunkSpan {
        ChunkSpan::of(self.place)
    }

    /// Adds the next record.
    #[inline]
    pub(super) fn add(&mut self, record: &EventRecord<'_>) {
        self.records = self.records.saturating_add(1);
        if let Some(sample) = record.sample() {
            self.samples = self.samples.saturating_add(1);
            return self.add_fields(sample.time(), sample.cpu(), sample.tid());
        }
        let time = record.time();
        self.add_fields(time, record.cpu(), record.pid_tid().map(|(_, tid)| tid));
        match record.kind() {
            // A sample that cannot be decoded.
            RecordType::SAMPLE => self.samples = self.samples.saturating_add(1),
            kind => self.list(&OtherRecord { position: record.position(), time, kind }),
        }
    }

    /// The fields that [`add_samples`](Self::add_samples) uses.
    pub(super) const FIELDS: SampleType = SampleType::TIME.union(SampleType::CPU).union(SampleType::TID);

    /// Adds the samples of a range of a batch.
    pub(super) fn add_samples<const N: usize>(&mut self, batch: &SampleBatch<N>, range: Range<usize>) {
        let count = range.len() as u64;
        self.records = self.records.saturating_add(count);
        self.samples = self.samples.saturating_add(count);
        let times = batch.time().and_then(|times| times.get(range.clone())).unwrap_or_default();
        if let (Some(&first), Some(&last)) = (times.iter().min(), times.iter().max()) {
            self.add_times(first, last);
        }
        let cpus = batch.cpu().and_then(|cpus| cpus.get(range.clone())).unwrap_or_default();
        cpus.iter().for_each(|&cpu| self.cpus.insert(cpu));
        let threads = batch.tid().and_then(|threads| threads.get(range)).unwrap_or_default();
        threads.iter().for_each(|&tid| self.threads.insert(tid.cast_unsigned()));
    }

    #[inline]
    fn add_fields(&mut self, time: Option<u64>, cpu: Option<u32>, tid: Option<i32>) {
        if let Some(time) = time {
            self.add_times(time, time);
        }
        if let Some(cpu) = cpu {
            self.cpus.insert(cpu);
        }
        if let Some(tid) = tid {
            self.threads.insert(tid.cast_unsigned());
        }
    }

    #[inline]
    fn add_times(&mut self, first: u64, last: u64) {
        let (earliest, latest) = self.times.unwrap_or((first, last));
        self.times = Some((earliest.min(first), latest.max(last)));
    }

    fn list(&mut self, other: &OtherRecord) {
        self.listed = self.listed.saturating_add(1);
        if self.listed <= MAX_OTHERS {
            self.before.put(&mut self.others, other);
        }
    }

    /// Adds the records of a chunk that comes next.
    pub(super) fn add_chunk(&mut self, chunk: &Chunk<'_>) {
        self.records = self.records.saturating_add(chunk.records());
        self.samples = self.samples.saturating_add(chunk.samples());
        if let Some(times) = chunk.times() {
            self.add_times(*times.start(), *times.end());
        }
        let (cpus, threads) = chunk.ids();
        self.cpus.insert_all(cpus);
        self.threads.insert_all(threads);
        match chunk.others() {
            Some(others) => others.for_each(|other| self.list(&other)),
            None => self.listed = u64::MAX,
        }
    }

    /// Appends the encoded chunk.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let mut own = Vec::new();
        put(&mut own, self.place.data_file as u64);
        put(&mut own, self.place.offset);
        put(&mut own, self.place.decompressed.map_or(0, |position| position.saturating_add(1)));
        put(&mut own, self.records);
        put(&mut own, self.samples);
        let times = self.times.map(|(first, last)| {
            let mut out = Vec::new();
            put(&mut out, first);
            put(&mut out, last.saturating_sub(first));
            out
        });
        put_bytes(&mut own, times.as_deref());
        put_bytes(&mut own, self.cpus.encode().as_deref());
        put_bytes(&mut own, self.threads.encode().as_deref());
        put_bytes(&mut own, (self.listed <= MAX_OTHERS).then_some(&self.others));
        put(out, own.len() as u64);
        out.append(&mut own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Index;

    /// Returns an index with one chunk of `count` compressed records without a time.
    fn of_others(count: u64, first: u64) -> Index {
        let place = |position| RecordPosition { data_file: 0, offset: 16, decompressed: Some(position * 8) };
        let mut chunk = ChunkBuilder::new(place(first));
        for position in first..first + count {
            chunk.records += 1;
            chunk.list(&OtherRecord {
                position: place(position),
                time: None,
                kind: RecordType::FINISHED_ROUND,
            });
        }
        let mut index = Index { is_compressed: true, ..Index::default() };
        index.push(&chunk);
        index
    }

    #[test]
    fn other_records_up_to_8192() {
        for (count, is_listed) in [(8191, true), (8192, true), (8193, false)] {
            let listed = is_listed.then_some(count as usize);
            let whole = of_others(count, 0);
            let others = |index: &Index| index.chunks().next().unwrap().others().map(Iterator::count);
            assert_eq!(others(&whole), listed);
            assert_eq!(
                whole.before(5).map(Iterator::count),
                listed,
                "a record that is not listed may be earlier"
            );
            let mut parts = of_others(100, 0);
            parts.append(of_others(count - 100, 100)).unwrap();
            assert_eq!(parts, whole);
        }
        let mut parts = of_others(9000, 0);
        parts.append(of_others(1, 9000)).unwrap();
        assert_eq!(parts, of_others(9001, 0));
        let mut parts = of_others(1, 0);
        parts.append(of_others(9000, 1)).unwrap();
        assert_eq!(parts, of_others(9001, 0));
    }
}
