//! The mapping from positions in the input to positions in the files, for input that is in another order than the
//! files.

/// The mapping of the input, one entry per data file. Empty if the input is in the order of the files.
#[derive(Debug, Default)]
pub(crate) struct Places(pub(crate) Vec<Place>);

/// The origin of the bytes of a data file: a ring, which wraps at its end. Offsets are from the start of the file that
/// the user named.
#[derive(Debug)]
pub(crate) struct Place {
    /// The offset of the ring's area, and its size in bytes.
    pub(crate) area: u64,
    pub(crate) size: u64,
    pub(crate) written: Written,
}

/// The direction in which the ring was written.
#[derive(Debug)]
pub(crate) enum Written {
    /// Forward, with the offset in the area at which the input starts.
    Forward(u64),
    /// Backward, with its records in reverse order. For each record, the offset in the input and the offset in the
    /// file.
    Backward(Vec<(u64, u64)>),
}

impl Place {
    /// Returns the offset of the byte that is `bytes` after the one at `start`.
    fn behind(&self, start: u64, bytes: u64) -> u64 {
        self.area + (start - self.area + bytes) % self.size
    }
}

impl Places {
    /// Returns the offset in the file of the byte at `offset` of the input.
    pub(crate) fn of(&self, data_file: usize, offset: u64) -> u64 {
        let Some(place) = self.0.get(data_file) else { return offset };
        match &place.written {
            Written::Forward(start) => place.behind(place.area, start + offset),
            Written::Backward(records) => {
                let behind = records.partition_point(|&(begins, _)| begins <= offset);
                let (begins, stands) =
                    records.get(behind.wrapping_sub(1)).copied().unwrap_or((0, place.area));
                place.behind(stands, offset - begins)
            }
        }
    }

    /// Returns the offset in the file of the byte that is `bytes` after the start of a record. `record` is the offset
    /// of that record in the file.
    pub(crate) fn in_record(&self, data_file: usize, record: u64, bytes: u64) -> u64 {
        self.0.get(data_file).map_or(record + bytes, |place| place.behind(record, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(written: Written) -> Places {
        Places(vec![Place { area: 4096, size: 8192, written }])
    }

    #[test]
    fn a_wrapped_ring_goes_on_at_its_start() {
        let places = places(Written::Forward(8184));
        assert_eq!([0, 7, 8, 16].map(|offset| places.of(0, offset)), [12280, 12287, 4096, 4104]);
        assert_eq!([0, 7, 8, 16].map(|bytes| places.in_record(0, 12280, bytes)), [12280, 12287, 4096, 4104]);
    }

    #[test]
    fn records_of_a_backward_ring_stand_in_the_other_order() {
        let places = places(Written::Backward(vec![(0, 5000), (32, 4968), (48, 4952)]));
        assert_eq!([0, 31, 32, 40, 48].map(|offset| places.of(0, offset)), [5000, 5031, 4968, 4976, 4952]);
        assert_eq!(places.in_record(0, 5000, 32), 5032);
    }

    #[test]
    fn a_record_of_a_backward_ring_goes_on_at_its_start_too() {
        let places = places(Written::Backward(vec![(0, 12272), (32, 12240)]));
        assert_eq!([0, 15, 16, 31, 32].map(|offset| places.of(0, offset)), [12272, 12287, 4096, 4111, 12240]);
    }

    #[test]
    fn what_is_no_ring_stands_where_it_is_read() {
        assert_eq!(Places::default().of(0, 123), 123);
        assert_eq!(Places::default().in_record(0, 100, 23), 123);
    }
}
