//! Which buffers a queue has, and in which order.

use perf_aux::pt::{Config, Info, InfoError};
use perf_aux::trace::{AuxInfo, AuxTrace};
use perf_parse::Reader;
use perf_parse::abi::auxtrace::{AuxtraceType, IntelPtWord};

use crate::capture::{Area, Recorder, TSC_BIT, Trailer, noise, of_cpu, of_thread};

#[test]
fn cpus_in_ascending_order_and_buffers_in_that_of_the_capture() {
    for big in [false, true] {
        let make = Recorder { big };
        let data: Vec<_> = (0..6).map(|piece| noise(100 * piece, 64)).collect();
        let records = [
            make.intel_pt(false),
            make.piece(of_cpu(3), 0, 10, &data[0]),
            make.piece(of_cpu(0), 0, 11, &data[1]),
            make.piece(of_cpu(3), 64, 12, &data[2]),
            make.piece(Area { idx: u32::MAX, tid: 99, cpu: 7 }, 1 << 40, 13, &data[3]),
            make.piece(of_cpu(0), 64, 14, &data[4]),
            make.piece(of_cpu(3), 128, 15, &data[5]),
        ];
        let capture = make.file(TSC_BIT, &records);
        let reader = Reader::new(&capture).unwrap();
        let trace = AuxTrace::of(&reader);
        let queues: Vec<_> = trace.queues().iter().map(|queue| (queue.idx, queue.cpu, queue.tid)).collect();
        assert_eq!(queues, [(0, Some(0), None), (3, Some(3), None), (u32::MAX, Some(7), Some(99))]);
        let bytes = |queue: usize| {
            let slices = trace.slices(&reader, &trace.queues()[queue]);
            slices.map(|it| it.unwrap()).map(|it| (it.reference, it.bytes().to_vec())).collect::<Vec<_>>()
        };
        let of = |pieces: &[(u64, usize)]| {
            pieces.iter().map(|&(reference, piece)| (reference, data[piece].clone())).collect::<Vec<_>>()
        };
        assert_eq!(bytes(0), of(&[(11, 1), (14, 4)]));
        assert_eq!(bytes(1), of(&[(10, 0), (12, 2), (15, 5)]));
        assert_eq!(bytes(2), of(&[(13, 3)]));
        let account = trace.account();
        assert_eq!((account.buffers, account.bytes, account.gaps, account.conflicts), (6, 6 * 64, 0, 0));
        assert!(account.capture.is_clean());
        let (all, empty) = (crate::slices(&capture), crate::slices(&make.file(0, &[])));
        assert!(all.iter().all(|it| it.is_consecutive == (it.offset != 0 && it.queue != u32::MAX)));
        assert!(empty.is_empty());
    }
}

#[test]
fn threads_and_their_processes() {
    let make = Recorder { big: false };
    let at = |pid, tid| Trailer { pid, tid, time: 5, cpu: 2 };
    let records = [
        make.intel_pt(false),
        make.itrace_start(40, 41, at(40, 41)),
        make.aux(0, 8, 0, at(50, 51)),
        make.piece(of_thread(0, 41), 0, 0, &noise(0, 8)),
        make.piece(of_thread(1, 51), 0, 0, &noise(1, 8)),
        make.piece(of_thread(2, 61), 0, 0, &noise(2, 8)),
    ];
    let capture = make.file(0, &records);
    let trace = AuxTrace::of(&Reader::new(&capture).unwrap());
    let found: Vec<_> = trace.queues().iter().map(|queue| (queue.cpu, queue.tid, queue.pid)).collect();
    assert_eq!(found, [(None, Some(41), Some(40)), (None, Some(51), Some(50)), (None, Some(61), None)]);
    // The AUX record has a CPU, but only threads have areas.
    assert_eq!(trace.queues().iter().map(|queue| queue.ranges().len()).collect::<Vec<_>>(), [0, 1, 0]);
}

/// perf refuses such a capture.
#[test]
fn an_index_of_two_cpus() {
    let make = Recorder { big: false };
    let area = |cpu| Area { idx: 1, tid: -1, cpu };
    let records = [
        make.piece(area(1), 0, 0, &noise(1, 8)),
        make.piece(area(2), 0, 0, &noise(2, 8)),
        make.piece(area(1), 8, 0, &noise(3, 8)),
    ];
    let capture = make.file(0, &records);
    let trace = AuxTrace::of(&Reader::new(&capture).unwrap());
    let found: Vec<_> = trace.queues().iter().map(|queue| (queue.cpu, queue.buffers().len())).collect();
    assert_eq!(found, [(Some(1), 2), (Some(2), 1)]);
    assert_eq!(trace.account().conflicts, 1);
    assert!(trace.info().is_none());
}

#[test]
fn the_settings_of_intel_pt() {
    for big in [false, true] {
        let make = Recorder { big };
        let filter = b"filter 0x580/0x100@/bin/ls";
        let mut words =
            vec![6, 31, 1_789_569_706, 0, 1, TSC_BIT, 0x800, 3, 0, 1, 0x200, 0x3_c000, 100, 2, 2, 12];
        words.push(filter.len() as u64);
        let mut text = filter.to_vec();
        text.resize(32, 0);
        words.extend(text.chunks(8).map(|it| {
            let it = it.try_into().unwrap();
            if big { u64::from_be_bytes(it) } else { u64::from_le_bytes(it) }
        }));
        words.push(1);
        let capture = make.file(0, &[make.info(1, &words)]);
        let trace = AuxTrace::of(&Reader::new(&capture).unwrap());
        let info = trace.info().unwrap();
        assert_eq!(
            (info.kind, info.pmu_type(), info.record().words.len()),
            (AuxtraceType::INTEL_PT, Some(6), 22)
        );
        assert_eq!(AuxInfo::find(&Reader::new(&capture).unwrap()).as_ref(), Some(info));
        assert_eq!(info.word(IntelPtWord::TSC_BIT.0), Some(TSC_BIT));
        let pt = Info::new(&info.record()).unwrap();
        assert_eq!((pt.tsc_ctc_n, pt.tsc_ctc_d, pt.max_nonturbo_ratio), (100, 2, 12));
        assert_eq!((pt.mtc_bit, Config(0x200 | 3 << 14).mtc_period(&pt)), (0x200, 3));
        assert_eq!((pt.filter, pt.cap_event_trace), (&filter[..], true));
        // The ratio of the words: (2^31 ticks) take 1,789,569,706 ns.
        assert_eq!((trace.time_at(1 << 31), trace.time_at(0)), (Some(1_789_569_706), Some(0)));
    }
}

#[test]
fn the_settings_of_others() {
    let make = Recorder { big: false };
    let read = |kind, words: &[u64]| {
        let capture = make.file(0, &[make.info(kind, words)]);
        let trace = AuxTrace::of(&Reader::new(&capture).unwrap());
        let info = trace.info().unwrap();
        (info.pmu_type(), info.kind == AuxtraceType::INTEL_PT, trace.time_at(8))
    };
    // The first words of the first perf with Intel PT; a later one without a valid time.
    assert_eq!(read(1, &[6, 0, 1, 2]), (Some(6), true, None));
    assert_eq!(read(1, &[6, 0, 1, 2, 1]), (Some(6), true, Some(10)));
    assert_eq!(read(1, &[6, 0, 1, 2, 0]), (Some(6), true, None));
    assert_eq!(read(2, &[7, 0, 1, 2, 1, 0]), (Some(7), false, Some(10)));
    assert_eq!(read(3, &[1, 8 << 32 | 2, 0]), (Some(8), false, None));
    assert_eq!(read(4, &[9, 1]), (Some(9), false, None));
    assert_eq!(read(4, &[2, 4, 10, 1, 0]), (Some(10), false, None));
    assert_eq!(read(6, &[11]), (Some(11), false, None));
    assert_eq!(read(77, &[11]), (None, false, None));
    assert_eq!(read(1, &[]), (None, true, None));
    let capture = make.file(0, &[make.info(1, &[])]);
    let trace = AuxTrace::of(&Reader::new(&capture).unwrap());
    let record = trace.info().unwrap().record();
    assert_eq!(Info::new(&record), Err(InfoError::TooFewWords { words: 0, required: 10 }));
}
