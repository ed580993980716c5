//! The order of a capture.

use crate::event::RecordPosition;

/// The places of the last record that was not compressed, and of the last one that was.
///
/// Both kinds are in ascending order. A decompressed record may come after records that were not compressed and have a
/// larger offset, because the library may hold it until there is more input.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastPlaces {
    uncompressed: Option<RecordPosition>,
    decompressed: Option<RecordPosition>,
}

impl LastPlaces {
    /// Moves on to the place of the next record. Returns `false` if the place is not after the previous one.
    pub(super) fn go_to(&mut self, place: RecordPosition) -> bool {
        let key = |place: RecordPosition| (place.data_file, place.decompressed.unwrap_or(place.offset));
        let last = if place.decompressed.is_some() { &mut self.decompressed } else { &mut self.uncompressed };
        let is_next = last.replace(place).is_none_or(|last| key(last) < key(place));
        let files = [self.uncompressed, self.decompressed].map(|last| last.map_or(0, |last| last.data_file));
        is_next && files.iter().all(|&file| file <= place.data_file)
    }
}
