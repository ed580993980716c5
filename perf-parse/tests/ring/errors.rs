//! Every error of the walkers, with its position and its text.

use perf_parse::abi::endian::LittleEndian;
use perf_parse::ring::{Buffer, OldestFirst, RingError, RingErrorKind, RingWalk};

use super::{invalid, record, truncated};

type Ring<'a> = RingWalk<'a, LittleEndian>;

fn error(data: &[u8], tail: u64, head: u64) -> RingError {
    Ring::forward(data, tail, head).unwrap_err()
}

#[test]
fn geometry() {
    let of_24 = [0; 24];
    assert_eq!(error(&of_24, 0, 0), invalid("data_size", 24, "a power of two of at least 8", 1048));
    assert_eq!(error(&of_24[..0], 0, 0), invalid("data_size", 0, "a power of two of at least 8", 1048));
    assert_eq!(error(&of_24[..4], 0, 0), invalid("data_size", 4, "a power of two of at least 8", 1048));
    let data = [0; 64];
    assert_eq!(error(&data, 0, 12), invalid("data_head", 12, "a multiple of 8", 1024));
    assert_eq!(error(&data, 4, 16), invalid("data_tail", 4, "a multiple of 8", 1032));
    assert_eq!(error(&data, 24, 16), invalid("data_tail", 24, "at most data_head", 1032));

    let backward = |data, head| {
        let error = Ring::backward(data, head).unwrap_err();
        assert_eq!(OldestFirst::<LittleEndian>::new(data, head).unwrap_err(), error);
        error
    };
    assert_eq!(backward(&of_24, 0), invalid("data_size", 24, "a power of two of at least 8", 1048));
    assert_eq!(backward(&data, 12), invalid("data_head", 12, "a multiple of 8", 1024));
}

#[test]
fn a_tail_that_the_kernel_has_passed() {
    let data = [0; 64];
    assert!(Ring::forward(&data, 0, 64).is_ok());
    let kind = RingErrorKind::Overwritten { field: "data_tail", value: 0, needed: 72, available: 64 };
    let error = error(&data, 0, 72);
    assert_eq!(error, RingError { kind, position: 1032 });
    assert_eq!(
        error.to_string(),
        "position 1032: data_tail: is 0, but 72 bytes were written since, and the area holds only the last 64: \
         the start of the oldest remaining record is unknown"
    );
}

/// Returns the error if the second record has this size. It is at position 72 and so at 8 in the data; the first is
/// whole.
fn second_of_size(size: u16) -> RingError {
    let mut data = [0; 64];
    data[0..8].copy_from_slice(&record(false, 14, 8, 0));
    data[8..16].copy_from_slice(&record(false, 14, size, 0)[..8]);
    let (mut buffer, mut ring) = (Buffer::new(), Ring::forward(&data, 64, 112).unwrap());
    assert!(ring.next(&mut buffer).unwrap().is_ok());
    let error = ring.next(&mut buffer).unwrap().unwrap_err();
    assert!(ring.next(&mut buffer).is_none(), "the walk ends");
    assert_eq!((ring.position(), ring.unread()), (72, 40));
    error
}

#[test]
fn records() {
    for size in [0, 7, 12] {
        let kind = RingErrorKind::RecordSize { size, unread: 40 };
        assert_eq!(second_of_size(size), RingError { kind, position: 72 });
    }
    assert_eq!(second_of_size(48), truncated("header.size", 48, 40, 72));
    assert_eq!(
        second_of_size(7).to_string(),
        "position 72: header.size: is 7, but must be a multiple of 8 and not 0; the remaining 40 bytes are not read"
    );
    assert_eq!(second_of_size(48).to_string(), "position 72: header.size: needs 48 bytes, 40 are left");
    let error = invalid("data_size", 24, "a power of two of at least 8", 1048);
    assert_eq!(
        error.to_string(),
        "position 1048: data_size: is 24, but must be a power of two of at least 8"
    );
}

/// If the head shows exactly how much was written, no record of a backward ring can be torn.
#[test]
fn a_backward_ring_that_is_not_full_has_no_torn_record() {
    for (size, kind) in [
        (0, RingErrorKind::RecordSize { size: 0, unread: 16 }),
        (24, RingErrorKind::Truncated { field: "header.size", needed: 24, available: 16 }),
    ] {
        let mut data = [0; 64];
        data[40..48].copy_from_slice(&record(false, 14, 8, 0));
        data[48..56].copy_from_slice(&record(false, 14, size, 0)[..8]);
        let (mut buffer, head) = (Buffer::new(), 24_u64.wrapping_neg());
        let mut ring = Ring::backward(&data, head).unwrap();
        assert!(ring.next(&mut buffer).unwrap().is_ok());
        let error = ring.next(&mut buffer).unwrap().unwrap_err();
        assert_eq!(error, RingError { kind, position: head.wrapping_add(8) });
        assert!(ring.next(&mut buffer).is_none());
        assert_eq!((ring.torn(), ring.unread()), (None, 16));
    }
}
