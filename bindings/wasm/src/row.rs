//! A row of a report.

use perf_profile::report::{ReportCell, ReportColumn, ReportRow, ReportTable, SortKey, percent};
use perf_profile::text::mode_name;
use perf_profile::{SampleTotal, Symbol};
use wasm_bindgen::JsValue;

use crate::object::{Members, list, number, text};

/// Returns a row: its counts for each event of the table, and a member or more for each key.
pub(crate) fn value(table: &ReportTable<'_>, row: &ReportRow) -> JsValue {
    let plan = table.report().plan();
    let members = Members::default();
    let counts = || row.counts().iter().zip(table.totals());
    members.set("self", list(counts().map(|(count, all)| share(count.own, all))));
    if plan.children {
        members.set("children", list(counts().map(|(count, all)| share(count.children, all))));
    }
    if row.is_beyond() {
        members.set("beyond_limits", true);
        return members.into();
    }
    for column in &plan.layout.columns {
        if let ReportColumn::Key(key) = *column {
            set_cell(&members, plan.layout.name(*column), key, &table.cell(row, key));
        }
    }
    members.into()
}

fn share(total: SampleTotal, all: &SampleTotal) -> Members {
    let members = Members::default();
    members.count("samples", total.samples);
    members.count("period", total.period);
    members.set("percent", percent(total.period, all.period));
    members
}

/// Adds what a row has of a key, with the names of the program's JSON.
fn set_cell(members: &Members, name: &str, key: SortKey, cell: &ReportCell<'_>) {
    let symbol_name = |symbol: Option<&Symbol>| symbol.map_or(JsValue::NULL, |it| text(&it.name));
    let some = |count: Option<u64>| count.map_or(JsValue::NULL, number);
    match *cell {
        ReportCell::Task { id, comm, .. } => {
            members.set(name, id);
            members.text("thread_name", Some(comm));
        }
        ReportCell::Symbol { symbol, address, mode, .. } => {
            members.set(name, symbol_name(symbol));
            match symbol {
                // Two names of a row may be inlined: each has a member of its own.
                Some(symbol) => {
                    let inlined = match key {
                        SortKey::SymbolTo => "inlined_to",
                        SortKey::SymbolFrom => "inlined_from",
                        _ => "inlined",
                    };
                    members.set(inlined, symbol.is_inlined);
                    if symbol.guess.is_some() {
                        members.set("guessed", true);
                    }
                }
                None => {
                    let at = match key {
                        SortKey::SymbolTo => "address_to",
                        SortKey::SymbolFrom => "address_from",
                        _ => "address",
                    };
                    members.set(at, address);
                }
            }
            if key == SortKey::Symbol {
                members.set("mode", mode_name(mode));
            }
        }
        ReportCell::SourceLine { text: shown, .. } => members.text(name, Some(shown)),
        ReportCell::SourceFile { name: file, path, .. } => members.text(name, path.or(file)),
        ReportCell::Data { symbol, address, .. } => {
            members.set(name, symbol_name(symbol));
            members.set("daddr", address);
        }
        ReportCell::CacheLine { symbol, start, .. } => {
            members.set(name, start);
            members.set("dcacheline_symbol", symbol_name(symbol));
        }
        ReportCell::BranchEnd { offset, .. } => members.set(name, offset),
        ReportCell::Text(it) => members.text(name, Some(it)),
        ReportCell::Dso(it) | ReportCell::Cgroup(it) => members.text(name, it),
        ReportCell::Parent(symbol) => members.set(name, symbol_name(symbol)),
        ReportCell::Cpu(it) => members.set(name, some(it.map(u64::from))),
        ReportCell::Number(it) => members.set(name, some(it)),
        ReportCell::CgroupId { device, inode, .. } => members.set(name, list([device, inode])),
        ReportCell::Flag(it) => members.set(name, it.map_or(JsValue::NULL, JsValue::from)),
        ReportCell::Time(it) | ReportCell::Address(it) | ReportCell::PhysicalAddress { address: it, .. } => {
            members.set(name, it);
        }
        // The bits as the kernel has them.
        ReportCell::Transaction(it) => members.set(name, it.0),
        ReportCell::DataSource(it) => members.set(name, it.0),
        _ => members.set(name, JsValue::NULL),
    }
}
