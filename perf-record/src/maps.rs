//! The mappings of a process: the lines of `/proc/PID/maps`.

use alloc::borrow::Cow;
use std::io::{BufRead, Read};

/// `PROT_READ` of `mmap(2)`. This and the following values are the same on all architectures.
pub(crate) const PROT_READ: u32 = 1;
const PROT_WRITE: u32 = 2;
/// `PROT_EXEC`.
pub(crate) const PROT_EXEC: u32 = 4;
const MAP_SHARED: u32 = 1;
const MAP_PRIVATE: u32 = 2;

/// The maximum number of bytes of a line that are read. A path of 4095 bytes fits, even if each byte is escaped as
/// four.
const MAX_LINE: usize = 1 << 15;

/// A mapping.
///
/// Kernel: `show_map_vma`, `fs/proc/task_mmu.c`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcMapping<'a> {
    /// The first address.
    pub(crate) start: u64,
    /// The size in bytes.
    pub(crate) len: u64,
    /// `PROT_*` of `mmap(2)`.
    pub(crate) prot: u32,
    /// `MAP_SHARED` or `MAP_PRIVATE`.
    pub(crate) flags: u32,
    /// The offset in the file, in bytes.
    pub(crate) pgoff: u64,
    /// The major number of the device.
    pub(crate) maj: u32,
    /// The minor number of the device.
    pub(crate) min: u32,
    /// The inode number.
    pub(crate) ino: u64,
    /// The path of the file, followed by ` (deleted)` if it was deleted; `[heap]` and the like; empty for memory
    /// without a name.
    pub(crate) name: Cow<'a, [u8]>,
}

impl<'a> ProcMapping<'a> {
    /// Parses a line; `None` if it does not describe a mapping.
    ///
    /// The kernel writes a newline in a path as `\012`, but does not escape a backslash. So a path that contains these
    /// four characters is parsed as one with a newline.
    pub(crate) fn parse(line: &'a [u8]) -> Option<Self> {
        let (start, rest) = split(line, b'-')?;
        let (end, rest) = split(rest, b' ')?;
        let (access, rest) = split(rest, b' ')?;
        let (pgoff, rest) = split(rest, b' ')?;
        let (maj, rest) = split(rest, b':')?;
        let (min, rest) = split(rest, b' ')?;
        let (ino, name) = split(rest, b' ').unwrap_or((rest, &[]));
        let &[read, write, exec, shared] = access else { return None };
        let bit = |given, letter, bit| match given {
            _ if given == letter => Some(bit),
            b'-' => Some(0),
            _ => None,
        };
        let start = number(start, 16)?;
        let name = name.trim_ascii_start();
        if name.contains(&0) {
            return None;
        }
        Some(Self {
            start,
            len: number(end, 16)?.checked_sub(start)?,
            prot: bit(read, b'r', PROT_READ)? | bit(write, b'w', PROT_WRITE)? | bit(exec, b'x', PROT_EXEC)?,
            flags: match shared {
                b's' => MAP_SHARED,
                b'p' => MAP_PRIVATE,
                _ => return None,
            },
            pgoff: number(pgoff, 16)?,
            maj: number(maj, 16)?.try_into().ok()?,
            min: number(min, 16)?.try_into().ok()?,
            ino: number(ino, 10)?,
            name: unescape(name),
        })
    }
}

/// Passes each mapping to `take`, and returns how many lines could not be parsed. Holds one line at a time.
///
/// A read error means that the process has ended, and that it has no more mappings.
pub(crate) fn each<E>(
    mut source: impl BufRead,
    mut take: impl FnMut(ProcMapping<'_>) -> Result<(), E>,
) -> Result<u64, E> {
    let mut line = Vec::new();
    let mut unreadable = 0;
    loop {
        line.clear();
        match source.by_ref().take(MAX_LINE as u64).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return Ok(unreadable),
            Ok(_) => {}
        }
        let whole = line.strip_suffix(b"\n");
        if whole.is_none() && source.skip_until(b'\n').is_err() {
            return Ok(unreadable);
        }
        match ProcMapping::parse(whole.unwrap_or(&line)) {
            Some(mapping) => take(mapping)?,
            None => unreadable += 1,
        }
    }
}

/// Splits at the first `separator`.
fn split(line: &[u8], separator: u8) -> Option<(&[u8], &[u8])> {
    let at = line.iter().position(|&byte| byte == separator)?;
    Some((&line[..at], &line[at + 1..]))
}

/// Parses a number without a sign.
fn number(digits: &[u8], radix: u32) -> Option<u64> {
    let digits = core::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    u64::from_str_radix(digits, radix).ok()
}

fn unescape(name: &[u8]) -> Cow<'_, [u8]> {
    const NEWLINE: &[u8] = b"\\012";
    let mut unescaped = Vec::new();
    let mut rest = name;
    while let Some(at) = rest.windows(NEWLINE.len()).position(|bytes| bytes == NEWLINE) {
        unescaped.extend_from_slice(&rest[..at]);
        unescaped.push(b'\n');
        rest = &rest[at + NEWLINE.len()..];
    }
    if unescaped.is_empty() {
        return Cow::Borrowed(name);
    }
    unescaped.extend_from_slice(rest);
    Cow::Owned(unescaped)
}
