//! Where a capture comes from: a file, a folder, standard input. The one place where a file is mapped.

use core::sync::atomic::{AtomicBool, Ordering};
use std::fs::File;
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
        return read_stdin(work);
    }
    if path.is_dir() {
        return read_folder(path, work);
    }
    let input = Input::open(path)?;
    read_memory(path, input.bytes(), &[], core::slice::from_ref(&input.file), work)
}

/// As [`read`], for work that goes over the capture more than once: standard input is read whole before.
pub(crate) fn read_whole(path: &Path, work: impl Work) -> Result<Outcome, Failure> {
    if path != Path::new("-") {
        return read(path, work);
    }
    let mut bytes = Vec::new();
    streams::Input.read_to_end(&mut bytes).map_err(|error| format!("standard input: {error}"))?;
    read_memory(Path::new("standard input"), &bytes, &[], InputFile::stdin().as_slice(), work)
}

/// A capture in memory, with the further data files of a folder; `inputs` are all files that it comes from.
fn read_memory(
    path: &Path,
    bytes: &[u8],
    more: &[Input],
    inputs: &[InputFile],
    work: impl Work,
) -> Result<Outcome, Failure> {
    let files: Vec<_> = core::iter::once(bytes).chain(more.iter().map(Input::bytes)).collect();
    let memory = Memory { files: &files, inputs };
    if bytes.is_empty() {
        let what = "the file is empty: the recorder wrote nothing; record again";
        return Err(Failure(format!("{}: 0x0: header.magic: {what}", shown(path))));
    }
    let add = |error| not_readable(path, &error);
    match AnyReader::open(bytes).map_err(add)? {
        AnyReader::Little(mut reader) => {
            more.iter().for_each(|input| reader.add_data(input.bytes()));
            work.run(reader, memory)
        }
        AnyReader::Big(mut reader) => {
            more.iter().for_each(|input| reader.add_data(input.bytes()));
            work.run(reader, memory)
        }
    }
}

/// `perf record --threads` writes a folder: `data` as a file is, and records alone in `data.*`.
fn read_folder(path: &Path, work: impl Work) -> Result<Outcome, Failure> {
    let main = Input::open(&path.join("data")).map_err(|Failure(why)| {
        Failure(format!("{why}; a folder is a capture if perf record --threads made it"))
    })?;
    let mut names: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(path).map_err(|error| format!("{}: {error}", shown(path)))? {
        let entry = entry.map_err(|error| format!("{}: {error}", shown(path)))?.path();
        let is_data = entry.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"data."));
        if is_data && entry.is_file() {
            names.push(entry);
        }
    }
    // data.2 comes before data.10.
    names.sort_by_key(|name| (name.as_os_str().len(), name.clone()));
    let more = names.iter().map(|name| Input::open(name)).collect::<Result<Vec<_>, _>>()?;
    let mut inputs: Vec<_> = core::iter::once(&main).chain(&more).map(|input| input.file.clone()).collect();
    inputs.extend(path.metadata().ok().map(|metadata| InputFile::new(path, &metadata)));
    read_memory(path, main.bytes(), &more, &inputs, work)
}

/// Bytes that tell a stream from a file.
const PIPE_HEADER: usize = 16;

/// A stream is decoded as it comes; a file has to be read whole first.
fn read_stdin(work: impl Work) -> Result<Outcome, Failure> {
    let name = Path::new("standard input");
    let mut stdin = streams::Input;
    let mut start = Vec::with_capacity(PIPE_HEADER);
    stdin
        .by_ref()
        .take(PIPE_HEADER as u64)
        .read_to_end(&mut start)
        .map_err(|error| format!("standard input: {error}"))?;
    let is_file = match AnyReader::stream(start.as_slice()) {
        Err(error) if error.kind == FileErrorKind::NotAStream => true,
        Err(error) => return Err(not_readable(name, &error)),
        Ok(_) => false,
    };
    let mut stream = io::Cursor::new(start).chain(stdin);
    if is_file {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).map_err(|error| format!("standard input: {error}"))?;
        return read_memory(name, &bytes, &[], InputFile::stdin().as_slice(), work);
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
    /// Which file it is.
    pub(crate) file: InputFile,
}

/// The bytes of a file.
#[derive(Debug)]
enum Bytes {
    /// A mapped file.
    Mapped(Mmap),
    /// What cannot be mapped or is not to be, read whole: a named pipe, a file of `/proc`, an empty file.
    Read(Vec<u8>),
}

impl Input {
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let name = shown(path);
        let file = File::open(path).map_err(|error| format!("{name}: {error}"))?;
        let metadata = file.metadata().map_err(|error| format!("{name}: {error}"))?;
        let input = InputFile::new(path, &metadata);
        if NEVER_MAP.load(Ordering::Relaxed) || !metadata.is_file() || metadata.len() == 0 {
            let bytes = std::fs::read(path).map_err(|error| format!("{name}: {error}"))?;
            return Ok(Self { bytes: Bytes::Read(bytes), file: input });
        }
        // SAFETY: the mapping is private and read-only, and lives as long as the slices made of it. Another process
        // that writes to the file meanwhile changes bytes under us, which no decision here relies on staying the
        // same: every length is checked against the slice, whose size is fixed. One that truncates the file makes
        // a later access end this process by SIGBUS, which loses the output and nothing else; --no-mmap avoids it.
        let map =
            unsafe { Mmap::map(&file) }.map_err(|error| format!("{name}: cannot be mapped: {error}"))?;
        Ok(Self { bytes: Bytes::Mapped(map), file: input })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(map) => map,
            Bytes::Read(bytes) => bytes,
        }
    }
}
