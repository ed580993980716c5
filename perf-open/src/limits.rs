//! The system's perf_event limits: files of `/proc/sys/kernel`, and `rdpmc` of sysfs.
//!
//! Each function reads its file again; the values can change at any time.
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
use crate::sys::open::filtered;

const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";
const MLOCK_KB: &str = "/proc/sys/kernel/perf_event_mlock_kb";
const MAX_SAMPLE_RATE: &str = "/proc/sys/kernel/perf_event_max_sample_rate";
const MAX_STACK: &str = "/proc/sys/kernel/perf_event_max_stack";
const MAX_CONTEXTS: &str = "/proc/sys/kernel/perf_event_max_contexts_per_stack";
const CPU_TIME_MAX_PERCENT: &str = "/proc/sys/kernel/perf_cpu_time_max_percent";
const RDPMC: &str = "/sys/bus/event_source/devices/cpu/rdpmc";

/// Returns whether the kernel supports perf_event.
///
/// It does if `perf_event_paranoid` exists; the manual page documents this test. Where `/proc` is not mounted, the answer of
/// the system call decides.
#[must_use]
pub fn is_supported() -> bool {
    let is_unknown = || !Path::new("/proc/self").exists();
    Path::new(PARANOID).exists() || (is_unknown() && filtered() != Some(libc::ENOSYS))
}

/// Returns what is forbidden without `CAP_PERFMON` (since Linux 5.8) or `CAP_SYS_ADMIN` (any version):
/// `/proc/sys/kernel/perf_event_paranoid`.
///
/// Each value also forbids what the lower values forbid.
///
/// | value | forbidden |
/// |---|---|
/// | -1 | nothing; rings larger than [`mlock_kb`] are allowed |
/// | 0 | raw data of tracepoints, and the function tracepoint |
/// | 1 | events of a cpu, [`Target::cpu`](crate::Target::cpu) |
/// | 2 | counting the kernel: `exclude_kernel` must be set. The default since Linux 4.6 |
/// | 3, 4 | everything, on distribution kernels that know these values; the same as 2 on other kernels |
///
/// # Errors
///
/// Returns an error if the file cannot be read: the kernel has no perf_event, or `/proc` is not mounted. This holds for
/// every function of this module.
#[doc(alias = "/proc/sys/kernel/perf_event_paranoid")]
pub fn paranoid() -> Result<i32, Error> {
    read(PARANOID)
}

/// Returns the KiB of rings, per cpu, that a user may lock in memory in addition to `RLIMIT_MEMLOCK`:
/// `/proc/sys/kernel/perf_event_mlock_kb`.
///
/// The default is 516: a ring of 128 pages of 4 KiB and its control page.
///
/// # Errors
///
/// The same as [`paranoid`].
#[doc(alias = "/proc/sys/kernel/perf_event_mlock_kb")]
pub fn mlock_kb() -> Result<u32, Error> {
    read(MLOCK_KB)
}

/// Returns the maximum number of samples per second: `/proc/sys/kernel/perf_event_max_sample_rate`.
///
/// The kernel refuses a higher [`sample_freq`](crate::Builder::sample_freq). It lowers the value by itself when
/// sampling takes more than [`cpu_time_max_percent`].
///
/// # Errors
///
/// The same as [`paranoid`].
#[doc(alias = "/proc/sys/kernel/perf_event_max_sample_rate")]
pub fn max_sample_rate() -> Result<u32, Error> {
    read(MAX_SAMPLE_RATE)
}

/// Returns the maximum number of entries of a call chain: `/proc/sys/kernel/perf_event_max_stack`. Since Linux 4.8.
///
/// # Errors
///
/// The same as [`paranoid`]; kernels before 4.8 do not have the file.
#[doc(alias = "/proc/sys/kernel/perf_event_max_stack")]
pub fn max_stack() -> Result<u32, Error> {
    read(MAX_STACK)
}

/// Returns the maximum number of context markers in a call chain: `/proc/sys/kernel/perf_event_max_contexts_per_stack`.
///
/// The markers do not count as entries. Since Linux 4.8.
///
/// # Errors
///
/// The same as [`paranoid`]; kernels before 4.8 do not have the file.
#[doc(alias = "/proc/sys/kernel/perf_event_max_contexts_per_stack")]
pub fn max_contexts_per_stack() -> Result<u32, Error> {
    read(MAX_CONTEXTS)
}

/// Returns the percentage of a cpu's time that sampling may take before the kernel lowers [`max_sample_rate`]:
/// `/proc/sys/kernel/perf_cpu_time_max_percent`.
///
/// 0 and 100 mean that the kernel never lowers it. Since Linux 3.11.
///
/// # Errors
///
/// The same as [`paranoid`]; kernels before 3.11 do not have the file.
#[doc(alias = "/proc/sys/kernel/perf_cpu_time_max_percent")]
pub fn cpu_time_max_percent() -> Result<u32, Error> {
    read(CPU_TIME_MAX_PERCENT)
}

/// Returns who may read counters with the `rdpmc` instruction: `/sys/bus/event_source/devices/cpu/rdpmc`.
///
/// 0 is nobody, 1 is tasks that have mapped an event, 2 is everybody. Before Linux 4.0, 1 is everybody. Since Linux
/// 3.4, x86 only.
///
/// # Errors
///
/// Returns an error if the file does not exist: on another architecture, or on a machine without a hardware PMU.
#[doc(alias = "/sys/bus/event_source/devices/cpu/rdpmc")]
pub fn rdpmc() -> Result<u32, Error> {
    read(RDPMC)
}

fn read<T: FromStr>(path: &'static str) -> Result<T, Error> {
    let failed = |error| Error::failed(path, error, "");
    let text = fs::read_to_string(path).map_err(failed)?;
    let not_a_number =
        || failed(io::Error::new(io::ErrorKind::InvalidData, "the file does not contain a number"));
    text.trim().parse().map_err(|_| not_a_number())
}
