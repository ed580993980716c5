//! The function of the selected line.

use perf_profile::report::{ReportCell, SortKey};

use super::listed::LineContent;
use super::model::Browser;
use crate::annotate::browser::FunctionRequest;

impl Browser<'_> {
    /// Returns the function of the selected line, which is a row or a function of a call chain. A branch has that of its source.
    ///
    /// # Errors
    ///
    /// The reason why the line has no known function.
    pub(super) fn function(&self) -> Result<FunctionRequest, &'static str> {
        let named = self.view.report.function_table();
        let symbol = match self.listed.line(self.cursor) {
            None => return Err("there is no row"),
            Some(LineContent::Chain(line)) => {
                named.function(line.function.function).and_then(|it| named.symbol(it.symbol))
            }
            Some(LineContent::Row(row, _)) => {
                let keys = [SortKey::Symbol, SortKey::SymbolFrom];
                let Some(key) = keys.into_iter().find(|&key| self.layout().has(key)) else {
                    return Err("the rows have no functions; add sym to --sort");
                };
                match self.listed.table.cell(row, key) {
                    ReportCell::Symbol { symbol, .. } => symbol,
                    _ => None,
                }
            }
        };
        let symbol = symbol.ok_or("the function has no name, so its code is not known")?;
        Ok(FunctionRequest {
            dso: named.short_name(symbol.dso).to_vec(),
            symbol: symbol.name.to_vec(),
            address: None,
            offset: Some(symbol.start),
        })
    }
}
