//! The place of the table in a file.

use super::memory::SegmentMemory;
use super::pclntab_header::PclntabVersion;
use super::words::Words;
use crate::bytes::FileBytes;
use crate::image::ElfImage;

/// Bytes that may begin with a table, and their address.
#[derive(Clone, Debug)]
pub(super) struct TableLocation {
    pub(super) address: u64,
    pub(super) bytes: FileBytes,
}

/// Names of its section. Position-independent programs have it among what the loader changes.
const SECTIONS: [&str; 2] = [".gopclntab", ".data.rel.ro.gopclntab"];

/// Sections of programs of Go.
const MARKS: [&str; 2] = [".go.buildinfo", ".note.go.buildid"];

/// Number of places that are looked at where no section has its name.
const MOST: usize = 8;

/// Returns whether a file has the section of the table.
pub(crate) fn has_table(image: &ElfImage) -> bool {
    SECTIONS.iter().any(|name| image.section(name).is_some())
}

/// Returns the section of the table. Where no section has its name, as a C linker may have merged it with others or the section
/// headers are gone, returns the places in the segments of a program of Go that begin like a header, at most a few. That takes
/// time in proportion to the size of the file.
pub(super) fn find(image: &ElfImage, memory: &SegmentMemory) -> Vec<TableLocation> {
    let section = SECTIONS.iter().find_map(|name| image.section(name));
    if let Some(section) = section.filter(|it| it.has_bytes()) {
        return vec![TableLocation { address: section.address, bytes: image.raw_data(section) }];
    }
    let has_marks = MARKS.iter().any(|name| image.section(name).is_some());
    if !has_marks && !image.sections().is_empty() && image.go_build_id().is_none() {
        return Vec::new();
    }
    let pointer: u64 = if image.is_64() { 8 } else { 4 };
    let mut found = Vec::new();
    for segment in memory.segments() {
        let words = Words { bytes: segment.bytes.clone(), is_little_endian: image.is_little_endian() };
        let first = segment.address.wrapping_neg() & pointer.wrapping_sub(1);
        let starts = (first..words.len()).step_by(if image.is_64() { 8 } else { 4 });
        let headers = starts.filter(|&at| {
            let is_magic = words.u32(at).is_some_and(|it| PclntabVersion::of_magic(it).is_some());
            is_magic && at.checked_add(7).and_then(|at| words.u8(at)).map(u64::from) == Some(pointer)
        });
        found.extend(headers.take(MOST).filter_map(|at| {
            let bytes = segment.bytes.slice(at..segment.bytes.len() as u64)?;
            Some(TableLocation { address: segment.address.checked_add(at)?, bytes })
        }));
    }
    found.truncate(MOST);
    found
}
