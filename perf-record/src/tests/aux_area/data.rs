//! The data of AUX areas, from made areas to captures.

use std::io::Cursor;

use perf_abi::attr::Attr;
use perf_abi::auxtrace::AuxtraceType;
use perf_abi::feature::Feature;
use perf_abi::mmap_page::Capabilities;
use perf_aux::trace::AuxTrace;
use perf_open::ring::{loopback, page_bytes};
use perf_parse::Reader;
use perf_parse::file::write::{EventFields, FeaturePayloads, WriteOptions, ZstdOptions};
use perf_parse::record::UserRecord;
use perf_parse::ring::Page;

use super::AuxMachine;
use crate::aux_area::{AuxMemory, AuxTarget, SnapshotHistory, TracedArea, Tracer, info};
use crate::sink::{CaptureHead, RecordingSink};
use crate::{CallbackSink, FileSink, PipeSink, RecordOptions, Targets};

/// Returns data that differs at each position.
fn trace(from: usize, bytes: usize) -> Vec<u8> {
    (from / 8..(from + bytes) / 8)
        .flat_map(|word| (word as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_ne_bytes())
        .collect()
}

fn place() -> AuxTarget {
    AuxTarget { ring: 3, cpu: Some(3), tid: Some(3174) }
}

fn begin(sink: &mut dyn RecordingSink) {
    let events = [EventFields { ids: vec![1], ..EventFields::default() }];
    sink.begin(&CaptureHead { events: &events, features: &FeaturePayloads::new() }).unwrap();
}

/// Writes an area in pieces to a sink, until it has wrapped three times. Returns the data.
fn write(tracer: Tracer, piece: usize, sink: &mut dyn RecordingSink) -> Vec<u8> {
    let (ring, _writer) = loopback::ring(&Attr::default(), 1).unwrap();
    let (aux, mut hardware) = loopback::aux(&ring, 2).unwrap();
    let mut area = TracedArea::new(tracer, AuxMemory::Full(aux), place());
    begin(sink);
    assert_eq!(area.drain(sink, || panic!("there is no data")).unwrap(), 0);
    let mut all = Vec::new();
    while all.len() < 6 * page_bytes() {
        let data = trace(all.len(), piece);
        assert!(hardware.write(&data), "the room was returned");
        let mut resumed = 0;
        let bytes = area.drain(sink, || {
            resumed += 1;
            Ok(())
        });
        assert_eq!((bytes.unwrap() > 0, resumed), (true, 1));
        sink.round().unwrap();
        all.extend(data);
    }
    sink.finish(&FeaturePayloads::new()).unwrap();
    all
}

/// Reads the pieces of a capture, by offset and data, and checks the rest.
fn pieces(capture: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let reader = Reader::new(capture).unwrap();
    let mut found = Vec::new();
    let mut records = reader.records();
    for record in &mut records {
        let record = record.unwrap();
        if let Ok(perf_parse::Record::User(UserRecord::Auxtrace(piece), _)) = record.decode() {
            assert_eq!((piece.idx, piece.tid, piece.cpu), (3, 3174, 3));
            assert!(piece.size % 8 == 0);
            let data = record.trailing().to_vec();
            assert_eq!(data.len() as u64, piece.size);
            found.push((piece.offset, data));
        }
    }
    assert!(records.account().is_clean(), "{:?}", records.account());
    found
}

#[test]
fn all_data_in_a_file_and_a_stream() {
    for piece in [page_bytes() / 2, 24, page_bytes() + 8] {
        let mut file = FileSink::new(Cursor::new(Vec::new()));
        let all = write(Tracer::IntelPt, piece, &mut file);
        let capture = file.into_inner().unwrap().into_inner();
        let found = pieces(&capture);
        let mut end = 0;
        for (offset, data) in &found {
            assert_eq!((*offset, data.as_slice()), (end, &all[end as usize..][..data.len()]));
            end += data.len() as u64;
        }
        assert_eq!(end, all.len() as u64);
        let reader = Reader::new(&capture).unwrap();
        assert!(reader.feature(Feature::AUXTRACE).is_some(), "the index");
        let mut stream = PipeSink::new(Vec::new());
        assert_eq!(write(Tracer::IntelPt, piece, &mut stream), all);
        assert_eq!(pieces(&stream.into_inner().unwrap()), found);
    }
}

#[test]
fn compressed_records_and_data_that_is_not() {
    let zstd = Some(ZstdOptions::default());
    if cfg!(not(feature = "zstd")) {
        return;
    }
    let mut file =
        FileSink::with_options(Cursor::new(Vec::new()), WriteOptions { zstd, ..WriteOptions::default() });
    let all = write(Tracer::IntelPt, 64, &mut file);
    let capture = file.into_inner().unwrap().into_inner();
    let found = pieces(&capture);
    assert_eq!(found.into_iter().flat_map(|(_, data)| data).collect::<Vec<_>>(), all);
}

/// An entry of three words that the end of the area divides is left out, as perf does it.
#[test]
fn entries_of_bts() {
    let mut file = FileSink::new(Cursor::new(Vec::new()));
    write(Tracer::IntelBts, page_bytes(), &mut file);
    let found = pieces(&file.into_inner().unwrap().into_inner());
    let whole = page_bytes() - page_bytes() % 24;
    assert!(!found.is_empty() && found.iter().all(|(_, data)| data.len() == whole));
}

/// A capture of several areas, with the records about them, has the data of each area by the reader of traces.
#[test]
fn written_data_is_what_a_reader_of_traces_returns() {
    let machine = AuxMachine::new();
    let (plan, _) = machine.plan("intel_pt//", &Targets::Command, &RecordOptions::default()).unwrap();
    let page = Page { capabilities: Capabilities::USER_TIME_ZERO, time_mult: 1, ..Page::default() };
    let targets = [(0, Some(0), None), (1, Some(1), None), (2, None, Some(3174_u32))];
    let write = |sink: &mut dyn RecordingSink| -> Vec<Vec<u8>> {
        begin(sink);
        info(&plan, &page, None, None, &mut |record| sink.records(record)).unwrap();
        let mut areas = targets.map(|(ring, cpu, tid)| {
            let (ring_of, writer) = loopback::ring(&Attr::default(), 1).unwrap();
            let (aux, hardware) = loopback::aux(&ring_of, 2).unwrap();
            let target = AuxTarget { ring, cpu, tid };
            (TracedArea::new(Tracer::IntelPt, AuxMemory::Full(aux), target), hardware, (ring_of, writer))
        });
        let mut all = vec![Vec::new(); areas.len()];
        for turn in 0..12 {
            for (number, (area, hardware, _)) in areas.iter_mut().enumerate() {
                let bytes = [1024, 2048, 640][number];
                let data = &trace(8 * (100 * turn + number), 2048)[..bytes];
                assert!(hardware.write(data));
                area.drain(sink, || Ok(())).unwrap();
                all[number].extend_from_slice(data);
            }
            sink.round().unwrap();
        }
        sink.finish(&FeaturePayloads::new()).unwrap();
        all
    };
    let check = |capture: &[u8], expected: &[Vec<u8>]| {
        let reader = Reader::new(capture).unwrap();
        let found = AuxTrace::of(&reader);
        assert_eq!(
            found.info().map(|info| (info.kind, info.pmu_type())),
            Some((AuxtraceType::INTEL_PT, Some(6)))
        );
        let owners: Vec<_> = found.queues().iter().map(|queue| (queue.idx, queue.cpu, queue.tid)).collect();
        assert_eq!(owners, targets.map(|(ring, cpu, tid)| (ring as u32, cpu, tid.map(|tid| tid as i32))));
        for (queue, expected) in found.queues().iter().zip(expected) {
            let slices: Vec<_> = found.slices(&reader, queue).map(Result::unwrap).collect();
            assert!(slices.iter().skip(1).all(|slice| slice.is_consecutive));
            let bytes: Vec<u8> = slices.iter().flat_map(|slice| slice.bytes().iter().copied()).collect();
            assert!(bytes == *expected, "{queue:?}");
        }
        assert_eq!((found.account().gaps, found.account().rewinds), (0, 0));
        assert!(found.account().capture.is_clean());
    };
    let mut file = FileSink::new(Cursor::new(Vec::new()));
    let all = write(&mut file);
    check(&file.into_inner().unwrap().into_inner(), &all);
    let mut stream = PipeSink::new(Vec::new());
    let all = write(&mut stream);
    check(&stream.into_inner().unwrap(), &all);
}

#[test]
fn a_sink_without_hardware_traces() {
    let (ring, _writer) = loopback::ring(&Attr::default(), 1).unwrap();
    let (aux, mut hardware) = loopback::aux(&ring, 1).unwrap();
    let mut area = TracedArea::new(Tracer::ArmSpe, AuxMemory::Full(aux), place());
    assert!(hardware.write(&[1; 8]));
    let mut records = CallbackSink(|_: &perf_parse::RawRecord<'_, _>| Ok(()));
    let refused = area.drain(&mut records, || Ok(())).unwrap_err();
    assert!(refused.to_string().contains("takes no hardware traces"), "{refused}");
}

/// Returns offset and data of what a snapshot takes.
fn newest(history: &mut SnapshotHistory, data: &[u8], head: u64, most: usize) -> Option<(u64, Vec<u8>)> {
    history.newest(data, head, most).map(|newest| (newest.offset, [newest.first, newest.second].concat()))
}

#[test]
fn snapshots_of_an_area_that_was_never_full() {
    let (mut area, mut history) = (vec![0; 16384], SnapshotHistory::default());
    assert_eq!(newest(&mut history, &area, 0, 16384), None);
    area[..8000].fill(1);
    assert_eq!(newest(&mut history, &area, 8000, 16384), Some((0, vec![1; 8000])));
    assert_eq!(newest(&mut history, &area, 8000, 16384), None);
    area[8000..9000].fill(2);
    assert_eq!(newest(&mut history, &area, 9000, 16384), Some((8000, vec![2; 1000])));
    area[9000..16000].fill(3);
    assert_eq!(newest(&mut history, &area, 16000, 500), Some((15500, vec![3; 500])), "the newest");
}

#[test]
fn snapshots_of_an_area_that_was_full() {
    let size = 16384_usize;
    let area: Vec<u8> = (0..size).map(|at| 1 + (at / 100) as u8).collect();
    let (before, after) = (&area[..1000], &area[1000..]);
    // The position is reported modulo the size.
    let mut history = SnapshotHistory::default();
    assert_eq!(newest(&mut history, &area, 1000, size), Some((1000, [after, before].concat())));
    assert_eq!(newest(&mut history, &area, 1000, 600), Some((1000 + 15784, area[400..1000].to_vec())));
    // The position never wraps.
    let mut history = SnapshotHistory::default();
    let head = 5 * size as u64 + 1000;
    assert_eq!(newest(&mut history, &area, head, size), Some((head - size as u64, [after, before].concat())));
    // It was full once, though its end is empty now.
    let empty = vec![0; size];
    assert_eq!(newest(&mut history, &empty, 8, 16), Some((8 + 16384 - 16, vec![0; 16])));
    let mut history = SnapshotHistory::default();
    assert_eq!(newest(&mut history, &area, 0, size), Some((0, area.clone())));
    assert_eq!(newest(&mut history, &[], 0, size), None);
}

/// Neither a head that is no position of the area nor a limit leads outside of it.
#[test]
fn any_head() {
    let area = vec![7; 8192];
    for head in [0, 1, 8191, 8192, 8193, u64::MAX - 8191, u64::MAX] {
        for most in [0, 1, 8191, 8192, usize::MAX] {
            let mut history = SnapshotHistory::default();
            let length = |taken: Option<(u64, Vec<u8>)>| taken.map_or(0, |(_, data)| data.len());
            assert_eq!(length(newest(&mut history, &area, head, most)), most.min(8192));
            assert_eq!(length(newest(&mut history, &area, head / 2, most)), most.min(8192));
        }
    }
}
