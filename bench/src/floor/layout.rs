//! The offsets of fields, computed once.

use crate::capture::{Event, word};

/// The bits of `sample_type`, in the order of the fields.
pub(super) mod bit {
    pub(in super::super) const IDENTIFIER: u64 = 1 << 16;
    pub(in super::super) const IP: u64 = 1 << 0;
    pub(in super::super) const TID: u64 = 1 << 1;
    pub(in super::super) const TIME: u64 = 1 << 2;
    pub(in super::super) const ADDR: u64 = 1 << 3;
    pub(in super::super) const ID: u64 = 1 << 6;
    pub(in super::super) const STREAM_ID: u64 = 1 << 9;
    pub(in super::super) const CPU: u64 = 1 << 7;
    pub(in super::super) const PERIOD: u64 = 1 << 8;
    pub(in super::super) const CALLCHAIN: u64 = 1 << 5;
    pub(in super::super) const RAW: u64 = 1 << 10;
    pub(in super::super) const REGS_USER: u64 = 1 << 12;
    pub(in super::super) const STACK_USER: u64 = 1 << 13;
    pub(in super::super) const DATA_SRC: u64 = 1 << 15;
}

/// The leading fields, in the order the kernel writes them.
const HEAD: [u64; 9] = [
    bit::IDENTIFIER,
    bit::IP,
    bit::TID,
    bit::TIME,
    bit::ADDR,
    bit::ID,
    bit::STREAM_ID,
    bit::CPU,
    bit::PERIOD,
];

/// Index of a word that is absent.
pub(super) const ABSENT: usize = usize::MAX;

/// The layout of an event's samples: word indices of the leading fields, and the fields that follow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(super) ip: usize,
    pub(super) tid: usize,
    pub(super) time: usize,
    pub(super) addr: usize,
    pub(super) cpu: usize,
    pub(super) period: usize,
    /// Bytes of the leading fields.
    pub(super) head: usize,
    /// The `sample_type` bits of the fields that follow.
    pub(super) tail: u64,
    /// Bytes of user registers.
    pub(super) regs_user: usize,
    /// Position of the time in other records, in bytes before their end; 0 if they have no time.
    pub(super) trailer_time: usize,
}

impl Layout {
    pub(super) fn new(event: &Event) -> Self {
        let index = |field: u64| {
            let before = HEAD.iter().take_while(|&&it| it != field).filter(|&it| event.sample_type & it != 0);
            if event.sample_type & field == 0 { ABSENT } else { before.count() }
        };
        let all = HEAD.iter().fold(0, |all, field| all | field);
        let behind_tid = bit::TIME | bit::ID | bit::STREAM_ID | bit::CPU | bit::IDENTIFIER;
        let has_trailer_time = event.sample_id_all && event.sample_type & bit::TIME != 0;
        Self {
            ip: index(bit::IP),
            tid: index(bit::TID),
            time: index(bit::TIME),
            addr: index(bit::ADDR),
            cpu: index(bit::CPU),
            period: index(bit::PERIOD),
            head: (event.sample_type & all).count_ones() as usize * 8,
            tail: event.sample_type & !all,
            regs_user: event.regs_user.count_ones() as usize * 8,
            trailer_time: if has_trailer_time {
                (event.sample_type & behind_tid).count_ones() as usize * 8
            } else {
                0
            },
        }
    }
}

/// The table from ids to events. The kernel assigns ids in ascending order, so an array is enough.
#[derive(Debug)]
pub(crate) struct Ids {
    /// Offset of the id in the payload of a sample, in bytes.
    sample: usize,
    /// Position of the id in other records, in bytes before their end.
    trailer: usize,
    least: u64,
    events: Vec<u8>,
}

impl Ids {
    pub(crate) fn new(events: &[Event]) -> Self {
        let all = || events.iter().flat_map(|event| &event.ids).copied();
        let (least, most) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
        // With one event there is no lookup.
        let mut table = vec![0; if events.len() > 1 { (most - least + 1) as usize } else { 0 }];
        for (index, event) in (0..).zip(events).filter(|_| events.len() > 1) {
            event.ids.iter().for_each(|id| table[(id - least) as usize] = index);
        }
        let first = events.first().map_or(0, |event| event.sample_type);
        let words = |fields: u64| (first & fields).count_ones() as usize * 8;
        let by_identifier = first & bit::IDENTIFIER != 0;
        let before = if by_identifier { 0 } else { words(bit::IP | bit::TID | bit::TIME | bit::ADDR) };
        let behind = words(bit::ID | bit::STREAM_ID | bit::CPU);
        Self { sample: before, trailer: if by_identifier { 8 } else { behind }, least, events: table }
    }

    /// Returns the id of a sample in a capture with several events.
    #[inline(always)]
    pub(crate) fn id(&self, payload: &[u8]) -> Option<u64> {
        word(payload, self.sample)
    }

    /// Returns the event of a sample; `None` if no event has its id.
    #[inline(always)]
    pub(crate) fn of_sample(&self, payload: &[u8]) -> Option<usize> {
        if self.events.is_empty() { Some(0) } else { self.find(self.id(payload)?) }
    }

    /// Returns the event of another kernel record. Synthesised records have the id 0 and count as
    /// the first event's.
    #[inline(always)]
    pub(crate) fn of_other(&self, record: &[u8]) -> Option<usize> {
        if self.events.is_empty() {
            return Some(0);
        }
        match word(record, record.len().checked_sub(self.trailer)?)? {
            0 => Some(0),
            id => self.find(id),
        }
    }

    #[inline(always)]
    fn find(&self, id: u64) -> Option<usize> {
        self.events.get(id.wrapping_sub(self.least) as usize).map(|&event| event.into())
    }
}
