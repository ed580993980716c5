//! Options of `perf report`, `perf script` and `perf record` that the verbs here do not have: those that change nothing are accepted, and for the
//! others the error says what to use. They are known to the parser alone, and are in no help.

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command};

/// An option of perf.
#[derive(Clone, Copy, Debug)]
struct PerfOption {
    short: Option<char>,
    /// The long name; empty if the verb has it with another meaning.
    long: &'static str,
    value: PerfValue,
    /// What to do instead; `None` if the option changes nothing.
    instead: Option<&'static str>,
}

/// Whether an option of perf has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PerfValue {
    None,
    Optional,
    Required,
}

/// An option that changes nothing.
const fn accepted(short: Option<char>, long: &'static str) -> PerfOption {
    PerfOption { short, long, value: PerfValue::None, instead: None }
}

/// An option that is an error.
const fn refused(short: Option<char>, long: &'static str, instead: &'static str) -> PerfOption {
    PerfOption { short, long, value: PerfValue::None, instead: Some(instead) }
}

impl PerfOption {
    const fn with(self, value: PerfValue) -> Self {
        Self { value, ..self }
    }

    /// Returns the id of the argument, which no argument of perfdata has.
    fn id(&self) -> String {
        format!("perf:{}{}", self.long, self.short.map(String::from).unwrap_or_default())
    }

    /// Returns the name that an error has.
    fn name(&self) -> String {
        match self.short {
            Some(short) if self.long.is_empty() => format!("-{short}"),
            _ => format!("--{}", self.long),
        }
    }

    fn arg(&self) -> Arg {
        let arg = Arg::new(self.id()).hide(true).short(self.short);
        let arg = if self.long.is_empty() { arg } else { arg.long(self.long) };
        match self.value {
            PerfValue::None => arg.action(ArgAction::Count),
            PerfValue::Optional => arg.num_args(0..=1).require_equals(true).action(ArgAction::Append),
            PerfValue::Required => arg.action(ArgAction::Append),
        }
    }

    fn is_given(&self, matches: &ArgMatches) -> bool {
        match self.value {
            PerfValue::None => matches.get_count(&self.id()) > 0,
            _ => matches.contains_id(&self.id()),
        }
    }
}

use PerfValue::{Optional, Required};

const ADDR2LINE: &str = "lines are found without another program";
const OF_ANNOTATE: &str = "it is about instructions; perfdata annotate has it";
const KERNEL_NAMES: &str = "names of the kernel stay as the kernel has them";
const SWITCH: &str =
    "use --time EVENT..EVENT, which selects from each sample of one event to the next one of another";
const LBR: &str = "stacks of branches are not joined with those of other samples";
const UNWIND: &str = "stacks are unwound without another library";
const RAW: &str = "perfdata dump prints every record";
const INFO: &str = "perfdata info prints what is known of the machine";

const REPORT: &[PerfOption] = &[
    accepted(Some('f'), "force"),
    accepted(Some('q'), "quiet"),
    accepted(Some('v'), "verbose"),
    accepted(Some('m'), "modules"),
    accepted(None, "skip-empty"),
    accepted(None, "stdio2"),
    refused(None, "tui", "leave it out: on a terminal, the browser opens by itself"),
    refused(None, "gtk", "perfdata flamegraph writes a page"),
    refused(None, "branch-history", "sort by symbol_from,symbol_to"),
    refused(
        Some('H'),
        "hierarchy",
        "use one key after the other, such as --sort comm and --sort dso --comms",
    ),
    refused(None, "stats", "perfdata info counts the records"),
    refused(None, "tasks", "perfdata script --show-task-events prints the records of tasks"),
    refused(None, "mmaps", "perfdata script --show-mmap-events prints the records of mappings"),
    refused(Some('T'), "", "perfdata dump --type READ prints the counts of threads"),
    refused(Some('I'), "show-info", INFO),
    refused(Some('D'), "dump-raw-trace", RAW),
    refused(None, "disable-order", "perfdata dump prints records in the order of the file"),
    refused(None, "total-cycles", "sort by symbol_from,symbol_to,cycles"),
    refused(None, "raw-trace", "perfdata script -F trace prints tracepoints"),
    refused(None, "ignore-callees", "use --symbols, or -g caller").with(Required),
    refused(None, "group-sort-idx", "use --no-group, and --event for one of the events").with(Required),
    refused(None, "socket-filter", "select the CPUs of the socket by --cpu").with(Required),
    refused(None, "symbol-filter", "name the functions by --symbols, or filter the text by grep")
        .with(Required),
    refused(None, "full-source-path", "--format json has whole paths"),
    refused(None, "no-skip-empty", "an event without samples has no table"),
    refused(None, "pretty", "leave it out: there is one form of the text").with(Required),
    refused(None, "samples", "perfdata script prints the samples of a function: --symbols SYMBOL")
        .with(Required),
    refused(None, "show-on-off-events", SWITCH),
    refused(None, "switch-on", SWITCH).with(Required),
    refused(None, "switch-off", SWITCH).with(Required),
    refused(None, "show-ref-call-graph", "events without stacks are shown without them"),
    refused(None, "stitch-lbr", LBR),
    refused(None, "unwind-style", UNWIND).with(Required),
    refused(None, "addr2line", ADDR2LINE).with(Required),
    refused(None, "addr2line-style", ADDR2LINE).with(Required),
    refused(None, "objdump", "the disassembler of perfdata annotate is built in").with(Required),
    refused(None, "ignore-vmlinux", "no vmlinux is used but the recorded one, and that of --vmlinux"),
    refused(None, "demangle-kernel", KERNEL_NAMES),
    refused(Some('M'), "disassembler-style", OF_ANNOTATE).with(Required),
    refused(None, "asm-raw", OF_ANNOTATE),
    refused(None, "source", OF_ANNOTATE),
    refused(None, "prefix", OF_ANNOTATE).with(Required),
    refused(None, "prefix-strip", OF_ANNOTATE).with(Required),
    refused(None, "percent-type", OF_ANNOTATE).with(Required),
    refused(
        None,
        "latency",
        "perfdata sched waits has the times of threads; the share of each function in the time of the clock is not computed",
    ),
    refused(
        None,
        "parallelism",
        "the number of threads that run at once is not computed; perfdata sched map prints them",
    )
    .with(Required),
];

const SCRIPT: &[PerfOption] = &[
    accepted(Some('f'), "force"),
    accepted(Some('q'), "quiet"),
    accepted(Some('v'), "verbose"),
    accepted(None, "stdio2"),
    accepted(None, "merge-callchains"),
    refused(
        None,
        "no-merge-callchains",
        "perfdata dump prints the records of deferred call chains by themselves",
    ),
    refused(Some('a'), "all-cpus", "record first: perfdata record -a -o - -- sleep 5 | perfdata script"),
    refused(Some('D'), "dump-raw-trace", RAW),
    refused(None, "dump-unsorted-raw-trace", "perfdata dump prints records in the order of the file"),
    refused(Some('d'), "debug-mode", "perfdata info checks every record"),
    refused(Some('I'), "show-info", INFO),
    refused(Some('L'), "Latency", "the flags of tracepoints are fields: perfdata dump --type SAMPLE"),
    refused(
        Some('s'),
        "script",
        "no scripts are run; --format jsonl has a line for each sample, for programs of any language",
    )
    .with(Required),
    refused(Some('g'), "gen-script", "no scripts are run; --format jsonl has a line for each sample")
        .with(Required),
    refused(Some('l'), "list", "no scripts are run; --format jsonl has a line for each sample"),
    refused(None, "dlfilter", "no code is loaded; filter the lines of --format jsonl").with(Required),
    refused(None, "dlarg", "no code is loaded; filter the lines of --format jsonl").with(Required),
    refused(None, "list-dlfilters", "no code is loaded; filter the lines of --format jsonl"),
    refused(None, "addr-range", "--symbols has functions alone").with(Required),
    refused(None, "call-trace", "the instructions of a trace are not decoded; perf script has it")
        .with(Optional),
    refused(None, "call-ret-trace", "the instructions of a trace are not decoded; perf script has it")
        .with(Optional),
    refused(None, "insn-trace", "the instructions of a trace are not decoded; perf script has it")
        .with(Optional),
    refused(None, "xed", "-F insn,disasm prints instructions without another program").with(Optional),
    refused(None, "graph-function", "it belongs to --call-trace, which perf script has").with(Required),
    refused(None, "guest-code", "the files of guests are not looked for"),
    refused(None, "guestkallsyms", "the files of guests are not looked for").with(Required),
    refused(None, "guestmodules", "the files of guests are not looked for").with(Required),
    refused(None, "guestmount", "the files of guests are not looked for").with(Required),
    refused(None, "guestvmlinux", "the files of guests are not looked for").with(Required),
    refused(None, "max-blocks", "-F brstackinsn prints all blocks of a sample").with(Required),
    refused(None, "per-event-dump", "write a file for each event by --event"),
    refused(None, "show-kernel-path", "--format jsonl has the path of each file"),
    refused(None, "full-source-path", "--format jsonl has whole paths"),
    refused(None, "show-round-events", "perfdata dump --type FINISHED_ROUND prints them"),
    refused(None, "show-text-poke-events", "perfdata dump --type TEXT_POKE prints them"),
    refused(None, "show-on-off-events", SWITCH),
    refused(None, "switch-on", SWITCH).with(Required),
    refused(None, "switch-off", SWITCH).with(Required),
    refused(None, "stop-bt", "--max-stack ends stacks after a number of frames").with(Required),
    refused(None, "stitch-lbr", LBR),
    refused(None, "unwind-style", UNWIND).with(Required),
    refused(None, "addr2line", ADDR2LINE).with(Required),
    refused(None, "demangle-kernel", KERNEL_NAMES),
];

#[cfg(target_os = "linux")]
const RECORD: &[PerfOption] = &[
    accepted(None, "aio").with(Optional),
    accepted(None, "proc-map-timeout").with(Required),
    refused(None, "affinity", "--threads has masks of CPUs").with(Required),
    refused(None, "debuginfod", "perfdata report --debuginfod asks when names are needed").with(Optional),
    refused(None, "latency", "add --switch-events, and see perfdata sched waits"),
    refused(
        None,
        "off-cpu-thresh",
        "all times are recorded; perfdata report --off-cpu has the sum of each stack, and perfdata sched waits percentiles",
    )
    .with(Required),
    refused(None, "setup-filter", "it pins a program of BPF, and no events have one here; use --filter, --uid or --exclude-perf")
        .with(Required),
    refused(None, "vmlinux", "names are looked for later: perfdata report --vmlinux").with(Required),
    refused(None, "clang-opt", "no programs of BPF are compiled").with(Required),
    refused(None, "clang-path", "no programs of BPF are compiled").with(Required),
];

/// Returns the options of perf for a verb.
fn of_verb(verb: &str) -> &'static [PerfOption] {
    match verb {
        "report" => REPORT,
        "script" => SCRIPT,
        #[cfg(target_os = "linux")]
        "record" => RECORD,
        _ => &[],
    }
}

/// Adds the options to their verbs.
pub(super) fn add_to(command: Command) -> Command {
    let verbs = command.get_subcommands().map(|verb| verb.get_name().to_owned());
    let verbs: Vec<_> = verbs.filter(|verb| !of_verb(verb).is_empty()).collect();
    verbs.iter().fold(command, |command, verb| {
        command.mut_subcommand(verb, |it| it.args(of_verb(verb).iter().map(PerfOption::arg)))
    })
}

/// Returns an error if an option was given that the verb does not have.
///
/// # Errors
///
/// The first of them in the order of the table, and what to do instead.
pub(super) fn check(matches: &ArgMatches) -> Result<(), clap::Error> {
    let Some((verb, matches)) = matches.subcommand() else { return Ok(()) };
    let given = of_verb(verb).iter().find(|option| option.instead.is_some() && option.is_given(matches));
    let Some((option, instead)) = given.and_then(|option| Some((option, option.instead?))) else {
        return Ok(());
    };
    let name = option.name();
    let what = format!("{name}: perfdata {verb} does not have this option; {instead}\n");
    Err(clap::Error::raw(ErrorKind::UnknownArgument, what))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::args::Args;

    const README: &str = include_str!("../../README.md");

    /// The options of `perf report -h` of 7.2, and those that 6.1 has besides.
    const REPORT_OF_PERF: &str = "--addr2line --addr2line-style --asm-raw --branch-history --children --demangle \
        --demangle-kernel --disable-order --full-source-path --group --group-sort-idx --header --header-only \
        --ignore-callees --ignore-vmlinux --inline --itrace --kallsyms --latency --max-stack --mem-mode --mmaps --ns \
        --objdump --parallelism --percent-limit --percent-type --percentage --pid --prefix --prefix-strip --pretty \
        --raw-trace --samples --show-cpu-utilization --show-on-off-events --show-ref-call-graph --show-total-period \
        --skip-empty --socket-filter --source --stats --stdio --stdio-color --stitch-lbr --switch-off --switch-on \
        --symbol-filter --symfs --tasks --tid --time --time-quantum --total-cycles --tui --unwind-style -C --cpu -D \
        --dump-raw-trace -F --fields -G --inverted -H --hierarchy -I --show-info -M --disassembler-style -S --symbols \
        -T --threads -U --hide-unresolved -b --branch-stack -c --comms -d --dsos -f --force -g --call-graph -i --input \
        -k --vmlinux -m --modules -n --show-nr-samples -p --parent -q --quiet -s --sort -t --field-separator -v \
        --verbose -w --column-widths -x --exclude-other --gtk";

    /// The same of `perf script -h`.
    const SCRIPT_OF_PERF: &str = "--addr-range --addr2line --call-ret-trace --call-trace --deltatime --demangle \
        --demangle-kernel --dlarg --dlfilter --dsos --dump-unsorted-raw-trace --full-source-path --graph-function \
        --guest-code --guestkallsyms --guestmodules --guestmount --guestvmlinux --header --header-only --inline \
        --insn-trace --itrace --kallsyms --list-dlfilters --max-blocks --max-stack --merge-callchains --ns \
        --per-event-dump --pid --reltime --show-bpf-events --show-cgroup-events --show-kernel-path --show-lost-events \
        --show-mmap-events --show-namespace-events --show-on-off-events --show-round-events --show-switch-events \
        --show-task-events --show-text-poke-events --stitch-lbr --stop-bt --switch-off --switch-on --symfs --tid \
        --time --unwind-style --xed -C --cpu -D --dump-raw-trace -F --fields -G --hide-call-graph -I --show-info -L \
        --Latency -S --symbols -a --all-cpus -c --comms -d --debug-mode -f --force -g --gen-script -i --input -k \
        --vmlinux -l --list -s --script -v --verbose";

    /// The long options of `perf record -h` of 6.1 and 7.2.
    #[cfg(target_os = "linux")]
    const RECORD_OF_PERF: &str = "--affinity --aio --all-cgroups --all-cpus --all-kernel --all-user --aux-sample --branch-any \
        --branch-filter --buildid-all --buildid-mmap --call-graph --cgroup --clang-opt --clang-path \
        --clockid --code-page-size --compression-level --control --count --cpu --data --data-mmap \
        --data-page-size --debuginfod --delay --dry-run --event --exclude-perf --filter --freq --group \
        --intr-regs --kcore --kernel-callchains --latency --max-size --mmap-flush --mmap-pages --namespaces \
        --no-bpf-event --no-buffering --no-buildid --no-buildid-cache --no-inherit --no-samples \
        --num-thread-synthesize --off-cpu --off-cpu-thresh --output --overwrite --per-thread --period \
        --phys-data --pid --proc-map-timeout --quiet --raw-samples --realtime --running-time --sample-cpu \
        --sample-identifier --sample-mem-info --setup-filter --snapshot --stat --strict-freq --switch-events \
        --switch-max-files --switch-output --switch-output-event --synth --tail-synthesize --threads --tid \
        --timestamp --timestamp-boundary --timestamp-filename --transaction --uid --user-callchains \
        --user-regs --verbose --vmlinux --weight";

    /// Returns the options of a table of the README, with what it says of them.
    fn table(verb: &str) -> BTreeMap<String, &'static str> {
        let heading = format!("## Options of `perf {verb}`");
        let (_, section) = README.split_once(&heading).expect("the README has a table");
        let section = section.split("\n## ").next().unwrap();
        let mut options = BTreeMap::new();
        for row in section.lines().filter_map(|line| line.strip_prefix("| `")) {
            let mut cells = row.split(" | ");
            let (names, kind) = (cells.next().unwrap(), cells.next().unwrap());
            for name in names.split([' ', ',', '`']).filter(|name| name.starts_with('-')) {
                assert!(options.insert(name.to_owned(), kind).is_none(), "{name} is there twice");
            }
        }
        options
    }

    /// Returns how the parser takes an option: perfdata's own, accepted or refused; `None` if it does not know it.
    fn kind(verb: &str, name: &str, whole: &Command) -> Option<&'static str> {
        let long = name.strip_prefix("--");
        let short = name.strip_prefix('-').and_then(|it| it.chars().next());
        let of_perf = of_verb(verb).iter().find(|it| match long {
            Some(long) => it.long == long,
            None => it.short == short,
        });
        if let Some(option) = of_perf {
            return Some(if option.instead.is_some() { "refused" } else { "accepted" });
        }
        let command = whole.find_subcommand(verb)?;
        let is_known = command.get_arguments().any(|arg| match long {
            Some(long) => {
                arg.get_long() == Some(long) || arg.get_all_aliases().is_some_and(|it| it.contains(&long))
            }
            None => arg.get_short() == short,
        });
        is_known.then_some("yes")
    }

    #[test]
    fn the_readme_says_what_the_parser_does() {
        let parser = Args::parser();
        for (verb, of_perf) in [("report", REPORT_OF_PERF), ("script", SCRIPT_OF_PERF)] {
            let table = table(verb);
            for name in of_perf.split_whitespace() {
                assert!(table.contains_key(name), "perf {verb} {name} is not in the README");
            }
            for (name, said) in &table {
                let is = kind(verb, name, &parser).unwrap_or_else(|| panic!("{verb} {name} is not known"));
                let said = if *said == "other" { "yes" } else { said };
                assert_eq!(said, is, "{verb} {name}");
            }
            for option in of_verb(verb) {
                assert!(table.contains_key(&option.name()), "{verb} {} is not in the README", option.name());
            }
        }
    }

    /// The README groups the options of perf record by what is done with them, and not in a table of this form.
    #[cfg(target_os = "linux")]
    #[test]
    fn every_option_of_perf_record_is_known() {
        let parser = Args::parser();
        for name in RECORD_OF_PERF.split_whitespace() {
            assert!(kind("record", name, &parser).is_some(), "{name}");
        }
        for option in RECORD {
            assert!(
                README.contains(&format!("`{}`", option.name())),
                "{} is not in the README",
                option.name()
            );
        }
    }

    fn error(args: &str) -> String {
        let args = args.split(' ').map(Into::into);
        Args::read(args).expect_err("the option is refused").to_string()
    }

    #[test]
    fn refused_options_are_named() {
        let verbs = [
            ("report", REPORT),
            ("script", SCRIPT),
            #[cfg(target_os = "linux")]
            ("record", RECORD),
        ];
        for (verb, options) in verbs {
            for option in options {
                let value = if option.value == Required { "=1" } else { "" };
                let args = format!("perfdata {verb} {}{value} x.data", option.name());
                let Some(instead) = option.instead else {
                    assert!(Args::read(args.split(' ').map(Into::into)).is_ok(), "{args}");
                    continue;
                };
                let error = error(&args);
                assert!(error.contains(&format!("perfdata {verb} does not have this option")), "{error}");
                assert!(error.contains(instead) && error.lines().count() == 1, "{error}");
            }
        }
    }
}
