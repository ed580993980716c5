//! The places at which a source file may be.

use std::path::{Path, PathBuf};

use perf_symbol::path_of;

use super::{SourceOptions, SourceOrigin};

/// Number of bytes of the longest path that is looked for: Linux opens no longer one.
pub(super) const LONGEST: usize = 4096;

/// Number of parts of a path that are looked for in a folder.
const PARTS: usize = 64;

/// A place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    pub(super) origin: SourceOrigin,
    /// Whether its time of modification is that of a copy.
    pub(super) is_copy: bool,
}

/// Returns the places of a recorded path, the best one first: those that the user names, that below the root of the recorded
/// machine, and the path itself if it is absolute.
pub(super) fn places<'a>(
    recorded: &'a [u8],
    options: &'a SourceOptions,
    symfs: Option<&'a Path>,
) -> impl Iterator<Item = Place> + 'a {
    let is_absolute = recorded.first() == Some(&b'/');
    let parts = parts(recorded).unwrap_or_default();
    let of = |path, origin| Place { path, origin, is_copy: false };
    let prefix = options.prefix.as_deref().filter(|_| is_absolute && !parts.is_empty());
    let prefix = prefix.map(|prefix| {
        let most = parts.len().saturating_sub(1);
        let strip = usize::try_from(options.strip).unwrap_or(usize::MAX).min(most);
        of(below(prefix, parts.get(strip..).unwrap_or_default()), SourceOrigin::Prefix)
    });
    let symfs = symfs.filter(|_| is_absolute && !parts.is_empty());
    let symfs =
        symfs.map(|root| Place { path: below(root, &parts), origin: SourceOrigin::Recorded, is_copy: true });
    let itself = is_absolute.then(|| of(path_of(recorded), SourceOrigin::Recorded));
    let first = parts.len().saturating_sub(PARTS);
    let ends = options.dirs.iter().flat_map(move |dir| {
        let parts = parts.clone();
        (first..parts.len())
            .map(move |start| of(below(dir, parts.get(start..).unwrap_or_default()), SourceOrigin::Directory))
    });
    prefix.into_iter().chain(ends).chain(symfs).chain(itself)
}

/// Returns the parts of a path without `.` and `..`. `None` if it leads out of the folder that it starts in.
fn parts(path: &[u8]) -> Option<Vec<&[u8]>> {
    let mut parts = Vec::new();
    for part in path.split(|&byte| byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => drop(parts.pop()?),
            // Of Windows, where it separates folders too.
            part if cfg!(windows) && part.iter().any(|byte| b"\\:".contains(byte)) => return None,
            part => parts.push(part),
        }
    }
    Some(parts)
}

/// Returns a path below a folder.
fn below(folder: &Path, parts: &[&[u8]]) -> PathBuf {
    let mut path = folder.to_path_buf();
    path.extend(parts.iter().map(|part| path_of(part)));
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(recorded: &str, change: impl FnOnce(&mut SourceOptions), symfs: Option<&str>) -> Vec<String> {
        let mut options = SourceOptions::default();
        change(&mut options);
        places(recorded.as_bytes(), &options, symfs.map(Path::new))
            .map(|place| place.path.to_str().unwrap().replace('\\', "/"))
            .collect()
    }

    /// `objdump -S --prefix=/p --prefix-strip=N` of binutils 2.40 opens these.
    #[test]
    fn prefixes() {
        for (strip, expected) in
            [(0, "/p/a/b/c.c"), (1, "/p/b/c.c"), (2, "/p/c.c"), (3, "/p/c.c"), (u32::MAX, "/p/c.c")]
        {
            let with = |options: &mut SourceOptions| {
                options.prefix = Some("/p".into());
                options.strip = strip;
            };
            assert_eq!(paths("/a/b/c.c", with, None), [expected, "/a/b/c.c"], "{strip}");
        }
        assert_eq!(paths("/a/b/c.c", |options| options.strip = 1, None), ["/a/b/c.c"]);
        assert!(paths("b/c.c", |options| options.prefix = Some("/p".into()), None).is_empty());
    }

    #[test]
    fn the_order_of_places() {
        let with = |options: &mut SourceOptions| {
            options.prefix = Some("/p".into());
            options.dirs = vec!["/one".into(), "two".into()];
        };
        assert_eq!(
            paths("/a/./b//x/../c.c", with, Some("/root")),
            [
                "/p/a/b/c.c",
                "/one/a/b/c.c",
                "/one/b/c.c",
                "/one/c.c",
                "two/a/b/c.c",
                "two/b/c.c",
                "two/c.c",
                "/root/a/b/c.c",
                "/a/./b//x/../c.c"
            ]
        );
        assert_eq!(paths("b/c.c", with, Some("/root")), ["/one/b/c.c", "/one/c.c", "two/b/c.c", "two/c.c"]);
    }

    #[test]
    fn no_path_leaves_a_folder() {
        let with = |options: &mut SourceOptions| {
            options.prefix = Some("/p".into());
            options.dirs = vec!["/d".into()];
        };
        for path in ["../c.c", "a/../../c.c", "", ".", "a/.."] {
            assert!(paths(path, with, Some("/root")).is_empty(), "{path:?}");
        }
        for path in ["/../etc/shadow", "/a/../../etc/shadow", "/", "/a/.."] {
            assert_eq!(paths(path, with, Some("/root")), [path]);
        }
        assert_eq!(paths("//etc//x", with, None), ["/p/etc/x", "/d/etc/x", "/d/x", "//etc//x"]);
    }

    #[test]
    fn few_ends_of_a_long_path() {
        for (count, expected) in [(63, 63), (64, 64), (65, 64), (2000, 64)] {
            let path = vec!["a"; count].join("/");
            assert_eq!(paths(&path, |options| options.dirs.push("/d".into()), None).len(), expected);
        }
    }
}
