//! Counts the samples of each thread on all CPUs: the capture is cut into blocks, which rayon decodes.

use std::collections::BTreeMap;
use std::error::Error;

use perf_parse::file::EventRecords;
use perf_parse::{FileError, Reader};
use rayon::iter::{ParallelBridge, ParallelIterator};

type Samples = BTreeMap<i32, u64>;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "perf.data".to_owned());
    // A program that maps the file instead need not read it first.
    let bytes = std::fs::read(path)?;
    let reader = Reader::new(&bytes)?;
    let blocks = reader.blocks(bytes.len() / (256 << 10) + 1);
    let samples = blocks.par_bridge().map(count).try_reduce(Samples::new, |mut all, part| {
        part.into_iter().for_each(|(tid, samples)| *all.entry(tid).or_default() += samples);
        Ok(all)
    })?;
    for (tid, samples) in samples {
        println!("{tid} {samples}");
    }
    Ok(())
}

/// Counts the samples of a block.
fn count(block: EventRecords<'_>) -> Result<Samples, FileError> {
    let mut samples = Samples::new();
    for record in block {
        if let Some(tid) = record?.sample().and_then(|sample| sample.tid()) {
            *samples.entry(tid).or_default() += 1;
        }
    }
    Ok(samples)
}
