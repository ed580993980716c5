//! The control page, in native values.

use perf_abi::endian::Endian;
use perf_abi::mmap_page::{Capabilities, MmapPage};
use zerocopy::FromBytes;

use super::clock::{Clock, ShortClock};
use super::count::{CounterTimes, Pmc};
use super::error::{PageField, RingError, RingErrorKind};

/// Every field of the control page, with methods that interpret them together.
///
/// [`read`](Self::read) decodes it from a dump. A live reader fills it with volatile loads.
///
/// Kernel: `struct perf_event_mmap_page`; since Linux 2.6.31. [`MmapPage`] describes the fields.
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
    /// Reads the page at the start of a dump in byte order `O`.
    ///
    /// # Errors
    ///
    /// [`Truncated`](RingErrorKind::Truncated) if `bytes` has fewer than 1088 bytes;
    /// [`Invalid`](RingErrorKind::Invalid) if `compat_version` is not 0, which means that the layout of the page is
    /// unknown.
    pub fn read<O: Endian>(bytes: &[u8]) -> Result<Self, RingError> {
        let Ok((page, _)) = MmapPage::<O>::ref_from_prefix(bytes) else {
            let (needed, available) = (size_of::<MmapPage<O>>() as u64, bytes.len() as u64);
            let kind = RingErrorKind::Truncated { field: "perf_event_mmap_page", needed, available };
            return Err(RingError { kind, position: 0 });
        };
        let page = Self::from(page);
        if page.compat_version != 0 {
            return Err(PageField::COMPAT_VERSION.invalid(u64::from(page.compat_version), "0"));
        }
        Ok(page)
    }

    /// Returns whether the kernel was not writing, so that the numbers from `index` to `time_mask` are consistent.
    ///
    /// A live reader must also check that `lock` is the same before and after its loads.
    #[must_use]
    pub const fn is_settled(&self) -> bool {
        self.lock & 1 == 0
    }

    /// Returns the source of the count for reads from user space.
    ///
    /// `None` if the kernel does not allow such reads, if the kernel is older than 3.12 and its capability word does
    /// not report them, or if the page is not [settled](Self::is_settled).
    #[must_use]
    pub fn pmc(&self) -> Option<Pmc> {
        if !self.is_settled() || !self.has(Capabilities::USER_RDPMC) {
            return None;
        }
        Some(Pmc { index: self.index, offset: self.offset, pmc_width: self.pmc_width })
    }

    /// Returns the conversion of cycles to times.
    ///
    /// `None` if the kernel does not provide it, if the kernel is older than 3.12 and its capability word does not
    /// report whether it does, or if the page is not [settled](Self::is_settled).
    #[must_use]
    pub fn clock(&self) -> Option<Clock> {
        let offset = self.has(Capabilities::USER_TIME).then_some(self.time_offset);
        let zero = self.has(Capabilities::USER_TIME_ZERO).then_some(self.time_zero);
        let short = ShortClock { cycles: self.time_cycles, mask: self.time_mask };
        let short = self.has(Capabilities::USER_TIME_SHORT).then_some(short);
        let is_given = self.is_settled() && (offset.is_some() || zero.is_some());
        is_given.then_some(Clock { mult: self.time_mult, shift: self.time_shift, offset, zero, short })
    }

    /// Returns the times for which the event was enabled and on a counter when the page was last written.
    #[must_use]
    pub const fn times(&self) -> CounterTimes {
        CounterTimes { enabled: self.time_enabled, running: self.time_running }
    }

    fn has(&self, capability: Capabilities) -> bool {
        self.capabilities.is_reliable() && self.capabilities.contains(capability)
    }
}
