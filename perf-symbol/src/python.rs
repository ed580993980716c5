//! Functions of Python, as the interpreter names its trampolines.

/// Returns the path of the source in the name of a trampoline: `py::NAME:PATH`, which `python -X perf` writes into the map of its
/// process. `None` for other names, and for code without a path.
///
/// CPython: `perf_map_write_entry`, `Python/perf_trampoline.c`.
pub(crate) fn path(name: &[u8]) -> Option<&[u8]> {
    // No name of Python has a colon.
    let rest = name.strip_prefix(b"py::")?;
    let colon = rest.iter().position(|&byte| byte == b':')?;
    rest.get(colon.checked_add(1)?..).filter(|path| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_trampolines() {
        assert_eq!(path(b"py::A.f.<locals>.<lambda>:/srv/a:b.py"), Some(&b"/srv/a:b.py"[..]));
        assert_eq!(path(b"py::<module>:<string>"), Some(&b"<string>"[..]));
        for other in [&b"py::f"[..], b"py::f:", b"cpp::f:/a.py", b"LazyCompile:~f a.js:1"] {
            assert_eq!(path(other), None);
        }
    }
}
