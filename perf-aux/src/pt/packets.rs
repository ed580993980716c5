//! The packets of a buffer.

use super::block::BlockSize;
use super::decode::{LONGEST, PSB, decode, decode_in_block};
use super::error::{PacketError, PacketErrorKind};
use super::packet::Packet;

/// The packets of a buffer of a trace, in its order.
///
/// After an error, the iterator continues at the next byte, as perf does. [`sync`](Self::sync) continues at the next PSB instead,
/// from which on the packets are certain.
///
/// Takes constant time for each packet, and borrows from the buffer.
///
/// # Examples
///
/// ```
/// use perf_aux::pt::{Packet, PacketErrorKind, Packets};
///
/// // A TNT, a byte that starts no packet, and a packet that is cut off.
/// let mut packets = Packets::new(&[0x1c, 0xc9, 0x02]);
/// let first = packets.next().unwrap()?;
/// assert_eq!((first.offset, first.bytes, first.packet.to_string()), (0, &[0x1c][..], "TNT TTN (3)".into()));
/// assert_eq!(packets.next().unwrap().unwrap_err().kind, PacketErrorKind::Bad);
/// assert_eq!(packets.next().unwrap().unwrap_err().kind, PacketErrorKind::Truncated);
/// assert!(packets.next().is_none());
/// # Ok::<(), perf_aux::pt::PacketError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Packets<'a> {
    trace: &'a [u8],
    offset: usize,
    block: Option<BlockSize>,
    trig: bool,
}

/// A packet and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocatedPacket<'a> {
    /// Offset of the packet in the buffer.
    pub offset: usize,
    /// The bytes of the packet, without padding.
    pub bytes: &'a [u8],
    /// The packet.
    pub packet: Packet,
}

impl<'a> Packets<'a> {
    /// Returns the packets of a buffer, whose first byte starts a packet.
    ///
    /// Buffers of AUX areas start at a packet, except those of snapshots; call [`sync`](Self::sync) for these.
    #[must_use]
    pub const fn new(trace: &'a [u8]) -> Self {
        Self { trace, offset: 0, block: None, trig: true }
    }

    /// Returns the packets that perf 6.1 and 7.2 know, which is all but [`Packet::Trig`].
    #[must_use]
    pub const fn as_perf(trace: &'a [u8]) -> Self {
        Self::as_perf_at(trace, 0, None)
    }

    /// The packets that perf knows from an offset on, within a block.
    pub(super) const fn as_perf_at(trace: &'a [u8], offset: usize, block: Option<BlockSize>) -> Self {
        Self { trace, offset, block, trig: false }
    }

    /// Continues at an offset of the buffer, with the [block](Self::block) that is open there: both those of an earlier iterator
    /// over the same buffer.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_aux::pt::Packets;
    ///
    /// let trace = [0x02, 0x63, 0x04, 0x24, 1, 0, 0, 0, 0, 0, 0, 0];
    /// let mut packets = Packets::new(&trace);
    /// packets.next();
    /// let continued = Packets::new(&trace).continued(packets.offset(), packets.block());
    /// assert!(continued.eq(packets));
    /// ```
    #[must_use]
    pub const fn continued(self, offset: usize, block: Option<BlockSize>) -> Self {
        Self { offset, block, ..self }
    }

    /// Returns the offset of the next packet in the buffer.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the bytes of the buffer that are not decoded yet.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.trace.get(self.offset..).unwrap_or_default()
    }

    /// Returns the size of the values of the block that is open; `None` between blocks.
    ///
    /// perf: `enum intel_pt_pkt_ctx`.
    #[must_use]
    #[doc(alias = "intel_pt_pkt_ctx")]
    pub const fn block(&self) -> Option<BlockSize> {
        self.block
    }

    /// Skips to the next PSB packet, from which on a trace can be decoded. The next packet is the PSB.
    ///
    /// Returns whether there is one. If there is none, nothing is left. Takes time in proportion to the bytes that are skipped.
    pub fn sync(&mut self) -> bool {
        self.block = None;
        let found = self.rest().windows(LONGEST).position(|bytes| *bytes == PSB);
        self.offset = found.map_or(self.trace.len(), |skipped| self.offset.saturating_add(skipped));
        found.is_some()
    }

    /// Skips zero bytes, at most this number. Returns the number of skipped bytes.
    pub(super) fn skip_padding(&mut self, at_most: usize) -> usize {
        let zeros = self.rest().iter().take(at_most).take_while(|&&byte| byte == 0).count();
        self.offset = self.offset.saturating_add(zeros);
        zeros
    }

    /// Skips all packets that are left, and returns their bytes from an offset on.
    pub(super) fn skip_from(&mut self, offset: usize) -> &'a [u8] {
        self.offset = self.trace.len();
        self.trace.get(offset..).unwrap_or_default()
    }

    /// The bytes of the buffer from one offset to another.
    pub(super) fn bytes(&self, from: usize, to: usize) -> &'a [u8] {
        self.trace.get(from..to).unwrap_or_default()
    }

    /// The block that is open after a packet. Most packets end a block; those of the time do not.
    ///
    /// perf: `intel_pt_upd_pkt_ctx`.
    #[inline]
    pub(super) const fn block_after(packet: &Packet, block: Option<BlockSize>) -> Option<BlockSize> {
        match packet {
            Packet::Bbp { size, .. } => Some(*size),
            _ if block.is_none() => None,
            Packet::Pad
            | Packet::Tsc(_)
            | Packet::Tma(_)
            | Packet::Mtc(_)
            | Packet::Fup(_)
            | Packet::Cyc(_)
            | Packet::Cbr(_)
            | Packet::Mnt(_)
            | Packet::ExStop { .. }
            | Packet::Pwre(_)
            | Packet::Pwrx(_)
            | Packet::Bip { .. } => block,
            _ => None,
        }
    }

    /// Decodes the packet at the start of the last bytes of the buffer.
    #[cold]
    fn decode_last(&self, rest: &[u8]) -> Result<(Packet, usize), PacketErrorKind> {
        let mut window = [0; LONGEST];
        window.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        let decoded = match self.block {
            None => decode(&window, rest.len(), self.trig),
            Some(block) => decode_in_block(&window, rest.len(), self.trig, block),
        };
        match decoded {
            Ok((_, size)) if size > rest.len() => Err(PacketErrorKind::Truncated),
            decoded => decoded,
        }
    }
}

impl<'a> Iterator for Packets<'a> {
    type Item = Result<LocatedPacket<'a>, PacketError>;

    /// Decodes the packets of most traces where it is called, so that a program that does not use a part of them, such as their
    /// bytes, does not take time for it.
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let offset = self.offset;
        let rest = self.trace.get(offset..)?;
        let decoded = match (rest.first_chunk(), self.block) {
            (Some(window), None) => decode(window, LONGEST, self.trig),
            (Some(window), Some(block)) => decode_in_block(window, LONGEST, self.trig, block),
            (None, _) if rest.is_empty() => return None,
            (None, _) => self.decode_last(rest),
        };
        Some(match decoded {
            Ok((packet, size)) => {
                self.offset = offset.saturating_add(size);
                self.block = Self::block_after(&packet, self.block);
                Ok(LocatedPacket { offset, bytes: rest.get(..size).unwrap_or_default(), packet })
            }
            Err(kind) => {
                self.offset = offset.saturating_add(1);
                let byte = rest.first().copied().unwrap_or_default();
                Err(PacketError { offset, byte, kind })
            }
        })
    }
}

impl core::iter::FusedIterator for Packets<'_> {}
