//! The list of the paths of the recording machine in an archive.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use perf_session::Inode;
use perf_symbol::path_of;

/// The entry of the list.
pub(super) const NAME: &str = "files.list";
/// The first line.
const HEAD: &[u8] = b"perfdata files 1\n";

/// What is known of a path of the recording machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ListedFile {
    /// The entry with its content; `None` if only its inode or its time is known.
    pub(super) entry: Option<String>,
    pub(super) inode: Option<Inode>,
    pub(super) modified: Option<SystemTime>,
}

/// Returns the list as text, in the order of its lines.
pub(super) fn encode<'a>(files: impl Iterator<Item = (&'a Path, &'a ListedFile)>) -> Vec<u8> {
    let mut text = HEAD.to_vec();
    for (path, ListedFile { entry, inode, modified }) in files {
        push(&mut text, entry.as_deref().unwrap_or("-").as_bytes());
        text.push(b'\t');
        match inode {
            Some(Inode { maj, min, ino, ino_generation }) => {
                text.extend(format!("{maj}:{min}:{ino}:{ino_generation}").bytes());
            }
            None => text.push(b'-'),
        }
        text.push(b'\t');
        let since = modified.and_then(|it| it.duration_since(SystemTime::UNIX_EPOCH).ok());
        match since.and_then(|it| u64::try_from(it.as_nanos()).ok()) {
            Some(nanoseconds) => text.extend(nanoseconds.to_string().bytes()),
            None => text.push(b'-'),
        }
        text.push(b'\t');
        push(&mut text, path.as_os_str().as_encoded_bytes());
        text.push(b'\n');
    }
    text
}

/// Appends a text, with what would end a field or a line written as digits.
fn push(to: &mut Vec<u8>, text: &[u8]) {
    for &byte in text {
        if byte <= b' ' || byte == b'%' {
            to.extend(format!("%{byte:02x}").bytes());
        } else {
            to.push(byte);
        }
    }
}

/// Reads a list. `None` if it is none; lines that cannot be read are left out.
pub(super) fn decode(text: &[u8]) -> Option<HashMap<PathBuf, ListedFile>> {
    let lines = text.strip_prefix(HEAD)?.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    Some(lines.filter_map(line).collect())
}

fn line(line: &[u8]) -> Option<(PathBuf, ListedFile)> {
    let mut fields = line.split(|&byte| byte == b'\t');
    let mut field = || fields.next();
    let (entry, inode, modified, path) = (field()?, field()?, field()?, field()?);
    let known = |field| Some(field).filter(|&field| field != b"-");
    let entry = match known(entry) {
        Some(entry) => Some(String::from_utf8(unescaped(entry)?).ok()?),
        None => None,
    };
    let inode = match known(inode) {
        Some(inode) => {
            let mut numbers = str::from_utf8(inode).ok()?.split(':');
            let mut number = || numbers.next()?.parse::<u64>().ok();
            let (maj, min) = (u32::try_from(number()?).ok()?, u32::try_from(number()?).ok()?);
            Some(Inode { maj, min, ino: number()?, ino_generation: number()? })
        }
        None => None,
    };
    let modified = match known(modified) {
        Some(time) => {
            let time = Duration::from_nanos(str::from_utf8(time).ok()?.parse().ok()?);
            SystemTime::UNIX_EPOCH.checked_add(time)
        }
        None => None,
    };
    Some((path_of(&unescaped(path)?), ListedFile { entry, inode, modified }))
}

fn unescaped(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.iter();
    while let Some(&byte) = rest.next() {
        let byte = if byte == b'%' {
            let digits = [*rest.next()?, *rest.next()?];
            u8::from_str_radix(str::from_utf8(&digits).ok()?, 16).ok()?
        } else {
            byte
        };
        bytes.push(byte);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_they_were_written() {
        let inode = Inode { maj: 8, min: 1, ino: u64::MAX, ino_generation: 7 };
        let modified = SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(1_234_567_890_123_456_789));
        let whole = ListedFile { entry: Some("files/a b".into()), inode: Some(inode), modified };
        let files = HashMap::from([
            (PathBuf::from("/a\tb\nc %41"), whole),
            (PathBuf::from("/nothing"), ListedFile::default()),
        ]);
        let text = encode(files.iter().map(|(path, file)| (&**path, file)));
        assert_eq!(text.iter().filter(|&&byte| byte == b'\n').count(), 3);
        assert_eq!(decode(&text), Some(files));
    }

    #[test]
    fn damaged_lines_are_left_out() {
        assert_eq!(decode(b"another file\n"), None);
        let listed = |line: &[u8]| decode(&[HEAD, line, b"\n"].concat()).unwrap().len();
        assert_eq!(listed(b"-\t-\t-\t/a"), 1);
        for wrong in [
            &b"-\t-\t-"[..],
            b"%4\t-\t-\t/a",
            b"%zz\t-\t-\t/a",
            b"%ff\t-\t-\t/a",
            b"-\t1:2:3\t-\t/a",
            b"-\t4294967296:2:3:4\t-\t/a",
            b"-\t1:2:x:4\t-\t/a",
            b"-\t-\tnow\t/a",
            b"-\t-\t-\t/a%",
        ] {
            assert_eq!(listed(wrong), 0, "{}", String::from_utf8_lossy(wrong));
        }
    }
}
