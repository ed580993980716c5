//! Compressed captures, with either decompression library.

use perf_parse::Reader;
use perf_parse::abi::record::RecordType;
use perf_parse::file::{EventRecords, FileErrorKind, Limits};

use crate::{Trickle, Walk, by_time_within, capture, read, read_by_time, read_stream, sample, timed, walk};
use testdata::Bytes;
use testdata::file::Builder;

const CAPTURES: [&str; 2] = ["touch.zstd.data", "compressed.zstd.pipe.data"];

/// Returns the offsets and the sizes of the COMPRESSED records of a capture.
fn payloads(bytes: &[u8]) -> Vec<(usize, usize)> {
    let size = |at: usize| usize::from(u16::from_le_bytes(bytes[at + 6..at + 8].try_into().unwrap()));
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let (mut at, end) = if word(8) == 16 { (16, bytes.len()) } else { (word(40), word(40) + word(48)) };
    let mut all = Vec::new();
    while at < end {
        let size = size(at);
        if matches!(word(at) as u32, 81 | 83) {
            all.push((at, size));
        }
        let behind =
            if word(at) as u32 == 66 { (word(at + 8) as u32 as usize).next_multiple_of(8) } else { 0 };
        at += size + behind;
    }
    all
}

fn compressed(walk: &Walk) -> usize {
    walk.seen.iter().filter(|it| it.decompressed.is_some()).count()
}

#[test]
fn records_come_out_whole() {
    for name in CAPTURES {
        let bytes = capture(name);
        let all = read(&bytes);
        assert!(all.account.is_clean(), "{name}: {:?}", all.account.diagnostics);
        assert!(compressed(&all) > 10, "{name}");
        assert!(all.seen.iter().all(|it| it.decodes), "{name}");
        assert!(all.seen.iter().all(|it| it.kind != RecordType::COMPRESSED), "{name}");
        // The records are contiguous in the decompressed stream, and each is from an existing COMPRESSED record.
        let payloads = payloads(&bytes);
        let mut position = 0;
        for record in all.seen.iter().filter(|it| it.decompressed.is_some()) {
            assert_eq!(record.decompressed, Some(position));
            position += record.raw.len() as u64;
            assert!(payloads.iter().any(|&(at, _)| at as u64 == record.offset));
        }
        assert_eq!(all.account.records as usize, all.seen.len() + payloads.len());
    }
}

#[test]
fn a_walk_from_any_place_returns_the_records_after_it() {
    fn check(reader: &Reader<'_>, name: &str) {
        let places: Vec<_> = reader.records().map(|record| record.unwrap().position()).collect();
        for (number, &place) in places.iter().enumerate().step_by(50) {
            let found: Vec<_> = reader.records_from(place).map(|record| record.unwrap().position()).collect();
            assert_eq!(found, places[number..], "{name}, from {place}");
        }
    }
    for name in CAPTURES {
        let bytes = capture(name);
        check(&Reader::new(&bytes).unwrap(), name);
        check(&Reader::open(testdata::path(name)).unwrap(), name);
    }
}

#[test]
fn what_comes_out_is_known() {
    // FNV-1a checksums of the decompressed records: the same with both libraries.
    let sums: Vec<_> = CAPTURES
        .iter()
        .map(|name| {
            let all = read(&capture(name));
            let bytes = all.seen.iter().filter(|it| it.decompressed.is_some()).flat_map(|it| &it.raw);
            let sum = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |sum, &byte| {
                (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
            });
            (compressed(&all), sum)
        })
        .collect();
    assert_eq!(sums, [(1560, 0x92965622ecf38550), (1556, 0x4441e9219387f9d5)]);
}

#[test]
fn a_stream_is_read_as_memory_is() {
    let bytes = capture(CAPTURES[1]);
    let memory = read(&bytes);
    for most in [1, 3, 7, 4096] {
        let stream = read_stream(&bytes, most);
        assert_eq!(stream.seen, memory.seen);
        assert_eq!(stream.account.bytes, memory.account.bytes);
        assert!(stream.account.is_clean());
    }
}

#[test]
fn by_time_it_is_the_same_records() {
    for name in CAPTURES {
        let bytes = capture(name);
        let (one, by_time) = (read(&bytes), read_by_time(&bytes));
        let times: Vec<_> = by_time.times().into_iter().flatten().filter(|&time| time != 0).collect();
        assert!(times.is_sorted(), "{name}");
        let mut seen = [one.seen, by_time.seen];
        seen.iter_mut().for_each(|all| all.sort_by_key(|it| (it.decompressed, it.offset)));
        assert_eq!(seen[0], seen[1], "{name}");
    }
}

/// Returns the capture with the payload of the COMPRESSED record `of` filled with 0xff.
fn damaged(bytes: &[u8], of: usize) -> Vec<u8> {
    let (at, size) = payloads(bytes)[of];
    let mut damaged = bytes.to_vec();
    damaged[at + 8..at + size].fill(0xff);
    damaged
}

#[test]
fn a_damaged_payload_is_said() {
    for name in CAPTURES {
        let bytes = capture(name);
        let whole = read(&bytes);
        let payloads = payloads(&bytes);
        for (index, &(at, size)) in payloads.iter().enumerate() {
            let all = read(&damaged(&bytes, index));
            let error = all.errors.iter().find(|it| matches!(it.kind, FileErrorKind::Decompress { .. }));
            assert_eq!(error.map(|it| it.offset), Some(at as u64), "{name} {index}");
            assert!(all.account.bytes_skipped >= size as u64);
            // Records before the damage are returned, and so are the records that were not compressed.
            let before = |walk: &Walk| {
                let all = walk.seen.iter().filter(|it| it.decompressed.is_some() && it.offset < at as u64);
                all.map(|it| it.raw.clone()).collect::<Vec<_>>()
            };
            assert_eq!(before(&all), before(&whole), "{name} {index}");
            let plain = |walk: &Walk| walk.seen.iter().filter(|it| it.decompressed.is_none()).count();
            assert_eq!(plain(&all), plain(&whole), "{name} {index}");
            // No record is invented: each is also in the undamaged capture.
            let raw = whole.raw();
            assert!(all.raw().iter().all(|it| raw.contains(it)), "{name} {index}");
        }
    }
}

#[test]
fn any_byte_of_a_payload_may_be_damaged() {
    for name in CAPTURES {
        let bytes = capture(name);
        for (at, size) in payloads(&bytes) {
            for byte in (at + 8..at + size).step_by(101) {
                for value in [0xff, bytes[byte] ^ 0x10] {
                    let mut damaged = bytes.clone();
                    damaged[byte] = value;
                    let all = read(&damaged);
                    assert!(all.seen.len() < 10_000, "{name} {byte}");
                }
            }
        }
    }
}

#[test]
fn cut_off_anywhere() {
    for name in CAPTURES {
        let bytes = capture(name);
        let whole = read(&bytes);
        for len in (16..bytes.len()).step_by(61) {
            let Ok(reader) = Reader::new(&bytes[..len]) else { continue };
            let cut = walk(reader.records());
            let inner = |walk: &Walk| {
                let all = walk.seen.iter().filter(|it| it.decompressed.is_some());
                all.map(|it| it.raw.clone()).collect::<Vec<_>>()
            };
            assert!(inner(&whole).starts_with(&inner(&cut)), "{name} {len}");
        }
    }
}

/// The header of a frame with a window of 2 MiB.
const FRAME: [u8; 6] = [0x28, 0xb5, 0x2f, 0xfd, 0, 0x58];

/// Returns an uncompressed block, which is the last of its frame or not.
fn block(content: &[u8], is_last: bool) -> Vec<u8> {
    let header = (content.len() as u32) << 3 | u32::from(is_last);
    [&header.to_le_bytes()[..3], content].concat()
}

/// Returns a frame of one block.
fn frame(content: &[u8]) -> Vec<u8> {
    [FRAME.as_slice(), &block(content, true)].concat()
}

fn compressed_record(payload: &[u8]) -> Vec<u8> {
    Bytes::new(false).raw(payload).record(81, 0)
}

/// Returns a record of the newer type, which is padded.
fn compressed2_record(payload: &[u8]) -> Vec<u8> {
    let padding = payload.len().next_multiple_of(8) - payload.len();
    Bytes::new(false).u64(payload.len() as u64).raw(payload).raw(&[0xee; 8][..padding]).record(83, 0)
}

/// Reads a file of these records; returns also the offset of its data.
fn read_records(records: &[Vec<u8>]) -> (Walk, u64) {
    let built = Builder::new(false).event(timed(), &[7]).data(records.concat()).build();
    (read(&built.bytes), built.data as u64)
}

#[test]
fn records_and_blocks_straddle_payloads() {
    let content: Vec<_> = (1..=4).flat_map(sample).collect();
    let stream = [FRAME.as_slice(), &block(&content[..37], false), &block(&content[37..], true)].concat();
    for record in [compressed_record, compressed2_record] {
        // Split into two payloads anywhere, also within a block and within the header of one.
        for cut in 0..=stream.len() {
            let (all, _) = read_records(&[record(&stream[..cut]), record(&stream[cut..]), sample(5)]);
            let mut times = all.times();
            times.sort_unstable();
            assert_eq!(times, [1, 2, 3, 4, 5].map(Some), "{cut}");
            assert!(all.account.is_clean(), "{cut}: {:?}", all.errors);
        }
    }
}

#[test]
fn a_record_that_straddles_is_the_second_payloads() {
    let content: Vec<_> = (1..=4).flat_map(sample).collect();
    let records = [compressed_record(&frame(&content[..37])), compressed_record(&frame(&content[37..]))];
    let (all, data) = read_records(&records);
    let second = data + records[0].len() as u64;
    assert!(all.account.is_clean(), "{:?}", all.errors);
    let places: Vec<_> = all.seen.iter().map(|it| (it.offset, it.decompressed, it.time)).collect();
    let expected: Vec<_> = [(data, 1), (second, 2), (second, 3), (second, 4)]
        .into_iter()
        .map(|(offset, time)| (offset, Some(24 * (time - 1)), Some(time)))
        .collect();
    assert_eq!(places, expected);
}

#[test]
fn a_damaged_frame_costs_itself() {
    let one = compressed_record(&frame(&[sample(1), sample(2)].concat()));
    let two = compressed_record(&[0xff; 40]);
    let three = compressed_record(&frame(&[sample(3), sample(4)].concat()));
    let (all, data) = read_records(&[one.clone(), two.clone(), three, sample(5)]);
    assert_eq!(all.times(), [1, 2, 3, 4, 5].map(Some));
    let [error] = all.errors[..] else { panic!("{:?}", all.errors) };
    assert_eq!(error.offset, data + one.len() as u64);
    assert!(matches!(error.kind, FileErrorKind::Decompress { .. }));
    assert_eq!(all.account.bytes_skipped, two.len() as u64);
    assert_eq!(all.account.diagnostics, [error]);
}

#[test]
fn payloads_behind_damage_in_their_frame_are_said() {
    // The record that the damage cuts off is skipped with it.
    let half = &sample(2)[..10];
    let begin = [FRAME.as_slice(), &block(&[&sample(1), half].concat(), false)].concat();
    let bad = compressed_record(&[0xff; 8]);
    let behind = compressed_record(&block(&sample(3), false));
    let (all, _) = read_records(&[
        compressed_record(&begin),
        bad.clone(),
        behind.clone(),
        compressed_record(&frame(&sample(4))),
    ]);
    assert_eq!(all.times(), [1, 4].map(Some));
    assert_eq!(all.errors.len(), 2);
    assert!(all.kinds().iter().all(|kind| matches!(kind, FileErrorKind::Decompress { .. })));
    assert_eq!(all.account.bytes_skipped as usize, bad.len() + half.len() + behind.len());
}

#[test]
fn damage_in_the_decompressed_records() {
    let content = [sample(1), vec![0; 16], (2..8).flat_map(sample).collect()].concat();
    let (all, _) = read_records(&[compressed_record(&frame(&content)), sample(9)]);
    let mut times = all.times();
    times.sort_unstable();
    assert_eq!(times, [1, 2, 3, 4, 5, 6, 7, 9].map(Some));
    assert_eq!((all.errors.len(), all.account.bytes_skipped), (2, 16));
}

#[test]
fn a_payload_that_claims_more_than_it_has() {
    let mut record = compressed2_record(&frame(&sample(1)));
    record[8..16].copy_from_slice(&1000_u64.to_le_bytes());
    let (all, data) = read_records(&[record, sample(2)]);
    assert_eq!(all.times(), [Some(2)]);
    let [error] = all.errors[..] else { panic!("{:?}", all.errors) };
    assert!(matches!(error.kind, FileErrorKind::Record { kind: RecordType::COMPRESSED2, .. }));
    assert!(error.offset > data);
}

/// Reads a file with one compressed record, within limits.
fn read_within(payload: &[u8], change: impl FnOnce(&mut Limits)) -> Walk {
    let built = Builder::new(false).event(timed(), &[7]).data(compressed_record(payload)).build();
    let mut limits = Limits::default();
    change(&mut limits);
    walk(Reader::new_within(&built.bytes, &limits).unwrap().records())
}

#[test]
fn the_limit_of_windows() {
    // The window of FRAME has 2 to the 21 bytes.
    let payload = frame(&sample(1));
    for (log, is_read) in [(20, false), (21, true), (22, true)] {
        let all = read_within(&payload, |it| it.window_log = log);
        assert_eq!(all.times(), Vec::from_iter(is_read.then_some(Some(1))), "{log}");
        let what = "has a window beyond the limit (by default 128 MiB)";
        let refused = (!is_read).then_some(FileErrorKind::Decompress { what });
        assert_eq!(all.kinds(), Vec::from_iter(refused), "{log}");
    }
}

#[test]
fn the_limits_of_what_comes_out() {
    let content: Vec<_> = (1..=4).flat_map(sample).collect();
    let (payload, size) = (frame(&content), content.len() as u64);
    let ratio = size.div_ceil(payload.len() as u64);
    for (inflated, ratio, is_read) in [
        (size + 1, 0, true),
        (size, 0, true),
        (size - 1, 0, false),
        (0, ratio + 1, true),
        (0, ratio, true),
        (0, ratio - 1, false),
        (0, 0, false),
    ] {
        let all = read_within(&payload, |it| (it.decompressed, it.decompressed_ratio) = (inflated, ratio));
        assert_eq!(all.seen.len(), if is_read { 4 } else { 0 }, "{inflated} {ratio}");
        assert_eq!(all.account.is_clean(), is_read);
        let says = |kind: &FileErrorKind| matches!(kind, FileErrorKind::Decompress { what } if what.starts_with("expands beyond the limit"));
        assert_eq!(all.kinds().iter().any(says), !is_read);
    }
}

#[test]
fn any_step_of_decompression_gives_the_same() {
    let bytes = capture(CAPTURES[0]);
    let all = read(&bytes);
    for step in [0, 1, 7, 1000, 1 << 17, 1 << 20] {
        let mut limits = Limits::default();
        limits.decompressed_step = step;
        let stepped = walk(Reader::new_within(&bytes, &limits).unwrap().records());
        assert_eq!((&stepped.seen, &stepped.account), (&all.seen, &all.account), "{step}");
    }
}

/// Checks that a thread that decompresses ahead changes nothing, in memory and from a stream, in both orders.
fn check_ahead(bytes: &[u8], limits: &Limits, name: &str) {
    let same = |ahead: EventRecords<'_>, alone: EventRecords<'_>| {
        let (ahead, alone) = (walk(ahead), walk(alone));
        assert_eq!((&ahead.seen, &ahead.errors), (&alone.seen, &alone.errors), "{name}");
        assert_eq!((&ahead.account, ahead.end), (&alone.account, alone.end), "{name}");
    };
    let reader = Reader::new_within(bytes, limits).unwrap();
    same(reader.records().decompress_ahead(), reader.records());
    same(reader.records().in_time_order().decompress_ahead(), reader.records().in_time_order());
    // Only a pipe can be read as a stream.
    let is_pipe = bytes.get(8) == Some(&16);
    for most in [4096, usize::MAX].into_iter().filter(|_| is_pipe) {
        let open = || Reader::stream_within(Trickle { bytes, most, fails: None }, limits).unwrap();
        let (ahead, alone) = (open(), open());
        same(ahead.records().decompress_ahead(), alone.records());
    }
}

#[test]
fn decompression_ahead_gives_the_same() {
    for name in CAPTURES {
        let bytes = capture(name);
        for step in [1 << 10, 1 << 17] {
            let mut limits = Limits::default();
            limits.decompressed_step = step;
            check_ahead(&bytes, &limits, name);
        }
    }
}

#[test]
fn decompression_ahead_meets_the_same_damage() {
    for name in CAPTURES {
        let bytes = capture(name);
        for (number, &(at, size)) in payloads(&bytes).iter().enumerate() {
            // The stream, the boundary, and a cut.
            let mut damaged = bytes.clone();
            match number % 3 {
                0 => damaged[at + size / 2..][..8].fill(0xff),
                1 => damaged[at + 6..][..2].fill(0),
                _ => damaged.truncate(at + size / 2),
            }
            check_ahead(&damaged, &Limits::default(), name);
        }
    }
}

#[test]
fn decompression_ahead_keeps_the_limits() {
    let bytes = capture(CAPTURES[0]);
    for most in [0, 1000, 100_000] {
        let mut limits = Limits::default();
        (limits.decompressed, limits.decompressed_ratio) = (most, 0);
        check_ahead(&bytes, &limits, CAPTURES[0]);
    }
}

/// More payloads than the thread has at a time, with records that are not compressed among them.
#[test]
fn decompression_ahead_of_many_payloads() {
    let payload = |time: u64| compressed_record(&frame(&sample(time)));
    let data: Vec<u8> = (1..=300)
        .flat_map(|time| [payload(time), sample(time).repeat(time as usize % 100)].concat())
        .collect();
    let bytes = Builder::new(false).event(timed(), &[7]).data(data).build().bytes;
    check_ahead(&bytes, &Limits::default(), "many");
    // A walk that ends early ends the thread.
    let reader = Reader::new(&bytes).unwrap();
    let mut records = reader.records().decompress_ahead();
    assert!(records.nth(3).unwrap().is_ok());
}

/// A payload whose samples all have the same time, and are more than may be copied.
#[test]
fn copies_of_equal_times_end_at_any_limit() {
    let content = sample(5).repeat(200);
    let data = compressed_record(&frame(&content));
    let bytes = Builder::new(false).event(timed(), &[7]).data(data).build().bytes;
    for most in [0, 1, 47, 48, 49, 96, 4800, 9599, 9600, 9601] {
        let mut limits = Limits::default();
        limits.held_bytes = most;
        let all = by_time_within(&bytes, &limits);
        assert_eq!((all.times(), all.account.late), (vec![Some(5); 200], 0), "{most}");
        assert!(all.account.is_clean() && all.seen.is_sorted_by_key(|it| it.decompressed));
    }
}

/// Returns a little-endian record.
fn record(kind: u8, payload: &[u8]) -> Vec<u8> {
    let size = u16::try_from(payload.len() + 8).unwrap();
    [&[kind, 0, 0, 0, 0, 0], &size.to_le_bytes()[..], payload].concat()
}

#[test]
fn what_is_never_compressed_is_a_fault_inside_compressed_records() {
    let round = record(68, &[]);
    // COMPRESSED, COMPRESSED2, AUXTRACE and HEADER_TRACING_DATA. Outside of compressed data the last two are followed
    // by data.
    for kind in [81, 83, 71, 66] {
        let run = [round.clone(), record(kind, &[0; 40]), round.clone()].concat();
        // A zstd frame of one block that is not compressed further.
        let [low, middle, high, _] = (u32::try_from(run.len()).unwrap() << 3 | 1).to_le_bytes();
        let frame = [&[0x28, 0xb5, 0x2f, 0xfd, 0, 6 << 3, low, middle, high], &*run].concat();
        let bytes = [b"PERFILE2\x10\0\0\0\0\0\0\0", &*record(81, &frame)].concat();
        let walk = read(&bytes);
        let kinds: Vec<_> = walk.seen.iter().map(|it| it.kind).collect();
        assert_eq!(kinds, [RecordType::FINISHED_ROUND; 2], "type {kind}");
        assert_eq!(walk.account.bytes_skipped, 48);
        let [fault] = &walk.account.diagnostics[..] else { panic!("{:?}", walk.account.diagnostics) };
        assert!(matches!(fault.kind, FileErrorKind::Decompress { .. }), "{fault}");
        assert_eq!(fault.offset, 16);
    }
}
