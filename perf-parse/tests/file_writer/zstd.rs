//! Compressed records, decompressed by the zstd library.

use std::io::Cursor;

use perf_parse::abi::endian::{BigEndian, Endian, LittleEndian, U32, U64};
use perf_parse::abi::feature::Feature;
use perf_parse::abi::record::RecordType;
use perf_parse::file::write::{FeaturePayloads, FileWriter, PipeWriter, WriteOptions, ZstdOptions};
use zerocopy::{FromBytes, IntoBytes};
use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

use compare::rewrite::{File, FileBuffer, Whole, event, finish, kind, record, records, walk};

fn options(record: RecordType, level: u8) -> WriteOptions {
    WriteOptions { zstd: Some(ZstdOptions { level, record }), ..compare::rewrite::options::<LittleEndian>() }
}

fn writer<O: Endian>(options: &WriteOptions) -> FileBuffer {
    let options = WriteOptions { endianness: O::ENDIANNESS, ..options.clone() };
    FileWriter::new(Cursor::new(Vec::new()), &[event(1, &[1], Some("a"))], &options).unwrap()
}

/// Returns the decompressed contents of each compressed record, and the records between them.
fn decompressed<O: Endian>(records: &[Whole]) -> Vec<Vec<u8>> {
    let mut decoder = Decoder::new().unwrap();
    let mut pieces = Vec::new();
    for (record, data) in records {
        let packed = match kind::<O>(record) {
            RecordType::COMPRESSED => &record[8..],
            RecordType::COMPRESSED2 => {
                assert_eq!(record.len() % 8, 0);
                let len = U64::<O>::read_from_prefix(&record[8..]).unwrap().0.get();
                let (packed, padding) = record[16..].split_at(usize::try_from(len).unwrap());
                assert_eq!(padding, &[0; 7][..padding.len()]);
                packed
            }
            _ => {
                pieces.push([&record[..], data].concat());
                continue;
            }
        };
        // The room that the feature states.
        let mut room = vec![0; 65536];
        let mut input = InBuffer::around(packed);
        let mut output = OutBuffer::around(&mut room[..]);
        decoder.run(&mut input, &mut output).unwrap();
        assert_eq!(input.pos(), packed.len(), "all of a record is decompressed at once");
        let len = output.pos();
        assert_ne!(len, 0);
        room.truncate(len);
        pieces.push(room);
    }
    pieces
}

/// Returns bytes that do not compress.
fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        // xorshift64
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    };
    (0..len).map(|_| next()).collect()
}

fn stream_in<O: Endian>(packed: RecordType) {
    let mut writer = writer::<O>(&options(packed, 3));
    let mut plain = Vec::new();
    // Small records, then large ones that do not compress and cross the limits of the pieces.
    for number in 0..3000_u32 {
        plain.push(record::<O>(RecordType::SAMPLE, &[U32::<O>::new(number), U32::ZERO].as_bytes().repeat(5)));
    }
    for seed in 1..20 {
        plain.push(record::<O>(RecordType::SAMPLE, &noise(65520, seed)));
    }
    plain.push(record::<O>(RecordType::FINISHED_ROUND, &[]));
    let aux_payload = [U64::<O>::new(24), U64::ZERO, U64::ZERO, U64::ZERO, U64::ZERO];
    let aux = record::<O>(RecordType::AUXTRACE, aux_payload.as_bytes());
    let (before, behind) = plain.split_at(2000);
    before.iter().for_each(|record| writer.record(record).unwrap());
    writer.record_with_data(&aux, &[5; 24]).unwrap();
    behind.iter().for_each(|record| writer.record(record).unwrap());
    // A feature of another capture.
    writer.features().raw(Feature::COMPRESSED, b"stale").unwrap();
    let bytes = finish(writer);

    let file = File::open(&bytes).unwrap();
    let written = records(&file);
    assert!(written.len() > 20);
    let whole = written.iter().filter(|(record, _)| kind::<O>(record) != packed);
    let whole: Vec<_> = whole.collect();
    assert_eq!(whole, [&(aux.clone(), vec![5; 24])]);

    let aux = [&aux[..], &[5; 24]].concat();
    assert_eq!(decompressed::<O>(&written).concat(), [&before.concat(), &aux, &behind.concat()[..]].concat());

    // Noise keeps the ratio near 1.
    let compressed = [1, 1, 3, 1, 65536].map(U32::<O>::new);
    assert_eq!(file.feature(Feature::COMPRESSED).unwrap().bytes, compressed.as_bytes());
    let [count, offset, size] =
        <[U64<O>; 3]>::read_from_bytes(file.feature(Feature::AUXTRACE).unwrap().bytes)
            .unwrap()
            .map(|word| usize::try_from(word.get()).unwrap());
    // As perf, without the data.
    assert_eq!((count, size), (1, aux.len() - 24));
    assert_eq!(&bytes[offset..offset + aux.len()], &aux[..]);
}

#[test]
fn one_stream_around_what_must_not_be_in_it() {
    stream_in::<LittleEndian>(RecordType::COMPRESSED);
    stream_in::<BigEndian>(RecordType::COMPRESSED);
    stream_in::<LittleEndian>(RecordType::COMPRESSED2);
    stream_in::<BigEndian>(RecordType::COMPRESSED2);
}

#[test]
fn what_compresses_well_says_so() {
    let sizes = [1, 22].map(|level| {
        let mut writer = writer::<LittleEndian>(&options(RecordType::COMPRESSED, level));
        for _ in 0..5000 {
            writer.record(&record::<LittleEndian>(RecordType::SAMPLE, &[3; 64])).unwrap();
        }
        let bytes = finish(writer);
        let file = File::open(&bytes).unwrap();
        let fields =
            <[U32<LittleEndian>; 5]>::read_from_bytes(file.feature(Feature::COMPRESSED).unwrap().bytes);
        let fields = fields.unwrap().map(|field| field.get());
        assert_eq!(fields[2], u32::from(level));
        let packed: usize = records(&file).iter().map(|(record, _)| record.len() - 8).sum();
        let ratio = 5000.0 * 72.0 / packed as f64;
        assert_eq!(fields[3], ratio.round() as u32);
        assert!(ratio > 50.0);
        packed
    });
    assert!(sizes[0] < 10_000 && sizes[1] < 10_000, "{sizes:?}");
}

#[test]
fn a_flush_makes_all_records_readable() {
    type O = LittleEndian;
    let mut out = Vec::new();
    let options = options(RecordType::COMPRESSED, 1);
    let mut writer =
        PipeWriter::new(&mut out, &[], &FeaturePayloads::new_in(O::ENDIANNESS), &options).unwrap();
    let round = record::<O>(RecordType::FINISHED_ROUND, &[]);
    writer.record(&round).unwrap();
    writer.flush().unwrap();
    writer.record(&round).unwrap();
    drop(writer);
    let records = walk::<O>(&out[16..]);
    // COMPRESSED, whose ratio is unknown in a pipe, and the record that was flushed.
    let feature = [27, 0].map(U32::<O>::new);
    let fields = [1, 1, 1, 0, 65536].map(U32::<O>::new);
    let feature = record::<O>(RecordType::HEADER_FEATURE, &[feature.as_bytes(), fields.as_bytes()].concat());
    assert_eq!(records[0].0, feature);
    assert_eq!(decompressed::<O>(&records[1..]), [round]);
}
