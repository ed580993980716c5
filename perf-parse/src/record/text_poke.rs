//! Changes to kernel text.

use perf_abi::endian::Endian;
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;

/// Kernel text was changed.
///
/// Kernel: `PERF_RECORD_TEXT_POKE`; since Linux 5.9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TextPoke<'a> {
    /// Address of the text.
    pub addr: u64,
    /// The old bytes; empty if the text is new.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub old: &'a [u8],
    /// The new bytes; empty if the text was removed.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub new: &'a [u8],
}

impl<'a> TextPoke<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let wire::RawTextPoke { addr, old_len, new_len } = at.fixed::<wire::RawTextPoke<O>>("addr")?;
        let old = at.bytes(u64::from(old_len.get()), "old_bytes")?;
        let new = at.bytes(u64::from(new_len.get()), "new_bytes")?;
        // The padding makes the two lengths and the bytes together a multiple of 8.
        let padding = usize::from(old_len.get()).wrapping_add(usize::from(new_len.get())).wrapping_add(4);
        at.bytes((padding.wrapping_neg() % 8) as u64, "padding")?;
        Ok(Self { addr: addr.get(), old, new })
    }
}
