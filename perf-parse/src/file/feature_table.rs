//! The table of the feature sections, after the data of a file.

use perf_abi::endian::{Endian, Endianness, U64};
use perf_abi::feature::Feature;
use zerocopy::FromBytes;

use super::header::{FileHeader, Section};
use super::image::FileImage;
use crate::account::Account;
use crate::error::{FileError, FileErrorKind, FilePart};
use crate::feature::{Features, is_absent};

/// Returns the sections that the table lists, including those of unknown features.
///
/// A section that is outside of the file, or that shares bytes with another part of the file, is left out and noted.
/// All sections together are therefore no larger than the file. A feature without bytes is absent, unless it only marks
/// a property.
pub(super) fn sections<'a, O: Endian>(
    header: &FileHeader,
    image: FileImage<'a>,
    account: &mut Account,
) -> Features<'a> {
    let mut sections = Features::new(O::ENDIANNESS);
    // The offset of the table depends on the size of the data.
    if header.data.size == 0 {
        return sections;
    }
    let mut entry = header.feature_table();
    let entries = features::<O>(header.features).count() as u64;
    let table = Section { offset: entry, size: entries.saturating_mul(16) };
    for feature in features::<O>(header.features) {
        let place = image.section(Section { offset: entry, size: 16 }, "feature table").map(section::<O>);
        let found = place.and_then(|place| {
            if is_absent(feature, place.size) {
                return Ok(None);
            }
            // Checked before its bytes are read: those of the records may not be in memory.
            let is_inside = place.offset.checked_add(place.size).is_some_and(|end| end <= image.len());
            let part = if is_inside { part_in(&place, header, &table, &sections) } else { None };
            match part {
                Some(part) => Err(FileError::new(FileErrorKind::Overlap { feature, part }, entry)),
                None => Ok(Some((place.offset, image.section(place, "feature section")?))),
            }
        });
        match found {
            Ok(None) => {}
            Ok(Some((offset, bytes))) => sections.set(feature, offset, bytes),
            Err(error) => account.note(FileError { offset: entry, ..error }),
        }
        entry = entry.saturating_add(16);
    }
    sections
}

/// Reads an entry of the table.
fn section<O: Endian>(entry: &[u8]) -> Section {
    let [offset, size] = <[U64<O>; 2]>::read_from_bytes(entry).unwrap_or_default().map(|word| word.get());
    Section { offset, size }
}

/// Returns the first part of the file that shares bytes with `section`.
fn part_in(
    section: &Section,
    header: &FileHeader,
    table: &Section,
    sections: &Features<'_>,
) -> Option<FilePart> {
    let parts = [
        (FilePart::Header, Section { offset: 0, size: header.size }),
        (FilePart::Attrs, header.attrs),
        (FilePart::EventTypes, header.event_types),
        (FilePart::Data, header.data),
        (FilePart::FeatureTable, *table),
    ];
    let before = sections.iter().map(|it| {
        (FilePart::Feature(it.feature), Section { offset: it.offset, size: it.bytes.len() as u64 })
    });
    parts.into_iter().chain(before).find(|(_, part)| section.shares_bytes_with(part)).map(|(part, _)| part)
}

/// Returns the features of a bitmap, in ascending order.
fn features<O: Endian>(words: [u64; 4]) -> impl Iterator<Item = Feature> {
    let words = if O::ENDIANNESS == Endianness::Big && is_of_32_bits(words) {
        words.map(|word| word.rotate_left(32))
    } else {
        words
    };
    let has = move |feature: u32| {
        let word = words.get(feature as usize / 64).copied().unwrap_or_default();
        word & (1 << (feature % 64)) != 0
    };
    (0..Feature::FEAT_BITS).filter(move |&feature| has(feature)).map(Feature)
}

/// Returns whether a big-endian bitmap, read as 64-bit words, was written by a 32-bit machine.
///
/// The bitmap is an array of C's `unsigned long`. On a little-endian machine the bytes are the same for both sizes of
/// `unsigned long`; on a big-endian one the halves of each 64-bit word are swapped. As in perf, the bit of HOSTNAME
/// decides, because every perf writes HOSTNAME. If the bit is set in neither reading, perf assumes that BUILD_ID is the
/// only feature. This function then decides by the first word: no perf writes features from 32 on without one below 32.
pub(super) fn is_of_32_bits(words: [u64; 4]) -> bool {
    const HOSTNAME: u64 = 1 << Feature::HOSTNAME.0;
    let first = words.first().copied().unwrap_or_default();
    let [low, high] = [first, first.rotate_left(32)].map(|word| word & u64::from(u32::MAX));
    low & HOSTNAME == 0 && (high & HOSTNAME != 0 || (low == 0 && high != 0))
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use perf_abi::endian::{BigEndian, LittleEndian};

    fn of<O: Endian>(words: [u64; 4]) -> Vec<u32> {
        features::<O>(words).map(|feature| feature.0).collect()
    }

    #[test]
    fn words_of_64_bits_are_read_in_both_orders() {
        let words = [1 << 3 | 1 << 34, 0, 0, 1 << 63];
        assert_eq!(of::<LittleEndian>(words), [3, 34, 255]);
        assert_eq!(of::<BigEndian>(words), [3, 34, 255]);
    }

    #[test]
    fn hostname_shows_words_of_32_bits() {
        let words = [1 << 35 | 1 << 2, 1 << 32, 0, 0];
        assert_eq!(of::<BigEndian>(words), [3, 34, 64]);
        assert_eq!(of::<LittleEndian>(words), [2, 35, 96], "little-endian words have one reading");
    }

    #[test]
    fn words_of_32_bits_without_hostname_are_told_by_an_empty_half() {
        assert_eq!(of::<BigEndian>([1 << 34, 0, 0, 0]), [2]);
        assert_eq!(of::<BigEndian>([1 << 2, 0, 0, 0]), [2]);
        assert_eq!(of::<BigEndian>([1 << 2 | 1 << 34, 0, 0, 0]), [2, 34]);
        assert!(of::<BigEndian>([0; 4]).is_empty());
    }
}
