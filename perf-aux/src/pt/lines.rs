//! Packets as lines of text.

use core::fmt;

use super::error::PacketError;
use super::packet::Packet;
use super::packets::Packets;

/// The packets of a buffer as `perf script -D` of 6.1 and 7.2 prints them: [`Display`](fmt::Display) of a [`Line`] is one line.
///
/// perf prints padding with the packet before it, as long as both are at most 8 bytes.
///
/// # Examples
///
/// ```
/// use perf_aux::pt::Packets;
///
/// let lines: Vec<_> = Packets::as_perf(&[0x06, 0, 0, 0xd9]).lines().map(|line| line.to_string()).collect();
/// assert_eq!(lines, [
///     ".  00000000:  06 00 00                                        TNT T (1)",
///     ".  00000003:  d9                                              Bad packet!",
/// ]);
/// ```
///
/// perf: `intel_pt_dump`, `tools/perf/util/intel-pt.c`.
#[derive(Clone, Debug)]
pub struct Lines<'a>(Packets<'a>);

/// A packet with the padding after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Offset of the packet in the buffer.
    pub offset: usize,
    /// The bytes of the packet and of the padding after it.
    pub bytes: &'a [u8],
    /// The packet, or why there is none. Each error prints as "Bad packet!".
    pub packet: Result<Packet, PacketError>,
}

impl<'a> Packets<'a> {
    /// Returns the packets as the lines of `perf script -D`.
    #[must_use]
    pub const fn lines(self) -> Lines<'a> {
        Lines(self)
    }
}

impl<'a> Lines<'a> {
    /// Returns the packets that are left.
    #[must_use]
    pub const fn packets(&self) -> &Packets<'a> {
        &self.0
    }
}

/// Number of bytes up to which perf appends padding to a packet.
const PADDED: usize = 8;

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        let next = self.0.next()?;
        let (offset, packet) = match next {
            Ok(located) => {
                self.0.skip_padding(PADDED.saturating_sub(located.bytes.len()));
                (located.offset, Ok(located.packet))
            }
            Err(error) => (error.offset, Err(error)),
        };
        Some(Line { offset, bytes: self.0.bytes(offset, self.0.offset()), packet })
    }
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ".  {:08x}: ", self.offset)?;
        for byte in self.bytes {
            write!(f, " {byte:02x}")?;
        }
        for _ in self.bytes.len()..16 {
            f.write_str("   ")?;
        }
        match &self.packet {
            Ok(packet) => write!(f, " {packet}"),
            Err(_) => f.write_str(" Bad packet!"),
        }
    }
}
