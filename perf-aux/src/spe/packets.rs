//! The packets of bytes, one after another.

use super::packet::{Packet, PacketFault};

/// The largest number of bytes of one packet, and of padding that is returned as one.
const MOST: usize = 16;

/// A packet, or a byte at which there is none, with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketAt<'a> {
    /// The position of the first byte: that of the bytes given, plus those before it.
    pub offset: u64,
    /// The bytes of the packet: 1 to 16, or 1 if there is no packet.
    pub bytes: &'a [u8],
    /// The packet.
    ///
    /// # Errors
    ///
    /// Why there is none; perf prints `Bad packet!`. The next byte may be a header again.
    pub packet: Result<Packet, PacketFault>,
}

/// Iterates over the packets of bytes. The bytes of the items are the input, without gaps.
///
/// # Examples
///
/// ```
/// use perf_aux::spe::{Packet, PacketFault, Packets};
/// let mut packets = Packets::new(0, &[0x01, 0xff, 0x00, 0x00, 0x71]);
/// let mut next = || packets.next().map(|packet| (packet.offset, packet.bytes.len(), packet.packet));
/// assert_eq!(next(), Some((0, 1, Ok(Packet::End))));
/// assert_eq!(next(), Some((1, 1, Err(PacketFault::Invalid))));
/// assert_eq!(next(), Some((2, 2, Ok(Packet::Padding))));
/// assert_eq!(next(), Some((4, 1, Err(PacketFault::Truncated))));
/// assert_eq!(next(), None);
/// ```
#[derive(Clone, Debug)]
pub struct Packets<'a> {
    offset: u64,
    rest: &'a [u8],
}

impl<'a> Packets<'a> {
    /// Starts at the first of `bytes`, whose position in the AUX area is `offset`.
    ///
    /// The position matters only to the packets that align the data, and only its low four bits. perf aligns to
    /// addresses of its mapping of the file instead. To print what perf prints, give the offset in the file.
    #[must_use]
    pub const fn new(offset: u64, bytes: &'a [u8]) -> Self {
        Self { offset, rest: bytes }
    }
}

impl<'a> Iterator for Packets<'a> {
    type Item = PacketAt<'a>;

    fn next(&mut self) -> Option<PacketAt<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let decoded = Packet::decode(self.offset, self.rest);
        let size = match decoded {
            Ok((Packet::Padding | Packet::Alignment, size)) => {
                let zeros = self.rest.get(size..).unwrap_or_default().iter().take_while(|&&byte| byte == 0);
                size.saturating_add(zeros.take(MOST.saturating_sub(size)).count())
            }
            Ok((_, size)) => size,
            Err(_) => 1,
        };
        let (bytes, rest) = self.rest.split_at_checked(size)?;
        let offset = self.offset;
        self.offset = offset.wrapping_add(size as u64);
        self.rest = rest;
        Some(PacketAt { offset, bytes, packet: decoded.map(|(packet, _)| packet) })
    }
}

impl core::iter::FusedIterator for Packets<'_> {}
