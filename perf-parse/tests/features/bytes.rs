//! Bytes in either byte order, written field by field.

use core::marker::PhantomData;

use perf_parse::abi::endian::{Endian, Endianness};

pub(crate) struct Bytes<O> {
    bytes: Vec<u8>,
    order: PhantomData<O>,
}

impl<O: Endian> Bytes<O> {
    pub(crate) fn new() -> Self {
        Self { bytes: Vec::new(), order: PhantomData }
    }

    fn put<const N: usize>(mut self, little: [u8; N], big: [u8; N]) -> Self {
        self.bytes.extend(if O::ENDIANNESS == Endianness::Little { little } else { big });
        self
    }

    pub(crate) fn u16(self, value: u16) -> Self {
        self.put(value.to_le_bytes(), value.to_be_bytes())
    }

    pub(crate) fn u32(self, value: u32) -> Self {
        self.put(value.to_le_bytes(), value.to_be_bytes())
    }

    pub(crate) fn u64(self, value: u64) -> Self {
        self.put(value.to_le_bytes(), value.to_be_bytes())
    }

    pub(crate) fn raw(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend(bytes);
        self
    }

    pub(crate) fn zeros(mut self, count: usize) -> Self {
        self.bytes.resize(self.bytes.len() + count, 0);
        self
    }

    /// Appends a string as perf writes it: padded with zeros to a multiple of 64 bytes.
    pub(crate) fn string(self, text: &str) -> Self {
        let len = (text.len() + 1).next_multiple_of(64);
        self.u32(len as u32).raw(text.as_bytes()).zeros(len - text.len())
    }

    /// Appends the attr of an event in its first version: 64 bytes.
    pub(crate) fn attr(self, kind: u32, config: u64) -> Self {
        self.u32(kind).u32(64).u64(config).zeros(48)
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn take(self) -> Vec<u8> {
        self.bytes
    }
}
