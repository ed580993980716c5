//! An index as bytes: it is decoded to the same index, and faulty bytes are refused.

use perf_parse::index::{IndexErrorKind, IndexIdentity};
use perf_parse::{Index, Reader};

use testdata::index::{HEADER, seal, with_chunks};

use crate::{captures, index, ring, round, sample, switch};

/// An index of three chunks, its identity, and the capture.
fn example() -> (Vec<u8>, IndexIdentity, Vec<u8>) {
    let mut data = Vec::new();
    for number in 0..4200 {
        data.extend(match number % 1400 {
            0..3 => switch(number, 1 << number.min(40), 1),
            3 => round(),
            _ => sample(number / 700, 1 << number.min(40), number as u32 % 2),
        });
    }
    let reader = ring(&data);
    let identity = IndexIdentity::new(&reader, data.len() as u64, 1_234_567);
    let index = index(&reader);
    assert_eq!(index.chunks().count(), 3);
    let encoded = index.encode(&identity);
    drop(reader);
    (encoded, identity, data)
}

/// Uses everything of an index. What it lists is in proportion to its bytes.
fn drive(index: &Index, size: usize, reader: &Reader<'_>) {
    let mut listed = 0;
    for chunk in index.chunks() {
        listed +=
            1 + chunk.cpus().into_iter().flatten().count() + chunk.threads().into_iter().flatten().count();
        listed += chunk.others().into_iter().flatten().count();
        let _ = chunk.walk(reader).take(3).count();
        assert!(chunk.samples() <= chunk.records());
        let _ = chunk.may_hold(&(5..10), Some(1), Some(2));
    }
    assert!(listed <= size, "{listed} in {size} bytes");
    listed = index.before(1 << 20).into_iter().flatten().count();
    assert!(listed <= size, "{listed} in {size} bytes");
    let _ = index.samples(1 << 10..1 << 20, Some(0), Some(1)).count();
    let _ = format!("{index:?}");
}

#[test]
fn comes_back_as_it_was() {
    for (path, bytes) in captures() {
        let reader = Reader::new(&bytes).unwrap();
        let index = index(&reader);
        let identity = IndexIdentity::new(&reader, bytes.len() as u64, 99);
        let encoded = index.encode(&identity);
        let decoded = Index::decode(&encoded, &identity).unwrap();
        assert_eq!(decoded, index, "{path:?}");
        assert_eq!(decoded.encode(&identity), encoded, "{path:?}");
    }
}

#[test]
fn a_decoded_index_can_be_appended_to() {
    let (encoded, identity, data) = example();
    let reader = ring(&data);
    let mut blocks = reader.blocks(2).map(|block| Index::from_records(block).unwrap());
    let first = blocks.next().unwrap().encode(&identity);
    let mut both = Index::decode(&first, &identity).unwrap();
    blocks.for_each(|block| both.append(block).unwrap());
    assert_eq!(both.encode(&identity), encoded);
}

#[test]
fn a_prefix_is_refused() {
    let (encoded, identity, _) = example();
    for size in 0..encoded.len() {
        let error = Index::decode(&encoded[..size], &identity).unwrap_err();
        match error.kind {
            IndexErrorKind::NotAnIndex => assert!(size < 8),
            IndexErrorKind::Truncated { .. } => assert!(size >= 8 && error.offset <= size as u64),
            other => panic!("{size}: {other}"),
        }
    }
}

#[test]
fn a_changed_byte_is_refused() {
    let (encoded, identity, _) = example();
    for at in 0..encoded.len() {
        for bit in 0..8 {
            let mut bytes = encoded.clone();
            bytes[at] ^= 1 << bit;
            assert!(Index::decode(&bytes, &identity).is_err(), "{at}, bit {bit}");
        }
    }
}

#[test]
fn a_hostile_index_is_refused_or_stays_in_bounds() {
    let (encoded, identity, data) = example();
    let reader = ring(&data);
    let mut accepted = 0;
    for at in 0..encoded.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff, encoded[at].wrapping_add(1), encoded[at] ^ 0x80] {
            let mut bytes = encoded.clone();
            bytes[at] = value;
            seal(&mut bytes);
            if let Ok(index) = Index::decode(&bytes, &identity) {
                drive(&index, bytes.len(), &reader);
                accepted += 1;
            }
        }
        let mut bytes = encoded[..at].to_vec();
        if let Some(size) = at.checked_sub(HEADER) {
            bytes[64..72].copy_from_slice(&(size as u64).to_le_bytes());
        }
        seal(&mut bytes);
        if let Ok(index) = Index::decode(&bytes, &identity) {
            drive(&index, bytes.len(), &reader);
        }
    }
    assert!(accepted > encoded.len(), "{accepted}");
}

#[test]
fn a_hostile_number_of_records_ends_with_the_capture() {
    let huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
    let (bytes, identity) = crafted(&[&[&[0, 0, 0][..], &huge, &huge, &[0, 1, 1, 1]].concat()], 1);
    let index = Index::decode(&bytes, &identity).unwrap();
    let data = round().repeat(10);
    let chunk = index.chunks().next().unwrap();
    assert_eq!((chunk.records(), chunk.walk(&ring(&data)).count()), (u64::MAX, 10));
}

#[test]
fn of_another_capture_is_refused() {
    let bytes = std::fs::read(testdata::path("plain.data")).unwrap();
    let reader = Reader::new(&bytes).unwrap();
    let identity = IndexIdentity::new(&reader, bytes.len() as u64, 5);
    let encoded = index(&reader).encode(&identity);
    let differs = |identity: &IndexIdentity| match Index::decode(&encoded, identity).unwrap_err().kind {
        IndexErrorKind::OtherCapture { field, .. } => field,
        other => panic!("{other}"),
    };
    assert_eq!(differs(&IndexIdentity::new(&reader, bytes.len() as u64 + 1, 5)), "capture.size");
    assert_eq!(differs(&IndexIdentity::new(&reader, bytes.len() as u64, 6)), "capture.modified");
    // Offsets in the header: features, data.size, data.offset. Each moved in a way that leaves a capture.
    for (at, value, field) in [
        (72, 0, "capture.header"),
        (48, 8, "capture.data.size"),
        (40, u64::from_le_bytes(bytes[40..48].try_into().unwrap()) + 8, "capture.data.offset"),
    ] {
        let mut bytes = bytes.clone();
        bytes[at..at + 8].copy_from_slice(&u64::to_le_bytes(value));
        let reader = Reader::new(&bytes).unwrap();
        assert_eq!(differs(&IndexIdentity::new(&reader, bytes.len() as u64, 5)), field);
    }
    let pipe = std::fs::read(testdata::path("tracing.pipe.data")).unwrap();
    let pipe = Reader::new(&pipe).unwrap();
    assert_eq!(differs(&IndexIdentity::new(&pipe, bytes.len() as u64, 5)), "capture.header");
    let error = Index::decode(&encoded, &IndexIdentity::new(&reader, 1, 5)).unwrap_err();
    let expected = format!(
        "0x10: capture.size: is {} in the index and 1 in the capture; make the index again",
        bytes.len()
    );
    assert_eq!(error.to_string(), expected);
}

/// Encodes an index with the given chunks, each without its size, for a capture of 1 MiB.
fn crafted(chunks: &[&[u8]], count: u64) -> (Vec<u8>, IndexIdentity) {
    let identity = IndexIdentity::new(&ring(&[]), 1 << 20, 0);
    let with_sizes = chunks.iter().flat_map(|chunk| [&[chunk.len() as u8], *chunk].concat());
    // The records are compressed.
    let bytes = with_chunks(&Index::default().encode(&identity), 1, count, &with_sizes.collect::<Vec<_>>());
    (bytes, identity)
}

/// The fault of an index with one chunk: its field, or the kind without one.
fn fault(chunk: &[u8]) -> String {
    let (bytes, identity) = crafted(&[chunk], 1);
    match Index::decode(&bytes, &identity) {
        Ok(index) => {
            drive(&index, bytes.len(), &ring(&[]));
            String::new()
        }
        Err(error) => match error.kind {
            IndexErrorKind::Invalid { field, must } => format!("{field}: {must}"),
            IndexErrorKind::Truncated { field, .. } => format!("{field}: truncated"),
            other => format!("{other}"),
        },
    }
}

#[test]
fn faults_of_the_header() {
    let (encoded, identity, _) = example();
    let kind = |at: usize, value: u8| {
        let mut bytes = encoded.clone();
        bytes[at] = value;
        let error = Index::decode(&bytes, &identity).unwrap_err();
        (error.offset, error.kind)
    };
    assert_eq!(kind(0, b'p'), (0, IndexErrorKind::NotAnIndex));
    assert_eq!(kind(8, 2), (8, IndexErrorKind::Version(2)));
    assert_eq!(kind(12, 2), (12, IndexErrorKind::Invalid { field: "flags", must: "0 or 1" }));
    let last = encoded.len() - 1;
    assert_eq!(kind(last, !encoded[last]), (72, IndexErrorKind::Checksum));
    let (bytes, identity) = crafted(&[], 1);
    let error = Index::decode(&bytes, &identity).unwrap_err();
    assert_eq!(error.to_string(), "0x38: chunks: must be the number of chunks");
    let longer = [&bytes[..], &[0]].concat();
    let error = Index::decode(&longer, &identity).unwrap_err();
    assert_eq!((error.offset, error.kind), (80, IndexErrorKind::Residue { bytes: 1 }));
    assert_eq!(error.to_string(), "0x50: 1 bytes are left after the last field");
    // More chunks than there are bytes.
    let mut bytes = bytes;
    bytes[64..72].copy_from_slice(&u64::MAX.to_le_bytes());
    let error = Index::decode(&bytes, &identity).unwrap_err().kind;
    let expected = IndexErrorKind::Truncated { field: "chunks.size", needed: u64::MAX, available: 0 };
    assert_eq!(error, expected);
}

#[test]
fn faults_of_a_chunk() {
    let huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
    let with = |parts: &[&[u8]]| fault(&parts.concat());
    let shortest = |field| format!("{field}: a number of 64 bits in as few bytes as possible");
    // Data file, offset, position, records, samples; times; CPUs; threads; others.
    assert_eq!(fault(&[0, 5, 0, 2, 1, 3, 7, 1, 2, 4, 2, 3, 3, 8, 9]), "");
    assert_eq!(fault(&[0, 5, 0, 2, 1, 3, 7, 1, 2, 4, 2, 3, 0]), "");
    assert_eq!(fault(&[0, 5, 0, 2, 1, 3, 7, 1, 2, 4]), "chunk.threads: truncated");
    let residue = "1 bytes are left after the last field";
    assert_eq!(fault(&[0, 5, 0, 2, 1, 3, 7, 1, 2, 4, 2, 3, 0, 0]), residue);
    assert_eq!(fault(&[0, 5, 0, 2, 1, 9, 7]), "chunk.times: truncated");
    assert_eq!(fault(&[0, 5, 0, 2, 1, 4, 7, 1, 1, 1, 1, 1]), residue);
    assert_eq!(fault(&[0, 5, 0, 0, 0, 0, 1, 1, 1]), "chunk.records: 1 or more");
    let samples = "chunk.samples: no more than the number of records";
    assert_eq!(fault(&[0, 5, 0, 1, 2, 0, 1, 1, 1]), samples);
    assert_eq!(fault(&[0, 0xff, 0xff, 0x3f, 0, 1, 1, 0, 1, 1, 1]), "");
    let offset = "chunk.offset: an offset in the capture";
    assert_eq!(fault(&[0, 0x80, 0x80, 0x40, 0, 1, 1, 0, 1, 1, 1]), offset);
    assert_eq!(fault(&[0, 0x85, 0, 0, 1, 1, 0, 1, 1, 1]), shortest("chunk.offset"));
    assert_eq!(with(&[&[0, 5, 0], &huge[..9], &[2]]), shortest("chunk.records"));
    assert_eq!(with(&[&[0, 5, 0], &huge[..9], &[0x81, 0]]), shortest("chunk.records"));
    assert_eq!(with(&[&huge]), "chunk.data_file: a number of 32 bits");
    assert_eq!(fault(&[0, 5, 1, 1, 1, 0, 1, 1, 1]), "");
    assert_eq!(with(&[&[0, 5, 0, 1, 1, 12], &huge, &[0, 1, 1, 1]]), "");
    assert_eq!(with(&[&[0, 5, 0, 1, 1, 12], &huge, &[1, 1, 1, 1]]), "chunk.times: numbers of 64 bits");
    assert_eq!(fault(&[0, 5, 0, 1, 1, 0, 6, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 1]), "");
    let cpus = "chunk.cpus: a number of 32 bits";
    assert_eq!(fault(&[0, 5, 0, 1, 1, 0, 7, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 1, 1]), cpus);
    let threads = "chunk.threads: a number of 32 bits";
    assert_eq!(fault(&[0, 5, 0, 1, 1, 0, 1, 6, 0xff, 0xff, 0xff, 0xff, 0x1f, 1]), threads);
}

#[test]
fn compressed_records_without_the_flag() {
    for chunk in [&[0, 5, 1, 1, 1, 0, 1, 1, 1][..], &[0, 5, 0, 1, 0, 0, 1, 1, 4, 1, 5, 0]] {
        let (mut bytes, identity) = crafted(&[chunk], 1);
        assert!(Index::decode(&bytes, &identity).is_ok());
        bytes[12] = 0;
        seal(&mut bytes);
        let error = Index::decode(&bytes, &identity).unwrap_err().kind;
        let must = "1 if some records are compressed";
        assert_eq!(error, IndexErrorKind::Invalid { field: "flags", must });
    }
}

#[test]
fn a_chunk_with_too_many_ids() {
    for (count, is_valid) in [(255, true), (256, true), (257, false)] {
        let size = [(count + 1) as u8 & 0x7f | 0x80, ((count + 1) >> 7) as u8];
        let chunk = [&[0, 5, 0, 1, 1, 0][..], &size, &vec![0; count], &[1, 1]].concat();
        let (mut bytes, identity) = crafted(&[], 1);
        bytes.extend([chunk.len() as u8 & 0x7f | 0x80, (chunk.len() >> 7) as u8]);
        bytes.extend(&chunk);
        let size = (bytes.len() - HEADER) as u64;
        bytes[64..72].copy_from_slice(&size.to_le_bytes());
        seal(&mut bytes);
        let kind = Index::decode(&bytes, &identity).err().map(|error| error.kind);
        let fault = IndexErrorKind::Invalid { field: "chunk.cpus", must: "at most 256 ids" };
        assert_eq!(kind, (!is_valid).then_some(fault));
    }
}

#[test]
fn faults_of_the_other_records() {
    let others = |records: u8, others: &[u8]| {
        // Of the times 0 to 127.
        let head = [0, 5, 0, records, 0, 3, 0, 127, 1, 1, 1 + others.len() as u8];
        fault(&[&head[..], others].concat())
    };
    let count = "chunk.others: the records that are not samples, or absent if there are more than 8192";
    let order = "other.offset: after the previous record, and in the span of the chunk";
    assert_eq!(others(1, &[0, 5]), "");
    assert_eq!(others(2, &[0, 5]), count);
    assert_eq!(others(1, &[0, 5, 0, 1]), count);
    assert_eq!(others(2, &[0, 5, 0, 0]), order);
    assert_eq!(others(2, &[1, 5, 0, 1, 9, 0]), order);
    assert_eq!(others(2, &[1, 5, 0, 1, 0, 1]), "");
    assert_eq!(others(1, &[0, 0xff, 0xff, 3]), "");
    assert_eq!(others(1, &[0, 0x80, 0x80, 4]), order);
    assert_eq!(others(1, &[0]), "other.offset: truncated");
    assert_eq!(others(1, &[2, 5]), "other.time: truncated");
    assert_eq!(others(1, &[2, 5, 0xfe, 1]), "");
    assert_eq!(others(1, &[2, 5, 0x80, 2]), "other.time: a time of the chunk");
    assert_eq!(others(1, &[1, 5]), "other.position: truncated");
    assert_eq!(others(1, &[0xff, 0xff, 0xff, 0xff, 0x3f, 5, 0, 0]), "");
    assert_eq!(others(1, &[0xff, 0xff, 0xff, 0xff, 0x7f, 5, 0, 0]), "other.type: a number of 32 bits");
    let last = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
    assert_eq!(others(1, &[&[0][..], &last].concat()), order);
    assert_eq!(others(2, &[&[0, 5, 0][..], &last].concat()), "other.offset: a number of 64 bits");
    assert_eq!(others(2, &[&[1, 0][..], &last, &[1, 0, 1]].concat()), "other.position: a number of 64 bits");
}

#[test]
fn chunks_out_of_order() {
    let chunk = |file, offset: u64| {
        let mut chunk = vec![file];
        chunk.extend([(offset & 0x7f) as u8 | 0x80, (offset >> 7 & 0x7f) as u8 | 0x80, (offset >> 14) as u8]);
        chunk.extend([0, 1, 1, 0, 1, 1, 1]);
        chunk
    };
    let decode = |chunks: &[&[u8]]| {
        let (bytes, identity) = crafted(chunks, chunks.len() as u64);
        Index::decode(&bytes, &identity).map_err(|error| error.kind)
    };
    let first = chunk(0, 0x14000);
    assert!(decode(&[&first, &chunk(0, 0x24000)]).is_ok());
    assert!(decode(&[&first, &chunk(1, 0x4000)]).is_ok());
    let must = "in a later span of 64 KiB than the previous chunk";
    let order = Err(IndexErrorKind::Invalid { field: "chunk.offset", must });
    assert_eq!(decode(&[&first, &chunk(0, 0x18000)]), order);
    assert_eq!(decode(&[&first, &first]), order);
    assert_eq!(decode(&[&chunk(1, 0x14000), &chunk(0, 0x24000)]), order);
}
