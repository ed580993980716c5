//! The order of the rows of a table.

use core::cmp::Ordering;

use perf_profile::NONE;

use super::facts::Facts;
use super::keys::{Column, Key};
use super::memory;
use super::ranks::Ranks;
use super::rows::{Place, Row, RowKey, Source, Table};
use crate::args::call_graph::Order;

/// The number of numbers from which on no further one is added: they take memory for each row, and few rows are equal in as
/// many.
const NUMBERS: usize = 5;

impl Source<'_> {
    /// Compares two rows; the one that is printed first is less. Rows that are equal in all columns are in the order of
    /// their addresses.
    ///
    /// perf: `hist_entry__sort` and `hist_entry__cmp`, `tools/perf/util/hist.c`.
    pub(super) fn compare(&self, table: &Table<'_>, one: &Row, other: &Row) -> Ordering {
        for &column in &self.layout.order {
            let ordering = self.compare_by(table, column, one, other);
            if ordering != Ordering::Equal {
                return ordering;
            }
        }
        let mut keys = self.layout.keys();
        let compared = keys.find_map(|key| {
            Some(self.compare_keys(table, key, one, other, false)).filter(|it| *it != Ordering::Equal)
        });
        compared.unwrap_or(Ordering::Equal)
    }

    /// Returns the numbers of the rows in the order of [`compare`](Self::compare).
    pub(super) fn order(&self, table: &Table<'_>) -> Vec<usize> {
        let rows = &table.rows;
        let mut order: Vec<_> = (0..rows.len()).collect();
        // The numbers that the first columns are compared by, next to each other: the rows and what they lead to are far
        // apart in memory.
        let mut numbers = Vec::new();
        rows.iter().for_each(|row| self.push_numbers(table, row, &mut numbers));
        let width = numbers.len().checked_div(rows.len()).unwrap_or(0);
        let of = |row: usize| &numbers[row * width..][..width];
        order.sort_by(|&one, &other| {
            of(one).cmp(of(other)).then_with(|| self.compare(table, &rows[one], &rows[other]))
        });
        order
    }

    /// Appends the numbers of the first columns by which a row is compared, as many for each row.
    fn push_numbers(&self, table: &Table<'_>, row: &Row, numbers: &mut Vec<u64>) {
        let key_of_row = table.key(row);
        let most = numbers.len() + NUMBERS;
        for &column in &self.layout.order {
            match column {
                _ if numbers.len() >= most => return,
                Column::Children if self.children => {
                    numbers.push(u64::MAX - row.counts.first().map_or(0, |it| it.children.period));
                    if self.by_depth {
                        let depth = u64::from(row.depth);
                        numbers.push(if self.order == Order::Caller { u64::MAX - depth } else { depth });
                    }
                }
                Column::Children => {}
                Column::Key(key) if self.push_number(key_of_row, key, true, numbers) => {}
                Column::Key(_) => return,
                column => numbers.extend(row.counts.iter().map(|it| u64::MAX - it.number(column))),
            }
        }
        let mut keys = self.layout.keys();
        while numbers.len() < most
            && keys.next().is_some_and(|key| self.push_number(key_of_row, key, false, numbers))
        {}
    }

    /// Appends the number of what [`compare_keys`](Self::compare_keys) compares, the largest one for a row without a key. Returns
    /// whether a number tells.
    fn push_number(&self, row: Option<RowKey>, key: Key, by_name: bool, numbers: &mut Vec<u64>) -> bool {
        let of = row.and_then(|of| Some((of, self.collected.facts.list.get(of.facts as usize)?)));
        let rank = |ranks: &Ranks, number: fn(&RowKey, &Facts) -> u32| {
            of.map_or(u64::MAX, |(of, facts)| ranks.rank(number(&of, facts)).into())
        };
        match key {
            Key::Comm => {
                numbers.push(rank(self.ranks.texts(&self.collected.facts.texts), |_, facts| facts.comm));
            }
            Key::Dso => numbers.push(rank(self.dsos(), |of, _| of.place.dso)),
            Key::Symbol if by_name => {
                numbers.push(rank(self.ranks.names(self.named), |of, _| of.place.symbol));
            }
            Key::Symbol => {
                numbers.push(rank(self.ranks.symbols(self.named), |of, _| of.place.symbol));
                // That of a row without a symbol, with its sign.
                numbers.push(of.map_or(u64::MAX, |(of, _)| of.place.address ^ 1 << 63));
            }
            _ => return false,
        }
        true
    }

    /// Returns the ranks of the names of DSOs.
    fn dsos(&self) -> &Ranks {
        self.ranks.short_names(self.named, self.collected.table.frames.dsos().len())
    }

    /// Compares two rows by a column.
    pub(super) fn compare_by(&self, table: &Table<'_>, column: Column, one: &Row, other: &Row) -> Ordering {
        match column {
            Column::Key(key) => self.compare_keys(table, key, one, other, Key::Symbol == key),
            Column::Children => self.compare_children(one, other),
            column => {
                let (one, other) = (one.counts.iter(), other.counts.iter());
                other.map(|it| it.number(column)).cmp(one.map(|it| it.number(column)))
            }
        }
    }

    /// perf: `__hpp__sort_acc`, `tools/perf/ui/hist.c`.
    fn compare_children(&self, one: &Row, other: &Row) -> Ordering {
        if !self.children {
            return Ordering::Equal;
        }
        let period = |row: &Row| row.counts.first().map_or(0, |it| it.children.period);
        // The caller comes before what it calls. perf compares so only within a thread, which is no order of all rows: of
        // three rows, each can come before the next one, and the last before the first.
        period(other).cmp(&period(one)).then_with(|| match self.order {
            _ if !self.by_depth => Ordering::Equal,
            Order::Caller => other.depth.cmp(&one.depth),
            Order::Callee => one.depth.cmp(&other.depth),
        })
    }

    /// `by_name` compares symbols by their names instead of their addresses.
    fn compare_keys(&self, table: &Table<'_>, key: Key, one: &Row, other: &Row, by_name: bool) -> Ordering {
        let (Some(a), Some(b)) = (&table.key(one), &table.key(other)) else {
            return one.is_beyond().cmp(&other.is_beyond());
        };
        let facts = &self.collected.facts;
        let (Some(x), Some(y)) = (facts.list.get(a.facts as usize), facts.list.get(b.facts as usize)) else {
            return Ordering::Equal;
        };
        let Self { named, ranks, lines, .. } = self;
        let srclines = |one: u32, other: u32| lines.srcline_text(one).cmp(lines.srcline_text(other));
        // What is unknown comes last.
        let texts = |one: u32, other: u32| ranks.texts(&facts.texts).compare(one, other);
        let dsos = |one: u32, other: u32| self.dsos().compare(one, other);
        let names = |one: u32, other: u32| ranks.names(named).compare(one, other);
        let branch = |it: &Facts| it.branch;
        match key {
            Key::Pid | Key::Tid => x.tid.cmp(&y.tid),
            Key::Tgid => x.tgid.cmp(&y.tgid),
            Key::Comm => texts(x.comm, y.comm),
            Key::Dso => dsos(a.place.dso, b.place.dso),
            Key::Symbol if by_name => names(a.place.symbol, b.place.symbol),
            Key::Symbol => self.compare_places(&a.place, &b.place),
            Key::Parent => names(a.parent, b.parent),
            Key::Cpu => x.cpu.cmp(&y.cpu),
            Key::Srcline | Key::SrclineTo => srclines(a.place.srcline, b.place.srcline),
            Key::SrclineFrom => srclines(a.from.srcline, b.from.srcline),
            Key::Srcfile => lines.srcfile_text(a.place.srcfile).cmp(lines.srcfile_text(b.place.srcfile)),
            Key::LocalWeight | Key::Weight => y.weight.cmp(&x.weight),
            Key::Trace => texts(x.trace, y.trace),
            Key::Cgroup => x.cgroup.cmp(&y.cgroup),
            Key::CgroupId => y.cgroup_id.cmp(&x.cgroup_id),
            Key::Time => x.time.cmp(&y.time),
            // As in perf, these are in descending order.
            Key::DsoFrom => dsos(b.from.dso, a.from.dso),
            Key::DsoTo => dsos(b.place.dso, a.place.dso),
            Key::SymbolFrom => self.compare_places(&a.from, &b.from),
            Key::SymbolTo => self.compare_places(&a.place, &b.place),
            Key::Mispredict | Key::InTx | Key::Abort => branch(y).0.cmp(&branch(x).0),
            Key::Cycles => branch(y).cycles().cmp(&branch(x).cycles()),
            Key::AddrFrom => self.compare_addresses(&a.from, &b.from),
            Key::AddrTo => self.compare_addresses(&a.place, &b.place),
            Key::Socket => x.socket.cmp(&y.socket),
            Key::Transaction => y.transaction.0.cast_signed().cmp(&x.transaction.0.cast_signed()),
            Key::SymbolSize => a.place.size.cmp(&b.place.size),
            Key::DsoSize => a.mapped.cmp(&b.mapped),
            Key::CodePageSize => x.code_page_size.cmp(&y.code_page_size),
            Key::LocalInsLat | Key::InsLat => y.ins_lat.cmp(&x.ins_lat),
            Key::LocalPStageCyc | Key::PStageCyc => y.p_stage_cyc.cmp(&x.p_stage_cyc),
            Key::Addr => a.ip.cast_signed().cmp(&b.ip.cast_signed()),
            Key::DsoDaddr => dsos(b.data, a.data),
            Key::SymbolDaddr
            | Key::SymbolIaddr
            | Key::Locked
            | Key::Tlb
            | Key::Mem
            | Key::Snoop
            | Key::Dcacheline
            | Key::PhysDaddr
            | Key::DataPageSize
            | Key::Blocked => memory::compare(key, &x.access, &y.access),
        }
    }

    fn compare_places(&self, one: &Place, other: &Place) -> Ordering {
        if (one.symbol, other.symbol) == (NONE, NONE) {
            // The kernel's addresses are below those of programs.
            return one.address.cast_signed().cmp(&other.address.cast_signed());
        }
        self.ranks.symbols(self.named).compare(one.symbol, other.symbol)
    }

    /// perf: `sort__addr_from_cmp`. perf compares addresses in memory. One place in a file can have several.
    fn compare_addresses(&self, one: &Place, other: &Place) -> Ordering {
        let place = |it: &Place| {
            let known = self.collected.table.frames.place(it.frame);
            known.map(|it| (self.named.short_name(self.named.short_name_of(it.dso)), it.offset.cast_signed()))
        };
        match (place(one), place(other)) {
            (Some((a, one)), Some((b, other))) => b.cmp(a).then(one.cmp(&other)),
            (one, other) => other.is_none().cmp(&one.is_none()),
        }
    }
}
