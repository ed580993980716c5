//! Jitdumps, record by record.

use crate::Bytes;

/// A jitdump of process 5 on x86-64, in one byte order.
///
/// ```
/// let dump = testdata::JitdumpBytes::new(false).load(1, 0x1000, 16, 7, "function");
/// assert_eq!(dump.out.len(), 40 + 16 + 40 + 9 + 16);
/// ```
#[derive(Clone, Debug)]
pub struct JitdumpBytes {
    big: bool,
    /// The bytes so far.
    pub out: Vec<u8>,
}

impl JitdumpBytes {
    /// Starts with the header; `big` means big-endian byte order.
    #[must_use]
    pub fn new(big: bool) -> Self {
        Self::with_flags(big, 0)
    }

    /// Starts with a header that has these flags.
    #[must_use]
    pub fn with_flags(big: bool, flags: u64) -> Self {
        let head = Bytes::new(big).u32(0x4a69_5444).u32(1).u32(40).u32(62).u32(0).u32(5).u64(0).u64(flags);
        Self { big, out: head.out }
    }

    /// Appends a record of a kind.
    #[must_use]
    pub fn record(mut self, kind: u32, time: u64, payload: &[u8]) -> Self {
        let size = 16 + payload.len() as u32;
        let head = Bytes::new(self.big).u32(kind).u32(size).u64(time);
        self.out.extend_from_slice(&head.out);
        self.out.extend_from_slice(payload);
        self
    }

    /// Appends a load of code.
    #[must_use]
    pub fn load(self, time: u64, address: u64, size: u64, index: u64, name: &str) -> Self {
        self.load_cut(time, address, (size, size as usize), index, name)
    }

    /// Appends a load of code of `size` bytes. The file has `written` bytes of it.
    #[must_use]
    pub fn load_cut(
        self,
        time: u64,
        address: u64,
        (size, written): (u64, usize),
        index: u64,
        name: &str,
    ) -> Self {
        let head = Bytes::new(self.big).u32(5).u32(5).u64s(&[address, address, size, index]);
        let payload = [&head.out[..], name.as_bytes(), &[0], &vec![0x90; written]].concat();
        self.record(0, time, &payload)
    }

    /// Appends a move of code.
    #[must_use]
    pub fn moved(self, time: u64, from: u64, to: u64, size: u64, index: u64) -> Self {
        let payload = Bytes::new(self.big).u32(5).u32(5).u64s(&[to, from, to, size, index]);
        self.record(1, time, &payload.out)
    }

    /// Appends the lines of the code that is loaded next.
    #[must_use]
    pub fn lines(self, address: u64, lines: &[(u64, u32, &str)]) -> Self {
        let mut payload = Bytes::new(self.big).u64s(&[address, lines.len() as u64]);
        for &(address, line, file) in lines {
            payload = payload.u64(address).u32(line).u32(3).raw(file.as_bytes()).zeros(1);
        }
        self.record(2, 1, &payload.out)
    }
}
