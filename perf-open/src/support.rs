//! Tests for the events that the running kernel and its hardware support.

use crate::builder::Builder;
use crate::event::EventSpec;
use crate::target::Target;

impl EventSpec {
    /// Returns whether the kernel and the hardware have this event. Opens it for the calling thread, disabled, and closes
    /// it again; if the kernel may not be observed, for user space alone.
    ///
    /// `true` also if the event cannot be opened for a reason that says nothing about the event, such as a lack of
    /// privilege. perf: `is_event_supported`, `tools/perf/util/print-events.c`.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_open::abi::event::{EventType, SwId};
    /// use perf_open::event::EventSpec;
    /// use perf_open::{Builder, Target};
    ///
    /// let faults = EventSpec::software(SwId::PAGE_FAULTS);
    /// assert!(faults.is_supported());
    /// // The kernel has no software event of this number, and says so unless it refuses every event.
    /// let unknown = EventSpec::numeric("unknown", EventType::SOFTWARE, 1000);
    /// let answers = Builder::new(faults).exclude_kernel(true).open(&Target::this_thread()).is_ok();
    /// assert_eq!(unknown.is_supported(), !answers);
    /// ```
    #[must_use]
    pub fn is_supported(&self) -> bool {
        const LACKING: &[i32] = &[libc::ENOENT, libc::ENODEV, libc::ENXIO, libc::EOPNOTSUPP, libc::EINVAL];
        let open = |user_only| {
            let builder = Builder::new(self.clone()).disabled(true);
            let builder = if user_only { builder.exclude_kernel(true) } else { builder };
            builder.open(&Target::this_thread()).map(drop).map_err(|error| error.errno())
        };
        let result = match open(false) {
            Err(Some(libc::EACCES | libc::EPERM)) => open(true),
            result => result,
        };
        !matches!(result, Err(Some(errno)) if LACKING.contains(&errno))
    }
}
