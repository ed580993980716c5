//! A source that is read once: a pipe, standard input, a socket.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;
use std::io::{ErrorKind, Read};

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::{ByteSource, Window};
use crate::bytes::RecordBytes;
use crate::error::FileErrorKind;
use crate::record::RawRecord;

/// Number of bytes requested from the reader at a time.
const CHUNK: usize = 1 << 16;

/// A buffered stream. It holds the bytes that were read and not yet taken: about one record more than one read returns.
pub(in crate::file) struct BufferedStream<'r> {
    reader: Box<dyn Read + Send + 'r>,
    block: Arc<Vec<u8>>,
    /// The range of `block` that was read and not yet taken.
    start: usize,
    end: usize,
    /// The offset of the front in the capture.
    offset: u64,
    /// The offset of the end, if it is known before it is reached.
    end_offset: Option<u64>,
    ended: bool,
}

impl core::fmt::Debug for BufferedStream<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("BufferedStream").field("offset", &self.offset).finish_non_exhaustive()
    }
}

impl<'r> BufferedStream<'r> {
    /// Creates a source of what `reader` reads from here on. The first byte is at `offset` in the capture.
    pub(in crate::file) fn new(reader: impl Read + Send + 'r, offset: u64) -> Self {
        let reader = Box::new(reader);
        Self { reader, block: Arc::default(), start: 0, end: 0, offset, end_offset: None, ended: false }
    }

    /// Creates a source of a window of storage.
    pub(in crate::file) fn of_window(window: &Window<'r>) -> Self {
        let range = window.range();
        Self { end_offset: Some(range.end), ..Self::new(window.clone(), range.start) }
    }

    /// Creates a stream in place of one that was walked: reading it fails.
    pub(in crate::file) fn walked() -> Self {
        struct WalkedStream;
        impl Read for WalkedStream {
            fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
                Err(ErrorKind::Unsupported.into())
            }
        }
        Self::new(WalkedStream, 0)
    }

    /// Makes room after the bytes that were read, in a block that no record holds.
    fn make_room(&mut self) {
        if let Some(block) = Arc::get_mut(&mut self.block) {
            if self.start > 0 {
                block.copy_within(self.start..self.end, 0);
            }
        } else {
            self.block = Arc::new(Vec::from(self.front()));
        }
        (self.start, self.end) = (0, self.end.saturating_sub(self.start));
        // Unique, so this does not copy.
        let block = Arc::make_mut(&mut self.block);
        let room = self.end.saturating_add(CHUNK);
        if block.len() < room {
            block.resize(room, 0);
        }
    }

    /// Reads once. Grows the block only as far as one more read needs.
    fn read(&mut self) -> Result<(), FileErrorKind> {
        self.make_room();
        let block = Arc::make_mut(&mut self.block);
        let read = loop {
            match self.reader.read(block.get_mut(self.end..).unwrap_or_default()) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        let count = read.as_ref().map_or(0, |&count| count);
        self.end = self.end.saturating_add(count).min(self.block.len());
        self.ended = count == 0;
        read.map(|_| ()).map_err(|error| FileErrorKind::Io(error.kind()))
    }
}

impl<'r> ByteSource<'r> for BufferedStream<'r> {
    const IN_MEMORY: bool = false;

    #[inline]
    fn fill(&mut self, need: usize) -> Result<usize, FileErrorKind> {
        while self.front().len() < need && !self.ended {
            self.read()?;
        }
        Ok(self.front().len())
    }

    #[inline(always)]
    fn front(&self) -> &[u8] {
        self.block.get(self.start..self.end).unwrap_or_default()
    }

    #[inline(always)]
    fn take_record<O: Endian>(&mut self, types: u64) -> Option<(RecordBytes<'r>, RecordType, usize)> {
        let (raw, _) = RawRecord::<O>::of_types(self.front(), types)?;
        let (kind, size) = (raw.kind(), raw.len());
        let start = self.start;
        self.start = start.wrapping_add(size);
        self.offset = self.offset.wrapping_add(size as u64);
        Some((RecordBytes::shared::<O>(&self.block, (start, self.start), size), kind, size))
    }

    fn keep<O: Endian>(&self, size: usize, held: usize) -> RecordBytes<'r> {
        let end = self.start.saturating_add(size).saturating_add(held).min(self.end);
        RecordBytes::shared::<O>(&self.block, (self.start, end), size)
    }

    #[inline(always)]
    fn take(&mut self, count: usize) {
        let start = self.start.saturating_add(count).min(self.end);
        self.offset = self.offset.wrapping_add(start.wrapping_sub(self.start) as u64);
        self.start = start;
    }

    fn taken(&self, count: usize) -> &[u8] {
        self.block.get(self.start.saturating_sub(count)..self.start).unwrap_or_default()
    }

    fn skip(&mut self, count: u64) -> Result<(), FileErrorKind> {
        let mut left = count;
        loop {
            let here = usize::try_from(left).unwrap_or(usize::MAX).min(self.front().len());
            self.take(here);
            left = left.saturating_sub(here as u64);
            if left == 0 || self.ended {
                return Ok(());
            }
            self.fill(1)?;
        }
    }

    fn left(&self) -> Option<u64> {
        Some(self.end_offset?.saturating_sub(self.offset))
    }

    fn offset(&self) -> u64 {
        self.offset
    }

    fn narrow(&mut self, _: &Range<u64>) {}

    fn hole(&self, _: usize) -> usize {
        0
    }

    fn at(&self, _: u64) -> Option<&'r [u8]> {
        None
    }
}
