//! Copies a ring from memory to a file while its event runs, and decodes the file.
//!
//! ```text
//! cargo run -p perf-open --example ring_dump [FILE]
//! ```

use core::error::Error;

use perf_open::abi::endian::NativeEndian;
use perf_open::abi::event::SwId;
use perf_open::abi::sample_type::SampleType;
use perf_open::parse::ring::{Buffer, Direction, Dump};
use perf_open::parse::{Record, SampleLayout};
use perf_open::{Builder, EventSpec, Ring, Target};

fn main() -> Result<(), Box<dyn Error>> {
    let faults = Builder::new(EventSpec::software(SwId::PAGE_FAULTS))
        .sample_period(1)
        .sample_type(SampleType::IP | SampleType::TIME | SampleType::ADDR)
        .exclude_kernel(true)
        .open(&Target::this_thread())?;
    let ring = Ring::map(&faults, 8)?;
    drop(vec![1_u8; 4 << 20]);

    let path = std::env::args_os().nth(1).unwrap_or_else(|| std::env::temp_dir().join("ring.dump").into());
    std::fs::write(&path, ring.dump())?;

    // The code below needs nothing live. It could run in another program or on another machine.
    let bytes = std::fs::read(&path)?;
    let layout = SampleLayout::new(faults.attr())?;
    let mut dump = Dump::<NativeEndian>::open(&bytes, Direction::Forward, None)?;
    let mut buffer = Buffer::new();
    while let Some(record) = dump.next(&mut buffer) {
        if let Record::Sample(sample) = record?.decode(&layout)? {
            let [time, ip, addr] = [sample.time(), sample.ip(), sample.addr()].map(Option::unwrap_or_default);
            println!("{time} {ip:#x} touched {addr:#x}");
        }
    }
    println!("{:?} of {}: {:?}", dump.page(), path.display(), dump.account());
    Ok(())
}
