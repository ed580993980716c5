//! The samples of captures with names, for the verbs that write them in other formats.

use perf_abi::sample_type::SampleType;
use perf_export::{Keep, Limits, Naming, Profile, ProfileBuilder};
use perf_parse::event::Event;
use perf_parse::feature::ClockData;
use perf_parse::file::{EventRecords, Reader};
use perf_session::{At, Frame};
use perf_symbol::StackFrame;
use perf_symbol::unwind::FrameSource;

use crate::args::profile::ProfileArgs;
use crate::escape::shown;
use crate::input::Memory;
use crate::names::Names;
use crate::output::{InputFile, say};
use crate::progress::NamingProgress;
use crate::samples::{Counted, Samples, Visit, Visited};
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
    let mut all =
        Profiles { profiles: Vec::new(), machines: Vec::new(), inputs: Vec::new(), outcome: Outcome::Clean };
    let keep = Keep { max_stack: args.max_stack, ..keep };
    for path in &args.files.0 {
        let outcome = crate::input::read(path, |reader, memory| {
            all.inputs.extend_from_slice(memory.inputs);
            let (profile, outcome) = profile(&reader, memory, args, keep)?;
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
) -> Result<(Profile, Outcome), Failure> {
    let samples = Samples::new(reader, memory, &args.only)?;
    let names = Names::new(&args.symbols, reader.features());
    let mut building = Building { builder: ProfileBuilder::new(keep, Limits::default()) };
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
struct Building {
    builder: ProfileBuilder,
}

impl Visit for Building {
    const PRINTS: bool = false;

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
            return Ok(Ok(()));
        }
        let (stack, end) = match names.stack(at, user) {
            Ok(stack) => stack,
            Err(error) => return Ok(Err(error)),
        };
        let (finder, symbolizer) = names.parts();
        self.builder.sample(at, event, period, &stack, end, finder, symbolizer);
        names.done(stack);
        Ok(Ok(()))
    }
}
