//! The value of a key in a row.

use core::num::NonZero;

use perf_abi::branch::BranchFlags;
use perf_abi::data_src::DataSrc;
use perf_abi::record::CpuMode;
use perf_abi::txn::Txn;
use perf_session::Mapping;

use super::Report;
use super::facts::KeyFacts;
use super::memory_access::LineSharing;
use super::row::ReportRow;
use super::row_key::{RowAddress, RowKey};
use super::sort_key::SortKey;
use super::table::ReportTable;
use crate::function_table::{SourceLine, Symbol};
use crate::table::frames::NONE;

/// The value of a key in a row, as [`ReportTable::cell`] returns it.
///
/// Names are in any encoding that the recorded machine used; [`OneLine`](crate::text::OneLine) makes them safe to print.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ReportCell<'a> {
    /// The row has the samples beyond the limits, whose keys are not known.
    Beyond,
    /// A thread or a process: `pid`, `tid`, `tgid`.
    #[non_exhaustive]
    Task {
        /// Its id.
        id: i32,
        /// The last name of the first one with the id.
        comm: &'a [u8],
    },
    /// A text: `comm`, `trace`, fields of tracepoints.
    Text(&'a [u8]),
    /// The short name of a file, or of what else is mapped; `None` where nothing is: `dso`, `dso_from`, `dso_to`, `dso_daddr`.
    Dso(Option<&'a [u8]>),
    /// A function: `symbol`, `symbol_from`, `symbol_to`, `symbol_iaddr`.
    #[non_exhaustive]
    Symbol {
        /// The function; `None` if it is not known.
        symbol: Option<&'a Symbol>,
        /// The offset in the file of a function that is not known. For `symbol_iaddr`, the address in memory.
        address: u64,
        /// Whose code it is.
        mode: CpuMode,
    },
    /// The parent; `None` if no function of the stack matches the pattern: `parent`.
    Parent(Option<&'a Symbol>),
    /// A CPU or a socket; `None` if it is not known: `cpu`, `socket`.
    Cpu(Option<u32>),
    /// A line of source code: `srcline`, `srcline_from`, `srcline_to`.
    #[non_exhaustive]
    SourceLine {
        /// The file without its folders, and the line; for addresses without a line, function or file with an offset.
        text: &'a [u8],
        /// The line; `None` if none or several have the text.
        line: Option<&'a SourceLine>,
    },
    /// A file of source code: `srcfile`.
    #[non_exhaustive]
    SourceFile {
        /// The name without its folders; `None` if the file is not known.
        name: Option<&'a [u8]>,
        /// The path as the compiler recorded it; `None` if none or several files have the name.
        path: Option<&'a [u8]>,
    },
    /// A number; `None` if it is not known: weights, latencies, and numbers of cycles and bytes.
    Number(Option<u64>),
    /// The path of a cgroup; `None` for no cgroup: `cgroup`.
    Cgroup(Option<&'a [u8]>),
    /// The namespace of cgroups; zeros if it is not known: `cgroup_id`.
    #[non_exhaustive]
    CgroupId {
        /// The device of its file.
        device: u64,
        /// The inode of its file.
        inode: u64,
    },
    /// Nanoseconds of the capture's clock: `time`.
    Time(u64),
    /// A property; `None` if it is not known: `mispredict`, `in_tx`, `abort`.
    Flag(Option<bool>),
    /// An end of a branch: `addr_from`, `addr_to`.
    #[non_exhaustive]
    BranchEnd {
        /// The function; `None` if it is not known.
        symbol: Option<&'a Symbol>,
        /// The offset in the file; the address itself where nothing is mapped.
        offset: u64,
        /// Whose code it is; where nothing is mapped, that of the sample.
        mode: CpuMode,
    },
    /// The flags of a transaction, and the code of its abort: `transaction`.
    Transaction(Txn),
    /// An address in memory: `addr`.
    Address(u64),
    /// Data that was accessed: `symbol_daddr`.
    #[non_exhaustive]
    Data {
        /// The symbol of the data; `None` if it is not known.
        symbol: Option<&'a Symbol>,
        /// The offset in the symbol; `None` in code, and without a symbol.
        offset: Option<u64>,
        /// The address in memory.
        address: u64,
        /// Whose code made the access.
        mode: CpuMode,
    },
    /// The line of the data cache: `dcacheline`.
    #[non_exhaustive]
    CacheLine {
        /// The symbol of the data; `None` if it is not known.
        symbol: Option<&'a Symbol>,
        /// The offset of the line's first byte in the symbol, 0 if the line begins before it; `None` in code, and without a
        /// symbol.
        offset: Option<u64>,
        /// The offset in the file of the line's first byte; the address itself where there is no file.
        start: u64,
        /// Whether processes share the line.
        sharing: LineSharing,
        /// Whose code made the access.
        mode: CpuMode,
    },
    /// A physical address: `phys_daddr`.
    #[non_exhaustive]
    PhysicalAddress {
        /// The address; 0 if it was not recorded.
        address: u64,
        /// Whose code made the access.
        mode: CpuMode,
    },
    /// Properties of a memory access, of which each key shows its own: `locked`, `tlb`, `mem`, `snoop`, `blocked`.
    DataSource(DataSrc),
}

/// A row, with what its keys are made of.
struct CellSource<'a, 'r> {
    report: &'a Report,
    row: &'r ReportRow,
    key: RowKey,
    facts: &'a KeyFacts,
}

impl<'a> ReportTable<'a> {
    /// Returns the value of a key in a row of this table. A key that is not in the [layout](super::ReportPlan::layout) has
    /// the value of what is not known.
    #[must_use]
    pub fn cell(&self, row: &ReportRow, key: SortKey) -> ReportCell<'a> {
        let of = self.key(row).and_then(|of| Some((of, self.report.samples.facts.get(of.facts)?)));
        of.map_or(ReportCell::Beyond, |(of, facts)| {
            CellSource { report: self.report, row, key: of, facts }.cell(key)
        })
    }

    /// Returns whether the function of a row's first sample, or the target of its branch, has a name.
    #[must_use]
    pub fn is_named(&self, row: &ReportRow) -> bool {
        self.report.named.symbol_of(row.frame) != NONE
    }

    /// Returns the names that rows can have for a thread, some of them more than once. Names of other rows of the report may
    /// be among them.
    pub fn comms(&self) -> impl Iterator<Item = &'a [u8]> {
        let facts = &self.report.samples.facts;
        let mut seen = hashbrown::HashSet::new();
        let numbers = self.rows.iter().filter_map(|row| Some(self.key(row)?.facts));
        let of_rows = numbers.filter(move |&number| seen.insert(number));
        of_rows
            .filter_map(|number| facts.get(number))
            .flat_map(|it| [facts.texts.get(it.comm), facts.last_comm(it.tid), facts.last_comm(it.tgid)])
    }
}

impl<'a> CellSource<'a, '_> {
    fn cell(&self, key: SortKey) -> ReportCell<'a> {
        let Self { report, row, key: of, facts } = self;
        let all = &report.samples.facts;
        let (address, from) = (&of.address, &of.from);
        // 0 means not known.
        let known = |number: u64| ReportCell::Number(Some(number).filter(|&it| it != 0));
        let sum = |number: u64| ReportCell::Number(Some(number.wrapping_mul(row.samples())));
        let flag = |flag: BranchFlags| facts.branch.contains(flag);
        match key {
            SortKey::Pid | SortKey::Tid => self.task(facts.tid),
            SortKey::Tgid => self.task(facts.tgid),
            SortKey::Comm => ReportCell::Text(all.texts.get(facts.comm)),
            SortKey::Dso | SortKey::DsoTo => self.dso(address.dso),
            SortKey::DsoFrom => self.dso(from.dso),
            SortKey::DsoDaddr => self.dso(of.data),
            SortKey::Symbol | SortKey::SymbolTo => self.symbol(address, row.frame),
            SortKey::SymbolFrom => self.symbol(from, row.from),
            SortKey::SymbolIaddr => {
                let (symbol, address) = (self.symbol_at(row.frame), facts.access.ip);
                ReportCell::Symbol { symbol, address, mode: self.mode() }
            }
            SortKey::Parent => ReportCell::Parent(report.named.symbol(of.parent)),
            SortKey::Cpu => ReportCell::Cpu(u32::try_from(facts.cpu).ok()),
            SortKey::Socket => ReportCell::Cpu(u32::try_from(facts.socket).ok()),
            SortKey::Srcline | SortKey::SrclineTo => self.source_line(address.srcline),
            SortKey::SrclineFrom => self.source_line(from.srcline),
            SortKey::Srcfile => self.source_file(address.srcfile),
            SortKey::LocalWeight => ReportCell::Number(Some(facts.weight)),
            SortKey::Weight => sum(facts.weight),
            SortKey::LocalInsLat => ReportCell::Number(Some(facts.ins_lat.into())),
            SortKey::InsLat => sum(facts.ins_lat.into()),
            SortKey::LocalPStageCyc => ReportCell::Number(Some(facts.p_stage_cyc.into())),
            SortKey::PStageCyc => sum(facts.p_stage_cyc.into()),
            SortKey::Trace => ReportCell::Text(all.texts.get(facts.trace)),
            SortKey::Field(field) => ReportCell::Text(all.trace_field(facts, field)),
            SortKey::Cgroup => ReportCell::Cgroup(all.cgroup(facts.cgroup)),
            SortKey::CgroupId => {
                let (device, inode) = facts.cgroup_id;
                ReportCell::CgroupId { device, inode }
            }
            SortKey::Time => ReportCell::Time(facts.time),
            SortKey::Mispredict => ReportCell::Flag(match () {
                () if flag(BranchFlags::PREDICTED) => Some(false),
                () if flag(BranchFlags::MISPRED) => Some(true),
                () => None,
            }),
            SortKey::InTx => ReportCell::Flag(Some(flag(BranchFlags::IN_TX))),
            SortKey::Abort => ReportCell::Flag(Some(flag(BranchFlags::ABORT))),
            SortKey::Cycles => {
                ReportCell::Number(NonZero::new(facts.branch.cycles()).map(|it| it.get().into()))
            }
            SortKey::AddrFrom => self.branch_end(row.from),
            SortKey::AddrTo => self.branch_end(row.frame),
            SortKey::Transaction => ReportCell::Transaction(facts.transaction),
            SortKey::SymbolSize => ReportCell::Number(address.size),
            SortKey::DsoSize => known(of.mapped),
            SortKey::CodePageSize => known(facts.code_page_size),
            SortKey::DataPageSize => known(facts.access.page_size),
            SortKey::Addr => ReportCell::Address(of.ip),
            SortKey::SymbolDaddr => self.data(),
            SortKey::Dcacheline => self.cache_line(),
            SortKey::PhysDaddr => {
                ReportCell::PhysicalAddress { address: facts.access.physical, mode: self.mode() }
            }
            SortKey::Locked | SortKey::Tlb | SortKey::Mem | SortKey::Snoop | SortKey::Blocked => {
                ReportCell::DataSource(DataSrc(facts.access.source))
            }
        }
    }

    /// Returns whose code the row is of.
    fn mode(&self) -> CpuMode {
        self.report.samples.table.frames.mode(self.row.frame)
    }

    fn symbol_at(&self, frame: u32) -> Option<&'a Symbol> {
        let named = &self.report.named;
        named.symbol(named.symbol_of(frame))
    }

    fn task(&self, id: i32) -> ReportCell<'a> {
        ReportCell::Task { id, comm: self.report.samples.facts.last_comm(id) }
    }

    fn dso(&self, number: u32) -> ReportCell<'a> {
        ReportCell::Dso((number != NONE).then(|| self.report.named.short_name(number)))
    }

    fn symbol(&self, it: &RowAddress, frame: u32) -> ReportCell<'a> {
        let mode = self.report.samples.table.frames.mode(frame);
        ReportCell::Symbol { symbol: self.report.named.symbol(it.symbol), address: it.offset, mode }
    }

    fn source_line(&self, number: u32) -> ReportCell<'a> {
        let Report { lines, named, .. } = self.report;
        ReportCell::SourceLine { text: lines.srcline_text(number), line: named.line(lines.only_line(number)) }
    }

    fn source_file(&self, number: u32) -> ReportCell<'a> {
        let Report { lines, named, .. } = self.report;
        ReportCell::SourceFile {
            name: (number != NONE).then(|| lines.srcfile_text(number)),
            path: named.line(lines.line_of_only_file(number)).map(|line| &*line.file),
        }
    }

    fn branch_end(&self, frame: u32) -> ReportCell<'a> {
        let frames = &self.report.samples.table.frames;
        let place = frames.location(frame);
        let is_mapped = place.is_some_and(|it| it.dso != NONE);
        ReportCell::BranchEnd {
            symbol: self.symbol_at(frame),
            offset: place.map_or(0, |it| it.offset),
            mode: if is_mapped { frames.mode(frame) } else { self.row.mode },
        }
    }

    /// Returns whether the data is no code: perf has the offset in data alone.
    fn is_data(&self) -> bool {
        !self.report.samples.table.frames.mapping(self.row.data).is_some_and(Mapping::is_executable)
    }

    /// perf: `hist_entry__daddr_snprintf`, `tools/perf/util/sort.c`.
    fn data(&self) -> ReportCell<'a> {
        let symbol = self.symbol_at(self.row.data);
        let place = self.report.samples.table.frames.location(self.row.data);
        let in_file = place.map_or(0, |it| it.offset);
        let offset = symbol.filter(|_| self.is_data()).map(|it| in_file.saturating_sub(it.start));
        ReportCell::Data { symbol, offset, address: self.facts.access.address, mode: self.mode() }
    }

    /// perf: `hist_entry__dcacheline_snprintf`, `tools/perf/util/sort.c`.
    fn cache_line(&self) -> ReportCell<'a> {
        let symbol = self.symbol_at(self.row.data);
        let line = &self.facts.access.line;
        let offset = symbol.filter(|_| self.is_data()).map(|it| line.start.saturating_sub(it.start));
        ReportCell::CacheLine { symbol, offset, start: line.start, sharing: line.sharing, mode: self.mode() }
    }
}
