//! Positions in buffers, and packets that are in two of them.

use crate::pt::block::BlockSize;
use crate::pt::decode::LONGEST;
use crate::pt::error::{PacketError, PacketErrorKind};
use crate::pt::packet::Packet;
use crate::pt::packets::Packets;

/// A position in a buffer, at which its events go on: [`Events::position`](super::Events::position).
#[derive(Clone, Copy, Debug, Default)]
pub struct EventPosition {
    pub(super) offset: usize,
    pub(super) block: Option<BlockSize>,
    /// Offset of the first EVD packet for the next CFE event.
    pub(super) data: Option<usize>,
}

/// The start of a packet at the end of a buffer, whose rest is in the next one, or the block that is open between them.
///
/// perf: `intel_pt_get_split_packet`, `tools/perf/util/intel-pt-decoder/intel-pt-decoder.c`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SplitPacket {
    bytes: [u8; LONGEST],
    /// Number of bytes of the packet so far; 0 if there is none.
    len: usize,
    block: Option<BlockSize>,
}

/// A packet of which the start is in the buffer before.
#[derive(Clone, Copy, Debug)]
pub(super) struct JoinedPacket {
    pub(super) packet: Result<Packet, PacketError>,
    /// Number of its bytes that are in the buffers before.
    pub(super) before: usize,
}

impl SplitPacket {
    /// Keeps the last bytes of a buffer, which are fewer than those of the longest packet.
    pub(super) fn new(bytes: &[u8], block: Option<BlockSize>) -> Self {
        let mut split = Self { block, ..Self::default() };
        split.add(bytes);
        split
    }

    /// Keeps the block that is open at the end of a buffer.
    pub(super) const fn go_on_in(&mut self, block: Option<BlockSize>) {
        self.block = block;
    }

    fn add(&mut self, bytes: &[u8]) {
        let room = self.bytes.get_mut(self.len..).unwrap_or_default();
        room.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        self.len = self.len.saturating_add(bytes.len()).min(LONGEST);
    }

    /// Returns the packets of the next buffer, and the packet before them that ends in it.
    pub(super) fn join<'a>(&mut self, trace: &'a [u8]) -> (Packets<'a>, Option<JoinedPacket>) {
        if self.len == 0 {
            return (Packets::as_perf_at(trace, 0, core::mem::take(&mut self.block)), None);
        }
        let mut whole = *self;
        whole.add(trace);
        let joined =
            Packets::as_perf_at(whole.bytes.get(..whole.len).unwrap_or_default(), 0, self.block).next();
        let at = |offset, block| Packets::as_perf_at(trace, offset, block);
        let before = self.len;
        let (packets, packet) = match joined {
            Some(Ok(found)) => {
                let block = Packets::block_after(&found.packet, self.block);
                (at(found.bytes.len().saturating_sub(before), block), Ok(found.packet))
            }
            Some(Err(error)) if error.kind == PacketErrorKind::Truncated => {
                *self = whole;
                return (at(trace.len(), self.block), None);
            }
            // Its other bytes in the buffer before are skipped.
            Some(Err(error)) => (at(0, self.block), Err(error)),
            None => (at(0, None), Err(PacketError { offset: 0, byte: 0, kind: PacketErrorKind::Bad })),
        };
        *self = Self::default();
        (packets, Some(JoinedPacket { packet, before }))
    }
}
