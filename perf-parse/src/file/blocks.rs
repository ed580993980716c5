//! A capture cut into blocks, which any thread can decode.

use core::iter::FusedIterator;
use core::ptr;

use perf_abi::endian::{BigEndian, Endian, Endianness, LittleEndian};

use super::knowledge::Knowledge;
use super::reader::{DataFiles, Reader};
use super::records::EventRecords;
use super::source::{ByteSource, Slice};
use super::walk::SourceWalk;
use crate::account::Account;

/// The blocks of a capture, in its order; made by [`Reader::blocks`].
///
/// Each block is a walk over consecutive records, which can be sent to another thread. The account of the first block
/// includes the account of opening; the accounts of the other blocks start empty. [`Account::add`] combines them. Time
/// order, if requested, applies within each block.
#[derive(Debug)]
pub struct Blocks<'r>(BlockCutter<'r>);

#[derive(Debug)]
enum BlockCutter<'r> {
    Little(Hops<'r, LittleEndian>),
    Big(Hops<'r, BigEndian>),
    /// A capture that is one block; `None` after that block was returned.
    Whole(Option<EventRecords<'r>>),
}

/// The walk from header to header that finds where a block ends.
#[derive(Debug)]
struct Hops<'r, O: Endian> {
    files: &'r [Slice<'r>],
    endianness: Endianness,
    /// Number of bytes of a block.
    target: u64,
    walk: SourceWalk<'r, O, Slice<'r>>,
    /// The events and features that were known when the capture was opened. Each block starts with them.
    opened: Knowledge<'r>,
    /// The data file of the next block and the offset at which the block begins; `None` after the last block.
    next: Option<(usize, u64)>,
    /// The account of the next block.
    account: Account,
}

impl Reader<'_> {
    /// Cuts the capture into about `count` blocks of about the same size.
    ///
    /// The records of all blocks, one block after another, are those of [`records`](Self::records), with the same
    /// errors. The iterator finds the end of a block when the block is requested. It reads only the headers of records,
    /// which takes a fraction of the time to decode them. There are more blocks if there are several data files, and
    /// fewer in a small capture.
    ///
    /// Compressed data is one block, because its records cannot be found without decompressing all data before them. A
    /// capture that is not in memory is one block. After a record that changes an event or a feature, the rest of the
    /// capture is one block; records that were applied when the capture was opened have no such effect.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::thread;
    ///
    /// use perf_parse::file::EventRecords;
    /// use perf_parse::{FileError, Reader};
    ///
    /// fn samples(records: EventRecords<'_>) -> Result<u64, FileError> {
    ///     records.map(|record| Ok(u64::from(record?.sample().is_some()))).sum()
    /// }
    ///
    /// # let path = "examples/captures/plain.data";
    /// let bytes = std::fs::read(path)?;
    /// let reader = Reader::new(&bytes)?;
    /// let of_blocks = thread::scope(|scope| {
    ///     let threads: Vec<_> = reader.blocks(4).map(|block| scope.spawn(|| samples(block))).collect();
    ///     threads.into_iter().map(|thread| thread.join().unwrap()).sum::<Result<u64, _>>()
    /// });
    /// assert_eq!(of_blocks, samples(reader.records()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn blocks(&self, count: usize) -> Blocks<'_> {
        let files = self.files();
        if files.is_empty() {
            return Blocks(BlockCutter::Whole(Some(self.records())));
        }
        let bytes = files.iter().map(Slice::range).map(|range| range.end.saturating_sub(range.start));
        let target = bytes.sum::<u64>().div_ceil(count.max(1) as u64).max(1);
        Blocks(match self.endianness() {
            Endianness::Little => BlockCutter::Little(Hops::new(self, files, target)),
            Endianness::Big => BlockCutter::Big(Hops::new(self, files, target)),
        })
    }
}

impl<'a> Reader<'a> {
    /// Returns the data files; none if the capture is not in memory.
    pub(super) fn files(&self) -> &[Slice<'a>] {
        match self.data() {
            DataFiles::Memory(files) => files,
            #[cfg(feature = "std")]
            DataFiles::Windows(_) | DataFiles::Stream(_) => &[],
        }
    }

    /// Returns whether the data files are in memory.
    pub(crate) fn is_in_memory(&self) -> bool {
        matches!(self.data(), DataFiles::Memory(_))
    }

    /// Returns the bytes of a data file from an offset on; `None` if they are not in memory.
    pub(crate) fn bytes_from(&self, data_file: usize, offset: u64) -> Option<&[u8]> {
        self.files().get(data_file)?.at(offset)
    }
}

impl<'r, O: Endian> Hops<'r, O> {
    fn new(reader: &'r Reader<'_>, files: &'r [Slice<'r>], target: u64) -> Self {
        let mut all = files.iter().copied();
        let first = all.next().unwrap_or(Slice::new(&[], 0));
        let noted = Account::new(reader.limits());
        Self {
            files,
            endianness: reader.endianness(),
            target,
            walk: SourceWalk::new((first, 0), all, reader.knowledge(), noted, reader.limits()),
            opened: reader.knowledge(),
            next: Some((0, first.range().start)),
            account: reader.account().clone(),
        }
    }

    fn next(&mut self) -> Option<EventRecords<'r>> {
        let (data_file, start) = self.next.take()?;
        let file = self.files.get(data_file)?;
        let mut end = file.range().end;
        let mut more = &[][..];
        match self.walk.hop(start.saturating_add(self.target)) {
            Some(true) if self.has_changed() => more = self.after(data_file),
            Some(true) => {
                let place = self.walk.position();
                if place.data_file == data_file {
                    end = place.offset;
                }
                let first = self.files.get(place.data_file).map_or(0, |file| file.range().start);
                let start = if place.data_file == data_file { place.offset } else { first };
                self.next = Some((place.data_file, start));
            }
            Some(false) => {}
            None => more = self.after(data_file),
        }
        let limits = self.walk.limits();
        let account = core::mem::replace(&mut self.account, Account::new(limits));
        let first = (file.part(&(start..end)), data_file);
        let more = more.iter().copied();
        let knowledge = self.opened.clone();
        Some(EventRecords::in_memory(first, more, knowledge, account, (self.endianness, limits)))
    }

    /// Returns whether a record has changed an event or a feature. A block after that record would need a copy of all
    /// events and features.
    fn has_changed(&self) -> bool {
        let (opened, now) = (&self.opened, &self.walk.knowledge);
        !ptr::eq(opened.events(), now.events())
            || !ptr::eq(opened.features(), now.features())
            || now.is_joining()
    }

    /// Returns the data files after `data_file`.
    fn after(&self, data_file: usize) -> &'r [Slice<'r>] {
        self.files.get(data_file.saturating_add(1)..).unwrap_or_default()
    }
}

impl<'r> Iterator for Blocks<'r> {
    type Item = EventRecords<'r>;

    fn next(&mut self) -> Option<EventRecords<'r>> {
        match &mut self.0 {
            BlockCutter::Little(hops) => hops.next(),
            BlockCutter::Big(hops) => hops.next(),
            BlockCutter::Whole(records) => records.take(),
        }
    }
}

impl FusedIterator for Blocks<'_> {}
