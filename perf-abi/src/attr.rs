//! The description of an event: `struct perf_event_attr`, at every size it has had.

mod flags;
mod version;
mod wire;

pub use flags::{AttrFlags, AuxAction};
pub use version::{AttrVersion, WriteError};
pub use wire::RawAttr;

use zerocopy::{FromZeros, IntoBytes};

use crate::branch::BranchSampleType;
use crate::breakpoint::BreakpointType;
use crate::endian::Endian;
use crate::event::EventType;
use crate::read_format::ReadFormat;
use crate::sample_type::SampleType;

/// What an event counts, when it samples and what a sample holds, as native values.
///
/// One struct of the newest size; what an older attr does not have is zero here. C unions are one field, named
/// after its first use, with a getter for each of the others.
///
/// Kernel: `struct perf_event_attr`; since Linux 2.6.31, the newest field since 6.19.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[doc(alias = "perf_event_attr")]
pub struct Attr {
    /// Who defines the event. C: `type`.
    pub kind: EventType,
    /// Size in bytes of the attr as it was recorded; 0 was written by tools of the first kernels and means 64.
    pub size: u32,
    /// Which event, as `kind` defines it.
    pub config: u64,
    /// Events between samples; with [`AttrFlags::FREQ`] samples a second, [`sample_freq`](Self::sample_freq).
    pub sample_period: u64,
    /// What a sample holds.
    pub sample_type: SampleType,
    /// What a read of the counter gives.
    pub read_format: ReadFormat,
    /// The one-bit switches, and `precise_ip`.
    pub flags: AttrFlags,
    /// Samples between wakeups; with [`AttrFlags::WATERMARK`] bytes, [`wakeup_watermark`](Self::wakeup_watermark).
    pub wakeup_events: u32,
    /// On which accesses a breakpoint fires. Since Linux 2.6.33.
    pub bp_type: BreakpointType,
    /// More of `config`: since Linux 2.6.39. C union with `bp_addr` (since Linux 2.6.33), `kprobe_func` and
    /// `uprobe_path` (since Linux 4.17).
    #[doc(alias("bp_addr", "kprobe_func", "uprobe_path"))]
    pub config1: u64,
    /// More of `config`: since Linux 2.6.39. C union with `bp_len` (since Linux 2.6.33), `kprobe_addr` and
    /// `probe_offset` (since Linux 4.17).
    #[doc(alias("bp_len", "kprobe_addr", "probe_offset"))]
    pub config2: u64,
    /// Which branches a branch stack holds. Since Linux 3.4.
    pub branch_sample_type: BranchSampleType,
    /// The user registers of a sample, one bit a register of [`regs`](crate::regs). Since Linux 3.7.
    pub sample_regs_user: u64,
    /// Bytes of user stack of a sample. Since Linux 3.7.
    pub sample_stack_user: u32,
    /// The clock of `time`, where [`AttrFlags::USE_CLOCKID`] is set: `CLOCK_*` of `clock_gettime`. Since Linux 4.1.
    pub clockid: i32,
    /// The registers at the interrupt, one bit a register of [`regs`](crate::regs). Since Linux 3.19.
    pub sample_regs_intr: u64,
    /// Bytes of AUX data between wakeups. Since Linux 4.1.
    pub aux_watermark: u32,
    /// Entries of a call chain at most; 0 for the system's limit. Since Linux 4.8.
    pub sample_max_stack: u16,
    /// Padding: `__reserved_2`.
    pub reserved_2: u16,
    /// Bytes of AUX data of a sample. Since Linux 5.5.
    pub aux_sample_size: u32,
    /// What the event does to AUX tracing. Since Linux 6.13.
    pub aux_action: AuxAction,
    /// What `si_perf_data` of a `SIGTRAP` carries. Since Linux 5.13.
    pub sig_data: u64,
    /// More of `config`. Since Linux 6.3.
    pub config3: u64,
    /// More of `config`. Since Linux 6.19.
    pub config4: u64,
}

/// An attr that was read, and the bytes behind it that this crate has no field for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAttr<'a> {
    /// The fields this crate knows.
    pub attr: Attr,
    /// What a newer kernel added: the bytes from 144 to the attr's size. Empty for an attr of a known version.
    pub tail: &'a [u8],
}

impl ReadAttr<'_> {
    /// Whether a newer kernel's field is in use: whether the tail has a byte that is not zero.
    #[must_use]
    pub fn has_unknown_fields(&self) -> bool {
        self.tail.iter().any(|&byte| byte != 0)
    }
}

/// Why bytes are not an attr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// Fewer bytes than the attr's own `size` field promises, or than the 8 that hold it.
    Truncated {
        /// Bytes the attr should have.
        needed: u32,
        /// Bytes there are.
        available: usize,
    },
    /// The `size` field is below the first version's 64 and not 0.
    Size(u32),
}

impl core::fmt::Display for ReadError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Truncated { needed, available } => {
                write!(f, "attr.size: the attr needs {needed} bytes, {available} are there")
            }
            Self::Size(size) => write!(f, "attr.size: {size} is smaller than the first version's 64"),
        }
    }
}

impl core::error::Error for ReadError {}

impl Attr {
    /// Reads an attr of any size from the start of `bytes`.
    ///
    /// The attr's own `size` field says where it ends: 0 means 64; a shorter one than the newest is extended with
    /// zeros, a longer one keeps its tail. Takes constant time but for the tail's borrow.
    ///
    /// # Errors
    ///
    /// [`ReadError::Truncated`] if `bytes` ends before the attr, [`ReadError::Size`] if `size` is 1 to 63.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_abi::attr::{Attr, ReadError};
    /// use perf_abi::endian::LittleEndian;
    ///
    /// let mut bytes = [0; 72];
    /// bytes[0] = 1; // type: software
    /// bytes[4] = 72; // size: VER1
    /// let read = Attr::read::<LittleEndian>(&bytes)?;
    /// assert_eq!(read.attr.kind.name(), Some("SOFTWARE"));
    /// assert_eq!(read.attr.config3, 0); // not there in VER1
    /// assert_eq!(
    ///     Attr::read::<LittleEndian>(&bytes[..71]),
    ///     Err(ReadError::Truncated { needed: 72, available: 71 })
    /// );
    /// # Ok::<(), ReadError>(())
    /// ```
    ///
    /// Kernel: `perf_copy_attr`, `kernel/events/core.c`.
    pub fn read<O: Endian>(bytes: &[u8]) -> Result<ReadAttr<'_>, ReadError> {
        let available = bytes.len();
        let truncated = |needed| ReadError::Truncated { needed, available };
        let mut wire = RawAttr::<O>::new_zeroed();
        let head = bytes.get(..8).ok_or(truncated(8))?;
        wire.as_mut_bytes().get_mut(..8).ok_or(truncated(8))?.copy_from_slice(head);
        let size = match wire.size.get() {
            0 => AttrVersion::VER0.size(),
            size if size < AttrVersion::VER0.size() => return Err(ReadError::Size(size)),
            size => size,
        };
        let attr = usize::try_from(size).ok().and_then(|size| bytes.get(..size)).ok_or(truncated(size))?;
        let (known, tail) = attr.split_at_checked(size_of::<RawAttr<O>>()).unwrap_or((attr, &[]));
        for (to, from) in wire.as_mut_bytes().iter_mut().zip(known) {
            *to = *from;
        }
        Ok(ReadAttr { attr: wire.get(), tail })
    }

    /// The bytes of this attr at `version`, the `size` field set to that version's size.
    ///
    /// The array is of the newest size; the attr is its first [`AttrVersion::size`] bytes, the rest is zero.
    ///
    /// # Errors
    ///
    /// [`WriteError`] naming the first field that `version` has no room for and that is not zero.
    pub fn write<O: Endian>(
        &self,
        version: AttrVersion,
    ) -> Result<[u8; AttrVersion::NEWEST.size() as usize], WriteError> {
        version.check(self)?;
        let mut wire = RawAttr::<O>::new(self);
        wire.size.set(version.size());
        Ok(zerocopy::transmute!(wire))
    }

    /// The oldest version that holds every field that is set here.
    #[must_use]
    pub fn oldest_version(&self) -> AttrVersion {
        let fits = |version: &AttrVersion| version.check(self).is_ok();
        AttrVersion::ALL.into_iter().find(fits).unwrap_or(AttrVersion::NEWEST)
    }

    /// Samples a second, if the event samples by frequency.
    #[must_use]
    pub fn sample_freq(&self) -> Option<u64> {
        self.flags.contains(AttrFlags::FREQ).then_some(self.sample_period)
    }

    /// Bytes in the ring between wakeups, if the event wakes by bytes.
    #[must_use]
    pub fn wakeup_watermark(&self) -> Option<u32> {
        self.flags.contains(AttrFlags::WATERMARK).then_some(self.wakeup_events)
    }

    /// The address and length a breakpoint watches, if the event is one.
    #[must_use]
    pub fn breakpoint(&self) -> Option<(u64, u64)> {
        (self.kind == EventType::BREAKPOINT).then_some((self.config1, self.config2))
    }
}
