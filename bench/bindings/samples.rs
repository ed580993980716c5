//! `samples CAPTURE`: adds up the samples of a capture, one by one, without names: as samples.c does.

use std::error::Error;

use perf_parse::Reader;
use perf_profile::{Samples, Symbols};
use perf_symbol::SymbolOptions;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: samples CAPTURE")?;
    let reader = Reader::open(path)?;
    let symbols = Symbols::new(reader.features(), SymbolOptions::default()).without_names();
    let (mut number, mut period, mut frames, mut addresses) = (0_u64, 0_u64, 0, 0_u64);
    for sample in Samples::of(&reader).named(&symbols) {
        let sample = sample?;
        number += 1;
        let words = [sample.time().unwrap_or(u64::MAX), i64::from(sample.thread().tid()).cast_unsigned()];
        period = words.iter().fold(period.wrapping_add(sample.period()), |sum, word| sum.wrapping_add(*word));
        frames += sample.stack().len();
        addresses = sample.stack().iter().fold(addresses, |sum, frame| sum.wrapping_add(frame.ip()));
    }
    println!("{number} {period} {frames} {addresses}");
    Ok(())
}
