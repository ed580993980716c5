//! A capture made of samples whose times are out of order, in rounds or without, some of them compressed, read with few
//! of them held back: the order is the one that a plain model gives, in memory as in a stream.

use perf_abi::attr::{Attr, AttrVersion};
use perf_abi::endian::{BigEndian, Endian, LittleEndian, U64};
use perf_abi::file::{MAGIC, PipeHeader};
use perf_abi::record::{Header, Misc, RecordType};
use perf_abi::sample_type::SampleType;
use perf_parse::Record;
use perf_parse::file::{AnyReader, Reader, Source};
use zerocopy::IntoBytes;

/// What a byte of the input is: the end of a round, the end of a compressed run, or a sample whose time it is.
const ROUND: u8 = 255;
const END_OF_RUN: u8 = 254;
/// Bit of the second byte: big-endian.
const BIG: u8 = 1;
/// Bit of the second byte: the runs, in turn, are compressed.
const COMPRESSED: u8 = 2;

/// The first byte of `data` makes the limit, the second is bits, each other one is a record.
pub fn run(data: &[u8]) -> bool {
    let Some((&[limit, bits], steps)) = data.split_first_chunk() else { return false };
    let limit = usize::from(limit % 16);
    if bits & BIG != 0 {
        check::<BigEndian>(limit, bits, steps);
    } else {
        check::<LittleEndian>(limit, bits, steps);
    }
    true
}

fn check<O: Endian>(limit: usize, bits: u8, steps: &[u8]) {
    let capture = capture::<O>(bits, steps);
    let (expected, late) = model(limit.max(2), steps);
    let in_memory = Reader::<O>::open(&capture).expect("it was just made");
    assert_eq!(read(in_memory, limit), (expected.clone(), late));
    match AnyReader::stream(capture.as_slice()).expect("it was just made") {
        AnyReader::Little(reader) => assert_eq!(read(reader, limit), (expected, late)),
        AnyReader::Big(reader) => assert_eq!(read(reader, limit), (expected, late)),
    }
}

/// A record: its time, and which step it is of. Of the end of a round the time is 0.
type Given = (u64, u64);

/// The records by time, and how many are late.
fn read<O: Endian, S: Source>(mut reader: Reader<'_, O, S>, limit: usize) -> (Vec<Given>, u64) {
    reader.in_time_order_within(limit);
    let mut given = Vec::new();
    while let Some(record) = reader.next().expect("the capture is whole") {
        match record.decode().expect("the record is whole") {
            Record::Sample(sample) => {
                given.push((sample.time().unwrap_or_default(), sample.period().unwrap_or_default()));
            }
            Record::User(..) if record.raw.kind() == RecordType::FINISHED_ROUND => {
                given.push((0, record.raw.misc().0.into()));
            }
            _ => {}
        }
    }
    assert!(reader.account().is_clean(), "{:?}", reader.account());
    (given, reader.account().late)
}

/// The order as the documentation has it: what is earlier than the round before goes when a round ends, the earlier half
/// when as many as the limit are held, equal times in the order of the capture.
fn model(limit: usize, steps: &[u8]) -> (Vec<Given>, u64) {
    let (mut given, mut held) = (Vec::<Given>::new(), Vec::<Given>::new());
    let (mut latest, mut latest_of_last_round, mut late) = (0, 0, 0);
    // The latest time among the first of those given.
    let (mut last, mut seen) = (0, 0);
    for (&step, index) in steps.iter().zip(0_u64..) {
        match step {
            END_OF_RUN => {}
            ROUND => {
                // Misc has 16 bits for the index.
                given.push((0, index & 0xffff));
                held.sort_by_key(|&(time, _)| time);
                let now = held.partition_point(|&(time, _)| time <= latest_of_last_round);
                given.extend(held.drain(..now));
                latest_of_last_round = latest;
            }
            0 => given.push((0, index)),
            _ => {
                let time = u64::from(step);
                last = given.iter().skip(seen).fold(last, |last, &(time, _)| last.max(time));
                seen = given.len();
                late += u64::from(last > time);
                held.push((time, index));
                latest = latest.max(time);
                if held.len() >= limit {
                    held.sort_by_key(|&(time, _)| time);
                    given.extend(held.drain(..held.len() / 2));
                }
            }
        }
    }
    held.sort_by_key(|&(time, _)| time);
    given.append(&mut held);
    (given, late)
}

/// A stream of the records.
fn capture<O: Endian>(bits: u8, steps: &[u8]) -> Vec<u8> {
    let magic = PipeHeader::<O> { magic: U64::new(MAGIC), size: U64::new(16) };
    let mut out = magic.as_bytes().to_vec();
    let attr = Attr { sample_type: SampleType::TIME | SampleType::PERIOD, ..Attr::default() };
    let attr = attr.write::<O>(AttrVersion::VER0).expect("the oldest version has these");
    record::<O>(&mut out, RecordType::HEADER_ATTR, 0, &[&attr[..AttrVersion::VER0.size() as usize]]);
    let (mut run, mut is_packed) = (Vec::new(), false);
    for (&step, index) in steps.iter().zip(0_u64..) {
        match step {
            END_OF_RUN => {
                end_run::<O>(&mut out, &mut run, is_packed);
                is_packed = !is_packed && bits & COMPRESSED != 0;
            }
            ROUND => record::<O>(&mut run, RecordType::FINISHED_ROUND, index as u16, &[]),
            time => {
                let [time, index] = [time.into(), index].map(U64::<O>::new);
                record::<O>(&mut run, RecordType::SAMPLE, 2, &[time.as_bytes(), index.as_bytes()]);
            }
        }
        // More than a record can hold is more than one run.
        if run.len() > 60_000 {
            end_run::<O>(&mut out, &mut run, is_packed);
        }
    }
    end_run::<O>(&mut out, &mut run, is_packed);
    out
}

/// Appends a run of records, as it is or as a zstd frame of one block that is not compressed further.
fn end_run<O: Endian>(out: &mut Vec<u8>, run: &mut Vec<u8>, is_packed: bool) {
    if is_packed && !run.is_empty() {
        // The magic, a descriptor that says nothing, a window of 1 KiB << 6; then the header of a last block.
        let frame = [0x28, 0xb5, 0x2f, 0xfd, 0, 6 << 3];
        let block = (run.len() as u32) << 3 | 1;
        let [low, middle, high, _] = block.to_le_bytes();
        record::<O>(out, RecordType::COMPRESSED, 0, &[&frame, &[low, middle, high], run.as_slice()]);
    } else {
        out.extend_from_slice(run);
    }
    run.clear();
}

fn record<O: Endian>(out: &mut Vec<u8>, kind: RecordType, misc: u16, payload: &[&[u8]]) {
    let size = 8 + payload.iter().map(|part| part.len()).sum::<usize>();
    let size = u16::try_from(size).expect("a record is short");
    out.extend_from_slice(Header::<O>::new(kind, Misc(misc), size).as_bytes());
    payload.iter().for_each(|part| out.extend_from_slice(part));
}
