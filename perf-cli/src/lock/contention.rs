//! `perfdata lock contention`: the sums of waits for locks of the kernel, as `perf lock contention` prints them.

use perf_parse::file::Reader;
use perf_profile::lock::{
    Contention, ContentionKey, ContentionOptions, ContentionRow, ContentionSort, LockFlags,
};
use perf_profile::sched::PerfVersion;
use perf_profile::{Samples, Symbols};
use serde_json::{Value, json};

use crate::args::lock::ContentionArgs;
use crate::args::perf_text::PrintFormat;
use crate::column::right;
use crate::escape::{OneLine, json_text, print, push_json_value};
use crate::input::Memory;
use crate::names::{self, Lines, NameStyle};
use crate::observer::StderrObserver;
use crate::outcome::{Failure, Outcome};
use crate::output::{Output, say};
use crate::perf_text::print::{left_padded, push_decimal_to};
use crate::render::account;
use crate::selection;

pub(super) fn run(
    reader: &Reader<'_>,
    memory: Memory<'_>,
    args: &ContentionArgs,
) -> Result<Outcome, Failure> {
    let options = options(args)?;
    let symbols = if options.by == ContentionKey::Thread && options.functions.is_empty() {
        Symbols::of(reader).without_names()
    } else {
        names::symbols_with(&args.symbols, reader.features(), memory, Lines::WithInlined, NameStyle::Perf)?
    };
    let mut observer = StderrObserver::new(memory, false);
    let contention =
        Samples::of(reader).contention(&options, &symbols, &mut observer).map_err(selection::failure)?;
    observer.end_progress();
    for name in contention.unknown_symbols() {
        say!("perfdata: --lock-filter {}: the kernel does not have this symbol", OneLine(name));
    }
    let mut table =
        Table { columns: columns(args), by: options.by, version: options.version, args, contention };
    let mut output = Output::new();
    match (args.print.format, &args.field_separator) {
        (PrintFormat::Json, _) => table.push_json(&mut output.buffer),
        (PrintFormat::Text, Some(separator)) => table.push_separated(&mut output.buffer, separator),
        (PrintFormat::Text, None) => table.push_text(&mut output.buffer),
    }
    output.flush()?;
    let contention = &table.contention;
    let dropped = contention.faults().dropped;
    if dropped > 0 {
        say!("perfdata: waits that are in no row, because there are too many rows or threads: {dropped}");
    }
    Ok(observer.finish(contention.account(), contention.omitted(), "read"))
}

/// Returns what is selected.
///
/// # Errors
///
/// A type that does not exist, and a separator that the text has already.
fn options(args: &ContentionArgs) -> Result<ContentionOptions, Failure> {
    let mut options = ContentionOptions::of(args.print.perf_version.into());
    options.by = match () {
        () if args.threads => ContentionKey::Thread,
        () if args.lock_addr => ContentionKey::Lock,
        () => ContentionKey::Caller,
    };
    options.max_stack = args.max_stack;
    options.stack_skip = args.stack_skip.unwrap_or(options.stack_skip);
    for name in &args.type_filter {
        let types = LockFlags::of_name(name);
        if types.is_empty() {
            return Err(Failure(format!("--type-filter {name}: no such type of lock; see --help")));
        }
        options.types.extend(types);
    }
    for lock in &args.lock_filter {
        let digits = lock.strip_prefix("0x").unwrap_or(lock);
        match u64::from_str_radix(digits, 16) {
            Ok(address) => options.addresses.push(address),
            Err(_) => options.symbols.push(lock.clone().into_bytes()),
        }
    }
    options.functions = args.callstack_filter.iter().map(|name| name.clone().into_bytes()).collect();
    let is_old = options.version == PerfVersion::V6_1;
    options.stacks = args.print.format == PrintFormat::Json || is_old && args.verbose;
    if let Some(separator) = &args.field_separator
        && (separator.is_empty() || separator.contains([':', '+', '.']))
    {
        return Err(Failure(format!(
            "--field-separator {separator}: one of at least one character is wanted, without : + and ., which names have"
        )));
    }
    Ok(options)
}

/// Returns the columns: those that are wanted, each once, and the one that rows are sorted by.
fn columns(args: &ContentionArgs) -> Vec<ContentionSort> {
    let mut columns = Vec::new();
    for &column in args.field.iter().chain([&args.key]) {
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    columns
}

/// The rows, and how they are printed.
struct Table<'a> {
    columns: Vec<ContentionSort>,
    by: ContentionKey,
    version: PerfVersion,
    args: &'a ContentionArgs,
    contention: Contention,
}

/// Returns the heading of a column, and its width.
fn heading(column: ContentionSort) -> (&'static str, usize) {
    match column {
        ContentionSort::WaitTotal => ("total wait", 12),
        ContentionSort::WaitMax => ("max wait", 12),
        ContentionSort::WaitMin => ("min wait", 12),
        ContentionSort::AvgWait => ("avg wait", 12),
        // Others do not exist.
        _ => ("contended", 10),
    }
}

/// Appends a time with its unit, as perf does: in numbers of single precision.
///
/// perf: `lock_stat_key_print_time`, `tools/perf/builtin-lock.c`.
fn push_wait(out: &mut Vec<u8>, nanoseconds: u64, width: usize) {
    const UNITS: [(f32, &str); 5] =
        [(1e9 * 3600.0, "h "), (1e9 * 60.0, "m "), (1e9, "s "), (1e6, "ms"), (1e3, "us")];
    let time = nanoseconds as f32;
    let width = width.saturating_sub(3);
    match UNITS.iter().find(|(base, _)| time >= *base) {
        Some((base, unit)) => {
            left_padded(out, width, |out| print(out, format_args!("{:.2}", f64::from(time / base))));
            print(out, format_args!(" {unit}"));
        }
        None => {
            push_decimal_to(out, nanoseconds, width);
            out.extend_from_slice(b" ns");
        }
    }
}

impl Table<'_> {
    /// Returns the rows that are printed, the number of all, and that of those in which a wait ended twice.
    ///
    /// perf: `print_contention_result`, `tools/perf/builtin-lock.c`. Version 6.1 counts no more rows than it prints.
    fn rows(&self) -> (Vec<ContentionRow>, u64, u64) {
        let most = self.args.entries.map_or(usize::MAX, |entries| entries.max(1));
        let (mut printed, mut total, mut broken) = (Vec::new(), 0, 0);
        for row in self.contention.rows(self.args.key) {
            let is_full = printed.len() >= most;
            if is_full && (self.version == PerfVersion::V6_1 || self.args.entries == Some(0)) {
                break;
            }
            (total, broken) = (total + 1, broken + u64::from(row.is_broken));
            // perf 6.1 prints rows without a wait that ended.
            if !is_full && (row.waits.sum() > 0 || self.version == PerfVersion::V6_1) {
                printed.push(row.clone());
            }
        }
        (printed, total, broken)
    }

    fn kind(&self, row: &ContentionRow) -> &'static str {
        if self.version == PerfVersion::V6_1 { row.flags.name_in_6_1() } else { row.flags.name() }
    }

    fn comm(&mut self, row: &ContentionRow) -> Vec<u8> {
        let tid = row.key as i32;
        if tid == -1 && self.version != PerfVersion::V6_1 {
            return b"Unknown".to_vec();
        }
        self.contention.comm(tid).to_vec()
    }

    fn push_text(&mut self, out: &mut Vec<u8>) {
        if !self.args.quiet || self.version == PerfVersion::V6_1 {
            for &column in &self.columns {
                let (heading, width) = heading(column);
                print(out, format_args!("{} ", right(heading, width)));
            }
            match self.by {
                ContentionKey::Thread => print(out, format_args!("  {:>10}   comm\n\n", "pid")),
                ContentionKey::Lock => print(out, format_args!("  {:>16}   symbol\n\n", "address")),
                _ => print(out, format_args!("  {:>10}   caller\n\n", "type")),
            }
        }
        let (rows, total, broken) = self.rows();
        for row in &rows {
            for &column in &self.columns {
                let width = heading(column).1;
                match column {
                    ContentionSort::Contended => push_decimal_to(out, row.contended, width),
                    _ => push_wait(out, row.value(column), width),
                }
                out.push(b' ');
            }
            match self.by {
                ContentionKey::Thread => {
                    let comm = self.comm(row);
                    print(out, format_args!("  {:>10}   {}\n", row.key as i32, OneLine(&comm)));
                }
                ContentionKey::Lock => {
                    let (name, class) = (OneLine(&row.name), row.flags.class());
                    print(out, format_args!("  {:016x}   {name} ({class})\n", row.key));
                }
                _ => {
                    let kind = self.kind(row);
                    print(out, format_args!("  {kind:>10}   {}\n", OneLine(&row.name)));
                }
            }
            if self.by == ContentionKey::Caller && self.args.verbose {
                for frame in &row.stack {
                    print(out, format_args!("\t\t\t{:#x}  {}\n", frame.ip, OneLine(&frame.name)));
                }
            }
        }
        self.push_faults(out, total, broken);
    }

    /// perf: `print_bad_events` and `print_footer_stdio`, `tools/perf/builtin-lock.c`.
    fn push_faults(&self, out: &mut Vec<u8>, total: u64, broken: u64) {
        let is_old = self.version == PerfVersion::V6_1;
        let acquired = self.contention.faults().acquired;
        if acquired == 0 && !self.args.verbose || !is_old && (self.args.quiet || total == 0) {
            return;
        }
        let space = if is_old { "" } else { " " };
        print(out, format_args!("\n=== output for debug{space}===\n\nbad: {broken}, total: {total}\n"));
        if total == 0 {
            out.extend_from_slice(b"bad rate: -nan %\n");
        } else {
            print(out, format_args!("bad rate: {:.2} %\n", broken as f64 / total as f64 * 100.0));
        }
        out.extend_from_slice(b"histogram of events caused bad sequence\n");
        for (name, count) in [("acquire", 0), ("acquired", acquired), ("contended", 0), ("release", 0)] {
            print(out, format_args!(" {name:>10}: {count}\n"));
        }
        if is_old || !self.args.verbose {
            return;
        }
        print(out, format_args!("\n=== output for debug ===\n\nbad: 0, total: {total}\nbad rate: 0.00 %\n"));
        out.extend_from_slice(b"histogram of failure reasons\n");
        for name in ["task", "stack", "time", "data"] {
            print(out, format_args!(" {name:>10}: 0\n"));
        }
    }

    /// Appends the rows with times in nanoseconds and a separator after each column.
    ///
    /// perf: `print_header_csv`, `print_lock_stat_csv` and `print_footer_csv`, `tools/perf/builtin-lock.c`.
    fn push_separated(&mut self, out: &mut Vec<u8>, sep: &str) {
        let shows_stacks = self.by == ContentionKey::Caller && self.args.verbose;
        if !self.args.quiet {
            out.extend_from_slice(b"# output: ");
            for &column in &self.columns {
                print(out, format_args!("{}{sep} ", heading(column).0));
            }
            match self.by {
                ContentionKey::Thread => print(out, format_args!("pid{sep} comm")),
                ContentionKey::Lock => print(out, format_args!("address{sep} symbol{sep} type")),
                _ => print(out, format_args!("type{sep} caller")),
            }
            if shows_stacks {
                print(out, format_args!("{sep} stacktrace"));
            }
            out.push(b'\n');
        }
        let (rows, total, broken) = self.rows();
        for row in &rows {
            for &column in &self.columns {
                print(out, format_args!("{}{sep} ", row.value(column)));
            }
            match self.by {
                ContentionKey::Thread => {
                    let comm = self.comm(row);
                    print(out, format_args!("{}{sep} {}", row.key as i32, OneLine(&comm)));
                }
                ContentionKey::Lock => {
                    let (name, class) = (OneLine(&row.name), row.flags.class());
                    print(out, format_args!("{:x}{sep} {name}{sep} {class}", row.key));
                }
                _ => {
                    print(out, format_args!("{}{sep} {}", self.kind(row), OneLine(&row.name)));
                }
            }
            for (number, frame) in row.stack.iter().enumerate().filter(|_| shows_stacks) {
                let before = if number == 0 { sep } else { ":" };
                print(out, format_args!("{before} {:#x} {}", frame.ip, OneLine(&frame.name)));
            }
            out.push(b'\n');
        }
        if !self.args.quiet && total > 0 && (broken > 0 || self.args.verbose) {
            let (total, acquired) = (total + broken, self.contention.faults().acquired);
            print(
                out,
                format_args!(
                    "# debug: total={total}{sep} bad={broken}{sep} bad_acquire=0{sep} bad_acquired={acquired}{sep} \
                     bad_contended=0{sep} bad_release=0\n"
                ),
            );
        }
    }

    fn push_json(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"rows\":[");
        let (rows, ..) = self.rows();
        for (number, row) in rows.iter().enumerate() {
            out.extend_from_slice(if number > 0 { b",\n" } else { b"\n" });
            let waits = &row.waits;
            let mut value = json!({
                "contended": row.contended,
                "wait_total": waits.sum(),
                "wait_max": waits.max(),
                "wait_min": waits.min(),
                "avg_wait": waits.mean(),
                "waits": waits.count(),
                "p50": waits.percentile(50.0),
                "p90": waits.percentile(90.0),
                "p99": waits.percentile(99.0),
            });
            match self.by {
                ContentionKey::Thread => {
                    value["tid"] = (row.key as i32).into();
                    value["comm"] = json_text(&self.comm(row));
                }
                ContentionKey::Lock => {
                    value["address"] = format!("{:#x}", row.key).into();
                    value["symbol"] = if row.name.is_empty() { Value::Null } else { json_text(&row.name) };
                    value["type"] = row.flags.class().into();
                }
                _ => {
                    value["type"] = self.kind(row).into();
                    value["caller"] = json_text(&row.name);
                }
            }
            if self.by != ContentionKey::Thread {
                let frame =
                    |ip: u64, name: &[u8]| json!({"ip": format!("{ip:#x}"), "function": json_text(name)});
                value["stack"] = row.stack.iter().map(|it| frame(it.ip, &it.name)).collect();
            }
            push_json_value(out, &value);
        }
        let faults = self.contention.faults();
        out.extend_from_slice(b"],\n\"faults\":");
        let value = json!({
            "rows_with_two_ends": faults.acquired,
            "unfinished": faults.unfinished,
            "unmatched": faults.unmatched,
            "dropped": faults.dropped,
        });
        push_json_value(out, &value);
        out.extend_from_slice(b",\n\"account\":");
        push_json_value(out, &account::value(self.contention.account()));
        out.extend_from_slice(b"}\n");
    }
}
