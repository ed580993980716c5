//! Standard output with one reusable buffer.

use std::io::{ErrorKind, Write};

use crate::outcome::Failure;
use crate::streams;

/// The number of bytes to collect before a write.
const CHUNK: usize = 1 << 16;

/// A buffer for standard output.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) buffer: Vec<u8>,
    /// Whether the reader has closed its end, as `head` does. Nothing more is written then.
    closed: bool,
}

impl Output {
    pub(crate) fn new() -> Self {
        Self { buffer: Vec::with_capacity(2 * CHUNK), closed: false }
    }

    /// Writes the buffer if it is full. Returns whether there is still a reader.
    pub(crate) fn flush_full(&mut self) -> Result<bool, Failure> {
        if self.buffer.len() >= CHUNK { self.flush() } else { Ok(!self.closed) }
    }

    /// Writes the buffer. Returns whether there is still a reader.
    pub(crate) fn flush(&mut self) -> Result<bool, Failure> {
        let buffer = core::mem::take(&mut self.buffer);
        let is_open = self.write(&buffer);
        self.buffer = buffer;
        self.buffer.clear();
        is_open
    }

    /// Writes lines from another buffer, bypassing this one. Returns whether there is still a reader.
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
