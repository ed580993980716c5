//! Each source of names, alone: without it, its test fails. The files are in memory.

#![allow(clippy::cast_possible_truncation, reason = "the files are small")]

mod archives;
mod batch;
mod cached;
mod cancelled;
#[cfg(feature = "debuginfod")]
mod debuginfod;
#[cfg(feature = "debuginfod")]
mod debuginfod_limits;
mod early;
mod elf;
mod files;
mod generated;
mod go;
mod go_fixtures;
mod go_program;
mod hostile;
#[cfg(feature = "https")]
mod https;
mod jitdump_records;
mod kernel;
mod line_rows;
mod lines;
mod live;
mod load_ahead;
mod mutations;
mod names;
mod origins;
mod recorded;
mod remapped;
mod remote;
mod stacks;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use perf_parse::Reader;
use perf_parse::abi::attr::Attr;
use perf_parse::abi::endian::Endianness;
use perf_parse::abi::record::CpuMode;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::event::Events;
use perf_session::{Frame, Inode, Session};
use perf_symbol::{FileBytes, Files, Function, SymbolOptions, Symbolizer};

/// Files in memory.
#[derive(Default)]
struct Memory {
    files: HashMap<PathBuf, Vec<u8>>,
    /// Inode numbers on the device 8:1, which has all files of the records.
    inodes: HashMap<PathBuf, u64>,
    /// The major number of the device; 8 if it is `None`.
    device: Option<u32>,
    /// The generation of all inodes; 0 if it is not known.
    generation: u64,
    modified: Option<SystemTime>,
    changed: Option<SystemTime>,
    vdso: Option<Vec<u8>>,
    vdso32: Option<Vec<u8>>,
}

impl Memory {
    fn with(mut self, path: &str, data: impl Into<Vec<u8>>) -> Self {
        self.files.insert(path.into(), data.into());
        self
    }

    fn with_inode(mut self, path: &str, ino: u64, data: impl Into<Vec<u8>>) -> Self {
        self.inodes.insert(path.into(), ino);
        self.with(path, data)
    }
}

impl Files for Memory {
    fn read(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        let data = self.files.get(path).ok_or(io::ErrorKind::NotFound)?;
        if data.len() as u64 > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(FileBytes::new(data.clone()))
    }

    fn inode(&self, path: &Path) -> Option<Inode> {
        let maj = self.device.unwrap_or(8);
        let ino_generation = self.generation;
        self.inodes.get(path).map(|&ino| Inode { maj, min: 1, ino, ino_generation })
    }

    fn modified(&self, _: &Path) -> Option<SystemTime> {
        self.modified
    }

    fn changed(&self, _: &Path) -> Option<SystemTime> {
        self.changed
    }

    fn read_kernel(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        self.read(path, limit)
    }

    fn vdso(&self) -> io::Result<FileBytes> {
        self.vdso.clone().map(FileBytes::new).ok_or(io::ErrorKind::NotFound.into())
    }

    fn vdso32(&self) -> io::Result<FileBytes> {
        self.vdso32.clone().map(FileBytes::new).ok_or(io::ErrorKind::NotFound.into())
    }
}

/// Options that use nothing of this machine.
fn options() -> SymbolOptions {
    let mut options = SymbolOptions::default();
    options.cache = Some("/cache".into());
    options
}

fn symbolizer(files: Memory) -> Symbolizer {
    Symbolizer::with_files(options(), Arc::new(files))
}

/// Records, end to end.
#[derive(Default)]
struct Records(Vec<u8>);

const KERNEL: u16 = 1;
const USER: u16 = 2;
const BUILD_ID: u16 = 1 << 14;

impl Records {
    fn bytes() -> testdata::Bytes {
        testdata::Bytes::new(false)
    }

    fn record(mut self, kind: u32, misc: u16, payload: testdata::Bytes) -> Self {
        self.0.extend(payload.record(kind, misc));
        self
    }

    /// An executable mapping from the start of a file on, with a build id, or without if it is empty.
    fn map(self, pid: i32, start: u64, size: u64, id: &[u8], name: &str) -> Self {
        if id.is_empty() {
            let inode = Inode { maj: 8, min: 1, ino: 7, ino_generation: 0 };
            return self.map_inode((pid, start, size), inode, name);
        }
        let fixed = Self::bytes().i32(pid).i32(pid).u64s(&[start, size, 0]);
        let fixed = fixed.u8(id.len() as u8).zeros(3).padded(id, 20);
        self.record(10, USER | BUILD_ID, text(fixed.u32(5).u32(2), name))
    }

    /// An executable mapping of process, address and size, from the start of a file on.
    fn map_inode(self, (pid, start, size): (i32, u64, u64), inode: Inode, name: &str) -> Self {
        let fixed = Self::bytes().i32(pid).i32(pid).u64s(&[start, size, 0]);
        let fixed = fixed.u32(inode.maj).u32(inode.min).u64(inode.ino).u64(inode.ino_generation);
        self.record(10, USER, text(fixed.u32(5).u32(2), name))
    }

    fn kernel(self, start: u64, size: u64, pgoff: u64, name: &str) -> Self {
        let payload = text(Self::bytes().i32(-1).i32(0).u64s(&[start, size, pgoff]), name);
        self.record(1, KERNEL, payload)
    }

    fn reader(&self) -> Reader<'_> {
        let attr = Attr { sample_type: SampleType::IP | SampleType::TID, ..Attr::default() };
        let events: Events = [(attr, vec![])].into_iter().collect();
        Reader::from_records(events, Endianness::Little, &self.0)
    }

    fn session(self) -> Session {
        let reader = self.reader();
        let mut session = Session::new();
        for record in reader.records() {
            session.update(&record.unwrap()).unwrap();
        }
        session
    }
}

/// Appends a text with a NUL, padded to a multiple of 8.
fn text(bytes: testdata::Bytes, text: &str) -> testdata::Bytes {
    bytes.padded(text.as_bytes(), (text.len() + 1).next_multiple_of(8))
}

/// The frame of an address of a process, or of the kernel for the process 0.
fn frame(session: &Session, pid: i32, ip: u64) -> Frame<'_> {
    let (mode, maps) = match pid {
        0 => (CpuMode::KERNEL, session.kernel_maps()),
        _ => (CpuMode::USER, session.maps(session.thread(pid).unwrap()).unwrap()),
    };
    Frame { ip, mode, mapping: maps.find(ip) }
}

/// The functions at an address as `NAME+OFFSET SOURCE`.
fn names(symbolizer: &mut Symbolizer, session: &Session, pid: i32, ip: u64) -> Vec<String> {
    symbolizer.functions(session, &frame(session, pid, ip), false, None).iter().map(shown).collect()
}

fn shown(function: &Function) -> String {
    let name = function.name.as_deref().unwrap_or(b"?").escape_ascii();
    let source = function.source.map_or("none", |source| source.name());
    format!("{name}+{:#x} {source}", function.offset.unwrap_or(u64::MAX))
}
