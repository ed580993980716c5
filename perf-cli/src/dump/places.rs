//! Where bytes that are read in one order stand in the files that they come from in another.

/// The places of what is read, one a data file; none where all stands as it is read.
#[derive(Debug, Default)]
pub(crate) struct Places(pub(crate) Vec<Place>);

/// Where the bytes of a data file come from. Offsets are from the start of the file that was given.
#[derive(Debug)]
pub(crate) enum Place {
    /// A ring written forward: it begins anew where it ends.
    Forward {
        /// Where the area of the ring begins, and its bytes.
        area: u64,
        size: u64,
        /// Where what is read begins in the area.
        start: u64,
    },
    /// A ring written backward, its records turned round: where each record begins in what is read, and in the file.
    Backward(Vec<(u64, u64)>),
}

impl Places {
    /// Where the byte at `offset` of what is read stands in its file.
    pub(crate) fn of(&self, data_file: usize, offset: u64) -> u64 {
        match self.0.get(data_file) {
            None => offset,
            Some(Place::Forward { area, size, start }) => area + (start + offset) % size,
            Some(Place::Backward(records)) => {
                let behind = records.partition_point(|&(begins, _)| begins <= offset);
                let (begins, stands) = records.get(behind.wrapping_sub(1)).copied().unwrap_or_default();
                stands + (offset - begins)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapped_ring_goes_on_at_its_start() {
        let places = Places(vec![Place::Forward { area: 4096, size: 8192, start: 8184 }]);
        assert_eq!([0, 7, 8, 16].map(|offset| places.of(0, offset)), [12280, 12287, 4096, 4104]);
    }

    #[test]
    fn records_of_a_backward_ring_stand_in_the_other_order() {
        let places = Places(vec![Place::Backward(vec![(0, 5000), (32, 4968), (48, 4952)])]);
        assert_eq!([0, 31, 32, 40, 48].map(|offset| places.of(0, offset)), [5000, 5031, 4968, 4976, 4952]);
    }

    #[test]
    fn what_is_no_ring_stands_where_it_is_read() {
        assert_eq!(Places::default().of(0, 123), 123);
    }
}
