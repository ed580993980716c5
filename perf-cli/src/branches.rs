//! The formats of `perfdata export` for branch stacks, which have the branches of one file.

use std::io::{self, Write};
use std::path::Path;

use perf_export::branches::{autofdo, brstack, preagg};
use perf_parse::file::Reader;
use perf_profile::branches::{BranchFile, Branches, CountedBranches, FileAddresses};
use perf_profile::edit::{ItraceOptions, SampleKinds};
use perf_profile::{Samples, Symbols};
use perf_symbol::NoSymbols;

use crate::args::export::{ExportArgs, To};
use crate::args::profile::ProfileArgs;
use crate::escape::OneLine;
use crate::input::{self, Memory};
use crate::observer::StderrObserver;
use crate::outcome::{Failure, Outcome};
use crate::output::{InputFile, Output, say};
use crate::{itrace, names, selection};

/// How a file is written, whose content the inner function writes. It must not be one of the inputs.
type WriteFile<'a> =
    &'a dyn Fn(&[InputFile], &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure>;

/// The samples of AUX data that are made without letters: branches alone, with the target of the branch before if the hardware
/// records it: the code from there on ran. perf2bolt would take that branch for one from another file.
fn of_aux_data(to: To) -> ItraceOptions {
    let branch_stack = if to == To::Preagg { 1 } else { 2 };
    ItraceOptions { kinds: SampleKinds::BRANCHES, branch_stack, ..ItraceOptions::default() }
}

/// Writes the branches of a file in one of the formats that have them.
pub(crate) fn run(args: &ExportArgs, write: WriteFile<'_>) -> Result<Outcome, Failure> {
    if args.to == To::Brstack { stream(args, write) } else { count(args, write) }
}

/// Writes a format that has counts.
fn count(args: &ExportArgs, write: WriteFile<'_>) -> Result<Outcome, Failure> {
    let (mut inputs, mut all, mut last) = (Vec::new(), Outcome::Clean, None);
    for path in &args.profile.files.0 {
        let work = |reader: Reader<'_>, memory: Memory<'_>| {
            inputs.extend_from_slice(memory.inputs);
            let samples = selection::samples(&reader, memory, &args.profile.only)?;
            let names = names::symbols(&args.profile.symbols, reader.features(), memory)?;
            let mut observer = StderrObserver::new(memory, false);
            let earlier = last.take().map_or_else(Branches::default, CountedBranches::into_branches);
            let counted = samples.branches(&names, earlier, &mut observer).map_err(selection::failure)?;
            let outcome = observer.finish(counted.account(), counted.omitted(), "taken");
            last = Some(counted);
            Ok(outcome)
        };
        let outcome = input::read(path, itrace::decoded(args.profile.itrace, of_aux_data(args.to), work))?;
        if outcome != Outcome::Clean {
            all = outcome;
        }
    }
    let Some(counted) = last else { return Ok(all) };
    let file = chosen(counted.branches(), args)?;
    let BranchFile { beyond, beyond_samples, .. } = file;
    if beyond + beyond_samples > 0 {
        say!(
            "perfdata: left out, because they are beyond the limits: branches {beyond}, samples {beyond_samples}"
        );
    }
    // The format of AutoFDO does not tell calls from other branches.
    let profiles = [counted.profile(file, args.to != To::Autofdo).map_err(|why| not_found(file, why))?];
    write(&inputs, &mut |out| match args.to {
        To::Autofdo => autofdo::write(&profiles, &autofdo::Options::default(), out),
        _ => preagg::write(&profiles, &preagg::Options::default(), out),
    })?;
    Ok(all)
}

/// Returns the file whose branches are wanted, and says which one it is if it was not named.
fn chosen<'a>(branches: &'a Branches, args: &ExportArgs) -> Result<&'a BranchFile, Failure> {
    let busiest = branches.choose(None).map_err(|error| Failure(error.to_string()))?;
    let Some(name) = &args.binary else {
        say!(
            "perfdata: written are the branches in {}: {} of {}; --binary FILE chooses another file",
            OneLine(busiest.dso.path()),
            busiest.entries,
            branches.entries()
        );
        return Ok(busiest);
    };
    branches.choose(Some(name.as_bytes())).map_err(|error| {
        let most = OneLine(busiest.dso.path());
        Failure(format!("--binary {name}: {error}; most are in {most}"))
    })
}

/// Returns the failure for a file that tells the addresses of its code and is not found.
fn not_found(file: &BranchFile, why: NoSymbols) -> Failure {
    let path = OneLine(file.dso.path());
    Failure(format!(
        "{path}: {why}; its addresses cannot be told without the file; --symfs or --debug-dir can name its folder"
    ))
}

/// Writes the format that has each sample. The captures are walked twice, so that no sample is kept: at first for the file
/// with the most branches.
fn stream(args: &ExportArgs, write: WriteFile<'_>) -> Result<Outcome, Failure> {
    let [path] = args.profile.files.0.as_slice() else {
        return Err(Failure("--to brstack: takes one capture; write one file for each".into()));
    };
    let work = |reader: Reader<'_>, memory: Memory<'_>| {
        let names = names::symbols(&args.profile.symbols, reader.features(), memory)?;
        // Only the numbers of the files are needed. What cannot be decoded is left out; the second walk reports it.
        let counted = Samples::of(&reader).branches(&names, Branches::new(0), &mut ());
        let counted = counted.map_err(selection::failure)?;
        let file = chosen(counted.branches(), args)?;
        let segments = counted.segments(file).map_err(|why| not_found(file, why))?;
        let addresses = FileAddresses::new(&segments);
        let mut result = Ok(Outcome::Clean);
        let mut write_to = |out: &mut dyn Write| {
            result = write_all(&reader, memory, &args.profile, &names, file, addresses, out);
            if result.is_ok() { Ok(()) } else { Err(io::Error::other("incomplete")) }
        };
        let written = if args.out() == Path::new("-") {
            let mut out = Stdout(Output::new());
            let _ = write_to(&mut out);
            out.0.flush().map(drop)
        } else {
            write(memory.inputs, &mut write_to)
        };
        // The first failure is the cause of the other.
        let outcome = result?;
        written.map(|()| outcome)
    };
    input::read_whole(path, itrace::decoded(args.profile.itrace, of_aux_data(args.to), work))
}

/// Standard output, written in large parts. What comes after its reader has closed it is dropped.
struct Stdout(Output);

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.buffer.extend_from_slice(bytes);
        self.0.flush_full().map_err(|Failure(message)| io::Error::other(message))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_all(
    reader: &Reader<'_>,
    memory: Memory<'_>,
    args: &ProfileArgs,
    names: &Symbols,
    file: &BranchFile,
    addresses: FileAddresses<'_>,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    let samples = selection::samples(reader, memory, &args.only)?;
    let mut observer = StderrObserver::new(memory, false);
    let written = brstack::write(samples, names, file, addresses, &mut observer, out);
    let written = written.map_err(|error| match error {
        brstack::WriteError::Profile(error) => selection::failure(error),
        brstack::WriteError::Io(error) => error.into(),
    })?;
    Ok(observer.finish(&written.account, written.omitted, "written"))
}
