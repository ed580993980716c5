//! The keys of `--sort` and `--fields`.

use crate::Failure;
use crate::args::call_graph::CallGraph;
use crate::args::report::ReportArgs;

/// What rows are distinguished by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Pid,
    Tid,
    Tgid,
    Comm,
    Dso,
    Symbol,
    Parent,
    Cpu,
    Srcline,
    Srcfile,
    LocalWeight,
    Weight,
    Trace,
    Cgroup,
    CgroupId,
    Time,
    DsoFrom,
    DsoTo,
    SymbolFrom,
    SymbolTo,
    Mispredict,
    InTx,
    Abort,
    Cycles,
    SrclineFrom,
    SrclineTo,
    AddrFrom,
    AddrTo,
    Socket,
    Transaction,
    SymbolSize,
    DsoSize,
    CodePageSize,
    LocalInsLat,
    InsLat,
    LocalPStageCyc,
    PStageCyc,
    Addr,
    SymbolDaddr,
    SymbolIaddr,
    DsoDaddr,
    Locked,
    Tlb,
    Mem,
    Snoop,
    Dcacheline,
    PhysDaddr,
    DataPageSize,
    Blocked,
}

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Overhead,
    Sys,
    User,
    GuestSys,
    GuestUser,
    Children,
    Samples,
    Period,
    Key(Key),
}

/// What a name of perf stands for.
#[derive(Clone, Copy, Debug)]
enum Meaning {
    Is(Column),
    /// Needs `--branch-stack`.
    Branch(Key),
    /// Needs `--mem-mode`.
    Memory(Key),
    /// What to do instead.
    Refused(&'static str),
}

use Meaning::{Branch, Is, Memory, Refused};

/// The keys of `--mem-mode`. The last one is left out on machines that do not count it.
///
/// perf: `default_mem_sort_order`, `tools/perf/util/sort.c`.
pub(super) const MEMORY: &str = "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,local_ins_lat,\
    local_p_stage_cyc";

/// What the refused keys need.
const CODE: &str = "instructions per cycle need the number of instructions between two addresses, and so a decoder of the program's code, \
     which perfdata does not have";

/// The names, in the order in which perf looks for one that begins with what was given.
///
/// perf: `sort_dimension__add`, `tools/perf/util/sort.c`.
const NAMES: &[(&str, Meaning)] = &[
    ("pid", Is(Column::Key(Key::Pid))),
    ("comm", Is(Column::Key(Key::Comm))),
    ("dso", Is(Column::Key(Key::Dso))),
    ("symbol", Is(Column::Key(Key::Symbol))),
    ("parent", Is(Column::Key(Key::Parent))),
    ("cpu", Is(Column::Key(Key::Cpu))),
    ("socket", Is(Column::Key(Key::Socket))),
    ("srcline", Is(Column::Key(Key::Srcline))),
    ("srcfile", Is(Column::Key(Key::Srcfile))),
    ("local_weight", Is(Column::Key(Key::LocalWeight))),
    ("weight", Is(Column::Key(Key::Weight))),
    ("transaction", Is(Column::Key(Key::Transaction))),
    ("trace", Is(Column::Key(Key::Trace))),
    ("symbol_size", Is(Column::Key(Key::SymbolSize))),
    ("dso_size", Is(Column::Key(Key::DsoSize))),
    ("cgroup", Is(Column::Key(Key::Cgroup))),
    ("cgroup_id", Is(Column::Key(Key::CgroupId))),
    ("ipc_null", Refused(CODE)),
    ("time", Is(Column::Key(Key::Time))),
    ("code_page_size", Is(Column::Key(Key::CodePageSize))),
    ("local_ins_lat", Is(Column::Key(Key::LocalInsLat))),
    ("ins_lat", Is(Column::Key(Key::InsLat))),
    ("local_p_stage_cyc", Is(Column::Key(Key::LocalPStageCyc))),
    ("p_stage_cyc", Is(Column::Key(Key::PStageCyc))),
    ("addr", Is(Column::Key(Key::Addr))),
    ("overhead", Is(Column::Overhead)),
    ("overhead_sys", Is(Column::Sys)),
    ("overhead_us", Is(Column::User)),
    ("overhead_guest_sys", Is(Column::GuestSys)),
    ("overhead_guest_us", Is(Column::GuestUser)),
    ("overhead_children", Is(Column::Children)),
    ("sample", Is(Column::Samples)),
    ("period", Is(Column::Period)),
    ("dso_from", Branch(Key::DsoFrom)),
    ("dso_to", Branch(Key::DsoTo)),
    ("symbol_from", Branch(Key::SymbolFrom)),
    ("symbol_to", Branch(Key::SymbolTo)),
    ("mispredict", Branch(Key::Mispredict)),
    ("in_tx", Branch(Key::InTx)),
    ("abort", Branch(Key::Abort)),
    ("cycles", Branch(Key::Cycles)),
    ("srcline_from", Branch(Key::SrclineFrom)),
    ("srcline_to", Branch(Key::SrclineTo)),
    ("ipc_lbr", Refused(CODE)),
    ("addr_from", Branch(Key::AddrFrom)),
    ("addr_to", Branch(Key::AddrTo)),
    ("symbol_daddr", Memory(Key::SymbolDaddr)),
    ("symbol_iaddr", Memory(Key::SymbolIaddr)),
    ("dso_daddr", Memory(Key::DsoDaddr)),
    ("locked", Memory(Key::Locked)),
    ("tlb", Memory(Key::Tlb)),
    ("mem", Memory(Key::Mem)),
    ("snoop", Memory(Key::Snoop)),
    ("dcacheline", Memory(Key::Dcacheline)),
    ("phys_daddr", Memory(Key::PhysDaddr)),
    ("data_page_size", Memory(Key::DataPageSize)),
    ("blocked", Memory(Key::Blocked)),
    // perf 6.1 has no name for these.
    ("tid", Is(Column::Key(Key::Tid))),
    ("tgid", Is(Column::Key(Key::Tgid))),
];

/// The columns and the order of rows.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The columns, from the left.
    pub(super) columns: Vec<Column>,
    /// The columns by which rows are ordered, the most important first.
    pub(super) order: Vec<Column>,
    /// Whether the column of a row's own samples is headed so, beside that of its children.
    is_own_headed: bool,
}

/// What a capture has, on which the defaults depend.
#[derive(Clone, Copy, Debug)]
pub(super) struct Has {
    /// Callers count what their callees take.
    pub(super) children: bool,
    /// Rows are of branches.
    pub(super) branches: bool,
    /// Rows are of memory accesses.
    pub(super) memory: bool,
    /// The machine that recorded counts the cycles of stages of its pipeline.
    pub(super) pipeline: bool,
    /// All events are tracepoints.
    pub(super) only_tracepoints: bool,
}

impl Layout {
    /// perf: `setup_sorting` and `perf_hpp__init`, `tools/perf/util/sort.c` and `tools/perf/ui/hist.c`.
    pub(super) fn new(args: &ReportArgs, has: Has) -> Result<Self, Failure> {
        let default_keys = match has {
            Has { branches: true, .. } => "comm,dso_from,symbol_from,symbol_to,cycles",
            Has { only_tracepoints: true, .. } => "trace",
            Has { memory: true, pipeline: true, .. } => MEMORY,
            // As perf does on other machines, without the key that is the last one.
            Has { memory: true, .. } => MEMORY.rsplit_once(',').map_or(MEMORY, |(keys, _)| keys),
            _ => "comm,dso,symbol",
        };
        let (sort, fields) = (args.sort.as_deref(), args.fields.as_deref());
        let is_strict = |list: Option<&str>| list.is_some_and(|list| !list.starts_with('+'));
        let mut order = Vec::new();
        if !is_strict(fields) {
            // As perf does, unless the list has them at another place.
            let given = sort.unwrap_or_default();
            if has.children && !given.contains("overhead_children") {
                order.push(Column::Children);
            }
            if !given.contains("overhead") {
                order.push(Column::Overhead);
            }
        }
        match sort {
            Some(list) => {
                if let Some(more) = list.strip_prefix('+') {
                    add("--sort", default_keys, has, &mut order)?;
                    add("--sort", more, has, &mut order)?;
                } else {
                    add("--sort", list, has, &mut order)?;
                }
            }
            None if is_strict(fields) => {}
            None => add("--sort", default_keys, has, &mut order)?,
        }
        let has_parent = order.contains(&Column::Key(Key::Parent));
        if args.parent.is_some() && !has_parent {
            order.push(Column::Key(Key::Parent));
        }
        let mut columns = Vec::new();
        if !is_strict(fields) {
            columns.extend(has.children.then_some(Column::Children));
            columns.push(Column::Overhead);
            if args.show_cpu_utilization {
                columns.extend([Column::Sys, Column::User]);
            }
            columns.extend(args.show_nr_samples.then_some(Column::Samples));
            columns.extend(args.show_total_period.then_some(Column::Period));
        }
        if let Some(list) = fields {
            add("--fields", list.strip_prefix('+').unwrap_or(list), has, &mut columns)?;
        }
        let more: Vec<_> = order.iter().copied().filter(|it| !columns.contains(it)).collect();
        columns.extend(more);
        let more: Vec<_> = columns.iter().copied().filter(|it| !order.contains(it)).collect();
        order.extend(more);
        // As in perf, which names the columns anew only if it chooses them.
        let is_own_headed = has.children && !is_strict(fields);
        Ok(Self { columns, order, is_own_headed })
    }

    /// Returns the heading of a column, as perf has it.
    ///
    /// perf: `perf_hpp__init`, `tools/perf/ui/hist.c`.
    pub(super) fn heading(&self, column: Column) -> &'static str {
        match column {
            Column::Overhead if self.is_own_headed => "Self",
            Column::Overhead => "Overhead",
            Column::Sys => "sys",
            Column::User => "usr",
            Column::GuestSys => "guest sys",
            Column::GuestUser => "guest usr",
            Column::Children => "Children",
            Column::Samples => "Samples",
            Column::Period => "Period",
            Column::Key(key) => key.heading(),
        }
    }

    pub(super) fn has(&self, key: Key) -> bool {
        self.order.contains(&Column::Key(key))
    }

    /// Returns the keys, in the order in which rows are distinguished.
    pub(super) fn keys(&self) -> impl Iterator<Item = Key> {
        self.order.iter().filter_map(|column| if let Column::Key(key) = column { Some(*key) } else { None })
    }

    /// Returns whether a key is of source lines or source files.
    pub(super) fn has_source(&self) -> bool {
        [Key::Srcline, Key::Srcfile, Key::SrclineFrom, Key::SrclineTo].into_iter().any(|key| self.has(key))
    }

    /// Returns whether source lines are needed.
    pub(super) fn needs_lines(&self, graph: &CallGraph) -> bool {
        self.has_source() || graph.shows_lines()
    }
}

/// Adds the columns of a list, each once.
fn add(option: &str, list: &str, has: Has, columns: &mut Vec<Column>) -> Result<(), Failure> {
    let mut words = list.split([',', ' ', '{', '}']).filter(|word| !word.is_empty()).peekable();
    if words.peek().is_none() {
        return Err(Failure(format!("{option} {list}: there must be a key; {}", known())));
    }
    for word in words {
        let column = column(option, word, has)?;
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    Ok(())
}

fn column(option: &str, word: &str, has: Has) -> Result<Column, Failure> {
    let lower = word.to_ascii_lowercase();
    // A whole name comes first: unlike in perf, `weight` is never another key that begins with it.
    let whole = NAMES.iter().find(|(name, _)| *name == lower);
    match whole.or_else(|| NAMES.iter().find(|(name, _)| name.starts_with(&lower))) {
        Some((_, Is(column))) => Ok(*column),
        Some((_, Branch(key))) if has.branches => Ok(Column::Key(*key)),
        Some((_, Memory(key))) if has.memory => Ok(Column::Key(*key)),
        Some((name, Memory(_))) => {
            Err(Failure(format!("{option} {word}: {name} is a key of memory accesses; add --mem-mode")))
        }
        Some((name, Branch(_))) => Err(Failure(format!(
            "{option} {word}: {name} is a key of branches, which the samples do not have or which --no-branch-stack \
             ignores; record with perf record -b, and leave --no-branch-stack out"
        ))),
        Some((name, Refused(instead))) => {
            Err(Failure(format!("{option} {word}: perfdata report has no key {name}; {instead}")))
        }
        None => Err(Failure(format!("{option} {word}: there is no such key; {}", known()))),
    }
}

fn known() -> String {
    let names = NAMES.iter().filter(|(_, meaning)| !matches!(meaning, Refused(_))).map(|(name, _)| *name);
    format!("the keys are {}", names.collect::<Vec<_>>().join(" "))
}

impl Column {
    /// Returns whether it counts by whose code it is.
    pub(super) fn is_of_mode(self) -> bool {
        matches!(self, Self::Sys | Self::User | Self::GuestSys | Self::GuestUser)
    }

    /// Returns the name of the member in JSON.
    pub(super) fn name(self) -> &'static str {
        let is = |meaning: &Meaning| match *meaning {
            Is(column) => column == self,
            Branch(key) | Memory(key) => Self::Key(key) == self,
            Refused(_) => false,
        };
        NAMES.iter().find(|(_, meaning)| is(meaning)).map_or("", |(name, _)| name)
    }
}

impl Key {
    fn heading(self) -> &'static str {
        match self {
            Self::Pid => "    Pid:Command",
            Self::Tid => "    Tid:Command",
            Self::Tgid => "   Tgid:Command",
            Self::Comm => "Command",
            Self::Dso => "Shared Object",
            Self::Symbol => "Symbol",
            Self::Parent => "Parent symbol",
            Self::Cpu => "CPU",
            Self::Srcline => "Source:Line",
            Self::Srcfile => "Source File",
            Self::LocalWeight => "Local Weight",
            Self::Weight => "Weight",
            Self::Trace => "Trace output",
            Self::Cgroup => "Cgroup",
            Self::CgroupId => "cgroup id (dev/inode)",
            Self::Time => "Time",
            Self::DsoFrom => "Source Shared Object",
            Self::DsoTo => "Target Shared Object",
            Self::SymbolFrom => "Source Symbol",
            Self::SymbolTo => "Target Symbol",
            Self::Mispredict => "Branch Mispredicted",
            Self::InTx => "Branch in transaction",
            Self::Abort => "Transaction abort",
            Self::Cycles => "Basic Block Cycles",
            Self::SrclineFrom => "From Source:Line",
            Self::SrclineTo => "To Source:Line",
            Self::AddrFrom => "Source Address",
            Self::AddrTo => "Target Address",
            Self::Socket => "Socket",
            // With the blanks that perf has.
            Self::Transaction => "Transaction                ",
            Self::SymbolSize => "Symbol size",
            Self::DsoSize => "DSO size",
            Self::CodePageSize => "Code Page Size",
            Self::LocalInsLat => "Local INSTR Latency",
            Self::InsLat => "INSTR Latency",
            Self::LocalPStageCyc => "Local Pipeline Stage Cycle",
            Self::PStageCyc => "Pipeline Stage Cycle",
            Self::Addr => "Address",
            Self::SymbolDaddr => "Data Symbol",
            Self::SymbolIaddr => "Code Symbol",
            Self::DsoDaddr => "Data Object",
            Self::Locked => "Locked",
            Self::Tlb => "TLB access",
            Self::Mem => "Memory access",
            Self::Snoop => "Snoop",
            Self::Dcacheline => "Data Cacheline",
            Self::PhysDaddr => "Data Physical Address",
            Self::DataPageSize => "Data Page Size",
            Self::Blocked => "Blocked",
        }
    }
}
