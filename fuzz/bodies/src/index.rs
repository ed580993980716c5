//! An index of any capture, whole and from blocks; or the bytes of an index, whose checksum is made right.

use perf_parse::index::{Chunk, Identity};
use perf_parse::{Index, Reader};

use super::walk::walk;

/// Bits of the first byte: the rest is a capture; records of the index are compressed.
const CAPTURE: u8 = 1;
const COMPRESSED: u8 = 2;

/// A pipe without records: what the bytes are an index of, but for its size.
const PIPE: &[u8] = b"PERFILE2\x10\0\0\0\0\0\0\0";
const SIZE: u64 = 1 << 40;

/// The first byte of `data` has the bits. The other bytes are a capture, or the number of chunks and the chunks.
pub fn run(data: &[u8]) -> bool {
    let Some((&bits, rest)) = data.split_first() else { return false };
    if bits & CAPTURE != 0 {
        return Reader::new(rest).is_ok_and(|reader| capture(&reader, rest.len()));
    }
    let Some((&chunks, rest)) = rest.split_first() else { return false };
    let reader = Reader::new(PIPE).expect("it has a header");
    let identity = Identity::new(&reader, SIZE, 0);
    let bytes = encoded(&identity, u32::from(bits & COMPRESSED != 0), chunks, rest);
    match Index::decode(&bytes, &identity) {
        Ok(index) => {
            assert_eq!(index.encode(&identity), bytes, "nothing is lost");
            assert_eq!(index.chunks().count(), usize::from(chunks));
            queries(&index);
            let mut none = Index::default();
            none.append(index.clone()).expect("nothing is before it");
            assert_eq!(none, index);
            for chunk in index.chunks() {
                assert_eq!(chunk.walk(&reader).count(), 0);
            }
        }
        Err(error) => {
            assert!(error.offset <= bytes.len() as u64, "{error}");
            assert!(!error.to_string().is_empty());
        }
    }
    true
}

/// Indexes a capture in one pass and by blocks.
fn capture(reader: &Reader<'_>, size: usize) -> bool {
    let index = Index::from_records(reader.records()).expect("a walk is in the order of the capture");
    let mut of_blocks = Index::default();
    for block in reader.blocks(5) {
        let block = Index::from_records(block).expect("a block is in the order of the capture");
        of_blocks.append(block).expect("blocks are in the order of the capture");
    }
    assert_eq!(index, of_blocks);
    let identity = Identity::new(reader, size as u64, 1);
    let bytes = index.encode(&identity);
    assert_eq!(Index::decode(&bytes, &identity).as_ref(), Ok(&index));
    queries(&index);
    let places = walk(&mut reader.records(), size, |record| (record.place(), record.kind()));
    let of_chunks: Vec<_> = index
        .chunks()
        .flat_map(|chunk| {
            chunk.walk(reader).flatten().map(|record| (record.place(), record.kind())).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(of_chunks, places);
    true
}

/// Asks an index for everything. What it returns agrees with the chunks.
fn queries(index: &Index) {
    for chunk in index.chunks() {
        let others = chunk.others().map(|others| others.count() as u64);
        assert!(others.is_none_or(|others| others == chunk.records() - chunk.samples()));
        assert!(chunk.may_hold(&(..), None, None));
        if let Some(times) = chunk.times() {
            assert!(chunk.may_hold(&times, None, None));
        }
        for cpu in chunk.cpus().into_iter().flatten() {
            assert!(chunk.may_hold(&(..), Some(cpu), None));
        }
        for tid in chunk.threads().into_iter().flatten() {
            assert!(chunk.may_hold(&(..), None, Some(tid)));
        }
    }
    let with_samples = index.chunks().filter(|chunk| chunk.samples() > 0).count();
    assert_eq!(index.samples(.., None, None).count(), with_samples);
    // All records are before the end of time, unless one has that time.
    let is_end = |chunk: &Chunk<'_>| chunk.times().is_some_and(|times| *times.end() == u64::MAX);
    if !index.chunks().any(|chunk| is_end(&chunk)) {
        if let Some(before) = index.before(u64::MAX) {
            let listed = index.chunks().flat_map(|chunk| chunk.others().into_iter().flatten());
            assert_eq!(before.count(), listed.count());
        }
    }
}

/// Returns the bytes of an index with these chunks.
fn encoded(identity: &Identity, flags: u32, chunks: u8, body: &[u8]) -> Vec<u8> {
    // The header of an index without chunks has the words of the capture.
    let mut bytes = Index::default().encode(identity);
    bytes[12..16].copy_from_slice(&flags.to_le_bytes());
    bytes[56..64].copy_from_slice(&u64::from(chunks).to_le_bytes());
    bytes[64..72].copy_from_slice(&(body.len() as u64).to_le_bytes());
    let checksum = bytes[..72].iter().chain(body).fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    bytes[72..80].copy_from_slice(&checksum.to_le_bytes());
    bytes.extend_from_slice(body);
    bytes
}
