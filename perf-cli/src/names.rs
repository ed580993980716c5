//! The finder of stacks and names that the command line asks for.

#[cfg(target_os = "linux")]
mod live;
mod symbol_cache;

use alloc::sync::Arc;
use std::path::Path;
use std::time::{Duration, SystemTime};

use perf_parse::feature::Features;
use perf_profile::Symbols;
use perf_symbol::{Demangle, Files, SymbolOptions};

use crate::args::symbols::SymbolArgs;
use crate::debug_archive::{Folder, OpenArchive};
#[cfg(feature = "debuginfod")]
use crate::downloads;
use crate::input::Memory;
use crate::mapped_files::MappedFiles;
use crate::outcome::Failure;
use crate::output::{InputFile, say};
#[cfg(target_os = "linux")]
pub(crate) use live::LiveNames;

/// When lines are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    /// Even if inlined functions are not wanted. They are then found nevertheless.
    Always,
    /// If inlined functions are wanted.
    WithInlined,
    Never,
}

/// How functions are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameStyle {
    /// No two functions of a file have one name.
    Distinct,
    /// As perf 6.1 names them: without parameters, and inlined ones without what they are in.
    Perf,
}

/// Returns the finder of stacks and names by the options of the command line.
///
/// # Errors
///
/// If an archive of files cannot be unpacked.
pub(crate) fn symbols(
    args: &SymbolArgs,
    features: &Features<'_>,
    memory: Memory<'_>,
) -> Result<Symbols, Failure> {
    symbols_with(args, features, memory, Lines::WithInlined, NameStyle::Distinct)
}

/// Like [`symbols`], with a choice of when lines are looked up, and of how functions are named.
pub(crate) fn symbols_with(
    args: &SymbolArgs,
    features: &Features<'_>,
    memory: Memory<'_>,
    lines: Lines,
    style: NameStyle,
) -> Result<Symbols, Failure> {
    let (options, files) = sources(args, features, memory, lines, style)?;
    let symbols =
        Symbols::with_files(features, options, files).with_interpreter_frames(args.interpreter_frames());
    Ok(if args.no_symbols { symbols.without_names() } else { symbols })
}

/// Returns where stacks and names are looked for, and the files.
///
/// # Errors
///
/// If an archive of files cannot be unpacked.
pub(crate) fn sources(
    args: &SymbolArgs,
    features: &Features<'_>,
    memory: Memory<'_>,
    lines: Lines,
    style: NameStyle,
) -> Result<(SymbolOptions, Arc<dyn Files>), Failure> {
    let mut archives = Vec::new();
    let mut options = SymbolOptions::default();
    options.symfs.clone_from(&args.symfs);
    for path in &args.debug_dirs {
        if path.is_file() && !args.no_symbols {
            let OpenArchive { folder, .. } = OpenArchive::open(path)?;
            options.debug_dirs.push(folder.path().to_owned());
            archives.push(folder);
        } else {
            options.debug_dirs.push(path.clone());
        }
    }
    if let Some(folder) = beside(args, memory) {
        options.debug_dirs.push(folder.path().to_owned());
        archives.push(folder);
    }
    options.vmlinux.clone_from(&args.vmlinux);
    options.kallsyms = args.kallsyms.clone().or_else(|| memory.kallsyms());
    options.kcore = memory.kcore();
    options.recorded_until = perf_profile::recorded_until(features).or_else(|| written_at(memory));
    options.inlines = !args.no_inline || lines == Lines::Always;
    options.lines = lines != Lines::Never;
    options.demangle = match args.demangle() {
        Demangle::Distinct if style == NameStyle::Perf => Demangle::Short,
        demangle => demangle,
    };
    options.qualified = style == NameStyle::Distinct;
    // What an archive has is of the machine that recorded.
    if !args.no_cache && archives.is_empty() && memory.archive.is_none() {
        options.symbol_cache = symbol_cache::of_user();
    }
    let files = files(args, archives);
    let files = match memory.archive {
        Some(archive) => archive.files(files, &mut options),
        None => files,
    };
    Ok((options, files))
}

/// Unpacks the archive that `perf archive` wrote beside the capture, which it calls `CAPTURE.tar.bz2`. One that cannot be unpacked
/// is reported.
fn beside(args: &SymbolArgs, memory: Memory<'_>) -> Option<Folder> {
    let mut path = memory.path.filter(|_| !args.no_symbols)?.as_os_str().to_owned();
    path.push(".tar.bz2");
    let path = Path::new(&path);
    if !path.is_file() || args.debug_dirs.iter().any(|given| given == path) {
        return None;
    }
    let archive = OpenArchive::open(path).map_err(|Failure(why)| say!("perfdata: {why}; it is not used"));
    archive.ok().map(|archive| archive.folder)
}

/// Returns the time at which the files of a capture were written; `None` for a stream.
fn written_at(memory: Memory<'_>) -> Option<SystemTime> {
    let written = memory.inputs.iter().map(InputFile::modified).max().filter(|&time| time > 0)?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(written))
}

/// Returns the files of this machine, and those of servers if that is asked for.
#[cfg(feature = "debuginfod")]
fn files(args: &SymbolArgs, archives: Vec<Folder>) -> Arc<dyn Files> {
    match args.servers() {
        Some(servers) => Arc::new(
            perf_symbol::Debuginfod::new(MappedFiles::with(archives), servers).with_observer(downloads::show),
        ),
        None => Arc::new(MappedFiles::with(archives)),
    }
}

/// Returns the files of this machine.
#[cfg(not(feature = "debuginfod"))]
fn files(_: &SymbolArgs, archives: Vec<Folder>) -> Arc<dyn Files> {
    Arc::new(MappedFiles::with(archives))
}

/// Returns a path without its folders.
pub(crate) fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}
