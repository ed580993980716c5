//! Any bytes as a ring, forward and backward: the walkers return the records of the ring unrolled byte by byte, in
//! time bounded by its size, and account for every byte. Or any bytes as a mapping with its control page.

use perf_abi::aux_area::AuxFlags;
use perf_abi::endian::{BigEndian, Endian, LittleEndian, U16};
use perf_parse::event::Events;
use perf_parse::record::Aux;
use perf_parse::ring::{AuxArea, Buffer, Direction, Dump, Merge};
use zerocopy::FromBytes;

/// Bits of the first byte.
const BIG: u8 = 1;
const BACKWARD: u8 = 2;
/// The other bytes are a mapping, whose control page has the places of the areas.
const MAPPING: u8 = 4;
/// The page size is passed.
const PAGE_SIZE: u8 = 8;

/// The first byte of `data` has the bits. For a data area alone, the next bytes are the exponent of its size, the
/// number of bytes to read (two bytes) and its head (eight bytes), little-endian and each reduced to its bounds. The
/// area follows.
pub fn run(data: &[u8]) -> bool {
    let Some((&bits, rest)) = data.split_first() else { return false };
    if bits & BIG != 0 { check::<BigEndian>(bits, rest) } else { check::<LittleEndian>(bits, rest) }
}

fn check<O: Endian>(bits: u8, rest: &[u8]) -> bool {
    let direction = if bits & BACKWARD != 0 { Direction::Backward } else { Direction::Forward };
    if bits & MAPPING != 0 {
        return mapping::<O>(rest, direction, (bits & PAGE_SIZE != 0).then_some(4096));
    }
    let Some((&[exponent, low, high, ref head @ ..], rest)) = rest.split_first_chunk::<11>() else {
        return false;
    };
    let size = 8_usize << (exponent % 10);
    let mut area = rest.to_vec();
    area.resize(size, 0);
    let head = u64::from_le_bytes(*head) & !7;
    let unread = (u64::from(u16::from_le_bytes([low, high])) & !7).min(size as u64).min(head);
    let tail = head - unread;
    let expected = match direction {
        Direction::Forward => unroll(&area, tail, unread),
        Direction::Backward => unroll(&area, head, head.wrapping_neg().min(size as u64)),
    };
    let dump = Dump::<O>::new(&area, direction, tail, head).expect("it is in its bounds");
    walk(dump.clone(), &expected);
    merge(dump, &expected);
    true
}

/// Returns `length` bytes of the ring from `position` on, copied one by one.
fn unroll(area: &[u8], position: u64, length: u64) -> Vec<u8> {
    (0..length).map(|at| area[(position.wrapping_add(at) % area.len() as u64) as usize]).collect()
}

/// Walks over the ring and over the same bytes unrolled.
fn walk<O: Endian>(dump: Dump<'_, O>, expected: &[u8]) {
    let mut buffer = Box::new(Buffer::new());
    let mut turned = dump.clone().oldest_first();
    let mut dump = dump;
    let (mut rest, mut records, mut failed) = (expected, Vec::new(), false);
    while let Some(record) = dump.next(&mut buffer) {
        assert!(records.len() <= expected.len() / 8 && !failed, "an error ends the walk");
        match record {
            Ok(record) => {
                let size = announced::<O>(rest).expect("a record");
                let (expected, after) = rest.split_at_checked(size).expect("a whole record");
                assert_eq!(record.as_bytes(), expected);
                records.push(expected.to_vec());
                rest = after;
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                failed = true;
            }
        }
    }
    account(&dump, expected.len(), records.len());
    // The rest is not a complete record that begins and ends at a multiple of 8.
    let is_left = |size: usize| size >= 8 && size.is_multiple_of(8) && size <= rest.len();
    assert!(!announced::<O>(rest).is_some_and(is_left), "a record was left out");

    let mut again = Vec::new();
    while let Some(record) = turned.next(&mut buffer) {
        again.extend(record.ok().map(|record| record.as_bytes().to_vec()));
    }
    account(&turned, expected.len(), again.len());
    if again != records {
        again.reverse();
        assert_eq!(again, records);
    }
}

/// Returns the size in a header. A kernel writes 16 bits of it, also for types that are simpleperf's in a capture.
fn announced<O: Endian>(bytes: &[u8]) -> Option<usize> {
    let (size, _) = U16::<O>::read_from_prefix(bytes.get(6..)?).ok()?;
    Some(usize::from(size.get()))
}

fn account<O: Endian>(dump: &Dump<'_, O>, length: usize, records: usize) {
    let account = dump.account();
    let torn = account.torn.map_or(0, |torn| torn.bytes);
    let sum = account.bytes + account.left + account.unread + account.unwritten + torn;
    assert_eq!((sum, account.records, account.left), (length as u64, records as u64, 0));
}

/// Merges the ring with itself in time order: every record is returned twice.
fn merge<O: Endian>(dump: Dump<'_, O>, expected: &[u8]) {
    let events = Events::default();
    let mut merge = Merge::new();
    merge.add(dump.clone(), &events);
    merge.add(dump, &events);
    let mut records = [0_u64; 2];
    for record in merge.by_ref().flatten() {
        // The records of the perf tool need no event.
        assert!(record.kind().is_user() || record.decode().is_err(), "there are no events");
        records[record.position().data_file] += 1;
    }
    assert_eq!(records[0], records[1]);
    let accounts = [0, 1].map(|ring| merge.account(ring).expect("it was added"));
    assert_eq!(accounts[0], accounts[1]);
    assert_eq!(accounts[0].records, records[0]);
    assert!(accounts[0].bytes <= expected.len() as u64);
}

fn mapping<O: Endian>(mapping: &[u8], direction: Direction, page_size: Option<u64>) -> bool {
    let mut dump = match Dump::<O>::open(mapping, direction, page_size) {
        Ok(dump) => dump,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return true;
        }
    };
    let area = dump.data_area();
    assert!(area.offset.checked_add(area.size).is_some_and(|end| end <= mapping.len() as u64));
    if let Some(page) = dump.page() {
        let _ = (page.pmc().map(|it| it.count(page.time_cycles)), page.times().estimate(page.data_head));
        if let Some(clock) = page.clock() {
            let _ =
                (clock.time(page.time_cycles), clock.elapsed(page.data_tail), clock.cycles(page.time_zero));
        }
    }
    if let Ok(Some(aux)) = dump.aux() {
        aux_data(&aux, mapping);
    }
    let mut buffer = Box::new(Buffer::new());
    let mut records = 0_u64;
    while let Some(record) = dump.next(&mut buffer) {
        records += u64::from(record.is_ok());
        assert!(records <= area.size / 8);
    }
    assert_eq!((dump.account().records, dump.account().left), (records, 0));
    true
}

/// Tests ranges that the bytes of the mapping determine.
fn aux_data(area: &AuxArea<'_>, mapping: &[u8]) {
    for words in mapping.chunks_exact(16).take(64) {
        let word = |at: usize| u64::from_le_bytes(words[at..at + 8].try_into().expect("8 bytes"));
        for flags in [AuxFlags::NONE, AuxFlags::OVERWRITE] {
            for (aux_offset, aux_size) in [(word(0), word(8)), (area.head(), word(8) % 64), (word(0) % 64, 8)]
            {
                match area.data(&Aux { aux_offset, aux_size, flags }) {
                    Ok(data) => assert_eq!((data.first.len() + data.second.len()) as u64, aux_size),
                    Err(error) => assert!(!error.to_string().is_empty()),
                }
            }
        }
    }
}
