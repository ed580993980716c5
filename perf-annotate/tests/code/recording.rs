//! Captures and files in memory.

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use perf_abi::attr::Attr;
use perf_abi::event::{EventType, SwId};
use perf_abi::sample_type::SampleType;
use perf_annotate::{AnnotateOptions, Annotator};
use perf_parse::Reader;
use perf_profile::{Samples, Symbols};
use perf_symbol::{FileBytes, Files, SymbolOptions};
use testdata::Bytes;

pub(crate) const KERNEL: u16 = 1;
pub(crate) const USER: u16 = 2;
const BUILD_ID: u16 = 1 << 14;
/// The build id of the program, and of the kernel.
pub(crate) const ID: [u8; 20] = [0xab; 20];

/// Files in memory.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) files: HashMap<PathBuf, Vec<u8>>,
    pub(crate) vdso: Option<Vec<u8>>,
}

impl Memory {
    pub(crate) fn with(mut self, path: &str, data: impl Into<Vec<u8>>) -> Self {
        self.files.insert(path.into(), data.into());
        self
    }
}

impl Files for Memory {
    fn read(&self, path: &Path, _: u64) -> io::Result<FileBytes> {
        Ok(FileBytes::new(self.files.get(path).ok_or(io::ErrorKind::NotFound)?.clone()))
    }

    fn read_kernel(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        self.read(path, limit)
    }

    fn read_range(&self, path: &Path, range: Range<u64>) -> io::Result<FileBytes> {
        let bytes = self.read(path, u64::MAX)?;
        let size = bytes.len() as u64;
        Ok(bytes.slice(range.start.min(size)..range.end.min(size)).unwrap())
    }

    fn vdso(&self) -> io::Result<FileBytes> {
        self.vdso.clone().map(FileBytes::new).ok_or(io::ErrorKind::NotFound.into())
    }
}

/// A capture of one event, record by record.
pub(crate) struct Recording {
    builder: testdata::file::Builder,
    pub(crate) options: SymbolOptions,
}

fn bytes() -> Bytes {
    Bytes::new(false)
}

/// Appends a text with a NUL, padded to a multiple of 8.
fn text(bytes: Bytes, text: &str) -> Bytes {
    bytes.padded(text.as_bytes(), (text.len() + 1).next_multiple_of(8))
}

impl Recording {
    pub(crate) fn new() -> Self {
        let attr = Attr {
            kind: EventType::SOFTWARE,
            config: SwId::CPU_CLOCK.0,
            sample_type: SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::PERIOD,
            flags: perf_abi::attr::AttrFlags::SAMPLE_ID_ALL | perf_abi::attr::AttrFlags::USE_CLOCKID,
            clockid: 1,
            ..Attr::default()
        };
        let mut options = SymbolOptions::default();
        options.cache = Some("/cache".into());
        let arch = bytes().u32(8).padded(b"x86_64", 8);
        let builder = testdata::file::Builder::new(false).event(attr, &[]).feature(6, arch.out);
        Self { builder, options }
    }

    fn record(mut self, kind: u32, misc: u16, payload: Bytes, time: u64) -> Self {
        // The trailer of records that are not samples has process, thread and time.
        let payload = if kind < 64 && kind != 9 { payload.i32(5).i32(5).u64(time) } else { payload };
        self.builder = self.builder.data(payload.record(kind, misc));
        self
    }

    /// An executable mapping of process 5, from the start of a file on, with [`ID`] or without a build id.
    pub(crate) fn map(self, start: u64, size: u64, has_id: bool, name: &str) -> Self {
        let fixed = bytes().i32(5).i32(5).u64s(&[start, size, 0]);
        let (fixed, misc) =
            if has_id { (fixed.u8(20).zeros(3).padded(&ID, 20), BUILD_ID) } else { (fixed.zeros(24), 0) };
        self.record(10, USER | misc, text(fixed.u32(5).u32(2), name), 1)
    }

    /// The mapping of the kernel or a module.
    pub(crate) fn kernel(self, start: u64, size: u64, pgoff: u64, name: &str) -> Self {
        self.record(1, KERNEL, text(bytes().i32(-1).i32(0).u64s(&[start, size, pgoff]), name), 0)
    }

    /// The build id of the kernel, which is [`ID`].
    pub(crate) fn kernel_id(self) -> Self {
        let id = text(bytes().i32(-1).raw(&ID).zeros(4), "[kernel.kallsyms]");
        self.record(67, KERNEL, id, 0)
    }

    pub(crate) fn ksymbol(self, address: u64, size: u32, kind: u16, name: &str) -> Self {
        self.record(17, 0, text(bytes().u64(address).u32(size).u16(kind).u16(0), name), 1)
    }

    pub(crate) fn text_poke(self, time: u64, address: u64, old: &[u8], new: &[u8]) -> Self {
        let lengths = bytes().u64(address).u16(old.len() as u16).u16(new.len() as u16);
        let used = 4 + old.len() + new.len();
        self.record(20, 0, lengths.raw(old).raw(new).zeros(used.next_multiple_of(8) - used), time)
    }

    pub(crate) fn sample(self, mode: u16, ip: u64, time: u64) -> Self {
        let sample = bytes().u64(ip).i32(5).i32(5).u64(time).u64(100);
        self.record(9, mode, sample, time)
    }

    pub(crate) fn feature(mut self, number: u32, section: Vec<u8>) -> Self {
        self.builder = self.builder.feature(number, section);
        self
    }

    /// Counts the samples, with the symbols of these files.
    pub(crate) fn annotator(&self, files: Memory) -> Annotator {
        self.annotator_with(files, AnnotateOptions::default())
    }

    pub(crate) fn annotator_with(&self, files: Memory, options: AnnotateOptions) -> Annotator {
        let built = self.builder.build();
        let reader = Reader::new(&built.bytes).unwrap();
        let symbols = Symbols::with_files(reader.features(), self.options.clone(), Arc::new(files));
        let annotator = Annotator::of(Samples::of(&reader), &symbols, options, &mut ()).unwrap();
        assert!(annotator.account().is_clean(), "{:?}", annotator.account());
        annotator
    }
}
