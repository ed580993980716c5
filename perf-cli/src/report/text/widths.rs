//! The widths of the columns of a table.

use hashbrown::HashSet;
use perf_profile::NONE;

use super::super::facts::Facts;
use super::super::keys::{Column, Key};
use super::super::rows::{Place, Row};
use super::super::{memory, transaction};
use super::Printer;
use crate::column::shown_len;
use crate::escape::push_name;

/// The width of an address without a name.
const ADDRESS: usize = 16;

/// The smallest width that a column is cut to.
const NARROW: usize = 16;

impl Printer<'_> {
    /// Returns the width of a column.
    ///
    /// perf: `hists__calc_col_len`, `tools/perf/util/hist.c`; `hpp__width_fn`, `tools/perf/ui/hist.c`.
    pub(super) fn width(&self, column: Column) -> usize {
        let heading = self.heading(column).len();
        let Column::Key(key) = column else {
            return (self.number_width(column) * self.table.members.events.len()).max(heading);
        };
        let is_fixed =
            self.style.widths.is_empty() && self.style.separator.is_none() && !self.style.has_dso_filter;
        let unresolved = if is_fixed { ADDRESS } else { 0 };
        let least = match key {
            Key::Pid | Key::Tid | Key::Tgid => self.comm_width() + 8,
            Key::Cpu => 3,
            Key::LocalWeight | Key::Weight => 12,
            Key::Cgroup => 6,
            Key::CgroupId => 20,
            Key::Time => {
                if self.style.ns {
                    16
                } else {
                    12
                }
            }
            Key::Symbol => 4,
            Key::Socket => 6,
            Key::LocalInsLat | Key::InsLat | Key::LocalPStageCyc | Key::PStageCyc => 13,
            Key::Addr => ADDRESS + 2,
            Key::Transaction if self.facts().any(|it| it.transaction.0 != 0) => transaction::WIDTH,
            Key::SymbolDaddr | Key::Dcacheline => memory::least_width(key, self.longest(|row| row.data)),
            Key::SymbolIaddr => memory::least_width(key, self.longest(|row| row.frame)),
            _ => memory::least_width(key, None),
        };
        let mut seen = HashSet::new();
        let widest = self.table.rows.iter().map(|row| {
            let place = |place: Option<Place>| place.filter(|it| it.symbol == NONE);
            match key {
                Key::Dso if self.source.named.symbol_of(row.frame) == NONE => unresolved,
                Key::DsoTo if place(self.table.key(row).map(|key| key.place)).is_some() => unresolved,
                Key::DsoFrom if place(self.table.key(row).map(|key| key.from)).is_some() => unresolved,
                Key::DsoDaddr if self.table.key(row).is_some_and(|key| key.data == NONE) => unresolved,
                _ => 0,
            }
            .max(match key {
                // Many rows have the same text.
                _ if self.text_number(row, key).is_some_and(|number| !seen.insert(number)) => 0,
                // As in perf, without what marks inlined functions.
                Key::Symbol => {
                    let text = self.text(row, column);
                    shown_len(text.strip_suffix(b" (inlined)".as_slice()).unwrap_or(&text))
                }
                Key::Pid | Key::Tid | Key::Tgid | Key::Cpu | Key::Socket => 0,
                _ => shown_len(&self.text(row, column)),
            })
        });
        heading.max(least).max(widest.max().unwrap_or(0))
    }

    /// Returns a number that a row shares only with those whose texts of a key are as long; `None` if it is not known.
    fn text_number(&self, row: &Row, key: Key) -> Option<u32> {
        let of = self.table.key(row)?;
        let number = match key {
            Key::Comm => self.source.collected.facts.list.get(of.facts as usize)?.comm,
            Key::Dso => of.place.dso,
            // Addresses without a name have all digits, but for 0 without a prefix.
            Key::Symbol if of.place.symbol == NONE => NONE - 1 - u32::from(of.place.address == 0),
            Key::Symbol => of.place.symbol,
            _ => NONE,
        };
        Some(number).filter(|&number| number != NONE)
    }

    /// Returns the facts of the rows, each once.
    fn facts(&self) -> impl Iterator<Item = &Facts> {
        let list = &self.source.collected.facts.list;
        let mut seen = HashSet::new();
        let numbers = self.table.rows.iter().filter_map(|row| Some(self.table.key(row)?.facts));
        numbers.filter(move |&number| seen.insert(number)).filter_map(|number| list.get(number as usize))
    }

    /// Returns the width of the longest name of a thread.
    fn comm_width(&self) -> usize {
        let facts = &self.source.collected.facts;
        let of_thread =
            |tid| facts.last_comms.get(&tid).map_or(0, |&(_, comm)| shown_width(facts.texts.get(comm)));
        let widths = self
            .facts()
            .map(|it| shown_width(facts.texts.get(it.comm)).max(of_thread(it.tid)).max(of_thread(it.tgid)));
        widths.max().unwrap_or(0)
    }

    /// Returns the length of the longest name of the symbols of frames; `None` if none has a symbol.
    fn longest(&self, frame: impl Fn(&Row) -> u32) -> Option<usize> {
        let named = self.source.named;
        let symbols = self.table.rows.iter().filter_map(|row| named.symbol(named.symbol_of(frame(row))));
        symbols.map(|it| shown_width(&it.label())).max()
    }

    /// The width of a number of one event.
    ///
    /// perf: `perf_hpp__reset_width`, `tools/perf/ui/hist.c`.
    pub(in crate::report) fn number_width(&self, column: Column) -> usize {
        match column {
            Column::GuestSys | Column::GuestUser => 9,
            Column::Samples | Column::Period => 12,
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
                .filter(|(column, width)| matches!(column, Column::Key(_)) && *width > NARROW)
                .max_by_key(|(_, width)| *width);
            match widest {
                Some((_, width)) if excess > 0 => *width = width.saturating_sub(excess).max(NARROW),
                _ => return,
            }
        }
    }
}

/// The number of characters that a text of the capture has on a line.
fn shown_width(text: &[u8]) -> usize {
    let mut shown = Vec::new();
    push_name(&mut shown, text);
    shown_len(&shown)
}
