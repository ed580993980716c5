//! Compressed records that expand out of proportion, or whose headers announce such an expansion.
//!
//! The frames are made by hand from blocks of one repeated byte, which expand 4 bytes to 128 KiB.

use std::fs;

use perf_parse::Reader;
use perf_parse::abi::attr::Attr;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::file::FileErrorKind;

use crate::peak;
use testdata::Bytes;
use testdata::file::Builder;

const MIB: usize = 1 << 20;

/// Decompressed bytes permitted for a stream of any size, and the largest window.
const FREE: usize = 64 * MIB;
const WINDOW: usize = 128 * MIB;

/// Returns the header of a frame with a window of 2 to the `log`, no content size and no checksum.
fn frame(log: u8) -> Vec<u8> {
    vec![0x28, 0xb5, 0x2f, 0xfd, 0, (log - 10) << 3]
}

/// Returns a block of 128 KiB of `byte`.
fn block(byte: u8) -> [u8; 4] {
    let header: u32 = 1 << 20 | 1 << 1;
    let [low, middle, high, _] = header.to_le_bytes();
    [low, middle, high, byte]
}

/// Makes a file of COMPRESSED records.
fn file(payloads: &[Vec<u8>]) -> Vec<u8> {
    let attr = Attr { sample_type: SampleType::TIME, ..Attr::default() };
    let records = payloads.iter().map(|payload| Bytes::new(false).raw(payload).record(81, 0));
    let data: Vec<u8> = records.flatten().collect();
    Builder::new(false).event(attr, &[]).data(data).build().bytes
}

/// The result of reading a file.
struct Read {
    errors: Vec<FileErrorKind>,
    calls: usize,
    /// The peak of live bytes of Rust's allocator.
    peak: usize,
}

fn read(bytes: &[u8], by_time: bool) -> Read {
    let ((errors, calls), peak) = peak(|| {
        let reader = Reader::new(bytes).unwrap();
        let records = reader.records();
        let records = if by_time { records.in_time_order() } else { records };
        // The last call returns no record.
        let (mut errors, mut calls) = (Vec::new(), 1);
        for record in records {
            calls += 1;
            match record {
                Err(error) if errors.len() < 100 => errors.push(error.kind),
                _ => {}
            }
        }
        (errors, calls)
    });
    Read { errors, calls, peak }
}

fn expands(errors: &[FileErrorKind]) -> bool {
    errors.iter().any(|kind| {
        matches!(kind, FileErrorKind::Decompress { what } if what.starts_with("expands beyond the limit"))
    })
}

#[test]
fn a_bomb_stops_at_the_limit() {
    // 64 KiB that would expand to 2 GiB of bytes that are no record.
    let bomb = [frame(17), block(0).repeat(16_000)].concat();
    let all = read(&file(&[bomb]), false);
    assert!(expands(&all.errors), "{:?}", all.errors);
    assert!(all.peak <= 3 * MIB, "{} bytes", all.peak);
    // As records of the smallest size. A block of one byte value cannot hold SWITCH records of 8 bytes, but it can
    // hold these.
    let bomb = [frame(17), block(8).repeat(16_000)].concat();
    let all = read(&file(&[bomb]), true);
    assert!(expands(&all.errors), "{:?}", all.errors);
    assert!(all.peak <= 3 * MIB, "{} bytes", all.peak);
    assert!(all.calls <= (FREE + 1024 * 65_536) / 8, "{} calls", all.calls);
}

#[test]
fn many_chunks_of_one_bomb_stop_at_the_limit() {
    // 40 payloads of 70 bytes that would expand to 2 MiB each.
    let [low, middle, high, byte] = block(9);
    let bomb = [frame(17), block(9).repeat(15), vec![low | 1, middle, high, byte]].concat();
    let all = read(&file(&vec![bomb; 40]), false);
    assert!(expands(&all.errors), "{:?}", all.errors);
    assert!(all.peak <= 3 * MIB, "{} bytes", all.peak);
}

#[test]
fn many_chunks_of_1000_to_1_are_read_within_the_memory_of_one() {
    // An uncompressed block reduces the ratio to 1000 to 1, which is within the limit.
    let raw = [&[(2100_u32 << 3 | 1) as u8, (2100_u32 >> 5) as u8, 0][..], &[9; 2100]].concat();
    let chunk = [frame(17), block(9).repeat(16), raw].concat();
    for by_time in [false, true] {
        let all = read(&file(&vec![chunk.clone(); 100]), by_time);
        assert!(!expands(&all.errors), "{:?}", all.errors);
        assert!(all.calls > 200 * MIB / 0x909, "{} calls", all.calls);
        assert!(all.peak <= 3 * MIB, "{} bytes", all.peak);
    }
}

#[test]
fn a_window_is_held_only_as_far_as_it_is_used() {
    let before = resident();
    for log in 10..=27 {
        let all = read(&file(&[[frame(log), block(9).to_vec()].concat()]), false);
        assert!(!expands(&all.errors));
        assert!(all.peak <= 2 * MIB, "a window of 2^{log}: {} bytes", all.peak);
    }
    // A second frame: the library may have memory of the first one.
    let ended = [frame(10), vec![1, 0, 0]].concat();
    let all = read(&file(&[ended, frame(27)]), false);
    assert!(all.peak <= 2 * WINDOW + 2 * MIB, "{} bytes", all.peak);
    if let (Some(before), Some(after)) = (before, resident()) {
        assert!(after <= before + 64 * MIB, "{before} bytes resident before, {after} after");
    }
}

#[test]
fn a_window_beyond_the_limit_is_refused() {
    for log in [28, 31, 41] {
        let all = read(&file(&[[frame(log), block(9).to_vec()].concat()]), false);
        assert!(matches!(all.errors[..], [FileErrorKind::Decompress { .. }]), "{:?}", all.errors);
        assert!(all.peak <= MIB, "a window of 2^{log}: {} bytes", all.peak);
    }
    // A frame of one segment, whose window is its content size: the largest possible number.
    let segment = [&[0x28, 0xb5, 0x2f, 0xfd, 0xe0][..], &[0xff; 8], &block(9)].concat();
    let all = read(&file(&[segment]), false);
    assert!(matches!(all.errors[..], [FileErrorKind::Decompress { .. }]), "{:?}", all.errors);
    assert!(all.peak <= MIB, "{} bytes", all.peak);
}

/// Returns the resident bytes of the process, if the system reports them.
fn resident() -> Option<usize> {
    let pages = fs::read_to_string("/proc/self/statm").ok()?;
    pages.split(' ').nth(1)?.parse::<usize>().ok().map(|pages| pages * 4096)
}
