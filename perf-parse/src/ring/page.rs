//! The control page, in native values.

use perf_abi::endian::Endian;
use perf_abi::mmap_page::{Capabilities, MmapPage};
use zerocopy::FromBytes;

use super::clock::{Clock, ShortClock};
use super::count::{Counter, Times};
use super::error::{Field, RingError, RingErrorKind};

/// Every field of the control page, and what its numbers mean together.
///
/// From a dump by [`read`](Self::read); a live reader fills it itself, by volatile loads.
///
/// Kernel: `struct perf_event_mmap_page`; since Linux 2.6.31. The fields' own pages: [`MmapPage`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[doc(alias = "perf_event_mmap_page")]
#[allow(missing_docs, reason = "the fields are those of `MmapPage`, documented there")]
pub struct Page {
    pub version: u32,
    pub compat_version: u32,
    pub lock: u32,
    pub index: u32,
    pub offset: i64,
    pub time_enabled: u64,
    pub time_running: u64,
    pub capabilities: Capabilities,
    pub pmc_width: u16,
    pub time_shift: u16,
    pub time_mult: u32,
    pub time_offset: u64,
    pub time_zero: u64,
    pub size: u32,
    pub time_cycles: u64,
    pub time_mask: u64,
    pub data_head: u64,
    pub data_tail: u64,
    pub data_offset: u64,
    pub data_size: u64,
    pub aux_head: u64,
    pub aux_tail: u64,
    pub aux_offset: u64,
    pub aux_size: u64,
}

impl<O: Endian> From<&MmapPage<O>> for Page {
    fn from(page: &MmapPage<O>) -> Self {
        Self {
            version: page.version.get(),
            compat_version: page.compat_version.get(),
            lock: page.lock.get(),
            index: page.index.get(),
            offset: page.offset.get(),
            time_enabled: page.time_enabled.get(),
            time_running: page.time_running.get(),
            capabilities: page.capabilities(),
            pmc_width: page.pmc_width.get(),
            time_shift: page.time_shift.get(),
            time_mult: page.time_mult.get(),
            time_offset: page.time_offset.get(),
            time_zero: page.time_zero.get(),
            size: page.size.get(),
            time_cycles: page.time_cycles.get(),
            time_mask: page.time_mask.get(),
            data_head: page.data_head.get(),
            data_tail: page.data_tail.get(),
            data_offset: page.data_offset.get(),
            data_size: page.data_size.get(),
            aux_head: page.aux_head.get(),
            aux_tail: page.aux_tail.get(),
            aux_offset: page.aux_offset.get(),
            aux_size: page.aux_size.get(),
        }
    }
}

impl Page {
    /// Reads the page at the start of a dump of byte order `O`.
    ///
    /// # Errors
    ///
    /// [`Truncated`](RingErrorKind::Truncated) if `bytes` are fewer than 1088;
    /// [`Invalid`](RingErrorKind::Invalid) if `compat_version` is not 0: the page is laid out in a way not known here.
    pub fn read<O: Endian>(bytes: &[u8]) -> Result<Self, RingError> {
        let Ok((page, _)) = MmapPage::<O>::ref_from_prefix(bytes) else {
            let (needed, available) = (size_of::<MmapPage<O>>() as u64, bytes.len() as u64);
            let kind = RingErrorKind::Truncated { field: "perf_event_mmap_page", needed, available };
            return Err(RingError { kind, position: 0 });
        };
        let page = Self::from(page);
        if page.compat_version != 0 {
            return Err(Field::COMPAT_VERSION.invalid(u64::from(page.compat_version), "0"));
        }
        Ok(page)
    }

    /// Whether the kernel was not writing: the numbers from `index` to `time_mask` belong together.
    ///
    /// A live reader also has to see that `lock` is the same before and after.
    #[must_use]
    pub const fn is_settled(&self) -> bool {
        self.lock & 1 == 0
    }

    /// How to read the count from user space.
    ///
    /// `None` if the kernel does not allow it, if it is one before 3.12, whose word of capabilities does not say, and
    /// if the page is not [settled](Self::is_settled).
    #[must_use]
    pub fn counter(&self) -> Option<Counter> {
        if !self.is_settled() || !self.has(Capabilities::USER_RDPMC) {
            return None;
        }
        Some(Counter { index: self.index, offset: self.offset, pmc_width: self.pmc_width })
    }

    /// How to make times of cycles.
    ///
    /// `None` if the kernel does not say, if it is one before 3.12, whose word of capabilities does not tell whether
    /// it does, and if the page is not [settled](Self::is_settled).
    #[must_use]
    pub fn clock(&self) -> Option<Clock> {
        let offset = self.has(Capabilities::USER_TIME).then_some(self.time_offset);
        let zero = self.has(Capabilities::USER_TIME_ZERO).then_some(self.time_zero);
        let short = ShortClock { cycles: self.time_cycles, mask: self.time_mask };
        let short = self.has(Capabilities::USER_TIME_SHORT).then_some(short);
        let is_given = self.is_settled() && (offset.is_some() || zero.is_some());
        is_given.then_some(Clock { mult: self.time_mult, shift: self.time_shift, offset, zero, short })
    }

    /// How long the event was enabled and on a counter, when the page was last written.
    #[must_use]
    pub const fn times(&self) -> Times {
        Times { enabled: self.time_enabled, running: self.time_running }
    }

    fn has(&self, capability: Capabilities) -> bool {
        self.capabilities.is_reliable() && self.capabilities.contains(capability)
    }
}
