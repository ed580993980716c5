//! Archives whose files are mapped in place, as Android maps the libraries in an apk.
//!
//! Such a file is stored in the zip archive without compression. simpleperf records its path as `APK!/PATH`; the kernel
//! and perf record the path of the archive, and offsets there. Files that are mapped in place are the only ones read here:
//! three structures of the format suffice, and no crate that unpacks archives is needed. An archive of more than 4 GiB
//! (zip64) is refused.
//!
//! PKWARE: `APPNOTE.TXT`, 4.3.7, 4.3.12 and 4.3.16.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::bytes::FileBytes;
use crate::files::path_of;
use crate::no_symbols::NoSymbols;

/// The directory of a zip archive.
#[derive(Debug)]
pub(crate) struct ZipArchive {
    bytes: FileBytes,
    /// In the order of their places.
    entries: Vec<ZipEntry>,
    /// The numbers of the entries in the order of their names.
    by_name: Vec<u32>,
}

/// A file of an archive, as the directory has it.
#[derive(Debug)]
struct ZipEntry {
    /// Offset of the header before the contents.
    header: u32,
    /// Number of bytes of the contents.
    size: u32,
    is_stored: bool,
    name: Range<u64>,
}

/// A file in an archive.
#[derive(Debug)]
pub(crate) struct StoredLibrary<'a> {
    pub(crate) name: &'a [u8],
    /// Offset of the contents in the archive.
    pub(crate) start: u64,
}

/// The signatures of the end of the directory, of an entry of it, and of the header before the contents.
const END: u32 = 0x0605_4b50;
const ENTRY: u32 = 0x0201_4b50;
const HEADER: u32 = 0x0403_4b50;
/// Number of bytes of these structures without names and comments.
const END_SIZE: u64 = 22;
const ENTRY_SIZE: u64 = 46;
const HEADER_SIZE: u64 = 30;

const DAMAGED: NoSymbols = NoSymbols::Malformed("directory of the archive");

impl ZipArchive {
    /// Reads the directory of an archive. Takes time and memory proportional to the directory.
    ///
    /// # Errors
    ///
    /// [`NoSymbols::Malformed`] if the file is no archive, or a damaged one.
    pub(crate) fn parse(bytes: FileBytes) -> Result<Self, NoSymbols> {
        let end = end_of_directory(&bytes).ok_or(DAMAGED)?;
        let mut at = number(&bytes, end, 16, 4).ok_or(DAMAGED)?;
        let mut entries = Vec::new();
        while at < end && number(&bytes, at, 0, 4) == Some(ENTRY.into()) {
            let (entry, next) = ZipEntry::parse(&bytes, at).ok_or(DAMAGED)?;
            entries.push(entry);
            at = next;
        }
        entries.sort_by_key(|entry| entry.header);
        let numbers = 0..u32::try_from(entries.len()).map_err(|_| DAMAGED)?;
        let mut archive = Self { bytes, entries, by_name: Vec::new() };
        let mut by_name: Vec<_> = numbers.collect();
        by_name.sort_by(|&one, &other| archive.name(one).cmp(&archive.name(other)));
        archive.by_name = by_name;
        Ok(archive)
    }

    /// Returns the number of bytes of the lists.
    pub(crate) fn size(&self) -> usize {
        self.entries.len().saturating_mul(size_of::<ZipEntry>().saturating_add(size_of::<u32>()))
    }

    /// Returns a file by its path in the archive, which shares the bytes of the archive.
    ///
    /// # Errors
    ///
    /// [`NoSymbols::NotFound`] if there is none, [`NoSymbols::Malformed`] if it is compressed or not within the archive.
    pub(crate) fn file(&self, name: &[u8]) -> Result<FileBytes, NoSymbols> {
        let at = self.by_name.partition_point(|&number| self.name(number) < Some(name));
        let number = self.by_name.get(at).copied().filter(|&number| self.name(number) == Some(name));
        let entry = number.and_then(|number| self.entry(number)).ok_or(NoSymbols::NotFound)?;
        if !entry.is_stored {
            return Err(NoSymbols::Malformed("file of the archive, which is compressed"));
        }
        let range = self.range_of(entry).ok_or(NoSymbols::Malformed("file of the archive"))?;
        self.bytes.slice(range).ok_or(NoSymbols::Malformed("file of the archive"))
    }

    /// Returns the ELF file that has an offset of the archive. Takes logarithmic time.
    pub(crate) fn library_at(&self, offset: u64) -> Option<StoredLibrary<'_>> {
        let after = self.entries.partition_point(|entry| u64::from(entry.header) <= offset);
        let entry = self.entries.get(after.checked_sub(1)?).filter(|entry| entry.is_stored)?;
        let range = self.range_of(entry).filter(|range| range.contains(&offset))?;
        let contents = self.bytes.get(usize::try_from(range.start).ok()?..)?;
        let name = part(&self.bytes, &entry.name)?;
        contents.starts_with(b"\x7fELF").then_some(StoredLibrary { name, start: range.start })
    }

    fn entry(&self, number: u32) -> Option<&ZipEntry> {
        self.entries.get(usize::try_from(number).ok()?)
    }

    fn name(&self, number: u32) -> Option<&[u8]> {
        part(&self.bytes, &self.entry(number)?.name)
    }

    /// Returns the place of the contents. The header before them has a name and extra bytes of its own.
    fn range_of(&self, entry: &ZipEntry) -> Option<Range<u64>> {
        let header = u64::from(entry.header);
        if number(&self.bytes, header, 0, 4)? != u64::from(HEADER) {
            return None;
        }
        let (name, extra) = (number(&self.bytes, header, 26, 2)?, number(&self.bytes, header, 28, 2)?);
        let start = header.checked_add(HEADER_SIZE)?.checked_add(name)?.checked_add(extra)?;
        let end = start.checked_add(entry.size.into())?;
        (end <= self.bytes.len() as u64).then_some(start..end)
    }
}

impl ZipEntry {
    /// Reads an entry of the directory. Returns it with the offset of the next one.
    fn parse(bytes: &[u8], at: u64) -> Option<(Self, u64)> {
        let field = |place, size| number(bytes, at, place, size);
        let (packed, size) = (field(20, 4)?, u32::try_from(field(24, 4)?).ok()?);
        let is_stored = field(10, 2)? == 0 && packed == u64::from(size);
        let header = u32::try_from(field(42, 4)?).ok()?;
        let start = at.checked_add(ENTRY_SIZE)?;
        let name = start..start.checked_add(field(28, 2)?)?;
        let next = name.end.checked_add(field(30, 2)?)?.checked_add(field(32, 2)?)?;
        part(bytes, &name)?;
        Some((Self { header, size, is_stored, name }, next))
    }
}

/// Returns the offset of the end of the directory. Only a comment may follow it.
fn end_of_directory(bytes: &[u8]) -> Option<u64> {
    let len = bytes.len() as u64;
    let last = len.checked_sub(END_SIZE)?;
    (last.saturating_sub(u16::MAX.into())..=last).rev().find(|&at| {
        number(bytes, at, 0, 4) == Some(END.into())
            && number(bytes, at, 20, 2) == len.checked_sub(at).and_then(|rest| rest.checked_sub(END_SIZE))
    })
}

/// Returns the little-endian number of `size` bytes at `place` of the structure at `at`.
fn number(bytes: &[u8], at: u64, place: u64, size: u64) -> Option<u64> {
    let start = at.checked_add(place)?;
    let bytes = part(bytes, &(start..start.checked_add(size)?))?;
    Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

fn part<'a>(bytes: &'a [u8], range: &Range<u64>) -> Option<&'a [u8]> {
    bytes.get(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
}

/// Returns the path of the archive and the path in it of a path `APK!/PATH`; `None` for other paths.
///
/// simpleperf: `SplitUrlInApk`, `system/extras/simpleperf/read_apk.cpp`.
pub(crate) fn split(path: &Path) -> Option<(PathBuf, &[u8])> {
    let path = path.as_os_str().as_encoded_bytes();
    let at = path.windows(2).position(|it| it == b"!/")?;
    let (archive, inner) = path.split_at_checked(at)?;
    Some((path_of(archive), inner.get(2..)?))
}

/// Returns whether a file has the name of an archive from which Android maps libraries.
pub(crate) fn has_name(path: &[u8]) -> bool {
    let end = path.iter().rposition(|&byte| byte == b'.').and_then(|at| path.get(at..));
    end.is_some_and(|end| [&b".apk"[..], b".jar", b".zip"].iter().any(|it| end.eq_ignore_ascii_case(it)))
}
