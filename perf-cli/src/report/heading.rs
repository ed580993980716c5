//! The headings of columns.

use perf_profile::report::{Layout, ReportColumn, SortKey};

/// Returns the heading of a column, as perf has it.
///
/// perf: `perf_hpp__init`, `tools/perf/ui/hist.c`.
pub(super) fn of(layout: &Layout, column: ReportColumn) -> &'static str {
    match column {
        ReportColumn::Overhead if layout.is_own_named => "Self",
        ReportColumn::Overhead => "Overhead",
        ReportColumn::Sys => "sys",
        ReportColumn::User => "usr",
        ReportColumn::GuestSys => "guest sys",
        ReportColumn::GuestUser => "guest usr",
        ReportColumn::Children => "Children",
        ReportColumn::Samples => "Samples",
        ReportColumn::Period => "Period",
        ReportColumn::Key(key) => of_key(key),
        column => column.name(),
    }
}

fn of_key(key: SortKey) -> &'static str {
    match key {
        SortKey::Pid => "    Pid:Command",
        SortKey::Tid => "    Tid:Command",
        SortKey::Tgid => "   Tgid:Command",
        SortKey::Comm => "Command",
        SortKey::Dso => "Shared Object",
        SortKey::Symbol => "Symbol",
        SortKey::Parent => "Parent symbol",
        SortKey::Cpu => "CPU",
        SortKey::Srcline => "Source:Line",
        SortKey::Srcfile => "Source File",
        SortKey::LocalWeight => "Local Weight",
        SortKey::Weight => "Weight",
        SortKey::Trace => "Trace output",
        SortKey::Cgroup => "Cgroup",
        SortKey::CgroupId => "cgroup id (dev/inode)",
        SortKey::Time => "Time",
        SortKey::DsoFrom => "Source Shared Object",
        SortKey::DsoTo => "Target Shared Object",
        SortKey::SymbolFrom => "Source Symbol",
        SortKey::SymbolTo => "Target Symbol",
        SortKey::Mispredict => "Branch Mispredicted",
        SortKey::InTx => "Branch in transaction",
        SortKey::Abort => "Transaction abort",
        SortKey::Cycles => "Basic Block Cycles",
        SortKey::SrclineFrom => "From Source:Line",
        SortKey::SrclineTo => "To Source:Line",
        SortKey::AddrFrom => "Source Address",
        SortKey::AddrTo => "Target Address",
        SortKey::Socket => "Socket",
        // With the blanks that perf has.
        SortKey::Transaction => "Transaction                ",
        SortKey::SymbolSize => "Symbol size",
        SortKey::DsoSize => "DSO size",
        SortKey::CodePageSize => "Code Page Size",
        SortKey::LocalInsLat => "Local INSTR Latency",
        SortKey::InsLat => "INSTR Latency",
        SortKey::LocalPStageCyc => "Local Pipeline Stage Cycle",
        SortKey::PStageCyc => "Pipeline Stage Cycle",
        SortKey::Addr => "Address",
        SortKey::SymbolDaddr => "Data Symbol",
        SortKey::SymbolIaddr => "Code Symbol",
        SortKey::DsoDaddr => "Data Object",
        SortKey::Locked => "Locked",
        SortKey::Tlb => "TLB access",
        SortKey::Mem => "Memory access",
        SortKey::Snoop => "Snoop",
        SortKey::Dcacheline => "Data Cacheline",
        SortKey::PhysDaddr => "Data Physical Address",
        SortKey::DataPageSize => "Data Page Size",
        SortKey::Blocked => "Blocked",
        key => ReportColumn::Key(key).name(),
    }
}
