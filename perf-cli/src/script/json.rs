//! Samples as JSON lines.

use alloc::sync::Arc;

use perf_abi::data_src::DataSrc;
use perf_abi::endian::{BigEndian, Endianness, LittleEndian};
use perf_annotate::InstructionReader;
use perf_aux::pt::RawEvent;
use perf_parse::FileError;
use perf_parse::file::{Account, Reader};
use perf_parse::sample::Tail;
use perf_profile::samples::pass::SampleStack;
use perf_profile::symbols::recorded_frame;
use perf_profile::text::mode_name;
use perf_profile::{Quality, Symbols, event_name};
use perf_session::{DsoKind, Frame, SampleContext, Session};
use perf_symbol::{Function, Guess, StackFrame};
use serde_json::json;

use super::field_decoders::FieldDecoders;
use super::fields::Fields;
use super::note::SampleNote;
use super::{instruction, instruction_text};
use crate::dump::tracepoints::Formats;
use crate::quality;
use crate::render::json::Json;
use crate::render::name::name;
use crate::render::{Scalars, Sink, account, given, weight};

/// Prints samples as JSON lines, and counts them. A copy shares the formats, and counts on its own.
#[derive(Clone, Debug)]
pub(super) struct Lines<'a> {
    /// The formats of the tracepoints' raw data.
    formats: Arc<Formats<'a>>,
    max_stack: usize,
    quality: Quality,
}

impl<'a> Lines<'a> {
    pub(super) fn new(reader: &'a Reader<'_>, max_stack: usize) -> Self {
        Self { formats: Arc::new(Formats::new(reader)), max_stack, quality: Quality::default() }
    }

    /// Adds what another thread counted.
    pub(super) fn merge(&mut self, other: &Self) {
        self.quality.add(&other.quality);
    }

    /// Appends a sample as an object on a line of its own.
    ///
    /// # Errors
    ///
    /// Those of the call chain and of the fields after the leading ones; nothing is appended then.
    pub(super) fn push_sample(
        &mut self,
        out: &mut Vec<u8>,
        at: &SampleContext<'_, '_>,
        note: &SampleNote,
        of_sample: &SampleStack<'_>,
        decoders: &mut FieldDecoders<'_>,
        names: &mut Symbols,
    ) -> Result<(), FileError> {
        let (sample, record) = (at.sample(), at.record());
        let tail = sample.tail().map_err(|error| record.error(error))?;
        let (mut stack, mut end) = of_sample.find(at, names)?;
        // A chain without frames would lose where the sample is.
        if stack.is_empty() && sample.ip().is_some() {
            stack.push(recorded_frame(names.own_frame(at)));
            end = None;
        }
        let has_chain = tail.callchain.is_some();
        let last = stack.last().filter(|_| has_chain);
        let end = end.or_else(|| last.map(|last| names.end_of(at, last)));
        given(end, |end| self.quality.count_stack(end));
        stack.truncate(self.max_stack);
        let event = &note.known.event;
        Json::object(out, |json| {
            let place = record.position();
            json.number(name!("offset"), place.offset);
            given(place.decompressed, |offset| json.number(name!("inner"), offset));
            json.number(name!("event"), event.index as u64);
            json.string(name!("event_name"), &event_name(event));
            given(sample.pid(), |pid| json.task(name!("pid"), pid.into()));
            given(sample.tid(), |tid| json.task(name!("tid"), tid.into()));
            json.string(name!("comm"), at.thread().comm());
            given(sample.cpu(), |cpu| json.number(name!("cpu"), cpu.into()));
            given(sample.time(), |time| json.time(name!("time"), time));
            json.number(name!("period"), note.period);
            given(sample.addr(), |addr| json.hex(name!("addr"), addr));
            push_access(json, at, &tail);
            given(tail.raw.zip(self.formats.of(event)), |(raw, index)| {
                given(self.formats.get(index), |tracepoint| match tracepoint.endianness {
                    Endianness::Little => json.described::<LittleEndian>(name!("trace"), tracepoint, raw),
                    Endianness::Big => json.described::<BigEndian>(name!("trace"), tracepoint, raw),
                });
            });
            given(note.known.synth.zip(tail.raw).and_then(|(id, raw)| RawEvent::parse(id, raw)), |event| {
                json.string(name!("synth"), event.to_string().as_bytes());
            });
            given(tail.branch_stack, |stack| json.branch_stack(&stack));
            given(decoders.instructions.as_mut(), |reader| {
                push_instruction(json, at, note.known.fields, names, reader);
            });
            let functions = stack.iter().flat_map(|it| self.functions_of(at, it, names));
            json.objects(name!("stack"), functions, |json, it| push_frame(json, at.session(), &it));
            given(end, |end| json.string(name!("stack_end"), end.name().as_bytes()));
        });
        names.done(stack);
        out.push(b'\n');
        Ok(())
    }

    /// Returns a frame once for each function at its address.
    fn functions_of<'s>(
        &mut self,
        at: &SampleContext<'s, '_>,
        it: &StackFrame<'s>,
        names: &mut Symbols,
    ) -> Vec<FrameFunction<'s>> {
        let frame = it.frame;
        let functions = names.functions(at, &frame, it.is_caller);
        let file = frame.mapping.map(|it| (it.dso(), at.session().build_id(it.dso())));
        self.quality.count_frame(file, functions, it.guess());
        if functions.is_empty() {
            return vec![FrameFunction { frame, guess: it.guess(), function: None }];
        }
        let of = |function: &Function| FrameFunction {
            frame,
            guess: it.guess().or(function.guess),
            function: Some(function.clone()),
        };
        functions.iter().map(of).collect()
    }

    /// Appends the last line.
    pub(super) fn push_account(&self, out: &mut Vec<u8>, account: &Account, names: &Symbols) {
        let mut line = json!({"account": account::value(account)});
        for (name, value) in quality::members(&self.quality, &names.lookups()) {
            line[name] = value;
        }
        crate::escape::push_json_value(out, &line);
        out.push(b'\n');
    }
}

/// A function at the address of a frame.
struct FrameFunction<'s> {
    frame: Frame<'s>,
    /// Why the frame or its name is a guess.
    guess: Option<Guess>,
    function: Option<Function>,
}

fn push_frame(json: &mut Json<'_>, session: &Session, it: &FrameFunction<'_>) {
    json.hex(name!("ip"), it.frame.ip);
    json.string(name!("mode"), mode_name(it.frame.mode).as_bytes());
    if it.guess.is_some() {
        json.serialized(name!("guessed"), &true.into());
    }
    let Some(mapping) = it.frame.mapping else { return };
    let dso = mapping.dso();
    json.string(name!("dso"), dso.name());
    given(session.build_id(dso), |id| json.blob(name!("build_id"), id.as_bytes()));
    if matches!(dso.kind(), DsoKind::File | DsoKind::Vdso | DsoKind::Module) {
        json.hex(name!("file_offset"), mapping.offset_of(it.frame.ip));
    }
    let Some(function) = &it.function else { return };
    given(function.name.as_deref(), |name| json.string(name!("sym"), name));
    given(function.offset, |offset| json.number(name!("sym_offset"), offset));
    json.serialized(name!("inlined"), &function.is_inlined.into());
    given(function.file.as_deref(), |file| json.string(name!("file"), file));
    given(function.line, |line| json.number(name!("line"), line.into()));
    given(function.source, |source| json.string(name!("source"), source.name().as_bytes()));
}

/// Appends the instruction at the address of a sample, as far as the fields have it and its code is found.
fn push_instruction(
    json: &mut Json<'_>,
    at: &SampleContext<'_, '_>,
    fields: Fields,
    names: &mut Symbols,
    reader: &mut InstructionReader,
) {
    if !fields.has(Fields::INSTRUCTION) {
        return;
    }
    let found = instruction::own(at, names, reader);
    let Some(found) = found.filter(|it| !it.bytes().is_empty()) else { return };
    if fields.has(Fields::INSN) {
        json.blob(name!("insn"), found.bytes());
    }
    if fields.has(Fields::INSNLEN) {
        json.number(name!("insnlen"), found.bytes().len() as u64);
    }
    if fields.has(Fields::DISASM) {
        let mut text = Vec::new();
        instruction_text::push_text(&mut text, at, &found, names);
        json.string(name!("disasm"), &text);
    }
}

fn push_access(json: &mut Json<'_>, at: &SampleContext<'_, '_>, tail: &Tail<'_>) {
    given(tail.phys_addr, |addr| json.hex(name!("phys_addr"), addr));
    given(weight(tail), |weight| json.number(name!("weight"), weight));
    given(tail.data_src, |DataSrc(source)| json.hex(name!("data_src"), source));
    given(at.cgroup(), |path| json.string(name!("cgroup"), path));
}
