//! Standard output through one buffer that is used again and again.

use std::io::{ErrorKind, Write};

use crate::{Failure, streams};

/// Bytes gathered before they are written.
const CHUNK: usize = 1 << 16;

/// A buffer in front of standard output.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) buffer: Vec<u8>,
    /// Whether the reader went away, as `head` does: nothing more is to be written.
    closed: bool,
}

impl Output {
    pub(crate) fn new() -> Self {
        Self { buffer: Vec::with_capacity(2 * CHUNK), closed: false }
    }

    /// Writes the buffer out if it is full. Whether there is still a reader.
    pub(crate) fn flush_full(&mut self) -> Result<bool, Failure> {
        if self.buffer.len() >= CHUNK { self.flush() } else { Ok(!self.closed) }
    }

    /// Writes the buffer out. Whether there is still a reader.
    pub(crate) fn flush(&mut self) -> Result<bool, Failure> {
        let buffer = core::mem::take(&mut self.buffer);
        let is_open = self.write(&buffer);
        self.buffer = buffer;
        self.buffer.clear();
        is_open
    }

    /// Writes lines that are in a buffer already, past this one. Whether there is still a reader.
    pub(crate) fn write(&mut self, lines: &[u8]) -> Result<bool, Failure> {
        if !self.closed {
            match streams::Output.write_all(lines).and_then(|()| streams::Output.flush()) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::BrokenPipe => self.closed = true,
                Err(error) => return Err(Failure(format!("standard output: {error}"))),
            }
        }
        Ok(!self.closed)
    }
}
