//! Decodes a dump of a ring of this machine: `ring DUMP ATTR`, the bytes of a mapping and those of its event's attr.
//!
//! The part that decodes needs neither std nor an allocator: a record that wraps is copied to the [`Buffer`].

use std::error::Error;

use perf_parse::abi::attr::Attr;
use perf_parse::abi::endian::NativeEndian;
use perf_parse::ring::{Buffer, Direction, Dump};
use perf_parse::{Record, SampleLayout};

/// Counts of the records of a ring.
#[derive(Debug, Default)]
struct Counts {
    samples: u64,
    others: u64,
    faults: u64,
}

fn count(dump: &mut Dump<'_>, layout: &SampleLayout, buffer: &mut Buffer) -> Counts {
    let mut counts = Counts::default();
    while let Some(record) = dump.next(buffer) {
        match record.map(|record| record.decode(layout)) {
            Ok(Ok(Record::Sample(_))) => counts.samples += 1,
            Ok(Ok(_)) => counts.others += 1,
            Ok(Err(_)) | Err(_) => counts.faults += 1,
        }
    }
    counts
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [dump, attr] = &args[..] else { return Err("ring DUMP ATTR".into()) };
    let (bytes, attr) = (std::fs::read(dump)?, std::fs::read(attr)?);
    let attr = Attr::read::<NativeEndian>(&attr)?.attr;
    let mut dump = <Dump<'_>>::open(&bytes, Direction::Forward, None)?;
    println!("{:?}", count(&mut dump, &SampleLayout::new(&attr)?, &mut Buffer::new()));
    Ok(())
}
