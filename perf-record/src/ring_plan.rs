//! The rings of a recording, and the targets that write to each.

use perf_open::Target;

use crate::shared_settings::SharedSettings;
use crate::{Error, RecordOptions, Targets, online};

/// A ring to map: the targets that write to it.
pub(crate) struct RingPlan {
    pub(crate) targets: Vec<Target<'static>>,
    /// The cpu of the targets; `None` for any.
    pub(crate) cpu: Option<u32>,
    /// Whether only the event that takes no samples is opened there.
    pub(crate) only_tracker: bool,
}

/// Returns the targets of each ring. There is one ring for each cpu, because inherited events must be bound to a cpu;
/// without inheritance, one ring for each thread, unless the recording is limited to some cpus.
pub(crate) fn of(
    targets: &Targets,
    command: Option<u32>,
    options: &RecordOptions,
    settings: &SharedSettings<'_>,
) -> Result<Vec<RingPlan>, Error> {
    if let Targets::Cpus(cpus) = targets {
        // The event that takes no samples is opened on every cpu.
        let all = if settings.tracker { online()? } else { cpus.clone() };
        let ring = |cpu| RingPlan {
            targets: vec![Target::cpu(cpu)],
            cpu: Some(cpu),
            only_tracker: !cpus.contains(&cpu),
        };
        return Ok(all.into_iter().map(ring).collect());
    }
    let threads = targets.threads(command);
    if !settings.per_cpu {
        let ring = |tid| RingPlan { targets: vec![Target::pid(tid)], cpu: None, only_tracker: false };
        return Ok(threads.into_iter().map(ring).collect());
    }
    // What a task maps on another cpu must be recorded too.
    let all = match (&options.cpus, settings.tracker) {
        (Some(cpus), false) => cpus.clone(),
        (_, true) | (None, _) => online()?,
    };
    let on = |cpu| RingPlan {
        targets: threads.iter().map(|&tid| Target::pid_on(tid, cpu)).collect(),
        cpu: Some(cpu),
        only_tracker: options.cpus.as_ref().is_some_and(|cpus| !cpus.contains(&cpu)),
    };
    Ok(all.into_iter().map(on).collect())
}
