//! A source that is read once: a pipe, standard input, a socket.

use alloc::vec::Vec;
use std::io::{ErrorKind, Read};

use super::{FileErrorKind, Source};

/// Number of bytes requested from the reader at a time.
const CHUNK: usize = 1 << 16;

/// A buffered stream. It holds the bytes that were read and not yet taken: about one record more than one read returns.
#[derive(Debug)]
pub struct Stream<R> {
    reader: R,
    buffer: Vec<u8>,
    /// The range of `buffer` that was read and not yet taken.
    start: usize,
    end: usize,
    /// The offset of the front in the capture.
    offset: u64,
    ended: bool,
}

impl<R: Read> Stream<R> {
    pub(in crate::file) fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new(), start: 0, end: 0, offset: 0, ended: false }
    }

    /// Reads once. Grows the buffer only as far as one more read needs.
    fn read(&mut self) -> Result<(), FileErrorKind> {
        // The room that earlier reads left after the end is used again.
        let room = self.end.saturating_add(CHUNK);
        if self.buffer.len() < room {
            self.buffer.resize(room, 0);
        }
        let read = loop {
            match self.reader.read(self.buffer.get_mut(self.end..).unwrap_or_default()) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        let count = read.as_ref().map_or(0, |&count| count);
        self.end = self.end.saturating_add(count).min(self.buffer.len());
        self.ended = count == 0;
        read.map(|_| ()).map_err(|error| FileErrorKind::Io(error.kind()))
    }
}

impl<R: Read> Source for Stream<R> {
    const IN_MEMORY: bool = false;

    #[inline]
    fn fill(&mut self, need: usize) -> Result<usize, FileErrorKind> {
        if self.front().len() < need && self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end = self.end.saturating_sub(self.start);
            self.start = 0;
        }
        while self.front().len() < need && !self.ended {
            self.read()?;
        }
        Ok(self.front().len())
    }

    #[inline]
    fn ahead(&self, passed: usize) -> Option<&[u8]> {
        self.buffer.get(self.start.checked_add(passed)?..self.end)
    }

    #[inline]
    fn take(&mut self, count: usize) {
        let start = self.start.saturating_add(count).min(self.end);
        self.offset = self.offset.wrapping_add(start.wrapping_sub(self.start) as u64);
        self.start = start;
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

    fn rewind(&mut self) -> bool {
        false
    }

    fn offset(&self) -> u64 {
        self.offset
    }

    fn hole(&self, _: usize) -> usize {
        0
    }

    fn at(&self, _: u64) -> Option<&[u8]> {
        None
    }
}
