//! perf-parse, used only through its public API, as a user would.

use std::io::Read;
use std::thread;

use perf_abi::endian::{ByteOrder, LittleEndian};
use perf_abi::record::RecordType;
use perf_abi::sample_type::SampleType;
use perf_parse::event::Events;
use perf_parse::file::EventRecords;
use perf_parse::list::List;
use perf_parse::{Error, EventRecord, RawRecord, Reader, Record, Records, Sample, SampleBatch};

use crate::failure::Failure;
use crate::sums::{Sums, add, add_some};

/// The fields that have a getter. All other fields are in the tail.
const LEADING: SampleType = SampleType::IDENTIFIER
    .union(SampleType::IP)
    .union(SampleType::TID)
    .union(SampleType::TIME)
    .union(SampleType::ADDR)
    .union(SampleType::ID)
    .union(SampleType::STREAM_ID)
    .union(SampleType::CPU)
    .union(SampleType::PERIOD);

/// Returns the events of a capture in memory.
///
/// # Errors
///
/// If it is not a capture.
pub(crate) fn events(file: &[u8]) -> Result<Events, Failure> {
    Ok(Reader::new(file)?.events().clone())
}

/// Reads only the headers.
///
/// # Errors
///
/// If a record is truncated.
#[inline(never)]
pub(crate) fn hop(records: &[u8]) -> Result<u64, Error> {
    Records::<LittleEndian>::new(records).try_fold(0, |sum, record| Ok(sum + u64::from(record?.size())))
}

/// Reads all fields of all records.
///
/// # Errors
///
/// If a record cannot be decoded.
#[inline(never)]
pub(crate) fn decode(events: &Events, records: &[u8]) -> Result<Sums, Failure> {
    let mut sums = Sums::default();
    for raw in Records::<LittleEndian>::new(records) {
        touch(&mut sums, events, &raw?)?;
    }
    Ok(sums)
}

/// The fields that [`columns`] adds up.
const COLUMNS: SampleType = LEADING.union(SampleType::CALLCHAIN).union(SampleType::RAW);

/// Returns whether batches have columns for all fields of all samples. They have none for registers and stacks.
pub(crate) fn in_columns(events: &Events) -> bool {
    events.iter().all(|event| COLUMNS.contains(event.attr.sample_type))
}

/// Reads all fields of all records, the samples in batches as far as a batch takes them. See [`in_columns`].
///
/// # Errors
///
/// If a record cannot be decoded.
#[inline(never)]
pub(crate) fn decode_batches(events: &Events, records: &[u8]) -> Result<Sums, Failure> {
    let mut sums = Sums::default();
    let mut records = Records::<LittleEndian>::new(records);
    let mut batch = SampleBatch::new(COLUMNS);
    loop {
        let bytes = events.next_batch(&mut records, &mut batch);
        columns(&mut sums, &batch, bytes);
        if !batch.is_full() {
            // The record that ended the batch.
            let Some(raw) = records.next() else { return Ok(sums) };
            touch(&mut sums, events, &raw?)?;
        }
    }
}

/// Reads the columns of a batch, whose samples are in `bytes`.
fn columns(sums: &mut Sums, batch: &SampleBatch, bytes: &[u8]) {
    fn sum<T: Copy>(sum: &mut u64, column: Option<&[T]>, value: impl Fn(T) -> u64) {
        add(sum, column.unwrap_or_default().iter().fold(0, |sum, &it| u64::wrapping_add(sum, value(it))));
    }
    sums.records += batch.len() as u64;
    sums.samples += batch.len() as u64;
    sum(&mut sums.event, batch.events(), u64::from);
    sum(&mut sums.ip, batch.ip(), |ip| ip);
    sum(&mut sums.pid, batch.pid(), |pid| pid as u32 as u64);
    sum(&mut sums.tid, batch.tid(), |tid| tid as u32 as u64);
    sum(&mut sums.time, batch.time(), |time| time);
    sum(&mut sums.addr, batch.addr(), |addr| addr);
    sum(&mut sums.cpu, batch.cpu(), u64::from);
    sum(&mut sums.period, batch.period(), |period| period);
    sum(&mut sums.raw, batch.raw(), |raw| raw.size.into());
    for chain in batch.callchain().unwrap_or_default() {
        let words = List::<u64, LittleEndian>::new_in((), chain.of(bytes));
        add(&mut sums.frames, words.len() as u64);
        add(&mut sums.callchain, self::sum(words));
    }
}

/// Reads the process ids of MMAP2 and COMM records.
///
/// # Errors
///
/// If such a record cannot be decoded.
#[inline(never)]
pub(crate) fn maps_and_comms(events: &Events, records: &[u8]) -> Result<Sums, Failure> {
    let mut sums = Sums::default();
    for raw in Records::<LittleEndian>::new(records) {
        let raw = raw?;
        if !matches!(raw.kind(), RecordType::MMAP2 | RecordType::COMM) {
            continue;
        }
        let index = events.of(&raw).map_err(|error| Failure(format!("{error:?}")))?;
        let Some(event) = index.and_then(|index| events.get(index)) else { continue };
        match raw.decode(&event.layout)? {
            Record::Mmap2(mmap) => add(&mut sums.others, mmap.pid as u32 as u64),
            Record::Comm(comm) => add(&mut sums.others, comm.pid as u32 as u64),
            _ => {}
        }
    }
    Ok(sums)
}

/// Reads all fields of all records of a capture in memory, in time order.
///
/// # Errors
///
/// If it is not a capture or a record cannot be decoded.
#[inline(never)]
pub(crate) fn by_time(file: &[u8]) -> Result<Sums, Failure> {
    sums_by_time(Reader::new(file)?.records().in_time_order())
}

/// Does the same, with another thread that finds the order ahead.
///
/// # Errors
///
/// If it is not a capture or a record cannot be decoded.
#[inline(never)]
pub(crate) fn by_time_ahead(file: &[u8]) -> Result<Sums, Failure> {
    let reader = Reader::new(file)?;
    thread::scope(|scope| sums_by_time(reader.records().in_time_order().order_ahead(scope)))
}

#[inline(never)]
fn sums_by_time(records: EventRecords<'_>) -> Result<Sums, Failure> {
    let mut sums = Sums::default();
    let mut last = 0;
    for record in records {
        let record = record?;
        if record.kind().is_user() {
            continue;
        }
        match record.sample() {
            Some(sample) => {
                sums.given(sample.time().unwrap_or_default(), &mut last);
                touch_sample(&mut sums, record.event_index().unwrap_or_default(), sample)?;
            }
            None => touch_other(&mut sums, &record.decode()?),
        }
    }
    Ok(sums)
}

/// Reads all fields of all records of a capture in memory, in the order of the capture.
///
/// # Errors
///
/// If it is not a capture or a record cannot be decoded.
#[inline(never)]
pub(crate) fn in_file_order(file: &[u8]) -> Result<Sums, Failure> {
    all(Reader::new(file)?.records())
}

/// Does the same, the samples in batches; see [`in_columns`].
///
/// # Errors
///
/// If it is not a capture or a record cannot be decoded.
#[inline(never)]
pub(crate) fn in_batches(file: &[u8]) -> Result<Sums, Failure> {
    all_in_batches(Reader::new(file)?.records())
}

/// Does the same, while a thread of its own decompresses.
///
/// # Errors
///
/// If it is not a capture or a record cannot be decoded.
#[inline(never)]
pub(crate) fn in_batches_ahead(file: &[u8]) -> Result<Sums, Failure> {
    all_in_batches(Reader::new(file)?.records().decompress_ahead())
}

/// Reads all fields of all records of a pipe.
///
/// # Errors
///
/// If it is not a capture or a record cannot be decoded.
#[inline(never)]
pub(crate) fn pipe(input: impl Read + Send) -> Result<Sums, Failure> {
    all(Reader::stream(input)?.records())
}

/// Does the same, the samples in batches; see [`in_columns`].
///
/// # Errors
///
/// If it is not a capture or a record cannot be decoded.
#[inline(never)]
pub(crate) fn pipe_in_batches(input: impl Read + Send) -> Result<Sums, Failure> {
    all_in_batches(Reader::stream(input)?.records())
}

/// Reads all fields of all records of a walk.
///
/// # Errors
///
/// If a record cannot be decoded.
#[inline(always)]
pub(crate) fn all(records: EventRecords<'_>) -> Result<Sums, Failure> {
    let mut sums = Sums::default();
    for record in records {
        touch_one(&mut sums, &record?)?;
    }
    Ok(sums)
}

/// Reads all fields of all records of a walk, the samples in batches as far as a batch takes them.
fn all_in_batches(mut records: EventRecords<'_>) -> Result<Sums, Failure> {
    let mut sums = Sums::default();
    let mut batch = SampleBatch::new(COLUMNS);
    loop {
        let bytes = records.next_batch(&mut batch);
        columns(&mut sums, &batch, bytes);
        if !batch.is_full() {
            let Some(record) = records.next() else { return Ok(sums) };
            touch_one(&mut sums, &record?)?;
        }
    }
}

#[inline(always)]
fn touch_one(sums: &mut Sums, record: &EventRecord<'_>) -> Result<(), Failure> {
    if record.kind().is_user() {
        return Ok(());
    }
    match record.sample() {
        Some(sample) => touch_sample(sums, record.event_index().unwrap_or_default(), sample)?,
        None => touch_other(sums, &record.decode()?),
    }
    Ok(())
}

/// Reads all fields of a record, if its event is known.
///
/// # Errors
///
/// If it cannot be decoded.
#[inline(always)]
fn touch(sums: &mut Sums, events: &Events, raw: &RawRecord<'_, LittleEndian>) -> Result<(), Failure> {
    let index = events.of(raw).map_err(|error| Failure(format!("{error:?}")))?;
    let Some((index, event)) = index.and_then(|index| Some((index, events.get(index)?))) else {
        return Ok(());
    };
    match raw.sample(&event.layout) {
        Some(sample) => touch_sample(sums, index, sample)?,
        None => touch_other(sums, &raw.decode(&event.layout)?),
    }
    Ok(())
}

/// Reads the process id of a record that is not a sample.
#[inline(always)]
pub(crate) fn touch_other<O: ByteOrder>(sums: &mut Sums, record: &Record<'_, O>) {
    sums.records += 1;
    match record {
        Record::Mmap(mmap) => add(&mut sums.others, mmap.pid as u32 as u64),
        Record::Mmap2(mmap) => add(&mut sums.others, mmap.pid as u32 as u64),
        Record::Comm(comm) => add(&mut sums.others, comm.pid as u32 as u64),
        _ => {}
    }
}

/// Reads all fields of a sample.
///
/// # Errors
///
/// If the fields after the leading ones cannot be decoded.
#[inline(always)]
pub(crate) fn touch_sample<O: ByteOrder>(
    sums: &mut Sums,
    event: usize,
    sample: Sample<'_, O>,
) -> Result<(), Error> {
    sums.records += 1;
    sums.samples += 1;
    add(&mut sums.event, event as u64);
    add_some(&mut sums.ip, sample.ip());
    add_some(&mut sums.pid, sample.pid().map(|pid| pid as u32));
    add_some(&mut sums.tid, sample.tid().map(|tid| tid as u32));
    add_some(&mut sums.time, sample.time());
    add_some(&mut sums.addr, sample.addr());
    add_some(&mut sums.cpu, sample.cpu());
    add_some(&mut sums.period, sample.period());
    if sample.layout().sample_type().without(LEADING) != SampleType::NONE {
        touch_tail(sums, sample)?;
    }
    Ok(())
}

/// Reads the fields after the leading ones. As in the floor, it is a separate function so that the loop
/// keeps its registers.
#[inline(never)]
fn touch_tail<O: ByteOrder>(sums: &mut Sums, sample: Sample<'_, O>) -> Result<(), Error> {
    let tail = sample.tail()?;
    if let Some(chain) = tail.callchain {
        add(&mut sums.frames, chain.words().len() as u64);
        add(&mut sums.callchain, sum(chain.words()));
    }
    if let Some(raw) = tail.raw {
        add(&mut sums.raw, raw.len() as u64);
    }
    if let Some(regs) = tail.regs_user {
        add(&mut sums.regs_user, sum(regs.values));
    }
    if let Some(stack) = tail.stack_user {
        let copied = stack.copied();
        add(&mut sums.stack_user, copied.len() as u64);
        add_some(&mut sums.stack_first, copied.first().copied());
    }
    Ok(())
}

/// Returns the sum of words.
#[inline(always)]
fn sum<O: ByteOrder>(words: List<'_, u64, O>) -> u64 {
    words.iter().fold(0, u64::wrapping_add)
}
