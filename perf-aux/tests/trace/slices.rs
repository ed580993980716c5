//! The slices of a trace that was recorded as a whole.

use perf_aux::trace::AuxTrace;
use perf_parse::Reader;
use perf_parse::abi::aux_area::AuxFlags;

use crate::capture::{Recorder, Trailer, noise, of_cpu};
use crate::slices;

#[test]
fn a_gap_and_a_lower_offset() {
    let make = Recorder { big: false };
    let piece = |offset, bytes| make.piece(of_cpu(0), offset, 0, &noise(offset, bytes));
    let records =
        [make.intel_pt(false), piece(1000, 64), piece(1064, 8), piece(1080, 8), piece(8, 16), piece(24, 8)];
    let capture = make.file(0, &records);
    let found: Vec<_> =
        slices(&capture).into_iter().map(|it| (it.offset, it.is_consecutive, it.gap)).collect();
    assert_eq!(found, [(1000, false, 0), (1064, true, 0), (1080, false, 8), (8, false, 0), (24, true, 0)]);
    let account = AuxTrace::of(&Reader::new(&capture).unwrap()).account().clone();
    assert_eq!((account.gaps, account.gap_bytes, account.rewinds), (1, 8, 1));
}

/// The recorder pads data to a multiple of 8 bytes, and counts without the padding.
#[test]
fn padding() {
    let make = Recorder { big: false };
    for bytes in 1..=7_usize {
        let piece = |offset: usize, data: &[u8]| {
            let mut data = data.to_vec();
            data.resize(data.len().next_multiple_of(8), 0);
            make.piece(of_cpu(0), offset as u64, 0, &data)
        };
        let trace = noise(0, 64);
        let (first, rest) = trace.split_at(8 + bytes);
        let found = slices(&make.file(0, &[make.intel_pt(false), piece(0, first), piece(8 + bytes, rest)]));
        let [one, two] = &found[..] else { panic!("{found:?}") };
        assert_eq!((&one.bytes[..], one.padding, two.is_consecutive), (first, 8 - bytes, true));
        // What follows the last one is unknown.
        assert_eq!((&two.bytes[..rest.len()], two.padding), (rest, 0));
    }
    // Not zeros: the data repeats a position, and is another trace.
    let records = [make.piece(of_cpu(0), 0, 0, &[1; 16]), make.piece(of_cpu(0), 12, 0, &[2; 16])];
    let found = slices(&make.file(0, &records));
    assert_eq!(
        found.iter().map(|it| (it.bytes.len(), it.is_consecutive)).collect::<Vec<_>>(),
        [(16, false), (16, false)]
    );
}

#[test]
fn the_state_of_the_data() {
    let make = Recorder { big: true };
    let at = |cpu| Trailer { pid: 1, tid: 2, time: 9, cpu };
    let records = [
        make.intel_pt(false),
        make.aux(0, 40, 0, at(1)),
        make.aux(40, 24, AuxFlags::TRUNCATED.0, at(1)),
        make.aux(64, 0, AuxFlags::PARTIAL.0, at(1)),
        make.aux(64, 64, AuxFlags::COLLISION.0, at(1)),
        make.aux(128, 8, 0, at(1)),
        make.aux(0, 8, 0, at(2)),
        make.piece(of_cpu(1), 0, 0, &noise(0, 64)),
        make.piece(of_cpu(1), 64, 0, &noise(8, 64)),
    ];
    let capture = make.file(0, &records);
    let reader = Reader::new(&capture).unwrap();
    let trace = AuxTrace::of(&reader);
    let queue = &trace.queues()[0];
    let found: Vec<_> = trace.slices(&reader, queue).map(Result::unwrap).collect();
    assert_eq!([found[0].follows_loss, found[1].follows_loss], [false, true]);
    let ranges = |slice: usize| found[slice].ranges.iter().map(|it| it.start..it.end).collect::<Vec<_>>();
    assert_eq!((ranges(0), ranges(1)), (vec![0..40, 40..64], vec![64..64, 64..128]));
    assert_eq!((queue.ranges().len(), queue.ranges()[4].time), (5, Some(9)));
    assert_eq!(queue.ranges()[0].pid_tid, Some((1, 2)));
    let pieces: Vec<_> = found[0].pieces().map(|(range, bytes)| (range.unwrap().end, bytes.len())).collect();
    assert_eq!(pieces, [(40, 40), (64, 24)]);
    let account = trace.account();
    assert_eq!((account.truncated, account.partial, account.collisions), (1, 1, 1));
    assert_eq!((account.unattached, account.unwritten), (1, 8));
}

#[test]
fn pieces_before_between_and_after_aux_records() {
    let make = Recorder { big: false };
    let at = Trailer { cpu: 4, ..Trailer::default() };
    let data = noise(0, 64);
    // The last one is of data that the recorder has not written.
    let records = [
        make.aux(16, 8, 0, at),
        make.aux(48, 400, 0, at),
        make.aux(500, 8, 0, at),
        make.piece(of_cpu(4), 0, 0, &data),
    ];
    let capture = make.file(0, &records);
    let reader = Reader::new(&capture).unwrap();
    let trace = AuxTrace::of(&reader);
    let slice = trace.slices(&reader, &trace.queues()[0]).next().unwrap().unwrap();
    let pieces: Vec<_> = slice.pieces().map(|(range, bytes)| (range.map(|it| it.start), bytes)).collect();
    assert_eq!(pieces, [(None, &data[..16]), (Some(16), &data[16..48]), (Some(48), &data[48..])]);
    assert_eq!(trace.account().unwritten, 508 - 64);
    assert_eq!(trace.queues()[0].ranges_within(16..49).len(), 2);
    assert_eq!(trace.queues()[0].ranges_within(17..48).len(), 0);
    assert_eq!(slice.clone().into_bytes(), data);
}

/// An AUX record without a trailer belongs to the only area, or to none.
#[test]
fn records_without_a_cpu() {
    use perf_parse::abi::attr::{Attr, AttrFlags};

    let make = Recorder { big: false };
    let aux = make.bytes().u64s(&[0, 8, 0]).record(11, 0);
    let read = |pieces: &[Vec<u8>]| {
        let mut builder = make.builder(0, pieces).data(&aux);
        builder.events[0].0 = Attr { flags: AttrFlags(0), ..builder.events[0].0 };
        let capture = builder.build().bytes;
        AuxTrace::of(&Reader::new(&capture).unwrap()).account().unattached
    };
    let piece = |cpu| make.piece(of_cpu(cpu), 0, 0, &noise(0, 8));
    assert_eq!([read(&[piece(1)]), read(&[piece(1), piece(2)]), read(&[])], [0, 1, 1]);
}
