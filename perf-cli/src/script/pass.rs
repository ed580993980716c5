//! The pass that prints samples: on the thread of the walk, what depends on all records before.

use perf_abi::feature::Feature;
use perf_abi::record::RecordType;
use perf_parse::event::Event;
use perf_parse::record::UserRecord;
use perf_parse::{EventRecord, FileError, Record};
use perf_profile::samples::pass::{CountedSample, RecordNotes, SamplePass, WalkContext};
use perf_profile::{ProfileError, has_copies};
use perf_session::{SampleContext, Session};

use super::clock::{Clock, time_of};
use super::counters::Counters;
use super::fields::Fields;

use super::note::{SampleNote, ScriptNote};
use super::printer::Printer;
use super::{Options, ScriptEvent, ScriptEvents, events, trace_error};
use crate::args::script::SampleFormat;
use crate::outcome::Failure;
use crate::output::Output;
use crate::perf_text::{data_src, header};
use crate::selection;

/// The state of all records up to the last one, and the output.
#[derive(Debug)]
pub(super) struct ScriptPass<'a, 'o> {
    options: Options<'a>,
    events: ScriptEvents<'a>,
    counters: Counters,
    clock: Clock,
    /// The width of the longest data source.
    data_src_width: usize,
    is_json: bool,
    output: &'o mut Output,
}

/// The end of a script before that of the capture.
#[derive(Debug)]
pub(super) enum ScriptEnd {
    /// The reader of the output has closed it.
    Closed,
    Failed(Failure),
}

impl From<ProfileError> for ScriptEnd {
    fn from(error: ProfileError) -> Self {
        Self::Failed(selection::failure(error))
    }
}

impl<'a, 'o> ScriptPass<'a, 'o> {
    pub(super) fn new(options: Options<'a>, events: ScriptEvents<'a>, output: &'o mut Output) -> Self {
        Self {
            options,
            events,
            counters: Counters::new(),
            clock: Clock::default(),
            data_src_width: 0,
            is_json: options.args.format == SampleFormat::Jsonl,
            output,
        }
    }
}

impl<'a> SamplePass<'a> for ScriptPass<'a, '_> {
    type Note = ScriptNote;
    type Worker = Printer<'a>;
    type Error = ScriptEnd;

    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        context: &WalkContext<'_>,
        notes: &mut RecordNotes<'_, ScriptNote>,
    ) -> Result<(), FileError> {
        let note = self.note(at, counted, context);
        if self.is_unwound(counted.event, &note.known) {
            notes.unwind();
        }
        notes.push(ScriptNote::Sample(note));
        Ok(())
    }

    fn other(
        &mut self,
        record: &EventRecord<'a>,
        _session: &Session,
        context: &WalkContext<'_>,
        notes: &mut RecordNotes<'_, ScriptNote>,
    ) -> Result<(), FileError> {
        if record.kind().is_user() {
            return self.apply_user_record(record, context, notes);
        }
        if !self.is_json && events::is_shown(record.kind(), &self.options.args.show) {
            return self.show_other(record, context, notes);
        }
        Ok(())
    }

    fn deliver(&mut self, text: Vec<u8>, _session: &Session) -> Result<(), ScriptEnd> {
        match self.output.write(&text) {
            Ok(true) => Ok(()),
            Ok(false) => Err(ScriptEnd::Closed),
            Err(failure) => Err(ScriptEnd::Failed(failure)),
        }
    }
}

impl ScriptPass<'_, '_> {
    /// Returns what a sample is printed with.
    fn note(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        context: &WalkContext<'_>,
    ) -> SampleNote {
        let known = self.events.known(counted.event, context);
        let sample = at.sample();
        let guest = self.events.guest_of(sample.identifier().or(sample.id()));
        if !self.is_json
            && known.fields.has(Fields::DATA_SRC)
            && let Ok(tail) = sample.tail()
        {
            self.data_src_width = self.data_src_width.max(data_src::width(tail.data_src));
        }
        let time = self.shown_time(time_of(&sample), &known);
        SampleNote { known, period: counted.period, time, guest, data_src_width: self.data_src_width }
    }

    /// Returns the time that is printed for a record.
    fn shown_time(&mut self, time: u64, known: &ScriptEvent) -> u64 {
        if known.fields.has(Fields::TIME) { self.clock.shown(time, &self.options) } else { time }
    }

    /// Returns whether the stacks of an event are unwound.
    fn is_unwound(&self, event: &Event, known: &ScriptEvent) -> bool {
        let shows_stack =
            self.is_json || known.has_callchain && self.options.shows_chains && known.fields.has(Fields::IP);
        shows_stack && has_copies(event)
    }

    /// Has a record printed.
    fn show_other(
        &mut self,
        record: &EventRecord<'_>,
        context: &WalkContext<'_>,
        notes: &mut RecordNotes<'_, ScriptNote>,
    ) -> Result<(), FileError> {
        let decoded = record.decode()?;
        let id = record.sample_id().ok().flatten();
        if !context.wants_cpu(id.map_or(Some(0), |id| id.cpu())) {
            return Ok(());
        }
        let known = record.event().map(|event| self.events.known(event, context));
        let time = events::time(record, &decoded);
        let time = known.as_ref().map_or(time, |known| self.shown_time(time, known));
        notes.push(ScriptNote::Other { known, time });
        Ok(())
    }

    /// Applies a record of the perf tool itself, and prints it if perf prints it.
    fn apply_user_record(
        &mut self,
        record: &EventRecord<'_>,
        context: &WalkContext<'_>,
        notes: &mut RecordNotes<'_, ScriptNote>,
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
        let mut text = Vec::new();
        match decoded {
            UserRecord::IdIndex(index) => self.events.add_guests(&index),
            _ if self.is_json => {}
            UserRecord::AuxtraceError(error) => trace_error::push(&mut text, &error),
            UserRecord::HeaderFeature(it) if self.options.args.header => {
                let section = u32::try_from(it.feat_id).ok().and_then(|id| context.feature(Feature(id)));
                if let Some(section) = section {
                    header::push_feature(&mut text, &section, context.events());
                }
            }
            decoded => self.counters.apply(&decoded, context.events(), &mut text),
        }
        if !text.is_empty() {
            notes.add_bytes(text.len());
            notes.push(ScriptNote::Text(text));
        }
        Ok(())
    }
}
