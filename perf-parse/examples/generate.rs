//! Writes a large capture, to measure the cost of reading one: `generate OUT GIB [no-rounds]`.
//!
//! The samples of two CPUs interleave in time. Each CPU writes 10000 samples in a round, as perf record writes them.

use core::error::Error;
use std::fs::File;
use std::io::BufWriter;

use perf_parse::SampleLayout;
use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::event::EventType;
use perf_parse::abi::record::Misc;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use perf_parse::write::{RecordEncoder, SampleFields};

/// Number of samples of a CPU in a round.
const ROUND: u64 = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(path), Some(gib)) = (args.next(), args.next()) else {
        return Err("usage: generate OUT GIB [no-rounds]".into());
    };
    let has_rounds = args.next().is_none();
    let size = gib.parse::<u64>()? << 30;
    let sample_type =
        [SampleType::IP, SampleType::TID, SampleType::TIME, SampleType::CPU, SampleType::PERIOD]
            .into_iter()
            .fold(SampleType::NONE, SampleType::union);
    let attr = Attr {
        kind: EventType::SOFTWARE,
        sample_type,
        flags: AttrFlags::SAMPLE_ID_ALL,
        sample_period: 1,
        ..Attr::default()
    };
    let layout = SampleLayout::new(&attr)?;
    let encoder = RecordEncoder::new(&layout);
    let event =
        EventFields { attr, ids: vec![1, 2], name: Some(b"cpu-clock".to_vec()), ..EventFields::default() };
    let out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut writer = FileWriter::new(out, &[event], &WriteOptions::default())?;
    let (mut written, mut start) = (0_u64, 1_u64);
    let mut record = Vec::new();
    while written < size {
        for cpu in 0..2 {
            for sample in 0..ROUND {
                let time = start + 2 * sample + u64::from(cpu);
                let fields = SampleFields {
                    ip: Some(0x40_1000 + sample),
                    pid_tid: Some((1000, 1000 + cpu as i32)),
                    time: Some(time),
                    cpu: Some(cpu),
                    period: Some(1),
                    ..SampleFields::default()
                };
                record.clear();
                encoder.sample(&mut record, Misc(2), &fields)?;
                writer.record(&record)?;
                written += record.len() as u64;
            }
        }
        start += 2 * ROUND;
        if has_rounds {
            writer.end_round()?;
        }
    }
    writer.finish()?;
    Ok(())
}
