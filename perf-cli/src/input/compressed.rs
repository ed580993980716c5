//! Captures that are compressed whole: by gzip, xz or Zstandard.
//!
//! They are decompressed into a file without a name, in the folder for temporary files: a capture can be larger than memory.

use core::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::rc::Rc;

use perf_mmap::FileMapping;
use perf_profile::archive::ZstdFrames;
use xz4rust::{DICT_SIZE_MIN, XzDecoder};

use super::named;
use crate::escape::shown;
use crate::outcome::Failure;
use crate::output::{BUFFER, say};

/// The largest window that `xz -9` needs: its decoder has no more memory. That of Zstandard has as much.
const WINDOW: usize = 128 << 20;

/// How many times the bytes of a file a capture may have, and how many bytes it may have in any case. Captures shrink to a tenth.
const EXPANSION: u64 = 1000;
const FLOOR: u64 = 64 << 20;

/// The bytes that are read at once.
const STEP: usize = 1 << 16;

/// A capture that was decompressed.
pub(super) struct Decompressed {
    pub(super) map: FileMapping,
    /// Whether all of it was decompressed.
    pub(super) is_whole: bool,
}

/// Decompresses the capture of a file; `None` if the file is not compressed. What is compressed by Zstandard and is no capture may be an
/// archive, and is none either.
///
/// # Errors
///
/// If nothing can be decompressed, if the capture is larger than the limit, or if there is no room for it.
pub(super) fn decompressed(path: &Path) -> Result<Option<Decompressed>, Failure> {
    // Opening a pipe may block. What cannot be read is reported by the reader of captures.
    let Some(size) = std::fs::metadata(path).ok().filter(|it| it.is_file()).map(|it| it.len()) else {
        return Ok(None);
    };
    let Ok(mut file) = File::open(path) else { return Ok(None) };
    let Ok(start) = start_of(&mut file) else { return Ok(None) };
    let Ok(Some(decoder)) = decoder(&start, io::Cursor::new(start.clone()).chain(file)) else {
        return Ok(None);
    };
    finished(path, decoder, &|| size).map(Some)
}

/// A stream, after its first bytes were read.
pub(super) enum StartedStream<R> {
    /// It was compressed.
    Decompressed(Decompressed),
    Plain(io::Chain<io::Cursor<Vec<u8>>, R>),
}

/// Decompresses the capture of a stream to its end, if it is compressed. `name` is that of the stream in messages.
///
/// # Errors
///
/// Those of the stream, and of [`decompressed`].
pub(super) fn started<R: Read + 'static>(name: &Path, mut stream: R) -> Result<StartedStream<R>, Failure> {
    let failure = |error: io::Error| named(name, error);
    let start = start_of(&mut stream).map_err(failure)?;
    if !is_compressed(&start) {
        return Ok(StartedStream::Plain(io::Cursor::new(start).chain(stream)));
    }
    let read = Rc::new(Cell::new(start.len() as u64));
    let counted = CountedBytes { from: stream, read: Rc::clone(&read) };
    let decoder = decoder(&start, io::Cursor::new(start.clone()).chain(counted)).map_err(failure)?;
    let decoder =
        decoder.ok_or_else(|| Failure(format!("{}: what is compressed in it is no capture", shown(name))))?;
    finished(name, decoder, &|| read.get()).map(StartedStream::Decompressed)
}

/// Counts the compressed bytes that were read.
struct CountedBytes<R> {
    from: R,
    read: Rc<Cell<u64>>,
}

impl<R: Read> Read for CountedBytes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.read.set(self.read.get().saturating_add(read as u64));
        Ok(read)
    }
}

/// Writes what a decoder has into a file, and maps it. `compressed` returns the number of compressed bytes.
fn finished(
    name: &Path,
    decoder: Box<dyn Read>,
    compressed: &dyn Fn() -> u64,
) -> Result<Decompressed, Failure> {
    let failure = |error: io::Error| named(name, error);
    let (file, fault) = unpacked(decoder, compressed).map_err(failure)?;
    if let Some(error) = &fault {
        say!("perfdata: {}: the compressed bytes are damaged or cut off: {error}", shown(name));
    }
    let map = FileMapping::new(&file).map_err(failure)?;
    Ok(Decompressed { map, is_whole: fault.is_none() })
}

/// Writes what a decoder has into a file, up to a fault of the compressed bytes.
fn unpacked(
    mut decoder: Box<dyn Read>,
    compressed: &dyn Fn() -> u64,
) -> io::Result<(File, Option<io::Error>)> {
    let mut file = tempfile::tempfile()?;
    let (mut buffer, mut written) = (vec![0; BUFFER], 0_u64);
    loop {
        let read = match decoder.read(&mut buffer) {
            Ok(0) => return Ok((file, None)),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if written == 0 => return Err(error),
            Err(error) => return Ok((file, Some(error))),
        };
        written = written.saturating_add(read as u64);
        let limit = compressed().saturating_mul(EXPANSION).max(FLOOR);
        if written > limit {
            let what =
                format!("more than {limit} bytes are compressed in it; decompress it first if that is right");
            return Err(io::Error::other(what));
        }
        file.write_all(buffer.get(..read).unwrap_or_default())?;
    }
}

/// Reads the first bytes, of which there may be fewer.
fn start_of(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    from.take(6).read_to_end(&mut start)?;
    Ok(start)
}

const GZIP: &[u8] = b"\x1f\x8b";
const XZ: &[u8] = b"\xfd7zXZ\0";
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Returns whether the first bytes are those of compressed ones.
fn is_compressed(start: &[u8]) -> bool {
    [GZIP, XZ, ZSTD].iter().any(|magic| start.starts_with(magic))
}

/// Returns the decoder of what begins so; `None` if it is not compressed.
fn decoder(start: &[u8], again: impl Read + 'static) -> io::Result<Option<Box<dyn Read>>> {
    if start.starts_with(GZIP) {
        return Ok(Some(Box::new(flate2::read::MultiGzDecoder::new(again))));
    }
    if start.starts_with(XZ) {
        let decoder = XzDecoder::in_heap_with_alloc_dict_size(DICT_SIZE_MIN, WINDOW);
        let from = BufReader::with_capacity(STEP, again);
        return Ok(Some(Box::new(XzStreams { from, decoder, is_between: true })));
    }
    if !start.starts_with(ZSTD) {
        return Ok(None);
    }
    let mut frames = ZstdFrames::new(BufReader::with_capacity(STEP, again));
    let mut magic = Vec::new();
    frames.by_ref().take(8).read_to_end(&mut magic)?;
    let is_capture = [b"PERFILE2", b"2ELIFREP", b"PERFFILE"].iter().any(|it| magic == *it);
    Ok(if is_capture { Some(Box::new(io::Cursor::new(magic).chain(frames))) } else { None })
}

/// One or more streams of xz, which zeros may follow.
struct XzStreams<R> {
    from: R,
    decoder: Box<XzDecoder<'static>>,
    /// Whether no stream has begun since the last one ended.
    is_between: bool,
}

impl<R: BufRead> Read for XzStreams<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let bytes = self.from.fill_buf()?;
            if bytes.is_empty() {
                let fault = io::Error::from(io::ErrorKind::UnexpectedEof);
                return if self.is_between { Ok(0) } else { Err(fault) };
            }
            if self.is_between {
                let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
                if zeros > 0 {
                    self.from.consume(zeros);
                    continue;
                }
                self.decoder.reset();
                self.is_between = false;
            }
            let step = self.decoder.decode(bytes, buffer);
            let step = step.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            self.from.consume(step.input_consumed());
            self.is_between = step.is_end_of_stream();
            if step.output_produced() > 0 {
                return Ok(step.output_produced());
            }
            if !step.made_progress() && !self.is_between {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
    }
}
