//! An index of any capture, whole and from blocks; or the bytes of an index, whose checksum is made right.

use perf_parse::index::{Chunk, IndexIdentity};
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
    let identity = IndexIdentity::new(&reader, SIZE, 0);
    // The header of an index without chunks has the words of the capture.
    let header = Index::default().encode(&identity);
    let flags = u32::from(bits & COMPRESSED != 0);
    let bytes = testdata::index::with_chunks(&header, flags, chunks.into(), rest);
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
    let mut records = reader.records();
    let of_batches =
        Index::from_batches(&mut records, |_| Ok(())).expect("a walk is in the order of the capture");
    assert_eq!(of_batches, index);
    let mut of_blocks = Index::default();
    for block in reader.blocks(5) {
        let block = Index::from_records(block).expect("a block is in the order of the capture");
        of_blocks.append(block).expect("blocks are in the order of the capture");
    }
    assert_eq!(index, of_blocks);
    let identity = IndexIdentity::new(reader, size as u64, 1);
    let bytes = index.encode(&identity);
    assert_eq!(Index::decode(&bytes, &identity).as_ref(), Ok(&index));
    queries(&index);
    let places = walk(&mut reader.records(), size, |record| (record.position(), record.kind()));
    let of_chunks: Vec<_> = index
        .chunks()
        .flat_map(|chunk| {
            chunk.walk(reader).flatten().map(|record| (record.position(), record.kind())).collect::<Vec<_>>()
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
    if !index.chunks().any(|chunk| is_end(&chunk))
        && let Some(before) = index.before(u64::MAX)
    {
        let listed = index.chunks().flat_map(|chunk| chunk.others().into_iter().flatten());
        assert_eq!(before.count(), listed.count());
    }
}
