//! The line of a record, in any format.

use perf_abi::endian::Endian;
use perf_parse::Sample;
use perf_parse::file::FileError;

use super::Sink;
use super::head::Head;

/// The position of a record in the capture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The offset of its header, or of the COMPRESSED record that contains its end.
    pub(crate) offset: u64,
    /// Its offset in the decompressed stream; `None` for a record that was not compressed.
    pub(crate) decompressed_offset: Option<u64>,
    pub(crate) data_file: usize,
}

/// How the event of a record is printed.
#[derive(Clone, Debug)]
pub(crate) struct EventLabel {
    /// The index of the event in the capture.
    pub(crate) index: usize,
    /// The name of the event, safe to print.
    pub(crate) name: Option<Vec<u8>>,
}

/// What is printed of a record besides its fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header<'h> {
    pub(crate) place: Place,
    pub(crate) size: u16,
    /// The type and `misc`.
    pub(crate) head: &'h Head,
    /// `None` if the record has no event, or its event is unknown.
    pub(crate) event: Option<&'h EventLabel>,
}

/// A printer of one record. It is called in this order: `begin`, the record's fields, `begin_sample_id`, the fields of
/// the trailer, `end`.
pub(crate) trait RecordSink: Sink {
    /// Begins the record.
    fn begin(&mut self, header: &Header<'_>);
    /// Begins the `sample_id` trailer. Not called for a record without one.
    fn begin_sample_id(&mut self);
    /// Ends the record, which is `sample` if it is a sample. If a part of it cannot be decoded, `undecodable` is the
    /// error and the record's payload.
    fn end<O: Endian>(
        &mut self,
        header: &Header<'_>,
        sample: Option<&Sample<'_, O>>,
        undecodable: Option<(&FileError, &[u8])>,
    );
}
