//! `perf.data` files of a few hundred bytes, whole and with each possible fault, in both byte orders.

mod display;
mod features;
mod inner_data;
mod mmap2;
mod open;
mod sections;
mod walk;

use perf_parse::abi::attr::Attr;
use perf_parse::abi::endian::Endianness;
use perf_parse::abi::sample_type::SampleType;

use perf_parse::file::{FileError, FileErrorKind, FileHeader, Mode};
use perf_parse::{Error, ErrorKind, Reader};

/// Makes a test for each byte order from each `fn(big: bool)`.
macro_rules! in_both_orders {
    ($( $name:ident ),* $(,)?) => {
        mod little_endian {
            $( #[test] fn $name() { super::$name(false); } )*
        }
        mod big_endian {
            $( #[test] fn $name() { super::$name(true); } )*
        }
    };
}
pub(crate) use in_both_orders;

/// Opens a file, whose byte order must be that of its magic. The first magic is the same in both byte orders.
fn open(bytes: &[u8]) -> Result<Reader<'_>, FileError> {
    let reader = Reader::new(bytes)?;
    match bytes.first_chunk() {
        Some(b"PERFILE2") => assert_eq!(reader.endianness(), Endianness::Little),
        Some(b"2ELIFREP") => assert_eq!(reader.endianness(), Endianness::Big),
        magic => assert_eq!(magic, Some(b"PERFFILE")),
    }
    Ok(reader)
}

/// Returns the header of a file.
fn header(file: &Reader<'_>) -> FileHeader {
    let Mode::File(header) = *file.mode() else { panic!("a stream") };
    header
}

fn truncated(field: &'static str, needed: u64, available: u64, offset: usize) -> FileError {
    FileError { kind: FileErrorKind::Truncated { field, needed, available }, offset: offset as u64 }
}

fn invalid(field: &'static str, value: u64, must: &'static str, offset: usize) -> FileError {
    FileError { kind: FileErrorKind::Invalid { field, value, must }, offset: offset as u64 }
}

/// Returns the decoder's error for bytes that end before a field does.
fn short(field: &'static str, needed: u64, available: u64, offset: u32) -> Error {
    Error { kind: ErrorKind::Truncated { field, needed, available }, offset }
}

/// Returns the attr of events with the fields `sample_type`.
fn attr(sample_type: SampleType) -> Attr {
    Attr { sample_type, ..Attr::default() }
}
