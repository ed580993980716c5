//! The tables of captures as Parquet files.
//!
//! A data set is a folder with a folder for each table. There a capture has a file in a folder for its host and its day:
//! `samples/host=H/date=D/CAPTURE.parquet`. DuckDB, Spark, Polars and others read `host` and `date` as columns. So captures
//! can be added to a data set without touching the others.
//!
//! [`TableWriter`] writes a table of a capture into anything that takes bytes; [`path_of`] is where its file belongs. Both are
//! apart so that the caller decides how files are created and replaced.

use std::io::Write;
use std::path::{Path, PathBuf};

use ::parquet::arrow::ArrowWriter;
use ::parquet::arrow::arrow_writer::ArrowWriterOptions;
use ::parquet::basic::{Compression, Encoding, ZstdLevel};
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use ::parquet::schema::types::ColumnPath;
use arrow_array::RecordBatch;

use crate::columns::{Kind, SCHEMA_VERSION, Table};
use crate::origin::Origin;

pub use ::parquet::errors::ParquetError;

/// Number of rows of a row group. A second of a machine with a hundred CPUs at 1,000 samples each is in one or two.
const ROW_GROUP: usize = 1 << 17;

/// The value of a partition column that is not known. Hive, Spark, DuckDB and Polars read it as null.
pub const NO_VALUE: &str = "__HIVE_DEFAULT_PARTITION__";

/// Returns the path of a file below the folder of a data set. `host` and `date` may be `None`.
///
/// Characters that have a meaning in paths or in the names of partitions are written as `%XX`, as Hive does.
#[must_use]
pub fn path_of(table: Table, host: Option<&str>, date: Option<&str>, capture: &str) -> PathBuf {
    let value = |value: Option<&str>| value.map_or_else(|| NO_VALUE.to_owned(), escaped);
    Path::new(table.name())
        .join(format!("host={}", value(host)))
        .join(format!("date={}", value(date)))
        .join(format!("{capture}.parquet"))
}

/// Hive: `FileUtils.escapePathName`.
fn escaped(value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) || !byte.is_ascii();
    let mut path = String::new();
    for character in value.chars() {
        let mut buffer = [0; 4];
        match character.encode_utf8(&mut buffer).as_bytes() {
            [byte] if !is_plain(*byte) => path.push_str(&format!("%{byte:02X}")),
            _ => path.push(character),
        }
    }
    path
}

/// Writes the file of a table of a capture.
#[derive(Debug)]
pub struct TableWriter<W: Write + Send> {
    writer: ArrowWriter<W>,
}

impl<W: Write + Send> TableWriter<W> {
    /// Starts a file. Its metadata have the capture and what is known of its machine.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn new(out: W, table: Table, capture: &str, origin: &Origin) -> Result<Self, ParquetError> {
        // Without the schema in Arrow's own format, so that every engine reads the same types.
        let options = ArrowWriterOptions::new()
            .with_properties(properties(table, capture, origin))
            .with_skip_arrow_metadata(true);
        Ok(Self { writer: ArrowWriter::try_new_with_options(out, table.schema(), options)? })
    }

    /// Writes a batch of the table. Keeps at most the rows of a row group, encoded.
    ///
    /// # Errors
    ///
    /// Those of the output, and of a batch of another table.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), ParquetError> {
        self.writer.write(batch)
    }

    /// Ends the file, and returns the output.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn finish(self) -> Result<W, ParquetError> {
        self.writer.into_inner()
    }
}

fn properties(table: Table, capture: &str, origin: &Origin) -> WriterProperties {
    let text = |value: &Option<Vec<u8>>| value.as_ref().map(|it| String::from_utf8_lossy(it).into_owned());
    let mut metadata = vec![
        KeyValue::new("perf.schema_version".to_owned(), SCHEMA_VERSION.to_string()),
        KeyValue::new("perf.capture".to_owned(), capture.to_owned()),
        KeyValue::new("perf.table".to_owned(), table.name().to_owned()),
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
    let mut builder = WriterProperties::builder()
        .set_created_by(concat!("perfdata ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(ROW_GROUP))
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_key_value_metadata(Some(metadata));
    let columns = table.columns();
    for column in columns {
        builder = encoding(builder, column.name, column.kind);
    }
    if table == Table::Dsos {
        // Whether a capture has a build id is then known without reading the file. For the numbers of stacks a filter
        // would not pay: every row group has most of them.
        builder = builder.set_column_bloom_filter_enabled(ColumnPath::from("build_id"), true);
    }
    builder.build()
}

/// Sets the encoding of a column whose values rise, or hardly repeat.
fn encoding(builder: WriterPropertiesBuilder, name: &str, kind: Kind) -> WriterPropertiesBuilder {
    let rises = matches!(
        name,
        "time"
            | "utc"
            | "start"
            | "end"
            | "stack_id"
            | "frame_id"
            | "dso_id"
            | "leaf"
            | "root"
            | "file_offset"
    );
    if rises && matches!(kind, Kind::Int64 | Kind::Timestamp) {
        let path = ColumnPath::from(name);
        return builder
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    builder
}

/// Makes the writers of all tables of a capture.
#[derive(Debug)]
pub struct Writers<W: Write + Send> {
    writers: Vec<(Table, TableWriter<W>)>,
}

impl<W: Write + Send> Writers<W> {
    /// Starts the files of all tables; `open` opens each.
    ///
    /// # Errors
    ///
    /// Those of `open` and of the outputs.
    pub fn new<E: From<ParquetError>>(
        capture: &str,
        origin: &Origin,
        mut open: impl FnMut(Table) -> Result<W, E>,
    ) -> Result<Self, E> {
        let open = |&table: &Table| Ok((table, TableWriter::new(open(table)?, table, capture, origin)?));
        Ok(Self { writers: Table::ALL.iter().map(open).collect::<Result<_, E>>()? })
    }

    /// Writes a batch of a table.
    ///
    /// # Errors
    ///
    /// Those of [`TableWriter::write`].
    pub fn write(&mut self, table: Table, batch: &RecordBatch) -> Result<(), ParquetError> {
        match self.writers.iter_mut().find(|(of, _)| *of == table) {
            Some((_, writer)) => writer.write(batch),
            None => Ok(()),
        }
    }

    /// Ends all files, and returns the outputs.
    ///
    /// # Errors
    ///
    /// Those of the outputs.
    pub fn finish(self) -> Result<Vec<(Table, W)>, ParquetError> {
        self.writers.into_iter().map(|(table, writer)| Ok((table, writer.finish()?))).collect()
    }
}
