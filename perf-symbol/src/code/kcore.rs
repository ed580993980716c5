//! The code of a running kernel: `/proc/kcore`, or the copy of it that a capture has.
//!
//! Kernel: `fs/proc/kcore.c`.

use std::io;
use std::ops::Range;
use std::path::Path;

use super::FunctionCode;
use crate::code_machine::CodeMachine;
use crate::code_origin::CodeOrigin;
use crate::files::Files;
use crate::image::ElfImage;

/// Number of bytes that have all program headers: a kernel has some dozens.
const HEADERS: u64 = 1 << 16;

/// Reads the code at addresses of the kernel. Reads the headers and the code alone: the file is as large as all memory that the
/// kernel can address.
///
/// # Errors
///
/// Those of [`Files::read_range`]; [`NotFound`](io::ErrorKind::NotFound) if no segment has the code.
pub(crate) fn read(files: &dyn Files, path: &Path, range: Range<u64>) -> io::Result<FunctionCode> {
    let headers = files.read_range(path, 0..HEADERS)?;
    let image = ElfImage::parse(headers).map_err(|_| io::ErrorKind::InvalidData)?;
    let size = range.end.saturating_sub(range.start);
    let segment = image.headers().iter().find(|it| {
        let offset = range.start.checked_sub(it.address);
        offset.and_then(|offset| it.file_size.checked_sub(offset)).is_some_and(|rest| size <= rest)
    });
    let segment = segment.ok_or(io::ErrorKind::NotFound)?;
    let start = segment.offset.wrapping_add(range.start.wrapping_sub(segment.address));
    let end = start.checked_add(size).ok_or(io::ErrorKind::InvalidData)?;
    Ok(FunctionCode {
        start: range.start,
        bytes: files.read_range(path, start..end)?,
        machine: CodeMachine::of_elf(image.machine(), false),
        origin: CodeOrigin::Kcore,
        path: path.to_path_buf(),
        data: Vec::new(),
        relocations: Vec::new(),
    })
}
