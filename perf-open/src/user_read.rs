//! Counts read in user space, without a system call: `rdpmc` and the like.
//!
//! The event's control page, guarded by a sequence count, holds the register that counts and the offset to add to it.
//! [`UserReader`] reads both, or makes a system call if the page does not allow user reads.

use core::marker::PhantomData;

use perf_abi::attr::AttrFlags;
use perf_abi::read_format::ReadFormat;
use perf_parse::ring::Page;

use crate::count::Count;
use crate::counter::Counter;
use crate::error::Error;
use crate::ring::map;
use crate::sys::mapping::{SharedMapping, page_size};
use crate::sys::rdpmc;

/// The maximum number of times that the page is read again if the kernel changed it during the read.
const TRIES: u32 = 1000;

/// A reader of an event of the calling thread that works in user space if possible.
///
/// It works for hardware events that a thread has opened on itself, on x86 and arm64, if the kernel allows it:
/// [`limits::rdpmc`](crate::limits::rdpmc); on arm64, the event's term `rdpmc` and the sysctl `perf_user_access`. It is
/// not always faster than [`Counter::read`]; measure. It stays on its thread because the registers are the thread's.
///
/// Kernels 3.4 to 3.11 use one bit of the page for two capabilities, so the page does not show whether user reads are
/// allowed. On these kernels every read is a system call.
///
/// # Examples
///
/// ```no_run
/// use perf_open::abi::event::SwId;
/// use perf_open::user_read::UserReader;
/// use perf_open::{Builder, EventSpec, Target};
///
/// let clock = Builder::new(EventSpec::software(SwId::TASK_CLOCK)).exclude_kernel(true);
/// let counter = clock.open(&Target::this_thread())?;
/// let reader = UserReader::map(&counter)?;
/// assert!(reader.try_read().is_none()); // no register counts a software event
/// assert!(reader.read()?.value > 0); // a system call
/// # Ok::<(), perf_open::Error>(())
/// ```
///
/// Kernel: the comments in `struct perf_event_mmap_page`; since Linux 3.4 on x86, 5.17 on arm64.
#[derive(Debug)]
#[doc(alias = "rdpmc")]
pub struct UserReader<'c> {
    counter: &'c Counter,
    page: SharedMapping,
    /// Makes the type neither `Send` nor `Sync`.
    thread: PhantomData<*const ()>,
}

impl<'c> UserReader<'c> {
    /// Maps the control page of `counter`, which must have no ring.
    ///
    /// # Errors
    ///
    /// Without a system call: if the event does not count the calling thread, whose registers alone can be read, or if
    /// it reads a group. From the kernel: `EINVAL` if the event has a ring.
    pub fn map(counter: &'c Counter) -> Result<Self, Error> {
        if !counter.is_of_this_thread() {
            let why = "pid: only events of the calling thread can be read";
            return Err(Error::refused("mmap", "pid", why));
        }
        if counter.attr().read_format.contains(ReadFormat::GROUP) {
            let why = "read_format: has PERF_FORMAT_GROUP, but a control page has the count of one event";
            return Err(Error::refused("mmap", "read_format", why));
        }
        let fd = std::os::fd::AsFd::as_fd(counter);
        let page = SharedMapping::of_event(fd, 0, page_size(), false).map_err(|error| {
            Error::failed("mmap", error, "the event may have a ring already, which has the page")
        })?;
        Ok(Self { counter, page, thread: PhantomData })
    }

    /// Reads the count: in user space if possible, else by [`Counter::read`].
    ///
    /// A count read in user space has no id and no number of lost samples.
    ///
    /// # Errors
    ///
    /// The same as [`Counter::read`].
    pub fn read(&self) -> Result<Count, Error> {
        self.try_read().map_or_else(|| self.counter.read(), Ok)
    }

    /// Reads the count in user space. `None` if a system call is needed: the kernel or the architecture does not allow
    /// user reads, the event is on no counter now, the kernel changed the page during each of 1000 tries, or the event
    /// has `inherit`, so children may count too.
    #[must_use]
    pub fn try_read(&self) -> Option<Count> {
        if self.counter.attr().flags.contains(AttrFlags::INHERIT) {
            return None;
        }
        user_count(&LivePage { page: &self.page })
    }
}

/// The inputs of a count.
trait CountSource {
    /// Reads the control page; its fields are from the same moment.
    fn page(&self) -> Page;
    /// Returns whether the page has not changed since `page` was read.
    fn is_unchanged(&self, page: &Page) -> bool;
    /// Reads a counter's register.
    fn register(&self, register: u32) -> Option<u64>;
    /// Reads the clock.
    fn cycles(&self) -> Option<u64>;
}

struct LivePage<'a> {
    page: &'a SharedMapping,
}

impl CountSource for LivePage<'_> {
    fn page(&self) -> Page {
        map::page(self.page)
    }

    fn is_unchanged(&self, page: &Page) -> bool {
        map::page(self.page).lock == page.lock
    }

    fn register(&self, register: u32) -> Option<u64> {
        rdpmc::counter(register)
    }

    fn cycles(&self) -> Option<u64> {
        rdpmc::cycles()
    }
}

/// Computes the count from the page and the register; `None` if they do not provide it.
fn user_count(source: &impl CountSource) -> Option<Count> {
    for _ in 0..TRIES {
        let page = source.page();
        let pmc = page.pmc()?;
        let register = pmc.register()?;
        let cycles = source.cycles();
        let value = source.register(register)?;
        if !source.is_unchanged(&page) {
            continue;
        }
        // The page's times are those of its last update. Without a clock, the time since then is not known.
        let elapsed = page.clock().zip(cycles).and_then(|(clock, cycles)| clock.elapsed(cycles));
        let times = elapsed.map(|elapsed| page.times().add_elapsed(elapsed, true));
        return Some(Count {
            value: pmc.count(value)?,
            time_enabled: times.map(|times| times.enabled),
            time_running: times.map(|times| times.running),
            id: None,
            lost: None,
        });
    }
    None
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use perf_abi::mmap_page::Capabilities;

    use super::*;

    /// A page whose lock changes during the first `writes` reads, and a counter.
    struct FakePage {
        page: Page,
        writes: Cell<u32>,
        pmc: Option<u64>,
    }

    fn fake(capabilities: Capabilities) -> FakePage {
        let page = Page {
            lock: 8,
            index: 3,
            offset: 1000,
            time_enabled: 500,
            time_running: 300,
            capabilities: capabilities | Capabilities::BIT0_IS_DEPRECATED,
            pmc_width: 48,
            time_mult: 1,
            time_offset: 0_u64.wrapping_sub(40),
            ..Page::default()
        };
        FakePage { page, writes: Cell::new(0), pmc: Some(7) }
    }

    impl CountSource for FakePage {
        fn page(&self) -> Page {
            self.page
        }

        fn is_unchanged(&self, page: &Page) -> bool {
            assert_eq!(page.lock, 8);
            let left = self.writes.get();
            self.writes.set(left.saturating_sub(1));
            left == 0
        }

        fn register(&self, register: u32) -> Option<u64> {
            assert_eq!(register, 2);
            self.pmc
        }

        fn cycles(&self) -> Option<u64> {
            Some(50)
        }
    }

    const BOTH: Capabilities = Capabilities(Capabilities::USER_RDPMC.0 | Capabilities::USER_TIME.0);

    #[test]
    fn the_count_is_the_offset_and_the_register() {
        let count = user_count(&fake(BOTH)).unwrap();
        // The page was written 10 ns before.
        assert_eq!((count.value, count.time_enabled, count.time_running), (1007, Some(510), Some(310)));
        let below_zero = FakePage { pmc: Some((1 << 48) - 16), ..fake(BOTH) };
        assert_eq!(user_count(&below_zero).unwrap().value, 984);
    }

    #[test]
    fn without_a_clock_the_times_are_not_known() {
        let count = user_count(&fake(Capabilities::USER_RDPMC)).unwrap();
        assert_eq!((count.value, count.time_enabled, count.scaled()), (1007, None, None));
    }

    #[test]
    fn a_page_that_changed_meanwhile_is_read_anew() {
        let busy = fake(BOTH);
        busy.writes.set(3);
        assert_eq!(user_count(&busy).map(|count| count.value), Some(1007));
        assert_eq!(busy.writes.get(), 0);
        busy.writes.set(u32::MAX);
        assert_eq!(user_count(&busy), None);
    }

    #[test]
    fn the_kernel_is_asked_where_the_page_does_not_allow() {
        assert_eq!(user_count(&fake(Capabilities::USER_TIME)), None);
        let idle = FakePage { page: Page { index: 0, ..fake(BOTH).page }, ..fake(BOTH) };
        assert_eq!(user_count(&idle), None);
        let old = FakePage { page: Page { capabilities: BOTH, ..fake(BOTH).page }, ..fake(BOTH) };
        assert_eq!(user_count(&old), None);
        let nothing_to_read_with = FakePage { pmc: None, ..fake(BOTH) };
        assert_eq!(user_count(&nothing_to_read_with), None);
    }
}
