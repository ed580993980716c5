//! The names that captures have in what is written of them.

use std::path::PathBuf;

use crate::names::file_name;

/// Returns what captures are called: the names of their files; with the folders if files have the same name.
pub(crate) fn capture_names(paths: &[PathBuf]) -> Vec<Vec<u8>> {
    let paths: Vec<_> = paths.iter().map(|path| path.as_os_str().as_encoded_bytes()).collect();
    let mut files: Vec<_> = paths.iter().map(|path| file_name(path)).collect();
    files.sort_unstable();
    files.dedup();
    let is_clear = files.len() == paths.len() && !files.contains(&&b""[..]);
    let name = |path: &&[u8]| match *path {
        b"-" => b"standard input".to_vec(),
        path => (if is_clear { file_name(path) } else { path }).to_vec(),
    };
    paths.iter().map(name).collect()
}
