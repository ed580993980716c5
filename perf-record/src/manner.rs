//! What all events of a recording have in common.

use perf_abi::sample_type::SampleType;

use crate::call_graph::copies_stacks;
use crate::fallback::Choices;
use crate::{Error, Observed, Options, online, terms};

/// The settings that all events of a recording share.
#[derive(Clone, Debug)]
pub(crate) struct Manner<'a> {
    pub(crate) options: &'a Options,
    /// The field that contains the id of the event of each record; none if there is only one event. `ID` if the samples of
    /// all events have the same fields, otherwise `IDENTIFIER`, which is at one place in all of them.
    pub(crate) id: SampleType,
    /// Whether the targets are cpus rather than tasks.
    pub(crate) of_cpus: bool,
    /// Whether the exec of the command starts the event.
    pub(crate) on_exec: bool,
    /// Whether any event is inherited.
    pub(crate) inherits: bool,
    /// Whether new records overwrite old ones.
    pub(crate) overwrite: bool,
    /// Whether an event that takes no samples records mappings, names and tasks, in place of the first event. Then samples
    /// need the id of their event, 8 bytes, where perf has one event alone; in exchange, rings that overwrite do not
    /// overwrite the mappings of their samples.
    pub(crate) tracker: bool,
    /// Whether any event copies stacks, so that unwinders need the mappings of data.
    pub(crate) copies_stacks: bool,
    /// Whether a group that is read with its leader may be inherited, which Linux 6.12 began to allow.
    pub(crate) inherit_read: bool,
}

/// Returns how the events of a recording are sampled.
pub(crate) fn of<'a>(
    choices: &Choices,
    observed: &Observed,
    options: &'a Options,
) -> Result<Manner<'a>, Error> {
    let events = || choices.groups.iter().flat_map(|group| &group.events);
    let overwrite = events().any(|event| terms::overwrites(event, options));
    let is_command = *observed == Observed::Command;
    let of_cpus = matches!(observed, Observed::Cpus(_));
    // On a part of the cpus, the tasks that started on the others have no names and mappings without it.
    let is_part = match &options.cpus {
        Some(cpus) => online()?.iter().any(|cpu| !cpus.contains(cpu)),
        None => false,
    };
    let inherits = |event| terms::inherits(event, options);
    // Tasks that the first event does not follow may be recorded by another.
    let follows_less = events().any(inherits) && !events().take(1).all(inherits);
    // On cpus it starts before the records of tasks are synthesized, so that none that starts then is missed.
    let needs_tracker =
        overwrite || options.delayed || options.pausable || of_cpus || is_part || follows_less;
    let tracker = options.tracking && needs_tracker;
    let mut manner = Manner {
        options,
        id: SampleType::NONE,
        of_cpus,
        on_exec: is_command,
        inherits: events().any(inherits),
        overwrite,
        tracker,
        copies_stacks: events().any(|event| copies_stacks(options, event)),
        inherit_read: choices.inherit_read,
    };
    if options.identifier {
        manner.id = SampleType::IDENTIFIER;
    } else if tracker || events().count() > 1 {
        manner.id = manner.id_of_several(choices)?;
    }
    Ok(manner)
}

impl Manner<'_> {
    /// Returns the field that contains the id of the event, for several events.
    ///
    /// perf: `evlist__config`, `tools/perf/util/record.c`.
    fn id_of_several(&self, choices: &Choices) -> Result<SampleType, Error> {
        let mut types = Vec::new();
        if self.tracker {
            types.push(self.tracker().attr().sample_type);
        }
        for group in &choices.groups {
            for (place, event) in group.events.iter().enumerate() {
                types.push(self.builder(group, place, event, false)?.attr().sample_type);
            }
        }
        let is_same = types.windows(2).all(|pair| pair[0] == pair[1]);
        Ok(if is_same { SampleType::ID } else { SampleType::IDENTIFIER })
    }
}
