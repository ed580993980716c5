//! The files of a capture in a data set.

use std::io::Write;
use std::path::{Path, PathBuf};

use ::parquet::errors::ParquetError;
use perf_profile::CaptureOrigin;

use super::chunk::PageScratch;
use super::table_writer::TableFile;
use crate::columns::{Batches, ColumnsBuilder, Table};

/// Value of an unknown partition column. Hive, Spark, DuckDB and Polars read it as null.
pub const NO_VALUE: &str = "__HIVE_DEFAULT_PARTITION__";

/// Options of the files of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Value of the partition column `host`. `None` takes the host that the capture names, or [`NO_VALUE`].
    pub host: Option<String>,
    /// Value of the partition column `date`, as `YYYY-MM-DD`. `None` takes the day of the recording in UTC, or [`NO_VALUE`] if
    /// the capture does not relate its clock to the wall clock.
    pub date: Option<String>,
}

/// Writes all tables of a capture. Returns the paths and outputs of the files, in the order in which they were opened: those of
/// [`Table::ALL`], then those of tracepoints.
///
/// `open` opens a file by its path below the folder of the data set. Reads the capture as it writes, and holds at most the
/// encoded rows of one row group of each table in memory, besides [`Batches`].
///
/// # Errors
///
/// What is wrong with the selection of [`Batches`]; those of `open` and of the outputs. The files are incomplete then.
///
/// # Examples
///
/// ```
/// use perf_export::columns::{self, Batches};
/// use perf_export::parquet::{self, ParquetError};
/// use perf_parse::Reader;
/// use perf_profile::Symbols;
///
/// # let path = "examples/captures/plain.data";
/// let reader = Reader::open(path)?;
/// let batches = Batches::new(&reader, &Symbols::of(&reader), columns::Options::default());
/// let options = parquet::Options::default();
/// // Programs create files below a folder here.
/// let files = parquet::write(batches, &options, |_path| Ok::<_, ParquetError>(Vec::new()))?;
/// assert!(files.iter().all(|(_, file)| file.starts_with(b"PAR1")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write<W: Write + Send, E: From<ParquetError>>(
    mut batches: Batches<'_>,
    options: &Options,
    mut open: impl FnMut(&Path) -> Result<W, E>,
) -> Result<Vec<(PathBuf, W)>, E> {
    let mut writer = DataSetWriter::new(options.clone());
    while let Some(builder) = batches.advance() {
        writer.write_ready(builder.map_err(ParquetError::from)?, &mut open)?;
    }
    Ok(writer.finish()?)
}

/// Writes the tables of a capture as [`walk`](crate::columns::walk) makes them.
#[derive(Debug)]
pub struct DataSetWriter<W: Write + Send> {
    options: Options,
    /// `None` before the first batch: the name of a stream is unknown before.
    capture: Option<CaptureWriter<W>>,
}

/// The open files of a capture.
#[derive(Debug)]
struct CaptureWriter<W: Write + Send> {
    /// Name of the capture.
    name: String,
    origin: CaptureOrigin,
    host: Option<String>,
    date: Option<String>,
    /// The files of [`Table::ALL`], in this order.
    tables: Vec<(PathBuf, TableFile<W>)>,
    /// The files of tracepoints, with the names of their tables.
    traces: Vec<(String, PathBuf, TableFile<W>)>,
    scratch: PageScratch,
}

impl<W: Write + Send> DataSetWriter<W> {
    /// Makes a writer without files.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self { options, capture: None }
    }

    /// Writes the batches of a builder that are ready. `open` opens a file by its path below the folder of the data set; the
    /// files of all tables are opened before the first batch, those of tracepoints when they are needed.
    ///
    /// # Errors
    ///
    /// Those of `open` and of the outputs.
    pub fn write_ready<E: From<ParquetError>>(
        &mut self,
        builder: &mut ColumnsBuilder<'_>,
        mut open: impl FnMut(&Path) -> Result<W, E>,
    ) -> Result<(), E> {
        while let Some((table, batch)) = builder.take().map_err(ParquetError::from)? {
            let capture = match &mut self.capture {
                Some(capture) => capture,
                None => self.capture.insert(CaptureWriter::new(&self.options, builder, &mut open)?),
            };
            let index = Table::ALL.iter().position(|&it| it == table);
            if let Some((_, file)) = index.and_then(|index| capture.tables.get_mut(index)) {
                file.write(&batch, &mut capture.scratch)?;
            }
        }
        // The files of tables are opened first, so that the outputs have one order.
        while let Some(capture) = &mut self.capture
            && let Some((name, batch)) = builder.take_trace()
        {
            let index = match capture.traces.iter().position(|(known, ..)| **known == *name) {
                Some(index) => index,
                None => {
                    let path = capture.path(&escaped(&name));
                    let out = open(&path)?;
                    let file = TableFile::new(out, &name, batch.schema(), &capture.name, &capture.origin)?;
                    capture.traces.push((name.to_string(), path, file));
                    capture.traces.len() - 1
                }
            };
            if let Some((.., file)) = capture.traces.get_mut(index) {
                file.write(&batch, &mut capture.scratch)?;
            }
        }
        Ok(())
    }

    /// Ends all files. Returns their paths and outputs, in the order in which they were opened; none if there was no batch.
    ///
    /// # Errors
    ///
    /// Those of the outputs.
    pub fn finish(self) -> Result<Vec<(PathBuf, W)>, ParquetError> {
        let Some(CaptureWriter { tables, traces, mut scratch, .. }) = self.capture else {
            return Ok(Vec::new());
        };
        let traces = traces.into_iter().map(|(_, path, file)| (path, file));
        tables.into_iter().chain(traces).map(|(path, file)| Ok((path, file.finish(&mut scratch)?))).collect()
    }
}

impl<W: Write + Send> CaptureWriter<W> {
    /// Opens the files of all tables.
    fn new<E: From<ParquetError>>(
        options: &Options,
        builder: &ColumnsBuilder<'_>,
        mut open: impl FnMut(&Path) -> Result<W, E>,
    ) -> Result<Self, E> {
        let recorded = builder.origin().hostname.as_deref().map(String::from_utf8_lossy);
        let mut it = Self {
            name: builder.capture().to_owned(),
            origin: builder.origin().clone(),
            host: options.host.as_deref().or(recorded.as_deref()).map(str::to_owned),
            date: options.date.as_deref().or(builder.date()).map(str::to_owned),
            tables: Vec::new(),
            traces: Vec::new(),
            scratch: PageScratch::new().map_err(ParquetError::from)?,
        };
        for &table in Table::ALL {
            let path = it.path(table.name());
            let file = TableFile::of_table(open(&path)?, table, &it.name, &it.origin)?;
            it.tables.push((path, file));
        }
        Ok(it)
    }

    /// Returns the path of a table's file below the folder of the data set.
    fn path(&self, table: &str) -> PathBuf {
        let value = |value: &Option<String>| value.as_deref().map_or_else(|| NO_VALUE.to_owned(), escaped);
        Path::new(table)
            .join(format!("host={}", value(&self.host)))
            .join(format!("date={}", value(&self.date)))
            .join(format!("{}.parquet", self.name))
    }
}

/// Escapes characters that have a meaning in paths or in the names of partitions as `%XX`.
///
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_folders_have_no_meaning() {
        assert_eq!(escaped("host-1.a_b"), "host-1.a_b");
        assert_eq!(escaped("a/b=c%d e"), "a%2Fb%3Dc%25d%20e");
        assert_eq!(escaped("h\u{f6}st"), "h\u{f6}st");
    }
}
