//! The same work as the loops in [`hand`](super::hand), done with perf-parse.

use std::hint::black_box;

use perf_abi::endian::{ByteOrder, Endianness, LittleEndian};
use perf_abi::record::RecordType;
use perf_abi::sample_type::SampleType;
use perf_parse::file::EventRecords;
use perf_parse::list::List;
use perf_parse::sample::ChainFrame;
use perf_parse::{Error, Reader, Record, Records, Sample, SampleBatch};

use super::capture::Capture;
use super::sums::{Sums, add, add_bytes};
use super::way::Outcome;

/// Walks from header to header and adds up the sizes.
pub(crate) fn hop(capture: &Capture) -> Outcome {
    let mut sums = Sums::default();
    for record in Records::<LittleEndian>::new(&capture.bytes) {
        add(&mut sums.sizes, record?.size().into());
    }
    Ok(sums)
}

/// Walks over the samples by [`Sample::parse`], adds up their leading fields, and passes each sample to `rest`.
#[inline(always)]
fn viewed<'c, O: ByteOrder>(
    order: O::Value,
    capture: &'c Capture,
    rest: impl Fn(&mut Sums, &Sample<'c, O>) -> Result<(), Error>,
) -> Outcome {
    let mut sums = Sums::default();
    let layout = &capture.events[0].layout;
    for record in Records::<O>::new_in(order, &capture.bytes) {
        let record = record?;
        if record.kind() == RecordType::SAMPLE {
            let sample = Sample::parse(layout, &record)?;
            leading(&mut sums, &sample);
            rest(&mut sums, &sample)?;
        }
    }
    Ok(sums)
}

/// Walks over the records by [`RawRecord::decode`](perf_parse::RawRecord::decode), adds up the leading fields of the
/// samples, and passes each sample to `rest`.
#[inline(always)]
fn decoded<'c>(
    capture: &'c Capture,
    rest: impl Fn(&mut Sums, &Sample<'c, LittleEndian>) -> Result<(), Error>,
) -> Outcome {
    let mut sums = Sums::default();
    let layout = &capture.events[0].layout;
    for record in Records::new(&capture.bytes) {
        if let Record::Sample(sample) = record?.decode(layout)? {
            leading(&mut sums, &sample);
            rest(&mut sums, &sample)?;
        }
    }
    Ok(sums)
}

/// Adds up the leading fields. Fields that are not recorded add nothing.
#[inline(always)]
pub(super) fn leading<O: ByteOrder>(sums: &mut Sums, sample: &Sample<'_, O>) {
    sums.samples += 1;
    add(&mut sums.ip, sample.ip().unwrap_or_default());
    add(&mut sums.pid, sample.pid().unwrap_or_default() as u32 as u64);
    add(&mut sums.tid, sample.tid().unwrap_or_default() as u32 as u64);
    add(&mut sums.time, sample.time().unwrap_or_default());
    add(&mut sums.cpu, sample.cpu().unwrap_or_default().into());
    add(&mut sums.period, sample.period().unwrap_or_default());
}

/// Returns the sum of words.
#[inline(always)]
fn sum<O: ByteOrder>(words: List<'_, u64, O>) -> u64 {
    words.iter().fold(0, u64::wrapping_add)
}

/// Decodes all fields after the leading ones.
#[inline(always)]
fn tail<O: ByteOrder>(sums: &mut Sums, sample: &Sample<'_, O>) -> Result<(), Error> {
    let tail = sample.tail()?;
    if let Some(chain) = tail.callchain {
        add(&mut sums.callchain, sum(chain.words()));
    }
    if let Some(raw) = tail.raw {
        add_bytes(&mut sums.raw, raw);
    }
    if let Some(regs) = tail.regs_user {
        add(&mut sums.regs_user, sum(regs.values));
    }
    if let Some(stack) = tail.stack_user {
        add_bytes(&mut sums.stack_user, stack.copied());
    }
    Ok(())
}

/// Reads samples that have only leading fields, by [`Sample::parse`].
pub(crate) fn sample(capture: &Capture) -> Outcome {
    viewed::<LittleEndian>((), capture, |_, _| Ok(()))
}

/// Like [`sample`], but calls the getter of every leading field, recorded or not.
pub(crate) fn getters(capture: &Capture) -> Outcome {
    viewed::<LittleEndian>((), capture, |sums, sample| {
        add(&mut sums.ip, sample.identifier().unwrap_or_default());
        add(&mut sums.ip, sample.addr().unwrap_or_default());
        add(&mut sums.ip, sample.id().unwrap_or_default());
        add(&mut sums.ip, sample.stream_id().unwrap_or_default());
        Ok(())
    })
}

/// Reads samples that have only leading fields, by [`RawRecord::decode`](perf_parse::RawRecord::decode).
pub(crate) fn decode(capture: &Capture) -> Outcome {
    decoded(capture, |_, _| Ok(()))
}

/// Reads samples with a call chain, by [`Sample::callchain`] instead of [`Sample::tail`].
pub(crate) fn chain(capture: &Capture) -> Outcome {
    viewed::<LittleEndian>((), capture, call_chain)
}

#[inline(always)]
fn call_chain<O: ByteOrder>(sums: &mut Sums, sample: &Sample<'_, O>) -> Result<(), Error> {
    if let Some(chain) = sample.callchain()? {
        add(&mut sums.callchain, sum(chain.words()));
    }
    Ok(())
}

/// Returns the byte order of all captures. The compiler does not know it.
fn order() -> Endianness {
    black_box(Endianness::Little)
}

/// Like [`sample`], with a byte order that is known only at run time.
pub(crate) fn sample_at_run_time(capture: &Capture) -> Outcome {
    viewed::<Endianness>(order(), capture, |_, _| Ok(()))
}

/// Like [`chain`], with a byte order that is known only at run time.
pub(crate) fn chain_at_run_time(capture: &Capture) -> Outcome {
    viewed::<Endianness>(order(), capture, call_chain)
}

/// Like [`sample_tail`], with a byte order that is known only at run time.
pub(crate) fn tail_at_run_time(capture: &Capture) -> Outcome {
    viewed::<Endianness>(order(), capture, tail)
}

/// Reads samples with fields after the leading ones, by [`Sample::parse`].
pub(crate) fn sample_tail(capture: &Capture) -> Outcome {
    viewed::<LittleEndian>((), capture, tail)
}

/// Reads samples with fields after the leading ones, by [`RawRecord::decode`](perf_parse::RawRecord::decode).
pub(crate) fn decode_tail(capture: &Capture) -> Outcome {
    decoded(capture, tail)
}

/// The fields that [`columns`] adds up.
const COLUMNS: SampleType = SampleType::IP
    .union(SampleType::TID)
    .union(SampleType::TIME)
    .union(SampleType::CPU)
    .union(SampleType::PERIOD)
    .union(SampleType::CALLCHAIN)
    .union(SampleType::RAW)
    .union(SampleType::STACK_USER);

/// Adds up the columns of a batch, whose samples are in `bytes`.
#[inline(always)]
fn columns(sums: &mut Sums, batch: &SampleBatch, bytes: &[u8]) {
    fn sum<T: Copy>(column: Option<&[T]>, value: impl Fn(T) -> u64) -> u64 {
        column.unwrap_or_default().iter().fold(0, |sum: u64, &it| sum.wrapping_add(value(it)))
    }
    sums.samples += batch.len() as u64;
    add(&mut sums.event, sum(batch.events(), u64::from));
    add(&mut sums.ip, sum(batch.ip(), |ip| ip));
    add(&mut sums.pid, sum(batch.pid(), |pid| pid as u32 as u64));
    add(&mut sums.tid, sum(batch.tid(), |tid| tid as u32 as u64));
    add(&mut sums.time, sum(batch.time(), |time| time));
    add(&mut sums.cpu, sum(batch.cpu(), u64::from));
    add(&mut sums.period, sum(batch.period(), |period| period));
    for chain in batch.callchain().unwrap_or_default() {
        add(&mut sums.callchain, self::sum(List::<u64, LittleEndian>::new_in((), chain.of(bytes))));
    }
    for raw in batch.raw().unwrap_or_default() {
        add_bytes(&mut sums.raw, raw.of(bytes));
    }
}

/// Reads samples of one layout in batches.
pub(crate) fn batches(capture: &Capture) -> Outcome {
    let mut sums = Sums::default();
    let layout = &capture.events[0].layout;
    let mut records = Records::<LittleEndian>::new(&capture.bytes);
    let mut batch = SampleBatch::new(COLUMNS);
    loop {
        let bytes = records.next_batch(layout, &mut batch);
        columns(&mut sums, &batch, bytes);
        if !batch.is_full() {
            match records.next() {
                Some(record) => _ = record?.decode(layout)?,
                None => return Ok(sums),
            }
        }
    }
}

/// Reads samples of several events in batches.
pub(crate) fn batches_of_events(capture: &Capture) -> Outcome {
    let mut sums = Sums::default();
    let mut records = Records::<LittleEndian>::new(&capture.bytes);
    let mut batch = SampleBatch::new(COLUMNS);
    loop {
        let bytes = capture.events.next_batch(&mut records, &mut batch);
        columns(&mut sums, &batch, bytes);
        if !batch.is_full() {
            match records.next() {
                Some(record) => _ = capture.events.of(&record?).map_err(|kind| kind.to_string())?,
                None => return Ok(sums),
            }
        }
    }
}

/// Reads samples of several events. [`Events::of`](perf_parse::event::Events::of) finds the event of each.
pub(crate) fn events(capture: &Capture) -> Outcome {
    let mut sums = Sums::default();
    for record in Records::<LittleEndian>::new(&capture.bytes) {
        let record = record?;
        let Some(index) = capture.events.of(&record).map_err(|kind| kind.to_string())? else { continue };
        if let Record::Sample(sample) = record.decode(&capture.events[index].layout)? {
            add(&mut sums.event, index as u64);
            leading(&mut sums, &sample);
        }
    }
    Ok(sums)
}

/// Decodes records of several types, and reads the times of those that are not samples.
pub(crate) fn records(capture: &Capture) -> Outcome {
    let mut sums = Sums::default();
    let layout = &capture.events[0].layout;
    for record in Records::<LittleEndian>::new(&capture.bytes) {
        let raw = record?;
        match raw.decode(layout)? {
            Record::Sample(sample) => {
                leading(&mut sums, &sample);
                continue;
            }
            Record::Mmap2(it) => {
                let length = it.filename.len() as u64;
                add(&mut sums.mmap2, it.addr.wrapping_add(it.len).wrapping_add(length));
            }
            Record::Comm(it) => add(&mut sums.comm, u64::from(it.tid as u32) + it.comm.len() as u64),
            Record::Fork(it) | Record::Exit(it) => {
                add(&mut sums.task, u64::from(it.tid as u32).wrapping_add(it.time));
            }
            Record::Lost(it) => add(&mut sums.lost, it.lost),
            _ => {}
        }
        if let Some(id) = raw.sample_id(layout)? {
            add(&mut sums.trailer, id.time().unwrap_or_default());
        }
    }
    Ok(sums)
}

/// Opens a file, walks over its records in file order, and adds up their sizes.
pub(crate) fn file_hop(capture: &Capture) -> Outcome {
    let mut sums = Sums::default();
    for record in Reader::new(&capture.bytes)?.records() {
        add(&mut sums.sizes, record?.raw().size().into());
    }
    Ok(sums)
}

/// Opens a file and reads every record in file order.
pub(crate) fn file_order(capture: &Capture) -> Outcome {
    file(Reader::new(&capture.bytes)?.records())
}

/// Opens a file and reads every record in file order, the samples in batches.
pub(crate) fn file_batches(capture: &Capture) -> Outcome {
    let mut sums = Sums::default();
    let reader = Reader::new(&capture.bytes)?;
    let mut records = reader.records();
    let mut batch = SampleBatch::new(COLUMNS);
    loop {
        let bytes = records.next_batch(&mut batch);
        columns(&mut sums, &batch, bytes);
        if !batch.is_full() {
            match records.next() {
                Some(record) => _ = record?.decode()?,
                None => return Ok(sums),
            }
        }
    }
}

/// Opens a file and reads every record in time order.
pub(crate) fn time_order(capture: &Capture) -> Outcome {
    file(Reader::new(&capture.bytes)?.records().in_time_order())
}

/// Records without a container, in time order.
pub(crate) fn ring_time_order(capture: &Capture) -> Outcome {
    let reader = Reader::from_records(capture.events.clone(), Endianness::Little, &capture.bytes);
    file(reader.records().in_time_order())
}

#[inline(always)]
fn file(records: EventRecords<'_>) -> Outcome {
    let mut sums = Sums::default();
    for record in records {
        if let Record::Sample(sample) = record?.decode()? {
            leading(&mut sums, &sample);
        }
    }
    Ok(sums)
}

/// Samples with their call chains, if they have any, each frame of its own.
pub(crate) fn chains(capture: &Capture) -> Outcome {
    let mut sums = Sums::default();
    let reader = Reader::from_records(capture.events.clone(), Endianness::Little, &capture.bytes);
    for record in reader.records() {
        let record = record?;
        let sample = record.sample().ok_or("a sample")?;
        leading(&mut sums, &sample);
        match record.callchain()? {
            Some(chain) => chain.frames().for_each(|frame| {
                if let ChainFrame::Ip { ip, .. } = frame {
                    add(&mut sums.callchain, ip);
                }
            }),
            None => add(&mut sums.callchain, sample.ip().unwrap_or_default()),
        }
    }
    Ok(sums)
}

/// The same with a session: the thread of each sample, and the mapping of each frame.
pub(crate) fn session(capture: &Capture) -> Outcome {
    let mut sums = Sums::default();
    let session = &mut *capture.session.borrow_mut();
    let reader = Reader::from_records(capture.events.clone(), Endianness::Little, &capture.bytes);
    for record in reader.records() {
        let record = record?;
        let at = session.update_at(&record)?.ok_or("a sample")?;
        leading(&mut sums, &at.sample());
        black_box(at.thread().comm().len());
        for frame in at.stack(None)? {
            black_box(frame.mapping.ok_or("a mapping")?.pgoff());
            add(&mut sums.callchain, frame.ip);
        }
    }
    Ok(sums)
}
