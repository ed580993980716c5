//! The text of tables, as `perf report --stdio` prints it.

mod widths;

use perf_abi::branch::BranchFlags;
use perf_abi::record::CpuMode;

use super::cells::{aligned, is_cut, is_padded, replaced, zero_padded};
use super::keys::{Column, Key};
use super::memory::{self, Access};
use super::rows::{Place, Row, Source, Table};
use super::transaction;
use crate::column::{self, WIDEST, shown_len};
use crate::escape::{print, push_name};
use crate::script::line::push_page_size;
use perf_profile::NONE;
use perf_session::Mapping;

/// Whether percentages are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Colors(pub(super) bool);

impl Colors {
    /// Appends the text of a percentage: red from 5 % on, green from 0.5 % on.
    ///
    /// perf: `get_percent_color`, `tools/perf/util/color.c`.
    pub(super) fn push_percent(self, out: &mut Vec<u8>, percent: f64, text: &str) {
        let color = match percent {
            _ if !self.0 => "",
            5.0.. => "\u{1b}[31m",
            0.5.. => "\u{1b}[32m",
            _ => "",
        };
        let end = if color.is_empty() { "" } else { "\u{1b}[m" };
        print(out, format_args!("{color}{text}{end}"));
    }
}

/// How a table is printed.
#[derive(Clone, Debug)]
pub(super) struct Style {
    /// The widths that the user gave; 0 for a column without one.
    pub(super) widths: Vec<usize>,
    pub(super) separator: Option<char>,
    /// The number of columns of the terminal; `None` if the text goes elsewhere.
    pub(super) terminal: Option<usize>,
    pub(super) colors: Colors,
    /// Times have nine decimal places instead of six.
    pub(super) ns: bool,
    /// The columns that are left out, as all rows have the same there.
    pub(super) elided: Vec<Column>,
    /// Whether samples are of selected files only.
    pub(super) has_dso_filter: bool,
}

/// A table, ready to be printed.
#[derive(Debug)]
pub(super) struct Printer<'a> {
    source: &'a Source<'a>,
    table: &'a Table<'a>,
    style: &'a Style,
    /// The columns that are printed, with their widths.
    columns: Vec<(Column, usize)>,
}

impl<'a> Printer<'a> {
    pub(super) fn new(source: &'a Source<'a>, table: &'a Table<'a>, style: &'a Style) -> Self {
        let mut printer = Self { source, table, style, columns: Vec::new() };
        let shown = source.layout.columns.iter().enumerate().filter(|(_, it)| !style.elided.contains(it));
        printer.columns = shown
            .map(|(index, &column)| {
                let given = style.widths.get(index).copied().filter(|&width| width > 0);
                (column, given.unwrap_or_else(|| printer.width(column)).min(WIDEST))
            })
            .collect();
        printer.fit();
        printer
    }

    /// Makes a printer of a part of a table, with the columns of the whole one.
    pub(super) fn with_columns(
        source: &'a Source<'a>,
        table: &'a Table<'a>,
        style: &'a Style,
        columns: Vec<(Column, usize)>,
    ) -> Self {
        let mut printer = Self { source, table, style, columns };
        printer.fit();
        printer
    }

    /// Returns the columns that are printed, with their widths.
    pub(super) fn columns(&self) -> &[(Column, usize)] {
        &self.columns
    }

    /// Returns the heading of a column.
    pub(super) fn heading(&self, column: Column) -> &'static str {
        self.source.layout.heading(column)
    }

    /// Appends the headings.
    ///
    /// perf: `hists__fprintf_standard_headers`, `tools/perf/ui/stdio/hist.c`.
    pub(super) fn push_headings(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"# ");
        for (number, &(column, width)) in self.columns.iter().enumerate() {
            self.push_separator(out, number);
            let heading = self.heading(column);
            match column {
                Column::Key(_) => print(out, format_args!("{}", heading_of_key(heading, width))),
                _ => print(out, format_args!("{}", column::right(heading, width))),
            }
        }
        out.push(b'\n');
        if self.style.separator.is_some() {
            return;
        }
        out.extend_from_slice(b"# ");
        for (number, &(_, width)) in self.columns.iter().enumerate() {
            self.push_separator(out, number);
            out.resize(out.len() + width, b'.');
        }
        out.extend_from_slice(b"\n#\n");
    }

    fn push_separator(&self, out: &mut Vec<u8>, number: usize) {
        match self.style.separator {
            _ if number == 0 => {}
            Some(separator) => print(out, format_args!("{separator}")),
            None => out.extend_from_slice(b"  "),
        }
    }

    /// Appends a row.
    ///
    /// perf: `__hist_entry__snprintf`, `tools/perf/ui/stdio/hist.c`.
    pub(super) fn push_row(&self, out: &mut Vec<u8>, row: &Row) {
        if self.style.separator.is_none() {
            out.extend_from_slice(b"  ");
        }
        for (number, &(column, width)) in self.columns.iter().enumerate() {
            self.push_separator(out, number);
            let start = out.len();
            let printed = match column {
                Column::Key(key) => {
                    let mut text = self.text(row, column);
                    match key {
                        Key::Cpu => text = zero_padded(&text, width),
                        Key::Socket => text = aligned(&zero_padded(&text, width.saturating_sub(3)), width),
                        Key::SymbolSize | Key::DsoSize => text = aligned(&text, width),
                        _ => {}
                    }
                    if let Some(separator) = self.style.separator {
                        text = replaced(&text, separator);
                    }
                    let text = if is_cut(key) { self.cut(&text, width) } else { text };
                    out.extend_from_slice(&text);
                    shown_len(&text)
                }
                _ => self.push_number(out, row, column, width),
            };
            let is_last = number + 1 == self.columns.len();
            if !is_last || matches!(column, Column::Key(key) if is_padded(key)) {
                let added = out.len() - start;
                out.resize(start + added + width.saturating_sub(printed), b' ');
            }
        }
        out.push(b'\n');
    }

    /// Appends the numbers of a column, one for each event. Returns how many characters they take.
    ///
    /// perf: `__hpp__fmt`, `tools/perf/ui/hist.c`.
    fn push_number(&self, out: &mut Vec<u8>, row: &Row, column: Column, width: usize) -> usize {
        let members = self.table.members.events.len();
        let width = match self.style.separator {
            Some(_) => 2,
            // A width that the user gave is that of each number.
            None if members == 1 => width,
            None => self.number_width(column),
        };
        let width = width.saturating_sub(1);
        let mut printed = 0;
        if column == Column::Children && !self.source.children {
            let text = format!(" {}", column::right("N/A", width));
            out.extend_from_slice(text.as_bytes());
            return text.len();
        }
        for (count, total) in row.counts.iter().zip(&self.table.totals) {
            let number = count.number(column);
            let text = if matches!(column, Column::Samples | Column::Period) {
                column::right(&number.to_string(), width)
            } else {
                let percent = percent(number, total.period);
                let text = column::right(&format!("{percent:.2}%"), width);
                out.push(b' ');
                self.style.colors.push_percent(out, percent, &text);
                printed += text.len() + 1;
                continue;
            };
            out.push(b' ');
            out.extend_from_slice(text.as_bytes());
            printed += text.len() + 1;
        }
        printed
    }

    /// Shortens a text to a width, as perf does; on a terminal in the middle.
    pub(super) fn cut(&self, text: &[u8], width: usize) -> Vec<u8> {
        if shown_len(text) <= width {
            return text.to_vec();
        }
        let text = String::from_utf8_lossy(text);
        if self.style.terminal.is_none() || width < 8 {
            return text.chars().take(width).collect::<String>().into_bytes();
        }
        let kept = width - 3;
        let end = kept / 3;
        let count = text.chars().count();
        let first: String = text.chars().take(kept - end).collect();
        let last: String = text.chars().skip(count - end).collect();
        format!("{first}...{last}").into_bytes()
    }

    /// Returns the text of a key in a row, cut to the widest column.
    pub(super) fn text(&self, row: &Row, column: Column) -> Vec<u8> {
        let mut text = self.whole_text(row, column);
        column::cut(&mut text, 0);
        text
    }

    fn whole_text(&self, row: &Row, column: Column) -> Vec<u8> {
        let mut out = Vec::new();
        let Column::Key(key) = column else { return out };
        let (Source { collected, named, lines, .. }, Some(row_key)) = (self.source, &self.table.key(row))
        else {
            out.extend_from_slice(BEYOND);
            return out;
        };
        let facts = &collected.facts;
        let Some(of) = facts.list.get(row_key.facts as usize) else { return out };
        let last_comm =
            |tid: i32| facts.last_comms.get(&tid).map_or(&[][..], |&(_, comm)| facts.texts.get(comm));
        let flag = |flag: BranchFlags| of.branch.contains(flag);
        match key {
            Key::Pid | Key::Tid | Key::Tgid => {
                let tid = if key == Key::Tgid { of.tgid } else { of.tid };
                print(&mut out, format_args!("{tid:>7}:"));
                push_name(&mut out, last_comm(tid));
            }
            Key::Comm => push_name(&mut out, facts.texts.get(of.comm)),
            Key::Dso | Key::DsoTo => push_name(&mut out, named.short_name(row_key.place.dso)),
            Key::DsoFrom => push_name(&mut out, named.short_name(row_key.from.dso)),
            Key::Symbol | Key::SymbolTo => self.push_symbol(&mut out, &row_key.place, row.frame),
            Key::SymbolFrom => self.push_symbol(&mut out, &row_key.from, row.from),
            Key::Parent => match named.symbol(row_key.parent) {
                Some(symbol) => push_name(&mut out, &symbol.label()),
                None => out.extend_from_slice(b"[other]"),
            },
            Key::Cpu if of.cpu < 0 => print(&mut out, format_args!("-{:03}", -of.cpu)),
            Key::Cpu => print(&mut out, format_args!("{:03}", of.cpu)),
            Key::Srcline | Key::SrclineTo => push_name(&mut out, lines.srcline_text(row_key.place.srcline)),
            Key::SrclineFrom => push_name(&mut out, lines.srcline_text(row_key.from.srcline)),
            Key::Srcfile => push_name(&mut out, lines.srcfile_text(row_key.place.srcfile)),
            Key::LocalWeight => print(&mut out, format_args!("{}", of.weight)),
            Key::Weight => {
                print(&mut out, format_args!("{}", of.weight.wrapping_mul(row.samples())));
            }
            Key::Trace => push_name(&mut out, facts.texts.get(of.trace)),
            Key::Cgroup if of.cgroup == 0 => out.extend_from_slice(b"N/A"),
            Key::Cgroup => push_name(&mut out, facts.cgroups.get(&of.cgroup).map_or(b"unknown", |it| it)),
            Key::CgroupId => print(&mut out, format_args!("{}/0x{:x}", of.cgroup_id.0, of.cgroup_id.1)),
            Key::Time => {
                let (seconds, fraction) = (of.time / 1_000_000_000, of.time % 1_000_000_000);
                match self.style.ns {
                    true => print(&mut out, format_args!("{seconds}.{fraction:09}")),
                    false => print(&mut out, format_args!("{seconds}.{:06}", fraction / 1000)),
                }
            }
            Key::Mispredict if flag(BranchFlags::PREDICTED) => out.push(b'N'),
            Key::Mispredict if flag(BranchFlags::MISPRED) => out.push(b'Y'),
            Key::Mispredict => out.extend_from_slice(b"N/A"),
            Key::InTx => out.push(if flag(BranchFlags::IN_TX) { b'T' } else { b'.' }),
            Key::Abort => out.push(if flag(BranchFlags::ABORT) { b'A' } else { b'.' }),
            Key::Cycles if of.branch.cycles() == 0 => out.push(b'-'),
            Key::Cycles => print(&mut out, format_args!("{}", of.branch.cycles())),
            Key::AddrFrom => self.push_address(&mut out, row.from, row.mode),
            Key::AddrTo => self.push_address(&mut out, row.frame, row.mode),
            Key::Socket if of.socket < 0 => print(&mut out, format_args!("-{:03}", of.socket.unsigned_abs())),
            Key::Socket => print(&mut out, format_args!("{:03}", of.socket)),
            Key::Transaction => transaction::push(&mut out, of.transaction),
            Key::SymbolSize => match row_key.place.size {
                Some(size) => print(&mut out, format_args!("{size}")),
                None => out.extend_from_slice(b"unknown"),
            },
            Key::DsoSize if row_key.mapped == 0 => out.extend_from_slice(b"unknown"),
            Key::DsoSize => print(&mut out, format_args!("{}", row_key.mapped)),
            Key::CodePageSize => push_page_size(&mut out, Some(of.code_page_size)),
            Key::LocalInsLat => print(&mut out, format_args!("{}", of.ins_lat)),
            Key::InsLat => {
                print(&mut out, format_args!("{}", u64::from(of.ins_lat).wrapping_mul(row.samples())));
            }
            Key::LocalPStageCyc => print(&mut out, format_args!("{}", of.p_stage_cyc)),
            Key::PStageCyc => {
                print(&mut out, format_args!("{}", u64::from(of.p_stage_cyc).wrapping_mul(row.samples())));
            }
            Key::Addr if row_key.ip == 0 => out.push(b'0'),
            Key::Addr => print(&mut out, format_args!("0x{:x}", row_key.ip)),
            Key::DsoDaddr => push_name(&mut out, named.short_name(row_key.data)),
            Key::SymbolDaddr | Key::Dcacheline => self.push_data(&mut out, row, key, &of.access),
            Key::SymbolIaddr => {
                let symbol = named.symbol(named.symbol_of(row.frame)).map(|it| (it, None));
                let letter = level(collected.table.frames.mode(row.frame));
                memory::push_symbol(&mut out, letter, symbol, of.access.ip);
            }
            key => {
                let letter = level(collected.table.frames.mode(row.frame));
                memory::push_text(&mut out, key, &of.access, letter);
            }
        }
        out
    }

    /// Appends an end of a branch. The letter is that of the address, or in no mapping that of the sample; perf always has
    /// the latter.
    ///
    /// perf: `_hist_entry__addr_snprintf`, `tools/perf/util/sort.c`.
    fn push_address(&self, out: &mut Vec<u8>, frame: u32, sample: CpuMode) {
        let (frames, named) = (&self.source.collected.table.frames, self.source.named);
        let offset = frames.place(frame).map_or(0, |it| it.offset);
        let symbol = named.symbol(named.symbol_of(frame));
        let symbol = symbol.map(|it| (it, Some(offset.wrapping_sub(it.start)).filter(|&it| it > 0)));
        let is_mapped = frames.place(frame).is_some_and(|it| it.dso != NONE);
        memory::push_symbol(out, level(if is_mapped { frames.mode(frame) } else { sample }), symbol, offset);
    }

    /// Appends the data of a memory access, or the line of the cache that it is in.
    ///
    /// perf: `hist_entry__daddr_snprintf`, `hist_entry__dcacheline_snprintf`, `tools/perf/util/sort.c`.
    fn push_data(&self, out: &mut Vec<u8>, row: &Row, key: Key, access: &Access) {
        let (frames, named) = (&self.source.collected.table.frames, self.source.named);
        let code = level(frames.mode(row.frame));
        let is_line = key == Key::Dcacheline;
        let offset = match frames.place(row.data) {
            _ if is_line => access.line.start,
            place => place.map_or(0, |it| it.offset),
        };
        // perf has the offset in data alone.
        let is_data = !frames.mapping(row.data).is_some_and(Mapping::is_executable);
        let symbol = named.symbol(named.symbol_of(row.data));
        // A line can begin before what it has.
        let symbol = symbol.map(|it| (it, is_data.then(|| offset.saturating_sub(it.start))));
        let letter = if is_line { access.line.letter(code) } else { code };
        memory::push_symbol(out, letter, symbol, if is_line { offset } else { access.address });
    }

    /// perf: `_hist_entry__sym_snprintf`, `tools/perf/util/sort.c`.
    fn push_symbol(&self, out: &mut Vec<u8>, place: &Place, frame: u32) {
        let level = level(self.source.collected.table.frames.mode(frame));
        let symbol = self.source.named.symbol(place.symbol);
        memory::push_symbol(out, level, symbol.map(|it| (it, None)), place.address);
        if symbol.is_some_and(|it| it.is_inlined) {
            out.extend_from_slice(b" (inlined)");
        }
    }
}

/// What rows of samples beyond the limits have as keys.
const BEYOND: &[u8] = b"[beyond the limits]";

/// Returns the letter that marks whose code it is.
pub(super) fn level(mode: CpuMode) -> char {
    match mode {
        CpuMode::USER => '.',
        CpuMode::KERNEL => 'k',
        CpuMode::GUEST_KERNEL => 'g',
        CpuMode::GUEST_USER => 'u',
        _ => 'H',
    }
}

/// Returns a percentage; 0 of nothing.
pub(super) fn percent(number: u64, total: u64) -> f64 {
    if total == 0 { 0.0 } else { 100.0 * number as f64 / total as f64 }
}

/// Returns the heading of a key, as wide as its column.
pub(super) fn heading_of_key(heading: &str, width: usize) -> String {
    column::left(&heading.chars().take(width).collect::<String>(), width)
}
