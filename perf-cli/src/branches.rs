//! The formats of `perfdata export` for branch stacks, which have the branches of one file.

use core::num::NonZero;
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use perf_export::branches::{autofdo, brstack, preagg};
use perf_parse::FileError;
use perf_parse::file::Reader;
use perf_parse::sample::BranchStack;
use perf_profile::branches::{BranchFile, Branches, FileAddresses};
use perf_profile::samples::pass::{CountedSample, NoWorker, RecordNotes, SamplePass, WalkContext};
use perf_profile::{Samples, Symbols, has_stacks};
use perf_session::{Dso, DsoKind, Frame, Mapping, SampleContext, Segment, Session};
use perf_symbol::{DsoFiles, NoSymbols};

use crate::args::export::{ExportArgs, To};
use crate::args::profile::ProfileArgs;
use crate::escape::OneLine;
use crate::input::{self, Memory};
use crate::names::{self, file_name};
use crate::observer::StderrObserver;
use crate::outcome::{Failure, Outcome};
use crate::output::{InputFile, Output, say};
use crate::selection;

/// How a file is written, whose content the inner function writes. It must not be one of the inputs.
type WriteFile<'a> =
    &'a dyn Fn(&[InputFile], &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure>;

/// Writes the branches of a file in one of the formats that have them.
pub(crate) fn run(args: &ExportArgs, write: WriteFile<'_>) -> Result<Outcome, Failure> {
    if args.to == To::Brstack { stream(args, write) } else { count(args, write) }
}

/// Writes a format that has counts.
fn count(args: &ExportArgs, write: WriteFile<'_>) -> Result<Outcome, Failure> {
    let mut counting = BranchCounts::default();
    let (mut inputs, mut all, mut last) = (Vec::new(), Outcome::Clean, None);
    for path in &args.profile.files.0 {
        let outcome = input::read(path, |reader, memory| {
            inputs.extend_from_slice(memory.inputs);
            let samples = selection::samples(&reader, memory, &args.profile.only)?;
            let samples = samples.threads(args.profile.threads().get());
            let names = names::symbols(&args.profile.symbols, reader.features(), memory)?;
            let mut observer = StderrObserver::new(memory, false);
            let walked = samples.walk(names.clone(), &mut counting, &mut NoWorker, ONE, &mut observer)?;
            last = Some((walked.session().clone(), names));
            Ok(observer.finish(walked.account(), walked.omitted(), "taken"))
        })?;
        if outcome != Outcome::Clean {
            all = outcome;
        }
    }
    let Some((session, mut names)) = last else { return Ok(all) };
    let file = chosen(&counting.branches, args)?;
    let BranchFile { beyond, beyond_samples, .. } = file;
    if beyond + beyond_samples > 0 {
        say!(
            "perfdata: left out, because they are beyond the limits: branches {beyond}, samples {beyond_samples}"
        );
    }
    let segments = segments(file, &names)?;
    let mut function_of = |offset| match args.to {
        // The format does not tell calls from other branches.
        To::Autofdo => None,
        _ => function_of(file, offset, &session, &mut names),
    };
    let profiles = [file.profile(FileAddresses::new(&segments), &mut function_of)];
    write(&inputs, &mut |out| match args.to {
        To::Autofdo => autofdo::write(&profiles, &autofdo::Options::default(), out),
        _ => preagg::write(&profiles, &preagg::Options::default(), out),
    })?;
    Ok(all)
}

/// The number of workers of a pass that needs none.
const ONE: NonZero<usize> = NonZero::<usize>::MIN;

/// Counts the branches of a walk.
#[derive(Debug, Default)]
struct BranchCounts {
    branches: Branches,
}

impl SamplePass<'_> for BranchCounts {
    type Note = ();
    type Worker = NoWorker;
    type Error = Failure;

    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        _: &CountedSample<'_>,
        _: &WalkContext<'_>,
        _: &mut RecordNotes<'_, ()>,
    ) -> Result<(), FileError> {
        if let Some(stack) = branch_stack(at)? {
            self.branches.sample(at, &stack);
        }
        Ok(())
    }
}

/// Returns the branch stack of a sample; `None` if its event has none.
fn branch_stack<'r>(at: &SampleContext<'_, 'r>) -> Result<Option<BranchStack<'r>>, perf_parse::FileError> {
    match at.sample().tail() {
        Ok(tail) => Ok(tail.branch_stack),
        Err(error) => Err(at.record().error(error)),
    }
}

/// Returns the file whose branches are wanted, and says which one it is if it was not named.
fn chosen<'a>(branches: &'a Branches, args: &ExportArgs) -> Result<&'a BranchFile, Failure> {
    if branches.stacks() == 0 {
        let what = "no sample has a branch stack; record them with perf record -b, which needs a processor with LBR or the like";
        return Err(Failure(what.into()));
    }
    let Some(busiest) = branches.busiest(|_| true) else {
        return Err(Failure("no branch is in a file".into()));
    };
    let Some(name) = &args.binary else {
        say!(
            "perfdata: written are the branches in {}: {} of {}; --binary FILE chooses another file",
            OneLine(busiest.dso.path()),
            busiest.entries,
            branches.entries()
        );
        return Ok(busiest);
    };
    branches.busiest(|dso| is_named(dso, name)).ok_or_else(|| {
        let most = OneLine(busiest.dso.path());
        Failure(format!("--binary {name}: no branch is in this file; most are in {most}"))
    })
}

/// Returns whether a DSO has a name: its path, or that without folders.
fn is_named(dso: &Dso, name: &str) -> bool {
    [dso.name(), dso.path(), file_name(dso.path())].contains(&name.as_bytes())
}

/// Returns the segments of a file. They tell the addresses of its code.
fn segments(file: &BranchFile, names: &Symbols) -> Result<Vec<Segment>, Failure> {
    let DsoFiles { image, why, .. } = names.finder().find_mapped(&file.dso, file.build_id);
    image.map(|image| image.segments().to_vec()).ok_or_else(|| {
        let path = OneLine(file.dso.path());
        let why = why.unwrap_or(NoSymbols::NotFound);
        Failure(format!("{path}: {why}; its addresses cannot be told without the file; --symfs or --debug-dir can name its folder"))
    })
}

/// Returns the start of the function at an offset in a file, as an offset; `None` if there is no symbol.
fn function_of(file: &BranchFile, offset: u64, session: &Session, names: &mut Symbols) -> Option<u64> {
    let mapping = &file.mapping;
    let ip = mapping.range().start.wrapping_add(offset.wrapping_sub(mapping.pgoff()));
    let frame = Frame { ip, mode: perf_abi::record::CpuMode::USER, mapping: Some(mapping) };
    let function = names.symbolizer_mut()?.functions(session, &frame, false, None).last()?;
    Some(offset.wrapping_sub(function.offset?))
}

/// Writes the format that has each sample. The captures are walked twice, so that no sample is kept: at first for the file
/// with the most branches.
fn stream(args: &ExportArgs, write: WriteFile<'_>) -> Result<Outcome, Failure> {
    let [path] = args.profile.files.0.as_slice() else {
        return Err(Failure("--to brstack: takes one capture; write one file for each".into()));
    };
    input::read_whole(path, |reader, memory| {
        let branches = scan(&reader)?;
        let file = chosen(&branches, args)?;
        let names = names::symbols(&args.profile.symbols, reader.features(), memory)?;
        let segments = segments(file, &names)?;
        let addresses = FileAddresses::new(&segments);
        let mut result = Ok(Outcome::Clean);
        let mut write_to = |out: &mut dyn Write| {
            result = write_all(&reader, memory, &args.profile, file, addresses, out);
            if result.is_ok() { Ok(()) } else { Err(io::Error::other("incomplete")) }
        };
        let written = if args.output == Path::new("-") {
            let mut out = Stdout(Output::new());
            let _ = write_to(&mut out);
            out.0.flush().map(drop)
        } else {
            write(memory.inputs, &mut write_to)
        };
        // The first failure is the cause of the other.
        let outcome = result?;
        written.map(|()| outcome)
    })
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

/// Counts the branches of all samples by file. What cannot be decoded is left out; the second walk reports it.
fn scan(reader: &Reader<'_>) -> Result<Branches, Failure> {
    // Only the numbers of the files are needed.
    let mut counting = BranchCounts { branches: Branches::new(0) };
    let no_names = Symbols::of(reader).without_names();
    Samples::of(reader).walk(no_names, &mut counting, &mut NoWorker, ONE, &mut ())?;
    Ok(counting.branches)
}

fn write_all(
    reader: &Reader<'_>,
    memory: Memory<'_>,
    args: &ProfileArgs,
    file: &BranchFile,
    addresses: FileAddresses<'_>,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    brstack::write_mapping(file.dso.path(), addresses, out)?;
    let samples = selection::samples(reader, memory, &args.only)?;
    let names = names::symbols(&args.symbols, reader.features(), memory)?;
    let mut pass =
        BranchTexts { names: names.clone(), file, addresses, known: HashMap::new(), text: Vec::new(), out };
    let mut observer = StderrObserver::new(memory, false);
    let walked = samples.walk(names, &mut pass, &mut NoWorker, ONE, &mut observer)?;
    Ok(observer.finish(walked.account(), walked.omitted(), "written"))
}

/// Writes the samples of a walk.
struct BranchTexts<'a> {
    names: Symbols,
    file: &'a BranchFile,
    addresses: FileAddresses<'a>,
    /// Whether a DSO is the file, by its address; it is kept alive.
    known: HashMap<usize, (Arc<Dso>, bool)>,
    /// The text that is not written yet.
    text: Vec<u8>,
    out: &'a mut dyn Write,
}

impl BranchTexts<'_> {
    /// Returns the address that the file's symbols have for an address of a process; `None` outside of the file.
    fn address(&mut self, session: &Session, mapping: Option<&Mapping>, addr: u64) -> Option<u64> {
        let Self { file, addresses, known, .. } = self;
        let mapping = mapping?;
        let dso = mapping.dso();
        let (_, is_file) = known.entry(Arc::as_ptr(dso) as usize).or_insert_with(|| {
            let is_file = dso.kind() == DsoKind::File
                && dso.path() == file.dso.path()
                && session.build_id(dso) == file.build_id;
            (Arc::clone(dso), is_file)
        });
        if *is_file { addresses.address(mapping.offset_of(addr)) } else { None }
    }
}

impl SamplePass<'_> for BranchTexts<'_> {
    type Note = ();
    type Worker = NoWorker;
    type Error = Failure;

    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        _: &WalkContext<'_>,
        _: &mut RecordNotes<'_, ()>,
    ) -> Result<(), FileError> {
        let Some(stack) = branch_stack(at)? else { return Ok(()) };
        let session = at.session();
        let mut chain = Vec::new();
        if has_stacks(counted.event) {
            let (frames, _) = self.names.stack(at, counted.deferred)?;
            chain.extend(frames.iter().map(|it| self.address(session, it.frame.mapping, it.frame.ip)));
            self.names.done(frames);
        }
        let ip = at.sample().ip().and_then(|ip| self.address(session, at.find_data(ip), ip));
        let mut text = core::mem::take(&mut self.text);
        let mut place = |addr| self.address(session, at.find_data(addr), addr);
        // Writing to memory cannot fail.
        let _ = brstack::write_sample(ip, &chain, &stack, &mut place, &mut text);
        self.text = text;
        Ok(())
    }

    fn deliver(&mut self, (): (), _: &Session) -> Result<(), Failure> {
        self.out.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }
}
