//! Where a capture comes from: a file, a folder, standard input. The one place where a file is mapped.

use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};
use std::fs::{File, FileType, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use perf_abi::endian::Endian;
use perf_parse::file::{AnyReader, FileErrorKind, Reader, Source};

use crate::output::InputFile;
use crate::render::escape::shown;
use crate::{Failure, Outcome, not_readable, streams};

/// What a verb does with a capture of either byte order, in memory or as a stream.
pub(crate) trait Work {
    /// `memory` is what `reader` reads.
    fn run<O: Endian, S: Source>(
        self,
        reader: Reader<'_, O, S>,
        memory: Memory<'_>,
    ) -> Result<Outcome, Failure>;
}

/// The data files of a capture that is in memory, a folder's in their order; none of a stream.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory<'a> {
    pub(crate) files: &'a [&'a [u8]],
    /// The files that are read, whatever they are.
    pub(crate) inputs: &'a [InputFile],
}

impl Memory<'_> {
    /// Bytes of the capture; 0 where that is not known.
    pub(crate) fn size(&self) -> u64 {
        self.files.iter().map(|file| file.len() as u64).sum()
    }

    /// Whether a data file is in memory.
    #[inline]
    pub(crate) fn has(&self, data_file: usize) -> bool {
        data_file < self.files.len()
    }
}

/// Whether files are read instead of mapped.
static NEVER_MAP: AtomicBool = AtomicBool::new(false);

/// Whether files are mapped from here on, or read.
pub(crate) fn map(is_wanted: bool) {
    NEVER_MAP.store(!is_wanted, Ordering::Relaxed);
}

/// Opens the capture and does the work with it.
pub(crate) fn read(path: &Path, work: impl Work) -> Result<Outcome, Failure> {
    if path == Path::new("-") {
        return read_stream(Path::new(STDIN), streams::Input, work);
    }
    if path.is_dir() {
        return read_folder(path, work);
    }
    if is_stored(path)? {
        return read_memory(path, &Input::open(path)?, &[], None, work);
    }
    read_stream(path, File::open(path).map_err(|error| named(path, error))?, work)
}

/// As [`read`], for work that needs the whole capture in memory: a stream is read to its end first.
pub(crate) fn read_whole(path: &Path, work: impl Work) -> Result<Outcome, Failure> {
    if path == Path::new("-") {
        let name = Path::new(STDIN);
        let input = Input { bytes: read_all(name, streams::Input)?, file: InputFile::stdin() };
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

/// Whether a file is one that has an end and can be gone back in, and no pipe, device or file of `/proc`. Does not open
/// it, for which a pipe would wait.
fn is_stored(path: &Path) -> Result<bool, Failure> {
    let metadata = std::fs::metadata(path).map_err(|error| named(path, error))?;
    Ok(metadata.is_file() && metadata.len() > 0)
}

/// Does the work with a capture in memory, and with the other data files and the path of its folder, if it is one.
fn read_memory(
    path: &Path,
    main: &Input,
    more: &[Input],
    folder: Option<InputFile>,
    work: impl Work,
) -> Result<Outcome, Failure> {
    let all = || core::iter::once(main).chain(more);
    let files: Vec<_> = all().map(Input::bytes).collect();
    let inputs: Vec<_> = all().filter_map(|input| input.file.clone()).chain(folder).collect();
    let memory = Memory { files: &files, inputs: &inputs };
    check_not_empty(path, main.bytes())?;
    match AnyReader::open(main.bytes()).map_err(|error| not_readable(path, &error))? {
        AnyReader::Little(reader) => work.run(with_files(reader, main, more), memory),
        AnyReader::Big(reader) => work.run(with_files(reader, main, more), memory),
    }
}

/// The reader of a capture that has these further data files.
fn with_files<'a, O: Endian>(mut reader: Reader<'a, O>, main: &'a Input, more: &'a [Input]) -> Reader<'a, O> {
    more.iter().for_each(|input| reader.add_data(input.bytes()));
    for (index, input) in core::iter::once(main).chain(more).enumerate() {
        reader.set_holes(index, input.holes());
    }
    reader
}

fn check_not_empty(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if bytes.is_empty() {
        let what = "0x0: header.magic: the file is empty: the recorder wrote nothing; record again";
        return Err(named(path, what));
    }
    Ok(())
}

/// `perf record --threads` writes a folder: `data` as a file is, and records alone in `data.*`.
fn read_folder(path: &Path, work: impl Work) -> Result<Outcome, Failure> {
    let main = open_in_folder(&path.join("data")).map_err(|Failure(why)| {
        Failure(format!("{why}; a folder is a capture if perf record --threads made it"))
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

/// Opens a file of a folder. The recorder writes nothing else there, and a pipe or a device may have no end.
fn open_in_folder(path: &Path) -> Result<Input, Failure> {
    let metadata = std::fs::metadata(path).map_err(|error| named(path, error))?;
    if !metadata.is_file() {
        return Err(named(
            path,
            "is not a regular file; perf record --threads writes only files here: remove it",
        ));
    }
    if metadata.len() == 0 {
        return Ok(Input { bytes: Bytes::Read(Vec::new()), file: Some(InputFile::new(path, &metadata)) });
    }
    Input::open(path)
}

/// Bytes that tell a stream from a file.
const PIPE_HEADER: usize = 16;

/// Reads the first bytes of what may have no end. Whether they are of a file, and not of a stream.
///
/// # Errors
///
/// If they are of no capture.
fn read_start(name: &Path, reader: &mut impl Read) -> Result<(Vec<u8>, bool), Failure> {
    let mut start = Vec::with_capacity(PIPE_HEADER);
    reader.take(PIPE_HEADER as u64).read_to_end(&mut start).map_err(|error| named(name, error))?;
    check_not_empty(name, &start)?;
    match AnyReader::stream(start.as_slice()) {
        Err(error) if error.kind == FileErrorKind::NotAStream => Ok((start, true)),
        Err(error) => Err(not_readable(name, &error)),
        Ok(_) => Ok((start, false)),
    }
}

/// Reads a capture whole.
fn read_all(name: &Path, mut reader: impl Read) -> Result<Bytes, Failure> {
    let (mut bytes, _) = read_start(name, &mut reader)?;
    reader.read_to_end(&mut bytes).map_err(|error| named(name, error))?;
    Ok(Bytes::Read(bytes))
}

/// A stream is decoded as it comes; a file has to be read whole first.
fn read_stream(name: &Path, mut reader: impl Read, work: impl Work) -> Result<Outcome, Failure> {
    let (start, is_file) = read_start(name, &mut reader)?;
    let mut stream = io::Cursor::new(start).chain(reader);
    if is_file {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).map_err(|error| named(name, error))?;
        return read_memory(name, &Input { bytes: Bytes::Read(bytes), file: None }, &[], None, work);
    }
    match AnyReader::stream(stream).map_err(|error| not_readable(name, &error))? {
        AnyReader::Little(reader) => work.run(reader, Memory::default()),
        AnyReader::Big(reader) => work.run(reader, Memory::default()),
    }
}

/// A file that is read.
#[derive(Debug)]
pub(crate) struct Input {
    bytes: Bytes,
    /// Which file it is; `None` for a stream that is not a file.
    pub(crate) file: Option<InputFile>,
}

/// The bytes of a file.
#[derive(Debug)]
enum Bytes {
    /// A mapped file, and its holes.
    Mapped(Mmap, Vec<Range<u64>>),
    /// What cannot be mapped or is not to be, read whole: a named pipe, a file of `/proc`, an empty file.
    Read(Vec<u8>),
}

impl Input {
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let file = File::open(path).map_err(|error| named(path, error))?;
        let metadata = file.metadata().map_err(|error| named(path, error))?;
        if is_device(&metadata.file_type()) {
            return Err(named(path, "is a device, which may have no end; give a file"));
        }
        let input = Some(InputFile::new(path, &metadata));
        if NEVER_MAP.load(Ordering::Relaxed) || !metadata.is_file() || metadata.len() == 0 {
            let bytes = std::fs::read(path).map_err(|error| named(path, error))?;
            return Ok(Self { bytes: Bytes::Read(bytes), file: input });
        }
        // SAFETY: the mapping is private and read-only, and lives as long as the slices made of it. Another process
        // that writes to the file meanwhile changes bytes under us, which no decision here relies on staying the
        // same: every length is checked against the slice, whose size is fixed. One that truncates the file makes
        // a later access end this process by SIGBUS, which loses the output and nothing else; --no-mmap avoids it.
        let map = unsafe { Mmap::map(&file) }
            .map_err(|error| named(path, format_args!("cannot be mapped: {error}")))?;
        Ok(Self { bytes: Bytes::Mapped(map, holes(&file, &metadata)), file: input })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(map, _) => map,
            Bytes::Read(bytes) => bytes,
        }
    }

    /// Where there are zeros that the file system does not store, by rising offset.
    fn holes(&self) -> &[Range<u64>] {
        match &self.bytes {
            Bytes::Mapped(_, holes) => holes,
            Bytes::Read(_) => &[],
        }
    }
}

/// Whether a file is a device of characters or blocks.
#[cfg(unix)]
fn is_device(kind: &FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;
    kind.is_char_device() || kind.is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: &FileType) -> bool {
    false
}

/// Where a file has zeros that are not stored: at most as many places as it has stored ones, and one. Nowhere, if the file
/// system does not tell: it only saves time to know.
#[cfg(target_os = "linux")]
fn holes(file: &File, metadata: &Metadata) -> Vec<Range<u64>> {
    use std::os::linux::fs::MetadataExt;

    use rustix::fs::{SeekFrom, seek};
    use rustix::io::Errno;

    let len = metadata.len();
    let mut holes = Vec::new();
    // Blocks are of 512 bytes here.
    if metadata.st_blocks().saturating_mul(512) >= len {
        return holes;
    }
    let mut at = 0;
    while at < len {
        // After the last stored byte there is only a hole. A file system that does not know reports none.
        let Ok(start) = seek(file, SeekFrom::Hole(at)) else { break };
        let end = match seek(file, SeekFrom::Data(start)) {
            Ok(end) => end,
            // Nothing is stored after it.
            Err(Errno::NXIO) => len,
            Err(_) => break,
        };
        if start < end {
            holes.push(start..end);
        }
        at = end;
    }
    holes
}

#[cfg(not(target_os = "linux"))]
fn holes(_: &File, _: &Metadata) -> Vec<Range<u64>> {
    Vec::new()
}
