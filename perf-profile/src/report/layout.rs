//! The columns of a report, and the order of its rows.

use super::key_list::{KeyList, KeyNames};
use super::options::Options;
use super::sort_key::{KeyNeed, ReportColumn, SortKey};
use super::trace_field::{self, TraceField};
use crate::error::ReportError;
use crate::trace_field_name::TraceFieldName;
use crate::tracepoints::TracepointTexts;

/// The columns of a report, and those by which its rows are ordered.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Layout {
    /// The columns, from the left.
    pub columns: Vec<ReportColumn>,
    /// The columns by which rows are ordered, the most important first. They have the same columns as
    /// [`columns`](Self::columns).
    pub order: Vec<ReportColumn>,
    /// Whether perf names [`ReportColumn::Overhead`] `Self`, as it stands beside [`ReportColumn::Children`].
    pub is_own_named: bool,
    /// The fields of tracepoints among the columns, by their numbers.
    pub trace_fields: Vec<TraceFieldName>,
}

/// Properties of the samples, on which the defaults depend.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SampleKind {
    /// Rows include the cost of callees.
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

impl SampleKind {
    /// Returns the keys of the samples.
    fn default_keys(self) -> &'static [SortKey] {
        match self {
            Self { branches: true, .. } => &BRANCHES,
            Self { only_tracepoints: true, .. } => &[SortKey::Trace],
            Self { memory: true, pipeline: true, .. } => &MEMORY,
            // As perf does on other machines, without the key that is the last one.
            Self { memory: true, .. } => MEMORY.split_last().map_or(&[], |(_, keys)| keys),
            _ => &[SortKey::Comm, SortKey::Dso, SortKey::Symbol],
        }
    }

    /// Checks that the samples have what a column needs.
    fn check(self, option: &'static str, word: &str, column: ReportColumn) -> Result<(), ReportError> {
        match column.need() {
            KeyNeed::Branches if !self.branches => {
                Err(ReportError::BranchKey { option, word: word.to_owned(), name: column.name() })
            }
            KeyNeed::MemoryAccesses if !self.memory => {
                Err(ReportError::MemoryKey { option, word: word.to_owned(), name: column.name() })
            }
            _ => Ok(()),
        }
    }
}

const BRANCHES: [SortKey; 5] =
    [SortKey::Comm, SortKey::DsoFrom, SortKey::SymbolFrom, SortKey::SymbolTo, SortKey::Cycles];

/// The keys of memory accesses. The last one is left out on machines that do not count it.
///
/// perf: `default_mem_sort_order`, `tools/perf/util/sort.c`.
const MEMORY: [SortKey; 12] = [
    SortKey::LocalWeight,
    SortKey::Mem,
    SortKey::Symbol,
    SortKey::Dso,
    SortKey::SymbolDaddr,
    SortKey::DsoDaddr,
    SortKey::Snoop,
    SortKey::Tlb,
    SortKey::Locked,
    SortKey::Blocked,
    SortKey::LocalInsLat,
    SortKey::LocalPStageCyc,
];

impl Layout {
    /// perf: `setup_sorting` and `perf_hpp__init`, `tools/perf/util/sort.c` and `tools/perf/ui/hist.c`.
    pub(super) fn new(
        options: &Options,
        kind: SampleKind,
        tracepoints: &TracepointTexts<'_>,
    ) -> Result<Self, ReportError> {
        let mut trace_fields = TraceFields { list: Vec::new(), tracepoints };
        let (sort, fields) = (options.sort.as_ref(), options.fields.as_ref());
        let is_strict = fields.is_some_and(|list| !list.is_addition());
        let mut order = Vec::new();
        if !is_strict {
            // As perf does, unless the list has them at another place.
            let mentions = |part: &str| sort.is_some_and(|list| list.mentions(part));
            if kind.children && !mentions("overhead_children") {
                order.push(ReportColumn::Children);
            }
            if !mentions("overhead") {
                order.push(ReportColumn::Overhead);
            }
        }
        let has_default = sort.map_or(!is_strict, KeyList::is_addition);
        if has_default {
            add(kind.default_keys().iter().map(|&key| key.into()), &mut order);
        }
        if let Some(list) = sort {
            add_list("sort", list, kind, &mut trace_fields, &mut order)?;
        }
        if options.parent.is_some() {
            add([SortKey::Parent.into()], &mut order);
        }
        let mut columns = Vec::new();
        if !is_strict {
            columns.extend(kind.children.then_some(ReportColumn::Children));
            columns.push(ReportColumn::Overhead);
            if options.shows_cpu_utilization {
                columns.extend([ReportColumn::Sys, ReportColumn::User]);
            }
            columns.extend(options.shows_samples.then_some(ReportColumn::Samples));
            columns.extend(options.shows_period.then_some(ReportColumn::Period));
        }
        if let Some(list) = fields {
            add_list("fields", list, kind, &mut trace_fields, &mut columns)?;
        }
        add(order.iter().copied(), &mut columns);
        add(columns.iter().copied(), &mut order);
        // As in perf, which names the columns anew only if it chooses them.
        let is_own_named = kind.children && !is_strict;
        Ok(Self { columns, order, is_own_named, trace_fields: trace_fields.list })
    }

    /// Returns whether there is a column of a key.
    #[must_use]
    pub fn has(&self, key: SortKey) -> bool {
        self.order.contains(&ReportColumn::Key(key))
    }

    /// Returns the heading of a column, as perf has it in this layout.
    #[must_use]
    pub fn heading(&self, column: ReportColumn) -> &str {
        match column {
            ReportColumn::Key(SortKey::Field(field)) => {
                self.trace_field(field).map_or("", TraceFieldName::field)
            }
            ReportColumn::Overhead if self.is_own_named => "Self",
            column => column.heading(),
        }
    }

    /// Returns the name of a column: perf's, or the word that named a field of tracepoints.
    #[must_use]
    pub fn name(&self, column: ReportColumn) -> &str {
        match column {
            ReportColumn::Key(SortKey::Field(field)) => self.trace_field(field).map_or("", |it| &it.word),
            column => column.name(),
        }
    }

    /// Returns the smallest number of characters of a column, as perf has it; 0 for all but fields of tracepoints.
    #[must_use]
    pub fn least_width(&self, key: SortKey) -> usize {
        match key {
            SortKey::Field(field) => self.trace_field(field).map_or(0, |it| it.least),
            _ => 0,
        }
    }

    fn trace_field(&self, TraceField(number): TraceField) -> Option<&TraceFieldName> {
        self.trace_fields.get(usize::from(number))
    }

    /// Returns the keys, in the order in which rows are compared.
    pub fn keys(&self) -> impl Iterator<Item = SortKey> {
        self.order
            .iter()
            .filter_map(|column| if let ReportColumn::Key(key) = column { Some(*key) } else { None })
    }

    /// Returns whether a key is of source lines or source files.
    pub(super) fn has_source(&self) -> bool {
        let keys = [SortKey::Srcline, SortKey::Srcfile, SortKey::SrclineFrom, SortKey::SrclineTo];
        keys.into_iter().any(|key| self.has(key))
    }
}

/// Adds columns, each once.
fn add(more: impl IntoIterator<Item = ReportColumn>, columns: &mut Vec<ReportColumn>) {
    for column in more {
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
}

/// The word for all fields of all tracepoints.
const ALL_FIELDS: &str = "trace_fields";

/// The fields of tracepoints that lists name.
struct TraceFields<'t, 'a> {
    list: Vec<TraceFieldName>,
    tracepoints: &'t TracepointTexts<'a>,
}

impl TraceFields<'_, '_> {
    /// Adds the columns of the fields that a word names; returns whether there are some.
    fn add(&mut self, word: &str, columns: &mut Vec<ReportColumn>) -> bool {
        let names = if word == ALL_FIELDS { self.tracepoints.field_names() } else { vec![word.to_owned()] };
        let before = columns.len();
        columns.extend(names.iter().filter_map(|name| self.column(name)));
        columns.len() > before
    }

    /// Returns the column of a field; `None` if no tracepoint has it.
    fn column(&mut self, word: &str) -> Option<ReportColumn> {
        let number = match self.list.iter().position(|it| it.word == word) {
            Some(number) => number,
            None if self.list.len() >= trace_field::MOST => return None,
            None => {
                let mut name = TraceFieldName::new(word)?;
                if !self.tracepoints.see_field(&mut name) {
                    return None;
                }
                self.list.push(name);
                self.list.len() - 1
            }
        };
        Some(ReportColumn::Key(SortKey::Field(TraceField(number as u16))))
    }
}

/// Adds the columns of a list, each once.
fn add_list(
    option: &'static str,
    list: &KeyList,
    kind: SampleKind,
    fields: &mut TraceFields<'_, '_>,
    columns: &mut Vec<ReportColumn>,
) -> Result<(), ReportError> {
    let mut more = Vec::new();
    for word in list.words() {
        match word.column {
            Some(column) => {
                kind.check(option, &word.text, column)?;
                more.push(column);
            }
            None if fields.add(&word.text, &mut more) => {}
            None => {
                let (word, keys) = (word.text.clone(), KeyNames.to_string());
                return Err(ReportError::NoField { option, word, keys });
            }
        }
    }
    add(more, columns);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names of the columns, and of those that rows are ordered by.
    fn names(options: &Options, kind: SampleKind) -> [String; 2] {
        let layout = Layout::new(options, kind, &TracepointTexts::none()).unwrap();
        let joined = |columns: &[ReportColumn]| {
            columns.iter().map(|column| column.name()).collect::<Vec<_>>().join(",")
        };
        [joined(&layout.columns), joined(&layout.order)]
    }

    fn lists(sort: Option<&str>, fields: Option<&str>) -> Options {
        let list = |text: Option<&str>| text.map(|text| text.parse().unwrap());
        Options { sort: list(sort), fields: list(fields), ..Options::default() }
    }

    #[test]
    fn the_default_follows_from_the_samples() {
        let plain = Options::default();
        let of = |kind| names(&plain, kind)[0].clone();
        let none = SampleKind::default();
        assert_eq!(of(none), "overhead,comm,dso,symbol");
        assert_eq!(of(SampleKind { children: true, ..none }), "overhead_children,overhead,comm,dso,symbol");
        assert_eq!(of(SampleKind { only_tracepoints: true, ..none }), "overhead,trace");
        assert_eq!(
            of(SampleKind { branches: true, ..none }),
            "overhead,comm,dso_from,symbol_from,symbol_to,cycles"
        );
        let memory = of(SampleKind { memory: true, ..none });
        assert!(memory.ends_with("blocked,local_ins_lat"), "{memory}");
        let power = of(SampleKind { memory: true, pipeline: true, ..none });
        assert_eq!(power, format!("{memory},local_p_stage_cyc"));
    }

    #[test]
    fn lists_replace_the_default_or_add_to_it() {
        let none = SampleKind::default();
        let of = |sort, fields| names(&lists(sort, fields), none).map(|it| it.replace("overhead", "o"));
        assert_eq!(of(Some("sym,comm"), None), ["o,symbol,comm", "o,symbol,comm"]);
        assert_eq!(of(Some("+cpu,dso"), None), ["o,comm,dso,symbol,cpu", "o,comm,dso,symbol,cpu"]);
        assert_eq!(of(Some("sym,overhead"), None), ["o,symbol", "symbol,o"]);
        assert_eq!(of(None, Some("sym,overhead")), ["symbol,o", "symbol,o"]);
        assert_eq!(of(Some("comm"), Some("sym")), ["symbol,comm", "comm,symbol"]);
        assert_eq!(of(None, Some("+cpu")), ["o,cpu,comm,dso,symbol", "o,comm,dso,symbol,cpu"]);
    }

    #[test]
    fn a_pattern_for_parents_adds_their_key() {
        let options = Options { parent: Some("main".to_owned()), ..lists(Some("comm"), None) };
        assert_eq!(names(&options, SampleKind::default())[0], "overhead,comm,parent");
    }

    #[test]
    fn keys_need_their_samples() {
        let none = SampleKind::default();
        let error =
            |sort, fields| Layout::new(&lists(sort, fields), none, &TracepointTexts::none()).unwrap_err();
        let branch = error(Some("comm,symbol_f"), None);
        assert_eq!((branch.option(), branch.has_value()), ("sort", true));
        assert!(branch.to_string().starts_with("symbol_f: symbol_from is a key of branches"), "{branch}");
        let memory = error(None, Some("mem"));
        assert_eq!(memory.option(), "fields");
        assert_eq!(memory.to_string(), "mem: mem is a key of memory accesses; add --mem-mode");
        let kind = SampleKind { memory: true, ..none };
        assert!(Layout::new(&lists(Some("mem"), None), kind, &TracepointTexts::none()).is_ok());
        let field = error(Some("comm,nope"), None);
        assert_eq!((field.option(), field.has_value()), ("sort", true));
        assert!(field.to_string().starts_with("nope: there is no such key, and no tracepoint"), "{field}");
    }
}
