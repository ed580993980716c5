//! Bytes that are no packet.

use core::fmt;

/// Bytes that are no packet, and where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PacketError {
    /// Offset of the first byte in the buffer.
    pub offset: usize,
    /// The first byte.
    pub byte: u8,
    /// The reason.
    pub kind: PacketErrorKind,
}

/// The reason why bytes are no packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PacketErrorKind {
    /// No packet starts with these bytes.
    ///
    /// perf: `INTEL_PT_BAD_PACKET`.
    #[doc(alias = "INTEL_PT_BAD_PACKET")]
    Bad,
    /// The buffer ends within the packet. The bytes may be its start, if the trace continues in another buffer.
    ///
    /// perf: `INTEL_PT_NEED_MORE_BYTES`.
    #[doc(alias = "INTEL_PT_NEED_MORE_BYTES")]
    Truncated,
}

impl fmt::Display for PacketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, byte, kind } = self;
        match kind {
            PacketErrorKind::Bad => {
                write!(f, "no packet starts with the byte {byte:#04x} at offset {offset:#x} of the trace")
            }
            PacketErrorKind::Truncated => {
                write!(
                    f,
                    "the trace ends within the packet at offset {offset:#x}, which starts with the byte {byte:#04x}"
                )
            }
        }
    }
}

impl core::error::Error for PacketError {}
