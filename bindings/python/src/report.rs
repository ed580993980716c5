//! Rows of a report, as `perf report` groups samples.

use perf_profile::report::{
    CallGraphOptions, CallGraphStyle, EventGrouping, Options, Percentage, ReportColumn, ReportPlan,
    ReportRow, ReportTable, percent,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::account;
use crate::capture::Capture;
use crate::error::Failure;
use crate::report_cell;
use crate::text::text;

/// Returns the options of a report without call graphs, with a table for each event.
///
/// # Errors
///
/// If a key or a time has no meaning.
pub(crate) fn options(sort: Option<&str>, time_quantum: Option<&str>) -> PyResult<Options> {
    let mut options = Options::default();
    let invalid = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
    options.sort = sort.map(str::parse).transpose().map_err(|error| invalid(&error))?;
    if let Some(quantum) = time_quantum {
        options.time_quantum = quantum.parse().map_err(|error| invalid(&error))?;
    }
    options.grouping = EventGrouping::Never;
    let mut graph = CallGraphOptions::default();
    graph.style = CallGraphStyle::None;
    options.call_graph = Some(graph);
    Ok(options)
}

/// Returns the rows of all events, the largest of each event first.
///
/// # Errors
///
/// If the capture cannot have the report, and what is wrong with the selection.
pub(crate) fn rows<'py>(
    capture: &Capture,
    py: Python<'py>,
    mut options: Options,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    (options.inlines, options.max_stack) = (capture.names.options.inlines, capture.names.max_stack);
    let report = py.detach(|| {
        let plan = ReportPlan::new(&options, &*capture.reader)
            .map_err(|error| Failure::new(format!("{}: {error}", error.option())))?;
        let samples = capture.samples_of();
        let samples = if options.off_cpu { samples.read_all() } else { samples };
        let symbols = capture.symbols(plan.needs_lines());
        let mut watch = capture.watch();
        let report = samples.report_with(plan, &symbols, &mut watch);
        watch.end(report)
    })?;
    account::warn(py, report.account(), &capture.path)?;
    let mut rows = Vec::new();
    for events in report.tables() {
        let table = report.table(events, Percentage::Absolute);
        for &index in table.order() {
            let Some(row) = table.rows().get(index) else { continue };
            if !table.is_below(row, report.plan().min_percent) {
                rows.push(values(py, &table, row)?);
            }
        }
    }
    Ok(rows)
}

/// Returns the values of a row.
fn values<'py>(py: Python<'py>, table: &ReportTable<'_>, row: &ReportRow) -> PyResult<Bound<'py, PyDict>> {
    let plan = table.report().plan();
    let dict = PyDict::new(py);
    dict.set_item("event", text(&table.events().name))?;
    // Events are not grouped, so that there is one count.
    for (count, total) in row.counts().iter().zip(table.totals()).take(1) {
        dict.set_item("percent", percent(count.own.period, total.period))?;
        dict.set_item("samples", count.own.samples)?;
        dict.set_item("period", count.own.period)?;
        if plan.children {
            dict.set_item("children_percent", percent(count.children.period, total.period))?;
            dict.set_item("children_samples", count.children.samples)?;
            dict.set_item("children_period", count.children.period)?;
        }
    }
    if row.is_beyond() {
        dict.set_item("beyond_limits", true)?;
        return Ok(dict);
    }
    for column in &plan.layout.columns {
        if let ReportColumn::Key(key) = *column {
            report_cell::set(&dict, plan.layout.name(*column), key, &table.cell(row, key))?;
        }
    }
    Ok(dict)
}
