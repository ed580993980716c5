//! The source of each input byte, where the input is in another order than the files: dumps of rings.

use perf_parse::EventRecord;
use perf_parse::file::{EventRecords, FileError};

/// The origin of each data file. Empty if the input is in the order of the files.
#[derive(Debug, Default)]
pub(crate) struct RingOrigins(pub(crate) Vec<RingOrigin>);

/// The origin of the bytes of a data file: a ring, which wraps at its end. Offsets are from the start of the file that
/// the user named.
#[derive(Debug)]
pub(crate) struct RingOrigin {
    /// The offset of the ring's area, and its size in bytes.
    pub(crate) area: u64,
    pub(crate) size: u64,
    pub(crate) written: WriteDirection,
}

/// The direction in which the ring was written.
#[derive(Debug)]
pub(crate) enum WriteDirection {
    /// Forward, with the offset in the area at which the input starts.
    Forward(u64),
    /// Backward, with its records in reverse order. For each record, the offset in the input and the offset in the
    /// file.
    Backward(Vec<(u64, u64)>),
}

impl RingOrigin {
    /// Returns the offset of the byte that is `bytes` after the one at `start`, in the ring.
    fn after(&self, start: u64, bytes: u64) -> u64 {
        self.area + (start - self.area + bytes) % self.size
    }
}

impl RingOrigins {
    /// Returns the offset in the file of the byte at `offset` of the input.
    pub(crate) fn offset(&self, data_file: usize, offset: u64) -> u64 {
        let Some(origin) = self.0.get(data_file) else { return offset };
        match &origin.written {
            WriteDirection::Forward(start) => origin.after(origin.area, start + offset),
            WriteDirection::Backward(records) => {
                let next = records.partition_point(|&(in_input, _)| in_input <= offset);
                let (in_input, in_file) =
                    records.get(next.wrapping_sub(1)).copied().unwrap_or((0, origin.area));
                origin.after(in_file, offset - in_input)
            }
        }
    }

    /// Changes an error that the walk has returned and noted: its offset becomes that in the file.
    #[cold]
    pub(crate) fn correct(&self, error: FileError, records: &mut EventRecords<'_>) {
        let offset = self.offset(EventRecords::reached(records).data_file, error.offset);
        let noted = records.account_mut().diagnostics.last_mut();
        if let Some(noted) = noted.filter(|noted| **noted == error) {
            noted.offset = offset;
        }
    }

    /// Returns an error in a record, with its offset in the file. `offset` is that of the record.
    #[cold]
    pub(crate) fn in_record(&self, record: &EventRecord<'_>, offset: u64, error: FileError) -> FileError {
        let in_record = error.offset.saturating_sub(record.offset());
        let offset = self.offset_in_record(record.position().data_file, offset, in_record);
        FileError { offset, ..error }
    }

    /// Returns the offset in the file of the byte that is `bytes` after the start of a record. `record` is the offset
    /// of that record in the file.
    fn offset_in_record(&self, data_file: usize, record: u64, bytes: u64) -> u64 {
        self.0.get(data_file).map_or(record + bytes, |origin| origin.after(record, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins(written: WriteDirection) -> RingOrigins {
        RingOrigins(vec![RingOrigin { area: 4096, size: 8192, written }])
    }

    #[test]
    fn a_wrapped_ring_continues_at_its_start() {
        let origins = origins(WriteDirection::Forward(8184));
        assert_eq!([0, 7, 8, 16].map(|offset| origins.offset(0, offset)), [12280, 12287, 4096, 4104]);
        assert_eq!(
            [0, 7, 8, 16].map(|bytes| origins.offset_in_record(0, 12280, bytes)),
            [12280, 12287, 4096, 4104]
        );
    }

    #[test]
    fn records_of_a_backward_ring_are_in_reverse_order() {
        let origins = origins(WriteDirection::Backward(vec![(0, 5000), (32, 4968), (48, 4952)]));
        assert_eq!(
            [0, 31, 32, 40, 48].map(|offset| origins.offset(0, offset)),
            [5000, 5031, 4968, 4976, 4952]
        );
        assert_eq!(origins.offset_in_record(0, 5000, 32), 5032);
    }

    #[test]
    fn a_record_of_a_backward_ring_continues_at_its_start() {
        let origins = origins(WriteDirection::Backward(vec![(0, 12272), (32, 12240)]));
        assert_eq!(
            [0, 15, 16, 31, 32].map(|offset| origins.offset(0, offset)),
            [12272, 12287, 4096, 4111, 12240]
        );
    }

    #[test]
    fn offsets_in_other_files_do_not_change() {
        assert_eq!(RingOrigins::default().offset(0, 123), 123);
        assert_eq!(RingOrigins::default().offset_in_record(0, 100, 23), 123);
    }
}
