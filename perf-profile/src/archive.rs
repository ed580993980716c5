//! Archives of a capture with the files that its names and stacks come from, for another machine.
//!
//! [`FileCollection::of`] finds the files, by looking up all stacks and names of a capture and noting what was read.
//! [`FileCollection::write`] writes the archive, and [`unpack`] unpacks it to a folder, with which
//! [`UnpackedArchive::files`] answers as the recording machine did; [`MemoryArchive`] does so without a file system. `perfdata archive` and `perfdata record --collect` write such
//! archives, and all verbs of perfdata that read captures read them.
//!
//! # Layout
//!
//! An archive is a tar file, compressed by Zstandard as a rule (`.tar.zst`):
//!
//! | entry | content |
//! |---|---|
//! | `files.list` | The paths of the recording machine that were read; see below. |
//! | `perf.data` | The capture: a file, or a folder with `data`, `data.N` and `kcore_dir`. |
//! | `.build-id/xx/yyyy/elf` | The file whose build id is `xxyyyy` in hexadecimal digits. |
//! | `.build-id/xx/yyyy/debug` | Its debug file, also one that `.gnu_debuglink` or `.gnu_debugaltlink` names. |
//! | `.build-id/xx/yyyy/vdso` | The vDSO with that build id. |
//! | `.build-id/xx/yyyy/kallsyms` | `/proc/kallsyms` of the kernel with that build id. |
//! | `files/PATH` | What has no build id: perf maps, jitdumps, apks, split DWARF, ELF files without one. |
//!
//! Below `.build-id`, the layout is that of perf's cache. After `tar xf perf.data.tar.zst -C ~/.debug`,
//! `perf report -i ~/.debug/perf.data` finds the files there.
//!
//! `files.list` is text. Its first line is `perfdata files 1`. Each other line has four fields, separated by tabs: the entry with
//! the content, or `-`; device, inode and generation as `MAJOR:MINOR:INODE:GENERATION`, or `-`; the time of the last
//! modification in nanoseconds since 1970, or `-`; and the path on the recording machine. Bytes below `0x21` and `%` are written as
//! `%` and two hexadecimal digits.
//!
//! With [`FileDetail::Slim`], ELF files have no DWARF but `.debug_frame`, and neither `.rodata` nor `.data`: the bytes of these
//! sections are zeros, which take no room in the archive, and their type is `SHT_NOBITS`, as in debug files. Everything else is as
//! it was, at the same offsets: headers, build id, symbols, unwind tables and code. Names and stacks are the same; inlined functions and
//! lines are not known.

mod collection;
mod compressed;
mod entries;
mod file_list;
mod in_memory;
mod limits;
mod listed_files;
mod long_names;
mod read_log;
mod slim;
#[cfg(test)]
mod tests;
mod unpack;
mod write;

pub use collection::FileCollection;
pub use compressed::ZstdFrames;
pub use entries::is_archive;
pub use in_memory::MemoryArchive;
pub use limits::ArchiveLimits;
pub use slim::FileDetail;
pub use unpack::{UnpackedArchive, unpack};
pub use write::CapturePart;
