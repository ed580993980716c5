//! The keys and the columns of a report.

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

/// A property of samples that a key needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyNeed {
    Nothing,
    Branches,
    MemoryAccesses,
}

/// The meaning of a name of perf.
#[derive(Clone, Copy, Debug)]
pub(super) enum KeyMeaning {
    Column(ReportColumn, KeyNeed),
    /// What to do instead.
    Refused(&'static str),
}

/// What the refused keys need.
const CODE: &str = "instructions per cycle need the number of instructions between two addresses, and so a decoder of the program's code, \
     which perfdata does not have";

const fn key(key: SortKey) -> KeyMeaning {
    KeyMeaning::Column(ReportColumn::Key(key), KeyNeed::Nothing)
}

const fn of_branch(key: SortKey) -> KeyMeaning {
    KeyMeaning::Column(ReportColumn::Key(key), KeyNeed::Branches)
}

const fn of_memory(key: SortKey) -> KeyMeaning {
    KeyMeaning::Column(ReportColumn::Key(key), KeyNeed::MemoryAccesses)
}

const fn number(column: ReportColumn) -> KeyMeaning {
    KeyMeaning::Column(column, KeyNeed::Nothing)
}

/// The names, in the order in which perf looks for one that begins with what was given.
///
/// perf: `sort_dimension__add`, `tools/perf/util/sort.c`.
pub(super) const NAMES: &[(&str, KeyMeaning)] = &[
    ("pid", key(SortKey::Pid)),
    ("comm", key(SortKey::Comm)),
    ("dso", key(SortKey::Dso)),
    ("symbol", key(SortKey::Symbol)),
    ("parent", key(SortKey::Parent)),
    ("cpu", key(SortKey::Cpu)),
    ("socket", key(SortKey::Socket)),
    ("srcline", key(SortKey::Srcline)),
    ("srcfile", key(SortKey::Srcfile)),
    ("local_weight", key(SortKey::LocalWeight)),
    ("weight", key(SortKey::Weight)),
    ("transaction", key(SortKey::Transaction)),
    ("trace", key(SortKey::Trace)),
    ("symbol_size", key(SortKey::SymbolSize)),
    ("dso_size", key(SortKey::DsoSize)),
    ("cgroup", key(SortKey::Cgroup)),
    ("cgroup_id", key(SortKey::CgroupId)),
    ("ipc_null", KeyMeaning::Refused(CODE)),
    ("time", key(SortKey::Time)),
    ("code_page_size", key(SortKey::CodePageSize)),
    ("local_ins_lat", key(SortKey::LocalInsLat)),
    ("ins_lat", key(SortKey::InsLat)),
    ("local_p_stage_cyc", key(SortKey::LocalPStageCyc)),
    ("p_stage_cyc", key(SortKey::PStageCyc)),
    ("addr", key(SortKey::Addr)),
    ("overhead", number(ReportColumn::Overhead)),
    ("overhead_sys", number(ReportColumn::Sys)),
    ("overhead_us", number(ReportColumn::User)),
    ("overhead_guest_sys", number(ReportColumn::GuestSys)),
    ("overhead_guest_us", number(ReportColumn::GuestUser)),
    ("overhead_children", number(ReportColumn::Children)),
    ("sample", number(ReportColumn::Samples)),
    ("period", number(ReportColumn::Period)),
    ("dso_from", of_branch(SortKey::DsoFrom)),
    ("dso_to", of_branch(SortKey::DsoTo)),
    ("symbol_from", of_branch(SortKey::SymbolFrom)),
    ("symbol_to", of_branch(SortKey::SymbolTo)),
    ("mispredict", of_branch(SortKey::Mispredict)),
    ("in_tx", of_branch(SortKey::InTx)),
    ("abort", of_branch(SortKey::Abort)),
    ("cycles", of_branch(SortKey::Cycles)),
    ("srcline_from", of_branch(SortKey::SrclineFrom)),
    ("srcline_to", of_branch(SortKey::SrclineTo)),
    ("ipc_lbr", KeyMeaning::Refused(CODE)),
    ("addr_from", of_branch(SortKey::AddrFrom)),
    ("addr_to", of_branch(SortKey::AddrTo)),
    ("symbol_daddr", of_memory(SortKey::SymbolDaddr)),
    ("symbol_iaddr", of_memory(SortKey::SymbolIaddr)),
    ("dso_daddr", of_memory(SortKey::DsoDaddr)),
    ("locked", of_memory(SortKey::Locked)),
    ("tlb", of_memory(SortKey::Tlb)),
    ("mem", of_memory(SortKey::Mem)),
    ("snoop", of_memory(SortKey::Snoop)),
    ("dcacheline", of_memory(SortKey::Dcacheline)),
    ("phys_daddr", of_memory(SortKey::PhysDaddr)),
    ("data_page_size", of_memory(SortKey::DataPageSize)),
    ("blocked", of_memory(SortKey::Blocked)),
    // perf 6.1 has no name for these.
    ("tid", key(SortKey::Tid)),
    ("tgid", key(SortKey::Tgid)),
];

impl ReportColumn {
    /// Returns whether it counts by whose code it is.
    pub(super) fn is_of_mode(self) -> bool {
        matches!(self, Self::Sys | Self::User | Self::GuestSys | Self::GuestUser)
    }

    /// Returns perf's name of the column, by which [`KeyList`](super::KeyList) finds it.
    #[must_use]
    pub fn name(self) -> &'static str {
        let is = |meaning: &KeyMeaning| matches!(*meaning, KeyMeaning::Column(column, _) if column == self);
        NAMES.iter().find(|(_, meaning)| is(meaning)).map_or("", |(name, _)| name)
    }

    /// Returns what the column needs of samples.
    pub(super) fn need(self) -> KeyNeed {
        let need = |(_, meaning): &(&str, KeyMeaning)| match *meaning {
            KeyMeaning::Column(column, need) if column == self => Some(need),
            _ => None,
        };
        NAMES.iter().find_map(need).unwrap_or(KeyNeed::Nothing)
    }
}

impl From<SortKey> for ReportColumn {
    fn from(key: SortKey) -> Self {
        Self::Key(key)
    }
}
