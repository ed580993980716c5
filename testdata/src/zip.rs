//! Small zip archives, written by hand.

use crate::Bytes;

/// An archive such as an apk, whose files begin at multiples of 4096 bytes.
#[derive(Clone, Debug)]
pub struct Zip {
    contents: Bytes,
    directory: Bytes,
    files: u16,
}

impl Default for Zip {
    fn default() -> Self {
        Self { contents: Bytes::new(false), directory: Bytes::new(false), files: 0 }
    }
}

impl Zip {
    /// Adds a file that is not compressed. Returns the archive with the offset at which its contents are.
    #[must_use]
    pub fn file(self, name: &str, contents: &[u8]) -> (Self, u64) {
        self.with(name, 0, contents)
    }

    /// Adds a file whose method of compression is 8, deflate.
    #[must_use]
    pub fn deflated(self, name: &str, contents: &[u8]) -> Self {
        self.with(name, 8, contents).0
    }

    fn with(self, name: &str, method: u16, contents: &[u8]) -> (Self, u64) {
        let header = self.contents.len();
        let start = (header + 30 + name.len()).next_multiple_of(4096);
        let extra = u16::try_from(start - header - 30 - name.len()).unwrap();
        let (size, name_len) = (u32::try_from(contents.len()).unwrap(), u16::try_from(name.len()).unwrap());
        // Versions, flags, method, time, date, CRC, sizes, number of bytes of the name.
        let common = |it: Bytes| it.u16(0).u16(method).u16(0).u16(0).u32(0).u32(size).u32(size).u16(name_len);
        let local = common(self.contents.raw(b"PK\x03\x04").u16(20)).u16(extra);
        let local = local.raw(name.as_bytes()).zeros(extra.into()).raw(contents);
        let central = common(self.directory.raw(b"PK\x01\x02").u16(20).u16(20)).u16(0).u16(0).u16(0);
        let central = central.u16(0).u32(0).u32(u32::try_from(header).unwrap()).raw(name.as_bytes());
        (Self { contents: local, directory: central, files: self.files + 1 }, start as u64)
    }

    /// Returns the bytes of the archive, with a comment.
    #[must_use]
    pub fn build(self) -> Vec<u8> {
        let at = u32::try_from(self.contents.len()).unwrap();
        let size = u32::try_from(self.directory.len()).unwrap();
        let all = self.contents.raw(&self.directory.out);
        let end = all.raw(b"PK\x05\x06").u16(0).u16(0).u16(self.files).u16(self.files).u32(size).u32(at);
        end.u16(7).raw(b"comment").out
    }
}
