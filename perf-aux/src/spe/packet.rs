//! One packet: its header, and the fields of its payload.

use super::address::{AddressIndex, AddressPacket};
use super::events::EventFlags;
use super::operation::{OperationClass, OperationPacket};

code_word! {
    /// What a counter packet counts. A short header has room for 0 to 7, an extended one for 0 to 31.
    ///
    /// perf: `SPE_CNT_PKT_HDR_INDEX_*`.
    pub struct CounterIndex(u8) {
        /// Cycles from the dispatch of the operation to its completion.
        TOTAL_LATENCY = 0, "SPE_CNT_PKT_HDR_INDEX_TOTAL_LAT";
        /// Cycles from the dispatch of the operation to its issue.
        ISSUE_LATENCY = 1, "SPE_CNT_PKT_HDR_INDEX_ISSUE_LAT";
        /// Cycles of the translation of the data's address.
        TRANSLATION_LATENCY = 2, "SPE_CNT_PKT_HDR_INDEX_TRANS_LAT";
        /// Cycles of the alternate clock from the dispatch of the operation to its issue. Since SPE 1.4.
        ALTERNATE_CLOCK = 4, "alternate clock issue latency";
    }
}

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Packet {
    /// A byte of 0. [`Packets`](super::Packets) returns up to 16 of them as one packet.
    Padding,
    /// An extended header after which the data goes on at a multiple of a power of two, 2 to 16.
    Alignment,
    /// The end of a record without time stamp.
    End,
    /// The end of a record, with its time: ticks of the generic timer.
    Timestamp(u64),
    /// An address.
    Address(AddressPacket),
    /// A number of cycles.
    Counter {
        /// What is counted.
        index: CounterIndex,
        /// The number of cycles; saturated by the hardware.
        cycles: u16,
    },
    /// The id of the context that ran: with Linux, a thread id.
    Context {
        /// 0 for `CONTEXTIDR_EL1`, 1 for `CONTEXTIDR_EL2`; 2 and 3 are reserved.
        index: u8,
        /// The id.
        id: u32,
    },
    /// The kind of operation.
    Operation(OperationPacket),
    /// Events of the operation.
    Events(EventFlags),
    /// Where the data came from. The number is defined by the implementer: [`DataSourceEncoding`](super::DataSourceEncoding).
    DataSource(u64),
}

/// Why there is no packet at a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PacketFault {
    /// No packet has this header.
    Invalid,
    /// The bytes end before the packet does, or before the alignment that it announces.
    Truncated,
}

/// Bytes of each payload, by the `sz` field of a header: 1, 2, 4 or 8.
const fn payload_size(header: u8) -> usize {
    1 << (header >> 4 & 3)
}

/// Returns the payload of `N` bytes after the `skip` bytes of the header.
#[inline]
fn payload<const N: usize>(bytes: &[u8], skip: usize) -> Result<[u8; N], PacketFault> {
    bytes.get(skip..).and_then(|rest| rest.first_chunk()).copied().ok_or(PacketFault::Truncated)
}

/// Returns a payload of 1, 2, 4 or 8 bytes as a number.
#[inline]
fn number(bytes: &[u8], size: usize) -> Result<u64, PacketFault> {
    Ok(match size {
        1 => u8::from_le_bytes(payload(bytes, 1)?).into(),
        2 => u16::from_le_bytes(payload(bytes, 1)?).into(),
        4 => u32::from_le_bytes(payload(bytes, 1)?).into(),
        _ => u64::from_le_bytes(payload(bytes, 1)?),
    })
}

impl Packet {
    /// Decodes the packet at the start of `bytes`, and returns it with its number of bytes, which is 1 to 16.
    ///
    /// `offset` is the position of the bytes, of which only the low four bits count: an [`Alignment`](Self::Alignment)
    /// packet ends at a multiple of a power of two. See [`Packets::new`](super::Packets::new).
    ///
    /// # Errors
    ///
    /// [`PacketFault::Invalid`], [`PacketFault::Truncated`]. Empty bytes are truncated.
    ///
    /// perf: `arm_spe_do_get_packet`.
    #[inline]
    pub fn decode(offset: u64, bytes: &[u8]) -> Result<(Self, usize), PacketFault> {
        let Some(&header) = bytes.first() else { return Err(PacketFault::Truncated) };
        match header {
            0 => Ok((Self::Padding, 1)),
            1 => Ok((Self::End, 1)),
            0x71 => Ok((Self::Timestamp(number(bytes, 8)?), 9)),
            0xb0..=0xb7 => Self::address(header & 7, bytes, 1),
            0x98..=0x9f => Self::counter(header & 7, bytes, 1),
            0x64..=0x67 => {
                let id = u32::from_le_bytes(payload(bytes, 1)?);
                Ok((Self::Context { index: header & 3, id }, 5))
            }
            0x48..=0x4b => {
                let [payload] = payload(bytes, 1)?;
                Ok((Self::Operation(OperationPacket { class: OperationClass(header & 3), payload }), 2))
            }
            0x42 | 0x52 | 0x62 | 0x72 => {
                let size = payload_size(header);
                Ok((Self::Events(EventFlags(number(bytes, size)?)), size.saturating_add(1)))
            }
            0x43 | 0x53 | 0x63 | 0x73 => {
                let size = payload_size(header);
                Ok((Self::DataSource(number(bytes, size)?), size.saturating_add(1)))
            }
            0x20..=0x23 => Self::extended(offset, bytes, header & 3),
            _ => Err(PacketFault::Invalid),
        }
    }

    /// Decodes a packet with an extended header, whose first byte has the high two bits of the index.
    fn extended(offset: u64, bytes: &[u8], high: u8) -> Result<(Self, usize), PacketFault> {
        match bytes.get(1) {
            Some(0) => {
                // 2 to 16. As in perf, all of these bytes must be there, even if fewer are passed.
                let alignment = 2_usize << high;
                if bytes.len() < alignment {
                    return Err(PacketFault::Truncated);
                }
                let passed = (offset & 0xf) as usize & alignment.saturating_sub(1);
                Ok((Self::Alignment, alignment.saturating_sub(passed)))
            }
            Some(&header @ 0xb0..=0xb7) => Self::address(high << 3 | header & 7, bytes, 2),
            Some(&header @ 0x98..=0x9f) => Self::counter(high << 3 | header & 7, bytes, 2),
            Some(_) => Err(PacketFault::Invalid),
            None => Err(PacketFault::Truncated),
        }
    }

    #[inline]
    fn address(index: u8, bytes: &[u8], skip: usize) -> Result<(Self, usize), PacketFault> {
        let payload = u64::from_le_bytes(payload(bytes, skip)?);
        let packet = AddressPacket { index: AddressIndex(index), payload };
        Ok((Self::Address(packet), skip.saturating_add(8)))
    }

    #[inline]
    fn counter(index: u8, bytes: &[u8], skip: usize) -> Result<(Self, usize), PacketFault> {
        let cycles = u16::from_le_bytes(payload(bytes, skip)?);
        Ok((Self::Counter { index: CounterIndex(index), cycles }, skip.saturating_add(2)))
    }
}
