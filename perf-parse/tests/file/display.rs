//! The texts of file errors.

use perf_parse::abi::attr::AttrReadError;
use perf_parse::abi::feature::Feature;
use perf_parse::abi::record::RecordType;
use perf_parse::file::{FileError, FileErrorKind};
use perf_parse::ring::{RingError, RingErrorKind};

use crate::{invalid, short, truncated};

#[test]
fn every_kind() {
    let error = short("nr", 8, 4, 16);
    let kind = RecordType::SAMPLE;
    let torn = RingError { kind: RingErrorKind::RecordSize { size: 4, unread: 64 }, position: 255 };
    for (error, field, text) in [
        (
            FileError { kind: FileErrorKind::NotPerfData, offset: 0 },
            "header.magic",
            "0x0: header.magic: is not PERFILE2 or PERFFILE, so this is not a perf.data file",
        ),
        (
            FileError { kind: FileErrorKind::NotAStream, offset: 8 },
            "header.size",
            "0x8: header.size: is that of a file; a file cannot be read as a stream",
        ),
        (
            FileError { kind: FileErrorKind::Io(std::io::ErrorKind::BrokenPipe), offset: 255 },
            "",
            "0xff: cannot be read: broken pipe",
        ),
        (
            FileError { kind: FileErrorKind::Skipped { bytes: 24 }, offset: 255 },
            "",
            "0xff: 24 bytes skipped, up to the next record or the end",
        ),
        (
            FileError { kind: FileErrorKind::Decompress { what: "is damaged" }, offset: 255 },
            "data",
            "0xff: COMPRESSED: data: is damaged",
        ),
        (truncated("it", 8, 4, 255), "it", "0xff: it: needs 8 bytes, the file has 4 left"),
        (invalid("it", 3, "even", 255), "it", "0xff: it: is 3, but must be even"),
        (
            FileError { kind: FileErrorKind::Attr(AttrReadError::Size(63)), offset: 255 },
            "attr.size",
            "0xff: attr.size: is 63, but must be 0 or at least 64",
        ),
        (
            FileError { kind: FileErrorKind::Layout(error), offset: 255 },
            "nr",
            "0xff: nr: needs 8 bytes, 4 are left",
        ),
        (
            FileError { kind: FileErrorKind::Record { kind, error }, offset: 255 },
            "nr",
            "0xff: SAMPLE: nr: needs 8 bytes, 4 are left",
        ),
        (
            FileError { kind: FileErrorKind::Boundary(error), offset: 255 },
            "nr",
            "0xff: nr: needs 8 bytes, 4 are left; searching for the next record",
        ),
        (
            FileError { kind: FileErrorKind::UnknownId { kind, id: 7 }, offset: 255 },
            "id",
            "0xff: SAMPLE: id: is 7, which no event of the file has",
        ),
        (
            FileError { kind: FileErrorKind::UnknownEvent { kind: RecordType(40) }, offset: 255 },
            "id",
            "0xff: 40: id: is missing, or at different places in different events, so the event of this record is unknown",
        ),
        (
            FileError { kind: FileErrorKind::Feature { feature: Feature::CMDLINE, error }, offset: 255 },
            "nr",
            "0xff: CMDLINE: nr: needs 8 bytes, 4 are left",
        ),
        (
            FileError { kind: FileErrorKind::Ring(torn), offset: 255 },
            "header.size",
            "0xff: header.size: is 4, but must be a multiple of 8 and not 0; the remaining 64 bytes are not read",
        ),
    ] {
        assert_eq!(error.field(), field);
        assert_eq!(error.to_string(), text);
        let of_a_record = matches!(
            error.kind,
            FileErrorKind::Record { .. }
                | FileErrorKind::UnknownId { .. }
                | FileErrorKind::UnknownEvent { .. }
                | FileErrorKind::Decompress { .. }
        );
        assert_eq!(error.record_type().is_some(), of_a_record);
    }
    let residue = perf_parse::Error { kind: perf_parse::ErrorKind::Residue { bytes: 8 }, offset: 16 };
    let error = FileError { kind: FileErrorKind::Record { kind, error: residue }, offset: 255 };
    assert_eq!(error.to_string(), "0xff: SAMPLE: 8 bytes are left after the last known field");
}
