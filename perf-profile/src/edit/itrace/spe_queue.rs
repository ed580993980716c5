//! The records of an AUX area with Arm SPE data.

use std::collections::VecDeque;

use perf_aux::spe::{Account, Decoder, SpeCpu, SpeRecord, Synthesis};
use perf_aux::trace::AuxSlice;

use super::area::{AreaData, Owner};

/// Number of records that are decoded at once.
const BATCH: usize = 256;

/// The data of an AUX area, and the record of which samples are made next.
///
/// perf: `struct arm_spe_queue`.
#[derive(Debug)]
pub(super) struct SpeQueue<'r, 'a> {
    data: AreaData<'r, 'a>,
    /// The slice that is decoded, and the number of its bytes that were.
    slice: Option<(AuxSlice<'r>, usize)>,
    decoder: Decoder,
    decoded: VecDeque<SpeRecord>,
    pub(super) synthesis: Synthesis,
    pub(super) spe_cpu: SpeCpu,
    /// The record of which samples are made next.
    pub(super) record: SpeRecord,
    /// Whether the record is one of the data.
    pub(super) is_begun: bool,
    pub(super) owner: Owner,
}

impl<'r, 'a> SpeQueue<'r, 'a> {
    /// Creates a queue of an AUX area. Its first record has no packets.
    pub(super) fn new(data: AreaData<'r, 'a>, owner: Owner, spe_cpu: SpeCpu, synthesis: Synthesis) -> Self {
        Self {
            data,
            slice: None,
            decoder: Decoder::new(),
            decoded: VecDeque::new(),
            synthesis,
            spe_cpu,
            record: SpeRecord::default(),
            is_begun: false,
            owner,
        }
    }

    /// Returns what was decoded.
    pub(super) fn account(&self) -> &Account {
        self.decoder.account()
    }

    /// Returns the number of buffers that cannot be read.
    pub(super) fn unreadable(&self) -> u64 {
        self.data.unreadable
    }

    /// Goes on to the next record; `None` at the end.
    pub(super) fn advance(&mut self) -> Option<&SpeRecord> {
        while self.decoded.is_empty() {
            self.decode()?;
        }
        self.record = self.decoded.pop_front()?;
        self.is_begun = true;
        Some(&self.record)
    }

    /// Decodes some records; `None` at the end of the data.
    fn decode(&mut self) -> Option<()> {
        let (slice, at) = match self.slice.take() {
            Some(slice) => slice,
            None => match self.data.next()? {
                None => {
                    self.decoder.start_over();
                    return Some(());
                }
                Some(slice) => {
                    if slice.gap > 0 {
                        self.decoder.start_over();
                    }
                    (slice, 0)
                }
            },
        };
        let rest = slice.bytes().get(at..).unwrap_or_default();
        let before = self.decoder.account().bytes;
        let offset = slice.offset.wrapping_add(at as u64);
        self.decoded.extend(self.decoder.records(offset, rest).take(BATCH));
        let taken = self.decoder.account().bytes.saturating_sub(before);
        let taken = usize::try_from(taken).unwrap_or(usize::MAX);
        if taken > 0 && taken < rest.len() {
            self.slice = Some((slice, at.saturating_add(taken)));
        }
        Some(())
    }
}
