//! The events of an AUX area with Intel PT data.

use std::collections::VecDeque;

use perf_aux::pt::{Event, EventPosition, EventState};
use perf_aux::trace::AuxSlice;

use super::area::{AreaData, Owner};
use super::pt_sample::{PtContent, PtError};

/// Number of events that are decoded at once, but for those at the same packet.
const BATCH: usize = 256;

/// The data of an AUX area, and the event of which a sample is made next.
///
/// perf: `struct intel_pt_queue`.
#[derive(Debug)]
pub(super) struct PtQueue<'r, 'a> {
    data: AreaData<'r, 'a>,
    /// The slice that is decoded, and how far.
    slice: Option<(AuxSlice<'r>, EventPosition)>,
    state: EventState,
    /// Whether the next slice does not continue the one before.
    is_broken: bool,
    decoded: VecDeque<PtItem>,
    /// The event of which a sample is made next.
    pub(super) item: Option<PtItem>,
    pub(super) owner: Owner,
    pub(super) counts: PtCounts,
}

/// An event as a sample has it.
#[derive(Clone, Debug)]
pub(super) struct PtItem {
    /// Time stamp counter; `None` before the first one.
    pub(super) tsc: Option<u64>,
    /// 0 if unknown.
    pub(super) ip: u64,
    pub(super) content: PtContent,
}

/// Number of events, and of errors among them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PtCounts {
    pub(super) events: u64,
    pub(super) bad_bytes: u64,
    pub(super) overflows: u64,
}

impl PtItem {
    fn of(event: &Event<'_>) -> Self {
        Self { tsc: event.tsc, ip: event.ip.unwrap_or(0), content: PtContent::of(&event.kind) }
    }
}

impl<'r, 'a> PtQueue<'r, 'a> {
    pub(super) fn new(data: AreaData<'r, 'a>, owner: Owner, state: EventState) -> Self {
        Self {
            data,
            slice: None,
            state,
            is_broken: true,
            decoded: VecDeque::new(),
            item: None,
            owner,
            counts: PtCounts::default(),
        }
    }

    /// Returns the number of buffers that cannot be read.
    pub(super) fn unreadable(&self) -> u64 {
        self.data.unreadable
    }

    /// Goes on to the next event; `None` at the end.
    pub(super) fn advance(&mut self) -> Option<&PtItem> {
        self.item = None;
        while self.decoded.is_empty() {
            self.decode()?;
        }
        self.item = self.decoded.pop_front();
        let counts = &mut self.counts;
        let count = match self.item.as_ref()?.content {
            PtContent::Error(PtError::BadPacket) => &mut counts.bad_bytes,
            PtContent::Error(_) => &mut counts.overflows,
            _ => &mut counts.events,
        };
        *count = count.saturating_add(1);
        self.item.as_ref()
    }

    /// Decodes some events; `None` at the end of the data.
    fn decode(&mut self) -> Option<()> {
        if let Some((slice, position)) = self.slice.take() {
            let rest = take_some(self.state.events_from(slice.bytes(), position), &mut self.decoded);
            self.slice = rest.map(|rest| (slice, rest));
            return Some(());
        }
        let Some(slice) = self.data.next()? else {
            self.is_broken = true;
            return Some(());
        };
        if self.is_broken || !slice.is_consecutive {
            self.state.start(slice.reference);
            self.is_broken = false;
        }
        let rest = take_some(self.state.events(slice.bytes()), &mut self.decoded);
        self.slice = rest.map(|rest| (slice, rest));
        Some(())
    }
}

/// Takes some events. Returns the position at which the others are; `None` if there are none.
fn take_some(
    mut events: perf_aux::pt::Events<'_, '_>,
    decoded: &mut VecDeque<PtItem>,
) -> Option<EventPosition> {
    loop {
        decoded.push_back(PtItem::of(&events.next()?));
        if decoded.len() >= BATCH
            && let Some(position) = events.position()
        {
            return Some(position);
        }
    }
}
