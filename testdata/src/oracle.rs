//! The oracle: a decoder that turns records, feature sections and the `format` texts of tracepoints into plain owned
//! values, field by field in the order in which the kernel or perf writes them.
//!
//! The decoder of perf-parse must return the same values. The oracle therefore shares no code with
//! it: numbers are read by the crate `byteorder`, byte order is a run-time `bool`, and record numbers,
//! bits and masks are literals. It is slow and allocates freely.
//!
//! Kernel: `perf_output_sample`, `perf_event__output_id_sample` and the `perf_event_*_output` functions of
//! `kernel/events/core.c`.

mod attr;
mod body;
mod branch;
mod choices;
mod feature;
mod format;
mod read;
mod reader;
mod readings;
mod sample;
mod simpleperf;
#[cfg(test)]
mod tests;
mod user;
mod value;

pub use body::{Body, Mmap2Id, Namespace};
pub use branch::{Branch, BranchStack};
pub use feature::feature;
pub use format::{FormatText, format, tracing_data};
pub use read::{Read, ReadValue};
pub use reader::Reader;
pub use readings::Readings;
pub use sample::{Regs, Sample, SimdRegs, Stack, WeightStruct};
pub use user::user;
pub use value::Value;

use perf_abi::attr::Attr;

const PERF_RECORD_SAMPLE: u32 = 9;
const PERF_RECORD_KSYMBOL: u32 = 17;
const PERF_RECORD_BPF_EVENT: u32 = 18;
const PERF_RECORD_USER_TYPE_START: u32 = 64;
const SIMPLE_PERF_RECORD_TYPES: core::ops::Range<u32> = 32768..65536;

/// The flag `sample_id_all` of an attr.
const SAMPLE_ID_ALL: u64 = 1 << 18;

const PERF_SAMPLE_TID: u64 = 1 << 1;
const PERF_SAMPLE_TIME: u64 = 1 << 2;
const PERF_SAMPLE_ID: u64 = 1 << 6;
const PERF_SAMPLE_CPU: u64 = 1 << 7;
const PERF_SAMPLE_STREAM_ID: u64 = 1 << 9;
const PERF_SAMPLE_IDENTIFIER: u64 = 1 << 16;

/// A record with its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// `header.type`.
    pub kind: u32,
    /// `header.misc`.
    pub misc: u16,
    /// `header.size`.
    pub size: u32,
    /// The payload between the header and the trailer.
    pub body: Body,
    /// The trailer. `None` in samples, in the perf tool's records, and without `sample_id_all`.
    pub sample_id: Option<SampleId>,
}

/// The trailer of records other than samples. Fields that the `sample_type` does not have are `None`.
///
/// Kernel: `perf_event__output_id_sample`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampleId {
    /// `PERF_SAMPLE_TID`.
    pub pid: Option<i32>,
    /// `PERF_SAMPLE_TID`.
    pub tid: Option<i32>,
    /// `PERF_SAMPLE_TIME`.
    pub time: Option<u64>,
    /// `PERF_SAMPLE_ID`.
    pub id: Option<u64>,
    /// `PERF_SAMPLE_STREAM_ID`.
    pub stream_id: Option<u64>,
    /// `PERF_SAMPLE_CPU`.
    pub cpu: Option<u32>,
    /// `PERF_SAMPLE_IDENTIFIER`.
    pub identifier: Option<u64>,
}

/// Decodes `bytes`, which are one record of an event with this `attr`; `big` means big-endian byte order.
///
/// # Errors
///
/// A message with the field that needs more bytes than there are, the number of bytes left over,
/// or an unknown bit of `attr`: a `sample_type` bit in samples, a `read_format` bit if the record
/// has counter values.
pub fn record(attr: &Attr, big: bool, bytes: &[u8]) -> Result<Record, String> {
    record_of(attr, big, bytes, false)
}

/// Does the same, and decodes samples of the ABI that is in review: vector and predicate registers after the general ones.
///
/// # Errors
///
/// As [`record`]; without this, such samples are errors.
pub fn record_of_next_abi(attr: &Attr, big: bool, bytes: &[u8]) -> Result<Record, String> {
    record_of(attr, big, bytes, true)
}

fn record_of(attr: &Attr, big: bool, bytes: &[u8], next_abi: bool) -> Result<Record, String> {
    let mut r = Reader::new(bytes, big);
    let kind = r.u32("header.type")?;
    let misc = r.u16("header.misc")?;
    let low = u32::from(r.u16("header.size")?);
    // simpleperf has no misc: its place has the high half of the size.
    let size = if SIMPLE_PERF_RECORD_TYPES.contains(&kind) { u32::from(misc) << 16 | low } else { low };
    if size as usize != bytes.len() {
        return Err(format!("header.size: {size}, but there are {} bytes", bytes.len()));
    }
    let payload = r.rest();

    if kind >= PERF_RECORD_USER_TYPE_START {
        return Ok(Record { kind, misc, size, body: Body::Other(payload.to_vec()), sample_id: None });
    }
    if kind == PERF_RECORD_SAMPLE {
        let sample = sample::sample(attr, big, misc, payload, next_abi)?;
        return Ok(Record { kind, misc, size, body: Body::Sample(Box::new(sample)), sample_id: None });
    }
    let id_size = if attr.flags.0 & SAMPLE_ID_ALL == 0 { 0 } else { sample_id_size(attr.sample_type.0) };
    let payload = without_stale_words(kind, payload, id_size);
    if attr.flags.0 & SAMPLE_ID_ALL == 0 {
        let body = body::body(attr, big, kind, misc, payload)?;
        return Ok(Record { kind, misc, size, body, sample_id: None });
    }
    let start = payload
        .len()
        .checked_sub(id_size)
        .ok_or_else(|| format!("sample_id: a payload of {} bytes is too short for it", payload.len()))?;
    let (payload, trailer) = payload.split_at(start);
    let sample_id = sample_id(attr.sample_type.0, Reader::new(trailer, big))?;
    let body = body::body(attr, big, kind, misc, payload)?;
    Ok(Record { kind, misc, size, body, sample_id: Some(sample_id) })
}

/// Returns the payload of a record without the words that the kernel adds to KSYMBOL and BPF_EVENT, if several events get
/// the record: the first event's is right, each further one has as many stale words as the ids of those before it.
fn without_stale_words(kind: u32, payload: &[u8], id_size: usize) -> &[u8] {
    let mut name = 0;
    if kind == PERF_RECORD_KSYMBOL {
        while payload.get(16 + name).is_some_and(|&byte| byte != 0) {
            name += 1;
        }
        name += 8 - name % 8;
    } else if kind != PERF_RECORD_BPF_EVENT {
        return payload;
    }
    let whole = 16 + name + id_size;
    let is_longer_by_words = payload.len() > whole && (payload.len() - whole).is_multiple_of(8);
    if is_longer_by_words { &payload[..whole] } else { payload }
}

/// Returns the bytes of the trailer: 8 for each bit that adds a field to it.
fn sample_id_size(sample_type: u64) -> usize {
    let bits = PERF_SAMPLE_TID
        | PERF_SAMPLE_TIME
        | PERF_SAMPLE_ID
        | PERF_SAMPLE_STREAM_ID
        | PERF_SAMPLE_CPU
        | PERF_SAMPLE_IDENTIFIER;
    (0..64).filter(|bit| sample_type & bits & (1 << bit) != 0).count() * 8
}

fn sample_id(sample_type: u64, mut r: Reader<'_>) -> Result<SampleId, String> {
    let mut id = SampleId::default();
    if sample_type & PERF_SAMPLE_TID != 0 {
        id.pid = Some(r.i32("sample_id.pid")?);
        id.tid = Some(r.i32("sample_id.tid")?);
    }
    if sample_type & PERF_SAMPLE_TIME != 0 {
        id.time = Some(r.u64("sample_id.time")?);
    }
    if sample_type & PERF_SAMPLE_ID != 0 {
        id.id = Some(r.u64("sample_id.id")?);
    }
    if sample_type & PERF_SAMPLE_STREAM_ID != 0 {
        id.stream_id = Some(r.u64("sample_id.stream_id")?);
    }
    if sample_type & PERF_SAMPLE_CPU != 0 {
        id.cpu = Some(r.u32("sample_id.cpu")?);
        let _res = r.u32("sample_id.res")?;
    }
    if sample_type & PERF_SAMPLE_IDENTIFIER != 0 {
        id.identifier = Some(r.u64("sample_id.identifier")?);
    }
    r.end()?;
    Ok(id)
}
