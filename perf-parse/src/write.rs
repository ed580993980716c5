//! Writing records and samples from owned fields, with a given attr, in either byte order.
//!
//! [`RecordEncoder::record`] appends any [`Record`] of the kernel or of simpleperf; [`RecordEncoder::sample`] appends a sample
//! made of [`SampleFields`].
//! [`RawRecord`] reads back exactly what was written. The layout decides which fields are required: a missing field and a
//! surplus field are both errors. No field is dropped or invented. [`record`] and [`sample`] do the same with the byte order
//! as a type.
//!
//! # Examples
//!
//! ```
//! use perf_parse::abi::attr::Attr;
//! use perf_parse::abi::endian::Endianness;
//! use perf_parse::abi::record::Misc;
//! use perf_parse::abi::sample_type::SampleType;
//! use perf_parse::write::{RecordEncoder, SampleFields, WriteError};
//! use perf_parse::{RawRecord, Sample, SampleLayout};
//!
//! let attr = Attr { sample_type: SampleType::IP | SampleType::CALLCHAIN, ..Attr::default() };
//! let layout = SampleLayout::new(&attr)?;
//! let encoder = RecordEncoder::new_in(Endianness::Big, &layout);
//! let mut bytes = Vec::new();
//! let mut fields = SampleFields { ip: Some(0x1000), ..SampleFields::default() };
//! let missing = encoder.sample(&mut bytes, Misc(2), &fields);
//! assert_eq!(missing, Err(WriteError::Missing { field: "callchain" }));
//!
//! fields.callchain = Some(vec![0x1000, 0x2000]);
//! encoder.sample(&mut bytes, Misc(2), &fields)?;
//! let (record, _) = RawRecord::<Endianness>::parse_in(Endianness::Big, &bytes)?;
//! assert_eq!(Sample::parse(&layout, &record)?.to_fields()?, fields);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

mod encoder;
mod fields;
mod sample;
mod simpleperf;

pub use encoder::RecordEncoder;
pub use fields::{
    BranchFields, BranchStackFields, ReadFields, RegsFields, SampleFields, SimdRegsFields, StackUserFields,
};
pub use sample::sample;

use alloc::vec::Vec;

use perf_abi::endian::{ByteOrder, Endian, I32, U16, U32, U64};
use perf_abi::record::{self as wire, Header, Misc, RecordType};
use zerocopy::{Immutable, IntoBytes};

use crate::layout::Mmap2Layout;
use crate::layout::SampleLayout;
use crate::record::{FileId, Mmap2, NamespaceLink, RawRecord, Record};
use crate::sample::Read;

/// The reason why a record cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteError {
    /// The event records the field, but the field is missing.
    Missing {
        /// Name of the field.
        field: &'static str,
    },
    /// The event does not record the field, but the field is present.
    NotRecorded {
        /// Name of the field.
        field: &'static str,
    },
    /// The value of the field cannot be represented in a record, or it contradicts other fields.
    Invalid {
        /// Name of the field.
        field: &'static str,
        /// The requirement that the value does not meet.
        must: &'static str,
    },
    /// The record would be larger than the header's `size` allows: 16 bits, or 32 bits in records of simpleperf.
    TooLong {
        /// Bytes of the record.
        size: usize,
    },
    /// The size of the record would not be a multiple of 8 bytes, as the kernel's records are.
    Unaligned {
        /// Bytes of the record.
        size: usize,
    },
}

impl core::fmt::Display for WriteError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Missing { field } => write!(f, "{field}: is missing, but the event records it"),
            Self::NotRecorded { field } => write!(f, "{field}: is present, but the event does not record it"),
            Self::Invalid { field, must } => write!(f, "{field}: must be {must}"),
            Self::TooLong { size } => {
                write!(f, "the record has {size} bytes, but at most 65535 fit")
            }
            Self::Unaligned { size } => {
                write!(f, "the record has {size} bytes, not a multiple of 8: pad its raw, stack or AUX bytes")
            }
        }
    }
}

impl core::error::Error for WriteError {}

/// The fields of a `sample_id` trailer. Fields that the event does not record are not written.
///
/// The perf tool writes zeros, the default, after the records that it synthesises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleIdFields {
    /// Process id.
    pub pid: i32,
    /// Thread id.
    pub tid: i32,
    /// Time in nanoseconds of the event's clock.
    pub time: u64,
    /// Id of the event, written for `ID` and for `IDENTIFIER`.
    pub id: u64,
    /// Id of the event itself, even if it is inherited.
    pub stream_id: u64,
    /// CPU number.
    pub cpu: u32,
}

/// Appends a record to `out`, with a trailer if `layout` has one.
///
/// A sample, or a record of unknown type, is a view of bytes and is copied unchanged. Use [`sample`] for a sample of
/// owned fields. A record of simpleperf has no `misc` and no trailer, and its padding is in its `rest`;
/// [`RawRecord::write_split`] splits one that is longer than 65535 bytes.
///
/// # Errors
///
/// [`WriteError::Invalid`] for a string that contains a NUL, for a build id or text that is too long, and for values
/// that would be read back differently: counter values with another `read_format` than the event's, an MMAP2 record
/// that does not match `misc`, or a record of the perf tool. [`WriteError::Missing`] for a build id without a protection.
/// [`WriteError::TooLong`] and [`WriteError::Unaligned`] for the size of the record. After an error `out` is
/// unchanged.
pub fn record<O: Endian>(
    out: &mut Vec<u8>,
    layout: &SampleLayout,
    misc: Misc,
    record: &Record<'_, O>,
    sample_id: &SampleIdFields,
) -> Result<(), WriteError> {
    encode::<O, O>(out, layout, misc, record, sample_id)
}

/// Appends a record whose views have the byte order `R`, in the byte order `O`.
fn encode<O: Endian, R: ByteOrder>(
    out: &mut Vec<u8>,
    layout: &SampleLayout,
    misc: Misc,
    record: &Record<'_, R>,
    sample_id: &SampleIdFields,
) -> Result<(), WriteError> {
    framed::<O>(out, record.kind(), misc, |out| {
        let is_complete = payload::<O, R>(out, layout, misc, record)?;
        if !is_complete {
            trailer::<O>(out, layout, sample_id);
        }
        Ok(())
    })
}

impl<'a, O: Endian> RawRecord<'a, O> {
    /// Appends the record to `out` unchanged.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.as_bytes());
    }
}

/// Writes the header before the bytes that `body` appends. Removes everything if `body` fails.
fn framed<O: Endian>(
    out: &mut Vec<u8>,
    kind: RecordType,
    misc: Misc,
    body: impl FnOnce(&mut Vec<u8>) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let start = out.len();
    put(out, &Header::<O>::new(kind, misc, 0));
    let written = body(out).and_then(|()| {
        let size = out.len().saturating_sub(start);
        if !size.is_multiple_of(8) && !kind.is_user() {
            return Err(WriteError::Unaligned { size });
        }
        header::<O>(kind, misc, size)
    });
    match written {
        Ok(header) => {
            for (to, from) in out.iter_mut().skip(start).zip(header) {
                *to = from;
            }
            Ok(())
        }
        Err(error) => {
            out.truncate(start);
            Err(error)
        }
    }
}

/// Returns the header of a record of `size` bytes, in the layout of its type.
fn header<O: Endian>(kind: RecordType, misc: Misc, size: usize) -> Result<[u8; 8], WriteError> {
    if !kind.is_simpleperf() {
        let size = u16::try_from(size).map_err(|_| WriteError::TooLong { size })?;
        return Ok(zerocopy::transmute!(Header::<O>::new(kind, misc, size)));
    }
    // These have the high half of the size in its place.
    let size = u32::try_from(size).map_err(|_| WriteError::TooLong { size })?;
    Ok(zerocopy::transmute!(wire::SimpleperfHeader::<O>::new(kind, size)))
}

/// Appends the payload without the trailer. Returns whether the payload is complete: copied with its trailer, or
/// of a type without trailers.
fn payload<O: Endian, R: ByteOrder>(
    out: &mut Vec<u8>,
    layout: &SampleLayout,
    misc: Misc,
    record: &Record<'_, R>,
) -> Result<bool, WriteError> {
    match record {
        Record::Mmap(it) => {
            put(out, &mmap::<O>(it.pid, it.tid, it.addr, it.len, it.pgoff));
            string(out, "filename", it.filename)?;
        }
        Record::Mmap2(it) => mmap2::<O>(out, misc, it)?,
        Record::Lost(it) => put(out, &wire::RawLost::<O> { id: U64::new(it.id), lost: U64::new(it.lost) }),
        Record::Comm(it) => {
            put(out, &wire::RawComm::<O> { pid: I32::new(it.pid), tid: I32::new(it.tid) });
            string(out, "comm", it.comm)?;
        }
        Record::Exit(it) | Record::Fork(it) => {
            let (pid, ppid) = (I32::new(it.pid), I32::new(it.ppid));
            let (tid, ptid) = (I32::new(it.tid), I32::new(it.ptid));
            put(out, &wire::RawTask::<O> { pid, ppid, tid, ptid, time: U64::new(it.time) });
        }
        Record::Throttle(it) | Record::Unthrottle(it) => {
            let (id, stream_id) = (U64::new(it.id), U64::new(it.stream_id));
            put(out, &wire::RawThrottle::<O> { time: U64::new(it.time), id, stream_id });
        }
        Record::Read(it) => {
            if it.read.format() != layout.read_format {
                return Err(WriteError::Invalid { field: "read", must: "of the event's read_format" });
            }
            put(out, &wire::RawRead::<O> { pid: I32::new(it.pid), tid: I32::new(it.tid) });
            read::<O>(out, &it.read);
        }
        Record::Aux(it) => {
            let (aux_offset, aux_size) = (U64::new(it.aux_offset), U64::new(it.aux_size));
            put(out, &wire::RawAux::<O> { aux_offset, aux_size, flags: U64::new(it.flags.0) });
        }
        Record::ItraceStart(it) => {
            put(out, &wire::RawItraceStart::<O> { pid: I32::new(it.pid), tid: I32::new(it.tid) });
        }
        Record::LostSamples(it) => word::<O>(out, it.lost),
        Record::Switch => {}
        Record::SwitchCpuWide(it) => {
            let (next_prev_pid, next_prev_tid) = (I32::new(it.next_prev_pid), I32::new(it.next_prev_tid));
            put(out, &wire::RawSwitchCpuWide::<O> { next_prev_pid, next_prev_tid });
        }
        Record::Namespaces(it) => {
            let nr_namespaces = U64::new(it.link_info.len() as u64);
            put(
                out,
                &wire::RawNamespaces::<O> { pid: I32::new(it.pid), tid: I32::new(it.tid), nr_namespaces },
            );
            for NamespaceLink { dev, ino } in it.link_info {
                word::<O>(out, dev);
                word::<O>(out, ino);
            }
        }
        Record::Ksymbol(it) => {
            let (ksym_type, flags) = (U16::new(it.ksym_type.0), U16::new(it.flags.0));
            put(
                out,
                &wire::RawKsymbol::<O> { addr: U64::new(it.addr), len: U32::new(it.len), ksym_type, flags },
            );
            string(out, "name", it.name)?;
        }
        Record::BpfEvent(it) => {
            let (kind, flags) = (U16::new(it.kind.0), U16::new(it.flags));
            put(out, &wire::RawBpfEvent::<O> { kind, flags, id: U32::new(it.id), tag: it.tag });
        }
        Record::Cgroup(it) => {
            word::<O>(out, it.id);
            string(out, "path", it.path)?;
        }
        Record::TextPoke(it) => {
            let old_len = U16::new(text_len("old_bytes", it.old)?);
            let new_len = U16::new(text_len("new_bytes", it.new)?);
            put(out, &wire::RawTextPoke::<O> { addr: U64::new(it.addr), old_len, new_len });
            out.extend_from_slice(it.old);
            out.extend_from_slice(it.new);
            let bytes = it.old.len().wrapping_add(it.new.len()).wrapping_add(4);
            zeros(out, bytes.wrapping_neg() % 8);
        }
        Record::AuxOutputHwId(it) => word::<O>(out, it.hw_id),
        Record::CallchainDeferred(it) => {
            word::<O>(out, it.cookie);
            word::<O>(out, it.ips.len() as u64);
            it.ips.iter().for_each(|ip| word::<O>(out, ip));
        }
        Record::Sample(it) => return copy::<O, R>(out, &it.record()),
        Record::Other(raw) => return copy::<O, R>(out, raw),
        // These have no trailer.
        Record::User(it, kind) => return simpleperf::payload::<O>(out, *kind, it).map(|()| true),
    }
    Ok(false)
}

/// Appends the payload of a view. Returns true: it has its trailer.
fn copy<O: Endian, R: ByteOrder>(out: &mut Vec<u8>, raw: &RawRecord<'_, R>) -> Result<bool, WriteError> {
    if raw.endianness() != O::ENDIANNESS {
        let must = "of the byte order to be written: decode it, and write its fields";
        return Err(WriteError::Invalid { field: "record", must });
    }
    out.extend_from_slice(raw.payload());
    Ok(true)
}

fn mmap<O: Endian>(pid: i32, tid: i32, addr: u64, len: u64, pgoff: u64) -> wire::RawMmap<O> {
    let (addr, len, pgoff) = (U64::new(addr), U64::new(len), U64::new(pgoff));
    wire::RawMmap { pid: I32::new(pid), tid: I32::new(tid), addr, len, pgoff }
}

fn mmap2<O: Endian>(out: &mut Vec<u8>, misc: Misc, it: &Mmap2<'_>) -> Result<(), WriteError> {
    if misc.contains(Misc::MMAP_BUILD_ID) != matches!(it.id, FileId::BuildId { .. }) {
        let must = "MMAP_BUILD_ID if and only if the record has a build id";
        return Err(WriteError::Invalid { field: "misc", must });
    }
    put(out, &mmap::<O>(it.pid, it.tid, it.addr, it.len, it.pgoff));
    match it.id {
        FileId::Inode { maj, min, ino, ino_generation } => {
            let (maj, min) = (U32::new(maj), U32::new(min));
            let (ino, ino_generation) = (U64::new(ino), U64::new(ino_generation));
            put(out, &wire::Mmap2Inode::<O> { maj, min, ino, ino_generation });
        }
        FileId::BuildId { size, bytes } => {
            if usize::from(size) > bytes.len() {
                return Err(WriteError::Invalid { field: "build_id_size", must: "at most 20" });
            }
            let id = wire::Mmap2BuildId {
                build_id_size: size,
                reserved_1: 0,
                reserved_2: [0; 2],
                build_id: bytes,
            };
            put(out, &id);
        }
    }
    let start = out.len();
    match (it.id, it.prot_flags) {
        (FileId::BuildId { .. }, None) => return Err(WriteError::Missing { field: "prot" }),
        (_, Some((prot, flags))) => put(out, &[U32::<O>::new(prot), U32::<O>::new(flags)]),
        (FileId::Inode { .. }, None) => {}
    }
    string(out, "filename", it.filename)?;
    if matches!(it.id, FileId::BuildId { .. }) {
        return Ok(());
    }
    let layout = if it.prot_flags.is_some() { Mmap2Layout::Current } else { Mmap2Layout::Old };
    let written = out.get(start..).unwrap_or_default();
    if Mmap2Layout::choose::<O>(written, None).0 == layout {
        return Ok(());
    }
    let must = match layout {
        Mmap2Layout::Current => "no part of a path, because readers take a path for the layout of Linux 3.12",
        Mmap2Layout::Old => "present, because readers take this path for a protection, flags and a path",
    };
    Err(WriteError::Invalid { field: "prot", must })
}

fn read<O: Endian>(out: &mut Vec<u8>, read: &Read<'_>) {
    if read.is_group() {
        word::<O>(out, read.nr() as u64);
    }
    let (times, values) = read.words();
    times.iter().chain(values).for_each(|value| word::<O>(out, value));
}

fn trailer<O: Endian>(out: &mut Vec<u8>, layout: &SampleLayout, id: &SampleIdFields) {
    let at = &layout.id;
    let mut words = [U64::<O>::ZERO; 6];
    let fields = [
        (at.tid, two([I32::<O>::new(id.pid), I32::new(id.tid)])),
        (at.time, U64::new(id.time)),
        (at.id, U64::new(id.id)),
        (at.stream_id, U64::new(id.stream_id)),
        (at.cpu, two([U32::<O>::new(id.cpu), U32::ZERO])),
        (at.identifier, U64::new(id.id)),
    ];
    for (offset, field) in fields {
        // The offset of a field that is not recorded is past the end of the trailer.
        if let Some(word) = words.get_mut(usize::from(offset / 8)) {
            *word = field;
        }
    }
    for word in words.iter().take(usize::from(at.size / 8)) {
        put(out, word);
    }
}

/// Returns the word that two 32-bit halves form in a record.
fn two<O: Endian, T: IntoBytes>(halves: [T; 2]) -> U64<O>
where
    [T; 2]: IntoBytes + Immutable,
{
    let mut bytes = [0; 8];
    for (to, from) in bytes.iter_mut().zip(halves.as_bytes()) {
        *to = *from;
    }
    U64::from_bytes(bytes)
}

fn put(out: &mut Vec<u8>, value: &(impl IntoBytes + Immutable + ?Sized)) {
    out.extend_from_slice(value.as_bytes());
}

fn word<O: Endian>(out: &mut Vec<u8>, value: u64) {
    put(out, &U64::<O>::new(value));
}

fn zeros(out: &mut Vec<u8>, count: usize) {
    out.extend(core::iter::repeat_n(0, count));
}

/// Appends a string, a NUL, and further NULs up to a multiple of 8 bytes.
fn string(out: &mut Vec<u8>, field: &'static str, value: &[u8]) -> Result<(), WriteError> {
    if value.contains(&0) {
        return Err(WriteError::Invalid { field, must: "free of NULs" });
    }
    out.extend_from_slice(value);
    zeros(out, 8_usize.wrapping_sub(value.len() % 8));
    Ok(())
}

fn text_len(field: &'static str, text: &[u8]) -> Result<u16, WriteError> {
    u16::try_from(text.len()).map_err(|_| WriteError::Invalid { field, must: "at most 65535 bytes" })
}
