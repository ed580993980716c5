//! Places in a capture.

/// The place of a record in a capture. Places are in the order of the capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RecordPosition {
    /// The data file of a folder capture: 0 for `data`, then the files that were added, in that order. 0 for every
    /// other capture.
    pub data_file: usize,
    /// Offset of the record's header, in bytes from the start of the data file. For a compressed record this is the
    /// offset of the COMPRESSED record that contains its end.
    pub offset: u64,
    /// Position in the decompressed stream, in bytes; `None` for a record that was not compressed.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub decompressed: Option<u64>,
}

impl RecordPosition {
    /// Returns the place `size` bytes further: in the decompressed stream, if it is there.
    pub(crate) fn after(self, size: u64) -> Self {
        match self.decompressed {
            Some(position) => Self { decompressed: Some(position.saturating_add(size)), ..self },
            None => Self { offset: self.offset.saturating_add(size), ..self },
        }
    }

    /// Returns whether a walk returns this place before `other`. Positions in the decompressed stream are not compared
    /// with offsets: decompression may return records after those that follow their COMPRESSED record.
    pub(crate) fn is_before(self, other: Self) -> bool {
        match (self.decompressed, other.decompressed) {
            (Some(position), Some(other_position)) => {
                (self.data_file, position) < (other.data_file, other_position)
            }
            (None, None) => self < other,
            _ => self.data_file <= other.data_file,
        }
    }
}

impl core::fmt::Display for RecordPosition {
    /// Writes the offset, and the position in the decompressed stream if there is one.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:#x}", self.offset)?;
        match self.decompressed {
            Some(position) => write!(f, "+{position:#x}"),
            None => Ok(()),
        }
    }
}
