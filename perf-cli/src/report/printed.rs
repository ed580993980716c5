//! A report as text: what precedes the tables, each table with its call graphs, and what follows.

use std::io::IsTerminal;

use perf_profile::SampleTotal;
use perf_profile::report::{ReportColumn, ReportTable, RowStacks, StackFunction};
use perf_profile::work::in_order::in_order;

use super::{ReportView, elided, fit, graph, quality, text};
use crate::colors::Colors;
use crate::escape::{print, push_name};
use crate::outcome::Failure;
use crate::output::Output;
use crate::quality::grouped;
use crate::streams;

/// The keys of memory accesses, as perf prints them.
///
/// perf: `default_mem_sort_order`, `tools/perf/util/sort.c`.
const MEMORY: &str = "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,local_ins_lat,\
    local_p_stage_cyc";

impl ReportView<'_> {
    /// Returns the columns that have the same in all rows.
    fn elided(&self) -> Vec<elided::ElidedColumn<'_>> {
        elided::columns(&self.report.plan().layout, &self.args.only)
    }

    pub(super) fn style(&self) -> text::TableStyle {
        let args = self.args;
        let fits = args.column_widths.is_empty() && args.field_separator.is_none();
        text::TableStyle {
            widths: args.column_widths.clone(),
            separator: args.field_separator,
            terminal: terminal().filter(|_| fits),
            colors: Colors::of(args.color),
            ns: args.ns,
            elided: self.elided().into_iter().map(|(key, ..)| ReportColumn::Key(key)).collect(),
            has_dso_filter: !args.only.dsos.is_empty(),
        }
    }

    /// perf: `evlist__tty_browse_hists`, `tools/perf/builtin-report.c`.
    pub(super) fn push_text(&self, output: &mut Output) -> Result<bool, Failure> {
        let out = &mut output.buffer;
        if !self.args.header {
            out.extend_from_slice(
                b"# To display the perf.data header info, please use --header/--header-only options.\n#\n",
            );
        }
        for (_, name, text) in self.elided() {
            print(out, format_args!("# {name}: "));
            push_name(out, text.as_bytes());
            out.push(b'\n');
        }
        let lost = self.report.account().lost_samples;
        print(out, format_args!("#\n# Total Lost Samples: {lost}\n#\n"));
        let style = self.style();
        let mut beyond = 0;
        for events in self.report.tables() {
            let table = self.report.table(events, self.args.percentage.into());
            beyond += table.beyond();
            self.push_summary(&mut output.buffer, &table);
            self.push_table(output, &table, &style)?;
            output.buffer.extend_from_slice(b"\n\n");
        }
        let out = &mut output.buffer;
        out.extend_from_slice(b"#\n");
        quality::push(out, self.report);
        if beyond > 0 {
            let beyond = grouped(beyond);
            print(
                out,
                format_args!(
                    "# {beyond} samples are beyond the limits; select fewer by --time or --comms, or use fewer keys\n"
                ),
            );
        }
        out.extend_from_slice(b"#\n");
        output.flush()
    }

    /// Appends the number of samples and what they count.
    ///
    /// perf: `hists__fprintf_nr_sample_events`, `tools/perf/builtin-report.c`.
    fn push_summary(&self, out: &mut Vec<u8>, table: &ReportTable<'_>) {
        let mut total = SampleTotal::default();
        table.totals().iter().for_each(|it| total.add(*it));
        let (samples, unit) = abbreviated(total.samples);
        let events = table.events();
        let plural = if events.events.len() > 1 || events.leads_others { "s" } else { "" };
        print(out, format_args!("# Samples: {samples}{unit} of event{plural} '"));
        push_name(out, &events.name);
        out.push(b'\'');
        if let Some(spans) = &self.args.only.time {
            print(out, format_args!(" (time slices: "));
            push_name(out, spans.as_bytes());
            out.push(b')');
        }
        if !self.report.plan().memory {
            print(out, format_args!("\n# Event count (approx.): {}\n#\n", total.period));
            return;
        }
        let (sort, more) = match self.args.sort.as_deref().map(|keys| (keys, keys.strip_prefix('+'))) {
            None => (MEMORY, ""),
            Some((_, Some(more))) => (MEMORY, more),
            Some((keys, None)) => (keys, ""),
        };
        let comma = if more.is_empty() { "" } else { "," };
        print(out, format_args!("\n# Total weight : {}\n# Sort order   : ", total.period));
        push_name(out, format!("{sort}{comma}{more}").as_bytes());
        out.extend_from_slice(b"\n#\n");
    }

    /// perf: `hists__fprintf`, `tools/perf/ui/stdio/hist.c`.
    pub(super) fn push_table(
        &self,
        output: &mut Output,
        table: &ReportTable<'_>,
        style: &text::TableStyle,
    ) -> Result<bool, Failure> {
        let printer = text::TablePrinter::new(table, style);
        printer.push_headings(&mut output.buffer);
        let plan = self.report.plan();
        let graph = graph::CallGraphPrinter {
            frames: self.report.frames(),
            named: self.report.function_table(),
            graph: &plan.graph,
            colors: style.colors,
            separator: style.separator,
            skips_first: self.args.fields.is_none()
                && self.args.sort.as_deref().is_some_and(|keys| keys.starts_with("sym")),
            total: table.totals().first().map_or(0, |it| it.period),
            min: table.min_weight(&plan.graph),
        };
        let mut stacks = table.row_stacks(&plan.graph, plan.min_percent);
        let is_shown = |number: &&usize| !table.is_below(&table.rows()[**number], plan.min_percent);
        let mut shown = table.order().iter().filter(is_shown).peekable();
        let threads = self.args.symbols.naming(self.args.threads).threads;
        let mut is_open = true;
        in_order(
            threads,
            &mut Vec::new(),
            |block: &mut PrintedRows| {
                block.clear();
                while block.has_room()
                    && let Some(&number) = shown.next()
                {
                    let stacks = stacks.get_mut(number).map(core::mem::take).unwrap_or_default();
                    block.add(number, table.weight(&table.rows()[number]), stacks);
                }
                shown.peek().is_some()
            },
            |scratch, block| block.print(&printer, table, &graph, style, scratch),
            |_, block| {
                output.buffer.extend_from_slice(&block.out);
                is_open = output.flush_full()?;
                Ok::<_, Failure>(is_open)
            },
            |_, _| {},
        )?;
        Ok(is_open)
    }
}

/// The stacks that the call graphs of a block of rows have at most; one row may have more.
const STACKS: usize = 1024;

/// The rows of a block without stacks.
const ROWS: usize = 256;

/// Rows that a thread prints.
#[derive(Debug, Default)]
struct PrintedRows {
    /// Of each row the number, what it counts, and what its call graph is made of.
    rows: Vec<(usize, u64, RowStacks)>,
    stacks: usize,
    /// The text.
    out: Vec<u8>,
}

impl PrintedRows {
    fn clear(&mut self) {
        self.rows.clear();
        self.stacks = 0;
        self.out.clear();
    }

    fn has_room(&self) -> bool {
        self.rows.len() < ROWS && self.stacks < STACKS
    }

    fn add(&mut self, number: usize, weight: u64, stacks: RowStacks) {
        self.stacks += stacks.len();
        self.rows.push((number, weight, stacks));
    }

    fn print(
        &mut self,
        printer: &text::TablePrinter<'_>,
        table: &ReportTable<'_>,
        graph: &graph::CallGraphPrinter<'_>,
        style: &text::TableStyle,
        scratch: &mut Vec<StackFunction>,
    ) {
        for (number, weight, stacks) in self.rows.drain(..) {
            printer.push_row(&mut self.out, &table.rows()[number]);
            let Some(tree) = table.call_graph(&stacks, graph.graph, scratch) else { continue };
            let start = self.out.len();
            graph.push(&mut self.out, &tree, weight);
            if let Some(width) = style.terminal {
                fit::cut_lines(&mut self.out, start, width);
            }
        }
    }
}

/// The width of the terminal that the text goes to; `None` if it goes elsewhere.
fn terminal() -> Option<usize> {
    if !streams::are_of_process() || !std::io::stdout().is_terminal() {
        return None;
    }
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}

/// Returns a number in thousands, millions or milliards, as perf does, and the letter of that.
///
/// perf: `convert_unit`, `tools/perf/util/units.c`.
pub(super) fn abbreviated(number: u64) -> (u64, char) {
    let (mut number, mut unit) = (number as f64, ' ');
    for larger in ['K', 'M', 'G'] {
        if number > 1000.0 {
            (number, unit) = (number / 1000.0, larger);
        }
    }
    (number as u64, unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_room_for_rows_and_for_stacks() {
        let mut block = PrintedRows::default();
        (1..ROWS).for_each(|number| block.add(number, 1, RowStacks::default()));
        assert!(block.has_room());
        block.add(0, 1, RowStacks::default());
        assert!(!block.has_room());
        block.clear();
        block.stacks = STACKS - 1;
        assert!(block.has_room());
        block.stacks = STACKS;
        assert!(!block.has_room());
    }
}
