//! Records: the walk over headers, and the decoding of the kernel's 22 record types.
//!
//! [`Records`] walks from header to header over contiguous bytes. [`RawRecord::decode`] decodes a record to a
//! [`Record`] with the layout of its event. Each file holds one family of records. The types have the kernel's names.

mod aux_area;
mod callchain_deferred;
mod cgroup;
mod comm;
mod ksymbol;
mod lost;
mod mmap;
mod mmap2_layout;
mod namespaces;
mod read;
#[cfg(feature = "alloc")]
mod split;
mod switch;
mod task;
mod text_poke;
mod throttle;
pub mod user;

pub use aux_area::{Aux, AuxOutputHwId, ItraceStart};
pub use callchain_deferred::CallchainDeferred;
pub use cgroup::Cgroup;
pub use comm::Comm;
pub use ksymbol::{BpfEvent, Ksymbol};
pub use lost::{Lost, LostSamples};
pub use mmap::{FileId, Mmap, Mmap2};
pub use namespaces::{NamespaceLink, Namespaces};
pub use read::ReadRecord;
#[cfg(feature = "alloc")]
pub use split::SplitJoiner;
pub use switch::SwitchCpuWide;
pub use task::Task;
pub use text_poke::TextPoke;
pub use throttle::Throttle;
pub use user::UserRecord;

pub use crate::raw::{RawRecord, Records, SampleId};

use perf_abi::endian::{BigEndian, ByteOrder, Endian, Endianness, LittleEndian};
use perf_abi::record::RecordType;

use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind};
use crate::layout::SampleLayout;
use crate::sample::Sample;

/// A decoded record. Strings and arrays borrow from the record's bytes; small fields are native values.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(bound = "", rename_all = "SCREAMING_SNAKE_CASE")
)]
#[non_exhaustive]
pub enum Record<'a, O: ByteOrder = Endianness> {
    // First, apart from the kernel's order: its tag then has no bits in common with those of an `Option` or `Result` around
    // the record. The compiler otherwise merges the checks of both and keeps samples in memory.
    /// `PERF_RECORD_SAMPLE`
    Sample(Sample<'a, O>),
    /// `PERF_RECORD_MMAP`
    Mmap(Mmap<'a>),
    /// `PERF_RECORD_LOST`
    Lost(Lost),
    /// `PERF_RECORD_COMM`
    Comm(Comm<'a>),
    /// `PERF_RECORD_EXIT`
    Exit(Task),
    /// `PERF_RECORD_THROTTLE`
    Throttle(Throttle),
    /// `PERF_RECORD_UNTHROTTLE`
    Unthrottle(Throttle),
    /// `PERF_RECORD_FORK`
    Fork(Task),
    /// `PERF_RECORD_READ`
    Read(ReadRecord<'a>),
    /// `PERF_RECORD_MMAP2`
    Mmap2(Mmap2<'a>),
    /// `PERF_RECORD_AUX`
    Aux(Aux),
    /// `PERF_RECORD_ITRACE_START`
    ItraceStart(ItraceStart),
    /// `PERF_RECORD_LOST_SAMPLES`
    LostSamples(LostSamples),
    /// `PERF_RECORD_SWITCH`: only `misc` and the trailer.
    Switch,
    /// `PERF_RECORD_SWITCH_CPU_WIDE`
    SwitchCpuWide(SwitchCpuWide),
    /// `PERF_RECORD_NAMESPACES`
    Namespaces(Namespaces<'a>),
    /// `PERF_RECORD_KSYMBOL`
    Ksymbol(Ksymbol<'a>),
    /// `PERF_RECORD_BPF_EVENT`
    BpfEvent(BpfEvent),
    /// `PERF_RECORD_CGROUP`
    Cgroup(Cgroup<'a>),
    /// `PERF_RECORD_TEXT_POKE`
    TextPoke(TextPoke<'a>),
    /// `PERF_RECORD_AUX_OUTPUT_HW_ID`
    AuxOutputHwId(AuxOutputHwId),
    /// `PERF_RECORD_CALLCHAIN_DEFERRED`
    CallchainDeferred(CallchainDeferred<'a>),
    /// A record of the perf tool itself, or of simpleperf.
    #[cfg_attr(feature = "serde", serde(serialize_with = "user"))]
    User(UserRecord<'a>, RecordType),
    /// A type that this crate does not know, from a newer kernel.
    Other(RawRecord<'a, O>),
}

impl<O: ByteOrder> Record<'_, O> {
    /// Returns the type of the record.
    #[must_use]
    pub fn kind(&self) -> RecordType {
        match self {
            Self::Mmap(_) => RecordType::MMAP,
            Self::Lost(_) => RecordType::LOST,
            Self::Comm(_) => RecordType::COMM,
            Self::Exit(_) => RecordType::EXIT,
            Self::Throttle(_) => RecordType::THROTTLE,
            Self::Unthrottle(_) => RecordType::UNTHROTTLE,
            Self::Fork(_) => RecordType::FORK,
            Self::Read(_) => RecordType::READ,
            Self::Sample(_) => RecordType::SAMPLE,
            Self::Mmap2(_) => RecordType::MMAP2,
            Self::Aux(_) => RecordType::AUX,
            Self::ItraceStart(_) => RecordType::ITRACE_START,
            Self::LostSamples(_) => RecordType::LOST_SAMPLES,
            Self::Switch => RecordType::SWITCH,
            Self::SwitchCpuWide(_) => RecordType::SWITCH_CPU_WIDE,
            Self::Namespaces(_) => RecordType::NAMESPACES,
            Self::Ksymbol(_) => RecordType::KSYMBOL,
            Self::BpfEvent(_) => RecordType::BPF_EVENT,
            Self::Cgroup(_) => RecordType::CGROUP,
            Self::TextPoke(_) => RecordType::TEXT_POKE,
            Self::AuxOutputHwId(_) => RecordType::AUX_OUTPUT_HW_ID,
            Self::CallchainDeferred(_) => RecordType::CALLCHAIN_DEFERRED,
            Self::User(_, kind) => *kind,
            Self::Other(raw) => raw.kind(),
        }
    }
}

impl<'a, O: ByteOrder> RawRecord<'a, O> {
    /// Decodes the record with the layout of its event.
    ///
    /// Checks that the fields fill the record exactly. A [`Sample`] with fields of variable size is the exception:
    /// its [`tail`](Sample::tail) makes this check. Allocates nothing.
    ///
    /// # Errors
    ///
    /// Any [`ErrorKind`](crate::ErrorKind) except `RecordSize`, `UnknownBits` and `BothWeights`, with the field's
    /// offset in the record. The next record can still be read.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::abi::attr::Attr;
    /// use perf_parse::abi::endian::LittleEndian;
    /// use perf_parse::{RawRecord, Record, SampleLayout};
    ///
    /// let layout = SampleLayout::new(&Attr::default())?;
    /// let mut bytes = *b"\x03\0\0\0\0\0\x18\0....tid.comm\0\0\0\0";
    /// let (raw, rest) = RawRecord::<LittleEndian>::parse(&bytes)?;
    /// assert!(rest.is_empty());
    /// let Record::Comm(comm) = raw.decode(&layout)? else { panic!("not a COMM") };
    /// assert_eq!(comm.comm, b"comm");
    ///
    /// bytes[20..].fill(b'x'); // no NUL
    /// let (raw, _) = RawRecord::<LittleEndian>::parse(&bytes)?;
    /// assert_eq!(raw.decode(&layout).unwrap_err().to_string(), "byte 16: comm: has no NUL before the record ends");
    /// # Ok::<(), perf_parse::Error>(())
    /// ```
    #[inline(always)]
    pub fn decode(&self, layout: &'a SampleLayout) -> Result<Record<'a, O>, Error> {
        if let Some(sample) = self.sample(layout) {
            return Ok(Record::Sample(sample));
        }
        match self.decode_other(layout) {
            // `decode_other` returns no samples. This arm lets the compiler keep the caller's sample, from the arm
            // above, in registers.
            None | Some(Record::Sample(_)) => Err(self.fault_of(layout)),
            Some(record) => Ok(record),
        }
    }

    /// Returns the record as a sample. `None` for every other record and for a faulty sample: pass those to
    /// [`decode`](Self::decode), which reports the fault.
    ///
    /// This is the fast way to samples, which are nearly all records of a capture. The view stays in registers,
    /// whereas the [`Record`] that `decode` returns has room for any kind of record. Takes constant time.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::abi::attr::Attr;
    /// use perf_parse::abi::endian::LittleEndian;
    /// use perf_parse::abi::sample_type::SampleType;
    /// use perf_parse::{RawRecord, Record, SampleLayout};
    ///
    /// let layout = SampleLayout::new(&Attr { sample_type: SampleType::IP, ..Attr::default() })?;
    /// let (raw, _) = RawRecord::<LittleEndian>::parse(b"\x09\0\0\0\x02\0\x10\0\x78\x56\x34\x12\0\0\0\0")?;
    /// match raw.sample(&layout) {
    ///     Some(sample) => assert_eq!(sample.ip(), Some(0x1234_5678)),
    ///     None => println!("{:?}", raw.decode(&layout)?),
    /// }
    /// # Ok::<(), perf_parse::Error>(())
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn sample(&self, layout: &'a SampleLayout) -> Option<Sample<'a, O>> {
        if self.kind() == RecordType::SAMPLE { Sample::fitting(layout, *self) } else { None }
    }

    /// Decodes a record that is not a sample; `None` for a fault. A separate function, so that only the path of
    /// nearly all records is inlined. It returns no reason: a call that returns the type of [`decode`](Self::decode)
    /// would force samples into memory, where each step would copy them.
    #[inline(never)]
    fn decode_other(self, layout: &'a SampleLayout) -> Option<Record<'a, O>> {
        self.decode_any(layout).ok()
    }

    /// Returns the fault of a record that could not be decoded.
    #[cold]
    #[inline(never)]
    fn fault_of(self, layout: &'a SampleLayout) -> Error {
        let nothing = Error::new(ErrorKind::Residue { bytes: 0 }, 0);
        self.decode_any(layout).err().unwrap_or(nothing)
    }

    /// Decodes a record of any type.
    #[inline(never)]
    fn decode_any(self, layout: &'a SampleLayout) -> Result<Record<'a, O>, Error> {
        let kind = self.kind();
        if kind == RecordType::SAMPLE {
            return Sample::parse(layout, &self).map(Record::Sample);
        }
        if kind.is_user() {
            return self.decode_user();
        }
        if kind.0 >= RecordType::MAX {
            return Ok(Record::Other(self));
        }
        let mut body = self.body(layout)?;
        let record = match self.endianness() {
            Endianness::Little => self.decode_body::<LittleEndian>(&mut body, layout)?,
            Endianness::Big => self.decode_body::<BigEndian>(&mut body, layout)?,
        };
        body.finish()?;
        Ok(record)
    }

    /// Decodes the body of a record of the kernel other than a sample.
    fn decode_body<E: Endian>(
        self,
        at: &mut Cursor<'a>,
        layout: &SampleLayout,
    ) -> Result<Record<'a, O>, Error> {
        Ok(match self.kind() {
            RecordType::MMAP => Record::Mmap(Mmap::parse::<E>(at)?),
            RecordType::LOST => Record::Lost(Lost::parse::<E>(at)?),
            RecordType::COMM => Record::Comm(Comm::parse::<E>(at)?),
            RecordType::EXIT => Record::Exit(Task::parse::<E>(at)?),
            RecordType::THROTTLE => Record::Throttle(Throttle::parse::<E>(at)?),
            RecordType::UNTHROTTLE => Record::Unthrottle(Throttle::parse::<E>(at)?),
            RecordType::FORK => Record::Fork(Task::parse::<E>(at)?),
            RecordType::READ => Record::Read(ReadRecord::parse::<E>(at, layout.read_format)?),
            RecordType::MMAP2 => Record::Mmap2(Mmap2::parse::<E>(at, self.misc(), layout.mmap2)?),
            RecordType::AUX => Record::Aux(Aux::parse::<E>(at)?),
            RecordType::ITRACE_START => Record::ItraceStart(ItraceStart::parse::<E>(at)?),
            RecordType::LOST_SAMPLES => Record::LostSamples(LostSamples::parse::<E>(at)?),
            RecordType::SWITCH => Record::Switch,
            RecordType::SWITCH_CPU_WIDE => Record::SwitchCpuWide(SwitchCpuWide::parse::<E>(at)?),
            RecordType::NAMESPACES => Record::Namespaces(Namespaces::parse::<E>(at)?),
            RecordType::KSYMBOL => Record::Ksymbol(Ksymbol::parse::<E>(at)?),
            RecordType::BPF_EVENT => Record::BpfEvent(BpfEvent::parse::<E>(at)?),
            RecordType::CGROUP => Record::Cgroup(Cgroup::parse::<E>(at)?),
            RecordType::TEXT_POKE => Record::TextPoke(TextPoke::parse::<E>(at)?),
            RecordType::AUX_OUTPUT_HW_ID => Record::AuxOutputHwId(AuxOutputHwId::parse::<E>(at)?),
            RecordType::CALLCHAIN_DEFERRED => Record::CallchainDeferred(CallchainDeferred::parse::<E>(at)?),
            _ => {
                at.take_rest();
                Record::Other(self)
            }
        })
    }

    /// Decodes a record of the perf tool itself, which needs no layout. A record of the kernel is returned as
    /// [`Record::Other`].
    ///
    /// # Errors
    ///
    /// The errors of [`decode`](Self::decode).
    pub fn decode_user(&self) -> Result<Record<'a, O>, Error> {
        if !self.kind().is_user() {
            return Ok(Record::Other(*self));
        }
        let record = match self.endianness() {
            Endianness::Little => UserRecord::parse(&self.typed::<LittleEndian>(())),
            Endianness::Big => UserRecord::parse(&self.typed::<BigEndian>(())),
        };
        record.map(|record| Record::User(record, self.kind()))
    }

    /// Returns a cursor over the payload without the trailer.
    fn body(&self, layout: &SampleLayout) -> Result<Cursor<'a>, Error> {
        let (body, _) = self.split_trailer(layout)?;
        Ok(Cursor::new(body, 8))
    }
}

/// Serializes a record of the perf tool without its type, which the record shows.
#[cfg(feature = "serde")]
fn user<S: serde::Serializer>(record: &UserRecord<'_>, _: &RecordType, to: S) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(record, to)
}
