//! The lines of the cache that were accessed, and the names of the code that did.

use std::collections::BTreeSet;

use perf_parse::file::Account;

use super::access::C2cAccess;
use super::counts::AccessCounts;
use super::line_key::LineKey;
use super::nodes::MachineNodes;
use super::options::C2cSort;
use crate::function_table::{FunctionTable, SourceLine, Symbol};
use crate::report::{CallGraphOptions, GraphBuilder, GraphTree, StackOrder, functions_of};
use crate::sched::PerfVersion;
use crate::stack_table::StackTable;
use crate::table::frames::{FrameLocation, FrameTable, NONE};

/// A line of the cache.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct C2cLine {
    /// The address of its first byte, where the first access had it.
    pub address: u64,
    /// What the accesses were.
    pub counts: AccessCounts,
    /// The CPUs that made them.
    pub cpus: BTreeSet<u32>,
    /// The nodes of the memory.
    pub memory_nodes: BTreeSet<u64>,
    /// How often the physical address was another one than that of the access before, the first one included.
    pub physical: u64,
    /// The rows: those of the lowest offset first.
    pub accesses: Vec<C2cAccess>,
    /// Whether it is worth to be shown: see [`C2cOptions::all`](super::C2cOptions::all).
    pub is_shown: bool,
    pub(super) last_physical: u64,
    pub(super) key: LineKey,
}

/// Memory accesses by line of the cache. Made by [`Samples::c2c`](crate::Samples::c2c).
///
/// perf: `perf_c2c__report`, `tools/perf/builtin-c2c.c`.
#[derive(Debug)]
pub struct C2cReport {
    pub(super) lines: Vec<C2cLine>,
    pub(super) counts: AccessCounts,
    pub(super) shared: AccessCounts,
    pub(super) shared_lines: u64,
    pub(super) nodes: MachineNodes,
    pub(super) sort: C2cSort,
    pub(super) names: Names,
    pub(super) dropped: u64,
    pub(super) unknown_nodes: u64,
    pub(super) account: Account,
    pub(super) omitted: u64,
}

/// The names of the code.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) named: FunctionTable,
    pub(super) table: StackTable,
    pub(super) version: PerfVersion,
}

/// perf: `SRCLINE_UNKNOWN`, `tools/perf/util/srcline.h`.
const UNKNOWN: &[u8] = b"??:0";

impl C2cReport {
    /// Returns the lines of the cache: those with the most of what they are sorted by come first.
    #[must_use]
    pub fn lines(&self) -> &[C2cLine] {
        &self.lines
    }

    /// Returns what all accesses were.
    #[must_use]
    pub fn counts(&self) -> &AccessCounts {
        &self.counts
    }

    /// Returns what the accesses to lines were that another cache had modified, or transferred, at least once.
    #[must_use]
    pub fn shared(&self) -> &AccessCounts {
        &self.shared
    }

    /// Returns the number of those lines.
    #[must_use]
    pub fn shared_lines(&self) -> u64 {
        self.shared_lines
    }

    /// Returns the nodes of the machine.
    #[must_use]
    pub fn nodes(&self) -> &MachineNodes {
        &self.nodes
    }

    /// Returns what lines and rows are sorted by.
    #[must_use]
    pub fn sort(&self) -> C2cSort {
        self.sort
    }

    /// Returns the number of accesses that are in no line, because there are too many rows.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns the number of accesses with a physical address that is on no node.
    #[must_use]
    pub fn unknown_nodes(&self) -> u64 {
        self.unknown_nodes
    }

    /// Returns what could not be decoded.
    #[must_use]
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Returns the number of samples without the user part of their call chain: too many waited for it.
    #[must_use]
    pub fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Returns the function of a row; `None` if it has no name.
    #[must_use]
    pub fn symbol(&self, access: &C2cAccess) -> Option<&Symbol> {
        let Names { named, .. } = &self.names;
        named.symbol(named.symbol_of(access.frame))
    }

    /// Returns the offset of a row's instruction in its file; the address in memory where nothing is mapped.
    #[must_use]
    pub fn code_offset(&self, access: &C2cAccess) -> u64 {
        self.location(access).map_or(access.ip, |place| place.offset)
    }

    /// Returns the short name of the file of a row's instruction; `None` where nothing is mapped.
    #[must_use]
    pub fn dso(&self, access: &C2cAccess) -> Option<&[u8]> {
        let Names { named, .. } = &self.names;
        let place = self.location(access).filter(|place| place.dso != NONE)?;
        Some(named.short_name(named.short_name_of(place.dso)))
    }

    /// Returns the line of source code of a row; `None` if it is not known.
    #[must_use]
    pub fn source_line(&self, access: &C2cAccess) -> Option<&SourceLine> {
        let Names { named, .. } = &self.names;
        named.line(named.line_of(access.frame))
    }

    /// Returns the text that perf has for the line of source code of a row: the name of the file without its folders, and the line.
    /// Without a line, 7.2 has a function or a file with an offset, and 6.1 none for code of files.
    #[must_use]
    pub fn source_text(&self, access: &C2cAccess) -> Vec<u8> {
        let Names { named, table, version } = &self.names;
        if let Some(line) = self.source_line(access) {
            return crate::report::source_line_text(line);
        }
        let is_file =
            table.frames.dso_of(access.frame).is_some_and(|dso| dso.kind() == perf_session::DsoKind::File);
        if *version == PerfVersion::V6_1 && is_file {
            return UNKNOWN.to_vec();
        }
        crate::report::text_without_line(access.frame, named, table)
    }

    /// Returns the call graph of a row; `None` if it has no stacks: see [`C2cOptions::stacks`](super::C2cOptions::stacks). The innermost
    /// function comes first, unless the options say otherwise.
    ///
    /// Costs a step for each function of each different stack.
    #[must_use]
    pub fn call_graph(&self, access: &C2cAccess, graph: &CallGraphOptions) -> Option<GraphTree> {
        let Names { named, table, .. } = &self.names;
        let mut builder = GraphBuilder::new(&table.frames, named, graph.by);
        let how = (graph.order.unwrap_or(StackOrder::Callee), false);
        let mut functions = Vec::new();
        for (&stack, &total) in &access.stacks {
            functions_of(table, named, stack, how, &mut functions);
            builder.add(&functions, total);
        }
        Some(builder.finish()).filter(|tree| !tree.is_empty())
    }

    /// Returns the addresses of the call graphs.
    #[must_use]
    pub fn frames(&self) -> &FrameTable {
        &self.names.table.frames
    }

    /// Returns the functions of all addresses.
    #[must_use]
    pub fn function_table(&self) -> &FunctionTable {
        &self.names.named
    }

    fn location(&self, access: &C2cAccess) -> Option<&FrameLocation> {
        self.names.table.frames.location(access.frame)
    }
}
