//! Opening captures, and archives that have one.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use perf_parse::Reader;
use perf_profile::archive::{ArchiveLimits, UnpackedArchive, is_archive, unpack};
use perf_symbol::SymbolOptions;
use pyo3::prelude::*;
use tempfile::TempDir;

use crate::account;
use crate::arguments::{Cpus, EventName, Ids, Names, SelectionArguments};
use crate::capture::{Capture, NameSettings};
use crate::error::Failure;
use crate::itrace::{CaptureWithSamples, Itrace, with_samples};

/// Open a capture: a file, a pipe, the folder of ``perf record --threads``, or an archive of ``perfdata archive``.
///
/// These select samples, for all that is made of the capture:
///
/// - ``time``: spans as ``"A,B"`` in seconds, where either may be missing; percents of the capture as ``"10%-20%"`` or ``"10%/2"``,
///   the second tenth; or ``"EVENT..EVENT"``, from each sample of an event to the next one of another. Several are separated by
///   spaces.
/// - ``comm``, ``pid``, ``tid``: names of threads, ids of processes, ids of threads; one or a list.
/// - ``cpu``: a number, a list, or ranges as ``"0,2-3"``.
/// - ``event``: the name of an event, or its index.
/// - ``dso``, ``symbol``: files (paths or file names) and functions that the sample's own address is in; one or a list.
///
/// These say where names come from; by default, the files of this machine:
///
/// - ``names``: False finds no names, which is much faster.
/// - ``inline``: False leaves inlined functions out.
/// - ``symfs``: a folder that is the root of the machine that recorded. Nothing of this machine is then used.
/// - ``debug_dirs``: folders with debug files, such as ``/usr/lib/debug``.
/// - ``vmlinux``, ``kallsyms``: the kernel with its symbols; a copy of ``/proc/kallsyms``.
///
/// ``itrace`` says which samples are made of AUX data: the letters of ``perfdata --itrace``, such as ``"i1iM"``; False makes none. By
/// default all kinds are made of each operation of Arm SPE, as perf does.
///
/// ``threads`` is the number of threads that work on the capture; 0 is one for each processor. Stacks have at most ``max_stack``
/// frames, the innermost ones. ``progress(done, total)`` is called some times a second with bytes that were read, and the size of
/// the capture (0 if it is unknown); an exception of it ends the work.
///
/// Raises OSError if the file cannot be read, and Error if it is no capture. Warns with CaptureWarning if it is damaged.
#[pyfunction]
#[pyo3(signature = (path, *, time=None, comm=None, event=None, pid=None, tid=None, cpu=None, dso=None, symbol=None, threads=0,
    names=true, inline=true, symfs=None, debug_dirs=Vec::new(), vmlinux=None, kallsyms=None, max_stack=127, itrace=None, progress=None))]
#[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn open(
    py: Python<'_>,
    path: PathBuf,
    time: Option<String>,
    comm: Option<Names>,
    event: Option<EventName>,
    pid: Option<Ids>,
    tid: Option<Ids>,
    cpu: Option<Cpus>,
    dso: Option<Names>,
    symbol: Option<Names>,
    threads: usize,
    names: bool,
    inline: bool,
    symfs: Option<PathBuf>,
    debug_dirs: Vec<PathBuf>,
    vmlinux: Option<PathBuf>,
    kallsyms: Option<PathBuf>,
    max_stack: usize,
    itrace: Option<Itrace>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Capture> {
    let arguments = SelectionArguments { time, comm, event, pid, tid, cpu, dso, symbol };
    let selection = arguments.selection()?;
    let mut options = SymbolOptions::default();
    (options.symfs, options.debug_dirs, options.vmlinux) = (symfs, debug_dirs, vmlinux);
    options.inlines = inline;
    let OpenCapture { reader, size, archive } = py.detach(|| OpenCapture::open(&path))?;
    account::warn(py, reader.account(), &path)?;
    let options_of_trace = Itrace::options(itrace.as_ref(), &reader)?;
    let made = options_of_trace.map(|options| py.detach(|| with_samples(&reader, &options))).transpose()?;
    let (reader, size) = match made.flatten() {
        Some(CaptureWithSamples { reader, size, missing }) => {
            account::warn_of_trace(py, &missing, &path)?;
            (reader, size)
        }
        None => (reader, size),
    };
    // What `perf record --kcore` puts into the folder of a capture.
    let recorded = || Some(path.join("kcore_dir/kallsyms")).filter(|it| it.is_file());
    options.kallsyms = kallsyms.or_else(recorded);
    // A capture that does not relate its clock to the wall clock was recorded before its file was written.
    let written = || fs::metadata(&path).and_then(|it| it.modified()).ok();
    options.recorded_until = perf_profile::recorded_until(reader.features()).or_else(written);
    let names = NameSettings { options, is_wanted: names, max_stack, archive };
    Ok(Capture { reader: Arc::new(reader), path, size, names, selection, threads, progress })
}

/// A capture that was just opened.
#[derive(Debug)]
pub(crate) struct OpenCapture {
    pub(crate) reader: Reader<'static>,
    /// In bytes; 0 if it is not one file.
    pub(crate) size: u64,
    archive: Option<Arc<Archive>>,
}

/// An archive, unpacked into a folder that is removed with it.
#[derive(Debug)]
pub(crate) struct Archive {
    pub(crate) files: UnpackedArchive,
    /// Removes itself.
    _folder: TempDir,
}

impl OpenCapture {
    /// Opens a capture, or the one in an archive.
    ///
    /// # Errors
    ///
    /// If the path cannot be read, is no capture, or is a damaged archive.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let archive = Archive::open(path)?.map(Arc::new);
        let capture = archive.as_ref().and_then(|it| it.files.capture());
        if archive.is_some() && capture.is_none() {
            let what =
                "the archive has no capture; open the capture, with the archive's folder in debug_dirs";
            return Err(Failure::new(format!("{}: {what}", path.display())));
        }
        let inner = capture.as_deref().unwrap_or(path);
        let reader = Reader::open(inner).map_err(|error| Failure::of_capture(error, path))?;
        let metadata = fs::metadata(inner).ok().filter(fs::Metadata::is_file);
        Ok(Self { reader, size: metadata.map_or(0, |it| it.len()), archive })
    }
}

impl Archive {
    /// Unpacks an archive; `None` if the file is none.
    fn open(path: &Path) -> Result<Option<Self>, Failure> {
        if path == Path::new("-") {
            return Ok(None);
        }
        let failure = |error| Failure::io(error, path);
        // Opening a pipe would take its bytes.
        if !fs::metadata(path).map_err(failure)?.is_file() {
            return Ok(None);
        }
        if !File::open(path).and_then(is_archive).map_err(failure)? {
            return Ok(None);
        }
        // Not the prefix of the program, which takes folders that it does not hold for stale ones.
        let folder = tempfile::Builder::new().prefix("perfdata-python-").tempdir()?;
        let file = BufReader::with_capacity(1 << 16, File::open(path).map_err(failure)?);
        let files = unpack(file, folder.path(), &ArchiveLimits::default());
        Ok(Some(Self { files: files.map_err(failure)?, _folder: folder }))
    }
}
