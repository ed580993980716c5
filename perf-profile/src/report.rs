//! The rows of a report: where the time went, by function, file, thread, and whatever else samples can be grouped by.
//!
//! [`Samples::report`](crate::Samples::report) groups the samples of a capture by the keys of [`Options`], which are those of
//! `perf report`. The [`Report`] has a [table](Report::table) for each event, or group of events, whose [rows](ReportRow) count
//! samples, and have a [value](ReportCell) for each key. Rows can include the cost of callees, and each row can have a
//! [call graph](ReportTable::call_graph).
//!
//! A [`ReportPlan`] has what follows from the options and from the capture, before any sample is read. A [`ReportBuilder`]
//! takes samples that a program has from elsewhere.
//!
//! # Examples
//!
//! The functions of each thread's name, as `perfdata report --sort comm,sym` has them:
//!
//! ```
//! use perf_parse::Reader;
//! use perf_profile::report::{Options, Percentage, ReportCell, SortKey, percent};
//! use perf_profile::{Samples, Symbols};
//!
//! # let path = "examples/captures/plain.data";
//! let reader = Reader::open(path)?;
//! let symbols = Symbols::of(&reader);
//! let mut options = Options::default();
//! options.sort = Some("comm,sym".parse()?);
//! let report = Samples::of(&reader).threads(4).report(&symbols, &options, &mut ())?;
//! for events in report.tables() {
//!     let table = report.table(events, Percentage::Absolute);
//!     for row in table.shown() {
//!         for (count, total) in row.counts().iter().zip(table.totals()) {
//!             print!("{:6.2}% ", percent(count.own.period, total.period));
//!         }
//!         if let ReportCell::Text(comm) = table.cell(row, SortKey::Comm) {
//!             print!("{} ", String::from_utf8_lossy(comm));
//!         }
//!         match table.cell(row, SortKey::Symbol) {
//!             ReportCell::Symbol { symbol: Some(symbol), .. } => {
//!                 println!("{}", String::from_utf8_lossy(&symbol.name));
//!             }
//!             ReportCell::Symbol { address, .. } => println!("{address:#x}"),
//!             _ => println!("beyond the limits"),
//!         }
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod builder;
mod call_graph;
mod call_tree;
mod cell;
mod event_totals;
mod facts;
mod key_list;
mod layout;
mod machine;
mod memory_access;
mod options;
mod order;
mod pass;
mod plan;
mod ranks;
mod row;
mod row_index;
mod row_key;
mod row_keys;
mod row_stacks;
mod samples;
mod sort_key;
mod source_texts;
mod stack_function;
mod table;
mod table_events;
mod texts;
mod time_quantum;
mod trace_field;

use std::borrow::Cow;
use std::collections::BTreeMap;

use hashbrown::HashMap;
use perf_parse::file::Account;
use perf_symbol::SymbolLookup;
use regex_lite::Regex;

pub use crate::error::ReportError;
use crate::function_table::FunctionTable;
use crate::missing_symbols::MissingSymbols;
use crate::quality::Quality;
use crate::table::frames::{FrameTable, NONE};
pub use crate::trace_field_name::TraceFieldName;
pub use builder::{DescribedSample, PendingReportSample, ReportBuilder, SampleFrames};
pub use call_graph::{
    BranchValue, CallGraphError, CallGraphOptions, CallGraphStyle, FrameIdentity, StackOrder,
};
pub(crate) use call_tree::GraphBuilder;
pub use call_tree::{GraphBranch, GraphTree};
pub use cell::ReportCell;
pub use event_totals::EventTotals;
pub use facts::TraceAsk;
pub use key_list::{KeyList, KeyListError};
pub use layout::Layout;
pub(crate) use machine::line_size;
pub use memory_access::{LineSharing, NO_DATA_SRC, weight_of};
pub use options::{EventGrouping, Options};
pub use plan::ReportPlan;
use ranks::RowRanks;
pub use row::{ReportRow, RowCount};
pub use row_stacks::RowStacks;
use samples::ReportSamples;
pub use sort_key::{KeyNeed, ReportColumn, SortKey};
use source_texts::SourceTexts;
pub(crate) use source_texts::{with_line as source_line_text, without_line as text_without_line};
pub use stack_function::StackFunction;
pub(crate) use stack_function::functions_of;
pub use table::{Percentage, ReportTable, percent};
pub use table_events::TableEvents;
pub use time_quantum::{TimeQuantum, TimeQuantumError};
pub use trace_field::TraceField;

/// The samples of a capture with names, grouped by keys.
#[derive(Debug)]
pub struct Report {
    plan: ReportPlan,
    samples: ReportSamples,
    named: FunctionTable,
    quality: Quality,
    lookups: Vec<SymbolLookup>,
    tables: Vec<TableEvents>,
    /// By symbol whose name matches that of parents: the first symbol with the same name; [`NONE`] for others. Empty if no key
    /// needs it.
    parents: Vec<u32>,
    /// By symbol: the one that rows have for it, see [`row_symbols`].
    row_symbols: Vec<u32>,
    /// The texts of source lines, if a key needs them.
    lines: SourceTexts,
    ranks: RowRanks,
    account: Account,
    omitted: u64,
}

impl Report {
    fn new(
        plan: ReportPlan,
        samples: ReportSamples,
        named: FunctionTable,
        quality: Quality,
        lookups: Vec<SymbolLookup>,
    ) -> Self {
        let parents = match plan.parent.as_ref().filter(|_| plan.layout.has(SortKey::Parent)) {
            Some(pattern) => parents(&named, pattern),
            None => Vec::new(),
        };
        let lines = match plan.layout.has_source() {
            true => SourceTexts::new(&named, &samples.table),
            false => SourceTexts::default(),
        };
        let tables = plan.events.tables(&samples.events);
        let (row_symbols, ranks) = (row_symbols(&named), RowRanks::default());
        let (account, omitted) = (Account::default(), 0);
        Self {
            plan,
            samples,
            named,
            quality,
            lookups,
            tables,
            parents,
            row_symbols,
            lines,
            ranks,
            account,
            omitted,
        }
    }

    /// Sets the account of the capture, and the number of samples without the user part of their call chain.
    fn with_account(self, account: Account, omitted: u64) -> Self {
        Self { account, omitted, ..self }
    }

    /// Returns the account of the capture's records, with what could not be decoded; that of a report from a
    /// [`ReportBuilder`] is empty.
    #[must_use]
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Returns the number of samples without the user part of their call chain, because too many waited for it.
    #[must_use]
    pub fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Returns the contents of the report.
    #[must_use]
    pub fn plan(&self) -> &ReportPlan {
        &self.plan
    }

    /// Returns the events of each table, in the order of the capture. Events without samples have none.
    #[must_use]
    pub fn tables(&self) -> &[TableEvents] {
        &self.tables
    }

    /// Returns the totals of the events with samples, by their indices in the capture.
    #[must_use]
    pub fn events(&self) -> &BTreeMap<usize, EventTotals> {
        &self.samples.events
    }

    /// Returns the number of samples that are selected.
    #[must_use]
    pub fn selected(&self) -> u64 {
        self.samples.events.values().map(|it| it.selected.samples).sum()
    }

    /// Returns the addresses of all samples.
    #[must_use]
    pub fn frames(&self) -> &FrameTable {
        &self.samples.table.frames
    }

    /// Returns the functions of all addresses.
    #[must_use]
    pub fn function_table(&self) -> &FunctionTable {
        &self.named
    }

    /// Returns the last name of the first thread with an id; empty if no row has it as a key.
    #[must_use]
    pub fn comm(&self, tid: i32) -> &[u8] {
        self.samples.facts.last_comm(tid)
    }

    /// Returns the quality of the stacks and names.
    #[must_use]
    pub fn quality(&self) -> &Quality {
        &self.quality
    }

    /// Returns the files that names were looked for in. Empty if they were not looked for.
    #[must_use]
    pub fn lookups(&self) -> &[SymbolLookup] {
        &self.lookups
    }

    /// Returns the files without names, those with the most frames first. Empty if names were not looked for.
    #[must_use]
    pub fn missing(&self) -> Vec<MissingSymbols> {
        if self.lookups.is_empty() { Vec::new() } else { self.quality.missing(&self.lookups) }
    }
}

/// Returns for each symbol the one that rows have for it: an inlined function is one function, whichever ones it is inlined
/// into. In perf it is one in each of them.
fn row_symbols(named: &FunctionTable) -> Vec<u32> {
    let mut first: HashMap<(u32, Cow<'_, [u8]>), u32> = HashMap::new();
    let mut numbers = Vec::new();
    for (symbol, number) in named.symbols().iter().zip(0..) {
        numbers.push(match symbol.is_inlined {
            true => *first.entry((symbol.dso, symbol.label())).or_insert(number),
            false => number,
        });
    }
    numbers
}

/// Returns the parents of a [`Report`]: perf merges rows by their names.
///
/// perf: `sort__parent_cmp`, `tools/perf/util/sort.c`.
fn parents(named: &FunctionTable, pattern: &Regex) -> Vec<u32> {
    let mut first: HashMap<Cow<'_, [u8]>, u32> = HashMap::new();
    let mut parents = Vec::new();
    for (symbol, number) in named.symbols().iter().zip(0..) {
        let is_parent = pattern.is_match(&String::from_utf8_lossy(&symbol.name));
        parents.push(if is_parent { *first.entry(symbol.label()).or_insert(number) } else { NONE });
    }
    parents
}
