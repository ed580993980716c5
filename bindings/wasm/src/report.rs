//! The tables of a report.

use perf_profile::SampleTotal;
use perf_profile::report::{Percentage, Report, ReportTable};
use perf_symbol::SymbolLookup;
use wasm_bindgen::JsValue;

use crate::object::{Members, list, number};
use crate::{info, quality, row};

/// Returns the tables of a report, its quality and its account.
pub(crate) fn value(report: &Report, lookups: &[SymbolLookup]) -> JsValue {
    let tables = report.tables().iter().map(|events| table(&report.table(events, Percentage::default())));
    let members = Members::default();
    members.set("tables", list(tables));
    members.set("quality", quality::value(report.quality(), lookups));
    members.set("account", info::account(report.account()));
    members.into()
}

fn table(table: &ReportTable<'_>) -> Members {
    let plan = table.report().plan();
    let total = |it: &SampleTotal| {
        let members = Members::default();
        members.count("samples", it.samples);
        members.count("period", it.period);
        members
    };
    let rows = table.order().iter().filter_map(|number| table.rows().get(*number));
    let rows = rows.filter(|row| !table.is_below(row, plan.min_percent));
    let members = Members::default();
    members.text("name", Some(&table.events().name));
    members.set("events", list(table.events().events.iter().map(|event| number(*event as u64))));
    members.set("totals", list(table.totals().iter().map(total)));
    let columns = plan.layout.columns.iter();
    members.set("columns", list(columns.clone().map(|it| JsValue::from_str(it.name()))));
    members.set("headings", list(columns.map(|it| JsValue::from_str(plan.layout.heading(*it)))));
    members.set("rows", list(rows.map(|row| row::value(table, row))));
    members
}
