//! The work of a dump that a single thread does: cutting the capture into blocks.

use perf_parse::file::{Blocks, EventRecords};
use perf_profile::work::batch::{may_keep, take_account};

use super::RingOrigins;
use super::block::Block;
use super::filter::Filter;
use crate::progress::Progress;

/// Cuts a capture into blocks.
#[derive(Debug)]
pub(super) struct Reading<'r, 'f> {
    pub(super) source: Source<'r>,
    pub(super) filter: &'f Filter,
    pub(super) origins: &'f RingOrigins,
    pub(super) progress: Progress,
}

/// The records of a capture.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "a dump has only one source")]
pub(super) enum Source<'r> {
    /// Parts of the capture, which any thread can walk over. The next part is already known.
    Parts(Option<EventRecords<'r>>, Blocks<'r>),
    /// One walk, whose records are read here.
    Walk(Walk<'r>),
}

/// The walk over a capture that is not cut into parts.
#[derive(Debug)]
pub(super) struct Walk<'r> {
    pub(super) records: EventRecords<'r>,
    /// The number of records that may still be selected.
    pub(super) left: u64,
    pub(super) is_stream: bool,
    pub(super) in_time_order: bool,
}

impl<'r> Reading<'r, '_> {
    /// Makes `block` the next one. Returns whether there may be more.
    pub(super) fn fill(&mut self, block: &mut Block<'r>) -> bool {
        match &mut self.source {
            Source::Parts(next, parts) => {
                if let Some(walk) = next.take() {
                    self.progress.at(walk.reached().offset);
                    *next = parts.next().map(|walk| self.filter.select(walk));
                    block.set_walk(walk);
                }
                next.is_some()
            }
            Source::Walk(walk) => {
                self.progress.at(walk.records.reached().offset);
                walk.fill(block, self.filter, self.origins)
            }
        }
    }
}

impl<'r> Walk<'r> {
    /// Reads the next selected records. Returns whether there may be more.
    fn fill(&mut self, block: &mut Block<'r>, filter: &Filter, origins: &RingOrigins) -> bool {
        let Self { records, left, .. } = self;
        let batch = block.set_batch();
        let mut may_be_more = true;
        while batch.has_room() && may_be_more {
            match (*left > 0).then(|| records.next()).flatten() {
                None => may_be_more = false,
                Some(Ok(record)) if filter.wants(&record) => {
                    *left -= 1;
                    let may_keep = may_keep(&record, self.is_stream, self.in_time_order);
                    batch.add(record, records.account().faults(), may_keep);
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => {
                    origins.correct(error, records);
                    batch.add_error();
                }
            }
        }
        batch.end(take_account(records.account_mut()));
        may_be_more
    }
}
