//! Prints the features of a capture: every section by its name, and some of them decoded.

use perf_parse::feature::FeatureData;
use perf_parse::{FileError, Reader};

fn main() -> Result<(), FileError> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "perf.data".to_owned());
    let reader = Reader::open(path)?;
    for section in reader.features() {
        print!("{}: ", section.feature);
        match section.decode() {
            Ok(FeatureData::Hostname(text) | FeatureData::OsRelease(text) | FeatureData::Arch(text)) => {
                println!("{text}");
            }
            Ok(FeatureData::NrCpus(cpus)) => println!("{} of {} CPUs", cpus.online, cpus.available),
            Ok(FeatureData::TotalMem(kib)) => println!("{} MiB", kib / 1024),
            Ok(FeatureData::CmdLine(words)) => {
                let words: Vec<_> = words.iter().map(|word| word.to_string()).collect();
                println!("{}", words.join(" "));
            }
            Ok(FeatureData::Other { bytes, .. }) => println!("unknown, {} bytes", bytes.len()),
            Ok(_) => println!("{} bytes", section.bytes.len()),
            // A section that cannot be decoded does not affect the others.
            Err(error) => println!("{error}"),
        }
    }
    Ok(())
}
