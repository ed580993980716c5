//! The output of a capture, with the number of bytes written.

use std::io::{self, Write};

use super::error::WriteFileError;

/// An output, and the number of bytes written to it.
#[derive(Debug)]
pub(super) struct CountedOutput<W> {
    out: W,
    position: u64,
    broken: bool,
}

impl<W> CountedOutput<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, position: 0, broken: false }
    }

    /// Returns the number of bytes written.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    pub(super) fn into_inner(self) -> W {
        self.out
    }

    /// Calls `act` with the output. After a failure, later calls do nothing and return an error.
    pub(super) fn with<T>(&mut self, act: impl FnOnce(&mut W) -> io::Result<T>) -> Result<T, WriteFileError> {
        if self.broken {
            return Err(WriteFileError::Broken);
        }
        let done = act(&mut self.out);
        self.broken = done.is_err();
        Ok(done?)
    }
}

impl<W: Write> CountedOutput<W> {
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<(), WriteFileError> {
        self.with(|out| out.write_all(bytes))?;
        self.position = self.position.saturating_add(bytes.len() as u64);
        Ok(())
    }
}
