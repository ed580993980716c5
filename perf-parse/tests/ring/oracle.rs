//! The model: a ring written as the kernel writes it, and read by unrolling it to a plain vector.

use super::Seen;

/// A ring and the number of bytes ever written to it.
pub(super) struct Model {
    pub(super) data: Vec<u8>,
    pub(super) head: u64,
}

impl Model {
    pub(super) fn new(size: usize, head: u64) -> Self {
        Self { data: vec![0; size], head }
    }

    fn put(&mut self, position: u64, record: &[u8]) {
        for (at, &byte) in record.iter().enumerate() {
            let at = position.wrapping_add(at as u64) % self.data.len() as u64;
            self.data[at as usize] = byte;
        }
    }

    pub(super) fn push_forward(&mut self, record: &[u8]) {
        self.put(self.head, record);
        self.head += record.len() as u64;
    }

    pub(super) fn push_backward(&mut self, record: &[u8]) {
        self.head = self.head.wrapping_sub(record.len() as u64);
        self.put(self.head, record);
    }
}

/// The end of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Whole,
    Torn {
        position: u64,
        bytes: u64,
    },
    Unwritten,
    /// An impossible size.
    Size {
        position: u64,
        size: u16,
        unread: u64,
    },
    /// A size larger than the remaining bytes.
    Beyond {
        position: u64,
        size: u16,
        left: u64,
    },
}

/// Returns the records in `length` bytes of the ring from `position` on.
pub(super) fn walk(data: &[u8], position: u64, length: u64, big: bool, may_tear: bool) -> (Vec<Seen>, End) {
    let mut bytes = Vec::new();
    for at in 0..length {
        bytes.push(data[(position.wrapping_add(at) % data.len() as u64) as usize]);
    }
    let (mut seen, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let size = [bytes[at + 6], bytes[at + 7]];
        let size = if big { u16::from_be_bytes(size) } else { u16::from_le_bytes(size) };
        let here = position.wrapping_add(at as u64);
        let left = (bytes.len() - at) as u64;
        if size == 0 && may_tear {
            if bytes[at..].iter().all(|&byte| byte == 0) {
                return (seen, End::Unwritten);
            }
            return (seen, End::Torn { position: here, bytes: left });
        }
        if size < 8 || size % 8 != 0 {
            return (seen, End::Size { position: here, size, unread: left });
        }
        if u64::from(size) > left {
            let end = End::Beyond { position: here, size, left };
            return (seen, if may_tear { End::Torn { position: here, bytes: left } } else { end });
        }
        seen.push((here, bytes[at..at + usize::from(size)].to_vec()));
        at += usize::from(size);
    }
    (seen, End::Whole)
}
