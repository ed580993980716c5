//! The options of a recording, from the command line.

use alloc::sync::Arc;
use std::fs::File;
use std::os::unix::ffi::OsStringExt;

use perf_open::abi::branch::BranchSampleType;
use perf_open::abi::event::HwId;
use perf_open::abi::sample_type::SampleType;
use perf_open::event::parse;
use perf_open::{EventGroup, EventSpec, limits};
use perf_record::{CallGraphMode, CgroupDirectory, RecordOptions, Targets, ThreadMask, has_aux_events};

use super::{lock, off_cpu, sched, threads, tracer};
use crate::args::live::record::{Delay, EventOption, Freq, RecordArgs, RegisterOption, register_names};
use crate::live::{cgroup_failure, observed};
use crate::outcome::Failure;
use crate::output::{Output, say};

/// Filters, each with the index of its event.
pub(super) type Filters = Vec<(usize, String)>;

/// Returns the events of the command line, and their filters, each with the index of its event; cycles if it has none.
pub(super) fn events(args: &RecordArgs) -> Result<(Vec<EventGroup>, Filters), Failure> {
    let mut groups: Vec<EventGroup> = Vec::new();
    let mut filters = Vec::new();
    // The last event may be a pattern, which selects several.
    let mut last = 0..0;
    for asked in &args.events.asked {
        let filter = match asked {
            EventOption::Events(list) => {
                let before = count(&groups);
                groups.extend(parsed(list)?);
                last = before.max(count(&groups) - of_last_term(list))..count(&groups);
                continue;
            }
            EventOption::Filter(filter) => filter.clone(),
            EventOption::ExcludePerf => format!("common_pid != {}", std::process::id()),
        };
        if last.is_empty() {
            return Err(Failure(
                "--filter and --exclude-perf follow the --event that they are for".to_owned(),
            ));
        }
        filters.extend(last.clone().map(|event| (event, filter.clone())));
    }
    groups.extend(sched::events(args)?.into_iter().map(EventGroup::from));
    groups.extend(lock::events(args)?.into_iter().map(EventGroup::from));
    if groups.is_empty() {
        let mut cycles = EventSpec::hardware(HwId::CPU_CYCLES).with_name("cycles");
        // As precise as the PMU can be, as perf's `cycles:P`.
        cycles.precise_max = true;
        groups.push(cycles.into());
    }
    groups.extend(off_cpu::events(args).into_iter().map(EventGroup::from));
    if args.samples.group {
        let events: Vec<_> = groups.into_iter().flat_map(|group| group.events).collect();
        groups = vec![events.into()];
    }
    Ok((groups, filters))
}

fn count(groups: &[EventGroup]) -> usize {
    groups.iter().map(|group| group.events.len()).sum()
}

/// Parses a list of events.
pub(super) fn parsed(list: &str) -> Result<Vec<EventGroup>, Failure> {
    let groups = parse(list).map_err(|error| tracer::explained(list, &format!("{error:#}")))?;
    match groups.iter().flat_map(|group| &group.events).find(|event| event.bpf_counter) {
        Some(event) => {
            Err(Failure(format!("{}: the modifier b is for counting, not for samples", event.name)))
        }
        None => Ok(groups),
    }
}

/// Returns how many events the last term of a list selects: several, if it is a pattern.
fn of_last_term(list: &str) -> usize {
    let term = list.rsplit_once(',').map_or(list, |(_, term)| term);
    // The term of a group, or of a PMU, may not be parsable alone; it is one event.
    parse(term).map_or(1, |groups| count(&groups))
}

/// Returns the fields that the command line adds to each sample.
fn sample_type(args: &RecordArgs) -> SampleType {
    // perf: `arch_evsel__set_sample_weight`.
    let weight = if cfg!(target_arch = "x86_64") { SampleType::WEIGHT_STRUCT } else { SampleType::WEIGHT };
    let samples = &args.samples;
    [
        (args.sample_cpu, SampleType::CPU),
        (samples.weight, weight),
        (samples.phys_data, SampleType::PHYS_ADDR),
        (samples.data_page_size, SampleType::DATA_PAGE_SIZE),
        (samples.sample_mem_info, SampleType::DATA_SRC),
        (samples.code_page_size, SampleType::CODE_PAGE_SIZE),
        (samples.transaction, SampleType::TRANSACTION),
        // perf: `evsel__config`.
        (samples.raw_samples, SampleType::RAW | SampleType::TIME | SampleType::CPU),
    ]
    .into_iter()
    .filter(|(is_wanted, _)| *is_wanted)
    .fold(SampleType::NONE, |all, (_, field)| all | field)
}

/// Returns the sampling frequency: `max`, and one that is too high, become the highest that the kernel allows.
///
/// perf: `record_opts__config_freq`, `tools/perf/util/record.c`.
fn freq(args: &RecordArgs) -> Result<Option<u64>, Failure> {
    let hz = match args.freq {
        None => return Ok(None),
        Some(Freq::Max) => return Ok(Some(u64::from(limits::max_sample_rate()?))),
        Some(Freq::Hz(hz)) => hz,
    };
    // If the limit is not known, the kernel decides.
    let most = limits::max_sample_rate().map_or(hz, u64::from);
    if hz <= most {
        return Ok(Some(hz));
    }
    let limit = "/proc/sys/kernel/perf_event_max_sample_rate";
    if args.strict_freq {
        return Err(Failure(format!("--freq {hz}: is more than the {most} Hz of {limit}")));
    }
    if !args.quiet {
        say!("perfdata: the frequency {hz} Hz is lowered to {most} Hz, the limit in {limit}");
    }
    Ok(Some(most))
}

/// Returns the open directories of the cgroups, each with the index of its event.
fn in_cgroups(
    args: &RecordArgs,
    groups: &[EventGroup],
    observed: &Targets,
) -> Result<Vec<(usize, Arc<File>)>, Failure> {
    if !args.cgroup.is_empty() && !matches!(observed, Targets::Cpus(_)) {
        return Err(Failure("--cgroup: the tasks of cgroups are recorded on cpus; add -a or -C".to_owned()));
    }
    let groups = groups.iter().map(|group| group.events.len());
    CgroupDirectory::open_for_events(&args.cgroup, groups).map_err(cgroup_failure)
}

/// Prints the names of the registers, if the command line asks for them. Returns whether it does.
pub(super) fn prints_registers(args: &RecordArgs) -> Result<bool, Failure> {
    let asked = [args.samples.intr_regs, args.samples.user_regs];
    if !asked.contains(&Some(RegisterOption::Names)) {
        return Ok(false);
    }
    let names: Vec<_> = register_names().map(|(_, name)| name).collect();
    let mut output = Output::new();
    output.write(format!("available registers: {}\n", names.join(" ")).as_bytes())?;
    Ok(true)
}

/// `CLOCK_MONOTONIC`.
const MONOTONIC: i32 = 1;

/// Returns the clock of the times; `None` for the kernel's own. Without a choice, it is the one that jitdumps have, and whose relation to
/// the wall clock is recorded. The times of hardware traces are converted to the kernel's own clock alone.
fn clock(args: &RecordArgs, groups: &[EventGroup]) -> Option<i32> {
    let area = &args.aux_area;
    let asks_for_area = area.snapshot.is_some()
        || area.aux_sample.is_some()
        || args.mmap_pages.is_some_and(|pages| pages.aux.is_some());
    let is_default = !args.no_clockid && !asks_for_area && !has_aux_events(groups);
    args.clockid.or(is_default.then_some(MONOTONIC))
}

/// Returns the options of the command line.
pub(super) fn of(
    args: &RecordArgs,
    groups: &[EventGroup],
    filters: Filters,
    observed: &Targets,
    masks: Option<&[ThreadMask]>,
) -> Result<RecordOptions, Failure> {
    let samples = &args.samples;
    let sample_type = sample_type(args);
    let is_part = args.observed.cpu.is_some() && matches!(observed, Targets::Threads(_));
    let mask = |registers| match registers {
        Some(RegisterOption::Mask(mask)) => mask,
        _ => 0,
    };
    Ok(RecordOptions {
        freq: freq(args)?,
        filters,
        count: args.count,
        call_graph: args.call_graph.or(args.frame_pointers.then_some(CallGraphMode::Fp)),
        data: args.data,
        data_mmap: samples.data_mmap,
        sample_type,
        switch_events: args.switch_events
            || args.off_cpu
            // The tracepoint of a thread has the switches away from it, and not those to it.
            || args.sched && !matches!(observed, Targets::Cpus(_)),
        namespaces: args.namespaces,
        clockid: clock(args, groups),
        branches: samples.branch_filter.or(samples.branch_any.then_some(BranchSampleType::ANY)),
        regs_intr: mask(samples.intr_regs),
        regs_user: mask(samples.user_regs),
        period: samples.period,
        identifier: samples.sample_identifier,
        inherit_stat: samples.stat,
        no_samples: samples.no_samples,
        running_time: samples.running_time,
        no_buffering: samples.no_buffering,
        all_user: samples.all_user,
        all_kernel: samples.all_kernel,
        kernel_callchains: samples.kernel_callchains,
        user_callchains: samples.user_callchains,
        cgroups: samples.all_cgroups,
        buildid_mmap: samples.buildid_mmap,
        bpf_events: !samples.no_bpf_event,
        text_poke: args.kcore,
        per_thread: args.per_thread,
        in_cgroups: in_cgroups(args, groups, observed)?,
        cpus: match masks {
            Some(masks) => Some(threads::cpus(masks)),
            None if is_part => Some(observed::cpus(&args.observed)?),
            None => None,
        },
        delayed: args.when.delay.is_some(),
        pausable: args.when.control.is_some() || matches!(args.when.delay, Some(Delay::Between(_))),
        inherit: !args.no_inherit,
        mmap_pages: args.mmap_pages.and_then(|pages| pages.ring),
        aux_pages: args.mmap_pages.and_then(|pages| pages.aux),
        aux_snapshot: args.aux_area.snapshot.map(|snapshot| snapshot.bytes),
        aux_sample: args.aux_area.aux_sample,
        mmap_flush: args.mmap_flush.unwrap_or(1),
        overwrite: args.overwrite,
        synthesize: args.synth.unwrap_or_default(),
        tail_synthesize: args.tail_synthesize,
        build_ids: !args.no_buildid,
        command_line: std::env::args_os().map(OsStringExt::into_vec).collect(),
        version: concat!("perfdata ", env!("CARGO_PKG_VERSION")).to_owned(),
        ..RecordOptions::default()
    })
}
