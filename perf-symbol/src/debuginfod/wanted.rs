//! The names of a file in requests and in the cache.

use std::fmt::Write;

use crate::files::BuildIdFile;

/// Longest name of a file in the cache.
const LONGEST: usize = 255;

/// Number of bytes of the longest path that is asked for.
const LONGEST_PATH: usize = 4096;

/// A file of a build id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct WantedFile {
    /// What it is.
    pub(super) kind: BuildIdFile,
    /// The end of the URL.
    pub(super) url: String,
    /// The name in the cache.
    pub(super) cached: String,
}

impl WantedFile {
    /// Returns a file that a build id has one of.
    pub(super) fn of(kind: BuildIdFile) -> Self {
        let name = match kind {
            BuildIdFile::Executable => "executable",
            BuildIdFile::DebugInfo => "debuginfo",
            BuildIdFile::Source => "source",
        };
        Self { kind, url: name.to_owned(), cached: name.to_owned() }
    }

    /// Returns a source by its absolute path. `None` if servers have no such path, or if the cache cannot have it.
    pub(super) fn source(path: &[u8]) -> Option<Self> {
        if path.first() != Some(&b'/') || path.len() > LONGEST_PATH || path.contains(&0) {
            return None;
        }
        let mut parts: Vec<&[u8]> = Vec::new();
        for part in path.split(|&byte| byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        let mut file = Self::of(BuildIdFile::Source);
        for part in &parts {
            file.url.push('/');
            for &byte in *part {
                if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                    file.url.push(byte.into());
                } else {
                    write!(file.url, "%{byte:02X}").ok()?;
                }
            }
        }
        // elfutils: `path_escape`, `debuginfod-client.c`.
        for part in parts {
            let part = std::str::from_utf8(part).ok()?;
            file.cached.push_str("##");
            file.cached.push_str(&part.replace('#', "#_"));
        }
        (file.url != "source" && file.cached.len() <= LONGEST).then_some(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_sources() {
        let names = |path: &str| WantedFile::source(path.as_bytes()).map(|it| (it.url, it.cached));
        let some = |url: &str, cached: &str| Some((url.to_owned(), cached.to_owned()));
        assert_eq!(names("/usr/a.c"), some("source/usr/a.c", "source##usr##a.c"));
        assert_eq!(names("//usr/./x/../a b.c"), some("source/usr/a%20b.c", "source##usr##a b.c"));
        assert_eq!(names("/../../a?#%.c"), some("source/a%3F%23%25.c", "source##a?#_%.c"));
        for path in ["", "a.c", "/", "/..", "/a\0b"] {
            assert_eq!(names(path), None, "{path:?}");
        }
        assert_eq!(WantedFile::source(b"/\xff"), None);
    }

    #[test]
    fn long_paths() {
        let has = |path: &str| WantedFile::source(path.as_bytes()).is_some();
        let name = "a".repeat(LONGEST - "source##".len());
        assert!(has(&format!("/{name}")));
        assert!(!has(&format!("/{name}a")));
        let path = format!("/a{}", "/.".repeat(LONGEST_PATH / 2 - 1));
        assert_eq!(path.len(), LONGEST_PATH);
        assert!(has(&path));
        assert!(!has(&format!("{path}/")));
    }
}
