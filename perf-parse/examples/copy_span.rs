//! Copies a span of time: `copy_span IN OUT FIRST LAST`, in nanoseconds of the capture's clock.
//!
//! Samples outside of the span are left out. All other records are copied, because they describe the processes and
//! their mappings.

use std::error::Error;
use std::fs::File;

use perf_parse::Reader;
use perf_parse::rewrite::FileCopy;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [input, output, first, last] = &args[..] else { return Err("copy_span IN OUT FIRST LAST".into()) };
    let span = first.parse::<u64>()?..=last.parse::<u64>()?;
    let reader = Reader::open(input)?;
    let mut copy = FileCopy::like(&reader, File::create_new(output)?)?;
    let mut samples = 0;
    for record in reader.records() {
        let record = record?;
        if let Some(sample) = record.sample() {
            if !sample.time().is_some_and(|time| span.contains(&time)) {
                continue;
            }
            samples += 1;
        }
        copy.copy(&record)?;
    }
    copy.finish()?;
    println!("{samples} samples");
    Ok(())
}
