//! The layout of an event's records, computed once from its attr.

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::branch::BranchSampleType;
use perf_abi::read_format::ReadFormat;
use perf_abi::sample_type::SampleType;

use crate::error::{Error, ErrorKind};

/// Offset of a leading field that the event does not record. No record is that long, so a lookup finds nothing.
const ABSENT: u16 = u16::MAX;

/// Offset of a trailer field that the event does not record. No trailer is that long.
const ABSENT_ID: u8 = u8::MAX;

/// The layout of an event's samples, counter values and `sample_id` trailers.
///
/// It is small and `Copy`. The leading fields of a sample are 8-byte words at constant offsets, and so are the fields
/// of the trailer. The fields after the leading ones are walked on request.
///
/// Kernel: `perf_output_sample`, `__perf_event__output_id_sample`, `kernel/events/core.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleLayout {
    pub(crate) sample_type: SampleType,
    pub(crate) read_format: ReadFormat,
    pub(crate) branch_sample_type: BranchSampleType,
    pub(crate) regs_user: u64,
    pub(crate) regs_intr: u64,
    pub(crate) head: HeadOffsets,
    pub(crate) id: IdOffsets,
    /// Whether a field of variable size, or a field after one, follows the leading fields.
    pub(crate) has_tail: bool,
    /// The fields that follow the leading ones.
    pub(crate) tail: TailFields,
    /// Whether the event asked for user stacks of 0 bytes, which the kernel writes incorrectly.
    pub(crate) stack_user_is_zero: bool,
    /// The layout of the capture's MMAP2 records; `None` if it is unknown.
    pub(crate) mmap2: Option<Mmap2Layout>,
    /// Whether samples of an ABI that no released kernel has are decoded.
    pub(crate) has_provisional_abi: bool,
}

/// The fields of a sample after the leading ones, as far as decoders differ for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TailFields {
    /// No field.
    None,
    /// Only a call chain.
    Callchain,
    /// Only raw data.
    Raw,
    /// Other fields, or several fields.
    Others,
}

impl TailFields {
    fn of(sample_type: SampleType) -> Self {
        match sample_type.without(LEADING) {
            SampleType::NONE => Self::None,
            SampleType::CALLCHAIN => Self::Callchain,
            SampleType::RAW => Self::Raw,
            _ => Self::Others,
        }
    }
}

/// Offsets of a sample's leading fields, in bytes from the start of its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeadOffsets {
    pub(crate) identifier: u16,
    pub(crate) ip: u16,
    pub(crate) tid: u16,
    pub(crate) time: u16,
    pub(crate) addr: u16,
    pub(crate) id: u16,
    pub(crate) stream_id: u16,
    pub(crate) cpu: u16,
    pub(crate) period: u16,
    /// Bytes of all leading fields.
    pub(crate) size: u16,
}

/// Offsets of the fields of a `sample_id` trailer, in bytes from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdOffsets {
    pub(crate) tid: u8,
    pub(crate) time: u8,
    pub(crate) id: u8,
    pub(crate) stream_id: u8,
    pub(crate) cpu: u8,
    pub(crate) identifier: u8,
    /// Bytes of the trailer; 0 if the attr has no `sample_id_all`.
    pub(crate) size: u8,
}

/// Assigns consecutive words to the recorded fields.
struct Offsets {
    sample_type: SampleType,
    next: u8,
}

impl Offsets {
    fn of(&mut self, field: SampleType) -> Option<u8> {
        if !self.sample_type.contains(field) {
            return None;
        }
        let offset = self.next;
        self.next = offset.saturating_add(8);
        Some(offset)
    }
}

/// The leading fields, in the order in which the kernel writes them.
const HEAD: [(SampleType, &str); 9] = [
    (SampleType::IDENTIFIER, "identifier"),
    (SampleType::IP, "ip"),
    (SampleType::TID, "tid"),
    (SampleType::TIME, "time"),
    (SampleType::ADDR, "addr"),
    (SampleType::ID, "id"),
    (SampleType::STREAM_ID, "stream_id"),
    (SampleType::CPU, "cpu"),
    (SampleType::PERIOD, "period"),
];

/// The leading fields.
const LEADING: SampleType = {
    let (mut all, mut rest) = (SampleType::NONE, HEAD.as_slice());
    while let [(field, _), after @ ..] = rest {
        (all, rest) = (all.union(*field), after);
    }
    all
};

/// Returns the offset of a field of the head or of a trailer; `None` if the event does not record the field.
pub(crate) fn present(offset: u16) -> Option<usize> {
    (offset < u16::from(ABSENT_ID)).then_some(offset.into())
}

impl SampleLayout {
    /// Returns the layout of the records of an event with this attr.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnknownBits`] if `sample_type` has a bit that this crate does not know: the bit may add bytes to
    /// every sample. [`ErrorKind::BothWeights`] if the attr asks for both kinds of weight. The offset is that of the
    /// field in the attr. Unknown bits of `read_format` are reported for the records that hold counter values.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::abi::attr::Attr;
    /// use perf_parse::abi::sample_type::SampleType;
    /// use perf_parse::{ErrorKind, SampleLayout};
    ///
    /// let mut attr = Attr { sample_type: SampleType::IP | SampleType::TIME, ..Attr::default() };
    /// assert!(SampleLayout::new(&attr).is_ok());
    /// attr.sample_type |= SampleType(1 << 40);
    /// let error = SampleLayout::new(&attr).unwrap_err();
    /// assert_eq!(error.kind, ErrorKind::UnknownBits { field: "sample_type", bits: 1 << 40 });
    /// ```
    pub fn new(attr: &Attr) -> Result<Self, Error> {
        let sample_type = attr.sample_type;
        if sample_type.unknown() != 0 {
            let kind = ErrorKind::UnknownBits { field: "sample_type", bits: sample_type.unknown() };
            return Err(Error::new(kind, 24));
        }
        if sample_type.contains(SampleType::WEIGHT_TYPE) {
            return Err(Error::new(ErrorKind::BothWeights, 24));
        }
        Ok(Self::of_known(attr))
    }

    /// Returns the layout that the known bits of `attr` define. Unknown bits do not affect records other than samples.
    pub(crate) fn of_known(attr: &Attr) -> Self {
        let sample_type = SampleType(attr.sample_type.0 & SampleType::KNOWN.0);
        Self {
            sample_type,
            read_format: attr.read_format,
            branch_sample_type: attr.branch_sample_type,
            regs_user: attr.sample_regs_user,
            regs_intr: attr.sample_regs_intr,
            head: HeadOffsets::new(sample_type),
            id: IdOffsets::new(attr),
            has_tail: sample_type.without(LEADING) != SampleType::NONE,
            tail: TailFields::of(sample_type),
            stack_user_is_zero: attr.sample_stack_user == 0,
            mmap2: None,
            has_provisional_abi: false,
        }
    }

    /// Returns this layout, but with samples of the [provisional ABI](perf_abi::provisional) decoded and written. By default
    /// they are refused with [`ErrorKind::Provisional`], because the kernel that will have this ABI may write another layout.
    ///
    /// For a capture, [`Reader::with_provisional_abi`](crate::file::Reader::with_provisional_abi) does this for all events.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::abi::attr::Attr;
    /// use perf_parse::abi::sample_type::SampleType;
    /// use perf_parse::{ErrorKind, RawRecord, Sample, SampleLayout};
    ///
    /// let attr = Attr { sample_type: SampleType::REGS_USER, ..Attr::default() };
    /// let layout = SampleLayout::new(&attr)?;
    /// // A sample of the ABI 6: 64-bit with SIMD registers. It has one predicate register of one word.
    /// let bytes = b"\x09\0\0\0\x02\0\x20\0\x06\0\0\0\0\0\0\0\0\0\0\0\x01\0\x01\0\xff\0\0\0\0\0\0\0";
    /// let (record, _) = RawRecord::<perf_parse::abi::endian::LittleEndian>::parse(bytes)?;
    /// let error = Sample::parse(&layout, &record)?.tail().unwrap_err();
    /// assert_eq!(error.kind, ErrorKind::Provisional { field: "regs_user.abi", bits: 4 });
    ///
    /// let layout = layout.with_provisional_abi();
    /// let tail = Sample::parse(&layout, &record)?.tail()?;
    /// assert_eq!(tail.simd_regs_user.unwrap().predicate(0).unwrap().get(0), Some(0xff));
    /// # Ok::<(), perf_parse::Error>(())
    /// ```
    #[must_use]
    pub const fn with_provisional_abi(mut self) -> Self {
        self.has_provisional_abi = true;
        self
    }

    /// Returns whether samples of the [provisional ABI](perf_abi::provisional) are decoded.
    #[must_use]
    pub const fn has_provisional_abi(&self) -> bool {
        self.has_provisional_abi
    }

    /// Returns the fields of a sample.
    #[must_use]
    pub const fn sample_type(&self) -> SampleType {
        self.sample_type
    }

    /// Returns the format of counter values.
    #[must_use]
    pub const fn read_format(&self) -> ReadFormat {
        self.read_format
    }

    /// Returns the number of bytes of the `sample_id` trailer of records other than samples; 0 if they have none.
    #[must_use]
    pub fn sample_id_size(&self) -> usize {
        self.id.size.into()
    }

    /// Returns the offset of the event's id in bytes from the start of a sample's payload; `None` if samples have no
    /// id.
    #[must_use]
    pub fn sample_id_offset(&self) -> Option<usize> {
        present(self.head.identifier).or(present(self.head.id))
    }

    /// Returns the distance of the event's id, in bytes, from the end of a record other than a sample, without its
    /// [stale bytes](crate::RawRecord::stale_bytes); `None` if such records have no id.
    #[must_use]
    pub fn trailer_id_offset(&self) -> Option<usize> {
        let offset = present(self.id.identifier.into()).or(present(self.id.id.into()))?;
        self.sample_id_size().checked_sub(offset)
    }

    /// Returns the offset of the time in bytes from the start of a sample's payload; `None` if samples have no time.
    #[cfg(feature = "alloc")]
    pub(crate) fn sample_time_offset(&self) -> Option<usize> {
        present(self.head.time)
    }

    /// Returns the offset of the time in bytes from the start of a `sample_id` trailer; `None` if it has no time.
    #[cfg(feature = "alloc")]
    pub(crate) fn trailer_time_offset(&self) -> Option<usize> {
        present(self.id.time.into())
    }

    /// Returns the name of the first leading field that a sample of `available` bytes is too short for.
    #[cold]
    pub(crate) fn missing_head_field(&self, available: usize) -> Error {
        let present = available / 8;
        let mut fields = HEAD.iter().filter(|&&(field, _)| self.sample_type.contains(field));
        let field = fields.nth(present).map_or("", |&(_, name)| name);
        let at = present.saturating_mul(8);
        let available = available.saturating_sub(at) as u64;
        let offset = u32::try_from(at.saturating_add(8)).unwrap_or(u32::MAX);
        Error::new(ErrorKind::Truncated { field, needed: 8, available }, offset)
    }
}

impl HeadOffsets {
    /// The order of the leading fields where those of several events are brought into one: each has a place of its own. The
    /// identifier and the id have one place.
    pub(crate) const SORTED: Self = Self {
        identifier: 0,
        ip: 8,
        tid: 16,
        time: 24,
        addr: 32,
        id: ABSENT,
        stream_id: 40,
        cpu: 48,
        period: 56,
        size: 64,
    };

    fn new(sample_type: SampleType) -> Self {
        let mut at = Offsets { sample_type, next: 0 };
        let mut of = |field| at.of(field).map_or(ABSENT, u16::from);
        Self {
            identifier: of(SampleType::IDENTIFIER),
            ip: of(SampleType::IP),
            tid: of(SampleType::TID),
            time: of(SampleType::TIME),
            addr: of(SampleType::ADDR),
            id: of(SampleType::ID),
            stream_id: of(SampleType::STREAM_ID),
            cpu: of(SampleType::CPU),
            period: of(SampleType::PERIOD),
            size: at.next.into(),
        }
    }
}

impl IdOffsets {
    fn new(attr: &Attr) -> Self {
        let all = attr.flags.contains(AttrFlags::SAMPLE_ID_ALL);
        let mut at = Offsets { sample_type: if all { attr.sample_type } else { SampleType::NONE }, next: 0 };
        let mut of = |field| at.of(field).unwrap_or(ABSENT_ID);
        Self {
            tid: of(SampleType::TID),
            time: of(SampleType::TIME),
            id: of(SampleType::ID),
            stream_id: of(SampleType::STREAM_ID),
            cpu: of(SampleType::CPU),
            identifier: of(SampleType::IDENTIFIER),
            size: at.next,
        }
    }
}

/// A layout of MMAP2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mmap2Layout {
    /// Protection and flags precede the path: since Linux 3.16.
    Current,
    /// The path follows the identity of the file: kernels and tools of the time of Linux 3.12.
    Old,
}
