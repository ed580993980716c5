//! The events of a ring's records, from a perf.data, from the bytes of an attr, or from words.

use perf_abi::attr::{Attr, AttrVersion};
use perf_abi::endian::{BigEndian, Endian, Endianness, LittleEndian};
use perf_parse::Reader;

use super::words;
use crate::args::RingArgs;
use crate::escape::shown;
use crate::outcome::{Failure, not_readable};

/// The size of the largest attr that a kernel accepts, in bytes: one page.
const MAX_ATTR: u32 = 4096;

/// Returns a reader that knows the event of an attr in words.
pub(super) fn in_words<'a>(args: &RingArgs, text: &str) -> Result<Reader<'a>, Failure> {
    let attr = words::attr(text)
        .map_err(|error| format!("--attr {text}: {error}. For a file of this name give ./ and the name"))?;
    // Without --endian this machine is taken to be the recorder's.
    let endianness = args.endian.map_or(Endianness::NATIVE, Endianness::from);
    Ok(Reader::from_records([(attr, Vec::new())].into_iter().collect(), endianness, &[]))
}

/// Returns a reader that knows the events of a file and has no records.
pub(super) fn read<'a>(args: &RingArgs, bytes: &'a [u8]) -> Result<Reader<'a>, Failure> {
    let is_capture =
        [&b"PERFILE2"[..], b"2ELIFREP", b"PERFFILE"].iter().any(|magic| bytes.starts_with(magic));
    if is_capture {
        return Reader::new(bytes).map_err(|error| not_readable(&args.attr, &error));
    }
    let failure = |what: &str| Failure(format!("{}: {what}", shown(&args.attr)));
    let endianness = match args.endian.map(Endianness::from) {
        Some(endianness) => endianness,
        None => endianness(bytes).ok_or_else(|| {
            failure(
                "is neither a perf.data file nor an attr (struct perf_event_attr) whose size shows its byte order; give \
                 --endian",
            )
        })?,
    };
    let attr = match endianness {
        Endianness::Little => attr::<LittleEndian>(bytes),
        Endianness::Big => attr::<BigEndian>(bytes),
    };
    let events = [(attr.map_err(|what| failure(&what))?, Vec::new())];
    Ok(Reader::from_records(events.into_iter().collect(), endianness, &[]))
}

/// Returns the attr that is the whole of `bytes`.
fn attr<O: Endian>(bytes: &[u8]) -> Result<Attr, String> {
    let read = Attr::read::<O>(bytes).map_err(|error| error.to_string())?;
    let size = if read.attr.size == 0 { AttrVersion::VER0.size() } else { read.attr.size };
    if bytes.len() as u64 != u64::from(size) {
        let trailing = bytes.len() as u64 - u64::from(size);
        return Err(format!(
            "attr.size: {trailing} bytes follow the attr of {size} bytes; the file must contain exactly one attr"
        ));
    }
    if read.has_unknown_fields() {
        return Err(format!(
            "attr.size: {size} bytes, with fields of a newer kernel in use that this program does not know"
        ));
    }
    Ok(read.attr)
}

/// Returns the byte order in which the attr's size is valid; `None` if it is valid in both or neither.
fn endianness(bytes: &[u8]) -> Option<Endianness> {
    let size: [u8; 4] = bytes.get(4..8)?.try_into().ok()?;
    let is_size = |size| (AttrVersion::VER0.size()..=MAX_ATTR).contains(&size);
    match (is_size(u32::from_le_bytes(size)), is_size(u32::from_be_bytes(size))) {
        (true, false) => Some(Endianness::Little),
        (false, true) => Some(Endianness::Big),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_an_attr_tells_its_byte_order() {
        let with_size = |size: [u8; 4]| [[0; 4], size].concat();
        assert_eq!(endianness(&with_size([136, 0, 0, 0])), Some(Endianness::Little));
        assert_eq!(endianness(&with_size([0, 0, 0, 136])), Some(Endianness::Big));
        // 0 means 64, in either byte order.
        assert_eq!(endianness(&with_size([0, 0, 0, 0])), None);
        assert_eq!(endianness(&with_size([1, 0, 0, 1])), None);
        assert_eq!(endianness(&[0; 7]), None);
    }
}
