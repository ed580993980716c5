//! Files of Parquet have what the batches have.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use perf_export::columns::{Batches, Options, Table};
use perf_export::parquet::{self, ParquetError, TableWriter};
use perf_parse::Reader;

use crate::{Tables, corpus, no_names};

/// Returns the files of a capture by the names of their tables, and the name of the capture.
fn files_of(reader: &Reader<'_>, options: Options) -> (BTreeMap<String, Vec<u8>>, String) {
    let batches = Batches::new(reader, &no_names(reader), options);
    let open = |_: &Path| Ok::<_, ParquetError>(Vec::new());
    let files = parquet::write(batches, &parquet::Options::default(), open).unwrap();
    let name = files[0].0.file_stem().unwrap().to_str().unwrap().to_owned();
    let table = |path: PathBuf| path.iter().next().unwrap().to_str().unwrap().to_owned();
    (files.into_iter().map(|(path, file)| (table(path), file)).collect(), name)
}

#[test]
fn files_are_where_engines_look_for_them() {
    let reader = Reader::open(testdata::path("everything.data")).unwrap();
    let mut options = parquet::Options::default();
    let paths = |options: &parquet::Options| {
        let batches = Batches::new(&reader, &no_names(&reader), Options::default());
        let mut opened = Vec::new();
        let open = |path: &Path| {
            opened.push(path.to_path_buf());
            Ok::<_, ParquetError>(Vec::new())
        };
        let files = parquet::write(batches, options, open).unwrap();
        assert!(files.iter().map(|(path, _)| path).eq(&opened));
        opened
    };
    let of_capture = paths(&options);
    let tables = of_capture.iter().map(|path| path.iter().next().unwrap().to_str().unwrap());
    assert!(tables.eq(Table::ALL.iter().map(|table| table.name())));
    options.host = Some("a/b".into());
    options.date = Some("2026-11-23".into());
    for (given, of_capture) in paths(&options).iter().zip(&of_capture) {
        let parts: Vec<_> = given.iter().map(|part| part.to_str().unwrap()).collect();
        assert_eq!(parts[1..3], ["host=a%2Fb", "date=2026-11-23"]);
        assert_eq!(given.file_name(), of_capture.file_name());
    }
}

#[test]
fn an_output_that_fails_ends_the_writing() {
    let reader = Reader::open(testdata::path("everything.data")).unwrap();
    let batches = Batches::new(&reader, &no_names(&reader), Options::default());
    let open = |path: &Path| match path.starts_with("frames") {
        true => Err(ParquetError::General("no room".into())),
        false => Ok(Vec::new()),
    };
    let error = parquet::write(batches, &parquet::Options::default(), open).unwrap_err();
    assert!(error.to_string().contains("no room"), "{error}");
}

#[test]
fn files_have_what_the_batches_have() {
    let reader = Reader::open(testdata::path("everything.data")).unwrap();
    let mut rows: BTreeMap<&str, usize> = BTreeMap::new();
    for batch in Batches::new(&reader, &no_names(&reader), Options::default()) {
        let (table, batch) = batch.unwrap();
        *rows.entry(table.name()).or_default() += batch.num_rows();
    }
    let (mut files, name) = files_of(&reader, Options::default());
    assert_eq!(files.len(), Table::ALL.len());
    for &table in Table::ALL {
        let file = files.remove(table.name()).unwrap();
        let read = ParquetRecordBatchReaderBuilder::try_new(bytes_of(file)).unwrap();
        let metadata = read.metadata().file_metadata().key_value_metadata().unwrap().clone();
        let value = |key: &str| metadata.iter().find(|it| it.key == key).and_then(|it| it.value.clone());
        assert_eq!(value("perf.capture").as_deref(), Some(&*name));
        assert_eq!(value("perf.table").as_deref(), Some(table.name()));
        assert_eq!(value("perf.schema_version").as_deref(), Some("2"));
        assert!(value("perf.hostname").is_some_and(|it| !it.is_empty()));
        let names: Vec<_> = read.schema().fields().iter().map(|field| field.name().clone()).collect();
        assert_eq!(names, table.columns().iter().map(|it| it.name).collect::<Vec<_>>());
        let read: usize = read.build().unwrap().map(|batch| batch.unwrap().num_rows()).sum();
        assert_eq!(read, rows[table.name()], "{table}");
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
            let mut all: BTreeMap<String, Vec<RecordBatch>> = BTreeMap::new();
            let mut batches = Batches::new(&reader, &no_names(&reader), options.clone());
            while let Some(batch) = batches.next() {
                let (table, batch) = batch.unwrap();
                all.entry(table.name().to_owned()).or_default().push(batch);
                while let Some((name, batch)) = batches.take_trace() {
                    all.entry(name.to_string()).or_default().push(batch);
                }
            }
            let (files, _) = files_of(&reader, options);
            assert!(files.keys().eq(all.keys()), "{}", path.display());
            for (name, file) in files {
                file_is_the_same(&format!("{}: {name}", path.display()), file, &all[&name], 1);
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
        let origin = perf_profile::CaptureOrigin::default();
        let mut writer = TableWriter::new(Vec::new(), Table::Samples, "name", &origin).unwrap();
        batches.iter().for_each(|batch| writer.write(batch).unwrap());
        let groups = file_is_the_same(capture, writer.finish().unwrap(), &batches, 97);
        assert!(groups > 1, "{groups}");
    }
}

fn bytes_of(file: Vec<u8>) -> bytes::Bytes {
    bytes::Bytes::from(file)
}
