//! Snapshots, which repeat data, and samples of a trace.

use perf_aux::trace::{AuxTrace, BufferSource};
use perf_parse::Reader;
use perf_parse::abi::attr::Attr;
use perf_parse::abi::aux_area::AuxFlags;
use perf_parse::abi::sample_type::SampleType;

use crate::capture::{PSB, Recorder, TSC_BIT, Trailer, block, noise, of_cpu, tracer};
use crate::slices;

/// A trace of blocks with time stamps, and where they begin.
fn blocks(count: u64) -> (Vec<u8>, Vec<usize>) {
    let (mut trace, mut starts) = (Vec::new(), Vec::new());
    for index in 0..count {
        starts.push(trace.len());
        trace.extend(block(Some(100 * (index + 1)), index as u8, 9));
        trace.resize(trace.len().next_multiple_of(8), 0);
    }
    (trace, starts)
}

/// Reads snapshots of parts of a trace, given by their numbers of blocks.
fn read(config: u64, parts: &[core::ops::Range<usize>]) -> Vec<(usize, usize, bool)> {
    let make = Recorder { big: false };
    let (trace, mut starts) = blocks(10);
    starts.push(trace.len());
    let pieces = parts.iter().map(|part| {
        let part = starts[part.start]..starts[part.end];
        make.piece(of_cpu(2), part.start as u64, 0, &trace[part])
    });
    let records: Vec<_> = [make.intel_pt(true)].into_iter().chain(pieces).collect();
    let found = slices(&make.file(config, &records));
    // The first and the last block.
    let block_at = |bytes: usize| starts.iter().position(|&start| start == bytes).unwrap();
    found
        .iter()
        .map(|it| {
            let from = it.offset as usize;
            assert_eq!(it.bytes, trace[from..from + it.bytes.len()]);
            (block_at(from), block_at(from + it.bytes.len()), it.is_consecutive)
        })
        .collect()
}

#[test]
fn snapshots_of_intel_pt() {
    for config in [0, TSC_BIT] {
        // No overlap.
        assert_eq!(read(config, &[0..2, 3..5]), [(0, 2, false), (3, 5, false)], "{config}");
        // Adjacent, which cannot be told from later.
        assert_eq!(read(config, &[0..2, 2..5]), [(0, 2, false), (2, 5, false)], "{config}");
        // Some of it, and nearly all of it.
        assert_eq!(read(config, &[0..4, 2..7]), [(0, 4, false), (4, 7, true)], "{config}");
        assert_eq!(
            read(config, &[0..4, 1..5, 1..6]),
            [(0, 4, false), (4, 5, true), (5, 6, true)],
            "{config}"
        );
        // The same again.
        assert_eq!(read(config, &[0..4, 0..4]), [(0, 4, false)], "{config}");
        // The start is the new one's, and the end is beyond it.
        assert_eq!(read(config, &[2..4, 2..6]), [(2, 4, false), (4, 6, true)], "{config}");
    }
    // What begins before and ends after.
    assert_eq!(read(TSC_BIT, &[2..4, 0..6]), [(2, 4, false), (4, 6, true)]);
    // All of it is earlier. A buffer without new data is not compared with the next.
    assert_eq!(read(TSC_BIT, &[0..6, 2..4]), [(0, 6, false)]);
    assert_eq!(read(TSC_BIT, &[0..6, 2..4, 4..8]), [(0, 6, false), (6, 8, true)]);
}

#[test]
fn data_without_a_psb() {
    let make = Recorder { big: false };
    let (trace, _) = blocks(2);
    let lost = &trace[8..32];
    let records = [
        make.intel_pt(true),
        make.piece(of_cpu(0), 0, 0, &trace),
        make.piece(of_cpu(0), 0, 0, lost),
        make.piece(of_cpu(0), 0, 0, &[lost, &trace].concat()),
    ];
    let found = slices(&make.file(TSC_BIT, &records));
    assert_eq!(found.len(), 1, "{found:?}");
    // Without a snapshot before it, the first data is kept as it is.
    let first = slices(&make.file(TSC_BIT, &[make.intel_pt(true), make.piece(of_cpu(0), 0, 0, lost)]));
    assert_eq!((&first[0].bytes[..], first[0].left_out), (lost, 0));
    // What comes before the first PSB of later data.
    let later = [&[0x59, 1, 0x59, 2, 0, 0, 0, 0][..], &block(Some(900), 1, 2)].concat();
    let records =
        [make.intel_pt(true), make.piece(of_cpu(0), 0, 0, &trace), make.piece(of_cpu(0), 0, 0, &later)];
    let found = slices(&make.file(TSC_BIT, &records));
    assert_eq!((found[1].left_out, found[1].is_consecutive, &found[1].bytes[..16]), (8, false, &PSB[..]));
}

/// Entries of three words, and a branch that loops.
#[test]
fn snapshots_of_intel_bts() {
    let make = Recorder { big: false };
    let entry = |from: u64| make.bytes().u64s(&[from, from + 4, 0]).out;
    let entries = |list: &[u64]| list.iter().flat_map(|&from| entry(from)).collect::<Vec<_>>();
    let read = |parts: &[&[u64]]| {
        let mut records = vec![make.info(2, &[6, 0, 1, 0, 1, 1])];
        records.extend(parts.iter().map(|part| make.piece(of_cpu(0), 0, 0, &entries(part))));
        let found = slices(&make.file(0, &records));
        found.iter().map(|it| (it.left_out / 24, it.bytes.len() / 24, it.is_consecutive)).collect::<Vec<_>>()
    };
    assert_eq!(read(&[&[1, 2, 3, 4], &[3, 4, 5]]), [(0, 4, false), (2, 1, true)]);
    assert_eq!(read(&[&[1, 2, 3, 4], &[5, 6]]), [(0, 4, false), (0, 2, false)]);
    assert_eq!(read(&[&[1, 2, 1, 2, 1], &[1, 2, 1, 3]]), [(0, 5, false), (3, 1, true)]);
    assert_eq!(read(&[&[7, 7, 7], &[7, 7, 7, 7]]), [(0, 3, false), (3, 1, true)]);
    assert_eq!(read(&[&[1, 2], &[1, 2]]), [(0, 2, false)]);
}

/// perf does not look for repeated data of these tracers. Here it is found by its position, and only if the bytes are the same.
#[test]
fn positions_of_other_snapshots() {
    let make = Recorder { big: false };
    let trace = noise(0, 256);
    let read = |more: &[u8], offset| {
        let records = [
            make.info(3, &[1, 8 << 32, 1]),
            make.piece(of_cpu(0), 0, 0, &trace[..128]),
            make.piece(of_cpu(0), offset, 0, more),
        ];
        let found = slices(&make.file(0, &records));
        found.get(1).map(|it| (it.offset, it.left_out, it.bytes.len(), it.is_consecutive))
    };
    assert_eq!(read(&trace[64..192], 64), Some((128, 64, 64, true)));
    assert_eq!(read(&trace[128..192], 128), Some((128, 0, 64, true)));
    assert_eq!(read(&trace[0..192], 0), Some((128, 128, 64, true)));
    assert_eq!(read(&trace[64..128], 64), None);
    // Other bytes.
    assert_eq!(read(&trace[72..200], 64), Some((64, 0, 128, false)));
    // All of it is within.
    assert_eq!(read(&trace[64..120], 64), Some((64, 0, 56, false)));
}

#[test]
fn aux_records_of_data_that_is_overwritten() {
    let make = Recorder { big: false };
    let at = Trailer::default();
    let flags = AuxFlags::OVERWRITE.0;
    let records = [
        make.info(3, &[1, 8 << 32, 1]),
        make.aux(4096, 4096, flags, at),
        make.aux(8192, 4096, flags, at),
        make.piece(of_cpu(0), 3072, 0, &noise(0, 1024)),
        make.piece(of_cpu(0), 7168, 0, &noise(1000, 1024)),
    ];
    let capture = make.file(0, &records);
    let reader = Reader::new(&capture).unwrap();
    let trace = AuxTrace::of(&reader);
    let slices: Vec<_> = trace.slices(&reader, &trace.queues()[0]).map(Result::unwrap).collect();
    // By their ends, because the snapshots are shorter.
    let ends = slices.iter().map(|slice| slice.ranges.iter().map(|it| it.end).collect::<Vec<_>>());
    assert_eq!(ends.collect::<Vec<_>>(), [[4096], [8192]]);
    assert_eq!(slices[0].pieces().map(|(_, bytes)| bytes.len()).collect::<Vec<_>>(), [1024]);
    assert_eq!(trace.account().unwritten, 0);
}

/// Samples with the newest data of the area of their event's CPU.
#[test]
fn samples_of_a_trace() {
    for big in [false, true] {
        let make = Recorder { big };
        let (trace, starts) = blocks(6);
        let sample_type = SampleType::IDENTIFIER | SampleType::TIME | SampleType::AUX;
        let sampled = Attr { sample_type, aux_sample_size: 4096, ..Attr::default() };
        let sample = |id: u64, time: u64, data: &[u8]| {
            make.bytes().u64s(&[id, time, data.len() as u64]).raw(data).record(9, 0)
        };
        let index = make.bytes().u64(2).u64s(&[21, 5, 3, u64::MAX, 22, 6, 4, 99]).record(69, 0);
        let records = [
            make.intel_pt(false),
            sample(22, 10, &trace[starts[1]..starts[2]]),
            index,
            sample(21, 20, &trace[..starts[3]]),
            sample(21, 30, &[]),
            sample(21, 40, &trace[starts[1]..starts[5]]),
        ];
        let tracer = Attr { sample_type, ..tracer(TSC_BIT) };
        let builder = testdata::file::Builder::new(big).event(tracer, &[7]).event(sampled, &[21, 22]);
        let capture = builder.data(records.concat()).build().bytes;
        let reader = Reader::new(&capture).unwrap();
        let trace_of = AuxTrace::of(&reader);
        let areas: Vec<_> = trace_of.queues().iter().map(|it| (it.idx, it.cpu, it.tid)).collect();
        assert_eq!(areas, [(5, Some(3), None), (6, Some(4), Some(99))]);
        let read = |queue: usize| {
            let slices = trace_of.slices(&reader, &trace_of.queues()[queue]).map(Result::unwrap);
            slices
                .map(|it| (it.time.unwrap(), it.is_consecutive, it.into_bytes().into_owned()))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            read(0),
            [(20, false, trace[..starts[3]].to_vec()), (40, true, trace[starts[3]..starts[5]].to_vec()),]
        );
        assert_eq!(read(1), [(10, false, trace[starts[1]..starts[2]].to_vec())]);
        assert!(matches!(trace_of.queues()[1].buffers()[0].source, BufferSource::Sample { .. }));
    }
}
