//! Pages of annotated functions that no program has: `annotated_pages CAPTURE FOLDER`.
//!
//! Writes `functions.html`, `none.html` without functions, and `flames.html`, a flame graph of a capture that has one of the
//! functions for each of its own.
//! `testdata/check/annotation.sh` opens them in a browser.

mod functions;

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use perf_export::{annotation, flamegraph};
use perf_parse::Reader;
use perf_profile::annotation::Annotation;
use perf_profile::{Profile, ProfileOptions, Samples, Symbols, TimeDetail};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(capture), Some(folder)) = (args.next(), args.next()) else {
        return Err("usage: annotated_pages CAPTURE FOLDER".into());
    };
    let mut options = annotation::Options::default();
    options.title = b"made-up <functions>".to_vec();
    let mut out = BufWriter::new(File::create(folder.join("functions.html"))?);
    annotation::write(&functions::all(), &options, &mut out)?;
    out.flush()?;
    let mut out = File::create(folder.join("none.html"))?;
    annotation::write(&[], &annotation::Options::default(), &mut out)?;
    let reader = Reader::open(&capture)?;
    let mut options = ProfileOptions::default();
    options.detail.times = TimeDetail::Spans;
    let profile = Samples::of(&reader).profile_with(&Symbols::of(&reader), &options, &mut ())?;
    let mut options = flamegraph::Options::default();
    options.annotations = of_profile(&profile);
    let mut out = BufWriter::new(File::create(folder.join("flames.html"))?);
    flamegraph::write(&[profile], &options, &mut out)?;
    Ok(out.flush()?)
}

/// Returns a function for each of a profile: its name is true, its code is not.
fn of_profile(profile: &Profile) -> Vec<Annotation> {
    let named = profile.function_table();
    let mut annotations: Vec<Annotation> = Vec::new();
    for (place, frame) in profile.frames().locations().iter().zip(0..) {
        let Some(dso) = profile.frames().dsos().get(place.dso as usize) else { continue };
        for function in named.functions_of(frame) {
            let Some(symbol) = named.symbols().get(function.symbol as usize) else { continue };
            let is_there = annotations.iter().any(|it| it.symbol == symbol.name);
            if !symbol.is_inlined && !is_there {
                let mut annotation = functions::looping(0x40_1000 + 0x1000 * annotations.len() as u64);
                annotation.symbol = symbol.name.clone();
                annotation.dso = dso.name().into();
                annotations.push(annotation);
            }
        }
    }
    annotations
}
