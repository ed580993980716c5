//! The names that captures have for the text of a kernel and for its modules.

/// The name of the text of the host's kernel.
pub(crate) const KERNEL: &[u8] = b"[kernel.kallsyms]";

/// Returns the name of the file at a path before `.ko`; `None` if it is no file of a module.
///
/// perf: `__kmod_path__parse`, `tools/perf/util/dso.c`.
pub(crate) fn module_stem(path: &[u8]) -> Option<&[u8]> {
    let file = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    let end = file.windows(3).position(|part| part == b".ko")?;
    file.get(..end)
}
