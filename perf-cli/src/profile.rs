//! The samples of captures with names, for the verbs that write them in other formats.

use perf_abi::record::{Misc, RecordType};
use perf_abi::sample_type::SampleType;
use perf_export::{Keep, Limits, Naming, Profile, ProfileBuilder};
use perf_parse::EventRecord;
use perf_parse::event::Event;
use perf_parse::feature::ClockData;
use perf_parse::file::{EventRecords, Reader};
use perf_session::{At, Frame, Session};
use perf_symbol::StackFrame;
use perf_symbol::unwind::FrameSource;

use crate::args::profile::ProfileArgs;
use crate::escape::shown;
use crate::input::Memory;
use crate::names::Names;
use crate::output::{InputFile, say};
use crate::progress::NamingProgress;
use crate::samples::{Counted, Filter, Samples, Visit, Visited};
use crate::script::trace::Traces;
use crate::{Failure, Outcome};

/// What the captures of a command line have.
#[derive(Debug)]
pub(crate) struct Profiles {
    pub(crate) profiles: Vec<Profile>,
    /// Where each of them was recorded.
    pub(crate) machines: Vec<Machine>,
    /// The files that were read, which no output may be.
    pub(crate) inputs: Vec<InputFile>,
    pub(crate) outcome: Outcome,
}

/// What a capture has recorded of its machine; empty and `None` if it has not.
#[derive(Debug, Default)]
pub(crate) struct Machine {
    pub(crate) hostname: Vec<u8>,
    pub(crate) os_release: Vec<u8>,
    pub(crate) processor: Vec<u8>,
    pub(crate) cpus: Option<u32>,
    pub(crate) clock: Option<ClockData>,
}

impl Machine {
    fn of(reader: &Reader<'_>) -> Self {
        let features = reader.features();
        let text = |value: Option<Result<&[u8], _>>| value.and_then(Result::ok).unwrap_or_default().to_vec();
        Self {
            hostname: text(features.hostname()),
            os_release: text(features.os_release()),
            processor: text(features.cpu_desc()),
            cpus: features.nr_cpus().and_then(Result::ok).map(|cpus| cpus.online),
            clock: features.clock_data().and_then(Result::ok),
        }
    }
}

/// Reads all captures of a command line, one after the other.
///
/// # Errors
///
/// Those of the first capture that cannot be read.
pub(crate) fn read(args: &ProfileArgs, keep: Keep) -> Result<Profiles, Failure> {
    read_with(args, keep, false)
}

/// Like [`read`]; with the texts of tracepoints and the switches of threads, if `marks`.
pub(crate) fn read_with(args: &ProfileArgs, keep: Keep, marks: bool) -> Result<Profiles, Failure> {
    let mut all =
        Profiles { profiles: Vec::new(), machines: Vec::new(), inputs: Vec::new(), outcome: Outcome::Clean };
    let keep = Keep { max_stack: args.max_stack, ..keep };
    for path in &args.files.0 {
        let outcome = crate::input::read(path, |reader, memory| {
            all.inputs.extend_from_slice(memory.inputs);
            let (profile, outcome) = profile(&reader, memory, args, keep, marks)?;
            let beyond: u64 = profile.events().iter().map(|event| event.beyond.samples).sum();
            if beyond > 0 {
                say!(
                    "perfdata: {}: samples left out, because they are beyond the limits: {beyond}",
                    shown(path)
                );
            }
            all.profiles.push(profile);
            all.machines.push(Machine::of(&reader));
            Ok(outcome)
        })?;
        if outcome != Outcome::Clean {
            all.outcome = outcome;
        }
    }
    Ok(all)
}

fn profile(
    reader: &Reader<'_>,
    memory: Memory<'_>,
    args: &ProfileArgs,
    keep: Keep,
    marks: bool,
) -> Result<(Profile, Outcome), Failure> {
    let samples = Samples::new(reader, memory, &args.only)?;
    let names = Names::new(&args.symbols, reader.features());
    let traces = marks.then(|| Traces::new(reader));
    let mut building = Building { builder: ProfileBuilder::new(keep, Limits::default()), traces };
    let Some(walked) = samples.walk(names, &mut building)? else {
        return Err(Failure("the walk ended early".into()));
    };
    let mut naming = Naming { inlines: !args.symbols.no_inline, ..Naming::default() };
    if let Some(threads) = args.threads {
        naming.threads = threads;
    }
    let mut progress = NamingProgress::new();
    let profile =
        building.builder.finish(&walked.session, walked.names.symbolizer(), naming, &mut |done, all| {
            progress.at(done, all)
        });
    drop(progress);
    Ok((profile, walked.finish("taken")))
}

/// Returns whether the samples of an event have stacks.
pub(crate) fn has_stacks(event: &Event) -> bool {
    let of_copy = SampleType::REGS_USER | SampleType::STACK_USER;
    let kind = event.attr.sample_type;
    kind.contains(SampleType::CALLCHAIN) || kind.contains(of_copy)
}

/// Takes the samples of a walk.
#[derive(Debug)]
struct Building<'a> {
    builder: ProfileBuilder,
    /// The texts of tracepoints, if marks are wanted.
    traces: Option<Traces<'a>>,
}

impl Building<'_> {
    /// Keeps the text of a tracepoint.
    fn describe(&mut self, at: &At<'_, '_>, event: &Event) {
        let Some(traces) = &mut self.traces else { return };
        // A fault of the sample is one of its stack too, and noted there.
        let raw = at.sample().tail().ok().and_then(|tail| tail.raw);
        if let Some((index, raw)) = traces.of(event).zip(raw) {
            let mut text = Vec::new();
            traces.push(&mut text, index, raw);
            self.builder.describe(text);
        }
    }
}

impl Visit for Building<'_> {
    const PRINTS: bool = false;

    fn other(
        &mut self,
        record: &EventRecord<'_>,
        session: &Session,
        filter: &Filter<'_>,
        _records: &EventRecords<'_>,
    ) -> Visited {
        let is_switch = matches!(record.kind(), RecordType::SWITCH | RecordType::SWITCH_CPU_WIDE);
        if self.traces.is_none() || !is_switch {
            return Ok(Ok(()));
        }
        let Some(id) = record.sample_id().ok().flatten() else { return Ok(Ok(())) };
        if let Some((thread, time)) = id.tid().and_then(|tid| session.thread(tid)).zip(id.time())
            && filter.wants_cpu(id.cpu())
        {
            let has = |flag: Misc| record.misc().contains(flag);
            self.builder.switch(thread, time, has(Misc::SWITCH_OUT), has(Misc::SWITCH_OUT_PREEMPT));
        }
        Ok(Ok(()))
    }

    fn sample(
        &mut self,
        at: &At<'_, '_>,
        counted: &Counted<'_>,
        names: &mut Names,
        _records: &EventRecords<'_>,
    ) -> Visited {
        let Counted { event, period, user } = *counted;
        if !has_stacks(event) {
            let ip = at.sample().ip().unwrap_or(0);
            let frame = Frame { ip, mode: at.mode(), mapping: at.find(at.mode(), ip) };
            let alone = StackFrame { frame, is_caller: false, source: FrameSource::Chain };
            let (finder, symbolizer) = names.parts();
            self.builder.sample(at, event, period, &[alone], None, finder, symbolizer);
            self.describe(at, event);
            return Ok(Ok(()));
        }
        let (stack, end) = match names.stack(at, user) {
            Ok(stack) => stack,
            Err(error) => return Ok(Err(error)),
        };
        let (finder, symbolizer) = names.parts();
        self.builder.sample(at, event, period, &stack, end, finder, symbolizer);
        names.done(stack);
        self.describe(at, event);
        Ok(Ok(()))
    }
}
