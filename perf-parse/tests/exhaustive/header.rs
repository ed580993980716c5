//! Headers of every size with every number of bytes after them, and short sequences of records.

use perf_parse::abi::endian::{BigEndian, ByteOrder, Endian, Endianness, LittleEndian};
use perf_parse::{Error, ErrorKind, RawRecord, Records};
use testdata::Bytes;

use crate::{error, truncated};

/// Most bytes of a record here, and most bytes that there are.
const MOST: usize = 64;

/// Types of the kernel, of perf and of no one; those of simpleperf, whose sizes have 32 bits, and both next to them.
const KINDS: [u32; 15] = [0, 1, 9, 22, 23, 63, 64, 85, 255, 32767, 32768, 32773, 65535, 65536, u32::MAX];

/// Returns the size in a header. simpleperf: the high half is in the place of `misc`.
fn size(kind: u32, misc: u16, low: u16) -> u32 {
    if (32768..=65535).contains(&kind) { u32::from(misc) << 16 | u32::from(low) } else { low.into() }
}

/// Returns the number of bytes of the record at the start of `available` bytes.
fn expected(size: u32, available: usize) -> Result<usize, Error> {
    let room = available as u64;
    if available < 8 {
        Err(truncated("header", 8, room, 0))
    } else if size < 8 {
        Err(error(ErrorKind::RecordSize { size }, 6))
    } else if u64::from(size) > room {
        Err(truncated("payload", u64::from(size) - 8, room - 8, 8))
    } else {
        Ok(size as usize)
    }
}

/// Parses the record at the start of `bytes`, and walks over all of them.
fn check<O: ByteOrder>(order: O::Value, bytes: &[u8], kind: u32, misc: u16, wanted: Result<usize, Error>) {
    let parsed = RawRecord::<O>::parse_in(order, bytes);
    let mut walk = Records::<O>::new_in(order, bytes);
    let first = walk.next();
    match wanted {
        Err(error) => {
            assert_eq!(parsed.map(drop), Err(error));
            assert_eq!(first.map(|first| first.map(drop)), (!bytes.is_empty()).then_some(Err(error)));
            assert!(walk.next().is_none());
            assert_eq!(walk.rest(), bytes);
        }
        Ok(size) => {
            let (raw, rest) = parsed.unwrap();
            assert_eq!((raw.kind().0, raw.misc().0, raw.size() as usize), (kind, misc, size));
            assert_eq!(
                (raw.as_bytes(), raw.payload(), rest),
                (&bytes[..size], &bytes[8..size], &bytes[size..])
            );
            assert_eq!(first.unwrap().unwrap().as_bytes(), raw.as_bytes());
            assert_eq!(walk.rest(), rest);
        }
    }
}

/// Parses in the byte order `O`, in each type of byte order, and as bytes of a ring.
fn check_all<O: Endian>(bytes: &[u8], kind: u32, misc: u16, low: u16) {
    let wanted = expected(size(kind, misc, low), bytes.len());
    check::<O>((), bytes, kind, misc, wanted);
    check::<Endianness>(O::ENDIANNESS, bytes, kind, misc, wanted);
    assert_eq!(RawRecord::<O>::parse(bytes).map(|(raw, _)| raw.size() as usize), wanted);

    // In a ring, every size has 16 bits.
    let in_ring = RawRecord::<O>::parse_in_ring(bytes).map(|(raw, rest)| (raw.as_bytes(), rest));
    assert_eq!(in_ring, expected(low.into(), bytes.len()).ok().map(|size| bytes.split_at(size)));
}

#[test]
fn every_size_with_every_number_of_bytes() {
    // Miri is slow.
    let (step, kinds) = if cfg!(miri) { (16, 5) } else { (1, 1) };
    for kind in KINDS.into_iter().step_by(kinds) {
        for misc in [0, 1, u16::MAX] {
            for low in (0..=MOST as u16).step_by(step).chain([u16::MAX - 7, u16::MAX]) {
                let [little, big] = [false, true].map(|big| {
                    let payload: Vec<u8> = (0..MOST as u8).collect();
                    Bytes::new(big).u32(kind).u16(misc).u16(low).raw(&payload).out
                });
                for available in (0..=MOST).step_by(step) {
                    check_all::<LittleEndian>(&little[..available], kind, misc, low);
                    check_all::<BigEndian>(&big[..available], kind, misc, low);
                }
            }
        }
    }
}

/// Every sequence of up to four records, cut off at every byte.
#[test]
fn every_short_sequence_cut_off_everywhere() {
    const SIZES: [usize; 4] = [8, 9, 16, 24];
    for length in 0..=if cfg!(miri) { 1 } else { 4 } {
        for number in 0..SIZES.len().pow(length) {
            let sizes: Vec<usize> =
                (0..length).map(|at| SIZES[number / SIZES.len().pow(at) % SIZES.len()]).collect();
            let mut bytes = Bytes::new(true);
            for (mark, size) in sizes.iter().enumerate() {
                bytes = bytes.u32(9).u16(mark as u16).u16(*size as u16).raw(&vec![mark as u8; size - 8]);
            }
            for cut in 0..=bytes.out.len() {
                let mut records = Records::<BigEndian>::new(&bytes.out[..cut]);
                let mut start = 0;
                for (mark, size) in sizes.iter().enumerate().take_while(|(_, size)| {
                    let is_whole = start + **size <= cut;
                    start += if is_whole { **size } else { 0 };
                    is_whole
                }) {
                    let raw = records.next().unwrap().unwrap();
                    assert_eq!((usize::from(raw.misc().0), raw.size() as usize), (mark, *size));
                }
                assert_eq!(records.next().is_some_and(|end| end.is_err()), start < cut);
                assert!(records.next().is_none());
                assert_eq!(records.rest().len(), cut - start);
            }
        }
    }
}
