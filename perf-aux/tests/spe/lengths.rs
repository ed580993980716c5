//! The number of bytes of each packet, for every header: from the manual's formats, written as a table.

use perf_aux::spe::{Packet, PacketFault, Packets};

/// Bytes of the packet with a short header; `None` if there is none, or if the header is extended.
fn short(header: u8) -> Option<usize> {
    // 0b0000_0000, 0b0000_0001; 0b0111_0001; 0b01ss_0010, 0b01ss_0011; 0b0110_01xx; 0b0100_10xx; 0b1011_0xxx;
    // 0b1001_1xxx.
    let size = 1 << (header >> 4 & 3);
    match header {
        0 | 1 => Some(1),
        0x71 => Some(9),
        _ if header & 0b1100_1110 == 0b0100_0010 => Some(1 + size),
        _ if header & 0b1111_1100 == 0b0110_0100 => Some(5),
        _ if header & 0b1111_1100 == 0b0100_1000 => Some(2),
        _ if header & 0b1111_1000 == 0b1011_0000 => Some(9),
        _ if header & 0b1111_1000 == 0b1001_1000 => Some(3),
        _ => None,
    }
}

/// Bytes of the packet with an extended header.
fn extended(second: u8) -> Option<usize> {
    match second {
        _ if second & 0b1111_1000 == 0b1011_0000 => Some(10),
        _ if second & 0b1111_1000 == 0b1001_1000 => Some(4),
        _ => None,
    }
}

/// Decodes the header followed by bytes that are no padding, of each length up to more than any packet.
fn check(header: &[u8], expected: Option<usize>) {
    for len in 0..=20 {
        let bytes: Vec<u8> = header.iter().copied().chain(core::iter::repeat(0xee)).take(len).collect();
        let decoded = Packet::decode(0, &bytes).map(|(_, size)| size);
        let size = match expected {
            _ if len < header.len() => Err(PacketFault::Truncated),
            Some(size) if size <= len => Ok(size),
            Some(_) => Err(PacketFault::Truncated),
            None => Err(PacketFault::Invalid),
        };
        assert_eq!(decoded, size, "{header:02x?} of {len} bytes");
        if let Some(first) = Packets::new(0, &bytes).next() {
            assert_eq!(first.bytes.len(), size.unwrap_or(1), "{header:02x?} of {len} bytes");
        }
    }
}

#[test]
fn every_header_has_its_length() {
    let mut known = 0;
    for first in 0..=255 {
        if matches!(first, 0x20..=0x23) {
            for second in 1..=255 {
                check(&[first, second], extended(second));
                known += usize::from(extended(second).is_some());
            }
        } else {
            check(&[first], short(first));
            known += usize::from(short(first).is_some());
        }
    }
    // 2 ends and paddings, 1 time, 8 events and sources, 4 contexts, 4 operations, 8 addresses, 8 counters; and 16 extended
    // ones for each of 4 headers.
    assert_eq!(known, 35 + 64);
}

#[test]
fn an_alignment_ends_at_a_multiple() {
    for (header, alignment) in [(0x20, 2), (0x21, 4), (0x22, 8), (0x23, 16_usize)] {
        for offset in 0..32_u64 {
            for len in 2..=20 {
                let bytes: Vec<u8> = [header, 0].into_iter().chain([0xee; 18]).take(len).collect();
                let passed = offset as usize % alignment;
                let expected = match len {
                    _ if len < alignment => Err(PacketFault::Truncated),
                    _ => Ok((Packet::Alignment, alignment - passed)),
                };
                assert_eq!(Packet::decode(offset, &bytes), expected, "{header:x} at {offset} of {len} bytes");
            }
        }
    }
}

#[test]
fn padding_is_returned_in_lines() {
    let sizes = |bytes: &[u8]| Packets::new(0, bytes).map(|packet| packet.bytes.len()).collect::<Vec<_>>();
    assert_eq!(sizes(&[0; 15]), [15]);
    assert_eq!(sizes(&[0; 16]), [16]);
    assert_eq!(sizes(&[0; 17]), [16, 1]);
    // Zeros after an alignment are part of its line.
    let mut bytes = vec![0x20, 0];
    bytes.extend([0; 20]);
    assert_eq!(sizes(&bytes), [16, 6]);
    assert_eq!(sizes(&[0x20, 0, 0, 1]), [3, 1]);
}
