//! Where everything is: computed once from an attr, used for every record of the event.

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::branch::BranchSampleType;
use perf_abi::read_format::ReadFormat;
use perf_abi::sample_type::SampleType;

use crate::error::{Error, ErrorKind};

/// Word index of a field the event does not record. No head is that long, so a lookup finds nothing.
const ABSENT: u8 = u8::MAX;

/// The layout of an event's samples, counter reads and `sample_id` trailers.
///
/// `Copy` and small. The leading fields of a sample are 8-byte words, each at a constant index; so are those of the
/// trailer. What follows the leading words is walked when asked for.
///
/// Kernel: `perf_output_sample`, `__perf_event__output_id_sample`, `kernel/events/core.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleLayout {
    pub(crate) sample_type: SampleType,
    pub(crate) read_format: ReadFormat,
    pub(crate) branch_sample_type: BranchSampleType,
    pub(crate) regs_user: u64,
    pub(crate) regs_intr: u64,
    pub(crate) head: HeadIndex,
    pub(crate) id: IdIndex,
    /// Whether something of variable size, or something behind that, follows the head.
    pub(crate) has_tail: bool,
    /// Whether the event asked for user stacks of 0 bytes, which the kernel writes wrongly.
    pub(crate) stack_user_is_zero: bool,
}

/// Word indices of the leading fields of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeadIndex {
    pub(crate) identifier: u8,
    pub(crate) ip: u8,
    pub(crate) tid: u8,
    pub(crate) time: u8,
    pub(crate) addr: u8,
    pub(crate) id: u8,
    pub(crate) stream_id: u8,
    pub(crate) cpu: u8,
    pub(crate) period: u8,
    /// Words of the head.
    pub(crate) words: u8,
}

/// Word indices of the fields of a `sample_id` trailer, from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdIndex {
    pub(crate) tid: u8,
    pub(crate) time: u8,
    pub(crate) id: u8,
    pub(crate) stream_id: u8,
    pub(crate) cpu: u8,
    pub(crate) identifier: u8,
    /// Words of the trailer; 0 where the attr has no `sample_id_all`.
    pub(crate) words: u8,
}

/// Gives consecutive indices to the fields that are asked for.
struct Indices {
    sample_type: SampleType,
    next: u8,
}

impl Indices {
    fn of(&mut self, field: SampleType) -> u8 {
        if !self.sample_type.contains(field) {
            return ABSENT;
        }
        let index = self.next;
        self.next = index.saturating_add(1);
        index
    }
}

/// The leading fields, in the order the kernel writes them.
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

impl SampleLayout {
    /// The layout that `attr` asks for.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnknownBits`] if `sample_type` has a bit that this crate does not know: it may stand for bytes in
    /// every sample. [`ErrorKind::BothWeights`] if both kinds of weight are asked for. The offset is the field's in the
    /// attr. Unknown bits of `read_format` are an error of the records that hold counter values.
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

    /// The layout of what this crate knows of `attr`: right for records other than samples whatever else is asked for.
    pub(crate) fn of_known(attr: &Attr) -> Self {
        let sample_type = SampleType(attr.sample_type.0 & SampleType::KNOWN.0);
        let leading = HEAD.iter().fold(SampleType::NONE, |all, &(field, _)| all | field);
        Self {
            sample_type,
            read_format: attr.read_format,
            branch_sample_type: attr.branch_sample_type,
            regs_user: attr.sample_regs_user,
            regs_intr: attr.sample_regs_intr,
            head: HeadIndex::new(sample_type),
            id: IdIndex::new(attr),
            has_tail: sample_type.without(leading) != SampleType::NONE,
            stack_user_is_zero: attr.sample_stack_user == 0,
        }
    }

    /// What a sample holds.
    #[must_use]
    pub const fn sample_type(&self) -> SampleType {
        self.sample_type
    }

    /// What a counter read gives.
    #[must_use]
    pub const fn read_format(&self) -> ReadFormat {
        self.read_format
    }

    /// Bytes of the `sample_id` trailer of records other than samples; 0 where there is none.
    #[must_use]
    pub fn sample_id_size(&self) -> usize {
        usize::from(self.id.words).saturating_mul(8)
    }

    /// Where the event's id is in the payload of a sample, in bytes from its start; `None` if samples have none.
    #[must_use]
    pub fn sample_id_offset(&self) -> Option<usize> {
        let index = if self.head.identifier != ABSENT { self.head.identifier } else { self.head.id };
        (index != ABSENT).then(|| usize::from(index).saturating_mul(8))
    }

    /// Where the event's id is in other records, in bytes back from the record's end; `None` if they have none.
    #[must_use]
    pub fn trailer_id_offset(&self) -> Option<usize> {
        let index = if self.id.identifier != ABSENT { self.id.identifier } else { self.id.id };
        (index != ABSENT).then(|| usize::from(self.id.words.saturating_sub(index)).saturating_mul(8))
    }

    /// Where the time is in the payload of a sample, in bytes from its start; `None` if samples have none.
    #[cfg(feature = "alloc")]
    pub(crate) fn sample_time_offset(&self) -> Option<usize> {
        let index = self.head.time;
        (index != ABSENT).then(|| usize::from(index).saturating_mul(8))
    }

    /// Where the time is in a `sample_id` trailer, in bytes from its start; `None` if it has none.
    #[cfg(feature = "alloc")]
    pub(crate) fn trailer_time_offset(&self) -> Option<usize> {
        let index = self.id.time;
        (index != ABSENT).then(|| usize::from(index).saturating_mul(8))
    }

    /// The first leading field that a sample of `available` bytes is too short for.
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

impl HeadIndex {
    fn new(sample_type: SampleType) -> Self {
        let mut at = Indices { sample_type, next: 0 };
        Self {
            identifier: at.of(SampleType::IDENTIFIER),
            ip: at.of(SampleType::IP),
            tid: at.of(SampleType::TID),
            time: at.of(SampleType::TIME),
            addr: at.of(SampleType::ADDR),
            id: at.of(SampleType::ID),
            stream_id: at.of(SampleType::STREAM_ID),
            cpu: at.of(SampleType::CPU),
            period: at.of(SampleType::PERIOD),
            words: at.next,
        }
    }
}

impl IdIndex {
    fn new(attr: &Attr) -> Self {
        let all = attr.flags.contains(AttrFlags::SAMPLE_ID_ALL);
        let mut at = Indices { sample_type: if all { attr.sample_type } else { SampleType::NONE }, next: 0 };
        Self {
            tid: at.of(SampleType::TID),
            time: at.of(SampleType::TIME),
            id: at.of(SampleType::ID),
            stream_id: at.of(SampleType::STREAM_ID),
            cpu: at.of(SampleType::CPU),
            identifier: at.of(SampleType::IDENTIFIER),
            words: at.next,
        }
    }
}
