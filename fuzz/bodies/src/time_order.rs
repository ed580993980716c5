//! A capture of samples in arbitrary time order, with or without rounds, some of them compressed. It is read with
//! small limits on the number of held records or on the bytes of their copies. The order equals that of a plain
//! model, in memory, with another thread that orders ahead, and in a stream.

use perf_abi::attr::{Attr, AttrVersion};
use perf_abi::endian::{BigEndian, Endian, LittleEndian, U64};
use perf_abi::file::{MAGIC, PipeHeader};
use perf_abi::record::{Header, Misc, RecordType};
use perf_abi::sample_type::SampleType;
use perf_parse::file::{EventRecords, Limits};
use perf_parse::{Reader, Record};
use zerocopy::IntoBytes;

/// Meaning of an input byte: the end of a round, the end of a compressed run, or otherwise the time of a sample.
const ROUND: u8 = 255;
const END_OF_RUN: u8 = 254;
/// Bit of the second byte: big-endian.
const BIG: u8 = 1;
/// Bit of the second byte: every other run is compressed.
const COMPRESSED: u8 = 2;

/// Bytes of the copy of a sample: its place, header, time and period.
const COPY: usize = 24 + 24;

/// The first byte of `data` determines the limits: its low half is the number of records; its high half is the bytes
/// of copies, in halves of a copy, with 0 for no limit. The second byte has the bits. Each other byte is a record.
pub fn run(data: &[u8]) -> bool {
    let Some((&[limit, bits], steps)) = data.split_first_chunk() else { return false };
    let mut limits = Limits::default();
    limits.held_records = usize::from(limit % 16);
    if limit >= 16 {
        limits.held_bytes = usize::from(limit / 16) * COPY / 2;
    }
    if bits & BIG != 0 {
        check::<BigEndian>(&limits, bits, steps);
    } else {
        check::<LittleEndian>(&limits, bits, steps);
    }
    true
}

fn check<O: Endian>(limits: &Limits, bits: u8, steps: &[u8]) {
    let capture = capture::<O>(bits, steps);
    let in_memory = Reader::new_within(&capture, limits).expect("it was just made");
    let expected = model(limits, steps, |is_packed| is_packed && bits & COMPRESSED != 0);
    assert_eq!(read(in_memory.records().in_time_order()), expected);
    let ahead = std::thread::scope(|scope| read(in_memory.records().in_time_order().order_ahead(scope)));
    assert_eq!(ahead, expected);
    let expected = model(limits, steps, |_| true);
    let stream = Reader::stream_within(capture.as_slice(), limits).expect("it was just made");
    assert_eq!(read(stream.records().in_time_order()), expected);
}

/// A record: its time and the index of its step. The end of a round has time 0.
type Given = (u64, u64);

/// Returns the records in time order and the number of late ones.
fn read(mut records: EventRecords<'_>) -> (Vec<Given>, u64) {
    let mut given = Vec::new();
    for record in &mut records {
        let record = record.expect("the capture is whole");
        match record.decode().expect("the record is whole") {
            Record::Sample(sample) => {
                given.push((sample.time().unwrap_or_default(), sample.period().unwrap_or_default()));
            }
            Record::User(..) if record.kind() == RecordType::FINISHED_ROUND => {
                given.push((0, record.misc().0.into()));
            }
            _ => {}
        }
    }
    assert!(records.account().is_clean(), "{:?}", records.account());
    (given, records.account().late)
}

/// The documented order. At the end of a round, records earlier than the previous round are released. If the number
/// of held records reaches its limit, the earlier half is released; if the bytes of copies reach theirs, the earlier
/// half of the bytes. Equal times keep the order of the capture. `is_copied` returns whether the records of a run are
/// copied, depending on whether the run is one of those that may be compressed.
fn model(limits: &Limits, steps: &[u8], is_copied: impl Fn(bool) -> bool) -> (Vec<Given>, u64) {
    // Each held record has the bytes of its copy.
    let (mut given, mut held) = (Vec::<Given>::new(), Vec::<(Given, usize)>::new());
    let mut is_packed = false;
    let (mut latest, mut latest_of_last_round, mut late) = (0, 0, 0);
    // The latest time among the records returned so far.
    let (mut last, mut seen) = (0, 0);
    for (&step, index) in steps.iter().zip(0_u64..) {
        match step {
            END_OF_RUN => is_packed = !is_packed,
            ROUND => {
                // `misc` has 16 bits for the index.
                given.push((0, index & 0xffff));
                held.sort_by_key(|&((time, _), _)| time);
                let now = held.partition_point(|&((time, _), _)| time <= latest_of_last_round);
                given.extend(held.drain(..now).map(|(record, _)| record));
                latest_of_last_round = latest;
            }
            0 => given.push((0, index)),
            _ => {
                let time = u64::from(step);
                last = given.iter().skip(seen).fold(last, |last, &(time, _)| last.max(time));
                seen = given.len();
                late += u64::from(last > time);
                held.push(((time, index), if is_copied(is_packed) { COPY } else { 0 }));
                latest = latest.max(time);
                loop {
                    let now = half(limits, &mut held);
                    if now == 0 {
                        break;
                    }
                    given.extend(held.drain(..now).map(|(record, _)| record));
                }
            }
        }
    }
    held.sort_by_key(|&((time, _), _)| time);
    given.extend(held.into_iter().map(|(record, _)| record));
    (given, late)
}

/// Sorts the held records if they have reached a limit, and returns how many of them to release; 0 if they have not.
fn half(limits: &Limits, held: &mut [(Given, usize)]) -> usize {
    held.sort_by_key(|&((time, _), _)| time);
    let bytes: usize = held.iter().map(|&(_, bytes)| bytes).sum();
    if held.len() >= limits.held_records.max(1) {
        return (held.len() / 2).max(1);
    }
    if bytes < limits.held_bytes.max(1) {
        return 0;
    }
    let mut gone = 0;
    let before = held.iter().take_while(|&&(_, bytes_of_one)| {
        let goes = gone < bytes.div_ceil(2);
        gone += bytes_of_one;
        goes
    });
    before.count()
}

/// Makes a stream of the records.
fn capture<O: Endian>(bits: u8, steps: &[u8]) -> Vec<u8> {
    let magic = PipeHeader::<O> { magic: U64::new(MAGIC), size: U64::new(16) };
    let mut out = magic.as_bytes().to_vec();
    let attr = Attr { sample_type: SampleType::TIME | SampleType::PERIOD, ..Attr::default() };
    let attr = attr.write::<O>(AttrVersion::VER0).expect("the oldest version has these");
    record::<O>(&mut out, RecordType::HEADER_ATTR, 0, &[&attr]);
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
        // More than fits in a record makes several runs.
        if run.len() > 60_000 {
            end_run::<O>(&mut out, &mut run, is_packed);
        }
    }
    end_run::<O>(&mut out, &mut run, is_packed);
    out
}

/// Appends a run of records, unchanged or as a zstd frame with one block that is not compressed further.
fn end_run<O: Endian>(out: &mut Vec<u8>, run: &mut Vec<u8>, is_packed: bool) {
    if is_packed && !run.is_empty() {
        // The magic, an empty descriptor, a window of 1 KiB << 6; then the header of a last block.
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
