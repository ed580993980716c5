//! Compressed sections and files, within a limit.

use std::io::Read;

use object::elf;

use crate::error::Why;

/// Decompresses a section with the flag `SHF_COMPRESSED`.
pub(crate) fn section(raw: &[u8], is_64: bool, is_little_endian: bool, limit: u64) -> Result<Vec<u8>, Why> {
    const HEADER: Why = Why::Malformed("compressed section");
    let limit = bound(raw, limit);
    let kind: [u8; 4] = raw.first_chunk().copied().ok_or(HEADER)?;
    let kind = if is_little_endian { u32::from_le_bytes(kind) } else { u32::from_be_bytes(kind) };
    let data = raw.get(if is_64 { 24 } else { 12 }..).ok_or(HEADER)?;
    match elf::CompressionType(kind) {
        elf::ELFCOMPRESS_ZLIB => zlib(data, limit),
        elf::ELFCOMPRESS_ZSTD => zstd(data, limit),
        _ => Err(HEADER),
    }
}

/// Returns the number of bytes that a section can have when it is decompressed. DWARF shrinks to a tenth; what grows far
/// more was made to fill memory.
fn bound(raw: &[u8], limit: u64) -> u64 {
    const LEAST: u64 = 16 << 20;
    const RATIO: u64 = 128;
    limit.min(LEAST.max((raw.len() as u64).saturating_mul(RATIO)))
}

/// Decompresses a section of the older kind, such as `.zdebug_info`. One without the magic is not compressed.
pub(crate) fn old_section(raw: &[u8], limit: u64) -> Result<Vec<u8>, Why> {
    if raw.starts_with(b"ZLIB") {
        return zlib(raw.get(12..).unwrap_or_default(), bound(raw, limit));
    }
    Ok(raw.to_vec())
}

/// Decompresses a file by its magic: xz, zstd or gzip. `None` if it has none of them.
pub(crate) fn file(data: &[u8], limit: u64) -> Option<Result<Vec<u8>, Why>> {
    let limit = bound(data, limit);
    if data.starts_with(b"\xfd7zXZ\0") {
        Some(xz(data, limit))
    } else if data.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        Some(zstd(data, limit))
    } else if data.starts_with(&[0x1f, 0x8b]) {
        Some(read(flate2::read::GzDecoder::new(data), "gzip", limit))
    } else {
        None
    }
}

/// Decompresses xz.
pub(crate) fn xz(data: &[u8], limit: u64) -> Result<Vec<u8>, Why> {
    // The largest that `xz -9` writes.
    const DICTIONARY: usize = 64 << 20;
    let limit = bound(data, limit);
    let mut decoder = xz4rust::XzDecoder::in_heap_with_alloc_dict_size(xz4rust::DICT_SIZE_MIN, DICTIONARY);
    run_xz(&mut decoder, data, limit)
}

fn run_xz(decoder: &mut xz4rust::XzDecoder<'_>, mut data: &[u8], limit: u64) -> Result<Vec<u8>, Why> {
    const DAMAGED: Why = Why::Malformed("xz");
    let (mut bytes, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        let step = decoder.decode(data, &mut buffer).map_err(|_| DAMAGED)?;
        bytes.extend_from_slice(buffer.get(..step.output_produced()).ok_or(DAMAGED)?);
        if bytes.len() as u64 > limit {
            return Err(Why::TooLarge);
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

fn zlib(data: &[u8], limit: u64) -> Result<Vec<u8>, Why> {
    read(flate2::read::ZlibDecoder::new(data), "zlib", limit)
}

fn zstd(data: &[u8], limit: u64) -> Result<Vec<u8>, Why> {
    let decoder = ruzstd::decoding::StreamingDecoder::new(data).map_err(|_| Why::Malformed("zstd"))?;
    read(decoder, "zstd", limit)
}

fn read(from: impl Read, name: &'static str, limit: u64) -> Result<Vec<u8>, Why> {
    let mut bytes = Vec::new();
    from.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|_| Why::Malformed(name))?;
    if bytes.len() as u64 > limit { Err(Why::TooLarge) } else { Ok(bytes) }
}
