//! Packets of AUX data and registers of Instruction-Based Sampling in dumps.

use std::path::Path;

use perf_abi::attr::Attr;
use perf_abi::event::EventType;
use perf_abi::sample_type::SampleType;
use serde_json::{Value, json};
use testdata::amd_ibs::{self, IbsMachine};
use testdata::arm_spe::{self, RandomPackets};
use testdata::file::Builder;
use testdata::{Bytes, coresight, intel_pt};

use crate::{dump, jsonl, scratch};

/// Returns the arrays of packets of a dump as JSON.
fn packets(file: &Path) -> Vec<Vec<Value>> {
    let dumped = jsonl(file, &["--type", "AUXTRACE"]);
    assert_eq!(dumped.run.status, 0, "{}", dumped.run.err);
    dumped.records.iter().map(|record| record["packets"].as_array().unwrap().clone()).collect()
}

/// Returns the lines of packets of a dump as text.
fn lines(file: &Path) -> Vec<String> {
    let run = dump(file, &["--type", "AUXTRACE"]);
    assert_eq!(run.status, 0, "{}", run.err);
    run.out.lines().filter(|line| line.starts_with(".  ")).map(str::to_owned).collect()
}

/// The line of a packet, from its JSON.
fn line(packet: &Value) -> String {
    let bytes = packet["bytes"].as_str().unwrap().as_bytes().chunks(2);
    let bytes: Vec<_> = bytes.map(|digits| str::from_utf8(digits).unwrap()).collect();
    let text = packet["text"].as_str().unwrap_or("Bad packet!");
    assert_eq!(packet.get("text").is_none(), packet.get("error").is_some(), "{packet}");
    let offset = packet["offset"].as_u64().unwrap();
    format!(".  {offset:08x}:  {:47} {text}", bytes.join(" "))
}

/// The bytes of the packet of a line.
fn line_bytes(line: &str) -> impl Iterator<Item = u8> {
    line[14..61].split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap())
}

/// The text of `perf script -D` of 7.2.
const SPE_LINES: [&str; 9] = [
    ".  00000000:  b0 00 00 40 00 00 00 00 80                      PC 0x400000 el0 ns=1",
    ".  00000009:  49 01                                           ST GP-REG",
    ".  0000000b:  52 0a 00                                        EV RETIRED L1D-REFILL",
    ".  0000000e:  98 0a 00                                        LAT 10 TOT",
    ".  00000011:  b2 40 30 20 10 00 00 00 00                      VA 0x10203040",
    ".  0000001a:  ff                                              Bad packet!",
    ".  0000001b:  71 05 00 00 00 00 00 00 00                      TS 5",
    ".  00000024:  00 00 00                                        PAD",
    ".  00000027:  b0                                              Bad packet!",
];

fn spe(data: Vec<u8>) -> Vec<u8> {
    arm_spe::Capture { cpu: Some((0x410f_d0c0, 0)), data, ..arm_spe::Capture::default() }.build()
}

#[test]
fn packets_of_arm_spe() {
    let data = SPE_LINES.iter().flat_map(|line| line_bytes(line));
    let file = scratch("packets.spe.data", &spe(data.collect()));
    assert_eq!(lines(&file), SPE_LINES);
    let [packets] = &packets(&file)[..] else { panic!("there is one record") };
    assert_eq!(packets.iter().map(line).collect::<Vec<_>>(), SPE_LINES);
    let expected = [
        json!({"offset": 0x11, "bytes": "b24030201000000000", "text": "VA 0x10203040"}),
        json!({"offset": 0x1a, "bytes": "ff", "error": "bad packet"}),
    ];
    assert_eq!(packets[4..6], expected);
    assert_eq!(packets[8], json!({"offset": 0x27, "bytes": "b0", "error": "truncated"}));
}

/// The text of `perf script -D` of 6.1 and 7.2.
const PT_LINES: [&str; 6] = [
    ".  00000000:  02 82 02 82 02 82 02 82 02 82 02 82 02 82 02 82 PSB",
    ".  00000010:  02 23 00 00                                     PSBEND",
    ".  00000014:  02 63 84                                        BBP SZ 4-byte Type 0x4",
    ".  00000017:  0c 01 02 03 04                                  BIP ID 0x01 Value 0x4030201",
    ".  0000001c:  d9                                              Bad packet!",
    ".  0000001d:  02 33 00                                        BEP IP:0",
];

#[test]
fn packets_of_intel_pt() {
    let data = PT_LINES.iter().flat_map(|line| line_bytes(line));
    let capture = intel_pt::capture(intel_pt::WITHOUT_BRANCHES, &[data.collect()]);
    let file = scratch("packets.pt.data", &capture);
    let [packets] = &packets(&file)[..] else { panic!("there is one record") };
    assert_eq!(packets.iter().map(line).collect::<Vec<_>>(), PT_LINES);
    assert_eq!(lines(&file), PT_LINES);
}

/// Both formats have the same packets, also if one piece of output does not have room for all of them.
#[test]
fn random_packets_are_the_same_in_both_formats() {
    let spe = scratch("packets.random.spe.data", &spe(RandomPackets::new(1).any(33_000).out));
    let traces = [intel_pt::packets(2, 30_000), Vec::new(), intel_pt::packets(3, 10)];
    let pt = scratch("packets.random.pt.data", &intel_pt::capture(intel_pt::WITHOUT_BRANCHES, &traces));
    for (file, records) in [(&spe, 1), (&pt, 3)] {
        let run = dump(file, &["--format", "jsonl"]);
        assert!(run.out.len() > 2 << 20, "{}", run.out.len());
        let packets = packets(file);
        assert_eq!(packets.len(), records);
        assert!(packets.concat().iter().map(line).eq(lines(file)));
    }
}

#[test]
fn sources_of_coresight() {
    let frame = [0x21, 1, 2, 3, 0x23, 4, 6, 7, 0, 0, 0, 0, 0, 0, 0, 0];
    let barrier = [0xff, 0xff, 0xff, 0x7f].repeat(4);
    let words: Vec<u64> = [1, u64::from(coresight::PMU_TYPE) << 32 | 1, 0]
        .into_iter()
        .chain(coresight::etmv4(0, 0x10))
        .collect();
    let capture = coresight::capture(&words, &[&frame[..], &barrier, &frame[..8]].concat());
    let file = scratch("packets.coresight.data", &capture);
    let [packets] = &packets(&file)[..] else { panic!("there is one record") };
    assert_eq!(packets[0], json!({"offset": 1, "bytes": "010203", "trace_id": 0x10}));
    assert!(packets.contains(&json!({"offset": 16, "bytes": "ffffff7f".repeat(4), "text": "barrier"})));
    assert_eq!(
        packets.last(),
        Some(&json!({"offset": 32, "bytes": "2101020323040607", "error": "truncated"}))
    );
    // The packets of the sources are not decoded.
    assert_eq!(lines(&file), [""; 0]);
}

/// A source goes on in the next piece of output.
#[test]
fn many_frames_of_coresight() {
    let words: Vec<u64> = [1, u64::from(coresight::PMU_TYPE) << 32 | 1, 0]
        .into_iter()
        .chain(coresight::etmv4(0, 0x10))
        .collect();
    // A frame that names a source, and one of its data alone, whose 15 bytes are one slice.
    let frames = [[0x21, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0], [2; 16]];
    let [first, second] = frames;
    let mut trace = first.to_vec();
    trace.extend(second.repeat(40_000));
    let file = scratch("packets.frames.data", &coresight::capture(&words, &trace));
    let [packets] = &packets(&file)[..] else { panic!("there is one record") };
    assert_eq!(packets.len(), 40_001);
    assert!(packets.iter().all(|packet| packet["trace_id"] == 0x10));
    assert_eq!(packets[40_000]["offset"], 40_000 * 16);
    assert_eq!(packets[40_000]["bytes"].as_str().map(str::len), Some(30));
}

/// The data is the same in captures of both byte orders.
#[test]
fn packets_of_a_big_endian_capture() {
    let bytes = || Bytes::new(true);
    let attr = Attr { kind: EventType(8), sample_type: SampleType::IDENTIFIER, ..Attr::default() };
    let data: Vec<u8> = SPE_LINES.iter().flat_map(|line| line_bytes(line)).collect();
    let info = bytes().u32(4).u32(0).u64s(&[8, 0]).record(70, 0); // type: ARM_SPE
    let area = bytes().u64s(&[data.len() as u64, 0, 0]).u32(0).i32(-1).u32(0).u32(0).record(71, 0);
    let file = Builder::new(true).event(attr, &[5]).data(info).data(area).data(data);
    let file = scratch("packets.big.data", &file.build().bytes);
    assert_eq!(lines(&file), SPE_LINES);
    assert_eq!(packets(&file)[0].iter().map(line).collect::<Vec<_>>(), SPE_LINES);
}

/// The walk reports that the data is not there as a whole; its packets are not printed.
#[test]
fn a_capture_that_ends_within_its_aux_data() {
    let whole = spe(RandomPackets::new(4).records(100).out);
    let start =
        jsonl(&scratch("packets.whole.data", &whole), &["--type", "AUXTRACE"]).records[0]["offset"].as_u64();
    let cut = scratch("packets.cut.data", &whole[..start.unwrap() as usize + 48 + 20]);
    for format in ["text", "jsonl"] {
        let run = dump(&cut, &["--format", format]);
        assert_eq!(run.status, 3, "{}", run.err);
        assert!(run.out.lines().all(|line| format == "text" || serde_json::from_str::<Value>(line).is_ok()));
        assert!(!run.out.contains("packets") && !run.out.contains("ARM SPE"), "{}", run.out);
    }
}

const MACHINE: IbsMachine<'_> = IbsMachine { family: 0x19, model: 0x11, caps: &["zen4_ibs_extensions"] };

/// A load that missed two levels of cache.
fn op() -> Vec<u8> {
    let data3 = 1 | 1 << 7 | 0b11 << 17 | 1 << 20 | 4 << 22 | 300 << 32;
    amd_ibs::raw(
        0x8bff,
        &[0x0006_1000 | 1 << 16, 0x40_1000, 5 | 9 << 16, 3, data3, 0x7fff_0010, 0x1_2345_6010, 0],
    )
}

/// The text of `perf script -D` of 6.1.
const OP_LINES: &str = "ibs_op_ctl:\t0000000000071000 MaxCnt     65536 L3MissOnly 1 En 1 Val 1 CntCtl 0=cycles CurCnt         0
IbsOpRip:\t0000000000401000
ibs_op_data:\t0000000000090005 CompToRetCtr     5 TagToRetCtr     9 BrnRet 0  RipInvalid 0 BrnFuse 0 Microcode 0
ibs_op_data2:\t0000000000000003 RmtNode 0 DataSrc 3=Data returned from DRAM
ibs_op_data3:\t0000012c01160081 LdOp 1 StOp 0 DcL1TlbMiss 0 DcL2TlbMiss 0 DcL1TlbHit2M 0 DcL1TlbHit1G 0 DcL2TlbHit2M 0 DcMiss 1 \
DcMisAcc 0 DcWcMemAcc 0 DcUcMemAcc 0 DcLockedOp 0 DcMissNoMabAlloc 0 DcLinAddrValid 1 DcPhyAddrValid 1 DcL2TlbHit1G 0 L2Miss 1 SwPf 0 \
OpMemWidth  8 bytes OpDcMissOpenMemReqs  0 DcMissLat   300 TlbRefillLat     0
IbsDCLinAd:\t000000007fff0010
IbsDCPhysAd:\t0000000123456010
";

#[test]
fn registers_of_ibs() {
    let file = scratch("packets.ibs.data", &amd_ibs::capture(&MACHINE, amd_ibs::OP_TYPE, &[op()]));
    let run = dump(&file, &[]);
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(run.out.ends_with(OP_LINES), "{}", run.out);
    let fields = jsonl(&file, &[]).records[0]["fields"].take();
    let ibs = &fields["ibs"];
    assert!(fields["raw"].is_string() && ibs["caps"] == 0x8bff, "{fields}");
    assert_eq!(ibs["ibs_op_ctl"]["value"], 0x71000);
    assert_eq!(ibs["ibs_op_ctl"]["opmaxcnt"], 0x1000);
    assert_eq!(ibs["ibs_op_rip"], 0x40_1000);
    assert_eq!(ibs["ibs_op_data"]["tag_to_ret_ctr"], 9);
    assert_eq!(ibs["ibs_op_data2"]["data_src_lo"], 3);
    assert_eq!(ibs["ibs_op_data3"]["dc_miss_lat"], 300);
    assert_eq!(ibs["ibs_op_data3"]["ld_op"], 1);
    assert_eq!(ibs["ibs_dc_physad"], 0x1_2345_6010_u64);
    assert_eq!(ibs["ibs_br_target"], 0);
    // A load that memory answered: PERF_MEM_OP_LOAD, PERF_MEM_LVLNUM_RAM.
    assert_eq!(ibs["data_src"].as_u64().map(|source| (source & 0x1f, source >> 33 & 0xf)), Some((2, 0xd)));
    let column = dump(&file, &["--fields", "ip,ibs"]).out;
    assert_eq!(serde_json::from_str::<Value>(column.trim_end().split_once('\t').unwrap().1).unwrap(), *ibs);
}

#[test]
fn a_fetch_and_registers_without_a_sample() {
    let ctl = 0x0007_002a_0100_1000_u64;
    let raws = [ctl, 0].map(|ctl| amd_ibs::raw(1 << 9, &[ctl, 0x40_1000, 0, 5]));
    let file = scratch("packets.fetch.data", &amd_ibs::capture(&MACHINE, amd_ibs::FETCH_TYPE, &raws));
    let text = dump(&file, &[]).out;
    let lines: Vec<_> = text.lines().filter(|line| line.starts_with(['i', 'I'])).collect();
    let [ctl, addr, extd] = lines[..] else { panic!("{text}") };
    assert!(
        ctl.starts_with("ibs_fetch_ctl:\t0007002a01001000 MaxCnt   65536 Cnt    4096 Lat    42 En 1 Val 1")
    );
    assert_eq!(addr, "IbsFetchLinAd:\t0000000000401000");
    assert_eq!(extd, "ic_ibs_ext_ctl:\t0000000000000005 IbsItlbRefillLat   5");
    let records = jsonl(&file, &[]).records;
    assert_eq!(records[0]["fields"]["ibs"]["ibs_fetch_ctl"]["fetch_lat"], 42);
    // The registers of the other are there too.
    assert_eq!(records[1]["fields"]["ibs"]["ic_ibs_extd_ctl"]["itlb_refill_lat"], 5);
}

/// The capabilities state one register more than there is.
#[test]
fn raw_data_that_ends_within_a_register() {
    for (registers, needed) in [(7, 68), (6, 60), (0, 12)] {
        let raw = amd_ibs::raw(1 << 5, &vec![0b11 << 17; registers]);
        let file = scratch("packets.short.data", &amd_ibs::capture(&MACHINE, amd_ibs::OP_TYPE, &[raw]));
        let dumped = jsonl(&file, &[]);
        assert_eq!(dumped.run.status, 3);
        let record = &dumped.records[0];
        assert!(record["fields"]["raw"].is_string() && record["fields"].get("ibs").is_none());
        let error = record["error"].as_str().unwrap();
        assert!(error.contains(&format!("{needed} bytes")) && error.contains("raw"), "{error}");
    }
}

/// As perf: raw data is that of a sampled operation only on machines of AMD.
#[test]
fn other_machines_have_no_ibs() {
    let capture = amd_ibs::capture(&MACHINE, amd_ibs::OP_TYPE, &[op()]);
    let at = capture.windows(12).position(|bytes| bytes == b"AuthenticAMD").unwrap();
    let mut other = capture;
    other[at..at + 12].copy_from_slice(b"GenuineIntel");
    let run = dump(&scratch("packets.intel.data", &other), &[]);
    assert!(run.status == 0 && !run.out.contains("ibs_op"), "{}", run.out);
}
