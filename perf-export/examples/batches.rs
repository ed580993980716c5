//! Feeds the tables of a capture to a consumer of record batches, as query engines have one.
//!
//! ```sh
//! cargo run -p perf-export --features arrow --example batches -- perf.data
//! ```

use std::collections::BTreeMap;
use std::error::Error;

use arrow_array::RecordBatch;
use perf_export::columns::{Batches, Options, Table};
use perf_parse::Reader;
use perf_profile::Symbols;

/// A consumer: it counts the rows and the bytes of each table.
#[derive(Default)]
struct Consumer(BTreeMap<Table, (usize, usize)>);

impl Consumer {
    fn consume(&mut self, table: Table, batch: &RecordBatch) {
        let (rows, bytes) = self.0.entry(table).or_default();
        *rows += batch.num_rows();
        *bytes += batch.get_array_memory_size();
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("give a capture")?;
    let reader = Reader::open(path)?;
    let mut consumer = Consumer::default();
    for batch in Batches::new(&reader, &Symbols::of(&reader), Options::default()) {
        let (table, batch) = batch?;
        consumer.consume(table, &batch);
    }
    for (table, (rows, bytes)) in consumer.0 {
        println!("{table:10} {rows:>9} rows {bytes:>11} bytes");
    }
    Ok(())
}
