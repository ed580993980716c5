//! The sources of captures: a file, a folder, standard input.

mod compressed;
#[cfg(target_os = "linux")]
mod holes;
#[cfg(not(target_os = "linux"))]
mod holes {
    //! Other systems do not report holes, which costs only time.

    pub(super) fn holes(_: &std::fs::File, _: &std::fs::Metadata) -> Vec<core::ops::Range<u64>> {
        Vec::new()
    }
}

use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};
use std::fs::{File, FileType};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use perf_mmap::FileMapping;
use perf_parse::file::{FileErrorKind, Reader};
use perf_parse::index::IndexIdentity;
use perf_profile::archive::UnpackedArchive;

use crate::debug_archive::OpenArchive;
use crate::escape::shown;
use crate::outcome::{Failure, Outcome, not_readable};
use crate::output::InputFile;
use crate::output::aside::KCORE_DIR;
use crate::streams;
use compressed::{Decompressed, StartedStream};

/// The operation of a verb on a capture.
pub(crate) trait CaptureWork: FnOnce(Reader<'_>, Memory<'_>) -> Result<Outcome, Failure> {}

impl<W: FnOnce(Reader<'_>, Memory<'_>) -> Result<Outcome, Failure>> CaptureWork for W {}

/// What is known of the files of a capture.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory<'a> {
    /// The size of the capture in bytes; 0 for a stream.
    pub(crate) size: u64,
    /// All files that are read, for comparison with the outputs. A stream has none.
    pub(crate) inputs: &'a [InputFile],
    /// The path of the capture; `None` for a stream.
    pub(crate) path: Option<&'a Path>,
    /// The archive that the capture is in, with the files of its names.
    pub(crate) archive: Option<&'a UnpackedArchive>,
    /// Whether the capture was made of the one at the path, so that an index of that is none of this.
    pub(crate) is_made: bool,
}

impl Memory<'_> {
    /// Returns what distinguishes the capture from others, and from itself after a change.
    pub(crate) fn identity(&self, reader: &Reader<'_>) -> IndexIdentity {
        let modified = self.inputs.iter().map(InputFile::modified).max().unwrap_or(0);
        IndexIdentity::new(reader, self.size, modified)
    }

    /// Returns the path of the kernel's symbols that were recorded with the capture, if it is a folder that has them.
    pub(crate) fn kallsyms(&self) -> Option<PathBuf> {
        self.in_kcore_dir("kallsyms")
    }

    /// Returns the path of the kernel's memory that was recorded with the capture, if it is a folder that has it.
    pub(crate) fn kcore(&self) -> Option<PathBuf> {
        self.in_kcore_dir("kcore")
    }

    fn in_kcore_dir(&self, name: &str) -> Option<PathBuf> {
        Some(self.path?.join(KCORE_DIR).join(name)).filter(|path| path.is_file())
    }
}

/// Whether files must be read instead of mapped.
static NEVER_MAP: AtomicBool = AtomicBool::new(false);

/// Sets whether files are mapped or read from now on.
pub(crate) fn map(is_wanted: bool) {
    NEVER_MAP.store(!is_wanted, Ordering::Relaxed);
}

/// Whether captures are decoded with the provisional ABI.
static PROVISIONAL_ABI: AtomicBool = AtomicBool::new(false);

/// Sets whether captures are decoded with the provisional ABI from now on.
pub(crate) fn decode_provisional_abi(is_wanted: bool) {
    PROVISIONAL_ABI.store(is_wanted, Ordering::Relaxed);
}

/// Returns an opened capture that decodes the ABI that is wanted.
pub(crate) fn of_wanted_abi(reader: Reader<'_>) -> Reader<'_> {
    if PROVISIONAL_ABI.load(Ordering::Relaxed) { reader.with_provisional_abi() } else { reader }
}

/// Maps a regular file that is not empty; `None` if files must be read.
pub(crate) fn mapped(file: &File) -> io::Result<Option<FileMapping>> {
    if NEVER_MAP.load(Ordering::Relaxed) { Ok(None) } else { FileMapping::new(file).map(Some) }
}

/// Opens the capture, or the archive with it, and runs the work on it.
pub(crate) fn read(path: &Path, work: impl CaptureWork) -> Result<Outcome, Failure> {
    if let Some(capture) = compressed::decompressed(path)? {
        let metadata = std::fs::metadata(path).map_err(|error| named(path, error))?;
        return read_decompressed(path, capture, Some(InputFile::new(path, &metadata)), work);
    }
    match OpenArchive::of_capture(path)? {
        Some(archive) => read_archived(&archive, work),
        None => read_capture(path, work),
    }
}

/// Runs the work on a capture that was decompressed.
fn read_decompressed(
    path: &Path,
    capture: Decompressed,
    file: Option<InputFile>,
    work: impl CaptureWork,
) -> Result<Outcome, Failure> {
    let input = Input { bytes: Bytes::Mapped(capture.map, Vec::new()), file };
    // An index beside the file is of what is compressed.
    let work = |reader: Reader<'_>, memory: Memory<'_>| work(reader, Memory { is_made: true, ..memory });
    let outcome = read_memory(path, &input, &[], None, work)?;
    Ok(if capture.is_whole { outcome } else { Outcome::Partial })
}

/// Runs the work on the capture of an archive.
fn read_archived(archive: &OpenArchive, work: impl CaptureWork) -> Result<Outcome, Failure> {
    let capture = archive.unpacked.capture().unwrap_or_default();
    read_capture(&capture, |reader, memory| {
        let mut inputs = memory.inputs.to_vec();
        inputs.push(archive.input.clone());
        work(reader, Memory { inputs: &inputs, archive: Some(&archive.unpacked), ..memory })
    })
}

/// Opens the capture and runs the work on it.
fn read_capture(path: &Path, work: impl CaptureWork) -> Result<Outcome, Failure> {
    if path == Path::new("-") {
        let name = Path::new(STDIN);
        return match compressed::started(name, streams::Input)? {
            StartedStream::Decompressed(capture) => read_decompressed(name, capture, None, work),
            StartedStream::Plain(stream) => read_stream(name, stream, work),
        };
    }
    if path.is_dir() {
        return read_folder(path, work);
    }
    if is_stored(path)? {
        return read_memory(path, &Input::open(path)?, &[], None, work);
    }
    read_stream(path, File::open(path).map_err(|error| named(path, error))?, work)
}

/// Like [`read`], in memory that does not grow with a file: it is read by windows instead of mapped. If only `a_part` of it is
/// needed, it is mapped nevertheless, so that an index can say which.
#[cfg(feature = "parquet")]
pub(crate) fn read_by_windows(path: &Path, a_part: bool, work: impl CaptureWork) -> Result<Outcome, Failure> {
    if a_part || path == Path::new("-") || path.is_dir() || !is_stored(path)? {
        return read(path, work);
    }
    if let Some(archive) = OpenArchive::of_capture(path)? {
        return read_archived(&archive, work);
    }
    let metadata = std::fs::metadata(path).map_err(|error| named(path, error))?;
    let inputs = [InputFile::new(path, &metadata)];
    let reader = of_wanted_abi(Reader::open(path).map_err(|error| not_readable(path, &error))?);
    work(reader, Memory { size: metadata.len(), inputs: &inputs, path: Some(path), ..Memory::default() })
}

/// Like [`read`], for work that needs the whole capture in memory. Reads a stream to its end first.
pub(crate) fn read_whole(path: &Path, work: impl CaptureWork) -> Result<Outcome, Failure> {
    if path == Path::new("-") {
        let name = Path::new(STDIN);
        let stream = match compressed::started(name, streams::Input)? {
            StartedStream::Decompressed(capture) => {
                return read_decompressed(name, capture, InputFile::stdin(), work);
            }
            StartedStream::Plain(stream) => stream,
        };
        let input = Input { bytes: read_all(name, stream)?, file: InputFile::stdin() };
        return read_memory(name, &input, &[], None, work);
    }
    if path.is_dir() || is_stored(path)? {
        return read(path, work);
    }
    let file = File::open(path).map_err(|error| named(path, error))?;
    let metadata = file.metadata().map_err(|error| named(path, error))?;
    let input = Input { bytes: read_all(path, file)?, file: Some(InputFile::new(path, &metadata)) };
    read_memory(path, &input, &[], None, work)
}

/// The name of standard input in messages.
const STDIN: &str = "standard input";

fn named(path: &Path, error: impl core::fmt::Display) -> Failure {
    Failure(format!("{}: {error}", shown(path)))
}

/// Returns whether a file has an end and is seekable: not a pipe, a device or a file of `/proc`. Does not open the
/// file, because opening a pipe may block.
fn is_stored(path: &Path) -> Result<bool, Failure> {
    let metadata = std::fs::metadata(path).map_err(|error| named(path, error))?;
    Ok(metadata.is_file() && metadata.len() > 0)
}

/// Runs the work on a capture in memory. For a folder, `more` are its other data files and `folder` is its path.
fn read_memory(
    path: &Path,
    main: &Input,
    more: &[Input],
    folder: Option<InputFile>,
    work: impl CaptureWork,
) -> Result<Outcome, Failure> {
    let all = || core::iter::once(main).chain(more);
    let inputs: Vec<_> = all().filter_map(|input| input.file.clone()).chain(folder).collect();
    let size = all().map(|input| input.bytes().len() as u64).sum();
    check_not_empty(path, main.bytes())?;
    let mut reader = of_wanted_abi(Reader::new(main.bytes()).map_err(|error| not_readable(path, &error))?);
    more.iter().for_each(|input| reader.add_data(input.bytes()));
    for (index, input) in all().enumerate() {
        reader.set_holes(index, input.holes());
    }
    let path = main.file.as_ref().map(|_| path);
    work(reader, Memory { size, inputs: &inputs, path, ..Memory::default() })
}

fn check_not_empty(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if bytes.is_empty() {
        let what = "0x0: header.magic: the file is empty; the recorder wrote nothing, so record again";
        return Err(named(path, what));
    }
    Ok(())
}

/// Reads a folder written by `perf record --threads`: `data` has the layout of a file, and `data.*` contain only
/// records.
fn read_folder(path: &Path, work: impl CaptureWork) -> Result<Outcome, Failure> {
    let main = open_in_folder(&path.join("data")).map_err(|Failure(why)| {
        Failure(format!("{why}; a folder is a capture only if perf record --threads wrote it"))
    })?;
    let mut names: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(path).map_err(|error| named(path, error))? {
        let entry = entry.map_err(|error| named(path, error))?.path();
        if entry.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"data.")) {
            names.push(entry);
        }
    }
    // data.2 comes before data.10.
    names.sort_by_key(|name| (name.as_os_str().len(), name.clone()));
    let more = names.iter().map(|name| open_in_folder(name)).collect::<Result<Vec<_>, _>>()?;
    let folder = path.metadata().ok().map(|metadata| InputFile::new(path, &metadata));
    read_memory(path, &main, &more, folder, work)
}

/// Opens a file of a folder. The recorder writes only regular files there; a pipe or a device may have no end.
fn open_in_folder(path: &Path) -> Result<Input, Failure> {
    let metadata = std::fs::metadata(path).map_err(|error| named(path, error))?;
    if !metadata.is_file() {
        return Err(named(
            path,
            "is not a regular file; perf record --threads writes only regular files here, so remove it",
        ));
    }
    if metadata.len() == 0 {
        return Ok(Input { bytes: Bytes::Read(Vec::new()), file: Some(InputFile::new(path, &metadata)) });
    }
    Input::open(path)
}

/// The number of bytes that distinguish a stream from a file.
const PIPE_HEADER: usize = 16;

/// Reads the first bytes of an input that may have no end. Returns them, and whether they start a file rather than a
/// stream.
///
/// # Errors
///
/// If they do not start a capture.
fn read_start(name: &Path, reader: &mut impl Read) -> Result<(Vec<u8>, bool), Failure> {
    let mut start = Vec::with_capacity(PIPE_HEADER);
    reader.take(PIPE_HEADER as u64).read_to_end(&mut start).map_err(|error| named(name, error))?;
    check_not_empty(name, &start)?;
    let is_file = match Reader::stream(start.as_slice()) {
        Err(error) if error.kind == FileErrorKind::NotAStream => true,
        Err(error) => return Err(not_readable(name, &error)),
        Ok(_) => false,
    };
    Ok((start, is_file))
}

/// Reads a whole capture.
fn read_all(name: &Path, mut reader: impl Read) -> Result<Bytes, Failure> {
    let (mut bytes, _) = read_start(name, &mut reader)?;
    reader.read_to_end(&mut bytes).map_err(|error| named(name, error))?;
    Ok(Bytes::Read(bytes))
}

/// Decodes a stream as it arrives. Reads a file whole first.
fn read_stream(
    name: &Path,
    mut reader: impl Read + Send,
    work: impl CaptureWork,
) -> Result<Outcome, Failure> {
    let (start, is_file) = read_start(name, &mut reader)?;
    let mut stream = io::Cursor::new(start).chain(reader);
    if is_file {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).map_err(|error| named(name, error))?;
        return read_memory(name, &Input { bytes: Bytes::Read(bytes), file: None }, &[], None, work);
    }
    let reader = of_wanted_abi(Reader::stream(stream).map_err(|error| not_readable(name, &error))?);
    work(reader, Memory::default())
}

/// A file to read.
#[derive(Debug)]
pub(crate) struct Input {
    bytes: Bytes,
    /// The identity of the file; `None` for a stream that is not a file.
    pub(crate) file: Option<InputFile>,
}

/// The bytes of a file.
#[derive(Debug)]
enum Bytes {
    /// A mapped file and its holes.
    Mapped(FileMapping, Vec<Range<u64>>),
    /// The content of a file that cannot or must not be mapped: a named pipe, a file of `/proc`, an empty file.
    Read(Vec<u8>),
}

impl Input {
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let file = File::open(path).map_err(|error| named(path, error))?;
        let metadata = file.metadata().map_err(|error| named(path, error))?;
        if is_device(&metadata.file_type()) {
            return Err(named(path, "is a device, which may never end; give a file"));
        }
        let input = Some(InputFile::new(path, &metadata));
        if NEVER_MAP.load(Ordering::Relaxed) || !metadata.is_file() || metadata.len() == 0 {
            let bytes = std::fs::read(path).map_err(|error| named(path, error))?;
            return Ok(Self { bytes: Bytes::Read(bytes), file: input });
        }
        let map = FileMapping::new(&file)
            .map_err(|error| named(path, format_args!("cannot be mapped: {error}")))?;
        Ok(Self { bytes: Bytes::Mapped(map, holes::holes(&file, &metadata)), file: input })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(map, _) => map,
            Bytes::Read(bytes) => bytes,
        }
    }

    /// Returns the ranges of zeros that the file system does not store, by ascending offset.
    fn holes(&self) -> &[Range<u64>] {
        match &self.bytes {
            Bytes::Mapped(_, holes) => holes,
            Bytes::Read(_) => &[],
        }
    }
}

/// Returns whether a file is a character or block device.
#[cfg(unix)]
fn is_device(kind: &FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;
    kind.is_char_device() || kind.is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: &FileType) -> bool {
    false
}
