//! The tables of captures, held against the captures and `SCHEMA.md`.

mod files;
mod numbers;
mod redaction;
mod schema;
mod sums;
mod traces;

use std::collections::BTreeMap;
use std::path::PathBuf;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use perf_export::columns::{Batches, Options, Table};
use perf_parse::Reader;
use perf_profile::Symbols;

/// Stacks without names.
fn no_names(reader: &Reader<'_>) -> Symbols {
    Symbols::of(reader).without_names()
}

/// The batches of a capture, by table.
struct Tables(BTreeMap<Table, Vec<RecordBatch>>);

impl Tables {
    fn of(reader: &Reader<'_>, options: Options) -> Self {
        let mut tables = BTreeMap::new();
        for batch in Batches::new(reader, &no_names(reader), options) {
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
