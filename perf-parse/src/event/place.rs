//! Places in a capture.

/// The place of a record in a capture. Places are in the order of the capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The data file of a folder capture: 0 for `data`, then the files that were added, in that order. 0 for every
    /// other capture.
    pub data_file: usize,
    /// Offset of the record's header, in bytes from the start of the data file. For a compressed record this is the
    /// offset of the COMPRESSED record that contains its end.
    pub offset: u64,
    /// Position in the decompressed stream, in bytes; `None` for a record that was not compressed.
    pub decompressed: Option<u64>,
}

impl core::fmt::Display for Place {
    /// Writes the offset, and the position in the decompressed stream if there is one.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:#x}", self.offset)?;
        match self.decompressed {
            Some(position) => write!(f, "+{position:#x}"),
            None => Ok(()),
        }
    }
}
