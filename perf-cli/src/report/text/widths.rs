//! The widths of the columns of a table.

use hashbrown::HashSet;
use perf_abi::txn::Txn;
use perf_profile::Symbol;
use perf_profile::report::{ReportCell, ReportColumn, ReportRow, SortKey};

use super::super::{memory, transaction};
use super::TablePrinter;
use crate::column::shown_len;
use crate::escape::push_name;

/// The width of an address without a name.
const ADDRESS: usize = 16;

/// The smallest width that a column is cut to.
const NARROW: usize = 16;

impl TablePrinter<'_> {
    /// Returns the width of a column.
    ///
    /// perf: `hists__calc_col_len`, `tools/perf/util/hist.c`; `hpp__width_fn`, `tools/perf/ui/hist.c`.
    pub(super) fn width(&self, column: ReportColumn) -> usize {
        let heading = self.heading(column).len();
        let ReportColumn::Key(key) = column else {
            return (self.number_width(column) * self.table.events().events.len()).max(heading);
        };
        let is_fixed =
            self.style.widths.is_empty() && self.style.separator.is_none() && !self.style.has_dso_filter;
        let unresolved = if is_fixed { ADDRESS } else { 0 };
        let least = match key {
            SortKey::Pid | SortKey::Tid | SortKey::Tgid => self.comm_width() + 8,
            SortKey::Cpu => 3,
            SortKey::LocalWeight | SortKey::Weight => 12,
            SortKey::Cgroup => 6,
            SortKey::CgroupId => 20,
            SortKey::Time => {
                if self.style.ns {
                    16
                } else {
                    12
                }
            }
            SortKey::Symbol => 4,
            SortKey::Socket => 6,
            SortKey::LocalInsLat | SortKey::InsLat | SortKey::LocalPStageCyc | SortKey::PStageCyc => 13,
            SortKey::Addr => ADDRESS + 2,
            SortKey::Field(_) => self.table.report().plan().layout.least_width(key),
            SortKey::Transaction if self.has_transactions() => transaction::WIDTH,
            SortKey::SymbolDaddr | SortKey::Dcacheline | SortKey::SymbolIaddr => {
                memory::least_width(key, self.longest(key))
            }
            _ => memory::least_width(key, None),
        };
        let mut seen = HashSet::new();
        let widest = self.table.rows().iter().map(|row| {
            let has_no_symbol =
                |key| matches!(self.table.cell(row, key), ReportCell::Symbol { symbol: None, .. });
            match key {
                SortKey::Dso if !self.table.is_named(row) => unresolved,
                SortKey::DsoTo if has_no_symbol(SortKey::SymbolTo) => unresolved,
                SortKey::DsoFrom if has_no_symbol(SortKey::SymbolFrom) => unresolved,
                SortKey::DsoDaddr if self.table.cell(row, key) == ReportCell::Dso(None) => unresolved,
                _ => 0,
            }
            .max(match key {
                // Many rows have the same text.
                _ if self.text_id(row, key).is_some_and(|id| !seen.insert(id)) => 0,
                // As in perf, without what marks inlined functions.
                SortKey::Symbol => {
                    let text = self.text(row, column);
                    shown_len(text.strip_suffix(b" (inlined)".as_slice()).unwrap_or(&text))
                }
                SortKey::Pid | SortKey::Tid | SortKey::Tgid | SortKey::Cpu | SortKey::Socket => 0,
                // perf adds room for a blank.
                SortKey::Field(_) => shown_len(&self.text(row, column)) + 1,
                _ => shown_len(&self.text(row, column)),
            })
        });
        heading.max(least).max(widest.max().unwrap_or(0))
    }

    /// Returns a number that a row shares only with those whose texts of a key are as long; `None` if it is not known.
    fn text_id(&self, row: &ReportRow, key: SortKey) -> Option<usize> {
        match (key, self.table.cell(row, key)) {
            (SortKey::Comm, ReportCell::Text(text)) | (SortKey::Dso, ReportCell::Dso(Some(text))) => {
                Some(text.as_ptr().addr())
            }
            (SortKey::Symbol, ReportCell::Symbol { symbol: Some(symbol), .. }) => {
                Some(core::ptr::from_ref(symbol).addr())
            }
            // Addresses without a name have all digits, but for 0 without a prefix. No text is there.
            (SortKey::Symbol, ReportCell::Symbol { address, .. }) => Some(usize::from(address == 0)),
            _ => None,
        }
    }

    fn has_transactions(&self) -> bool {
        let is_one =
            |cell| matches!(cell, ReportCell::Transaction(transaction) if transaction != Txn::default());
        self.table.rows().iter().any(|row| is_one(self.table.cell(row, SortKey::Transaction)))
    }

    /// Returns the width of the longest name of a thread.
    fn comm_width(&self) -> usize {
        self.table.comms().map(shown_width).max().unwrap_or(0)
    }

    /// Returns the length of the longest name of the symbols of a key; `None` if no row has a symbol.
    fn longest(&self, key: SortKey) -> Option<usize> {
        let symbol = |row: &ReportRow| -> Option<&Symbol> {
            match self.table.cell(row, key) {
                ReportCell::Symbol { symbol, .. }
                | ReportCell::Data { symbol, .. }
                | ReportCell::CacheLine { symbol, .. } => symbol,
                _ => None,
            }
        };
        self.table.rows().iter().filter_map(symbol).map(|it| shown_width(&it.label())).max()
    }

    /// The width of a number of one event.
    ///
    /// perf: `perf_hpp__reset_width`, `tools/perf/ui/hist.c`.
    pub(in crate::report) fn number_width(&self, column: ReportColumn) -> usize {
        match column {
            ReportColumn::GuestSys | ReportColumn::GuestUser => 9,
            ReportColumn::Samples | ReportColumn::Period => 12,
            _ => 8,
        }
    }

    /// Makes the columns narrower, the widest first, until a line fits on the terminal.
    pub(super) fn fit(&mut self) {
        let Some(limit) = self.style.terminal else { return };
        loop {
            let total: usize = self.columns.iter().map(|(_, width)| width + 2).sum();
            let excess = total.saturating_sub(limit);
            let widest = self
                .columns
                .iter_mut()
                .filter(|(column, width)| matches!(column, ReportColumn::Key(_)) && *width > NARROW)
                .max_by_key(|(_, width)| *width);
            match widest {
                Some((_, width)) if excess > 0 => *width = width.saturating_sub(excess).max(NARROW),
                _ => return,
            }
        }
    }
}

/// The width that a text of the capture has on a line.
fn shown_width(text: &[u8]) -> usize {
    let mut shown = Vec::new();
    push_name(&mut shown, text);
    shown_len(&shown)
}
