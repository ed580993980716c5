//! The AUX traces of any capture: queues, slices, and the records beside them.

use perf_abi::aux_area::AuxFlags;
use perf_aux::trace::{AuxQueue, AuxRange, AuxTrace, sideband};
use perf_parse::Reader;
use perf_parse::feature::FeatureData;

/// The data is a file or a stream.
pub fn run(data: &[u8]) -> bool {
    let Ok(reader) = Reader::new(data) else { return false };
    let trace = AuxTrace::of(&reader);
    queues(&trace);
    let bytes: usize = trace.queues().iter().map(|queue| slices(&trace, &reader, queue)).sum();
    // Each byte is in one slice. Compressed data may be larger.
    if !is_compressed(&reader) {
        assert!(bytes <= data.len(), "{bytes} of {}", data.len());
    }
    beside(&trace, &reader);
    if let Some(info) = trace.info() {
        assert_eq!(info.record().kind, info.kind);
        let _ = info.pmu_type();
    }
    // A walk leaves nothing behind: the second one finds the same.
    assert_eq!(format!("{trace:?}"), format!("{:?}", AuxTrace::of(&reader)));
    !trace.queues().is_empty() || trace.info().is_some()
}

/// Queues ascend by index, and the AUX records of a queue by position.
fn queues(trace: &AuxTrace) {
    let queues = trace.queues();
    assert!(queues.is_sorted_by_key(|queue| queue.idx));
    for queue in queues {
        // Of data that is overwritten, the record has the end.
        let position = |range: &AuxRange| match range.flags.contains(AuxFlags::OVERWRITE) {
            true => range.end.saturating_sub(1),
            false => range.start,
        };
        assert!(queue.ranges().is_sorted_by_key(position));
    }
}

/// Reads the slices of a queue. Returns the number of their bytes.
fn slices(trace: &AuxTrace, reader: &Reader<'_>, queue: &AuxQueue) -> usize {
    let (mut bytes, mut count) = (0, 0);
    let mut last = None;
    for slice in trace.slices(reader, queue) {
        count += 1;
        // A buffer that cannot be read has an error, and the slices go on.
        let Ok(slice) = slice else { continue };
        assert!(last < Some(slice.buffer) && slice.buffer < queue.buffers().len());
        last = Some(slice.buffer);
        bytes += slice.bytes().len();
        let pieces: usize = slice.pieces().map(|(_, piece)| piece.len()).sum();
        assert!(pieces <= slice.bytes().len());
        assert!(slice.ranges.len() <= queue.ranges().len());
        assert_eq!(slice.clone().into_bytes(), slice.bytes());
    }
    assert!(count <= queue.buffers().len());
    bytes
}

/// The records beside the traces are in time order; times and threads can be asked for.
fn beside(trace: &AuxTrace, reader: &Reader<'_>) {
    let mut records = sideband(reader);
    let mut count = 0_u64;
    for record in records.by_ref() {
        count += 1;
        let Ok(record) = record else { continue };
        let _ = trace.time_at(record.time().unwrap_or(u64::MAX));
        if let (Some(cpu), Some(time)) = (record.cpu(), record.time()) {
            let _ = trace.switches().thread_at(cpu, time);
        }
    }
    let account = records.account();
    assert!(count <= account.records + account.faults());
}

/// Whether records or trace data are compressed: those of a `COMPRESSED` record, and of simpleperf.
fn is_compressed(reader: &Reader<'_>) -> bool {
    let is_simpleperf =
        reader.features().iter().any(|section| matches!(section.decode(), Ok(FeatureData::MetaInfo(_))));
    is_simpleperf || reader.records().flatten().any(|record| record.position().decompressed.is_some())
}
