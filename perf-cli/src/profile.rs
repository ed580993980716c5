//! The samples of captures with names, for the verbs that write them in other formats.

use core::num::NonZero;
use std::path::PathBuf;

use perf_parse::file::Reader;
use perf_profile::edit::ItraceOptions;
use perf_profile::{Profile, ProfileOptions, SampleDetail};

use crate::args::itrace::ItraceArgs;
use crate::args::only::OnlyArgs;
use crate::args::profile::{NamingArgs, ProfileArgs};
use crate::args::symbols::SymbolArgs;
use crate::escape::shown;
use crate::input::Memory;
use crate::observer::StderrObserver;
use crate::outcome::{Failure, Outcome};
use crate::output::{InputFile, say};
use crate::{itrace, names, selection};

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
pub(crate) struct ProfileRequest<'a> {
    pub(crate) paths: &'a [PathBuf],
    pub(crate) only: &'a OnlyArgs,
    pub(crate) symbols: &'a SymbolArgs,
    pub(crate) naming: &'a NamingArgs,
    /// Whether the times that threads were off the CPU are counted, as another event.
    pub(crate) off_cpu: bool,
    /// Whether waits for locks are counted, as other events.
    pub(crate) lock_waits: bool,
    /// How many wakers of a thread follow its stack in that event.
    pub(crate) wakers: usize,
    /// Whether the texts of tracepoints and the switches of threads are kept.
    pub(crate) marks: bool,
    /// Which samples are made of AUX data.
    pub(crate) itrace: ItraceArgs,
}

impl<'a> From<&'a ProfileArgs> for ProfileRequest<'a> {
    fn from(args: &'a ProfileArgs) -> Self {
        let ProfileArgs { files, itrace, naming, only, symbols, off_cpu, lock_waits, wakers, .. } = args;
        let wakers = wakers.map_or(0, NonZero::get);
        Self {
            paths: &files.0,
            only,
            symbols,
            naming,
            off_cpu: *off_cpu,
            lock_waits: *lock_waits,
            wakers,
            marks: false,
            itrace: *itrace,
        }
    }
}

/// Reads captures, one after the other.
///
/// # Errors
///
/// Those of the first capture that cannot be read.
pub(crate) fn read(request: &ProfileRequest<'_>, detail: SampleDetail) -> Result<Profiles, Failure> {
    read_and(request, detail, &mut |_, _| Ok(()))
}

/// Does the same, and something else with each capture.
///
/// # Errors
///
/// Those of the first capture that cannot be read, and of `also`.
pub(crate) fn read_and(
    request: &ProfileRequest<'_>,
    detail: SampleDetail,
    also: &mut dyn FnMut(&Reader<'_>, Memory<'_>) -> Result<(), Failure>,
) -> Result<Profiles, Failure> {
    let mut all = Profiles { profiles: Vec::new(), inputs: Vec::new(), outcome: Outcome::Clean };
    let detail = SampleDetail { max_stack: request.naming.max_stack, ..detail };
    for path in request.paths {
        let work = |reader: Reader<'_>, memory: Memory<'_>| {
            all.inputs.extend_from_slice(memory.inputs);
            let (profile, outcome) = profile(&reader, memory, request, detail)?;
            let beyond: u64 = profile.events().iter().map(|event| event.beyond.samples).sum();
            if beyond > 0 {
                say!(
                    "perfdata: {}: samples left out, because they are beyond the limits: {beyond}",
                    shown(path)
                );
            }
            all.profiles.push(profile);
            also(&reader, memory)?;
            Ok(outcome)
        };
        let work = itrace::decoded(request.itrace, ItraceOptions::default(), work);
        let outcome = crate::input::read(path, work)?;
        if outcome != Outcome::Clean {
            all.outcome = outcome;
        }
    }
    Ok(all)
}

/// Reads a capture.
///
/// # Errors
///
/// What is wrong with the request.
pub(crate) fn profile(
    reader: &Reader<'_>,
    memory: Memory<'_>,
    request: &ProfileRequest<'_>,
    detail: SampleDetail,
) -> Result<(Profile, Outcome), Failure> {
    let naming = request.symbols.naming(request.naming.threads);
    let mut options = ProfileOptions::default();
    (options.detail, options.inlines) = (detail, naming.inlines);
    (options.off_cpu, options.wakers, options.marks) = (request.off_cpu, request.wakers, request.marks);
    options.lock_waits = request.lock_waits;
    let needs_all = options.off_cpu || options.lock_waits || options.wakers > 0;
    let samples = selection::unresolved(reader, memory, request.only, needs_all)?;
    let samples = samples.threads(naming.threads.get());
    let symbols = names::symbols(request.symbols, reader.features(), memory)?;
    let mut observer = StderrObserver::new(memory, false);
    let profile = samples.profile_with(&symbols, &options, &mut observer).map_err(selection::failure)?;
    let outcome = observer.finish(profile.account(), profile.omitted(), "taken");
    Ok((profile, outcome))
}
