//! The plan of a command line: the events, their targets, and the options.

use core::num::NonZeroU64;
use core::time::Duration;

use perf_open::event::EventParser;
use perf_record::Targets;
use perf_record::stat::{Aggregation, CpuDomain, StatCgroups, StatError, StatGroup, StatOptions, StatPlan};

use crate::args::live::StatArgs;
use crate::live::{cgroup_failure, observed};
use crate::outcome::Failure;

/// Returns the plan of a command line.
pub(super) fn plan(args: &StatArgs) -> Result<StatPlan, Failure> {
    let observed = targets(args)?;
    let groups = if args.null { Vec::new() } else { groups(args)? };
    StatPlan::new(groups, observed, options(args)?).map_err(failure)
}

/// Returns the targets of the command line.
fn targets(args: &StatArgs) -> Result<Targets, Failure> {
    if let Some(verb) = args.command.first().and_then(|word| word.to_str())
        && matches!(verb, "record" | "report")
    {
        return Err(Failure(format!(
            "stat {verb}: options follow {verb}. To count a program of this name give its path: ./{verb}"
        )));
    }
    if args.per_thread && args.observed.all_cpus {
        return Ok(Targets::all_threads()?);
    }
    let observed = observed::of(&args.observed, !args.command.is_empty())?;
    let cgroups = if args.cgroup.is_empty() { "--for-each-cgroup" } else { "--cgroup" };
    let has_cgroup = !args.cgroup.is_empty() || !args.for_each_cgroup.is_empty();
    match &observed {
        Targets::Cpus(_) | Targets::Command if args.per_thread => {
            Err(Failure("--per-thread needs -p, -t or -a".to_owned()))
        }
        Targets::Command | Targets::Threads(_) if args.no_aggr => {
            Err(Failure("--no-aggr needs -a or -C".to_owned()))
        }
        Targets::Command | Targets::Threads(_) if has_cgroup => {
            Err(Failure(format!("{cgroups} needs -a or -C")))
        }
        Targets::Command | Targets::Threads(_) if domain(args).is_some() => {
            Err(Failure("--per-socket and the like need -a or -C".to_owned()))
        }
        _ => Ok(observed),
    }
}

/// Returns the parts of the machine that the counts are added up by.
fn domain(args: &StatArgs) -> Option<CpuDomain> {
    let asked = [
        (args.per_socket, CpuDomain::Socket),
        (args.per_die, CpuDomain::Die),
        (args.per_cluster, CpuDomain::Cluster),
        (args.per_core, CpuDomain::Core),
        (args.per_node, CpuDomain::Node),
    ];
    let asked = asked.into_iter().find(|(is_asked, _)| *is_asked).map(|(_, domain)| domain);
    asked.or(args.per_cache.map(CpuDomain::Cache))
}

fn options(args: &StatArgs) -> Result<StatOptions, Failure> {
    let metrics = args.metrics.iter().map(|name| name.parse()).collect::<Result<_, _>>();
    let millis = |millis: Option<NonZeroU64>| millis.map(|millis| Duration::from_millis(millis.get()));
    Ok(StatOptions {
        aggregation: match domain(args) {
            Some(domain) => Aggregation::Domain(domain),
            None if args.no_aggr => Aggregation::Cpu,
            None if args.per_thread => Aggregation::Thread,
            None => Aggregation::Total,
        },
        cpus: args.observed.cpu.as_ref().map(|_| observed::cpus(&args.observed)).transpose()?,
        cgroups: match (&args.cgroup[..], &args.for_each_cgroup[..]) {
            ([], []) => StatCgroups::All,
            ([], names) => StatCgroups::ForEach(names.to_vec()),
            (names, _) => StatCgroups::PerEvent(names.to_vec()),
        },
        inherit: !args.no_inherit,
        delayed: args.delay.is_some_and(|delay| delay != 0),
        null: args.null,
        detailed: args.detailed,
        metrics: metrics.map_err(failure)?,
        topdown: args.topdown,
        topdown_level: args.td_level,
        one_group: args.group,
        all_user: args.all_user,
        all_kernel: args.all_kernel,
        merge_pmus: !args.no_merge,
        scale: !args.no_scale,
        interval: millis(args.interval_print),
        timeout: millis(args.timeout),
        ..StatOptions::default()
    })
}

/// Returns the groups of the options `-e`, with the filters that follow them.
fn groups(args: &StatArgs) -> Result<Vec<StatGroup>, Failure> {
    let parser = EventParser::new().with_tools();
    let mut all: Vec<StatGroup> = Vec::new();
    let mut filters = args.filter.iter().peekable();
    let mut lists = args.events.iter().peekable();
    while let Some(list) = lists.next() {
        let groups = parser.parse(&list.text).map_err(|error| format!("{error:#}"))?;
        all.extend(groups.into_iter().map(StatGroup::from));
        // A pattern selects several tracepoints.
        let last = list.text.rsplit(',').next().unwrap_or_default();
        let last = parser.parse(last).map_or(1, |groups| groups.len()).max(1);
        let next = lists.peek().map_or(usize::MAX, |next| next.place);
        while let Some(filter) = filters.next_if(|filter| filter.place < next && filter.place > list.place) {
            let mut of_list = all.iter_mut().rev().take(last);
            of_list.try_for_each(|group| group.add_filter(&filter.text)).map_err(failure)?;
        }
    }
    match filters.next() {
        Some(filter) => Err(Failure(format!("--filter {}: must follow the -e of a tracepoint", filter.text))),
        None => Ok(all),
    }
}

/// Returns the failure of counting, with the option that it is about.
pub(super) fn failure(error: StatError) -> Failure {
    match error {
        StatError::NotTracepoint { .. } | StatError::FilterText { .. } | StatError::Filter { .. } => {
            Failure(format!("--filter {error}"))
        }
        StatError::UnknownMetric { .. } => Failure(format!("-M {error}")),
        StatError::NoTopdown => Failure(format!("--topdown: {error}")),
        StatError::TopdownLevel { .. } => Failure(format!("--topdown: {error}; see --td-level")),
        StatError::TopdownByCore => Failure(
            "--topdown: this CPU counts the events of the method by core; give -a and --per-core, and no cgroup"
                .to_owned(),
        ),
        StatError::NoCache { .. } => Failure(format!("--per-cache: {error}")),
        StatError::Cgroup(error) => cgroup_failure(error),
        StatError::ToolEvent { .. } => Failure(format!("stat record: {error}")),
        _ => Failure(error.to_string()),
    }
}
