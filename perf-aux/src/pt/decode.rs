//! Decodes one packet.

use super::block::{BlockSize, BlockType};
use super::error::PacketErrorKind;
use super::ip::{CompressedIp, IpCompression};
use super::mode::{Cbr, ModeExec, ModeTsx, Pip, Vmcs};
use super::packet::{Packet, PtWrite, Tma, Tnt, Trig};
use super::power::{Mwait, Pwre, Pwrx};
use super::trace_event::{Cfe, CfeType, Evd, EvdType};

/// Bytes of the longest packet, a PSB.
pub(super) const LONGEST: usize = 16;

/// A PSB packet.
pub(super) const PSB: [u8; LONGEST] =
    [0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82];

type Decoded = Result<(Packet, usize), PacketErrorKind>;

/// The bytes from the start of a packet on, with zeros after the end of the buffer.
type Window = [u8; LONGEST];

/// Decodes the packet at the start of the window, between blocks. Returns it with its size, which may exceed what is available.
///
/// # Errors
///
/// [`PacketErrorKind::Bad`] if no packet starts so, [`PacketErrorKind::Truncated`] if the bytes that decide it are missing.
#[inline(always)]
pub(super) fn decode(window: &Window, available: usize, trig: bool) -> Decoded {
    let [first, second, third, ..] = *window;
    match first {
        0x00 => Ok((Packet::Pad, 1)),
        0x02 => extended(window, available),
        _ if first & 1 == 0 => Ok((short_tnt(first), 1)),
        _ if first & 3 == 3 => cyc(window),
        _ => match first & 0x1f {
            0x0d => address(window, Packet::Tip),
            0x11 => address(window, Packet::TipPge),
            0x01 => address(window, Packet::TipPgd),
            0x1d => address(window, Packet::Fup),
            0x19 => match first >> 5 {
                0 => Ok((Packet::Tsc(u64_at(window, 1) & low_bytes(7)), 8)),
                2 => Ok((Packet::Mtc(second), 2)),
                4 => mode(second, available),
                6 if trig => Ok(triggers(second, third, window)),
                _ => Err(PacketErrorKind::Bad),
            },
            _ => Err(PacketErrorKind::Bad),
        },
    }
}

/// Decodes the packet at the start of the window as [`decode`] does, within a block.
#[cold]
pub(super) fn decode_in_block(window: &Window, available: usize, trig: bool, block: BlockSize) -> Decoded {
    let [first, ..] = *window;
    if first & 7 != 4 {
        return decode(window, available, trig);
    }
    let value = match block {
        BlockSize::Four => u64_at(window, 1) & low_bytes(4),
        BlockSize::Eight => u64_at(window, 1),
    };
    Ok((Packet::Bip { id: first >> 3, value }, block.bytes().wrapping_add(1)))
}

/// The packets whose first byte is 2. They are rarer than others, and many: kept apart, they leave the others short.
#[inline(never)]
fn extended(window: &Window, available: usize) -> Decoded {
    let [_, second, third, fourth, _, sixth, seventh, ..] = *window;
    if available < 2 {
        return Err(PacketErrorKind::Truncated);
    }
    let from_third = u64_at(window, 2);
    Ok(match second {
        0xa3 => (long_tnt(u64_at(window, 0)), 8),
        0x43 => (Packet::Pip(Pip(from_third & low_bytes(6))), 8),
        0x83 => (Packet::TraceStop, 2),
        0x03 => (Packet::Cbr(Cbr(u16::from_le_bytes([third, fourth]))), 4),
        0xc8 => (Packet::Vmcs(Vmcs(from_third & low_bytes(5))), 7),
        0xf3 => (Packet::Ovf, 2),
        0x82 if available < LONGEST => return Err(PacketErrorKind::Truncated),
        0x82 if *window == PSB => (Packet::Psb, LONGEST),
        0x23 => (Packet::PsbEnd, 2),
        0x73 => {
            let fast_counter = u16::from_le_bytes([sixth, seventh & 1]);
            (Packet::Tma(Tma { ctc: u16::from_le_bytes([third, fourth]), fast_counter }), 7)
        }
        0xc3 if available < 3 => return Err(PacketErrorKind::Truncated),
        0xc3 if third == 0x88 => (Packet::Mnt(u64_at(window, 3)), 11),
        0x62 | 0xe2 => (Packet::ExStop { ip: second >= 0x80 }, 2),
        0xc2 => (Packet::Mwait(Mwait(from_third)), 10),
        0x22 => (Packet::Pwre(Pwre(u16::from_le_bytes([third, fourth]))), 4),
        0xa2 => (Packet::Pwrx(Pwrx(from_third & low_bytes(5))), 7),
        0x63 => {
            let size = if third & 0x80 != 0 { BlockSize::Four } else { BlockSize::Eight };
            (Packet::Bbp { size, kind: BlockType(third & 0x1f) }, 3)
        }
        0x33 | 0xb3 => (Packet::Bep { ip: second >= 0x80 }, 2),
        0x13 => (Packet::Cfe(Cfe { kind: CfeType(third & 0x1f), vector: fourth, ip: third >= 0x80 }), 4),
        0x53 => (Packet::Evd(Evd { kind: EvdType(third & 0x3f), payload: u64_at(window, 3) }), 11),
        0x12 | 0x92 => {
            (Packet::PtWrite(PtWrite { payload: from_third & 0xffff_ffff, size: 4, ip: second >= 0x80 }), 6)
        }
        0x32 | 0xb2 => (Packet::PtWrite(PtWrite { payload: from_third, size: 8, ip: second >= 0x80 }), 10),
        _ => return Err(PacketErrorKind::Bad),
    })
}

/// Up to 6 branches: the highest bit that is set marks the end.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a byte has at most 8 leading zeros")]
const fn short_tnt(byte: u8) -> Packet {
    let mark = byte.leading_zeros();
    let bits = ((byte as u64) << 56) << mark << 1;
    Packet::Tnt(Tnt { bits, count: 6_u8.saturating_sub(mark as u8) })
}

/// Up to 47 branches in the 6 high bytes of a word. Without a mark there is none.
#[expect(clippy::cast_possible_truncation, reason = "a word has at most 64 leading zeros")]
const fn long_tnt(word: u64) -> Packet {
    let payload = word & !0xffff;
    let mark = payload.leading_zeros();
    // In two steps, because a word without a mark is shifted by 65.
    let bits = payload.unbounded_shl(mark) << 1;
    Packet::Tnt(Tnt { bits, count: 47_u8.saturating_sub(mark as u8) })
}

/// A count of cycles: 5 bits in the first byte and 7 in each of the up to 9 others. A bit in each says whether another follows.
#[inline]
fn cyc(window: &Window) -> Decoded {
    let [first, others @ ..] = *window;
    let mut value = u64::from(first >> 3);
    let mut more = first & 4 != 0;
    let mut size = 1_usize;
    let mut shift = 5_u32;
    for &byte in others.iter().take(9) {
        if !more {
            break;
        }
        value |= u64::from(byte >> 1).unbounded_shl(shift);
        more = byte & 1 != 0;
        size = size.wrapping_add(1);
        shift = shift.wrapping_add(7);
    }
    if more { Err(PacketErrorKind::Bad) } else { Ok((Packet::Cyc(value), size)) }
}

/// Bytes of a packet with an address, and the mask of the address, by IPBytes; 0 bytes for the reserved ones.
const ADDRESSES: [(usize, u64); 8] = [
    (1, 0),
    (3, low_bytes(2)),
    (5, low_bytes(4)),
    (7, low_bytes(6)),
    (7, low_bytes(6)),
    (0, 0),
    (9, low_bytes(8)),
    (0, 0),
];

/// A packet with an address.
#[inline]
fn address(window: &Window, packet: fn(CompressedIp) -> Packet) -> Decoded {
    let [first, ..] = *window;
    let compression = IpCompression(first >> 5);
    match ADDRESSES.get(usize::from(compression.0)) {
        Some(&(size, mask)) if size != 0 => {
            Ok((packet(CompressedIp { compression, payload: u64_at(window, 1) & mask }), size))
        }
        _ => Err(PacketErrorKind::Bad),
    }
}

/// A packet with a mode, whose 3 high bits are the kind of mode.
fn mode(byte: u8, available: usize) -> Decoded {
    match (byte >> 5, byte & 3) {
        _ if available < 2 => Err(PacketErrorKind::Truncated),
        (0, 0..=2) => Ok((Packet::ModeExec(ModeExec(byte)), 2)),
        (1, 0..=2) => Ok((Packet::ModeTsx(ModeTsx(byte)), 2)),
        _ => Err(PacketErrorKind::Bad),
    }
}

/// A packet of Trigger Tracing: 3 bytes, or 5 with a count of instructions.
const fn triggers(flags: u8, triggers: u8, window: &Window) -> (Packet, usize) {
    let [_, _, _, low, high, ..] = *window;
    let counted = flags & 0x40 != 0;
    let instructions = if counted { Some(u16::from_le_bytes([low, high])) } else { None };
    let trig = Trig { triggers, ip: flags & 0x80 != 0, multiple: flags & 0x20 != 0, instructions };
    (Packet::Trig(trig), if counted { 5 } else { 3 })
}

/// The mask of the lowest bytes of a word, at most 8.
#[inline]
const fn low_bytes(count: u32) -> u64 {
    u64::MAX.unbounded_shr(64_u32.saturating_sub(count.saturating_mul(8)))
}

/// The 8 bytes from an offset on, which is at most 8.
#[inline]
fn u64_at(window: &Window, at: usize) -> u64 {
    window.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
