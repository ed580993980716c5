//! Errors of the header walk and of records other than samples.

use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::endian::{BigEndian, LittleEndian};
use perf_parse::abi::read_format::ReadFormat;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::{Error, ErrorKind, RawRecord, Records, SampleLayout};

use crate::{error, residue, truncated, unterminated};
use testdata::Bytes;

const BUILD_ID: u16 = 1 << 14;

/// Returns the error for a record of that type and payload, of an event without trailers that reads its group.
fn plain(kind: u32, misc: u16, payload: &[u8]) -> Error {
    let times = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING;
    let attr = Attr { read_format: ReadFormat::GROUP | ReadFormat::ID | times, ..Attr::default() };
    error(&attr, kind, misc, |bytes| bytes.raw(payload))
}

#[test]
fn header() {
    for available in 0..8 {
        let error = RawRecord::<LittleEndian>::parse(&[9; 8][..available]).unwrap_err();
        assert_eq!(error, truncated("header", 8, available as u64, 0));
    }
}

#[test]
fn header_size() {
    for size in 0..8 {
        for big in [false, true] {
            let bytes = Bytes::new(big).u32(9).u16(0).u16(size).u64(0).out;
            let parsed = if big {
                RawRecord::<BigEndian>::parse(&bytes).map(drop)
            } else {
                RawRecord::<LittleEndian>::parse(&bytes).map(drop)
            };
            assert_eq!(parsed, Err(Error { kind: ErrorKind::RecordSize { size: size.into() }, offset: 6 }));
        }
    }
}

#[test]
fn payload() {
    let bytes = Bytes::new(false).u64s(&[1, 2]).record(2, 0);
    for size in 8..24 {
        let error = RawRecord::<LittleEndian>::parse(&bytes[..size]).unwrap_err();
        assert_eq!(error, truncated("payload", 16, size as u64 - 8, 8));
    }
}

#[test]
fn a_walk_ends_with_its_first_error() {
    let whole = Bytes::new(true).u64(1).record(13, 0);
    let mut bytes = whole.clone();
    bytes.extend(&whole[..12]);
    let mut records = Records::<BigEndian>::new(&bytes);
    assert_eq!(records.next().unwrap().unwrap().payload(), &whole[8..]);
    assert_eq!(records.next().unwrap().unwrap_err(), truncated("payload", 8, 4, 8));
    assert!(records.next().is_none());
    assert_eq!(records.rest(), &whole[..12]);
}

#[test]
fn trailer() {
    let attr = Attr {
        sample_type: SampleType::TIME | SampleType::TID,
        flags: AttrFlags::SAMPLE_ID_ALL,
        ..Attr::default()
    };
    assert_eq!(error(&attr, 14, 0, |bytes| bytes.u64(1)), truncated("sample_id", 16, 8, 8));
    // The body ends where the trailer begins.
    assert_eq!(error(&attr, 13, 0, |bytes| bytes.u64s(&[1, 2])), truncated("lost", 8, 0, 8));
    assert_eq!(error(&attr, 13, 0, |bytes| bytes.u64s(&[1, 2, 3, 4])), residue(8, 16));

    let layout = SampleLayout::new(&attr).unwrap();
    let bytes = Bytes::new(true).u64(1).record(14, 0);
    let (raw, _) = RawRecord::<BigEndian>::parse(&bytes).unwrap();
    assert_eq!(raw.sample_id(&layout).unwrap_err(), truncated("sample_id", 16, 8, 8));
}

#[test]
fn fixed_parts() {
    for (kind, field, size) in [
        (1, "pid", 32),
        (2, "id", 16),
        (3, "pid", 8),
        (4, "pid", 24),
        (5, "time", 24),
        (6, "time", 24),
        (7, "pid", 24),
        (8, "pid", 8),
        (10, "pid", 32),
        (11, "aux_offset", 24),
        (12, "pid", 8),
        (13, "lost", 8),
        (15, "next_prev_pid", 8),
        (16, "pid", 16),
        (17, "addr", 16),
        (18, "type", 16),
        (19, "id", 8),
        (20, "addr", 12),
        (21, "hw_id", 8),
        (22, "cookie", 16),
    ] {
        for available in 0..size {
            let error = plain(kind, 0, &[0; 32][..available]);
            assert_eq!(error, truncated(field, size as u64, available as u64, 8), "{kind}");
        }
    }
}

#[test]
fn bytes_behind_the_last_field() {
    for (kind, size) in [
        (2, 16),
        (4, 24),
        (5, 24),
        (6, 24),
        (7, 24),
        (11, 24),
        (12, 8),
        (13, 8),
        (14, 0),
        (15, 8),
        (16, 16),
        (21, 8),
        (22, 16),
    ] {
        for more in 1..=8 {
            let error = plain(kind, 0, &[0; 32][..size + more]);
            assert_eq!(error, residue(more as u32, 8 + size as u32), "{kind}");
        }
    }
    // Whole words after BPF_EVENT are not its own: see `RawRecord::stale_bytes`.
    for more in 1..8 {
        assert_eq!(plain(18, 0, &[0; 32][..16 + more]), residue(more as u32, 24));
    }
    // An empty group; empty old and new text, which are padded.
    assert_eq!(plain(8, 0, &[0; 40]), residue(8, 40));
    assert_eq!(plain(20, 0, &[0; 24]), residue(8, 24));
}

#[test]
fn strings() {
    for (kind, misc, field, fixed) in [
        (1, 0, "filename", 32),
        (3, 0, "comm", 8),
        // Without room for the protection, or with the name in its place, it is a record of Linux 3.12.
        (10, 0, "filename", 56),
        (10, BUILD_ID, "filename", 64),
        (17, 0, "name", 16),
        (19, 0, "path", 8),
    ] {
        for len in [0, 1, 7, 8, 9, 16] {
            let mut payload = vec![0; fixed];
            payload.extend(&b"no_nul_in_here_xx"[..len]);
            assert_eq!(plain(kind, misc, &payload), unterminated(field, 8 + fixed as u32), "{kind} {len}");
        }
    }
    // With the protection.
    let mut payload = vec![0; 64];
    payload.extend(b"cat");
    assert_eq!(plain(10, 0, &payload), unterminated("filename", 72));
}

#[test]
fn mmap2() {
    for available in 32..56 {
        for misc in [0, BUILD_ID] {
            let error = plain(10, misc, &[0; 56][..available]);
            assert_eq!(error, truncated("maj", 24, available as u64 - 32, 40));
        }
    }
    for available in 56..64 {
        let error = plain(10, BUILD_ID, &[0; 64][..available]);
        assert_eq!(error, truncated("prot", 8, available as u64 - 56, 64));
    }
    for size in [21, 255] {
        let mut payload = vec![0; 72];
        payload[32] = size;
        let kind = ErrorKind::OutOfRange { field: "build_id_size", value: u64::from(size), max: 20 };
        assert_eq!(plain(10, BUILD_ID, &payload), Error { kind, offset: 40 });
    }
}

#[test]
fn namespaces() {
    let error = |nr, words: &[u64]| error(&Attr::default(), 16, 0, |bytes| bytes.u64(1).u64(nr).u64s(words));
    assert_eq!(error(2, &[1, 2, 3]), truncated("link_info", 32, 24, 24));
    assert_eq!(error(1, &[1, 2, 3]), residue(8, 40));
    assert_eq!(error(u64::MAX, &[1, 2]), truncated("link_info", u64::MAX, 16, 24));
    // The size in bytes would overflow to 0.
    assert_eq!(error(1 << 60, &[]), truncated("link_info", u64::MAX, 0, 24));
}

#[test]
fn callchain_deferred() {
    let error = |nr, words: &[u64]| error(&Attr::default(), 22, 0, |bytes| bytes.u64(1).u64(nr).u64s(words));
    assert_eq!(error(4, &[1, 2, 3]), truncated("ips", 32, 24, 24));
    assert_eq!(error(2, &[1, 2, 3]), residue(8, 40));
    assert_eq!(error(1 << 61, &[]), truncated("ips", u64::MAX, 0, 24));
}

#[test]
fn text_poke() {
    let error = |old, new, bytes: usize| {
        error(&Attr::default(), 20, 0, |record| record.u64(1).u16(old).u16(new).raw(&[7; 24][..bytes]))
    };
    assert_eq!(error(5, 5, 4), truncated("old_bytes", 5, 4, 20));
    assert_eq!(error(5, 5, 8), truncated("new_bytes", 5, 3, 25));
    // 4 + 5 + 5 bytes are padded by 2.
    assert_eq!(error(5, 5, 10), truncated("padding", 2, 0, 30));
    assert_eq!(error(5, 5, 11), truncated("padding", 2, 1, 30));
    assert_eq!(error(5, 5, 13), residue(1, 32));
    assert_eq!(error(u16::MAX, u16::MAX, 24), truncated("old_bytes", 65535, 24, 20));
}

#[test]
fn read() {
    let error = |format, words: &[u64]| {
        let attr = Attr { read_format: format, ..Attr::default() };
        error(&attr, 8, 0, |bytes| bytes.u64(1).u64s(words))
    };
    let times = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING;
    // value, enabled, running, id, lost
    let all = times | ReadFormat::ID | ReadFormat::LOST;
    assert_eq!(error(all, &[1, 2, 3, 4]), truncated("read", 40, 32, 16));
    assert_eq!(error(all, &[1, 2, 3, 4, 5, 6]), residue(8, 56));
    assert_eq!(error(ReadFormat::NONE, &[]), truncated("read", 8, 0, 16));
    // nr, enabled, running; value and id of each
    let group = times | ReadFormat::GROUP | ReadFormat::ID;
    assert_eq!(error(group, &[]), truncated("read.nr", 8, 0, 16));
    assert_eq!(error(group, &[2, 1]), truncated("read.time_enabled", 16, 8, 24));
    assert_eq!(error(group, &[2, 1, 1, 1, 2, 3]), truncated("read.values", 32, 24, 40));
    assert_eq!(error(group, &[1, 1, 1, 1, 2, 3]), residue(8, 56));
    assert_eq!(error(group, &[u64::MAX, 1, 1]), truncated("read.values", u64::MAX, 0, 40));
    // The size in bytes would overflow to 0.
    assert_eq!(error(group, &[1 << 63, 1, 1]), truncated("read.values", u64::MAX, 0, 40));
}
