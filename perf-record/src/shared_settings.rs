//! The settings that all events of a recording share.

use perf_abi::sample_type::SampleType;
use perf_open::Builder;

use crate::aux_area::{AuxPlan, SwitchTracking};
use crate::call_graph::copies_stacks;
use crate::fallback::EventChoices;
use crate::{Error, RecordOptions, Targets, online, terms};

/// The settings that all events of a recording share.
#[derive(Clone, Debug)]
pub(crate) struct SharedSettings<'a> {
    pub(crate) options: &'a RecordOptions,
    /// The field that contains the id of the event of each record; none if there is only one event. `ID` if the samples of
    /// all events have the same fields, otherwise `IDENTIFIER`, which is at one place in all of them.
    pub(crate) id: SampleType,
    /// Whether the targets are cpus rather than tasks.
    pub(crate) of_cpus: bool,
    /// Whether each cpu has a ring, rather than each thread.
    pub(crate) per_cpu: bool,
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
    /// The hardware trace; `None` if no event writes one.
    pub(crate) aux: Option<&'a AuxPlan>,
}

/// Returns how the events of a recording are sampled.
pub(crate) fn of<'a>(
    choices: &'a EventChoices,
    targets: &Targets,
    options: &'a RecordOptions,
) -> Result<SharedSettings<'a>, Error> {
    let events = || choices.groups.iter().flat_map(|group| &group.events);
    let overwrite = events().any(|event| terms::overwrites(event, options));
    let is_command = *targets == Targets::Command;
    let of_cpus = matches!(targets, Targets::Cpus(_));
    // On a part of the cpus, the tasks that started on the others have no names and mappings without it.
    let is_part = match &options.cpus {
        Some(cpus) => online()?.iter().any(|cpu| !cpus.contains(cpu)),
        None => false,
    };
    let inherits = |event| terms::inherits(event, options);
    // Tasks that the first event does not follow may be recorded by another.
    let follows_less = events().any(inherits) && !events().take(1).all(inherits);
    // On cpus it starts before the records of tasks are synthesized, so that none that starts then is missed.
    let is_traced = choices.aux.is_some();
    let needs_tracker =
        overwrite || options.delayed || options.pausable || of_cpus || is_part || follows_less || is_traced;
    let tracker = options.tracking && needs_tracker;
    let mut settings = SharedSettings {
        options,
        id: SampleType::NONE,
        of_cpus,
        per_cpu: !terms::has_rings_of_threads(&choices.groups, targets, options),
        on_exec: is_command,
        inherits: events().any(inherits),
        overwrite,
        tracker,
        copies_stacks: events().any(|event| copies_stacks(options, event)),
        inherit_read: choices.inherit_read,
        aux: choices.aux.as_ref(),
    };
    if options.identifier || is_traced {
        settings.id = SampleType::IDENTIFIER;
    } else if tracker || events().count() > 1 {
        settings.id = settings.id_of_several(choices)?;
    }
    Ok(settings)
}

/// An event that the recording needs in addition to those that were asked for. It takes no samples.
#[derive(Clone, Debug)]
pub(crate) struct OwnEvent {
    pub(crate) name: &'static str,
    pub(crate) builder: Builder,
    /// Whether it is opened on each cpu for all tasks, even if threads are recorded.
    pub(crate) of_all_tasks: bool,
}

impl SharedSettings<'_> {
    /// Returns the events that the recording needs in addition. They precede the others. The one that records mappings,
    /// names and tasks is first.
    pub(crate) fn own_events(&self) -> Vec<OwnEvent> {
        let mut own = Vec::new();
        if self.tracker {
            let name = if self.aux.is_some() { "dummy:u" } else { "dummy" };
            own.push(OwnEvent { name, builder: self.tracker(), of_all_tasks: false });
        }
        let Some(aux) = self.aux else { return own };
        let mut add = |builder| own.push(OwnEvent { name: "dummy:u", builder, of_all_tasks: true });
        // perf: `evlist__add_dummy_on_all_cpus` in `intel_pt_recording_options` and `record__config_text_poke`.
        if aux.switches == SwitchTracking::AllTasks {
            let builder = self.of_all_tasks();
            let sample_type = builder.attr().sample_type | SampleType::CPU;
            add(builder.sample_type(sample_type).context_switch(true));
        }
        if aux.text_poke {
            add(self.of_all_tasks().text_poke(true).ksymbol(true));
        }
        own
    }

    /// Returns the field that contains the id of the event, for several events.
    ///
    /// perf: `evlist__config`, `tools/perf/util/record.c`.
    fn id_of_several(&self, choices: &EventChoices) -> Result<SampleType, Error> {
        let mut types = Vec::new();
        if self.tracker {
            types.push(self.tracker().attr().sample_type);
        }
        for group in &choices.groups {
            for place in 0..group.events.len() {
                types.push(self.builder(group, place, false)?.attr().sample_type);
            }
        }
        let is_same = types.windows(2).all(|pair| pair[0] == pair[1]);
        Ok(if is_same { SampleType::ID } else { SampleType::IDENTIFIER })
    }
}
