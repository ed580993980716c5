//! A copy of the kernel's code, from `/proc/kcore`.

mod elf;
mod symbols;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::Path;

use perf_open::ring::page_bytes;

use crate::Error;
use elf::KcoreImage;
use symbols::KernelCode;

/// The maximum number of copies, each made because modules were loaded or unloaded meanwhile.
const TRIES: u32 = 3;
/// The maximum number of bytes that are copied. The kernel and its modules have 100 MiB at most.
const MAX_BYTES: u64 = 4 << 30;
/// Bytes that are copied at once.
const CHUNK: usize = 1 << 16;

/// Copies the code of the running kernel and of its modules to a new folder, as `perf record --kcore` does: `kcore` with the
/// code, `kallsyms` with the symbols, and `modules`. `proc` is where procfs is mounted.
///
/// A reader can disassemble the kernel by it as it was, with what the kernel has patched. The folder belongs into that of a
/// capture, as its `kcore_dir`. Only the owner can read it. Code pages that the kernel does not have become holes of the
/// file. The trampolines of Linux 4.15 to 4.20, which are outside of the kernel's text, are not copied.
///
/// # Errors
///
/// If `/proc/kcore` may not be read, which needs root, or is missing; if the kernel hides its addresses; if the folder
/// exists or cannot be written; if modules are loaded or unloaded all the time.
///
/// perf: `kcore_copy`, `tools/perf/util/symbol-elf.c`.
pub fn copy_kcore(proc: &Path, folder: &Path) -> Result<(), Error> {
    let path = proc.join("kcore");
    let open = || File::open(&path);
    let kcore = open().map_err(|error| {
        let advice = match error.kind() {
            io::ErrorKind::PermissionDenied => ": the kernel's code is for root (CAP_SYS_RAWIO)",
            io::ErrorKind::NotFound => {
                ": this kernel was built without CONFIG_PROC_KCORE, or a container hides it"
            }
            _ => "",
        };
        Error::Request(format!("{}: {error}{advice}", path.display()))
    })?;
    DirBuilder::new().mode(0o700).create(folder).map_err(Error::io(folder.display().to_string()))?;
    for _ in 0..TRIES {
        let symbols = read(&proc.join("kallsyms"))?;
        // A kernel without modules has no such file.
        let modules = read(&proc.join("modules")).unwrap_or_default();
        put(&folder.join("kallsyms"), &mut |file| file.write_all(&symbols))?;
        put(&folder.join("modules"), &mut |file| file.write_all(&modules))?;
        let code = KernelCode::of(&symbols, &modules, page_bytes() as u64).ok_or_else(|| {
            Error::Request(
                "the kernel hides its addresses; set /proc/sys/kernel/kptr_restrict to 0".to_owned(),
            )
        })?;
        let wrong = |why: &str| Error::Request(format!("{}: {why}", path.display()));
        let image = KcoreImage::read(&kcore).ok_or_else(|| wrong("is not an ELF file of this machine"))?;
        let segments = image.parts(&code.ranges());
        if segments.is_empty() {
            return Err(wrong("does not have the code of the kernel"));
        }
        if segments.iter().fold(0, |sum: u64, segment| sum.saturating_add(segment.len)) > MAX_BYTES {
            return Err(wrong("has more than 4 GiB between the first and the last symbol"));
        }
        let (head, offsets) = image.head(&segments, page_bytes() as u64);
        put(&folder.join("kcore"), &mut |file| {
            file.write_all(&head)?;
            for (segment, &offset) in segments.iter().zip(&offsets) {
                copy(&kcore, segment.offset, file, offset, segment.len)?;
            }
            let end = segments.iter().zip(&offsets).map(|(segment, offset)| offset + segment.len).max();
            file.set_len(end.unwrap_or(0))
        })?;
        if read(&proc.join("kallsyms"))? == symbols {
            return Ok(());
        }
    }
    Err(Error::Request(
        "modules of the kernel are loaded or unloaded all the time; its code cannot be copied".to_owned(),
    ))
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(Error::io(path.display().to_string()))
}

/// Writes a file that its owner can read, in place of an earlier one.
fn put(path: &Path, write: &mut dyn FnMut(&mut File) -> io::Result<()>) -> Result<(), Error> {
    let mut replace = || {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        write(&mut OpenOptions::new().write(true).create_new(true).mode(0o400).open(path)?)
    };
    replace().map_err(Error::io(path.display().to_string()))
}

/// Copies bytes. Zeros become holes, so that the file takes no more room than the code.
fn copy(from: &File, mut offset: u64, to: &mut File, mut at: u64, mut len: u64) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    while len > 0 {
        let chunk = buffer.len().min(usize::try_from(len).unwrap_or(usize::MAX));
        let size = from.read_at(&mut buffer[..chunk], offset)?;
        if size == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let bytes = &buffer[..size];
        if bytes.iter().any(|&byte| byte != 0) {
            to.seek(SeekFrom::Start(at))?;
            to.write_all(bytes)?;
        }
        (offset, at, len) = (offset + size as u64, at + size as u64, len - size as u64);
    }
    Ok(())
}
