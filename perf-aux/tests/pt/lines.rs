//! The text of `perf script -D`.

use std::hash::Hasher;

use perf_aux::pt::Packets;
use perf_parse::Reader;

fn text(trace: &[u8]) -> Vec<String> {
    Packets::new(trace).map(|packet| packet.unwrap().packet.to_string()).collect()
}

/// One packet of each type. The texts are those of perf 6.1 and 7.2.
#[test]
fn one_of_each_type() {
    let cases: &[(&[u8], &str)] = &[
        (&[0x00], "PAD"),
        (&[0x06], "TNT T (1)"),
        (&[0xee], "TNT TTNTTT (6)"),
        (&[0x80], "TNT NNNNNN (6)"),
        (&[0x02, 0xa3, 0, 0, 0, 0, 0, 0], "TNT  (0)"),
        (&[0x02, 0xa3, 1, 0, 0, 0, 0, 0], "TNT  (0)"),
        (&[0x02, 0xa3, 5, 0, 0, 0, 0, 0], "TNT NT (2)"),
        (&[0x02, 0xa3, 0x7f, 0, 0, 0, 0, 0x80], "TNT NNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNTTTTTTT (47)"),
        (&[0x0d], "TIP no ip"),
        (&[0x2d, 0x94, 0xd7], "TIP 0xd794"),
        (&[0x71, 0x02, 0xd3, 0x60, 0xb9, 0xff, 0xff], "TIP.PGE 0xffffb960d302"),
        (&[0x01], "TIP.PGD no ip"),
        (&[0xdd, 1, 2, 3, 4, 5, 6, 7, 8], "FUP 0x807060504030201"),
        (&[0x02, 0x43, 0x00, 0x34, 0xd4, 0x3f, 0x00, 0x00], "PIP 0x1fea1a00 (NR=0)"),
        (&[0x02, 0x43, 0x03, 0, 0, 0, 0, 0x80], "PIP 0x400000000001 (NR=1)"),
        (&[0x99, 0x00], "MODE.Exec IF:0 16"),
        (&[0x99, 0x01], "MODE.Exec IF:0 64"),
        (&[0x99, 0x06], "MODE.Exec IF:1 32"),
        (&[0x99, 0x21], "MODE.TSX TXAbort:0 InTX:1"),
        (&[0x99, 0x22], "MODE.TSX TXAbort:1 InTX:0"),
        (&[0x02, 0x83], "TraceSTOP"),
        (&[0x02, 0x03, 0x1d, 0x01], "CBR 0x11d"),
        (&[0x19, 0xe8, 0xcf, 0xd2, 0x4c, 0xbc, 0x00, 0x80], "TSC 0x8000bc4cd2cfe8"),
        (&[0x59, 0x48], "MTC 0x48"),
        (&[0x02, 0x73, 0x3c, 0xb2, 0x00, 0x30, 0x03], "TMA CTC 0xb23c FC 0x130"),
        (&[0xfb], "CYC 0x1f"),
        (&[0x02, 0xc8, 1, 2, 3, 4, 0x85], "VMCS 0x8504030201"),
        (&[0x02, 0xf3], "OVF"),
        (&testdata::intel_pt::PSB, "PSB"),
        (&[0x02, 0x23], "PSBEND"),
        (&[0x02, 0xc3, 0x88, 1, 2, 3, 4, 5, 6, 7, 8], "MNT 0x807060504030201"),
        (&[0x02, 0x12, 1, 2, 3, 0x84], "PTWRITE 0x84030201 IP:0"),
        (&[0x02, 0xb2, 1, 2, 3, 4, 5, 6, 7, 0x88], "PTWRITE 0x8807060504030201 IP:1"),
        (&[0x02, 0x62], "EXSTOP IP:0"),
        (&[0x02, 0xe2], "EXSTOP IP:1"),
        (&[0x02, 0xc2, 0x20, 0, 0, 0, 0x07, 0, 0, 0], "MWAIT 0x700000020 Hints 0x20 Extensions 0x3"),
        (&[0x02, 0x22, 0x80, 0x6b], "PWRE 0x6b80 HW:1 CState:6 Sub-CState:11"),
        (&[0x02, 0xa2, 0x62, 0x14, 0, 0, 0], "PWRX 0x1462 Last CState:6 Deepest CState:2 Wake Reason 0x4"),
        (&[0x02, 0x63, 0x84], "BBP SZ 4-byte Type 0x4"),
        (&[0x02, 0x63, 0x01], "BBP SZ 8-byte Type 0x1"),
        (&[0x02, 0x33], "BEP IP:0"),
        (&[0x02, 0xb3], "BEP IP:1"),
        (&[0x02, 0x13, 0x81, 0x0e], "CFE IP:1 Type 0x01 Vector 0xe"),
        (&[0x02, 0x53, 0x3f, 1, 2, 3, 4, 5, 6, 7, 8], "EVD Type 0x3f Payload 0x807060504030201"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(text(bytes), [*expected], "{bytes:02x?}");
    }
    assert_eq!(
        text(&[0x02, 0x63, 0x01, 0xfc, 1, 2, 3, 4, 5, 6, 7, 8])[1],
        "BIP ID 0x1f Value 0x807060504030201"
    );
}

/// perf appends padding up to 8 bytes, and to no error.
#[test]
fn padding() {
    let lines = |trace: &[u8]| -> Vec<_> {
        Packets::as_perf(trace).lines().map(|line| (line.offset, line.bytes.len())).collect()
    };
    assert_eq!(lines(&[0; 17]), [(0, 8), (8, 8), (16, 1)]);
    assert_eq!(lines(&[0x06, 0, 0, 0, 0, 0, 0, 0, 0]), [(0, 8), (8, 1)]);
    assert_eq!(lines(&[0x19, 1, 2, 3, 4, 5, 6, 7, 0]), [(0, 8), (8, 1)]);
    assert_eq!(lines(&[0x02, 0xc8, 1, 2, 3, 4, 5, 0, 0]), [(0, 8), (8, 1)]);
    assert_eq!(lines(&[0xc9, 0, 0x02]), [(0, 1), (1, 1), (2, 1)]);
}

/// Returns the bytes of all traces of quipper's capture, and their lines.
fn quipper() -> (usize, String) {
    let path =
        testdata::captures().into_iter().find(|path| path.ends_with("perf.data.intel_pt-4.14")).unwrap();
    let reader = Reader::open(&path).unwrap();
    let (mut size, mut text) = (0, String::new());
    for record in reader.records() {
        let record = record.unwrap();
        let trace = reader.aux_data(&record).unwrap();
        size += trace.len();
        for line in Packets::as_perf(&trace).lines() {
            text += &format!("{line}\n");
        }
    }
    (size, text)
}

/// The lines of `perf script -D` of 6.1 and of 7.2 for this capture have this hash (FNV-1a); `testdata/check/pt.py` compares them.
#[test]
fn the_trace_of_a_real_processor() {
    struct Fnv(u64);
    impl Hasher for Fnv {
        fn finish(&self) -> u64 {
            self.0
        }
        fn write(&mut self, bytes: &[u8]) {
            bytes.iter().for_each(|&byte| self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        }
    }
    let (size, text) = quipper();
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    hash.write(text.as_bytes());
    assert_eq!((size, text.lines().count(), hash.finish()), (149_968, 86_631, 0xbf5c_7b8d_3196_ab75));
}
