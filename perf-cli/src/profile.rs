//! The samples of captures with names, for the verbs that write them in other formats.

use std::path::PathBuf;

use perf_abi::sample_type::SampleType;
use perf_export::{Keep, Limits, Naming, Profile, ProfileBuilder};
use perf_parse::event::Event;
use perf_parse::file::{EventRecords, Reader};
use perf_session::{At, Frame};
use perf_symbol::StackFrame;
use perf_symbol::unwind::FrameSource;

use crate::args::only::OnlyArgs;
use crate::args::profile::{NamingArgs, ProfileArgs};
use crate::args::symbols::SymbolArgs;
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
    /// The files that were read, which no output may be.
    pub(crate) inputs: Vec<InputFile>,
    pub(crate) outcome: Outcome,
}

/// Which samples of which captures, and how they get names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) paths: &'a [PathBuf],
    pub(crate) only: &'a OnlyArgs,
    pub(crate) symbols: &'a SymbolArgs,
    pub(crate) naming: &'a NamingArgs,
}

impl<'a> From<&'a ProfileArgs> for Request<'a> {
    fn from(args: &'a ProfileArgs) -> Self {
        let ProfileArgs { files, naming, only, symbols, .. } = args;
        Self { paths: &files.0, only, symbols, naming }
    }
}

/// Reads captures, one after the other.
///
/// # Errors
///
/// Those of the first capture that cannot be read.
pub(crate) fn read(request: &Request<'_>, keep: Keep) -> Result<Profiles, Failure> {
    let mut all = Profiles { profiles: Vec::new(), inputs: Vec::new(), outcome: Outcome::Clean };
    let keep = Keep { max_stack: request.naming.max_stack, ..keep };
    for path in request.paths {
        let outcome = crate::input::read(path, |reader, memory| {
            all.inputs.extend_from_slice(memory.inputs);
            let (profile, outcome) = profile(&reader, memory, request, keep)?;
            let beyond: u64 = profile.events().iter().map(|event| event.beyond.samples).sum();
            if beyond > 0 {
                say!(
                    "perfdata: {}: samples left out, because they are beyond the limits: {beyond}",
                    shown(path)
                );
            }
            all.profiles.push(profile);
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
    request: &Request<'_>,
    keep: Keep,
) -> Result<(Profile, Outcome), Failure> {
    let samples = Samples::new(reader, memory, request.only)?;
    let names = Names::new(request.symbols, reader.features());
    let mut building = Building { builder: ProfileBuilder::new(keep, Limits::default()) };
    let Some(walked) = samples.walk(names, &mut building)? else {
        return Err(Failure("the walk ended early".into()));
    };
    let mut naming = Naming { inlines: !request.symbols.no_inline, ..Naming::default() };
    if let Some(threads) = request.naming.threads {
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
