//! Records the samples of this process itself: `cargo run --example own_process`.

use perf_record::open::abi::event::SwId;
use perf_record::open::{EventGroup, EventSpec};
use perf_record::{FileSink, RecordOptions, Recorder, Targets};

fn main() -> Result<(), Box<dyn core::error::Error>> {
    let clock = EventGroup::from(EventSpec::software(SwId::CPU_CLOCK));
    let this = Targets::Threads(vec![std::process::id()]);
    let mut recorder = Recorder::open(vec![clock], this, None, RecordOptions::default())?;
    let mut sink = FileSink::new(std::io::BufWriter::new(std::fs::File::create("own.data")?));
    recorder.begin(&mut sink)?;
    recorder.start()?;
    let sum = (0..200_000_000_u64).fold(0, |sum, it| core::hint::black_box(sum ^ it)); // what is recorded
    recorder.stop()?;
    println!("{sum}: {} samples in own.data", recorder.finish(&mut sink)?.samples);
    Ok(())
}
