//! The samples of a capture, worked on by several threads.
//!
//! One thread walks over the records and cuts them into blocks. Others find the stacks of a block's samples and number them,
//! each in a [`StackPart`](perf_profile::StackPart) of its own. The first thread counts the samples, in the order of time. So
//! the result is that of a walk on one thread.

mod worker;

use core::num::NonZero;
use core::ops::Range;

use perf_abi::record::RecordType;
use perf_parse::file::{Account, EventRecords};
use perf_parse::{EventRecord, FileError};
use perf_profile::work::batch::{BatchRoom, may_keep, take_account};
use perf_profile::{NewStacks, PartFrame, PartStack, Symbols, has_copies};
use perf_session::{At, Session};

use super::{Counted, Filter, Visit, Visited, Walk, Walked};
use crate::Failure;
use crate::output::Diagnostics;
pub(super) use worker::Worker;

/// What a verb does with samples that several threads work on. All of it is done by one thread, in the order of time.
pub(crate) trait Collect<'r> {
    /// What is known of a sample before its stack is.
    type Taken: Send;

    /// Takes a sample that is selected, and says what else is wanted of it: of a sample that [`has_stack`], it may be the
    /// stack.
    ///
    /// # Errors
    ///
    /// What is wrong with the sample.
    fn take(&mut self, at: &At<'_, '_>, counted: &Counted<'_>) -> Result<(Self::Taken, Wanted), FileError>;

    /// Takes a sample of the selected times, CPUs and events, but not of the selected threads, files and functions.
    fn filtered(&mut self, _counted: &Counted<'_>) {}

    /// Takes a record that is not a sample, after the session did.
    fn other(&mut self, _record: &EventRecord<'r>, _session: &Session, _filter: &Filter<'_>) {}

    /// Takes over what is new in a part. Returns the number of the part.
    fn take_over(&mut self, new: NewStacks, session: &Session) -> u32;

    /// Counts a sample, after what is new in its part was taken over.
    fn count(&mut self, taken: Self::Taken, part: u32, found: Found);
}

/// What is wanted of a sample.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    /// Its own address.
    pub(crate) frame: bool,
    pub(crate) stack: Stack,
    /// The text of the raw data with this format.
    pub(crate) trace: Option<usize>,
}

/// Which stack a sample has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stack {
    /// It is not wanted.
    #[default]
    None,
    /// One without frames.
    Empty,
    /// The sample's own address.
    Own,
    /// What was recorded.
    Recorded,
}

/// What was found of a sample. `None` of what was not wanted.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) frame: Option<PartFrame>,
    pub(crate) stack: Option<PartStack>,
    pub(crate) text: Option<Vec<u8>>,
}

/// The most threads that work on blocks: as many as one thread can cut and count for.
pub(super) const THREADS: NonZero<usize> = NonZero::new(8).unwrap();

/// The number of bytes of a block: some hundred copies of stacks, which take longer than to wake a thread.
const BYTES: usize = 1 << 20;

/// Records, and what was known before the first of them. The buffers are reused for each block.
pub(super) struct Block<'r, T> {
    number: u64,
    /// `None` after the work.
    session: Option<Session>,
    entries: Vec<Entry<'r>>,
    items: Vec<Item<T>>,
    room: BatchRoom,
    noted: Account,
    /// What was found of each item.
    found: Vec<Found>,
    new: Option<NewStacks>,
}

/// A sample, or a record that changes what is known.
struct Entry<'r> {
    record: EventRecord<'r>,
    /// The user part of its call chain that came later.
    user: Option<Box<[u64]>>,
    /// What is counted of it: its place in the items. Empty for other records, and for samples that are not selected.
    items: Range<usize>,
}

struct Item<T> {
    taken: T,
    wanted: Wanted,
    /// Whether its stack is unwound from a copy.
    is_unwound: bool,
}

impl<T> Default for Block<'_, T> {
    fn default() -> Self {
        Self {
            number: 0,
            session: None,
            entries: Vec::new(),
            items: Vec::new(),
            room: BatchRoom::default(),
            noted: Account::default(),
            found: Vec::new(),
            new: None,
        }
    }
}

impl<'r, T> Block<'r, T> {
    fn begin(&mut self, number: u64, session: Session) {
        self.number = number;
        self.entries.clear();
        self.items.clear();
        self.found.clear();
        // As many as there are entries in the session, which each block copies.
        self.room = BatchRoom::for_at_least(session.entries()).for_bytes(BYTES);
        self.session = Some(session);
    }

    fn add(&mut self, record: &EventRecord<'r>, is_stream: bool) {
        self.room.add(record, may_keep(record, is_stream, true));
        let items = self.items.len()..self.items.len();
        self.entries.push(Entry { record: record.clone(), user: None, items });
    }

    /// Adds what is counted of the sample that was added last.
    fn add_item(&mut self, item: Item<T>, user: Option<&[u64]>) {
        self.items.push(item);
        if let Some(entry) = self.entries.last_mut() {
            entry.items.end = self.items.len();
            entry.user = user.map(Box::from);
        }
    }
}

/// What one thread does: the walk, and counting.
pub(super) struct Walking<'w, 'a, C> {
    walk: Walk<'a>,
    collect: &'w mut C,
    blocks: u64,
    is_stream: bool,
    total: Account,
    diagnostics: Diagnostics,
}

impl<'w, 'a, C: Collect<'a>> Walking<'w, 'a, C> {
    pub(super) fn new(walk: Walk<'a>, is_stream: bool, collect: &'w mut C) -> Self {
        let (total, diagnostics) = (Account::default(), Diagnostics::new());
        Self { walk, collect, blocks: 0, is_stream, total, diagnostics }
    }

    /// Fills a block with the next records. Returns whether there may be more.
    pub(super) fn fill(&mut self, block: &mut Block<'a, C::Taken>) -> bool {
        let Self { walk, collect, blocks, is_stream, .. } = self;
        block.begin(*blocks, walk.session().clone());
        *blocks += 1;
        let mut may_be_more = true;
        while may_be_more && block.room.is_left() {
            let mut filler = Filler { collect: &mut **collect, block, is_stream: *is_stream };
            let step = walk.step_of_block(&mut filler);
            may_be_more = step.may_be_more;
            if step.has_fault {
                block.room.add_error();
            }
        }
        block.noted = take_account(walk.account_mut());
        block.session = block.session.take().map(|session| session.with_dsos_of(walk.session()));
        may_be_more
    }

    /// Counts the samples of a block that was worked on.
    pub(super) fn count(&mut self, block: &mut Block<'a, C::Taken>) {
        let Self { walk, collect, total, diagnostics, .. } = self;
        if let Some(new) = block.new.take() {
            let part = collect.take_over(new, walk.session());
            for (item, found) in block.items.drain(..).zip(block.found.drain(..)) {
                collect.count(item.taken, part, found);
            }
        }
        // The records keep memory that the walk needs.
        block.entries.clear();
        total.add(&block.noted);
        diagnostics.report_new(total);
    }

    /// Ends the walk.
    ///
    /// # Errors
    ///
    /// What ended it before.
    pub(super) fn end(self) -> Result<Walked<'a>, Failure> {
        let Self { walk, mut total, diagnostics, .. } = self;
        let mut walk = walk.ended()?;
        total.add(walk.account());
        *walk.account_mut() = total;
        Ok(walk.end(diagnostics))
    }
}

/// Fills a block.
struct Filler<'f, 'a, C: Collect<'a>> {
    collect: &'f mut C,
    block: &'f mut Block<'a, C::Taken>,
    is_stream: bool,
}

impl<'a, C: Collect<'a>> Visit<'a> for Filler<'_, 'a, C> {
    fn before(&mut self, _at: &At<'_, '_>, record: &EventRecord<'a>) {
        self.block.add(record, self.is_stream);
    }

    fn sample(
        &mut self,
        at: &At<'_, '_>,
        counted: &Counted<'_>,
        _names: &mut Symbols,
        _records: &EventRecords<'_>,
    ) -> Visited {
        let (taken, wanted) = match self.collect.take(at, counted) {
            Ok(taken) => taken,
            Err(error) => return Ok(Err(error)),
        };
        let is_unwound = wanted.stack == Stack::Recorded && has_copies(counted.event);
        self.block.add_item(Item { taken, wanted, is_unwound }, counted.user);
        Ok(Ok(()))
    }

    fn filtered(&mut self, _at: &At<'_, '_>, counted: &Counted<'_>, _names: &mut Symbols) -> Visited {
        self.collect.filtered(counted);
        Ok(Ok(()))
    }

    fn other(
        &mut self,
        record: &EventRecord<'a>,
        session: &Session,
        filter: &Filter<'_>,
        _records: &EventRecords<'_>,
    ) -> Visited {
        self.collect.other(record, session, filter);
        // The session knows no other record of the perf tool.
        if !record.kind().is_user() || record.kind() == RecordType::HEADER_BUILD_ID {
            self.block.add(record, self.is_stream);
        }
        Ok(Ok(()))
    }
}

/// Returns whether a sample has a stack that was recorded, and not only its own address.
///
/// # Errors
///
/// What is wrong with the sample. If nothing is, its stack can be decoded.
pub(crate) fn has_stack(at: &At<'_, '_>, counted: &Counted<'_>) -> Result<bool, FileError> {
    if !perf_profile::has_stacks(counted.event) {
        return Ok(false);
    }
    at.sample().tail().map_err(|error| at.record().error(error))?;
    at.stack(counted.user)?;
    Ok(true)
}
