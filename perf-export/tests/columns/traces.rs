//! The tables of tracepoints.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use perf_export::columns::{Batches, Options, Table};
use perf_parse::Reader;

use crate::{corpus, no_names, texts_of};

/// The first columns of the tables of tracepoints, as `SCHEMA.md` has them.
static TRACE_COLUMNS: LazyLock<&str> = LazyLock::new(|| {
    let (_, section) = include_str!("../../SCHEMA.md").split_once("## `trace_*`").unwrap();
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
    let mut batches = Batches::new(reader, &no_names(reader), options);
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
