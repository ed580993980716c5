//! The selection of samples by the command line.

use perf_parse::file::Reader;
use perf_profile::off_cpu::WaitKind;
use perf_profile::{Profile, ProfileError, Samples, Selection};

use crate::args::only::OnlyArgs;
use crate::args::profile::ProfileArgs;
use crate::input::Memory;
use crate::outcome::Failure;

/// Returns the selection of the command line.
///
/// # Errors
///
/// If the value of an option cannot be parsed.
pub(crate) fn selection(only: &OnlyArgs) -> Result<Selection, Failure> {
    let OnlyArgs { comms, pid, tid, cpu, time, event, dsos, functions, no_idle } = only;
    let bytes = |names: &[String]| names.iter().map(|name| name.clone().into_bytes()).collect();
    Ok(Selection {
        comms: bytes(comms),
        pids: pid.clone(),
        tids: tid.clone(),
        cpus: cpu.as_deref().map(str::parse).transpose().map_err(failure)?.unwrap_or_default(),
        time: time.as_deref().map(str::parse).transpose().map_err(failure)?.unwrap_or_default(),
        event: event.clone(),
        dsos: bytes(dsos),
        symbols: bytes(functions),
        no_idle: *no_idle,
    })
}

/// Returns the samples that the command line selects, resolved in a capture.
///
/// # Errors
///
/// What is wrong with the selection.
pub(crate) fn samples<'a>(
    reader: &'a Reader<'_>,
    memory: Memory<'_>,
    only: &OnlyArgs,
) -> Result<Samples<'a>, Failure> {
    Ok(with_index(resolved(reader, only)?, reader, memory))
}

/// Returns an error if a capture does not have what the selection needs.
///
/// # Errors
///
/// What is wrong with the selection.
pub(crate) fn check(reader: &Reader<'_>, only: &OnlyArgs) -> Result<(), Failure> {
    resolved(reader, only).map(drop)
}

fn resolved<'a>(reader: &'a Reader<'_>, only: &OnlyArgs) -> Result<Samples<'a>, Failure> {
    Samples::of(reader).select(selection(only)?).resolved().map_err(failure)
}

/// Returns the samples that the command line selects, which the walk resolves. All are read if `needs_all` is set.
///
/// # Errors
///
/// If the value of an option cannot be parsed.
pub(crate) fn unresolved<'a>(
    reader: &'a Reader<'_>,
    memory: Memory<'_>,
    only: &OnlyArgs,
    needs_all: bool,
) -> Result<Samples<'a>, Failure> {
    let samples = Samples::of(reader).select(selection(only)?);
    let samples = if needs_all { samples.read_all() } else { samples };
    Ok(with_index(samples, reader, memory))
}

/// Adds the index beside a capture, if the walk may use it.
fn with_index<'a>(samples: Samples<'a>, reader: &Reader<'_>, memory: Memory<'_>) -> Samples<'a> {
    let index = if samples.may_use_index() { crate::index::of(reader, memory) } else { None };
    samples.with_index(index)
}

/// Returns the failure for an error, with the options of the command line: each part of a selection has the name of its option.
#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
pub(crate) fn failure(error: ProfileError) -> Failure {
    Failure(match error {
        ProfileError::CpuNotRecorded { cpus, event } => {
            let what = format!("the samples of {event} do not have the CPU; leave --cpu out, or record it");
            format!("--cpu {cpus}: {what}")
        }
        ProfileError::Selection { .. }
        | ProfileError::OffCpuNotRecorded
        | ProfileError::WakersNotRecorded => format!("--{error}"),
        error => error.to_string(),
    })
}

/// Returns the name of the event that is shown first with `--off-cpu` or `--lock-waits`: the one that `--event` names, or `off-cpu`,
/// or the first kind of wait for locks that the profiles have. `None` without these options.
pub(crate) fn first_event(args: &ProfileArgs, profiles: &[Profile]) -> Option<&'static str> {
    let selected = args.only.event.as_deref();
    if args.off_cpu {
        return Some(WaitKind::shown_first(selected).event_name());
    }
    let is_of_any = |name: &&&str| {
        let mut events = profiles.iter().flat_map(|profile| profile.events());
        events.any(|it| *perf_profile::event_name(&it.event) == *name.as_bytes())
    };
    let names = &perf_profile::lock::WAIT_EVENTS;
    let [first, _] = names;
    let shown = names.iter().find(|name| selected == Some(**name)).or_else(|| names.iter().find(is_of_any));
    args.lock_waits.then(|| *shown.unwrap_or(first))
}
