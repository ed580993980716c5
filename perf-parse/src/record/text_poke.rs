//! Changes to kernel text.

use perf_abi::endian::Endian;
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;

/// Kernel text was changed.
///
/// Kernel: `PERF_RECORD_TEXT_POKE`; since Linux 5.9.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPoke<'a> {
    /// Address.
    pub addr: u64,
    /// What was there; empty where a new piece of text appeared.
    pub old: &'a [u8],
    /// What is there now; empty where a piece of text went.
    pub new: &'a [u8],
}

impl<'a> TextPoke<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let wire::TextPoke { addr, old_len, new_len } = at.fixed::<wire::TextPoke<O>>("addr")?;
        let old = at.bytes(u64::from(old_len.get()), "old_bytes")?;
        let new = at.bytes(u64::from(new_len.get()), "new_bytes")?;
        // The two lengths and the bytes are padded together to a multiple of 8.
        let padding = usize::from(old_len.get()).wrapping_add(usize::from(new_len.get())).wrapping_add(4);
        at.bytes((padding.wrapping_neg() % 8) as u64, "padding")?;
        Ok(Self { addr: addr.get(), old, new })
    }
}
