//! A Parquet file of one table: its row groups.

use std::io::Write;
use std::sync::Arc;

use ::parquet::arrow::ArrowSchemaConverter;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::ColumnDescPtr;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use perf_profile::CaptureOrigin;

use super::chunk::{ColumnChunk, PageScratch};
use super::leaf::leaves;
use crate::columns::{SCHEMA_VERSION, Table};

/// Number of rows of a row group. A second of a machine with a hundred CPUs at 1,000 samples each is in one or two.
const ROW_GROUP: usize = 1 << 17;

/// Number of rows of a page. Engines skip pages by their bounds.
const PAGE: usize = 1 << 15;

/// Columns whose values are close to their predecessors, or hardly recur.
const RISING: &[&str] =
    &["time", "utc", "start", "end", "stack_id", "frame_id", "dso_id", "leaf", "root", "file_offset"];

/// Writes the file of a table of a capture.
#[derive(Debug)]
pub struct TableWriter<W: Write + Send> {
    file: TableFile<W>,
    scratch: PageScratch,
}

impl<W: Write + Send> TableWriter<W> {
    /// Starts a file. Its metadata name the capture and its machine.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn new(out: W, table: Table, capture: &str, origin: &CaptureOrigin) -> Result<Self, ParquetError> {
        Ok(Self { file: TableFile::of_table(out, table, capture, origin)?, scratch: PageScratch::new()? })
    }

    /// Writes a batch of the table. Holds at most the encoded rows of one row group in memory.
    ///
    /// # Errors
    ///
    /// Those of the output, and of a batch of another table.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), ParquetError> {
        self.file.write(batch, &mut self.scratch)
    }

    /// Ends the file, and returns the output.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn finish(mut self) -> Result<W, ParquetError> {
        self.file.finish(&mut self.scratch)
    }
}

/// The file of a table of a capture.
#[derive(Debug)]
pub(super) struct TableFile<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    schema: SchemaRef,
    /// The leaf columns.
    chunks: Vec<ColumnChunk>,
    /// Number of rows of `chunks`.
    rows: usize,
}

impl<W: Write + Send> TableFile<W> {
    pub(super) fn of_table(
        out: W,
        table: Table,
        capture: &str,
        origin: &CaptureOrigin,
    ) -> Result<Self, ParquetError> {
        Self::new(out, table.name(), table.schema(), capture, origin)
    }

    pub(super) fn new(
        out: W,
        table: &str,
        schema: SchemaRef,
        capture: &str,
        origin: &CaptureOrigin,
    ) -> Result<Self, ParquetError> {
        let descr = ArrowSchemaConverter::new().convert(&schema)?;
        let chunk = |column: &ColumnDescPtr| {
            let name = column.path().string();
            // Whether a capture has a build id is then known without reading the file. For the numbers of stacks a filter
            // would not pay: every row group has most of them.
            let has_filter = table == Table::Dsos.name() && name == "build_id";
            ColumnChunk::new(Arc::clone(column), RISING.contains(&&*name), has_filter)
        };
        let chunks = descr.columns().iter().map(chunk).collect();
        let properties = Arc::new(properties(table, capture, origin));
        // Without the schema in Arrow's own format, so that every engine reads the same types.
        let writer = SerializedFileWriter::new(out, descr.root_schema_ptr(), properties)?;
        Ok(Self { writer, schema, chunks, rows: 0 })
    }

    pub(super) fn write(
        &mut self,
        batch: &RecordBatch,
        scratch: &mut PageScratch,
    ) -> Result<(), ParquetError> {
        if batch.schema_ref().fields() != self.schema.fields() {
            return Err(ParquetError::ArrowError("the batch is not one of this table".to_owned()));
        }
        let mut start = 0;
        while start < batch.num_rows() {
            let rows = PAGE.min(ROW_GROUP - self.rows).min(batch.num_rows() - start);
            self.add(&batch.slice(start, rows), scratch)?;
            start += rows;
            if self.rows >= ROW_GROUP {
                self.end_group(scratch)?;
            }
        }
        Ok(())
    }

    /// Adds a page to each column.
    fn add(&mut self, page: &RecordBatch, scratch: &mut PageScratch) -> Result<(), ParquetError> {
        let mut chunks = self.chunks.iter_mut();
        for (field, array) in self.schema.fields().iter().zip(page.columns()) {
            let leaves = leaves(array, field.is_nullable());
            let leaves = leaves.ok_or_else(|| ParquetError::NYI(format!("{}: its type", field.name())))?;
            for (leaf, chunk) in leaves.iter().zip(&mut chunks) {
                chunk.add(leaf, scratch)?;
            }
        }
        self.rows += page.num_rows();
        Ok(())
    }

    /// Ends a row group.
    fn end_group(&mut self, scratch: &mut PageScratch) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for chunk in &mut self.chunks {
            let (bytes, closed) = chunk.finish(scratch)?;
            group.append_column(&bytes, closed)?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }

    pub(super) fn finish(mut self, scratch: &mut PageScratch) -> Result<W, ParquetError> {
        if self.rows > 0 {
            self.end_group(scratch)?;
        }
        self.writer.into_inner()
    }
}

fn properties(table: &str, capture: &str, origin: &CaptureOrigin) -> WriterProperties {
    let text = |value: &Option<Vec<u8>>| value.as_ref().map(|it| String::from_utf8_lossy(it).into_owned());
    let mut metadata = vec![
        KeyValue::new("perf.schema_version".to_owned(), SCHEMA_VERSION.to_string()),
        KeyValue::new("perf.capture".to_owned(), capture.to_owned()),
        KeyValue::new("perf.table".to_owned(), table.to_owned()),
    ];
    let facts = [
        ("perf.hostname", text(&origin.hostname)),
        ("perf.os_release", text(&origin.release)),
        ("perf.arch", text(&origin.arch)),
        ("perf.cpu_description", text(&origin.processor)),
        ("perf.clock_to_utc", origin.to_wall_clock.map(|it| it.cast_signed().to_string())),
    ];
    let known = facts.into_iter().filter_map(|(key, value)| Some(KeyValue::new(key.to_owned(), value?)));
    metadata.extend(known);
    WriterProperties::builder()
        .set_created_by(concat!("perfdata ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(metadata))
        .build()
}
