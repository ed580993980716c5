//! The bytes of code, and what the file says of them besides.

mod branch_relocations;
mod kcore;
mod mapping_symbols;

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use perf_session::Segment;

use crate::bounds::ReadBounds;
use crate::bytes::FileBytes;
use crate::code_machine::CodeMachine;
use crate::code_origin::CodeOrigin;
use crate::image::ElfImage;
use crate::no_symbols::NoSymbols;
pub(crate) use kcore::read as read_kcore;

/// The bytes of a function.
#[derive(Clone, Debug)]
pub struct FunctionCode {
    /// Address of the first byte: in the memory of the file, as its symbols and its DWARF have it.
    pub start: u64,
    /// The bytes; shorter than the function if the file ends before it.
    pub bytes: FileBytes,
    /// What runs them.
    pub machine: CodeMachine,
    /// Where they are from.
    pub origin: CodeOrigin,
    /// The path of the file that has them.
    pub path: PathBuf,
    /// Addresses of data between the instructions, such as tables of constants, in their order. Known for Arm alone.
    pub data: Vec<Range<u64>>,
    /// Names that the linker was to put into instructions, by the address of the bytes that it changes. Only in relocatable
    /// files, such as modules of the kernel: their instructions have no targets yet.
    pub relocations: Vec<(u64, Arc<[u8]>)>,
}

/// Why there are no bytes of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NoCode {
    /// Nothing is mapped at the address.
    NotMapped,
    /// The file was not found, or cannot be used.
    File(NoSymbols),
    /// Only the file's debug file was found, which has no code.
    OnlyDebugFile,
    /// The file has no bytes for the address.
    NotInFile,
    /// Neither vmlinux nor the kernel's memory of the time of the recording was found.
    Kernel,
    /// The kernel's memory cannot be read.
    Kcore(std::io::ErrorKind),
    /// It is in no file: see what has generated it.
    Generated,
}

impl fmt::Display for NoCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotMapped => f.write_str("nothing is mapped at the address"),
            Self::File(why) => why.fmt(f),
            Self::OnlyDebugFile => f.write_str("only the debug file was found, which has no code"),
            Self::NotInFile => f.write_str("the file has no bytes for the address"),
            Self::Kernel => f.write_str(
                "neither vmlinux nor the recorded kernel's memory was found; give --vmlinux FILE, or record with --kcore",
            ),
            Self::Kcore(std::io::ErrorKind::PermissionDenied) => {
                f.write_str("this user may not read /proc/kcore; give --vmlinux FILE, or run as root")
            }
            Self::Kcore(kind) => write!(f, "/proc/kcore cannot be read: {kind}"),
            Self::Generated => f.write_str("the code is in no file"),
        }
    }
}

impl std::error::Error for NoCode {}

impl FunctionCode {
    /// Makes code that was generated, from its bytes at an address of the process.
    #[must_use]
    pub fn generated(start: u64, bytes: Vec<u8>, machine: CodeMachine, origin: CodeOrigin) -> Self {
        let (path, data, relocations) = (PathBuf::new(), Vec::new(), Vec::new());
        Self { start, bytes: FileBytes::new(bytes), machine, origin, path, data, relocations }
    }

    /// Returns the code at addresses of a file, as far as a segment has bytes there.
    pub(crate) fn of_image(
        image: &ElfImage,
        path: PathBuf,
        range: Range<u64>,
        limits: ReadBounds<'_>,
    ) -> Option<Self> {
        let bytes = segment_bytes(image, &range)?;
        let end = range.start.saturating_add(bytes.len() as u64);
        let (is_thumb, data) = mapping_symbols::read(image, range.start..end, limits);
        Some(Self {
            start: range.start,
            bytes,
            machine: CodeMachine::of_elf(image.machine(), is_thumb),
            origin: CodeOrigin::File,
            path,
            data,
            relocations: Vec::new(),
        })
    }

    /// Returns the code at addresses of `.text` of a relocatable file, which begins at 0.
    pub(crate) fn of_relocatable(
        image: &ElfImage,
        path: PathBuf,
        range: Range<u64>,
        limits: ReadBounds<'_>,
    ) -> Option<Self> {
        let text = image.raw_data(image.section(".text")?);
        let end = range.end.min(text.len() as u64);
        let bytes = text.slice(range.start..end)?;
        Some(Self {
            start: range.start,
            bytes,
            machine: CodeMachine::of_elf(image.machine(), false),
            origin: CodeOrigin::File,
            path,
            data: Vec::new(),
            relocations: branch_relocations::read(image, range.start..end, limits),
        })
    }
}

/// Returns the bytes of the segment that has the first address, up to the end of both.
fn segment_bytes(image: &ElfImage, range: &Range<u64>) -> Option<FileBytes> {
    let has = |segment: &&Segment| {
        range.start.checked_sub(segment.address).is_some_and(|offset| offset < segment.size)
    };
    let segments = image.segments();
    let segment =
        segments.iter().filter(|it| it.is_executable).find(has).or_else(|| segments.iter().find(has))?;
    let offset = range.start.checked_sub(segment.address)?;
    let size = range.end.saturating_sub(range.start).min(segment.size.saturating_sub(offset));
    let start = segment.offset.checked_add(offset)?;
    let end = start.checked_add(size)?.min(image.bytes().len() as u64);
    image.bytes().slice(start..end)
}
