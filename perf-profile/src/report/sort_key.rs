//! The keys and the columns of a report.

use super::trace_field::TraceField;

/// A key by which samples are grouped into rows. perf's name of each is what [`ReportColumn::name`] returns.
///
/// perf: `enum sort_type`, `tools/perf/util/sort.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SortKey {
    /// The thread. perf calls this key `pid`, but means the thread.
    Pid,
    /// The thread; perf 6.1 has no name for this key.
    Tid,
    /// The process; perf 6.1 has no name for this key.
    Tgid,
    /// The name of the thread at the sample.
    Comm,
    /// The file, or what else is mapped.
    Dso,
    /// The function.
    Symbol,
    /// The first function of the stack that [`Options::parent`](super::Options::parent) matches.
    Parent,
    /// The CPU.
    Cpu,
    /// File and line of the source code.
    Srcline,
    /// The file of the source code.
    Srcfile,
    /// The weight of a sample.
    LocalWeight,
    /// The sum of the weights of samples.
    Weight,
    /// The text of the tracepoint.
    Trace,
    /// The path of the cgroup.
    Cgroup,
    /// Device and inode of the namespace of cgroups.
    CgroupId,
    /// The start of the span of time: see [`Options::time_quantum`](super::Options::time_quantum).
    Time,
    /// The file that a branch left.
    DsoFrom,
    /// The file that a branch reached.
    DsoTo,
    /// The function that a branch left.
    SymbolFrom,
    /// The function that a branch reached.
    SymbolTo,
    /// Whether a branch was mispredicted.
    Mispredict,
    /// Whether a branch is in a transaction.
    InTx,
    /// Whether a branch aborted a transaction.
    Abort,
    /// The cycles since the branch before.
    Cycles,
    /// The line that a branch left.
    SrclineFrom,
    /// The line that a branch reached.
    SrclineTo,
    /// The address that a branch left.
    AddrFrom,
    /// The address that a branch reached.
    AddrTo,
    /// The socket of the CPU.
    Socket,
    /// The flags of the transaction, and the code of its abort.
    Transaction,
    /// Number of bytes of the function.
    SymbolSize,
    /// Number of bytes of the mapping.
    DsoSize,
    /// Number of bytes of the page of the code.
    CodePageSize,
    /// The latency of an instruction, in cycles.
    LocalInsLat,
    /// The sum of the latencies of instructions, in cycles.
    InsLat,
    /// The cycles that an instruction spent in stages of the pipeline.
    LocalPStageCyc,
    /// The sum of the cycles that instructions spent in stages of the pipeline.
    PStageCyc,
    /// The address in memory.
    Addr,
    /// The symbol of the data that was accessed.
    SymbolDaddr,
    /// The function that accessed data.
    SymbolIaddr,
    /// The file, or what else is mapped at the data that was accessed.
    DsoDaddr,
    /// Whether a memory access was locked.
    Locked,
    /// Where the translation of the address was found.
    Tlb,
    /// The level of memory in which the data was found.
    Mem,
    /// The result of the snoop.
    Snoop,
    /// The line of the data cache.
    Dcacheline,
    /// The physical address of the data.
    PhysDaddr,
    /// Number of bytes of the page of the data.
    DataPageSize,
    /// Why a memory access was blocked.
    Blocked,
    /// A field of tracepoints.
    Field(TraceField),
}

/// A column of a report: a number, or a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReportColumn {
    /// The period of the row's own samples, as a percentage.
    Overhead,
    /// The part of [`Overhead`](Self::Overhead) that is kernel code.
    Sys,
    /// The part of [`Overhead`](Self::Overhead) that is user code.
    User,
    /// The part of [`Overhead`](Self::Overhead) that is kernel code of guests.
    GuestSys,
    /// The part of [`Overhead`](Self::Overhead) that is user code of guests.
    GuestUser,
    /// The period of the row's samples and of those of what it called, as a percentage.
    Children,
    /// The number of the row's own samples.
    Samples,
    /// The sum of the periods of the row's own samples.
    Period,
    /// A key.
    Key(SortKey),
}

/// A property of samples that a column needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyNeed {
    /// None: all samples have it.
    Nothing,
    /// Samples are [branches](super::Options::branches).
    Branches,
    /// Samples are [memory accesses](super::Options::memory).
    MemoryAccesses,
}

/// The meaning of a name of perf.
#[derive(Clone, Copy, Debug)]
pub(super) enum KeyMeaning {
    /// A column, what it needs of samples, and its heading.
    Column(ReportColumn, KeyNeed, &'static str),
    /// What to do instead.
    Refused(&'static str),
}

/// What the refused keys need.
const CODE: &str = "instructions per cycle need the number of instructions between two addresses, and so a decoder of the program's code, \
     which perfdata does not have";

const fn key(key: SortKey, heading: &'static str) -> KeyMeaning {
    KeyMeaning::Column(ReportColumn::Key(key), KeyNeed::Nothing, heading)
}

const fn of_branch(key: SortKey, heading: &'static str) -> KeyMeaning {
    KeyMeaning::Column(ReportColumn::Key(key), KeyNeed::Branches, heading)
}

const fn of_memory(key: SortKey, heading: &'static str) -> KeyMeaning {
    KeyMeaning::Column(ReportColumn::Key(key), KeyNeed::MemoryAccesses, heading)
}

const fn number(column: ReportColumn, heading: &'static str) -> KeyMeaning {
    KeyMeaning::Column(column, KeyNeed::Nothing, heading)
}

/// The names, in the order in which perf looks for one that begins with what was given, and the headings of the columns.
///
/// perf: `sort_dimension__add`, `sort__*.se_header`, `tools/perf/util/sort.c`; `perf_hpp__init`, `tools/perf/ui/hist.c`.
pub(super) const NAMES: &[(&str, KeyMeaning)] = &[
    ("pid", key(SortKey::Pid, "    Pid:Command")),
    ("comm", key(SortKey::Comm, "Command")),
    ("dso", key(SortKey::Dso, "Shared Object")),
    ("symbol", key(SortKey::Symbol, "Symbol")),
    ("parent", key(SortKey::Parent, "Parent symbol")),
    ("cpu", key(SortKey::Cpu, "CPU")),
    ("socket", key(SortKey::Socket, "Socket")),
    ("srcline", key(SortKey::Srcline, "Source:Line")),
    ("srcfile", key(SortKey::Srcfile, "Source File")),
    ("local_weight", key(SortKey::LocalWeight, "Local Weight")),
    ("weight", key(SortKey::Weight, "Weight")),
    // With the blanks that perf has.
    ("transaction", key(SortKey::Transaction, "Transaction                ")),
    ("trace", key(SortKey::Trace, "Trace output")),
    ("symbol_size", key(SortKey::SymbolSize, "Symbol size")),
    ("dso_size", key(SortKey::DsoSize, "DSO size")),
    ("cgroup", key(SortKey::Cgroup, "Cgroup")),
    ("cgroup_id", key(SortKey::CgroupId, "cgroup id (dev/inode)")),
    ("ipc_null", KeyMeaning::Refused(CODE)),
    ("time", key(SortKey::Time, "Time")),
    ("code_page_size", key(SortKey::CodePageSize, "Code Page Size")),
    ("local_ins_lat", key(SortKey::LocalInsLat, "Local INSTR Latency")),
    ("ins_lat", key(SortKey::InsLat, "INSTR Latency")),
    ("local_p_stage_cyc", key(SortKey::LocalPStageCyc, "Local Pipeline Stage Cycle")),
    ("p_stage_cyc", key(SortKey::PStageCyc, "Pipeline Stage Cycle")),
    ("addr", key(SortKey::Addr, "Address")),
    ("overhead", number(ReportColumn::Overhead, "Overhead")),
    ("overhead_sys", number(ReportColumn::Sys, "sys")),
    ("overhead_us", number(ReportColumn::User, "usr")),
    ("overhead_guest_sys", number(ReportColumn::GuestSys, "guest sys")),
    ("overhead_guest_us", number(ReportColumn::GuestUser, "guest usr")),
    ("overhead_children", number(ReportColumn::Children, "Children")),
    ("sample", number(ReportColumn::Samples, "Samples")),
    ("period", number(ReportColumn::Period, "Period")),
    ("dso_from", of_branch(SortKey::DsoFrom, "Source Shared Object")),
    ("dso_to", of_branch(SortKey::DsoTo, "Target Shared Object")),
    ("symbol_from", of_branch(SortKey::SymbolFrom, "Source Symbol")),
    ("symbol_to", of_branch(SortKey::SymbolTo, "Target Symbol")),
    ("mispredict", of_branch(SortKey::Mispredict, "Branch Mispredicted")),
    ("in_tx", of_branch(SortKey::InTx, "Branch in transaction")),
    ("abort", of_branch(SortKey::Abort, "Transaction abort")),
    ("cycles", of_branch(SortKey::Cycles, "Basic Block Cycles")),
    ("srcline_from", of_branch(SortKey::SrclineFrom, "From Source:Line")),
    ("srcline_to", of_branch(SortKey::SrclineTo, "To Source:Line")),
    ("ipc_lbr", KeyMeaning::Refused(CODE)),
    ("addr_from", of_branch(SortKey::AddrFrom, "Source Address")),
    ("addr_to", of_branch(SortKey::AddrTo, "Target Address")),
    ("symbol_daddr", of_memory(SortKey::SymbolDaddr, "Data Symbol")),
    ("symbol_iaddr", of_memory(SortKey::SymbolIaddr, "Code Symbol")),
    ("dso_daddr", of_memory(SortKey::DsoDaddr, "Data Object")),
    ("locked", of_memory(SortKey::Locked, "Locked")),
    ("tlb", of_memory(SortKey::Tlb, "TLB access")),
    ("mem", of_memory(SortKey::Mem, "Memory access")),
    ("snoop", of_memory(SortKey::Snoop, "Snoop")),
    ("dcacheline", of_memory(SortKey::Dcacheline, "Data Cacheline")),
    ("phys_daddr", of_memory(SortKey::PhysDaddr, "Data Physical Address")),
    ("data_page_size", of_memory(SortKey::DataPageSize, "Data Page Size")),
    ("blocked", of_memory(SortKey::Blocked, "Blocked")),
    // perf 6.1 has no name for these.
    ("tid", key(SortKey::Tid, "    Tid:Command")),
    ("tgid", key(SortKey::Tgid, "   Tgid:Command")),
];

impl ReportColumn {
    /// Returns whether it counts by whose code it is.
    pub(super) fn is_of_mode(self) -> bool {
        matches!(self, Self::Sys | Self::User | Self::GuestSys | Self::GuestUser)
    }

    /// Returns perf's name of the column, by which [`KeyList`](super::KeyList) finds it; empty for a field of tracepoints, whose name
    /// [`Layout::name`](super::Layout::name) returns.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.entry().0
    }

    /// Returns perf's heading of the column, with its blanks; empty for a field of tracepoints. Beside [`Children`](Self::Children), perf calls
    /// [`Overhead`](Self::Overhead) `Self`: see [`Layout::heading`](super::Layout::heading).
    #[must_use]
    pub fn heading(self) -> &'static str {
        self.entry().2
    }

    /// Returns all columns but the fields of tracepoints, in the order in which [`KeyList`](super::KeyList) looks for a name.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().filter_map(|&(_, meaning)| match meaning {
            KeyMeaning::Column(column, ..) => Some(column),
            KeyMeaning::Refused(_) => None,
        })
    }

    /// Returns what the column needs of samples.
    #[must_use]
    pub fn need(self) -> KeyNeed {
        self.entry().1
    }

    /// Returns the name, the need and the heading of the column.
    fn entry(self) -> (&'static str, KeyNeed, &'static str) {
        let of = |&(name, meaning): &(&'static str, KeyMeaning)| match meaning {
            KeyMeaning::Column(column, need, heading) if column == self => Some((name, need, heading)),
            _ => None,
        };
        NAMES.iter().find_map(of).unwrap_or(("", KeyNeed::Nothing, ""))
    }
}

impl From<SortKey> for ReportColumn {
    fn from(key: SortKey) -> Self {
        Self::Key(key)
    }
}
