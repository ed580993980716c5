//! The description of an event: `struct perf_event_attr`, in every size it has had.

mod bytes;
mod flags;
mod version;
mod wire;

pub use bytes::AttrBytes;
pub use flags::{AttrFlags, AuxAction};
pub use version::{AttrVersion, AttrWriteError};
pub use wire::RawAttr;

use zerocopy::{FromZeros, IntoBytes};

use crate::branch::BranchSampleType;
use crate::breakpoint::BreakpointType;
use crate::endian::Endian;
use crate::event::EventType;
use crate::read_format::ReadFormat;
use crate::sample_type::SampleType;

/// The description of an event as native values: what it counts, when it samples and which
/// fields a sample has.
///
/// The struct has the fields of the newest attr; a field that an older attr lacks is zero. A C union is
/// one field, named after the union's first use. Methods such as [`breakpoint`](Self::breakpoint)
/// return other uses.
///
/// Newer kernels add fields. End a struct expression with `..Attr::default()` and a pattern with `..`, so that it
/// compiles with the next version of this crate.
///
/// Kernel: `struct perf_event_attr`; since Linux 2.6.31, the newest field since 6.19.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
#[doc(alias = "perf_event_attr")]
#[doc(alias = "PerfEventAttr")]
pub struct Attr {
    /// The kind of event: a generic type or a PMU. C: `type`.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub kind: EventType,
    /// Size in bytes of the attr as recorded. Tools of the first kernels wrote 0, which means 64.
    pub size: u32,
    /// The event; its encoding depends on `kind`.
    pub config: u64,
    /// Events between two samples; with [`AttrFlags::FREQ`] samples per second, see
    /// [`sample_freq`](Self::sample_freq).
    pub sample_period: u64,
    /// The fields of a sample.
    pub sample_type: SampleType,
    /// The values that a read of the counter returns.
    pub read_format: ReadFormat,
    /// The one-bit flags, and `precise_ip`.
    pub flags: AttrFlags,
    /// Samples between two wakeups; with [`AttrFlags::WATERMARK`] bytes, see
    /// [`wakeup_watermark`](Self::wakeup_watermark).
    pub wakeup_events: u32,
    /// The accesses that trigger a breakpoint. Since Linux 2.6.33.
    pub bp_type: BreakpointType,
    /// Extension of `config`, since Linux 2.6.39. C: a union with `bp_addr` (since Linux 2.6.33),
    /// `kprobe_func` and `uprobe_path` (since Linux 4.17).
    #[doc(alias("bp_addr", "kprobe_func", "uprobe_path"))]
    pub config1: u64,
    /// Extension of `config`, since Linux 2.6.39. C: a union with `bp_len` (since Linux 2.6.33),
    /// `kprobe_addr` and `probe_offset` (since Linux 4.17).
    #[doc(alias("bp_len", "kprobe_addr", "probe_offset"))]
    pub config2: u64,
    /// The branches that a branch stack records. Since Linux 3.4.
    pub branch_sample_type: BranchSampleType,
    /// Mask of the user registers in a sample; [`regs`](crate::regs) names the bits. Since Linux 3.7.
    pub sample_regs_user: u64,
    /// Bytes of user stack to copy into a sample. Since Linux 3.7.
    pub sample_stack_user: u32,
    /// The clock of `time` if [`AttrFlags::USE_CLOCKID`] is set: `CLOCK_*` of
    /// `clock_gettime(2)`. Since Linux 4.1.
    pub clockid: i32,
    /// Mask of the registers at the interrupt; [`regs`](crate::regs) names the bits. Since Linux 3.19.
    pub sample_regs_intr: u64,
    /// Bytes of AUX data between two wakeups. Since Linux 4.1.
    pub aux_watermark: u32,
    /// Maximum number of addresses in a call chain; 0 for the system's limit. Since Linux 4.8.
    pub sample_max_stack: u16,
    /// Padding: `__reserved_2`.
    #[cfg_attr(feature = "serde", serde(rename = "__reserved_2"))]
    pub reserved_2: u16,
    /// Bytes of AUX data to copy into a sample. Since Linux 5.5.
    pub aux_sample_size: u32,
    /// The effect of the event on AUX tracing. Since Linux 6.13.
    pub aux_action: AuxAction,
    /// The value of `si_perf_data` in a `SIGTRAP`. Since Linux 5.13.
    pub sig_data: u64,
    /// Extension of `config`. Since Linux 6.3.
    pub config3: u64,
    /// Extension of `config`. Since Linux 6.19.
    pub config4: u64,
    // `#[non_exhaustive]` would also forbid `..Attr::default()` in other crates.
    #[doc(hidden)]
    #[cfg_attr(feature = "serde", serde(skip))]
    pub non_exhaustive: (),
}

/// An attr that was read, and its trailing bytes that this crate has no field for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReadAttr<'a> {
    /// The fields that this crate knows.
    pub attr: Attr,
    /// The bytes that a newer kernel added, from offset 144 to the attr's size. Empty for an attr
    /// of a known version.
    pub tail: &'a [u8],
}

impl ReadAttr<'_> {
    /// Returns whether a field of a newer kernel is in use: whether any byte of the tail is not zero.
    #[must_use]
    pub fn has_unknown_fields(&self) -> bool {
        self.tail.iter().any(|&byte| byte != 0)
    }
}

/// The reason why bytes are not an attr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AttrReadError {
    /// There are fewer bytes than the attr's `size` field announces, or fewer than the 8 that
    /// contain that field.
    Truncated {
        /// Bytes that the attr needs.
        needed: u32,
        /// Bytes that are available.
        available: usize,
    },
    /// The `size` field is not 0 and less than 64, the size of the first version.
    Size(u32),
}

impl core::fmt::Display for AttrReadError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Truncated { needed, available } => {
                write!(f, "attr.size: the attr has {needed} bytes, but only {available} are available")
            }
            Self::Size(size) => write!(f, "attr.size: is {size}, but must be 0 or at least 64"),
        }
    }
}

impl core::error::Error for AttrReadError {}

impl Attr {
    /// Returns whether the times of the event's records are those of `CLOCK_MONOTONIC`, as `perf record -k mono` has them.
    ///
    /// Kernel: `perf_event_set_clock`, `kernel/events/core.c`, since Linux 4.1; `CLOCK_MONOTONIC`, `include/uapi/linux/time.h`.
    ///
    /// ```
    /// use perf_abi::attr::{Attr, AttrFlags};
    ///
    /// let attr = Attr { flags: AttrFlags::USE_CLOCKID, clockid: 1, ..Attr::default() };
    /// assert!(attr.has_monotonic_times() && !Attr { clockid: 1, ..Attr::default() }.has_monotonic_times());
    /// ```
    #[must_use]
    pub const fn has_monotonic_times(&self) -> bool {
        const CLOCK_MONOTONIC: i32 = 1;
        self.flags.contains(AttrFlags::USE_CLOCKID) && self.clockid == CLOCK_MONOTONIC
    }

    /// Reads an attr of any size from the start of `bytes`.
    ///
    /// The attr's `size` field gives its length; 0 means 64. The fields that a shorter attr lacks are zero.
    /// The bytes of a longer attr that follow the known fields are its tail, which is borrowed from `bytes`.
    /// Takes constant time.
    ///
    /// # Errors
    ///
    /// [`AttrReadError::Truncated`] if `bytes` ends before the attr does; [`AttrReadError::Size`] if
    /// `size` is 1 to 63.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_abi::attr::{Attr, AttrReadError};
    /// use perf_abi::endian::LittleEndian;
    ///
    /// let mut bytes = [0; 72];
    /// bytes[0] = 1; // type: software
    /// bytes[4] = 72; // size: VER1
    /// let read = Attr::read::<LittleEndian>(&bytes)?;
    /// assert_eq!(read.attr.kind.name(), Some("SOFTWARE"));
    /// assert_eq!(read.attr.config3, 0); // VER1 has no config3
    /// assert_eq!(
    ///     Attr::read::<LittleEndian>(&bytes[..71]),
    ///     Err(AttrReadError::Truncated { needed: 72, available: 71 })
    /// );
    /// # Ok::<(), AttrReadError>(())
    /// ```
    ///
    /// Kernel: `perf_copy_attr`, `kernel/events/core.c`.
    pub fn read<O: Endian>(bytes: &[u8]) -> Result<ReadAttr<'_>, AttrReadError> {
        let available = bytes.len();
        let truncated = |needed| AttrReadError::Truncated { needed, available };
        let mut wire = RawAttr::<O>::new_zeroed();
        let head = bytes.get(..8).ok_or(truncated(8))?;
        wire.as_mut_bytes().get_mut(..8).ok_or(truncated(8))?.copy_from_slice(head);
        let size = match wire.size.get() {
            0 => AttrVersion::VER0.size(),
            size if size < AttrVersion::VER0.size() => return Err(AttrReadError::Size(size)),
            size => size,
        };
        let attr = usize::try_from(size).ok().and_then(|size| bytes.get(..size)).ok_or(truncated(size))?;
        let (known, tail) = attr.split_at_checked(size_of::<RawAttr<O>>()).unwrap_or((attr, &[]));
        for (to, from) in wire.as_mut_bytes().iter_mut().zip(known) {
            *to = *from;
        }
        Ok(ReadAttr { attr: wire.get(), tail })
    }

    /// Returns the bytes of this attr in `version`, with the `size` field set to the size of that version.
    ///
    /// # Errors
    ///
    /// The error of [`AttrVersion::check`]: a field that is not zero and that `version` lacks, or an unknown version.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_abi::attr::{Attr, AttrVersion};
    /// use perf_abi::endian::LittleEndian;
    ///
    /// let mut attr = Attr { config: 7, ..Attr::default() };
    /// let bytes = attr.write::<LittleEndian>(AttrVersion::VER0)?;
    /// assert_eq!(bytes.len(), 64);
    /// assert_eq!(Attr::read::<LittleEndian>(&bytes).unwrap().attr.config, 7);
    ///
    /// attr.config3 = 1;
    /// let error = attr.write::<LittleEndian>(AttrVersion::VER0).unwrap_err();
    /// assert_eq!(error.to_string(), "attr.config3: is set, but needs an attr of at least 136 bytes, not 64");
    /// # Ok::<(), perf_abi::attr::AttrWriteError>(())
    /// ```
    pub fn write<O: Endian>(&self, version: AttrVersion) -> Result<AttrBytes, AttrWriteError> {
        version.check(self)?;
        let mut wire = RawAttr::<O>::new(self);
        wire.size.set(version.size());
        Ok(AttrBytes::new(zerocopy::transmute!(wire), version))
    }

    /// Returns the oldest version that has every field that is not zero here.
    #[must_use]
    pub fn oldest_version(&self) -> AttrVersion {
        let fits = |version: &AttrVersion| version.check(self).is_ok();
        AttrVersion::ALL.iter().copied().find(fits).unwrap_or(AttrVersion::NEWEST)
    }

    /// Returns the samples per second; `None` if the event does not sample by frequency.
    #[must_use]
    pub fn sample_freq(&self) -> Option<u64> {
        self.flags.contains(AttrFlags::FREQ).then_some(self.sample_period)
    }

    /// Returns the bytes in the ring between two wakeups; `None` if wakeups are counted in samples.
    #[must_use]
    pub fn wakeup_watermark(&self) -> Option<u32> {
        self.flags.contains(AttrFlags::WATERMARK).then_some(self.wakeup_events)
    }

    /// Returns the address and length that a breakpoint watches; `None` if the event is not a breakpoint.
    #[must_use]
    pub fn breakpoint(&self) -> Option<(u64, u64)> {
        (self.kind == EventType::BREAKPOINT).then_some((self.config1, self.config2))
    }

    /// Removes fields from samples, with the settings that say what the fields have: branches, registers, sizes of stacks and of
    /// AUX data.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_abi::attr::Attr;
    /// use perf_abi::sample_type::SampleType;
    ///
    /// let sample_type = SampleType::TIME | SampleType::REGS_USER | SampleType::STACK_USER;
    /// let mut attr = Attr { sample_type, sample_regs_user: 0xff, sample_stack_user: 8192, ..Attr::default() };
    /// attr.remove_sample_fields(SampleType::STACK_USER);
    /// assert_eq!(attr.sample_type, SampleType::TIME | SampleType::REGS_USER);
    /// assert_eq!((attr.sample_regs_user, attr.sample_stack_user), (0xff, 0));
    /// ```
    pub fn remove_sample_fields(&mut self, fields: SampleType) {
        self.sample_type = self.sample_type.without(fields);
        if fields.contains(SampleType::BRANCH_STACK) {
            self.branch_sample_type = BranchSampleType::NONE;
        }
        if fields.contains(SampleType::REGS_USER) {
            self.sample_regs_user = 0;
        }
        if fields.contains(SampleType::STACK_USER) {
            self.sample_stack_user = 0;
        }
        if fields.contains(SampleType::REGS_INTR) {
            self.sample_regs_intr = 0;
        }
        if fields.contains(SampleType::AUX) {
            self.aux_sample_size = 0;
        }
    }
}
