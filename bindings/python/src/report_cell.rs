//! The value of a key in a row of a report, under the names of `perfdata report --format json`.

use perf_profile::Symbol;
use perf_profile::report::{ReportCell, SortKey};
use perf_profile::text::mode_name;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::text::text;

/// Sets the members that a key with this name has in a row.
///
/// # Errors
///
/// If Python has no memory.
pub(crate) fn set(row: &Bound<'_, PyDict>, name: &str, key: SortKey, cell: &ReportCell<'_>) -> PyResult<()> {
    let some = |bytes: Option<&[u8]>| bytes.map(text);
    let symbol_name = |symbol: Option<&Symbol>| symbol.map(|it| text(&it.name));
    match *cell {
        ReportCell::Task { id, comm, .. } => {
            row.set_item(name, id)?;
            row.set_item("thread_name", text(comm))
        }
        ReportCell::Symbol { symbol, address, .. } if key == SortKey::SymbolIaddr => {
            row.set_item(name, symbol_name(symbol))?;
            row.set_item("iaddr", address)
        }
        ReportCell::Symbol { symbol, address, mode, .. } => {
            row.set_item(name, symbol_name(symbol))?;
            set_symbol(row, key, symbol, address)?;
            if key == SortKey::Symbol { row.set_item("mode", mode_name(mode)) } else { Ok(()) }
        }
        ReportCell::SourceLine { text: shown, line, .. } => {
            row.set_item(name, text(shown))?;
            if key == SortKey::Srcline {
                row.set_item("file", line.map(|it| text(&it.file)))?;
                row.set_item("line", line.map(|it| it.line))?;
            }
            Ok(())
        }
        ReportCell::BranchEnd { symbol, offset, .. } => {
            row.set_item(name, offset)?;
            row.set_item(format!("{name}_symbol"), symbol_name(symbol))?;
            let in_symbol = symbol.map(|it| offset.wrapping_sub(it.start));
            row.set_item(format!("{name}_offset"), in_symbol)
        }
        ReportCell::Data { symbol, address, .. } => {
            row.set_item(name, symbol_name(symbol))?;
            row.set_item("daddr", address)
        }
        ReportCell::CacheLine { symbol, start, .. } => {
            row.set_item(name, start)?;
            row.set_item("dcacheline_symbol", symbol_name(symbol))
        }
        ReportCell::Text(it) => row.set_item(name, text(it)),
        ReportCell::Dso(it) | ReportCell::Cgroup(it) => row.set_item(name, some(it)),
        ReportCell::Parent(symbol) => row.set_item(name, symbol_name(symbol)),
        ReportCell::Cpu(number) => row.set_item(name, number),
        ReportCell::SourceFile { name: short, path, .. } => row.set_item(name, some(path.or(short))),
        ReportCell::Number(number) => row.set_item(name, number),
        ReportCell::CgroupId { device, inode, .. } => row.set_item(name, (device, inode)),
        ReportCell::Time(time) => row.set_item(name, time),
        ReportCell::Flag(flag) => row.set_item(name, flag),
        ReportCell::Address(address) | ReportCell::PhysicalAddress { address, .. } => {
            row.set_item(name, address)
        }
        // The kernel's words; perf's texts of them are those of the program.
        ReportCell::Transaction(word) => row.set_item(name, word.0),
        ReportCell::DataSource(word) => row.set_item(name, word.0),
        _ => row.set_item(name, row.py().None()),
    }
}

/// Sets what is known of a function besides its name: its address if it has none.
fn set_symbol(row: &Bound<'_, PyDict>, key: SortKey, symbol: Option<&Symbol>, address: u64) -> PyResult<()> {
    let (inlined, at) = match key {
        SortKey::SymbolTo => ("inlined_to", "address_to"),
        SortKey::SymbolFrom => ("inlined_from", "address_from"),
        _ => ("inlined", "address"),
    };
    let Some(symbol) = symbol else { return row.set_item(at, address) };
    row.set_item(inlined, symbol.is_inlined)?;
    if symbol.guess.is_some() { row.set_item("guessed", true) } else { Ok(()) }
}
