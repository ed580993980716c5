//! Every start of a packet, held against a table of the Intel SDM, in buffers of every size.

use perf_aux::pt::{BlockSize, Packet, PacketErrorKind, Packets};

use crate::support::packet;

/// A block of values of 4 bytes, and one of 8 bytes, before the bytes that are tested.
const BLOCKS: [&[u8]; 3] = [&[], &[0x02, 0x63, 0x81], &[0x02, 0x63, 0x01]];

/// Number of bytes of the packet that starts so; `None` if none does. Written from the tables of the SDM, section "Packet Definitions".
fn size(bytes: &[u8; 16], block: usize, trig: bool) -> Option<usize> {
    let [first, second, third, ..] = *bytes;
    let ip = |code: u8| [Some(1), Some(3), Some(5), Some(7), Some(7), None, Some(9), None][usize::from(code)];
    match (first, second, third) {
        _ if block > 0 && first & 0b111 == 0b100 => Some([0, 5, 9][block]),
        (0b0000_0000, ..) => Some(1),
        (0x02, 0xa3 | 0x43, _) => Some(8),
        (0x02, 0x83 | 0xf3 | 0x23 | 0x62 | 0xe2 | 0x33 | 0xb3, _) => Some(2),
        (0x02, 0x03 | 0x22 | 0x13, _) => Some(4),
        (0x02, 0xc8 | 0x73 | 0xa2, _) => Some(7),
        (0x02, 0x82, _) => {
            (*bytes == [2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82]).then_some(16)
        }
        (0x02, 0xc3, 0x88) | (0x02, 0x53, _) => Some(11),
        (0x02, 0xc2, _) => Some(10),
        (0x02, 0x63, _) => Some(3),
        (0x02, 0b0001_0010 | 0b1001_0010, _) => Some(6),
        (0x02, 0b0011_0010 | 0b1011_0010, _) => Some(10),
        (0x02, ..) => None,
        _ if first & 1 == 0 => Some(1),
        _ if first & 0b11 == 0b11 => {
            let mut more = first & 0b100 != 0;
            let mut len = 1;
            while more && len < 10 {
                more = bytes[len] & 1 != 0;
                len += 1;
            }
            (!more).then_some(len)
        }
        (0b0001_1001, ..) => Some(8),
        (0b0101_1001, ..) => Some(2),
        (0b1001_1001, ..) => (second >> 5 < 2 && second & 3 != 3).then_some(2),
        (0b1101_1001, ..) if trig => Some(if second & 0x40 != 0 { 5 } else { 3 }),
        _ if matches!(first & 0x1f, 0x0d | 0x11 | 0x01 | 0x1d) => ip(first >> 5),
        _ => None,
    }
}

/// Checks a start of a packet in a buffer that ends anywhere.
fn check(bytes: &[u8; 16]) {
    for (block, before) in BLOCKS.into_iter().enumerate() {
        // Nothing else depends on it.
        let others = if bytes[0] == 0xd9 { &[true, false][..] } else { &[true] };
        for &trig in others {
            let size = size(bytes, block, trig);
            let edge = size.unwrap_or(3);
            for len in [1, edge - 1, edge, edge + 1, 16].into_iter().filter(|len| (1..=16).contains(len)) {
                let trace = [before, &bytes[..len]].concat();
                let mut packets = if trig { Packets::new(&trace) } else { Packets::as_perf(&trace) };
                if !before.is_empty() {
                    assert!(
                        matches!(packets.next(), Some(Ok(found)) if matches!(found.packet, Packet::Bbp { .. }))
                    );
                }
                let found = packets.next().expect("there are bytes");
                let consumed = packets.offset() - before.len();
                match (size, found) {
                    (Some(size), Ok(found)) => {
                        assert!(size <= len, "{trace:02x?}: {found:?}");
                        assert_eq!((consumed, found.bytes), (size, &bytes[..size]), "{trace:02x?}");
                    }
                    (Some(size), Err(error)) => {
                        assert_eq!((consumed, error.kind), (1, PacketErrorKind::Truncated), "{trace:02x?}");
                        assert!(size > len, "{trace:02x?}: {error}");
                    }
                    // Too few bytes may not show that none starts so.
                    (None, Err(error)) => {
                        assert_eq!((consumed, error.offset, error.byte), (1, before.len(), bytes[0]));
                        assert!(error.kind == PacketErrorKind::Bad || len < 16, "{trace:02x?}: {error}");
                    }
                    (None, Ok(found)) => panic!("{trace:02x?}: {found:?}"),
                }
            }
        }
    }
}

fn start(first: &[u8], fill: u8) -> [u8; 16] {
    let mut bytes = [fill; 16];
    bytes[..first.len()].copy_from_slice(first);
    bytes
}

#[test]
fn every_pair_of_bytes() {
    for first in 0..=255 {
        for second in 0..=255 {
            // Fills that end and that continue a CYC packet.
            for fill in [0x00, 0xff] {
                check(&start(&[first, second], fill));
            }
        }
    }
}

#[test]
fn every_third_byte() {
    for second in 0..=255 {
        for third in 0..=255 {
            check(&start(&[0x02, second, third], 0x5a));
        }
    }
}

#[test]
fn a_psb_with_any_other_byte_is_none() {
    let psb = testdata::intel_pt::PSB;
    check(&psb);
    for at in 1..psb.len() {
        for bit in 0..8 {
            let mut other = psb;
            other[at] ^= 1 << bit;
            check(&other);
        }
    }
}

#[test]
fn cycles_of_any_size() {
    assert_eq!(packet(&[0xfb]), Packet::Cyc(0x1f));
    assert_eq!(packet(&[0x07, 0x02]), Packet::Cyc(1 << 5));
    assert_eq!(packet(&[0x0f, 0x03, 0x04]), Packet::Cyc(1 | 1 << 5 | 2 << 12));
    let longest = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02];
    assert_eq!(packet(&longest), Packet::Cyc(0x3fff_ffff_ffff_ffff));
}

#[test]
fn trigger_tracing() {
    let trig = |bytes| match packet(bytes) {
        Packet::Trig(trig) => trig,
        other => panic!("{other:?}"),
    };
    let plain = trig(&[0xd9, 0x00, 0x05]);
    assert_eq!((plain.triggers, plain.ip, plain.multiple, plain.instructions), (5, false, false, None));
    let counted = trig(&[0xd9, 0xe0, 0x80, 0x34, 0x12]);
    assert_eq!(
        (counted.triggers, counted.ip, counted.multiple, counted.instructions),
        (0x80, true, true, Some(0x1234))
    );
    assert_eq!(packet(&[0xd9, 0xe0, 0x80, 0x34, 0x12]).to_string(), "TRIG 0x80 IP:1 MULT:1 ICNT 0x1234");
}

/// The packets that end a block: a byte that is both a BIP header and a short TNT shows it.
#[test]
fn blocks_end() {
    let psb = testdata::intel_pt::PSB;
    let cases: &[(&[u8], bool)] = &[
        (&[], true),
        (&[0x00], true),
        (&[0x19, 1, 2, 3, 4, 5, 6, 7], true),
        (&[0x02, 0x73, 1, 2, 3, 4, 5], true),
        (&[0x59, 0x01], true),
        (&[0x1d], true),
        (&[0x0b], true),
        (&[0x02, 0x03, 1, 0], true),
        (&[0x02, 0xc3, 0x88, 1, 2, 3, 4, 5, 6, 7, 8], true),
        (&[0x02, 0x62], true),
        (&[0x02, 0x22, 1, 2], true),
        (&[0x02, 0xa2, 1, 2, 3, 4, 5], true),
        (&[0x0c, 1, 2, 3, 4], true),
        (&[0xc9], true),
        (&[0x06], false),
        (&[0x02, 0xa3, 1, 2, 3, 4, 5, 6], false),
        (&[0x0d], false),
        (&[0x01], false),
        (&[0x11], false),
        (&[0x99, 0x01], false),
        (&[0x99, 0x21], false),
        (&[0x02, 0x43, 1, 2, 3, 4, 5, 6], false),
        (&[0x02, 0xf3], false),
        (&[0x02, 0xc8, 1, 2, 3, 4, 5], false),
        (&[0x02, 0x83], false),
        (&psb, false),
        (&[0x02, 0x23], false),
        (&[0x02, 0x12, 1, 2, 3, 4], false),
        (&[0x02, 0xc2, 1, 2, 3, 4, 5, 6, 7, 8], false),
        (&[0x02, 0x33], false),
        (&[0x02, 0xb3], false),
        (&[0x02, 0x13, 1, 2], false),
        (&[0x02, 0x53, 1, 2, 3, 4, 5, 6, 7, 8, 9], false),
    ];
    for &(between, open) in cases {
        let trace = [&[0x02, 0x63, 0x81][..], between, &[0x14, 0xef, 0xbe, 0xad, 0xde]].concat();
        let mut packets = Packets::new(&trace);
        let mut found = packets.next();
        while packets.offset() < 3 + between.len() {
            found = packets.next();
        }
        assert!(found.is_some());
        assert_eq!(packets.block(), open.then_some(BlockSize::Four), "{between:02x?}");
        let expected = if open { "BIP ID 0x02 Value 0xdeadbeef" } else { "TNT NTN (3)" };
        assert_eq!(packets.next().unwrap().unwrap().packet.to_string(), expected, "{between:02x?}");
    }
}
