//! The arguments of `perfdata annotate`.

use core::num::NonZero;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use perf_profile::annotation::PercentType;

use super::ReadingArgs;
use super::capture::Capture;
use super::itrace::ItraceArgs;
use super::only::OnlyArgs;
use super::symbols::SymbolArgs;

pub(super) const EXAMPLES: &str =
    "Without SYMBOL, shows the functions with at least 1 % of the samples of an event, hottest first. A sample counts at its own \
address. If the event is not precise (attr.precise_ip 0), that may be an instruction after the one that caused it: samples are \
shown where they were recorded, and the text says so.

Code comes from the file that the capture was recorded from, found as for names (perfdata script --help); of the kernel, from \
--vmlinux, from the capture's kcore_dir, or from /proc/kcore; of BPF programs from the capture; of JIT compilers from their \
jitdumps. Source comes from the recorded path, --prefix, --source, or from the debug information itself. No other program is \
needed: x86 and Arm are disassembled here.

The text is as wide as perf annotate --stdio has it. On a terminal, a browser opens instead; ? shows its keys. The document of \
--format json has functions, each with events, sources, lines, functions (those that are inlined), instructions and branches; \
and missing, the functions that cannot be shown, with the reason. Lists of samples and period are in the order of events.

Examples:
  perfdata annotate
  perfdata annotate my_function
  perfdata annotate -i server.data -d libc.so.6 --percent-limit 5
  perfdata annotate --source ~/src/project --stdio | less
  perfdata annotate -o hot.html
  perfdata annotate --format json | jq '.functions[0].instructions[] | select(.period[0] > 0)'";

#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of perf annotate")]
pub(crate) struct AnnotateArgs {
    /// Function to show: its name as reports have it, or as it is in the file
    #[arg(value_name = "SYMBOL", conflicts_with = "named_symbol")]
    pub(crate) symbol: Option<String>,

    #[command(flatten)]
    pub(crate) file: Capture,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    #[command(flatten)]
    pub(crate) itrace: ItraceArgs,

    /// Same as SYMBOL, for compatibility with perf
    #[arg(short = 's', value_name = "SYMBOL")]
    pub(crate) named_symbol: Option<String>,

    /// Same as --dsos, for compatibility with perf
    #[arg(short = 'd', value_name = "DSO", value_delimiter = ',')]
    pub(crate) named_dsos: Vec<String>,

    /// Output format
    #[arg(long, value_enum, default_value_t = AnnotateFormat::Text)]
    pub(crate) format: AnnotateFormat,

    /// Print text on a terminal too, instead of opening the browser
    #[arg(long, alias = "stdio2", overrides_with = "stdio")]
    pub(crate) stdio: bool,

    /// Write a page for a browser to this file, whose name ends in .html; - is standard output
    #[arg(short, long, value_name = "OUT", conflicts_with_all = ["stdio", "format"])]
    pub(crate) output: Option<PathBuf>,

    /// Show functions with at least this percentage of an event's samples [default: 1; 0 with SYMBOL]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) percent_limit: Option<f64>,

    /// What percentages are of: the samples of the function (local) or of the capture (global), by their periods or by their
    /// number (hits)
    #[arg(long, value_name = "TYPE", default_value = "local-period", value_parser = percent_types())]
    pub(crate) percent_type: PercentType,

    /// Print the number of samples instead of a percentage
    #[arg(short = 'n', long, conflicts_with = "show_total_period")]
    pub(crate) show_nr_samples: bool,

    /// Print the sum of periods instead of a percentage
    #[arg(long)]
    pub(crate) show_total_period: bool,

    /// Print the events side by side, and not one after the other
    #[arg(long)]
    pub(crate) group: bool,

    /// Print the line of each instruction after it, and a summary of the lines before each function
    #[arg(short = 'l', long)]
    pub(crate) print_line: bool,

    /// Print whole paths
    #[arg(short = 'P', long)]
    pub(crate) full_paths: bool,

    /// Print the bytes of instructions
    #[arg(long)]
    pub(crate) asm_raw: bool,

    /// Print no source
    #[arg(long)]
    pub(crate) no_source: bool,

    /// Look for source files below this folder, too: the longest end of the recorded path that is there. May be repeated
    #[arg(long, value_name = "DIR", conflicts_with = "no_source")]
    pub(crate) source: Vec<PathBuf>,

    /// Put this folder before the recorded paths of source files
    #[arg(long, value_name = "DIR")]
    pub(crate) prefix: Option<PathBuf>,

    /// With --prefix: leave out so many folders at the start of recorded paths
    #[arg(long, value_name = "N", default_value_t = 0, requires = "prefix")]
    pub(crate) prefix_strip: u32,

    /// Syntax of x86: att or intel
    #[arg(short = 'M', long, value_enum, value_name = "STYLE", default_value_t = DisassemblerStyle::Att)]
    pub(crate) disassembler_style: DisassemblerStyle,

    /// When text is coloured
    #[arg(long, alias = "color", value_enum, value_name = "WHEN", default_value_t = ColorWhen::Auto)]
    pub(crate) stdio_color: ColorWhen,

    /// Do not report functions that cannot be shown
    #[arg(long)]
    pub(crate) skip_missing: bool,

    /// Number of threads that look up names. The output is the same for any number [default: number of processors]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZero<usize>>,

    #[command(flatten)]
    pub(crate) only: OnlyArgs,

    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,

    #[command(flatten)]
    pub(crate) refused: RefusedArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum AnnotateFormat {
    Text,
    Json,
}

/// Reads what percentages are of.
fn percent_types() -> impl TypedValueParser<Value = PercentType> {
    PossibleValuesParser::new(["local-period", "local-hits", "global-period", "global-hits"]).map(|text| {
        PercentType { of_capture: text.starts_with("global"), by_samples: text.ends_with("hits") }
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum DisassemblerStyle {
    Att,
    Intel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb
    Auto,
    Always,
    Never,
}

/// Reads a percentage, with or without its sign.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    let percent: f64 = text.trim_end_matches('%').parse().map_err(|_| "this is no percentage".to_owned())?;
    if (0.0..=100.0).contains(&percent) {
        Ok(percent)
    } else {
        Err("a percentage is from 0 to 100".to_owned())
    }
}

/// Options of perf annotate that this verb does not have, or that change nothing here.
#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of perf annotate")]
pub(crate) struct RefusedArgs {
    #[arg(short = 'f', long, hide = true)]
    force: bool,
    #[arg(short = 'q', long, hide = true)]
    quiet: bool,
    #[arg(short = 'v', long, hide = true, action = clap::ArgAction::Count)]
    verbose: u8,
    #[arg(short = 'm', long, hide = true)]
    modules: bool,
    #[arg(long, hide = true)]
    skip_empty: bool,
    #[arg(long, hide = true)]
    tui: bool,
    #[arg(long, hide = true)]
    gtk: bool,
    #[arg(short = 'D', long, hide = true)]
    dump_raw_trace: bool,
    #[arg(long, hide = true)]
    demangle_kernel: bool,
    #[arg(long, hide = true)]
    ignore_vmlinux: bool,
    #[arg(long, hide = true)]
    objdump: Option<String>,
    #[arg(long, hide = true)]
    addr2line: Option<String>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true)]
    data_type: Option<Option<String>>,
    #[arg(long, hide = true)]
    type_stat: bool,
    #[arg(long, hide = true)]
    insn_stat: bool,
    #[arg(long, hide = true)]
    code_with_type: bool,
}

impl RefusedArgs {
    /// Returns the first of the options that was given, and what to do instead.
    pub(crate) fn given(&self) -> Option<(&'static str, &'static str)> {
        let types = "types of data are not found; perfdata report --sort symbol_daddr has the variables";
        let options = [
            (self.tui, "--tui", "leave it out: on a terminal, the browser opens by itself"),
            (self.gtk, "--gtk", "-o hot.html writes a page"),
            (self.demangle_kernel, "--demangle-kernel", "names of the kernel stay as the kernel has them"),
            (self.dump_raw_trace, "--dump-raw-trace", "perfdata dump prints every record"),
            (
                self.ignore_vmlinux,
                "--ignore-vmlinux",
                "no vmlinux is used but the recorded one, and the one that --vmlinux names",
            ),
            (self.objdump.is_some(), "--objdump", "leave it out: the disassembler is built in"),
            (self.addr2line.is_some(), "--addr2line", "leave it out: lines are found without it"),
            (self.data_type.is_some(), "--data-type", types),
            (self.type_stat, "--type-stat", types),
            (self.insn_stat, "--insn-stat", types),
            (self.code_with_type, "--code-with-type", types),
        ];
        options.into_iter().find(|(given, ..)| *given).map(|(_, option, instead)| (option, instead))
    }
}
