//! `/proc/PID/status`.

use std::fs;

/// Returns the bytes in a field, such as `VmHWM:`, of a process by the path of its file; 0 for a process that has exited.
pub(crate) fn bytes(status: &str, field: &str) -> u64 {
    let status = fs::read_to_string(status).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
    kilobytes.unwrap_or(0) * 1024
}
