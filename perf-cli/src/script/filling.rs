//! The work of a script that a single thread does: the walk over the capture, and what depends on all records before.

use perf_abi::feature::Feature;
use perf_abi::record::RecordType;
use perf_parse::event::Event;
use perf_parse::file::EventRecords;
use perf_parse::record::UserRecord;
use perf_parse::{EventRecord, FileError, Record};
use perf_profile::work::batch::{may_keep, take_account};
use perf_profile::{Symbols, has_copies};
use perf_session::{At, Session};

use super::block::{Block, Item};
use super::counters::Counters;
use super::fields::Fields;
use super::line::{Clock, time_of};
use super::{Events, Known, Options, data_src, events, header, trace_error};
use crate::Failure;
use crate::args::script::SampleFormat;
use crate::samples::{Counted, Filter, Visit, Visited, Walk};

/// Cuts a capture into blocks.
#[derive(Debug)]
pub(super) struct Filling<'a> {
    walk: Walk<'a>,
    so_far: SoFar<'a>,
}

/// What all records up to the last one are printed with.
#[derive(Debug)]
struct SoFar<'a> {
    options: Options<'a>,
    events: Events<'a>,
    counters: Counters,
    clock: Clock,
    /// The width of the longest data source.
    data_src_width: usize,
    is_json: bool,
    is_stream: bool,
}

impl<'a> Filling<'a> {
    pub(super) fn new(walk: Walk<'a>, options: Options<'a>, events: Events<'a>, is_stream: bool) -> Self {
        let so_far = SoFar {
            options,
            events,
            counters: Counters::new(),
            clock: Clock::default(),
            data_src_width: 0,
            is_json: options.args.format == SampleFormat::Jsonl,
            is_stream,
        };
        Self { walk, so_far }
    }

    /// Fills a block with the next records. Returns whether there may be more.
    pub(super) fn fill(&mut self, block: &mut Block<'a>) -> bool {
        let Self { walk, so_far } = self;
        block.begin(walk.session().clone());
        let mut may_be_more = true;
        while may_be_more && block.has_room() {
            let step = walk.step_of_block(&mut Filler { so_far, block });
            may_be_more = step.may_be_more;
            if step.has_fault {
                block.add_error();
            }
        }
        block.end(take_account(walk.account_mut()));
        may_be_more
    }

    /// Returns the walk after its end.
    ///
    /// # Errors
    ///
    /// What ended the walk before its end.
    pub(super) fn end(self) -> Result<Walk<'a>, Failure> {
        self.walk.ended()
    }
}

/// Fills a block.
struct Filler<'f, 'a> {
    so_far: &'f mut SoFar<'a>,
    block: &'f mut Block<'a>,
}

impl<'a> Visit<'a> for Filler<'_, 'a> {
    fn before(&mut self, _at: &At<'_, '_>, record: &EventRecord<'a>) {
        self.block.add_sample(record.clone(), may_keep(record, self.so_far.is_stream, true));
    }

    fn sample(
        &mut self,
        at: &At<'_, '_>,
        counted: &Counted<'_>,
        names: &mut Symbols,
        records: &EventRecords<'_>,
    ) -> Visited {
        let Self { so_far, block } = self;
        let item = so_far.item(at, counted, records);
        if so_far.is_unwound(counted.event, &item.known) && !block.is_unwound() {
            // What cannot be decoded is an error when it is printed.
            if let Ok((frames, end)) = names.stack(at, counted.user) {
                block.set_unwound(&frames, end);
                names.done(frames);
            }
        }
        block.add_item(item, counted.user, records.account().faults());
        Ok(Ok(()))
    }

    fn other(
        &mut self,
        record: &EventRecord<'a>,
        _session: &Session,
        filter: &Filter<'_>,
        records: &EventRecords<'_>,
    ) -> Visited {
        let Self { so_far, block } = self;
        let may_keep = may_keep(record, so_far.is_stream, true);
        let is_user = record.kind().is_user();
        // The session knows no other record of the perf tool.
        if !is_user || record.kind() == RecordType::HEADER_BUILD_ID {
            block.add_other(record.clone(), may_keep);
        }
        if is_user {
            return Ok(so_far.apply_user_record(record, records, block));
        }
        if !so_far.is_json && events::is_shown(record.kind(), &so_far.options.args.show) {
            return Ok(so_far.show_other(record, filter, records, block));
        }
        Ok(Ok(()))
    }
}

impl SoFar<'_> {
    /// Returns what a sample is printed with.
    fn item(&mut self, at: &At<'_, '_>, counted: &Counted<'_>, records: &EventRecords<'_>) -> Item {
        let known = self.events.known(counted.event, records);
        let sample = at.sample();
        let guest = self.events.guest_of(sample.identifier().or(sample.id()));
        if !self.is_json
            && known.fields.has(Fields::DATA_SRC)
            && let Ok(tail) = sample.tail()
        {
            self.data_src_width = self.data_src_width.max(data_src::width(tail.data_src));
        }
        let time = self.shown_time(time_of(&sample), &known);
        Item { known, period: counted.period, time, guest, data_src_width: self.data_src_width }
    }

    /// Returns the time that is printed for a record.
    fn shown_time(&mut self, time: u64, known: &Known) -> u64 {
        if known.fields.has(Fields::TIME) { self.clock.shown(time, &self.options) } else { time }
    }

    /// Returns whether the stacks of an event are unwound here: what is found in one stack of a thread completes others of
    /// the thread, so that they are unwound one after the other.
    fn is_unwound(&self, event: &Event, known: &Known) -> bool {
        let shows_stack =
            self.is_json || known.has_callchain && self.options.shows_chains && known.fields.has(Fields::IP);
        shows_stack && has_copies(event)
    }

    /// Has the record that was added last printed.
    fn show_other(
        &mut self,
        record: &EventRecord<'_>,
        filter: &Filter<'_>,
        records: &EventRecords<'_>,
        block: &mut Block<'_>,
    ) -> Result<(), FileError> {
        let decoded = record.decode()?;
        let id = record.sample_id().ok().flatten();
        if !filter.wants_cpu(id.map_or(Some(0), |id| id.cpu())) {
            return Ok(());
        }
        let known = record.event().map(|event| self.events.known(event, records));
        let time = events::time(record, &decoded);
        let time = known.as_ref().map_or(time, |known| self.shown_time(time, known));
        block.show_other(known, time);
        Ok(())
    }

    /// Applies a record of the perf tool itself, and prints it if perf prints it.
    fn apply_user_record(
        &mut self,
        record: &EventRecord<'_>,
        records: &EventRecords<'_>,
        block: &mut Block<'_>,
    ) -> Result<(), FileError> {
        match record.kind() {
            RecordType::ID_INDEX
            | RecordType::THREAD_MAP
            | RecordType::CPU_MAP
            | RecordType::STAT_CONFIG
            | RecordType::STAT
            | RecordType::STAT_ROUND
            | RecordType::AUXTRACE_ERROR
            | RecordType::HEADER_FEATURE => {}
            _ => return Ok(()),
        }
        let Record::User(decoded, _) = record.decode()? else { return Ok(()) };
        match decoded {
            UserRecord::IdIndex(index) => self.events.add_guests(&index),
            _ if self.is_json => {}
            UserRecord::AuxtraceError(error) => block.add_text(|out| trace_error::push(out, &error)),
            UserRecord::HeaderFeature(it) if self.options.args.header => {
                let section = u32::try_from(it.feat_id).ok().and_then(|id| records.feature(Feature(id)));
                if let Some(section) = section {
                    block.add_text(|out| header::push_feature(out, &section, records.events()));
                }
            }
            decoded => block.add_text(|out| self.counters.apply(&decoded, records.events(), out)),
        }
        Ok(())
    }
}
