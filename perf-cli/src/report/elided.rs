//! Columns that have the same in all rows.

use perf_profile::report::{Layout, ReportColumn, SortKey};

use crate::args::only::OnlyArgs;

/// A column that has the same in all rows, with its name and text. perf prints it once, above the tables.
pub(super) type ElidedColumn<'a> = (SortKey, &'static str, &'a str);

/// Returns the columns that have the same in all rows, as one value of theirs is selected.
///
/// perf: `sort__setup_elide`, `tools/perf/util/sort.c`.
pub(super) fn columns<'a>(layout: &Layout, only: &'a OnlyArgs) -> Vec<ElidedColumn<'a>> {
    let lists = [
        (SortKey::Symbol, "symbol", &only.functions),
        (SortKey::Dso, "dso", &only.dsos),
        (SortKey::Comm, "comm", &only.comms),
    ];
    let mut elided = Vec::new();
    let mut is_all = true;
    for column in &layout.columns {
        let ReportColumn::Key(key) = *column else { continue };
        match lists.iter().find(|(of, _, list)| *of == key && list.len() == 1) {
            Some((_, name, list)) => elided.push((key, *name, list[0].as_str())),
            None => is_all = false,
        }
    }
    // Without any key, rows would say nothing; perf prints the lines nevertheless.
    if is_all { Vec::new() } else { elided }
}
