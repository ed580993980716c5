//! What the samples of a trace were made of, and what was not decoded.

use perf_aux::spe::Account;
use perf_aux::trace::AuxAccount;

use super::pt_queue::PtCounts;

/// What was decoded of AUX data, and what was not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceAccount {
    /// Number of samples that were made.
    pub samples: u64,
    /// Number of records of Arm SPE, including damaged ones, or of events of Intel PT.
    pub records: u64,
    /// Number of records of the trace that a fault ended. Samples are made of them, as perf does.
    pub damaged: u64,
    /// Number of bytes at which there is no packet.
    pub bad_bytes: u64,
    /// Number of times that a buffer of the processor overflowed, so that packets are missing: of Intel PT.
    pub overflows: u64,
    /// Number of packets of a reserved kind.
    pub bad_packets: u64,
    /// Number of buffers that end within a packet.
    pub truncated: u64,
    /// Number of records that the data ends within, so that no samples are made of them.
    pub unfinished: u64,
    /// Number of buffers whose data cannot be read.
    pub unreadable: u64,
    /// Number of bytes that the capture announces and does not have.
    pub cut_off: u64,
    /// Number of places at which data is missing between buffers.
    pub gaps: u64,
    /// Number of times that the kernel reported lost data, because the AUX area was full.
    pub lost: u64,
    /// Number of times that the kernel reported that the hardware dropped samples, because they were selected while another
    /// one was recorded.
    pub collisions: u64,
}

impl TraceAccount {
    /// Returns whether all data of the capture was decoded. Data that was never recorded is no fault of the capture.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.damaged == 0
            && self.bad_bytes == 0
            && self.truncated == 0
            && self.unreadable == 0
            && self.cut_off == 0
    }

    /// Returns what is missing, in words, with the numbers that are not 0.
    pub fn notes(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        let notes = [
            ("records that a fault ended", self.damaged),
            ("bytes at which there is no packet", self.bad_bytes),
            ("times that a buffer of the processor overflowed", self.overflows),
            ("packets of a reserved kind", self.bad_packets),
            ("buffers that end within a packet", self.truncated),
            ("records without an end", self.unfinished),
            ("buffers that cannot be read", self.unreadable),
            ("bytes of buffers that are cut off", self.cut_off),
            ("gaps between buffers", self.gaps),
            ("times that data was lost, because the AUX area was full", self.lost),
            ("times that the hardware dropped samples", self.collisions),
        ];
        notes.into_iter().filter(|&(_, count)| count != 0)
    }

    /// Returns the account of the capture's AUX areas, without their content.
    pub(super) fn of_areas(areas: &AuxAccount) -> Self {
        Self {
            cut_off: areas.cut_off,
            gaps: areas.gaps,
            lost: areas.truncated,
            collisions: areas.collisions,
            ..Self::default()
        }
    }

    /// Adds the records of an AUX area.
    pub(super) fn add(&mut self, area: &Account) {
        let add = |count: &mut u64, more: u64| *count = count.saturating_add(more);
        add(&mut self.records, area.records);
        add(&mut self.damaged, area.damaged);
        add(&mut self.bad_bytes, area.bad_bytes);
        add(&mut self.bad_packets, area.bad_operations);
        add(&mut self.truncated, area.truncated);
        add(&mut self.unfinished, u64::from(area.is_unfinished));
    }

    /// Adds the events of an AUX area of Intel PT.
    pub(super) fn add_pt(&mut self, area: PtCounts) {
        self.records = self.records.saturating_add(area.events);
        self.bad_bytes = self.bad_bytes.saturating_add(area.bad_bytes);
        self.overflows = self.overflows.saturating_add(area.overflows);
    }
}
