//! Arm SPE: the packets of any bytes, the records and samples that they make, and metadata of any words.

use perf_abi::auxtrace::AuxtraceType;
use perf_abi::endian::Endianness;
use perf_aux::spe::{
    Decoder, Midr, Packet, Packets, SampleOptions, SpeCpu, SpeInfo, SpeRecord, SpeText, Synthesis,
};
use perf_parse::list::List;
use perf_parse::record::user::AuxtraceInfo;

/// CPUs of each encoding of data sources, and one that is not known.
const CPUS: [u64; 4] = [0x410f_d0c0, 0xc00f_ac40, 0x480f_d060, 0];

/// The first byte selects the CPU, the position of the data modulo 16, and the options; the others are SPE data, and the
/// words of an AUXTRACE_INFO record.
pub fn run(data: &[u8]) -> bool {
    let Some((&choice, data)) = data.split_first() else { return false };
    let offset = u64::from(choice & 0xf);
    let midr = Midr(CPUS[usize::from(choice >> 4 & 3)]);
    packets(offset, data, midr);
    let cpu = info(data).unwrap_or_else(|| SpeCpu::with_midr(midr));
    let records = records(offset, data, data.len());
    // A trace may be cut at a packet. As in perf, an alignment needs as many bytes as it aligns to, even if it passes fewer.
    if !Packets::new(offset, data).any(|packet| packet.packet == Ok(Packet::Alignment)) {
        let cut = Packets::new(offset, data).map(|packet| packet.bytes.len()).take(data.len() / 16).sum();
        assert_eq!(self::records(offset, data, cut), records);
    }
    samples(&records, &cpu, choice);
    true
}

/// Every byte is in one packet, and every packet has a line in both texts.
fn packets(offset: u64, data: &[u8], midr: Midr) {
    let mut next = 0;
    for packet in Packets::new(offset, data) {
        assert_eq!(packet.offset, offset + next as u64);
        assert_eq!(packet.bytes, &data[next..next + packet.bytes.len()]);
        assert!(matches!(packet.bytes.len(), 1..=16));
        next += packet.bytes.len();
        for text in [SpeText::V6_1, SpeText::V7_2(midr)] {
            let line = packet.line(text).to_string();
            assert_eq!(line.ends_with(" Bad packet!"), packet.packet.is_err());
            assert!(line.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{line:?}");
        }
    }
    assert_eq!(next, data.len());
}

/// The records of two buffers. The account agrees with the packets.
fn records(offset: u64, data: &[u8], cut: usize) -> Vec<SpeRecord> {
    let mut decoder = Decoder::new();
    let (first, second) = data.split_at(cut);
    let mut records: Vec<_> = decoder.records(offset, first).collect();
    records.extend(decoder.records(offset + cut as u64, second));
    let account = decoder.account();
    assert_eq!((account.records, account.bytes), (records.len() as u64, data.len() as u64));
    let bad = Packets::new(offset, data).filter(|packet| packet.packet.is_err()).count();
    assert_eq!(account.bad_bytes, bad as u64);
    assert_eq!(account.damaged, account.bad_bytes + account.bad_operations);
    let ends = Packets::new(offset, data)
        .filter(|packet| matches!(packet.packet, Ok(Packet::End | Packet::Timestamp(_))))
        .count();
    assert_eq!(account.records, account.damaged + ends as u64);
    records
}

fn samples(records: &[SpeRecord], cpu: &SpeCpu, choice: u8) {
    let period = u64::from(choice >> 6);
    let mut synthesis =
        Synthesis::new(SampleOptions { period, branch_stack: period as u32, ..SampleOptions::default() });
    for (index, record) in records.iter().enumerate() {
        let samples: Vec<_> = synthesis.samples(record, cpu).collect();
        let is_selected = period < 2 || (index as u64 + 1).is_multiple_of(period);
        assert_eq!(!samples.is_empty(), is_selected);
        assert!(samples.is_sorted_by(|a, b| a.kind < b.kind));
        assert!(samples.iter().all(|sample| sample.branches.iter().count() as u64 <= period));
    }
}

/// The facts of the first CPU, if the words are metadata.
fn info(data: &[u8]) -> Option<SpeCpu> {
    let words = List::new_in(Endianness::Little, data);
    match SpeInfo::new(&AuxtraceInfo { kind: AuxtraceType::ARM_SPE, words }) {
        Ok(info) => {
            assert!(info.cpus().count() <= data.len() / 8);
            let number = info.cpus().next().and_then(|cpu| i32::try_from(cpu.cpu).ok());
            Some(info.cpu(number.unwrap_or(-1), None))
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    }
}
