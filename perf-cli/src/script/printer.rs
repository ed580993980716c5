//! The state with which a thread prints.

use perf_parse::file::{Account, Reader};
use perf_parse::{EventRecord, FileError};
use perf_profile::Symbols;
use perf_profile::samples::pass::{PassWorker, SampleStack};
use perf_session::{SampleContext, Session};

use super::field_decoders::FieldDecoders;
use super::json::Lines;
use super::line::{self, Start};
use super::note::ScriptNote;
use super::{Options, ScriptEvent, events};
use crate::args::script::SampleFormat;

/// Prints samples and other records. A copy is for another thread: it has its own names, and counts on its own.
#[derive(Clone, Debug)]
pub(super) struct Printer<'a> {
    options: Options<'a>,
    decoders: FieldDecoders<'a>,
    lines: Option<Lines<'a>>,
    names: Symbols,
    out: Vec<u8>,
}

/// The number of bytes of output at a time. One record may exceed it.
///
/// Most batches print less. The thread that writes the output works on the rest of a larger one, piece by piece.
const OUT: usize = 2 << 20;

impl<'a> Printer<'a> {
    pub(super) fn new(
        reader: &'a Reader<'_>,
        options: Options<'a>,
        decoders: FieldDecoders<'a>,
        names: Symbols,
    ) -> Self {
        let is_json = options.args.format == SampleFormat::Jsonl;
        let lines = is_json.then(|| Lines::new(reader, options.max_stack));
        Self { options, decoders, lines, names, out: Vec::new() }
    }

    /// Returns the number of samples whose print format could not be evaluated.
    pub(super) fn as_fields(&self) -> u64 {
        self.decoders.traces.as_fields
    }

    /// Appends a record that is not a sample, and that can be decoded. `known` is its event, if it has one, and `time` the
    /// time that is printed.
    ///
    /// perf: `print_event_with_time`.
    fn push_other(
        &mut self,
        record: &EventRecord<'_>,
        session: &Session,
        known: Option<&ScriptEvent>,
        time: u64,
    ) {
        let out = &mut self.out;
        let Ok(decoded) = record.decode() else { return };
        let id = record.sample_id().ok().flatten();
        let of_trailer = id.map(|id| (id.pid().unwrap_or(-1), id.tid().unwrap_or(-1)));
        let of_record = events::ids(&decoded);
        let (pid, tid) = of_trailer.or(of_record).unwrap_or((-1, -1));
        // A thread that no record named before has its number as its name.
        let tid_of_comm = of_record.unwrap_or((pid, tid)).1;
        let number = format!(":{tid_of_comm}");
        let comm = session.thread(tid_of_comm).map_or(number.as_bytes(), |thread| thread.comm());
        if let Some(known) = known {
            let (kind, misc) = (record.kind(), record.misc());
            let cpu = id.map_or(Some(0), |id| id.cpu());
            let of_clock = events::time(record, &decoded);
            let start = Start { kind, misc, comm, pid, tid, cpu, time: of_clock, shown: time, guest: None };
            line::push_start(out, &start, known, &self.options);
        }
        events::push(out, &decoded, record.misc());
    }

    /// Appends the last line, if samples are printed as JSON lines.
    pub(super) fn push_account(&self, account: &Account, out: &mut Vec<u8>) {
        if let Some(lines) = &self.lines {
            lines.push_account(out, account, &self.names);
        }
    }
}

impl PassWorker for Printer<'_> {
    type Note = ScriptNote;
    type Output = Vec<u8>;

    fn symbols(&mut self) -> Option<&mut Symbols> {
        Some(&mut self.names)
    }

    /// Appends a sample. What could be printed of one with a fault stays.
    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        stack: &SampleStack<'_>,
        note: &mut ScriptNote,
    ) -> Result<(), FileError> {
        let ScriptNote::Sample(note) = note else { return Ok(()) };
        let Self { options, decoders, lines, names, out } = self;
        match lines {
            Some(lines) => lines.push_sample(out, at, note, stack, decoders, names),
            None if note.known.fields.is_empty() => Ok(()),
            None => line::push_sample(out, at, note, stack, options, decoders, names),
        }
    }

    fn other(&mut self, record: &EventRecord<'_>, session: &Session, note: &mut ScriptNote) {
        match note {
            ScriptNote::Other { known, time } => self.push_other(record, session, known.as_deref(), *time),
            ScriptNote::Text(text) => self.out.extend_from_slice(text),
            ScriptNote::Sample(_) => {}
        }
    }

    fn is_full(&self) -> bool {
        self.out.len() >= OUT
    }

    fn take_output(&mut self) -> Vec<u8> {
        let next = Vec::with_capacity(self.out.len());
        core::mem::replace(&mut self.out, next)
    }

    fn merge(&mut self, other: Self) {
        self.decoders.traces.as_fields += other.decoders.traces.as_fields;
        if let Some((lines, other)) = self.lines.as_mut().zip(other.lines.as_ref()) {
            lines.merge(other);
        }
    }
}
