//! `perfdata export`: samples in the formats of other tools.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use perf_export::{Keep, firefox, fold, speedscope};

use crate::args::export::{ExportArgs, To};
use crate::escape::{OneLine, shown};
use crate::output::{Holds, InputFile, Output, Outputs};
use crate::profile::{self, Machine, Profiles};
use crate::{Failure, Outcome};

pub(crate) fn run(args: &ExportArgs) -> Result<Outcome, Failure> {
    #[cfg(target_os = "linux")]
    crate::output::remove_unfinished_on_signals();
    let keep = match args.to {
        To::Folded => Keep::default(),
        To::Firefox | To::Speedscope => Keep { times: true, ..Keep::default() },
    };
    let keep = Keep { cpus: args.to == To::Firefox, ..keep };
    let files = &args.profile.files.0;
    if args.to == To::Firefox && files.len() > 1 {
        return Err(Failure("--to firefox writes one capture; export each to a file of its own".into()));
    }
    let Profiles { profiles, machines, inputs, outcome } =
        profile::read_with(&args.profile, keep, args.to == To::Firefox)?;
    write(&args.output, &inputs, |out| match args.to {
        To::Folded => fold::write(&profiles, &fold::Options::default(), out),
        // One, as checked above.
        To::Firefox => profiles.iter().zip(&machines).try_for_each(|(profile, machine)| {
            firefox::write(profile, &firefox_options(files, machine), out)
        }),
        To::Speedscope => {
            let mut options = speedscope::Options::default();
            options.name = name(files);
            speedscope::write(&profiles, &options, out)
        }
    })?;
    Ok(outcome)
}

/// Returns the names of the captures, without folders.
fn name(files: &[PathBuf]) -> String {
    let names = files.iter().filter_map(|path| path.file_name());
    let names: Vec<_> = names.map(|name| OneLine(name.as_encoded_bytes()).to_string()).collect();
    names.join(", ")
}

fn firefox_options(files: &[PathBuf], machine: &Machine) -> firefox::Options {
    let text = |bytes| OneLine(bytes).to_string();
    let mut options = firefox::Options::default();
    options.product = name(files);
    if !machine.hostname.is_empty() {
        options.product += &format!(" on {}", OneLine(&machine.hostname));
    }
    options.system = format!("Linux {}", OneLine(&machine.os_release)).trim_end().to_owned();
    options.processor = text(&machine.processor);
    options.cpus = machine.cpus;
    options.clock = machine
        .clock
        .as_ref()
        .map(|clock| firefox::Clock { time: clock.clockid_time_ns, wall: clock.wall_clock_ns });
    options
}

/// Writes a file that gets its name when it is complete; standard output if it is `-`.
pub(crate) fn write(
    path: &Path,
    inputs: &[InputFile],
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    if path == Path::new("-") {
        let mut output = Output::new();
        // Writing to memory cannot fail.
        let _ = content(&mut output.buffer);
        return output.flush().map(drop);
    }
    let failure = |error: io::Error| Failure(format!("{}: {error}", shown(path)));
    let (file, unfinished) = Outputs::of(inputs.iter().cloned()).claim("-o", path)?.create(Holds::Report)?;
    let mut out = BufWriter::new(file);
    content(&mut out).map_err(failure)?;
    out.into_inner().map_err(|error| failure(error.into_error()))?;
    unfinished.publish()
}
