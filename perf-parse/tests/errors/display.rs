//! The texts of errors.

use perf_parse::{Error, ErrorKind};

#[test]
fn every_kind() {
    let field = "nr";
    for (kind, name, text) in [
        (
            ErrorKind::Truncated { field, needed: 8, available: 4 },
            "nr",
            "byte 16: nr: needs 8 bytes, 4 are left",
        ),
        (ErrorKind::Residue { bytes: 8 }, "", "byte 16: 8 bytes are left after the last known field"),
        (
            ErrorKind::RecordSize { size: 7 },
            "header.size",
            "byte 16: header.size: is 7, smaller than the 8 bytes of a header",
        ),
        (ErrorKind::Unterminated { field }, "nr", "byte 16: nr: has no NUL before the record ends"),
        (ErrorKind::OutOfRange { field, value: 21, max: 20 }, "nr", "byte 16: nr: is 21, but at most 20 fit"),
        (
            ErrorKind::UnknownBits { field, bits: 0x60 },
            "nr",
            "byte 16: nr: has bits 0x60 of a newer kernel, so the positions of later fields are unknown",
        ),
        (
            ErrorKind::Provisional { field, bits: 4 },
            "nr",
            "byte 16: nr: has bits 0x4 of an ABI that no released kernel has; the option provisional-abi decodes it",
        ),
        (
            ErrorKind::BothWeights,
            "sample_type",
            "byte 16: sample_type: has WEIGHT and WEIGHT_STRUCT, which exclude each other",
        ),
    ] {
        assert_eq!(kind.field(), name);
        assert_eq!(Error { kind, offset: 16 }.to_string(), text);
    }
}
