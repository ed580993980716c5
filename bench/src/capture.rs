//! A minimal reader of captures, for the floors and for peers that decode single records. It checks only what
//! it needs to find the records.

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use memmap2::Mmap;
use zerocopy::IntoBytes;

use crate::failure::Failure;
use crate::race::Work;

/// Bytes of a record header.
pub(crate) const HEADER: usize = 8;

/// An event: its attr as in the capture, and the parts of the attr that determine the layout of records.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) attr: Vec<u8>,
    pub(crate) ids: Vec<u64>,
    pub(crate) sample_type: u64,
    pub(crate) read_format: u64,
    pub(crate) sample_id_all: bool,
    pub(crate) regs_user: u64,
    pub(crate) regs_intr: u64,
}

/// The records of a capture, at an 8-aligned address, and their events.
#[derive(Debug)]
pub(crate) struct Capture {
    pub(crate) events: Vec<Event>,
    words: Vec<u64>,
    size: usize,
}

impl Capture {
    /// Reads the records of a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is not a capture.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let file = map(path)?;
        let (events, data) = parts(&file).ok_or_else(|| Failure::of(path.display(), "is not a capture"))?;
        let records = &file[data];
        let mut words = vec![0; records.len().div_ceil(8)];
        words.as_mut_bytes()[..records.len()].copy_from_slice(records);
        Ok(Self { events, words, size: records.len() })
    }

    /// Returns the bytes of all records.
    pub(crate) fn records(&self) -> &[u8] {
        &self.words.as_bytes()[..self.size]
    }

    /// Returns the records as 64-bit words.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the amount of data to decode.
    pub(crate) fn work(&self) -> Work {
        Work { records: Headers(self.records()).count() as u64, bytes: self.size as u64 }
    }
}

/// Maps a file.
///
/// # Errors
///
/// If the file cannot be opened or mapped.
pub(crate) fn map(path: &Path) -> Result<Mmap, Failure> {
    let named = |error| Failure::of(path.display(), error);
    let file = File::open(path).map_err(named)?;
    // SAFETY: no process writes to the inputs during a race.
    unsafe { Mmap::map(&file) }.map_err(named)
}

/// Returns the events of a file or pipe in memory, and the range of its records; `None` if it is neither.
pub(crate) fn parts(file: &[u8]) -> Option<(Vec<Event>, Range<usize>)> {
    if !file.starts_with(b"PERFILE2") {
        return None;
    }
    let at = |offset| word(file, offset).map(|word| word as usize);
    if at(8)? == 16 {
        return Some((events_of_pipe(file.get(16..)?)?, 16..file.len()));
    }
    let (stride, attrs, data) = (at(16)?, at(24)?..at(24)? + at(32)?, at(40)?..at(40)? + at(48)?);
    let mut events = Vec::new();
    for entry in file.get(attrs)?.chunks_exact(stride) {
        let (attr, ids) = entry.split_at_checked(stride.checked_sub(16)?)?;
        let ids = word(ids, 0)? as usize..(word(ids, 0)? + word(ids, 8)?) as usize;
        events.push(Event::new(attr, file.get(ids)?)?);
    }
    (data.end <= file.len()).then_some((events, data))
}

/// Returns the events in the HEADER_ATTR records of a pipe.
fn events_of_pipe(records: &[u8]) -> Option<Vec<Event>> {
    const HEADER_ATTR: u32 = 64;
    let attrs = Headers(records).filter(|record| kind(record) == HEADER_ATTR);
    attrs
        .map(|record| {
            let size = record.get(12..16)?.try_into().ok().map(u32::from_le_bytes)?;
            let (attr, ids) = record[HEADER..].split_at_checked(size as usize)?;
            Event::new(attr, ids)
        })
        .collect()
}

impl Event {
    fn new(attr: &[u8], ids: &[u8]) -> Option<Self> {
        Some(Self {
            attr: attr.to_vec(),
            ids: ids.chunks_exact(8).filter_map(|id| word(id, 0)).collect(),
            sample_type: word(attr, 24)?,
            read_format: word(attr, 32)?,
            sample_id_all: word(attr, 40)? >> 18 & 1 != 0,
            regs_user: word(attr, 80).unwrap_or(0),
            regs_intr: word(attr, 96).unwrap_or(0),
        })
    }
}

/// Returns the 64-bit word at an offset.
#[inline(always)]
pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|word| u64::from_le_bytes(*word))
}

/// Returns the type of a record.
#[inline(always)]
pub(crate) fn kind(record: &[u8]) -> u32 {
    record.first_chunk().map_or(0, |kind| u32::from_le_bytes(*kind))
}

/// An iterator over records that reads only their headers. It ends at the first incomplete record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Headers<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for Headers<'a> {
    type Item = &'a [u8];

    #[inline(always)]
    fn next(&mut self) -> Option<&'a [u8]> {
        let size = (u64::from_le_bytes(*self.0.first_chunk()?) >> 48) as usize;
        if size < HEADER {
            return None;
        }
        let (record, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        Some(record)
    }
}
