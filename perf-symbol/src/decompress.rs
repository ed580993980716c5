//! Compressed sections and files, within a limit.

use std::io::Read;
use std::ops::Range;

use object::elf;

use crate::cancellation::Cancellation;
use crate::no_symbols::NoSymbols;

/// Decompresses a section with the flag `SHF_COMPRESSED`.
pub(crate) fn section(
    raw: &[u8],
    (is_64, is_little_endian): (bool, bool),
    limit: u64,
    cancellation: &Cancellation,
) -> Result<Vec<u8>, NoSymbols> {
    const HEADER: NoSymbols = NoSymbols::Malformed("compressed section");
    let limit = bound(raw, limit);
    let kind: [u8; 4] = raw.first_chunk().copied().ok_or(HEADER)?;
    let kind = if is_little_endian { u32::from_le_bytes(kind) } else { u32::from_be_bytes(kind) };
    let data = raw.get(if is_64 { 24 } else { 12 }..).ok_or(HEADER)?;
    match elf::CompressionType(kind) {
        elf::ELFCOMPRESS_ZLIB => zlib(data, size(raw, is_64, is_little_endian), limit, cancellation),
        elf::ELFCOMPRESS_ZSTD => zstd(data, limit, cancellation),
        _ => Err(HEADER),
    }
}

/// Returns the stream of a section with the flag `SHF_COMPRESSED` that is compressed by zlib, as a range in it, and the size
/// that the section claims; `None` if it is compressed otherwise, or claims more than it may have within the limit.
pub(crate) fn zlib_stream(
    raw: &[u8],
    is_64: bool,
    is_little_endian: bool,
    limit: u64,
) -> Option<(Range<u64>, u64)> {
    let kind: [u8; 4] = raw.first_chunk().copied()?;
    let kind = if is_little_endian { u32::from_le_bytes(kind) } else { u32::from_be_bytes(kind) };
    let size = size(raw, is_64, is_little_endian);
    let is_of_zlib = elf::CompressionType(kind) == elf::ELFCOMPRESS_ZLIB;
    let start = if is_64 { 24 } else { 12 };
    (is_of_zlib && size <= bound(raw, limit)).then_some((start..raw.len() as u64, size))
}

/// Returns the size that a compressed section claims: `ch_size`.
fn size(raw: &[u8], is_64: bool, is_little_endian: bool) -> u64 {
    let place = if is_64 { 8..16 } else { 4..8 };
    let bytes = raw.get(place).unwrap_or_default().iter();
    if is_little_endian { number(bytes.rev()) } else { number(bytes) }
}

/// Returns the number that has these bytes, the most significant one first.
fn number<'a>(bytes: impl Iterator<Item = &'a u8>) -> u64 {
    bytes.fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Returns the number of bytes that a section can have when it is decompressed. DWARF shrinks to a tenth; what grows far
/// more was made to fill memory.
fn bound(raw: &[u8], limit: u64) -> u64 {
    const LEAST: u64 = 16 << 20;
    const RATIO: u64 = 128;
    limit.min(LEAST.max((raw.len() as u64).saturating_mul(RATIO)))
}

/// Decompresses a section of the older kind, such as `.zdebug_info`. One without the magic is not compressed.
pub(crate) fn old_section(raw: &[u8], limit: u64, cancellation: &Cancellation) -> Result<Vec<u8>, NoSymbols> {
    if raw.starts_with(b"ZLIB") {
        let size = number(raw.get(4..12).unwrap_or_default().iter());
        return zlib(raw.get(12..).unwrap_or_default(), size, bound(raw, limit), cancellation);
    }
    Ok(raw.to_vec())
}

/// Decompresses a file by its magic: xz, zstd or gzip. `None` if it has none of them.
pub(crate) fn file(
    data: &[u8],
    limit: u64,
    cancellation: &Cancellation,
) -> Option<Result<Vec<u8>, NoSymbols>> {
    let limit = bound(data, limit);
    if data.starts_with(b"\xfd7zXZ\0") {
        Some(xz(data, limit, cancellation))
    } else if data.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        Some(zstd(data, limit, cancellation))
    } else if data.starts_with(&[0x1f, 0x8b]) {
        Some(read(flate2::read::GzDecoder::new(data), "gzip", limit, cancellation))
    } else {
        None
    }
}

/// Decompresses xz.
pub(crate) fn xz(data: &[u8], limit: u64, cancellation: &Cancellation) -> Result<Vec<u8>, NoSymbols> {
    // The largest that `xz -9` writes.
    const DICTIONARY: usize = 64 << 20;
    let limit = bound(data, limit);
    let mut decoder = xz4rust::XzDecoder::in_heap_with_alloc_dict_size(xz4rust::DICT_SIZE_MIN, DICTIONARY);
    run_xz(&mut decoder, data, limit, cancellation)
}

fn run_xz(
    decoder: &mut xz4rust::XzDecoder<'_>,
    mut data: &[u8],
    limit: u64,
    cancellation: &Cancellation,
) -> Result<Vec<u8>, NoSymbols> {
    const DAMAGED: NoSymbols = NoSymbols::Malformed("xz");
    let (mut bytes, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        if cancellation.is_cancelled() {
            return Err(NoSymbols::Cancelled);
        }
        let step = decoder.decode(data, &mut buffer).map_err(|_| DAMAGED)?;
        bytes.extend_from_slice(buffer.get(..step.output_produced()).ok_or(DAMAGED)?);
        if bytes.len() as u64 > limit {
            return Err(NoSymbols::TooLarge);
        }
        data = data.get(step.input_consumed()..).ok_or(DAMAGED)?;
        if step.is_end_of_stream() {
            return Ok(bytes);
        }
        // The end is missing.
        if !step.made_progress() {
            return Err(DAMAGED);
        }
    }
}

/// What is wrong with a damaged zlib stream.
pub(crate) const DAMAGED: NoSymbols = NoSymbols::Malformed("zlib");

/// Returns how many of the `wanted` bytes of a zlib stream to have room for before they are decompressed. DWARF shrinks to a
/// tenth. What claims far more gets its room when it has the bytes.
pub(crate) fn likely(data: &[u8], wanted: u64) -> u64 {
    wanted.min((data.len() as u64).saturating_mul(16))
}

/// Decompresses zlib. `size` is the claimed size.
fn zlib(data: &[u8], size: u64, limit: u64, cancellation: &Cancellation) -> Result<Vec<u8>, NoSymbols> {
    let likely = likely(data, size.min(limit));
    let mut bytes = Vec::with_capacity(usize::try_from(likely).map_err(|_| NoSymbols::TooLarge)?);
    inflate(&mut flate2::Decompress::new(true), data, &mut bytes, usize::MAX, limit, cancellation)?;
    Ok(bytes)
}

/// Decompresses more of `data`, after what `decoder` has read, until `bytes` has `enough` bytes or all are decompressed. It
/// has more than `enough` only if it had the room.
///
/// # Errors
///
/// [`NoSymbols::Malformed`] if the data is damaged or its end is missing, [`NoSymbols::TooLarge`] if `bytes` has more than
/// `limit`, [`NoSymbols::Cancelled`] if it was cancelled.
pub(crate) fn inflate(
    decoder: &mut flate2::Decompress,
    data: &[u8],
    bytes: &mut Vec<u8>,
    enough: usize,
    limit: u64,
    cancellation: &Cancellation,
) -> Result<(), NoSymbols> {
    /// The least number of bytes by which the room grows.
    const STEP: usize = 1 << 16;
    /// The largest number of compressed bytes between two checks of cancellation.
    const INPUT: usize = 1 << 20;
    while bytes.len() < enough {
        if cancellation.is_cancelled() {
            return Err(NoSymbols::Cancelled);
        }
        if bytes.len() == bytes.capacity() {
            bytes.reserve_exact(bytes.len().max(STEP).min(enough.saturating_sub(bytes.len())));
        }
        let (read, written) = (decoder.total_in(), bytes.len());
        let rest = usize::try_from(read).ok().and_then(|read| data.get(read..)).unwrap_or_default();
        let rest = rest.get(..INPUT).unwrap_or(rest);
        let status =
            decoder.decompress_vec(rest, bytes, flate2::FlushDecompress::None).map_err(|_| DAMAGED)?;
        if bytes.len() as u64 > limit {
            return Err(NoSymbols::TooLarge);
        }
        if status == flate2::Status::StreamEnd {
            return Ok(());
        }
        // The end is missing.
        if bytes.len() < bytes.capacity() && (read, written) == (decoder.total_in(), bytes.len()) {
            return Err(DAMAGED);
        }
    }
    Ok(())
}

fn zstd(data: &[u8], limit: u64, cancellation: &Cancellation) -> Result<Vec<u8>, NoSymbols> {
    let decoder = ruzstd::decoding::StreamingDecoder::new(data).map_err(|_| NoSymbols::Malformed("zstd"))?;
    read(decoder, "zstd", limit, cancellation)
}

fn read(
    from: impl Read,
    name: &'static str,
    limit: u64,
    cancellation: &Cancellation,
) -> Result<Vec<u8>, NoSymbols> {
    /// Number of bytes between two checks of cancellation.
    const STEP: u64 = 1 << 20;
    let mut bytes = Vec::new();
    let mut from = from.take(limit.saturating_add(1));
    loop {
        if cancellation.is_cancelled() {
            return Err(NoSymbols::Cancelled);
        }
        let read =
            from.by_ref().take(STEP).read_to_end(&mut bytes).map_err(|_| NoSymbols::Malformed(name))?;
        if bytes.len() as u64 > limit {
            return Err(NoSymbols::TooLarge);
        }
        if (read as u64) < STEP {
            return Ok(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn never() -> Cancellation {
        Cancellation::default()
    }

    fn compressed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// A section of a 64-bit file that claims a size.
    fn claiming(size: u64, data: &[u8]) -> Vec<u8> {
        let header = [1_u32.to_le_bytes(), [0; 4]].concat();
        [&header[..], &size.to_le_bytes(), &1_u64.to_le_bytes(), data].concat()
    }

    #[test]
    fn the_claimed_size_does_not_matter() {
        let bytes: Vec<u8> =
            (0..60_000_u32).flat_map(|it| (it.wrapping_mul(it) >> 7).to_le_bytes()).collect();
        let data = compressed(&bytes);
        let size = bytes.len() as u64;
        for claimed in [0, 1, size - 1, size, size + 1, u64::MAX] {
            let raw = claiming(claimed, &data);
            assert!(section(&raw, (true, true), u64::MAX, &never()).unwrap() == bytes, "{claimed}");
            assert!(
                matches!(section(&raw, (true, true), size - 1, &never()), Err(NoSymbols::TooLarge)),
                "{claimed}"
            );
            assert!(section(&raw, (true, true), size, &never()).is_ok(), "{claimed}");
            let old = [b"ZLIB", &claimed.to_be_bytes()[..], &data].concat();
            assert!(old_section(&old, u64::MAX, &never()).unwrap() == bytes, "{claimed}");
        }
    }

    #[test]
    fn what_is_cut_or_damaged_is_an_error() {
        let mut data = compressed(&[7; 1000]);
        for size in [0, 1000] {
            for end in 0..data.len() {
                let cut = section(&claiming(size, &data[..end]), (true, true), u64::MAX, &never());
                assert!(matches!(cut, Err(NoSymbols::Malformed("zlib"))), "{end}");
            }
        }
        let middle = data.len() / 2;
        data[middle] ^= 0x55;
        assert!(section(&claiming(1000, &data), (true, true), u64::MAX, &never()).is_err());
    }

    #[test]
    fn sizes_are_read_in_each_form() {
        let header = [1_u8, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!((size(&header, false, true), size(&header, true, true)), (2, 3));
        assert_eq!((size(&header, false, false), size(&header, true, false)), (2 << 24, 3 << 56));
        assert_eq!(size(&header[..6], false, true), 0);
    }
}
