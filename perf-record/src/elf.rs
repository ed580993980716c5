//! Build ids in ELF files: the note that the linker writes.
//!
//! The text of Go's linker (`.note.go.buildid`) is no build id: it does not fit in a record, and perf stores nothing for a
//! file that has no other. Since Go 1.24, the linker writes a GNU note too.
//!
//! Files are not trusted: reads are bounded, and a file with invalid contents has no build id.

use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use object::elf::{ELF_NOTE_GNU, FileHeader32, FileHeader64, NT_GNU_BUILD_ID, PT_NOTE};
use object::read::elf::{FileHeader, NoteIterator, ProgramHeader};
use object::{Endianness, pod};

/// The longest build id that fits in a record.
const MAX_BUILD_ID: usize = 20;
/// Bytes of the larger of the two ELF headers.
const HEADER: usize = size_of::<FileHeader64<Endianness>>();
/// The maximum number of program headers that are read. Linkers write about a dozen.
const MAX_SEGMENTS: usize = 1024;
/// The maximum number of bytes of notes that are read in a segment.
const MAX_NOTES: u64 = 1 << 16;

/// Reads bytes by offset and number; `None` if there are fewer.
type ReadAt<'a> = &'a dyn Fn(u64, usize) -> Option<Vec<u8>>;

/// Opens a regular file; `None` if it cannot be read.
///
/// Does not open devices and pipes: opening one can have side effects, or block forever.
pub(crate) fn open(path: &Path) -> Option<File> {
    let handle = OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(path).ok()?;
    if !handle.metadata().ok()?.is_file() {
        return None;
    }
    // Open the same file that was checked, even if the path now names another.
    File::open(format!("/proc/self/fd/{}", handle.as_raw_fd())).ok()
}

/// Returns the build id of a file; `None` if it has none or is not an ELF file.
pub(crate) fn of_file(file: &File) -> Option<Vec<u8>> {
    of_image(&|offset, len| {
        let mut bytes = vec![0; len];
        file.read_exact_at(&mut bytes, offset).ok()?;
        Some(bytes)
    })
}

/// Returns the build id of an ELF image in memory.
pub(crate) fn of_bytes(image: &[u8]) -> Option<Vec<u8>> {
    of_image(&|offset, len| {
        let from = image.get(usize::try_from(offset).ok()?..)?;
        Some(from.get(..len)?.to_vec())
    })
}

/// Returns the build id of an ELF image, which `read` reads.
pub(crate) fn of_image(read: ReadAt<'_>) -> Option<Vec<u8>> {
    let start = read(0, HEADER)?;
    match FileHeader64::<Endianness>::parse(start.as_slice()) {
        Ok(header) => of_segments(header, read),
        Err(_) => of_segments(FileHeader32::<Endianness>::parse(start.as_slice()).ok()?, read),
    }
}

fn of_segments<Elf: FileHeader<Endian = Endianness>>(header: &Elf, read: ReadAt<'_>) -> Option<Vec<u8>> {
    let endian = header.endian().ok()?;
    let count = usize::from(header.e_phnum(endian)).min(MAX_SEGMENTS);
    let size = size_of::<Elf::ProgramHeader>();
    if usize::from(header.e_phentsize(endian)) != size {
        return None;
    }
    let table = read(header.e_phoff(endian).into(), count * size)?;
    let (segments, _) = pod::slice_from_bytes::<Elf::ProgramHeader>(&table, count).ok()?;
    segments.iter().filter(|segment| segment.p_type(endian) == PT_NOTE).find_map(|segment| {
        let len = segment.p_filesz(endian).into().min(MAX_NOTES);
        let notes = read(segment.p_offset(endian).into(), usize::try_from(len).ok()?)?;
        find(NoteIterator::<Elf>::new(endian, segment.p_align(endian), &notes).ok()?, endian)
    })
}

/// Returns the build id in bare notes of this machine, such as those in sysfs for the kernel and its modules.
pub(crate) fn of_notes(notes: &[u8]) -> Option<Vec<u8>> {
    let endian = Endianness::default();
    find(NoteIterator::<FileHeader64<Endianness>>::new(endian, 4, notes).ok()?, endian)
}

fn find<Elf: FileHeader<Endian = Endianness>>(
    mut notes: NoteIterator<'_, Elf>,
    endian: Endianness,
) -> Option<Vec<u8>> {
    while let Ok(Some(note)) = notes.next() {
        if note.name() == ELF_NOTE_GNU && note.n_type(endian) == NT_GNU_BUILD_ID {
            let id = note.desc();
            return (1..=MAX_BUILD_ID).contains(&id.len()).then(|| id.to_vec());
        }
    }
    None
}
