//! The slices of a capture are the same however it is stored and opened.

use std::fs;
use std::io::Cursor;

use perf_aux::trace::AuxTrace;
use perf_parse::Reader;
use perf_parse::file::{FileErrorKind, Limits};

use crate::capture::{Recorder, TSC_BIT, Trailer, block, noise, of_cpu};
use crate::{slices, slices_of};

/// Records with snapshots of two CPUs.
fn snapshots(make: Recorder) -> Vec<Vec<u8>> {
    let trace: Vec<u8> = (1..9).flat_map(|index| block(Some(index * 10), index as u8, 30)).collect();
    let piece =
        |cpu, from: usize, to: usize| make.piece(of_cpu(cpu), from as u64, 5, &trace[8 * from..8 * to]);
    vec![
        make.intel_pt(true),
        make.aux(0, 8, 0, Trailer { cpu: 1, ..Trailer::default() }),
        piece(1, 0, 40),
        piece(0, 8, 36),
        piece(1, 20, 60),
        piece(0, 20, 64),
    ]
}

/// The records as a pipe has them.
fn pipe(make: Recorder, records: &[Vec<u8>]) -> Vec<u8> {
    let magic = if make.big { *b"2ELIFREP" } else { *b"PERFILE2" };
    let attr = make.bytes().attr(&crate::capture::tracer(TSC_BIT), 136).u64(7).record(64, 0);
    [&make.bytes().raw(&magic).u64(16).out[..], &attr, &records.concat()].concat()
}

#[test]
fn files_pipes_and_folders() {
    for big in [false, true] {
        let make = Recorder { big };
        let records = snapshots(make);
        let capture = make.file(TSC_BIT, &records);
        let expected = slices(&capture);
        assert_eq!(
            expected.iter().filter(|it| it.is_consecutive && it.left_out > 0).count(),
            2,
            "{expected:?}"
        );
        // Read by windows.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("perf.data");
        fs::write(&path, &capture).unwrap();
        assert_eq!(slices_of(&Reader::open(&path).unwrap()), expected);
        assert_eq!(slices_of(&Reader::from_seekable(Cursor::new(&capture)).unwrap()), expected);
        // A pipe in memory.
        let piped = pipe(make, &records);
        assert_eq!(slices(&piped), expected);
        // A folder, as `perf record --threads` writes it: each CPU in a file of its own.
        let head = make.file(TSC_BIT, &records[..2]);
        let of_cpus = [[&records[2][..], &records[4]].concat(), [&records[3][..], &records[5]].concat()];
        let mut reader = Reader::new(&head).unwrap();
        of_cpus.iter().for_each(|data| reader.add_data(data));
        assert_eq!(slices_of(&reader), expected);
        let mut reader = Reader::from_seekable(Cursor::new(&head)).unwrap();
        for data in &of_cpus {
            reader.add_seekable(Cursor::new(data.clone())).unwrap();
        }
        assert_eq!(slices_of(&reader), expected);
    }
}

/// A stream no longer has the data after its walk.
#[test]
fn a_stream_has_no_data() {
    let make = Recorder { big: false };
    let piped = pipe(make, &snapshots(make));
    let reader = Reader::stream(&piped[..]).unwrap();
    let trace = AuxTrace::of(&reader);
    assert_eq!(trace.queues().iter().map(|queue| queue.buffers().len()).collect::<Vec<_>>(), [2, 2]);
    assert_eq!(trace.queues()[1].ranges().len(), 1);
    for queue in trace.queues() {
        let found: Vec<_> = trace.slices(&reader, queue).collect();
        assert_eq!(found.len(), 2);
        for slice in found {
            assert!(matches!(slice.unwrap_err().kind, FileErrorKind::Truncated { .. }));
        }
    }
}

/// The data of a trace is never compressed, but the records about it are, and samples.
#[test]
fn compressed_records() {
    use perf_parse::abi::attr::Attr;
    use perf_parse::abi::sample_type::SampleType;

    let make = Recorder { big: false };
    // A zstd frame without compression: a block of the bytes as they are.
    let compressed = |records: &[u8]| {
        let size = records.len() as u32;
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x80, 0x58];
        frame.extend(size.to_le_bytes());
        frame.extend(&(size << 3 | 1).to_le_bytes()[..3]);
        frame.extend(records);
        make.bytes().raw(&frame).record(81, 0)
    };
    let at = |cpu| Trailer { pid: 8, tid: 9, time: 50, cpu };
    let inner = [make.aux(0, 8, 1, at(1)), make.switch(false, at(1))].concat();
    let records = [make.intel_pt(false), compressed(&inner), make.piece(of_cpu(1), 8, 0, &noise(0, 16))];
    let capture = make.file(0, &records);
    let reader = Reader::new(&capture).unwrap();
    let trace = AuxTrace::of(&reader);
    assert!(trace.account().capture.is_clean(), "{:?}", trace.account().capture);
    assert_eq!((trace.account().truncated, trace.account().unattached), (1, 0));
    assert_eq!(trace.switches().thread_at(1, 50), Some((8, 9)));
    let found = slices(&capture);
    assert_eq!((&found[0].bytes, found[0].follows_loss), (&noise(0, 16), true));
    // A limit of the items that are kept of compressed records.
    let mut limits = Limits::default();
    for (held, omitted) in [(2, 0), (1, 1), (0, 2)] {
        limits.held_records = held;
        let trace = AuxTrace::of(&Reader::new_within(&capture, &limits).unwrap());
        assert_eq!((trace.account().omitted, trace.account().buffers), (omitted, 1));
        assert_eq!(trace.queues()[0].ranges().len() + trace.switches().len(), held);
    }

    let sample_type = SampleType::TIME | SampleType::CPU | SampleType::AUX;
    let data = noise(3, 40);
    let sample = make.bytes().u64s(&[6, 2, 40]).raw(&data).record(9, 0);
    let samples = compressed(&[&sample[..], &sample].concat());
    let attr = Attr { sample_type, ..Attr::default() };
    let capture = testdata::file::Builder::new(false).event(attr, &[]).data(samples).build().bytes;
    let found = slices(&capture);
    assert_eq!(found.iter().map(|it| (it.queue, &it.bytes)).collect::<Vec<_>>(), [(2, &data), (2, &data)]);
    // A limit of the bytes of samples that are kept.
    let mut limits = Limits::default();
    limits.held_bytes = 79;
    let reader = Reader::new_within(&capture, &limits).unwrap();
    let trace = AuxTrace::of(&reader);
    assert_eq!((trace.account().buffers, trace.account().omitted), (1, 1));
}
