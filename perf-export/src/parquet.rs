//! The tables of captures as Parquet files.
//!
//! A data set is a folder with a folder for each table. There a capture has a file in a folder for its host and its day:
//! `samples/host=H/date=D/CAPTURE.parquet`. DuckDB, Spark, Polars and others read `host` and `date` as columns. So captures
//! can be added to a data set without touching the others.
//!
//! [`write()`] writes all files of a capture, [`TableWriter`] one table. The caller creates and replaces the files.
//!
//! Pages are encoded here; row groups and footers are written by the crate `parquet`. Its `ArrowWriter`, with the same
//! settings and dictionaries kept, takes 2.0 times the processor time (1.7 with flat stacks) and 2.3 times the instructions
//! for the tables of 1.28 million samples, and its files are 8 % larger: `bench/notes/parquet.md`.

mod bounds;
mod chunk;
mod data_set;
mod delta;
mod dictionary;
mod hybrid;
mod leaf;
mod table_writer;
mod zstd_frame;

pub use self::data_set::{DataSetWriter, NO_VALUE, Options, write};
pub use self::table_writer::TableWriter;
pub use ::parquet::errors::ParquetError;
