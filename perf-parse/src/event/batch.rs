//! Batches of samples of several events.

use perf_abi::endian::{BigEndian, ByteOrder, Endian, Endianness, LittleEndian};
use perf_abi::record::RecordType;

use super::events::Events;
use crate::batch::{BatchColumns, BatchContents, SampleBatch};
use crate::layout::SampleLayout;
use crate::record::{RawRecord, Records};

impl Events {
    /// Takes the next samples, as many as the batch has room for, and finds the event of each. Returns their bytes.
    ///
    /// After a batch that is not [full](SampleBatch::is_full), [`next`](Iterator::next) returns the record at which it
    /// ended, or the fault, or `None` at the end: see [`SampleBatch`]. Allocates nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::abi::attr::Attr;
    /// use perf_parse::abi::endian::LittleEndian;
    /// use perf_parse::abi::sample_type::SampleType;
    /// use perf_parse::event::Events;
    /// use perf_parse::{Records, SampleBatch};
    ///
    /// let attr = Attr { sample_type: SampleType::IDENTIFIER | SampleType::IP, ..Attr::default() };
    /// let events: Events = [(attr, vec![7]), (attr, vec![8, 9])].into_iter().collect();
    /// let mut bytes = Vec::new();
    /// for id in [9, 7, 8, 6_u64] {
    ///     bytes.extend([9, 0, 0, 0, 2, 0, 24, 0]); // SAMPLE, USER, 24 bytes
    ///     bytes.extend([id, 0x40_1000].map(u64::to_le_bytes).as_flattened());
    /// }
    /// let mut batch = SampleBatch::<256>::new(SampleType::IP);
    /// let mut records = Records::<LittleEndian>::new(&bytes);
    /// assert_eq!(events.next_batch(&mut records, &mut batch).len(), 3 * 24);
    /// assert_eq!(batch.events(), Some(&[1, 0, 1][..]));
    /// let sample = records.next().expect("a fourth sample")?;
    /// assert!(events.of(&sample).is_err(), "no event has the id 6");
    /// # Ok::<(), perf_parse::Error>(())
    /// ```
    pub fn next_batch<'a, O: ByteOrder, const N: usize>(
        &self,
        records: &mut Records<'a, O>,
        batch: &mut SampleBatch<N>,
    ) -> &'a [u8] {
        let filled = match O::endianness(records.order()) {
            Endianness::Little => self.fill::<LittleEndian>(records.front(), batch.columns()),
            Endianness::Big => self.fill::<BigEndian>(records.front(), batch.columns()),
        };
        batch.set(filled);
        records.take(filled.bytes)
    }

    /// Fills the columns of a batch from the samples at the front of `bytes`.
    pub(crate) fn fill<O: Endian>(&self, bytes: &[u8], columns: BatchColumns<'_>) -> BatchContents {
        self.fill_some::<O>(bytes, columns).unwrap_or(BatchContents::NOTHING)
    }

    fn fill_some<O: Endian>(&self, bytes: &[u8], mut columns: BatchColumns<'_>) -> Option<BatchContents> {
        let (first, _) =
            RawRecord::<O>::whole_of_kernel((), bytes).filter(|(it, _)| it.kind() == RecordType::SAMPLE)?;
        let index = self.index_of(&first)?;
        let event = self.get(index).filter(|event| !event.is_faulty)?;
        let layout = &event.layout;
        let leading = columns.selected_leading();
        let has_same = |it: &SampleLayout| (it.sample_type.0 ^ layout.sample_type.0) & leading.0 == 0;
        let filled = if self.len() == 1 {
            let filled = columns.fill_one::<O>(layout, bytes);
            columns.set_events(0, filled.len);
            filled
        } else if !self.has_one_head() {
            columns.fill_various::<O, true>(layout, bytes, |payload, event| {
                self.layout_of_sample::<O>(payload, event).filter(|it| has_same(it))
            })
        } else if self.has_tails() {
            columns.fill_various::<O, false>(layout, bytes, |payload, event| {
                self.layout_of_sample::<O>(payload, event)
            })
        } else {
            columns.fill_equal::<O>(layout, bytes, |payload, event| {
                self.layout_of_sample::<O>(payload, event).is_some()
            })
        };
        Some(BatchContents { has_events: true, ..filled })
    }

    /// Returns the layout of a sample with this payload, and sets the index of its event. `None` if the event is unknown or
    /// cannot be decoded.
    #[inline(always)]
    fn layout_of_sample<O: Endian>(&self, payload: &[u8], event: &mut u32) -> Option<&SampleLayout> {
        let found = self.index_of_sample::<O>(payload)?;
        *event = u32::try_from(found).ok()?;
        let found = self.get(found)?;
        (!found.is_faulty).then_some(&found.layout)
    }
}
