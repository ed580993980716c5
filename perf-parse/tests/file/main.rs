//! `perf.data` files of a few hundred bytes, whole and with each possible fault, in both byte orders.

#![allow(clippy::extra_unused_type_parameters, reason = "to some tests of a byte order its value is enough")]

mod display;
mod features;
mod open;
mod sections;
mod walk;

use perf_parse::Error;
use perf_parse::abi::attr::Attr;
use perf_parse::abi::endian::{BigEndian, Endian, Endianness, LittleEndian};
use perf_parse::abi::sample_type::SampleType;
use perf_parse::error::ErrorKind;
use perf_parse::file::{AnyReader, FileError, FileErrorKind, FileHeader, Mode, Reader};

/// Makes a test for each byte order from each `fn<O: Endian>(big: bool)`.
macro_rules! in_both_orders {
    ($( $name:ident, )*) => {
        mod little_endian {
            $( #[test] fn $name() { super::$name::<$crate::LittleEndian>(false); } )*
        }
        mod big_endian {
            $( #[test] fn $name() { super::$name::<$crate::BigEndian>(true); } )*
        }
    };
}
pub(crate) use in_both_orders;

/// Opens a file in byte order `O`, which must also be the order of its magic.
fn open<O: Endian>(bytes: &[u8]) -> Result<Reader<'_, O>, FileError> {
    let any = AnyReader::open(bytes);
    let file = Reader::<O>::open(bytes);
    match (&any, O::ENDIANNESS) {
        (Ok(AnyReader::Little(_)), Endianness::Little) | (Ok(AnyReader::Big(_)), Endianness::Big) => {
            assert!(file.is_ok());
        }
        (Err(error), _) => assert_eq!(Some(error), file.as_ref().err()),
        (Ok(_), order) => panic!("not {order}"),
    }
    file
}

/// Returns the header of a file.
fn header<O: Endian>(file: &Reader<'_, O>) -> FileHeader {
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
