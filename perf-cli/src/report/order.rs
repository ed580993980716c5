//! The order of the rows of a table.

use core::cmp::Ordering;

use perf_export::NONE;

use super::facts::Facts;
use super::keys::{Column, Key};
use super::memory;
use super::rows::{Place, Row, Source};
use crate::args::call_graph::Order;

impl Source<'_> {
    /// Compares two rows; the one that is printed first is less. Rows that are equal in all columns are in the order of
    /// their addresses.
    ///
    /// perf: `hist_entry__sort` and `hist_entry__cmp`, `tools/perf/util/hist.c`.
    pub(super) fn compare(&self, one: &Row, other: &Row) -> Ordering {
        for &column in &self.layout.order {
            let ordering = self.compare_by(column, one, other);
            if ordering != Ordering::Equal {
                return ordering;
            }
        }
        let mut keys = self.layout.keys();
        let compared = keys.find_map(|key| {
            Some(self.compare_keys(key, one, other, false)).filter(|it| *it != Ordering::Equal)
        });
        compared.unwrap_or(Ordering::Equal)
    }

    /// Compares two rows by a column.
    pub(super) fn compare_by(&self, column: Column, one: &Row, other: &Row) -> Ordering {
        match column {
            Column::Key(key) => self.compare_keys(key, one, other, Key::Symbol == key),
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
    fn compare_keys(&self, key: Key, one: &Row, other: &Row, by_name: bool) -> Ordering {
        let (Some(a), Some(b)) = (&one.key, &other.key) else {
            return one.key.is_none().cmp(&other.key.is_none());
        };
        let facts = &self.collected.facts;
        let (Some(x), Some(y)) = (facts.list.get(a.facts as usize), facts.list.get(b.facts as usize)) else {
            return Ordering::Equal;
        };
        let short = |place: &Place| (place.dso != NONE).then(|| self.named.short_name(place.dso));
        // What is unknown comes last.
        let last = |one: Option<&[u8]>, other: Option<&[u8]>| match (one, other) {
            (Some(one), Some(other)) => one.cmp(other),
            (one, other) => one.is_none().cmp(&other.is_none()),
        };
        let name = |symbol: u32| self.named.symbol(symbol).map(|it| &*it.name);
        let branch = |it: &Facts| it.branch;
        match key {
            Key::Pid | Key::Tid => x.tid.cmp(&y.tid),
            Key::Tgid => x.tgid.cmp(&y.tgid),
            Key::Comm => facts.texts.get(x.comm).cmp(facts.texts.get(y.comm)),
            Key::Dso => last(short(&a.place), short(&b.place)),
            Key::Symbol if by_name => last(name(a.place.symbol), name(b.place.symbol)),
            Key::Symbol => self.compare_places(&a.place, &b.place),
            Key::Parent => last(name(a.parent), name(b.parent)),
            Key::Cpu => x.cpu.cmp(&y.cpu),
            Key::Srcline | Key::SrclineTo => self.srcline(&a.place).cmp(&self.srcline(&b.place)),
            Key::SrclineFrom => self.srcline(&a.from).cmp(&self.srcline(&b.from)),
            Key::Srcfile => self.srcfile(a).cmp(self.srcfile(b)),
            Key::LocalWeight | Key::Weight => y.weight.cmp(&x.weight),
            Key::Trace => facts.texts.get(x.trace).cmp(facts.texts.get(y.trace)),
            Key::Cgroup => x.cgroup.cmp(&y.cgroup),
            Key::CgroupId => y.cgroup_id.cmp(&x.cgroup_id),
            Key::Time => x.time.cmp(&y.time),
            // As in perf, these are in descending order.
            Key::DsoFrom => last(short(&b.from), short(&a.from)),
            Key::DsoTo => last(short(&b.place), short(&a.place)),
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
            Key::DsoDaddr => {
                let short = |data: u32| (data != NONE).then(|| self.named.short_name(data));
                last(short(b.data), short(a.data))
            }
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

    /// perf: `sort__sym_cmp`, `tools/perf/util/sort.c`.
    fn compare_places(&self, one: &Place, other: &Place) -> Ordering {
        match (self.named.symbol(one.symbol), self.named.symbol(other.symbol)) {
            // The kernel's addresses are below those of programs.
            (None, None) => one.address.cast_signed().cmp(&other.address.cast_signed()),
            (Some(a), Some(b)) => {
                let dso = |place: &Place| self.named.short_name(place.dso);
                let by_dso = dso(one).cmp(dso(other));
                by_dso
                    .then_with(|| a.start.cast_signed().cmp(&b.start.cast_signed()))
                    .then_with(|| a.name.cmp(&b.name))
            }
            (one, other) => one.is_none().cmp(&other.is_none()),
        }
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
