//! The bytes of an index of a capture, as its format lays them out.

/// The offset of the checksum in the header.
const CHECKSUM: usize = 72;

/// The size of the header, after which the chunks follow.
pub const HEADER: usize = 80;

/// Returns an index with the words of the capture from the header of `encoded`, and with these flags and chunks.
///
/// # Panics
///
/// If `encoded` is shorter than a header.
#[must_use]
pub fn with_chunks(encoded: &[u8], flags: u32, count: u64, chunks: &[u8]) -> Vec<u8> {
    let mut bytes = encoded[..HEADER].to_vec();
    bytes[12..16].copy_from_slice(&flags.to_le_bytes());
    bytes[56..64].copy_from_slice(&count.to_le_bytes());
    bytes[64..72].copy_from_slice(&(chunks.len() as u64).to_le_bytes());
    bytes.extend_from_slice(chunks);
    seal(&mut bytes);
    bytes
}

/// Makes the checksum of an index fit. Bytes that are shorter than a header stay as they are.
pub fn seal(bytes: &mut [u8]) {
    if bytes.len() >= HEADER {
        let covered = bytes[..CHECKSUM].iter().chain(&bytes[HEADER..]);
        let sum = covered.fold(0xcbf2_9ce4_8422_2325_u64, |sum, &byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        bytes[CHECKSUM..HEADER].copy_from_slice(&sum.to_le_bytes());
    }
}
