//! Where a capture comes from: a file, a folder, standard input. The one place where a file is mapped.

use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};
use std::fs::{File, FileType, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use perf_abi::endian::Endian;
use perf_parse::file::{AnyReader, FileErrorKind, Reader, Source};

use crate::{Failure, Outcome, not_readable};

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

/// Reads files from here on instead of mapping them.
pub(crate) fn never_map() {
    NEVER_MAP.store(true, Ordering::Relaxed);
}

/// Opens the capture and does the work with it.
pub(crate) fn read(path: &Path, work: impl Work) -> Result<Outcome, Failure> {
    if path == Path::new("-") {
        return read_stream(Path::new(STDIN), io::stdin().lock(), work);
    }
    if path.is_dir() {
        return read_folder(path, work);
    }
    if is_stored(path)? {
        return read_memory(path, Input::open(path)?, Vec::new(), work);
    }
    read_stream(path, File::open(path).map_err(|error| named(path, error))?, work)
}

/// As [`read`], for work that goes over the capture more than once: what cannot be gone back in is read whole before.
pub(crate) fn read_whole(path: &Path, work: impl Work) -> Result<Outcome, Failure> {
    if path == Path::new("-") {
        let name = Path::new(STDIN);
        return read_memory(name, read_all(name, io::stdin().lock())?, Vec::new(), work);
    }
    if path.is_dir() || is_stored(path)? {
        return read(path, work);
    }
    let input = read_all(path, File::open(path).map_err(|error| named(path, error))?)?;
    read_memory(path, input, Vec::new(), work)
}

/// What standard input is called.
const STDIN: &str = "standard input";

fn named(path: &Path, error: impl core::fmt::Display) -> Failure {
    Failure(format!("{}: {error}", path.display()))
}

/// Whether a file is one that has an end and can be gone back in, and no pipe, device or file of `/proc`. Does not open
/// it, for which a pipe would wait.
fn is_stored(path: &Path) -> Result<bool, Failure> {
    let metadata = std::fs::metadata(path).map_err(|error| named(path, error))?;
    Ok(metadata.is_file() && metadata.len() > 0)
}

/// A capture in memory, with the further data files of a folder.
fn read_memory(path: &Path, main: Input, more: Vec<Input>, work: impl Work) -> Result<Outcome, Failure> {
    let files: Vec<_> = core::iter::once(&main).chain(&more).map(Input::bytes).collect();
    let memory = Memory { files: &files };
    check_not_empty(path, main.bytes())?;
    let add = |error| not_readable(path, &error);
    match AnyReader::open(main.bytes()).map_err(add)? {
        AnyReader::Little(reader) => work.run(with_files(reader, &main, &more), memory),
        AnyReader::Big(reader) => work.run(with_files(reader, &main, &more), memory),
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
    read_memory(path, main, more, work)
}

/// Opens a file of a folder. The recorder writes nothing else there, and a pipe or a device may have no end.
fn open_in_folder(path: &Path) -> Result<Input, Failure> {
    let metadata = std::fs::metadata(path).map_err(|error| named(path, error))?;
    if !metadata.is_file() {
        return Err(named(
            path,
            "is not a file, as all is that perf record writes into a folder; take it away",
        ));
    }
    if metadata.len() == 0 {
        return Ok(Input::Read(Vec::new()));
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
fn read_all(name: &Path, mut reader: impl Read) -> Result<Input, Failure> {
    let (mut bytes, _) = read_start(name, &mut reader)?;
    reader.read_to_end(&mut bytes).map_err(|error| named(name, error))?;
    Ok(Input::Read(bytes))
}

/// A stream is decoded as it comes; a file has to be read whole first.
fn read_stream(name: &Path, mut reader: impl Read, work: impl Work) -> Result<Outcome, Failure> {
    let (start, is_file) = read_start(name, &mut reader)?;
    let mut stream = io::Cursor::new(start).chain(reader);
    if is_file {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).map_err(|error| named(name, error))?;
        return read_memory(name, Input::Read(bytes), Vec::new(), work);
    }
    match AnyReader::stream(stream).map_err(|error| not_readable(name, &error))? {
        AnyReader::Little(reader) => work.run(reader, Memory::default()),
        AnyReader::Big(reader) => work.run(reader, Memory::default()),
    }
}

/// The bytes of a file.
#[derive(Debug)]
pub(crate) enum Input {
    /// A mapped file, and its holes.
    Mapped(Mmap, Vec<Range<u64>>),
    /// What cannot be mapped or is not to be, read whole: a named pipe, a file of `/proc`, an empty file.
    Read(Vec<u8>),
}

impl Input {
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let name = path.display();
        let file = File::open(path).map_err(|error| format!("{name}: {error}"))?;
        let metadata = file.metadata().map_err(|error| format!("{name}: {error}"))?;
        let kind = metadata.file_type();
        if is_device(&kind) {
            return Err(Failure(format!("{name}: is a device, which may have no end; give a file")));
        }
        if NEVER_MAP.load(Ordering::Relaxed) || !metadata.is_file() || metadata.len() == 0 {
            let bytes = std::fs::read(path).map_err(|error| format!("{name}: {error}"))?;
            return Ok(Self::Read(bytes));
        }
        // SAFETY: the mapping is private and read-only, and lives as long as the slices made of it. Another process
        // that writes to the file meanwhile changes bytes under us, which no decision here relies on staying the
        // same: every length is checked against the slice, whose size is fixed. One that truncates the file makes
        // a later access end this process by SIGBUS, which loses the output and nothing else; --no-mmap avoids it.
        let map =
            unsafe { Mmap::map(&file) }.map_err(|error| format!("{name}: cannot be mapped: {error}"))?;
        Ok(Self::Mapped(map, holes(&file, &metadata)))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Mapped(map, _) => map,
            Self::Read(bytes) => bytes,
        }
    }

    /// Where there are zeros that the file system does not store, by rising offset.
    fn holes(&self) -> &[Range<u64>] {
        match self {
            Self::Mapped(_, holes) => holes,
            Self::Read(_) => &[],
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
