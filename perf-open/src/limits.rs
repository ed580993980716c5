//! What the system allows: the files of `/proc/sys/kernel` that are about perf_event.
//!
//! Each function reads its file anew; the values can change at any time.
//!
//! # Examples
//!
//! ```
//! use perf_open::limits;
//! if limits::is_supported() {
//!     let kernel_too = limits::paranoid()? < 2;
//!     println!("without privilege: kernel events {}", if kernel_too { "allowed" } else { "refused" });
//! }
//! # Ok::<(), perf_open::Error>(())
//! ```

use core::str::FromStr;
use std::path::Path;
use std::{fs, io};

use crate::error::Error;

const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";
const MLOCK_KB: &str = "/proc/sys/kernel/perf_event_mlock_kb";
const MAX_SAMPLE_RATE: &str = "/proc/sys/kernel/perf_event_max_sample_rate";
const MAX_STACK: &str = "/proc/sys/kernel/perf_event_max_stack";
const MAX_CONTEXTS: &str = "/proc/sys/kernel/perf_event_max_contexts_per_stack";
const CPU_TIME_MAX_PERCENT: &str = "/proc/sys/kernel/perf_cpu_time_max_percent";
const RDPMC: &str = "/sys/bus/event_source/devices/cpu/rdpmc";

/// Whether the kernel has perf_event at all: whether `perf_event_paranoid` exists, which is the documented test.
#[must_use]
pub fn is_supported() -> bool {
    Path::new(PARANOID).exists()
}

/// What is forbidden without `CAP_PERFMON` (since Linux 5.8; before, and still, `CAP_SYS_ADMIN`):
/// `/proc/sys/kernel/perf_event_paranoid`.
///
/// | value | forbidden |
/// |---|---|
/// | -1 | nothing, and rings beyond [`mlock_kb`] are allowed |
/// | 0 | raw data of tracepoints, and the function tracepoint |
/// | 1 | also events of a cpu, [`Target::cpu`](crate::Target::cpu) |
/// | 2 | also counting the kernel: `exclude_kernel` must be set. The default since Linux 4.6 |
/// | 3, 4 | everything, where a distribution's kernel knows these values; 2 elsewhere |
///
/// # Errors
///
/// If the file cannot be read: the kernel has no perf_event, or `/proc` is not mounted. So for every function here.
#[doc(alias = "/proc/sys/kernel/perf_event_paranoid")]
pub fn paranoid() -> Result<i32, Error> {
    read(PARANOID)
}

/// KiB of rings that a user may have locked in memory, per cpu, in addition to `RLIMIT_MEMLOCK`:
/// `/proc/sys/kernel/perf_event_mlock_kb`. 516 by default: a ring of 128 pages of 4 KiB and its control page.
///
/// # Errors
///
/// As [`paranoid`].
#[doc(alias = "/proc/sys/kernel/perf_event_mlock_kb")]
pub fn mlock_kb() -> Result<u32, Error> {
    read(MLOCK_KB)
}

/// Samples a second at most: `/proc/sys/kernel/perf_event_max_sample_rate`.
///
/// A higher [`sample_freq`](crate::Builder::sample_freq) is refused. The kernel lowers the value by itself when
/// sampling takes more than [`cpu_time_max_percent`].
///
/// # Errors
///
/// As [`paranoid`].
#[doc(alias = "/proc/sys/kernel/perf_event_max_sample_rate")]
pub fn max_sample_rate() -> Result<u32, Error> {
    read(MAX_SAMPLE_RATE)
}

/// Entries of a call chain at most: `/proc/sys/kernel/perf_event_max_stack`. Since Linux 4.8.
///
/// # Errors
///
/// As [`paranoid`]; also on kernels before 4.8.
#[doc(alias = "/proc/sys/kernel/perf_event_max_stack")]
pub fn max_stack() -> Result<u32, Error> {
    read(MAX_STACK)
}

/// Context markers in a call chain at most, counted apart from its entries:
/// `/proc/sys/kernel/perf_event_max_contexts_per_stack`. Since Linux 4.8.
///
/// # Errors
///
/// As [`paranoid`]; also on kernels before 4.8.
#[doc(alias = "/proc/sys/kernel/perf_event_max_contexts_per_stack")]
pub fn max_contexts_per_stack() -> Result<u32, Error> {
    read(MAX_CONTEXTS)
}

/// Percent of a cpu's time that sampling may take before the kernel lowers [`max_sample_rate`]; 0 and 100 mean that it
/// does not: `/proc/sys/kernel/perf_cpu_time_max_percent`. Since Linux 3.11.
///
/// # Errors
///
/// As [`paranoid`]; also on kernels before 3.11.
#[doc(alias = "/proc/sys/kernel/perf_cpu_time_max_percent")]
pub fn cpu_time_max_percent() -> Result<u32, Error> {
    read(CPU_TIME_MAX_PERCENT)
}

/// Who may read counters with the `rdpmc` instruction: `/sys/bus/event_source/devices/cpu/rdpmc`. 0 nobody, 1 tasks
/// with an event that is mapped, 2 everybody (the meaning of 1 before Linux 4.0). Since Linux 3.4, x86 only.
///
/// # Errors
///
/// If there is no such file: another architecture, or a machine without a hardware PMU.
#[doc(alias = "/sys/bus/event_source/devices/cpu/rdpmc")]
pub fn rdpmc() -> Result<u32, Error> {
    read(RDPMC)
}

fn read<T: FromStr>(path: &'static str) -> Result<T, Error> {
    let failed = |error| Error::failed(path, error, "");
    let text = fs::read_to_string(path).map_err(failed)?;
    let not_a_number =
        || failed(io::Error::new(io::ErrorKind::InvalidData, "the file does not hold a number"));
    text.trim().parse().map_err(|_| not_a_number())
}
