//! `getrlimit(2)`, with limits of 64 bits on every machine.

/// `RLIM64_INFINITY`.
const UNLIMITED: u64 = u64::MAX;

/// Returns the soft limit of open files; `None` if there is no limit.
pub(crate) fn open_files() -> Option<u64> {
    let mut limit = libc::rlimit64 { rlim_cur: UNLIMITED, rlim_max: UNLIMITED };
    // SAFETY: the pointer is that of a live struct, which the kernel fills in. If the call failed, it would stay unlimited.
    unsafe { libc::getrlimit64(libc::RLIMIT_NOFILE, &raw mut limit) };
    (limit.rlim_cur != UNLIMITED).then_some(limit.rlim_cur)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_that_of_proc() {
        let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
        let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
        assert_eq!(open_files(), line.split_whitespace().next().and_then(|soft| soft.parse().ok()));
    }
}
