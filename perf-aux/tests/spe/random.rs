//! Any bytes.

use perf_aux::spe::{Decoder, Midr, Packet, PacketFault, Packets, SampleOptions, SpeCpu, SpeText, Synthesis};
use proptest::prelude::*;

/// Bytes that are often headers and padding.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let headers = prop::sample::select(
        &[
            0, 0, 1, 0x71, 0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0x98, 0x99, 0x20, 0x21, 0x22, 0x23, 0x64, 0x48,
            0x49, 0x4a, 0x42, 0x52, 0x62, 0x72, 0x43,
        ][..],
    );
    prop::collection::vec(prop_oneof![3 => headers, 1 => any::<u8>()], 0..300)
}

proptest! {
    #[test]
    fn packets_are_the_input_without_gaps(bytes in bytes(), offset in any::<u64>()) {
        let mut next = 0_usize;
        for packet in Packets::new(offset, &bytes) {
            prop_assert_eq!(packet.offset, offset.wrapping_add(next as u64));
            prop_assert_eq!(Some(packet.bytes), bytes.get(next..next + packet.bytes.len()));
            prop_assert!(matches!(packet.bytes.len(), 1..=16));
            prop_assert!(packet.packet.is_ok() || packet.bytes.len() == 1);
            for text in [SpeText::V6_1, SpeText::V7_2(Midr(0x410f_d0c0))] {
                let line = packet.line(text).to_string();
                prop_assert!(line.len() > 61 && !line.contains('\n'), "{:?}", line);
                prop_assert_eq!(line.ends_with(" Bad packet!"), packet.packet.is_err());
            }
            next += packet.bytes.len();
        }
        prop_assert_eq!(next, bytes.len());
    }

    /// Padding in lines or byte by byte makes no difference to records.
    #[test]
    fn records_are_those_of_the_packets(bytes in bytes()) {
        let mut decoder = Decoder::new();
        let records: Vec<_> = decoder.records(0, &bytes).collect();
        let packets: Vec<_> = Packets::new(0, &bytes).map(|packet| packet.packet).collect();
        let is_end = |packet: &Result<Packet, PacketFault>| match packet {
            Ok(Packet::End | Packet::Timestamp(_)) | Err(_) => true,
            Ok(Packet::Operation(operation)) => operation.operation().is_none(),
            Ok(_) => false,
        };
        prop_assert_eq!(records.len(), packets.iter().filter(|packet| is_end(packet)).count());
        let account = decoder.account();
        prop_assert_eq!(account.records, records.len() as u64);
        prop_assert_eq!(account.bytes, bytes.len() as u64);
        prop_assert_eq!(account.bad_bytes, packets.iter().filter(|packet| packet.is_err()).count() as u64);
        prop_assert_eq!(account.damaged, records.iter().filter(|record| record.is_damaged()).count() as u64);
        let offsets: Vec<_> = records.iter().map(|record| record.offset).collect();
        prop_assert!(offsets.is_sorted_by(|a, b| a < b));

        let mut synthesis = Synthesis::new(SampleOptions { branch_stack: 2, ..SampleOptions::default() });
        for record in records {
            let samples: Vec<_> = synthesis.samples(&record, &SpeCpu::default()).collect();
            prop_assert!(matches!(samples.len(), 1..=10));
            prop_assert!(samples.iter().all(|sample| sample.branches.iter().count() <= 2));
        }
    }
}
