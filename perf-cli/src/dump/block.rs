//! Blocks of records: the unit of work of a formatting thread.
//!
//! They are not the batches of `perf_profile::samples`: a dump has no session that records are applied to, keeps the order of the
//! file, and hands whole parts of the capture to threads, which read the records themselves.

use perf_parse::EventRecord;
use perf_parse::file::{Account, EventRecords, FileError};
use perf_profile::work::batch::BatchRoom;

use super::RingOrigins;
use super::filter::Filter;
use super::formatter::Formatter;
use super::packets::{AuxPackets, PacketFinder};
use crate::batch::{OUT, PrintedBlock};

/// Records, their output, and what was found in them. The buffers are reused for each block.
#[derive(Debug, Default)]
pub(super) struct Block<'r> {
    /// A walk over a part of the capture; `None` if the records were read before.
    walk: Option<Box<EventRecords<'r>>>,
    pub(super) batch: Batch<'r>,
    /// The output, or the next piece of it.
    out: Vec<u8>,
    /// The packets of the last record that are not formatted yet.
    packets: Option<AuxPackets<'r>>,
    /// The account of all records; `None` while there are more to format.
    account: Option<Account>,
}

/// Records that were read and selected.
#[derive(Debug, Default)]
pub(super) struct Batch<'r> {
    /// The records, each with the number of faults that the walk had noted up to it.
    records: Vec<(u64, EventRecord<'r>)>,
    room: BatchRoom,
    /// What the walk noted while it read the records.
    noted: Option<Account>,
    /// The number of records that were formatted, and the faults of those that could not be decoded.
    formatted: usize,
    undecodable: Vec<(u64, FileError)>,
}

impl<'r> Block<'r> {
    /// Makes this the block of a walk.
    pub(super) fn set_walk(&mut self, walk: EventRecords<'r>) {
        self.walk = Some(Box::new(walk));
        self.account = None;
    }

    /// Makes this the block of the records that are added to the returned batch.
    pub(super) fn set_batch(&mut self) -> &mut Batch<'r> {
        self.walk = None;
        self.account = None;
        self.batch.clear();
        &mut self.batch
    }

    /// Formats the records that `filter` selects, or the next of them if their output is large.
    pub(super) fn format(
        &mut self,
        formatter: &mut Formatter<'_>,
        filter: &Filter,
        origins: &RingOrigins,
        finder: Option<&PacketFinder<'r, '_>>,
    ) {
        self.out.clear();
        let mut printer = RecordPrinter { formatter, origins, finder, packets: &mut self.packets };
        self.account = match &mut self.walk {
            Some(walk) => format_walk(walk, &mut printer, filter, &mut self.out),
            None => self.batch.format(&mut printer, &mut self.out),
        };
    }

    /// Takes the walk, after all its records are formatted.
    pub(super) fn take_walk(&mut self) -> Option<EventRecords<'r>> {
        self.walk.take().map(|walk| *walk)
    }
}

impl PrintedBlock for Block<'_> {
    fn out(&self) -> &[u8] {
        &self.out
    }

    fn account(&self) -> Option<&Account> {
        self.account.as_ref()
    }
}

/// Prints records with their packets.
struct RecordPrinter<'p, 'f, 'r, 'd> {
    formatter: &'p mut Formatter<'f>,
    origins: &'p RingOrigins,
    finder: Option<&'p PacketFinder<'r, 'd>>,
    packets: &'p mut Option<AuxPackets<'r>>,
}

impl RecordPrinter<'_, '_, '_, '_> {
    /// Prints the packets that are left; returns whether there are more.
    fn go_on(&mut self, out: &mut Vec<u8>) -> bool {
        let Some(packets) = self.packets.as_mut() else { return false };
        if packets.print_some(out) {
            *self.packets = None;
        }
        self.packets.is_some()
    }

    /// Prints a record, and notes its packets.
    #[inline]
    fn record(&mut self, record: &EventRecord<'_>, out: &mut Vec<u8>) -> Option<Box<FileError>> {
        let error = self.formatter.record(record, self.origins, out);
        if let Some(finder) = self.finder {
            *self.packets = finder.begin(record, out);
        }
        error
    }
}

/// Formats the next records of a walk. Returns its account after the last one.
fn format_walk(
    walk: &mut EventRecords<'_>,
    printer: &mut RecordPrinter<'_, '_, '_, '_>,
    filter: &Filter,
    out: &mut Vec<u8>,
) -> Option<Account> {
    while out.len() < OUT {
        if printer.go_on(out) {
            return None;
        }
        match walk.next() {
            None => return Some(walk.account().clone()),
            Some(Ok(record)) if filter.wants(&record) => {
                if let Some(error) = printer.record(&record, out) {
                    walk.account_mut().note(*error);
                }
            }
            Some(Ok(_)) => {}
            Some(Err(error)) => printer.origins.correct(error, walk),
        }
    }
    None
}

impl<'r> Batch<'r> {
    fn clear(&mut self) {
        self.records.clear();
        self.room = BatchRoom::default();
        self.formatted = 0;
        self.undecodable.clear();
    }

    pub(super) fn has_room(&self) -> bool {
        self.room.is_left()
    }

    /// Adds a record. `noted` is the number of faults that the walk has noted. The record `may_keep` memory that is not
    /// the capture's.
    #[inline]
    pub(super) fn add(&mut self, record: EventRecord<'r>, noted: u64, may_keep: bool) {
        self.room.add(&record, may_keep);
        self.records.push((noted, record));
    }

    /// Adds an error that the walk returned and noted.
    pub(super) fn add_error(&mut self) {
        self.room.add_error();
    }

    /// Ends the batch with what the walk noted while it read the records.
    pub(super) fn end(&mut self, noted: Account) {
        self.noted = Some(noted);
    }

    /// Formats the next records. Returns the account of all after the last one.
    fn format(&mut self, printer: &mut RecordPrinter<'_, '_, '_, '_>, out: &mut Vec<u8>) -> Option<Account> {
        for (noted, record) in self.records.iter().skip(self.formatted) {
            if printer.go_on(out) || out.len() >= OUT {
                return None;
            }
            self.formatted += 1;
            if let Some(error) = printer.record(record, out) {
                self.undecodable.push((*noted, *error));
            }
        }
        if printer.go_on(out) {
            return None;
        }
        // The records keep memory that the walk needs.
        self.records.clear();
        self.formatted = 0;
        let mut account = self.noted.take()?;
        account.note_among(self.undecodable.drain(..));
        Some(account)
    }
}
