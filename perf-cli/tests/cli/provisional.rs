//! A capture of a development kernel: the attr has 176 bytes, and samples have registers of the ABI in review.

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::endian::Endianness;
use perf_abi::provisional::simd_regs::SimdRegsAttr;
use perf_abi::sample_type::SampleType;
use serde_json::json;
use testdata::Bytes;

use crate::{jsonl, perfdata, scratch};

/// A stream with the `arch` of x86, and a sample: AX and R24 of user space, YMM5, OPMASK0.
fn capture(big: bool, hole: bool) -> Vec<u8> {
    let sample_type = SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::REGS_USER;
    let attr = Attr {
        sample_type,
        flags: AttrFlags::SAMPLE_ID_ALL,
        sample_regs_user: 1 | 1 << 32,
        ..Attr::default()
    };
    let simd = SimdRegsAttr {
        regs_enabled: 1,
        vec_reg_qwords: 4,
        vec_reg_user: 1 << 5,
        pred_reg_user: 1,
        ..SimdRegsAttr::default()
    };
    let mut simd = simd.to_bytes(if big { Endianness::Big } else { Endianness::Little });
    simd[3] = u8::from(hole);
    let attr = &Bytes::new(big).attr(&attr, 176).out[..144];
    let attr = Bytes::new(big).raw(attr).raw(&simd).u64(5).record(64, 0);
    let arch = Bytes::new(big).u64(6).string("x86_64").record(80, 0);
    let sample = Bytes::new(big).u64(0x1000).i32(7).i32(7).u64(1_000_000_000).u64s(&[6, 0xa, 0xb]);
    let sample = sample.u16(1).u16(4).u16(1).u16(1).u64s(&[1, 2, 3, 4, 0xff]).record(9, 2);
    let start = Bytes::new(big).raw(if big { b"2ELIFREP" } else { b"PERFILE2" }).u64(16).out;
    [start, attr, arch, sample].concat()
}

#[test]
fn refused_by_default_and_decoded_if_asked_to() {
    for (name, big) in [("provisional.le.data", false), ("provisional.be.data", true)] {
        let path = scratch(name, &capture(big, false));
        let file = path.to_str().unwrap();
        let refused = jsonl(&path, &[]);
        assert_eq!(refused.run.status, 3);
        let reason = "regs_user.abi: has bits 0x4 of an ABI that no released kernel has; the option provisional-abi \
                      decodes it";
        assert!(refused.run.err.contains(reason), "{}", refused.run.err);
        assert!(refused.records.last().unwrap()["error"].as_str().unwrap().contains(reason));

        let decoded = jsonl(&path, &["--provisional-abi"]);
        assert_eq!((decoded.run.status, decoded.run.err.as_str()), (0, ""));
        let fields = &decoded.records.last().unwrap()["fields"];
        assert_eq!(fields["regs_user"], json!({"abi": 6, "values": [10, 11]}));
        let simd = json!({"vector_qwords": 4, "vectors": [[1, 2, 3, 4]], "pred_qwords": 1, "preds": [[255]]});
        assert_eq!(fields["simd_regs_user"], simd);

        let text = perfdata(["dump", file, "--provisional-abi", "--type", "SAMPLE"]).out;
        let value = "0x0000000000000004000000000000000300000000000000020000000000000001";
        for line in [
            "regs_user: ABI_64|SIMD",
            "    AX=0x000000000000000a    R24=0x000000000000000b",
            "simd_regs_user: 1 vectors of 4 words, 1 predicates of 1 words",
            &format!("     YMM5={value}"),
            "  OPMASK0=0x00000000000000ff",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        let fields =
            perfdata(["dump", file, "--provisional-abi", "--type", "SAMPLE", "--fields", "simd_regs_user"]);
        assert!(fields.out.starts_with("{\"vector_qwords\":4,"), "{}", fields.out);

        let script = ["script", file, "--provisional-abi", "-F", "ip,uregs"];
        let script = perfdata(script);
        assert_eq!(script.status, 0, "{}", script.err);
        let registers = format!(" ABI:6    AX:0xa   R24:0xb  YMM5:{value} OPMASK0:0x00000000000000ff");
        assert!(script.out.trim_end().ends_with(&registers), "{}", script.out);
        assert_eq!(perfdata(["script", file, "-F", "ip,uregs"]).status, 3);
    }
}

#[test]
fn info_names_the_bytes_of_an_attr_that_it_does_not_know() {
    let path = scratch("provisional.info.data", &capture(false, false));
    let file = path.to_str().unwrap();
    let unknown = "unknown attr bytes: 144=0100000000000000 152=0100000004000000 168=2000000000000000\n";
    let info = perfdata(["info", file]).out;
    assert!(info.contains(unknown), "{info}");
    let known = perfdata(["info", file, "--provisional-abi"]).out;
    let fields = "provisional: sample_simd_pred_reg_qwords=1 sample_simd_pred_reg_intr=0x0 \
                  sample_simd_pred_reg_user=0x1 sample_simd_vec_reg_qwords=4 sample_simd_vec_reg_intr=0x0 \
                  sample_simd_vec_reg_user=0x20\n";
    assert!(known.contains(fields), "{known}");
    let header = perfdata(["dump", file, "--format", "jsonl"]).out;
    let header: serde_json::Value = serde_json::from_str(header.lines().next().unwrap()).unwrap();
    let expected = json!([
        {"offset": 144, "value": "0100000000000000"},
        {"offset": 152, "value": "0100000004000000"},
        {"offset": 168, "value": "2000000000000000"},
    ]);
    assert_eq!(header["header"]["attrs"][0]["unknown_bytes"], expected);

    // With a byte in a hole, the attr has another layout: its registers have no numbers, and their values are the same.
    let path = scratch("provisional.hole.data", &capture(false, true));
    let file = path.to_str().unwrap();
    assert!(
        perfdata(["info", file, "--provisional-abi"])
            .out
            .contains("unknown attr bytes: 144=0100000100000000")
    );
    let text = perfdata(["dump", file, "--provisional-abi"]).out;
    assert!(text.contains("vector[0]=0x0000000000000004") && text.contains("pred[0]=0x"), "{text}");
}
