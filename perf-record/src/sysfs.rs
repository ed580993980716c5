//! The short texts and the numbered folders of sysfs and procfs.

use std::fs;
use std::path::Path;

/// Returns the text of a file without the spaces around it; `None` if it cannot be read.
pub(crate) fn text(path: &Path) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// Returns the number in a file; `None` if there is none.
pub(crate) fn number<T: core::str::FromStr>(path: &Path) -> Option<T> {
    text(path)?.parse().ok()
}

/// Returns the names in a folder; empty if it cannot be read.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// Returns the numbers in ascending order of the names in a folder that consist of `prefix` and a number.
pub(crate) fn numbered(folder: &Path, prefix: &str) -> Vec<u32> {
    let number = |name: String| name.strip_prefix(prefix)?.parse().ok();
    let mut numbers: Vec<u32> = names(folder).into_iter().filter_map(number).collect();
    numbers.sort_unstable();
    numbers
}
