//! `getrlimit(2)`.

/// Returns the soft limit of open files; `None` if there is no limit.
pub(crate) fn open_files() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the pointer is that of a live struct, which the kernel fills in. If the call failed, it would stay unlimited.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    (limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
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
