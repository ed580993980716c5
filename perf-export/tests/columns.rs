//! The tables of captures: sums, numbers that belong together, what is left out, and `SCHEMA.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, StructArray};
use arrow_schema::DataType;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use perf_abi::record::RecordType;
use perf_export::columns::{Batches, Column, Kind, Options, Table};
use perf_export::parquet::{ParquetError, TableWriter, Writers};
use perf_parse::error::FileErrorKind;
use perf_parse::file::Account;
use perf_parse::{FileError, Reader};
use perf_session::Session;

/// The batches of a capture, by table.
struct Tables(BTreeMap<Table, Vec<RecordBatch>>);

impl Tables {
    fn of(reader: &Reader<'_>, options: Options) -> Self {
        let mut tables = BTreeMap::new();
        for batch in Batches::new(reader, None, options) {
            let (table, batch) = batch.unwrap();
            assert_eq!(batch.schema(), table.schema());
            tables.entry(table).or_insert_with(Vec::new).push(batch);
        }
        assert_eq!(tables.len(), Table::ALL.len());
        Self(tables)
    }

    fn columns<'t>(&'t self, table: Table, name: &'t str) -> impl Iterator<Item = &'t ArrayRef> {
        self.0[&table].iter().map(move |batch| batch.column_by_name(name).unwrap())
    }

    fn numbers(&self, table: Table, name: &str) -> Vec<Option<i64>> {
        self.columns(table, name)
            .flat_map(|column| match column.as_primitive_opt::<Int64Type>() {
                Some(column) => column.iter().collect::<Vec<_>>(),
                None => column.as_primitive::<Int32Type>().iter().map(|it| it.map(i64::from)).collect(),
            })
            .collect()
    }

    fn sum(&self, table: Table, name: &str) -> u64 {
        self.numbers(table, name)
            .into_iter()
            .flatten()
            .fold(0, |sum, it| sum.wrapping_add(it.cast_unsigned()))
    }

    fn texts(&self, table: Table, name: &str) -> Vec<Option<String>> {
        self.columns(table, name).flat_map(texts_of).collect()
    }

    fn lists(&self, table: Table, name: &str) -> Vec<Vec<i64>> {
        self.columns(table, name)
            .flat_map(|column| {
                let lists = column.as_list::<i32>().iter();
                lists.map(|it| it.unwrap().as_primitive::<Int64Type>().values().to_vec()).collect::<Vec<_>>()
            })
            .collect()
    }

    /// Returns the sum of `losses.count` of the rows with these values.
    fn lost(&self, column: &str, value: &str) -> u64 {
        let counts = self.numbers(Table::Losses, "count").into_iter();
        let rows = counts.zip(self.texts(Table::Losses, column));
        rows.filter(|(_, it)| it.as_deref() == Some(value)).map(|(count, _)| count.unwrap() as u64).sum()
    }
}

fn texts_of(column: &ArrayRef) -> Vec<Option<String>> {
    let owned = |it: Option<&str>| it.map(str::to_owned);
    match column.as_string_opt::<i32>() {
        Some(column) => column.iter().map(owned).collect(),
        None => {
            let column = column.as_dictionary::<Int32Type>().downcast_dict::<StringArray>().unwrap();
            column.into_iter().map(owned).collect()
        }
    }
}

/// The variable that names folders with more captures, separated as in `PATH`.
const MORE: &str = "PERF_CAPTURES";

/// All captures of the repository, damaged ones too, and those in the folders of [`MORE`].
fn corpus() -> Vec<PathBuf> {
    let mut files = testdata::captures();
    files.extend(testdata::files_below(&testdata::path("../unwind")));
    let more = std::env::var_os(MORE).unwrap_or_default();
    let folders = std::env::split_paths(&more).filter(|folder| folder.is_dir());
    files.extend(folders.flat_map(|folder| testdata::files_below(&folder)));
    files.retain(|path| Reader::open(path).is_ok());
    assert!(files.len() > 60, "{}", files.len());
    files
}

/// What a walk without this crate has: the account, the rows of samples that there must be, and the sum of their periods.
fn walked(reader: &Reader<'_>) -> (Account, u64, u64) {
    let mut records = reader.records().in_time_order();
    records.check_features();
    let mut session = Session::new();
    session.add_features(records.features());
    let (mut samples, mut periods) = (0_u64, 0_u64);
    while let Some(record) = records.next() {
        let Ok(record) = record else { continue };
        let mut pass = || -> Result<(), FileError> {
            let Some((at, event)) = session.update_at(&record)?.zip(record.event()) else { return Ok(()) };
            at.sample().tail().map_err(|error| record.error(error))?;
            at.stack(None)?.for_each(drop);
            samples += 1;
            periods = periods.wrapping_add(at.sample().period().unwrap_or(event.attr.sample_period));
            Ok(())
        };
        if let Err(error) = pass() {
            records.account_mut().note(error);
        }
    }
    (records.account().clone(), samples, periods)
}

#[test]
fn the_sums_are_those_of_the_account_for_all_captures() {
    let (mut faulty, mut lossy, mut all) = (0, 0, 0_u64);
    for path in corpus() {
        let name = path.display();
        let Ok(reader) = Reader::open(&path) else { continue };
        let (account, samples, periods) = walked(&reader);
        let tables = Tables::of(&reader, Options::default());
        assert_eq!(tables.numbers(Table::Samples, "time").len() as u64, samples, "{name}");
        assert_eq!(tables.sum(Table::Samples, "period"), periods, "{name}");
        for table in [Table::Events, Table::Threads, Table::Processes, Table::Captures] {
            assert_eq!(tables.sum(table, "samples"), samples, "{name}: {table}");
        }
        assert_eq!(tables.sum(Table::Events, "period"), periods, "{name}");
        assert_eq!(tables.lost("what", "lost"), account.lost, "{name}");
        assert_eq!(tables.lost("what", "lost_samples"), account.lost_samples, "{name}");
        assert_eq!(tables.lost("what", "late"), account.late, "{name}");
        let faults = tables.lost("what", "fault") + tables.lost("what", "skipped");
        assert_eq!(faults, account.faults(), "{name}");
        assert_eq!(tables.sum(Table::Losses, "bytes"), account.bytes_skipped, "{name}");
        let sums = [
            ("records", account.records),
            ("bytes", account.bytes),
            ("bytes_skipped", account.bytes_skipped),
            ("faults", account.faults()),
            ("lost", account.lost),
            ("lost_samples", account.lost_samples),
        ];
        for (column, expected) in sums {
            assert_eq!(tables.numbers(Table::Captures, column), [Some(expected as i64)], "{name}: {column}");
        }
        let of_type = account.by_type().find(|(kind, _)| *kind == RecordType::SAMPLE).map_or(0, |it| it.1);
        // Every sample that is in no row is in a loss. Those beyond the limit of diagnostics have no type there.
        if account.diagnostics_omitted == 0 {
            assert_eq!(samples + tables.lost("record", "SAMPLE"), of_type, "{name}");
        }
        faulty += u64::from(account.faults() > 0);
        lossy += u64::from(account.lost > 0);
        all += samples;
        let layouts = account.diagnostics.iter().any(|it| matches!(it.kind, FileErrorKind::Layout(_)));
        assert!(!layouts || tables.lost("kind", "layout") > 0, "{name}");
    }
    println!("captures with faults: {faulty}, that lost records: {lossy}, samples: {all}");
    // Otherwise this proves little.
    assert!(faulty > 5 && lossy > 0 && all > 10_000, "{faulty} {lossy} {all}");
}

/// Tests that all numbers of one column are in another one. Returns how many different ones there are.
fn all_in(tables: &Tables, from: (Table, &str), to: (Table, &str)) -> usize {
    let there: BTreeSet<_> = tables.numbers(to.0, to.1).into_iter().collect();
    assert_eq!(there.len(), tables.numbers(to.0, to.1).len(), "{to:?} has a number twice");
    let used: BTreeSet<_> = tables.numbers(from.0, from.1).into_iter().filter(Option::is_some).collect();
    assert!(used.is_subset(&there), "{from:?}: {:?}", used.difference(&there).next());
    used.len()
}

fn numbers_belong_together(tables: &Tables) {
    let stacks = all_in(tables, (Table::Samples, "stack_id"), (Table::Stacks, "stack_id"));
    assert_eq!(stacks, tables.0[&Table::Stacks].iter().map(RecordBatch::num_rows).sum::<usize>());
    all_in(tables, (Table::Samples, "thread_key"), (Table::Threads, "thread_key"));
    all_in(tables, (Table::Samples, "process_key"), (Table::Processes, "process_key"));
    all_in(tables, (Table::Samples, "event_id"), (Table::Events, "event_id"));
    all_in(tables, (Table::Frames, "dso_id"), (Table::Dsos, "dso_id"));
    all_in(tables, (Table::Stacks, "leaf"), (Table::Frames, "frame_id"));
    let frames: BTreeSet<_> = tables.numbers(Table::Frames, "frame_id").into_iter().flatten().collect();
    let lists = tables.lists(Table::Stacks, "frame_ids");
    let ends = tables.numbers(Table::Stacks, "leaf").into_iter().zip(tables.numbers(Table::Stacks, "root"));
    for ((list, (leaf, root)), depth) in lists.iter().zip(ends).zip(tables.numbers(Table::Stacks, "depth")) {
        assert!(list.iter().all(|id| frames.contains(id)));
        assert_eq!((list.first(), list.last()), (leaf.as_ref(), root.as_ref()));
        assert_eq!(depth, Some(list.len() as i64));
    }
}

#[test]
fn numbers_of_one_table_are_in_the_other() {
    for path in corpus() {
        let Ok(reader) = Reader::open(&path) else { continue };
        numbers_belong_together(&Tables::of(&reader, Options::default()));
    }
}

/// The first columns of the tables of tracepoints, as `SCHEMA.md` has them.
static TRACE_COLUMNS: LazyLock<&str> = LazyLock::new(|| {
    let (_, section) = include_str!("../SCHEMA.md").split_once("## `trace_*`").unwrap();
    let (_, rows) = section.split_once("|---|---|---|---|---|\n").unwrap();
    rows.split_once("\n\n").unwrap().0
});

/// A value of a column of a tracepoint as `samples.trace` has it; `None` if there is none.
fn traced_text(column: &ArrayRef, row: usize, is_signed: impl Fn(i64) -> String) -> Option<String> {
    if column.is_null(row) {
        return None;
    }
    if let Some(numbers) = column.as_primitive_opt::<Int64Type>() {
        return Some(is_signed(numbers.value(row)));
    }
    if let Some(lists) = column.as_list_opt::<i32>() {
        let list = lists.value(row);
        let numbers = list.as_primitive::<Int64Type>().values().iter().map(|&it| is_signed(it));
        return Some(format!("[{}]", numbers.collect::<Vec<_>>().join(",")));
    }
    if let Some(booleans) = column.as_boolean_opt() {
        return Some(u8::from(booleans.value(row)).to_string());
    }
    texts_of(column).remove(row)
}

/// Compares the tables of tracepoints with `samples.trace`. Returns the number of tables, rows and values.
fn traces_are_the_same(reader: &Reader<'_>, path: &Path) -> (usize, usize, usize) {
    let mut options = Options::default();
    options.with.trace = true;
    let mut batches = Batches::new(reader, None, options);
    let (mut samples, mut traces) = (Vec::new(), BTreeMap::<_, Vec<RecordBatch>>::new());
    while let Some(batch) = batches.next() {
        let (table, batch) = batch.unwrap();
        if table == Table::Samples {
            samples.push(batch);
        }
        while let Some((name, batch)) = batches.take_trace() {
            traces.entry(name).or_default().push(batch);
        }
    }
    while let Some((name, batch)) = batches.take_trace() {
        traces.entry(name).or_default().push(batch);
    }
    // By the event, the fields of each sample in order.
    let mut expected: BTreeMap<i32, Vec<BTreeMap<String, String>>> = BTreeMap::new();
    for batch in &samples {
        let events = batch.column_by_name("event_id").unwrap().as_primitive::<Int32Type>();
        let lists = batch.column_by_name("trace").unwrap().as_list::<i32>();
        for row in (0..batch.num_rows()).filter(|&row| lists.is_valid(row)) {
            let list = lists.value(row);
            let fields: &StructArray = list.as_struct();
            let names = texts_of(fields.column(0)).into_iter().map(Option::unwrap);
            let values = texts_of(fields.column(1)).into_iter().map(Option::unwrap);
            expected.entry(events.value(row)).or_default().push(names.zip(values).collect());
        }
    }
    let (mut rows, mut values) = (0, 0);
    let mut next: BTreeMap<i32, usize> = BTreeMap::new();
    for (name, batches) in &traces {
        assert!(name.starts_with("trace_"), "{name}");
        let described = TRACE_COLUMNS.lines().collect::<Vec<_>>();
        for (field, line) in batches[0].schema().fields().iter().zip(&described) {
            let null = if field.is_nullable() { "yes" } else { "" };
            let cells: Vec<_> = line.split('|').map(str::trim).collect();
            assert_eq!((cells[1], cells[4]), (&*format!("`{}`", field.name()), null), "{name}");
        }
        for batch in batches {
            let schema = batch.schema();
            let events = batch.column_by_name("event_id").unwrap().as_primitive::<Int32Type>();
            for row in 0..batch.num_rows() {
                rows += 1;
                let at = next.entry(events.value(row)).or_default();
                let fields = &expected[&events.value(row)][*at];
                *at += 1;
                let own = schema.fields().iter().zip(batch.columns()).skip(TRACE_COLUMNS.lines().count());
                for (field, column) in own {
                    let own = field.name().strip_prefix("trace_").filter(|own| fields.contains_key(*own));
                    let expected = fields.get(own.unwrap_or(field.name()));
                    let signed = traced_text(column, row, |number| number.to_string());
                    let unsigned = traced_text(column, row, |number| number.cast_unsigned().to_string());
                    let is_same = [signed.as_ref(), unsigned.as_ref()].contains(&expected);
                    assert!(is_same, "{path:?}: {name}.{}: {signed:?} not {expected:?}", field.name());
                    values += usize::from(expected.is_some());
                }
            }
        }
    }
    (traces.len(), rows, values)
}

#[test]
fn tables_of_tracepoints_have_the_fields_of_the_samples() {
    let (mut tables, mut rows, mut values) = (0, 0, 0);
    for path in corpus() {
        let Ok(reader) = Reader::open(&path) else { continue };
        let (more_tables, more_rows, more_values) = traces_are_the_same(&reader, &path);
        tables += more_tables;
        rows += more_rows;
        values += more_values;
    }
    println!("tables of tracepoints: {tables}, rows: {rows}, values: {values}");
    assert!(tables > 3 && rows > 100 && values > 1000, "{tables} {rows} {values}");
}

/// The stacks of all samples, as addresses.
fn stacks_of(tables: &Tables) -> Vec<Vec<i64>> {
    let ips: BTreeMap<_, _> = tables
        .numbers(Table::Frames, "frame_id")
        .into_iter()
        .zip(tables.numbers(Table::Frames, "file_offset"))
        .collect();
    let stacks: BTreeMap<_, _> = tables
        .numbers(Table::Stacks, "stack_id")
        .into_iter()
        .zip(tables.lists(Table::Stacks, "frame_ids"))
        .collect();
    let of_sample = |id: Option<i64>| match id {
        None => Vec::new(),
        id => stacks[&id].iter().map(|&frame| ips[&Some(frame)].unwrap()).collect(),
    };
    tables.numbers(Table::Samples, "stack_id").into_iter().map(of_sample).collect()
}

#[test]
fn stacks_that_are_written_in_parts_are_the_same_stacks() {
    let reader = Reader::open(testdata::path("callchain.data")).unwrap();
    let whole = Tables::of(&reader, Options::default());
    let mut options = Options::default();
    options.limits.frames = 200;
    options.limits.stack_nodes = 200;
    let parts = Tables::of(&reader, options);
    numbers_belong_together(&parts);
    let rows = |tables: &Tables| tables.numbers(Table::Frames, "frame_id").len();
    assert!(rows(&parts) > rows(&whole), "the limits were not reached");
    assert_eq!(stacks_of(&parts), stacks_of(&whole));
    for column in ["stacks", "stacks_rooted", "frames", "frames_mapped"] {
        assert_eq!(parts.sum(Table::Captures, column), whole.sum(Table::Captures, column), "{column}");
    }
}

#[test]
fn flat_stacks_are_the_same_stacks() {
    let reader = Reader::open(testdata::path("callchain.data")).unwrap();
    let interned = Tables::of(&reader, Options::default());
    let mut options = Options::default();
    options.flat = true;
    options.limits.frames = 300;
    let flat = Tables::of(&reader, options);
    assert!(flat.numbers(Table::Samples, "stack_id").iter().all(Option::is_none));
    assert!(
        flat.numbers(Table::Stacks, "stack_id").is_empty()
            && flat.numbers(Table::Frames, "frame_id").is_empty()
    );
    let offsets = flat.columns(Table::Samples, "stack").flat_map(|column| {
        let lists = column.as_list::<i32>().iter().map(|it| match it {
            None => Vec::new(),
            Some(frames) => {
                let frames: &StructArray = frames.as_struct();
                frames.column_by_name("file_offset").unwrap().as_primitive::<Int64Type>().values().to_vec()
            }
        });
        lists.collect::<Vec<_>>()
    });
    assert_eq!(offsets.collect::<Vec<_>>(), stacks_of(&interned));
}

#[test]
fn a_capture_has_one_name_and_other_captures_others() {
    let mut names = BTreeMap::new();
    // The handmade ones are damaged copies of each other.
    let recorded = testdata::captures()
        .into_iter()
        .filter(|path| testdata::path("plain.data").parent() == path.parent());
    for path in recorded {
        let Ok(reader) = Reader::open(&path) else { continue };
        let tables = Tables::of(&reader, Options::default());
        let name = tables.texts(Table::Captures, "capture").remove(0).unwrap();
        assert_eq!((name.len(), name.chars().all(|it| it.is_ascii_hexdigit())), (32, true));
        let again = Reader::open(&path).unwrap();
        assert_eq!(
            Tables::of(&again, Options::default()).texts(Table::Captures, "capture"),
            [Some(name.clone())]
        );
        if let Some(other) = names.insert(name, path.clone()) {
            panic!("{} and {}", path.display(), other.display());
        }
    }
    // As a stream it has a name before its first row.
    let bytes = std::fs::read(testdata::path("tracing.pipe.data")).unwrap();
    let reader = Reader::stream(std::io::Cursor::new(bytes)).unwrap();
    let tables = Tables::of(&reader, Options::default());
    let of = |table| tables.texts(table, "capture").into_iter().collect::<BTreeSet<_>>();
    assert_eq!(of(Table::Samples), of(Table::Captures));
}

/// Tests each text of each table.
fn each_text(tables: &Tables, check: &dyn Fn(Table, &Column, &str)) {
    for &table in Table::ALL {
        for column in table.columns() {
            let texts: Vec<_> = match column.kind {
                Kind::Text | Kind::Word => tables.texts(table, column.name),
                Kind::Texts => tables
                    .columns(table, column.name)
                    .flat_map(|lists| texts_of(lists.as_list::<i32>().values()))
                    .collect(),
                Kind::Structures(_) => tables
                    .columns(table, column.name)
                    .flat_map(|lists| {
                        let items: &StructArray = lists.as_list::<i32>().values().as_struct();
                        items
                            .columns()
                            .iter()
                            .filter(|it| it.as_string_opt::<i32>().is_some())
                            .flat_map(texts_of)
                            .collect::<Vec<_>>()
                    })
                    .collect(),
                _ => continue,
            };
            texts.into_iter().flatten().for_each(|text| check(table, column, &text));
        }
    }
}

#[test]
fn what_is_redacted_is_in_no_table() {
    for (capture, flat) in
        [("everything.data", false), ("tracing.pipe.data", false), ("callchain.data", true)]
    {
        let reader = Reader::open(testdata::path(capture)).unwrap();
        let mut options = Options::default();
        options.flat = flat;
        options.path = Some(b"/secret/of/the/user.data".to_vec());
        options.with.trace = true;
        let open = Tables::of(&reader, options.clone());
        let comms: BTreeSet<_> = open
            .texts(Table::Samples, "comm")
            .into_iter()
            .chain(open.texts(Table::Threads, "comm"))
            .flatten()
            .collect();
        assert!(!comms.is_empty());
        let mut paths = 0;
        each_text(&open, &|_, _, _| {});
        for table in [Table::Mmaps, Table::Captures] {
            paths += open.texts(table, "path").iter().flatten().filter(|path| path.starts_with('/')).count();
        }
        assert!(paths > 3, "{capture}");
        let mut dropped = options.clone();
        dropped.redaction.comm = true;
        dropped.redaction.cmdline = true;
        dropped.redaction.paths = true;
        each_text(&Tables::of(&reader, dropped), &|table, column, text| {
            let is_path = text.starts_with('/') && text != "//anon";
            assert!(!text.contains("/secret") && !is_path, "{table}.{}: {text}", column.name);
            assert!(!["comm", "command_line", "trace"].contains(&column.name), "{table}.{}", column.name);
        });
        let mut hashed = options;
        hashed.redaction.salt = Some("salt".into());
        let hashed = Tables::of(&reader, hashed);
        each_text(&hashed, &|table, column, text| {
            let is_other = text == "//anon" || ["command_line", "comm"].contains(&column.name);
            let is_path = text.starts_with('/') && !is_other;
            assert!(!is_path, "{table}.{}: {text}", column.name);
        });
        let different =
            |tables: &Tables| tables.texts(Table::Mmaps, "path").into_iter().collect::<BTreeSet<_>>();
        assert_eq!(different(&hashed).len(), different(&open).len());
        assert_ne!(different(&hashed), different(&open));
    }
}

#[test]
fn files_have_what_the_batches_have() {
    let reader = Reader::open(testdata::path("everything.data")).unwrap();
    let mut batches = Batches::new(&reader, None, Options::default());
    let origin = perf_export::Origin::of(reader.features());
    let open = |_| Ok::<_, parquet::errors::ParquetError>(Vec::new());
    let mut writers = Writers::new("name", &origin, open).unwrap();
    let mut rows: BTreeMap<Table, usize> = BTreeMap::new();
    for batch in &mut batches {
        let (table, batch) = batch.unwrap();
        *rows.entry(table).or_default() += batch.num_rows();
        writers.write(table, &batch).unwrap();
    }
    let (files, traces) = writers.finish().unwrap();
    assert!(traces.is_empty());
    for (table, file) in files {
        let read = ParquetRecordBatchReaderBuilder::try_new(bytes_of(file)).unwrap();
        let metadata = read.metadata().file_metadata().key_value_metadata().unwrap().clone();
        let value = |key: &str| metadata.iter().find(|it| it.key == key).and_then(|it| it.value.clone());
        assert_eq!(value("perf.capture").as_deref(), Some("name"));
        assert_eq!(value("perf.table").as_deref(), Some(table.name()));
        assert_eq!(value("perf.schema_version").as_deref(), Some("1"));
        assert!(value("perf.hostname").is_some_and(|it| !it.is_empty()));
        let names: Vec<_> = read.schema().fields().iter().map(|field| field.name().clone()).collect();
        assert_eq!(names, table.columns().iter().map(|it| it.name).collect::<Vec<_>>());
        let read: usize = read.build().unwrap().map(|batch| batch.unwrap().num_rows()).sum();
        assert_eq!(read, rows[&table], "{table}");
    }
}

/// A value of a column as text; `None` if there is none.
fn cell(array: &ArrayRef, row: usize) -> Option<String> {
    if array.is_null(row) {
        return None;
    }
    let all =
        |array: &ArrayRef| -> Vec<Option<String>> { (0..array.len()).map(|row| cell(array, row)).collect() };
    Some(match array.data_type() {
        DataType::Int32 => array.as_primitive::<Int32Type>().value(row).to_string(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Timestamp(..) => array.as_primitive::<TimestampMicrosecondType>().value(row).to_string(),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row).to_bits().to_string(),
        DataType::Boolean => array.as_boolean().value(row).to_string(),
        DataType::Utf8 => array.as_string::<i32>().value(row).to_owned(),
        DataType::Dictionary(..) => {
            let words = array.as_dictionary::<Int32Type>();
            words.values().as_string::<i32>().value(words.keys().value(row) as usize).to_owned()
        }
        DataType::List(_) => format!("{:?}", all(&array.as_list::<i32>().value(row))),
        DataType::Struct(_) => {
            let columns = array.as_struct().columns().iter();
            format!("{:?}", columns.map(|column| cell(column, row)).collect::<Vec<_>>())
        }
        other => panic!("{other}"),
    })
}

/// Compares every `step`th row of a file with the batches that it was written from. Returns the number of row groups.
fn file_is_the_same(what: &str, file: Vec<u8>, batches: &[RecordBatch], step: usize) -> usize {
    let read = ParquetRecordBatchReaderBuilder::try_new(bytes_of(file)).unwrap();
    let groups = read.metadata().num_row_groups();
    let read: Vec<_> = read.build().unwrap().map(Result::unwrap).collect();
    let rows = |batches: &[RecordBatch]| batches.iter().map(RecordBatch::num_rows).sum::<usize>();
    assert_eq!(rows(&read), rows(batches), "{what}");
    let Some(first) = batches.first() else { return groups };
    for (index, field) in first.schema().fields().iter().enumerate() {
        let cells = |batches: &[RecordBatch]| -> Vec<Option<String>> {
            let columns = batches.iter().map(|batch| batch.column(index));
            let cells = columns.flat_map(|column| (0..column.len()).map(move |row| (column, row)));
            cells.step_by(step).map(|(column, row)| cell(column, row)).collect()
        };
        assert!(cells(&read) == cells(batches), "{what}.{}", field.name());
    }
    groups
}

#[test]
fn files_have_the_values_of_the_batches() {
    for path in corpus() {
        let Ok(reader) = Reader::open(&path) else { continue };
        for flat in [false, true] {
            let mut options = Options::default();
            options.flat = flat;
            (options.with.trace, options.with.branches, options.with.registers) = (true, true, true);
            let open = |_| Ok::<_, ParquetError>(Vec::new());
            let mut writers = Writers::new("name", &perf_export::Origin::default(), open).unwrap();
            let mut all: BTreeMap<String, Vec<RecordBatch>> = BTreeMap::new();
            let mut batches = Batches::new(&reader, None, options);
            while let Some(batch) = batches.next() {
                let (table, batch) = batch.unwrap();
                writers.write(table, &batch).unwrap();
                all.entry(table.name().to_owned()).or_default().push(batch);
                while let Some((name, batch)) = batches.take_trace() {
                    writers.write_trace::<ParquetError>(&name, &batch, || Ok(Vec::new())).unwrap();
                    all.entry(name.to_string()).or_default().push(batch);
                }
            }
            let (tables, traces) = writers.finish().unwrap();
            let tables = tables.into_iter().map(|(table, file)| (table.name().to_owned(), file));
            for (name, file) in tables.chain(traces) {
                let batches = all.get(&name).map_or(&[][..], Vec::as_slice);
                file_is_the_same(&format!("{}: {name}", path.display()), file, batches, 1);
            }
        }
    }
}

#[test]
fn files_of_many_row_groups_have_the_values_of_the_batches() {
    for (capture, flat) in [("everything.data", false), ("callchain.data", true)] {
        let reader = Reader::open(testdata::path(capture)).unwrap();
        let mut options = Options::default();
        options.flat = flat;
        let tables = Tables::of(&reader, options);
        let batch = tables.0[&Table::Samples].first().unwrap();
        let batches = vec![batch.clone(); 140_000_usize.div_ceil(batch.num_rows())];
        let origin = perf_export::Origin::default();
        let mut writer = TableWriter::new(Vec::new(), Table::Samples, "name", &origin).unwrap();
        batches.iter().for_each(|batch| writer.write(batch).unwrap());
        let groups = file_is_the_same(capture, writer.finish().unwrap(), &batches, 97);
        assert!(groups > 1, "{groups}");
    }
}

fn bytes_of(file: Vec<u8>) -> bytes::Bytes {
    bytes::Bytes::from(file)
}

/// The lines of a table in `SCHEMA.md`.
fn described(columns: &[Column], prefix: &str, out: &mut String) {
    for column in columns {
        let null = if column.is_nullable { "yes" } else { "" };
        let line = format!(
            "| `{prefix}{}` | {} | {} | {null} | {} |\n",
            column.name,
            column.kind.name(),
            column.unit,
            column.doc
        );
        out.push_str(&line);
        if let Kind::Structures(columns) = column.kind {
            described(columns, &format!("{prefix}{}.", column.name), out);
        }
    }
}

/// `BLESS=1` writes the tables into the file.
#[test]
fn schema_md_describes_every_column() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("SCHEMA.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut new = text.clone();
    for &table in Table::ALL {
        let (start, end) = (format!("<!-- columns of {table} -->\n"), format!("<!-- end of {table} -->"));
        let mut lines = String::from("\n| column | type | unit | null | meaning |\n|---|---|---|---|---|\n");
        described(table.columns(), "", &mut lines);
        lines.push('\n');
        let from = new.find(&start).unwrap_or_else(|| panic!("{start}")) + start.len();
        let to = new.find(&end).unwrap_or_else(|| panic!("{end}"));
        new.replace_range(from..to, &lines);
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &new).unwrap();
        return;
    }
    assert!(text == new, "SCHEMA.md differs from the columns; write it with BLESS=1");
}
