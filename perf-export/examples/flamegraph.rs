//! A flame graph of a capture, without `perf script` and its text in between: `flamegraph CAPTURE OUT.svg`.
//!
//! ```sh
//! cargo run -p perf-export --features flamegraph --example flamegraph -- perf.data flamegraph.svg
//! ```

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use perf_export::flamegraph::{self, FlameDocument};
use perf_parse::Reader;
use perf_profile::{Samples, Symbols};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(capture), Some(out)) = (args.next(), args.next()) else {
        return Err("usage: flamegraph CAPTURE OUT.svg".into());
    };
    let reader = Reader::open(&capture)?;
    let profile = Samples::of(&reader).profile(&Symbols::of(&reader), &mut ())?;
    if !profile.account().is_clean() {
        eprintln!("{} faults; the rest is drawn", profile.account().faults());
    }
    let mut options = flamegraph::Options::default();
    options.document = FlameDocument::Svg;
    options.captures = vec![capture.file_name().unwrap_or_default().as_encoded_bytes().to_vec()];
    let mut out = BufWriter::new(File::create_new(out)?);
    flamegraph::write(&[profile], &options, &mut out)?;
    Ok(out.flush()?)
}
