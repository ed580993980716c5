//! Generated code as files that any tool can read, and the records that map them.

mod address_set;
mod error;
mod image;
mod line_tables;
mod loads;
mod unwind_tables;

use core::ops::Range;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use hashbrown::{HashMap, HashSet};
use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::record::{CpuMode, Misc, RecordType};
use perf_abi::sample_type::SampleType;
use perf_parse::event::{Events, RecordPosition};
use perf_parse::record::{FileId, Mmap2};
use perf_parse::rewrite::{AddedRecord, Edit, EditedRecord};
use perf_parse::sample::Reading;
use perf_parse::write::{RecordEncoder, SampleIdFields};
use perf_parse::{EventRecord, Reader, Record};
use perf_session::{Dso, DsoKind, Mapping, Session};
use perf_symbol::jitdump::JitdumpHeader;
use perf_symbol::{FileBytes, FileFinder, NoSymbols, PerfMap, SymbolLimits, elf_machine};

use super::reencode::reencoded;
use crate::origin::machine_of;
use crate::symbols::Symbols;
use address_set::AddressSet;
pub use error::GeneratedCodeError;
pub use image::CodeImage;
use image::ImageBuilder;
use loads::LoadedCode;

/// The code that programs generated while they were recorded, as ELF files beside the capture: what `perf inject --jit` makes of
/// jitdumps, and the same of perf maps. Tools that know neither then find the names of its functions.
///
/// A jitdump becomes one file with all its functions: names, code, lines and unwind tables. For each load and move of code the
/// capture gets an MMAP2 record at its time, so that code that replaced other code at the same addresses has its own name. The
/// mappings of memory that later covered such code, as a compiler makes them when it protects it again, are left out. That
/// needs samples on the clock of the jitdump: `perf record -k mono`.
///
/// A perf map becomes one file with all its names, and the records of the memory in which they are become those of that file.
/// It has no times: its names are those of the end of the process.
///
/// perf: `jit_process`, `tools/perf/util/jitdump.c`.
///
/// # Examples
///
/// What `perfdata edit --jit -o named.data` does:
///
/// ```
/// use std::fs;
/// use std::io::Cursor;
///
/// use perf_parse::Reader;
/// use perf_parse::rewrite::Edit;
/// use perf_profile::Symbols;
/// use perf_profile::edit::GeneratedCode;
///
/// # let path = "examples/captures/plain.data";
/// # let scratch = std::env::temp_dir();
/// let reader = Reader::open(path)?;
/// let folder = scratch.join("named.data.files");
/// let code = GeneratedCode::of(&reader, &Symbols::of(&reader), &folder, |image| {
///     fs::create_dir_all(&folder)?;
///     fs::write(folder.join(image.name()), image.bytes())
/// })?;
/// println!("{} functions", code.functions());
/// let edited = code.add_to(Edit::new()).write_file(&reader, Cursor::new(Vec::new()), |_| {})?;
/// # assert!(edited.written > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct GeneratedCode {
    added: Vec<AddedRecord>,
    /// Mappings of memory that are those of a file now; without bytes, those that are left out.
    changed: HashMap<RecordPosition, Option<Vec<u8>>>,
    functions: u64,
    images: u64,
    left_out: Vec<(String, GeneratedCodeError)>,
}

/// The records that change what is mapped.
const MAPPINGS: &[RecordType] =
    &[RecordType::MMAP, RecordType::MMAP2, RecordType::COMM, RecordType::FORK, RecordType::EXIT];

impl GeneratedCode {
    /// Finds the jitdumps and perf maps of a capture, has `write` write the file of each, and makes the records for a capture beside
    /// which they are in `folder`, which should be an absolute path. A file that cannot be read is left out: see
    /// [`left_out`](Self::left_out).
    ///
    /// Walks over the records of mappings. Takes the memory of the largest jitdump three times, and some 150 bytes for each
    /// function.
    ///
    /// # Errors
    ///
    /// The error of `write`.
    pub fn of(
        reader: &Reader<'_>,
        symbols: &Symbols,
        folder: &Path,
        write: impl FnMut(&CodeImage) -> io::Result<()>,
    ) -> io::Result<Self> {
        let mut records = reader.records().only(MAPPINGS).in_time_order();
        let machine = elf_machine(&machine_of(records.features()));
        let mut walk = CodeWalk {
            reader,
            finder: symbols.finder(),
            limits: symbols.finder().options().limits,
            machine,
            folder,
            write,
            names: BTreeSet::new(),
            written: BTreeMap::new(),
            read: 0,
            of_dump: HashMap::new(),
            of_map: HashMap::new(),
            dumps: HashSet::new(),
            code: Self::default(),
        };
        let mut session = Session::new();
        while let Some(record) = records.next() {
            // The walk of the edit reports faults.
            let Ok(record) = record else { continue };
            let is_user = record.misc().cpumode() == CpuMode::USER;
            if session.update(&record).is_err() || !is_user {
                continue;
            }
            if matches!(record.kind(), RecordType::MMAP | RecordType::MMAP2) {
                walk.mapped(&session, &record, records.events())?;
            }
        }
        Ok(walk.code)
    }

    /// Adds the records to an edit, whose filter of side-band it sets.
    pub fn add_to(self, edit: Edit<'_>) -> Edit<'_> {
        let mut changed = self.changed;
        let edit = edit.side_band(move |record| match changed.remove(&record.position()) {
            None => EditedRecord::Kept,
            Some(None) => EditedRecord::LeftOut,
            Some(Some(bytes)) => EditedRecord::Replaced(bytes),
        });
        edit.insert(self.added)
    }

    /// Returns the number of functions in all files.
    #[must_use]
    pub fn functions(&self) -> u64 {
        self.functions
    }

    /// Returns the number of files that were written.
    #[must_use]
    pub fn images(&self) -> u64 {
        self.images
    }

    /// Returns the jitdumps and perf maps that were left out, by their recorded paths, and why. A perf map that does not exist is no
    /// fault, as most executable memory has none.
    pub fn left_out(&self) -> impl Iterator<Item = (&str, &GeneratedCodeError)> {
        self.left_out.iter().map(|(path, why)| (&**path, why))
    }
}

/// A walk over the mappings of a capture.
struct CodeWalk<'r, 's, W> {
    reader: &'r Reader<'s>,
    finder: &'r FileFinder,
    limits: SymbolLimits,
    machine: u16,
    folder: &'r Path,
    write: W,
    /// The names of the files that were written.
    names: BTreeSet<String>,
    /// What records have of them.
    written: BTreeMap<[u8; 20], ImagePath>,
    /// Number of bytes of all jitdumps and perf maps.
    read: u64,
    /// The jitdumps that were read, each of the process that mapped it first.
    dumps: HashSet<Vec<u8>>,
    /// By process.
    of_dump: HashMap<i32, LoadedCode>,
    of_map: HashMap<i32, Option<NamedMemory>>,
    code: GeneratedCode,
}

/// The file of a perf map.
#[derive(Debug)]
struct NamedMemory {
    image: ImagePath,
    /// The addresses that have names.
    named: AddressSet,
}

/// What records have of an image.
#[derive(Clone, Debug)]
struct ImagePath {
    path: Vec<u8>,
    build_id: [u8; 20],
}

/// A mapping that a record makes.
struct NewMapping<'m> {
    record: &'m EventRecord<'m>,
    events: &'m Events,
    pid: i32,
    tid: i32,
    addresses: Range<u64>,
    time: u64,
}

impl<W: FnMut(&CodeImage) -> io::Result<()>> CodeWalk<'_, '_, W> {
    /// Passes a record that maps something, after the session.
    fn mapped(&mut self, session: &Session, record: &EventRecord<'_>, events: &Events) -> io::Result<()> {
        let (pid, tid, addr, len) = match record.decode() {
            Ok(Record::Mmap(it)) => (it.pid, it.tid, it.addr, it.len),
            Ok(Record::Mmap2(it)) => (it.pid, it.tid, it.addr, it.len),
            _ => return Ok(()),
        };
        let addresses = addr..addr.saturating_add(len);
        let maps = session.thread(tid).and_then(|thread| session.maps(thread));
        let Some((maps, mapping)) = maps.and_then(|maps| Some((maps, maps.find(addr)?))) else {
            return Ok(());
        };
        let time = record.time().unwrap_or_default();
        let new = NewMapping { record, events, pid, tid, addresses, time };
        let marker = maps.jitdump().map(Mapping::dso).filter(|dso| {
            let is_own = dso.first_mapping().is_some_and(|first| first.pid == pid);
            is_own && !self.dumps.contains(dso.path())
        });
        if let Some(dso) = marker {
            self.dumps.insert(dso.path().to_vec());
            let loaded = self.dump(dso, &new)?;
            self.of_dump.extend(loaded.map(|loaded| (pid, loaded)));
        }
        if mapping.dso().kind() != DsoKind::Memory || !mapping.is_executable() {
            return Ok(());
        }
        if let Some(loaded) = self.of_dump.get_mut(&pid) {
            if loaded.overlaps(&new.addresses, time) {
                self.code.changed.insert(record.position(), None);
            }
            return Ok(());
        }
        if !self.of_map.contains_key(&pid) {
            let named = self.map(mapping.dso(), pid)?;
            self.of_map.insert(pid, named);
        }
        let memory = self.of_map.get(&pid).and_then(Option::as_ref);
        if let Some(memory) = memory.filter(|memory| memory.named.overlaps(&new.addresses)) {
            let bytes = memory.image.in_place_of(&new);
            self.code.changed.extend(bytes.map(|bytes| (record.position(), Some(bytes))));
        }
        Ok(())
    }

    /// Makes the file of a jitdump, adds the records of its loads, and returns what they load.
    fn dump(&mut self, dso: &Dso, new: &NewMapping<'_>) -> io::Result<Option<LoadedCode>> {
        let (header, bytes) = match self.checked_dump(dso, new.events) {
            Ok(dump) => dump,
            Err(why) => return Ok(self.leave_out(dso.path(), why)),
        };
        let machine = u16::try_from(header.elf_mach).unwrap_or(self.machine);
        let mut image = ImageBuilder::new(header.endianness, machine);
        let mut loads = loads::read(&header, &bytes, &self.limits, &mut image);
        // What was generated before the recording began is there from its first record on.
        loads.iter_mut().for_each(|load| load.time = load.time.max(new.time.saturating_add(1)));
        let functions = image.len() as u64;
        if functions == 0 {
            return Ok(Some(LoadedCode::new(loads)));
        }
        let Some(image) = image.build(self.name("jit", new.pid)) else {
            return Ok(self.leave_out(dso.path(), GeneratedCodeError::TooLarge));
        };
        let image = self.written(&image, functions)?;
        let endianness = self.reader.endianness();
        let added = loads.iter().filter_map(|load| {
            let event = new.events.first()?;
            let id = event.ids.first().copied().unwrap_or_default();
            let (pid, tid) = (new.pid, new.pid);
            let ids = SampleIdFields { pid, tid, time: load.time, id, ..SampleIdFields::default() };
            let record = image.mapping((pid, tid), load.address, load.size, load.offset);
            let mut bytes = Vec::new();
            let misc = Misc(u16::from(CpuMode::USER.0) | Misc::MMAP_BUILD_ID.0);
            let encoder = RecordEncoder::new_in(endianness, &event.layout);
            encoder.record(&mut bytes, misc, &Record::Mmap2(record), &ids).ok()?;
            Some(AddedRecord { time: load.time, event: 0, bytes })
        });
        self.code.added.extend(added);
        Ok(Some(LoadedCode::new(loads)))
    }

    /// Reads a jitdump whose times are those of the capture.
    fn checked_dump(
        &mut self,
        dso: &Dso,
        events: &Events,
    ) -> Result<(JitdumpHeader, FileBytes), GeneratedCodeError> {
        let bytes = self.counted(self.finder.jitdump(dso))?;
        let header = JitdumpHeader::parse(&bytes)
            .map_err(|_| GeneratedCodeError::File(NoSymbols::Malformed("header of the jitdump")))?;
        if header.has_arch_times() {
            return Err(GeneratedCodeError::DumpClock);
        }
        let has_its_times = |attr: &Attr| {
            attr.has_monotonic_times()
                && attr.flags.contains(AttrFlags::SAMPLE_ID_ALL)
                && attr.sample_type.contains(SampleType::TIME)
        };
        if !events.iter().all(|event| has_its_times(&event.attr)) {
            return Err(GeneratedCodeError::CaptureClock);
        }
        Ok((header, bytes))
    }

    /// Makes the file of a perf map; `None` without one.
    fn map(&mut self, dso: &Dso, pid: i32) -> io::Result<Option<NamedMemory>> {
        let text = match self.counted(self.finder.perf_map(dso)) {
            Ok(text) => text,
            Err(GeneratedCodeError::File(NoSymbols::NotFound)) => return Ok(None),
            Err(why) => return Ok(self.leave_out(dso.name(), why)),
        };
        let map = PerfMap::parse(text, &self.limits);
        let mut image = ImageBuilder::new(self.reader.endianness(), self.machine);
        let mut named = AddressSet::default();
        for symbol in map.visible() {
            image.function_at(symbol.name, symbol.start, symbol.end.saturating_sub(symbol.start));
            named.insert(symbol.start..symbol.end);
        }
        let functions = image.len() as u64;
        if functions == 0 {
            return Ok(None);
        }
        let Some(image) = image.build(self.name("perf", pid)) else {
            return Ok(self.leave_out(dso.name(), GeneratedCodeError::TooLarge));
        };
        Ok(Some(NamedMemory { image: self.written(&image, functions)?, named }))
    }

    /// Returns a name that no other file has.
    fn name(&mut self, kind: &str, pid: i32) -> String {
        let mut name = format!("{kind}-{pid}.so");
        let mut number = 1u64;
        while !self.names.insert(name.clone()) {
            number = number.saturating_add(1);
            name = format!("{kind}-{pid}-{number}.so");
        }
        name
    }

    /// Notes a file that is left out. There is nothing in its place.
    fn leave_out<T>(&mut self, path: &[u8], why: GeneratedCodeError) -> Option<T> {
        self.code.left_out.push((String::from_utf8_lossy(path).into_owned(), why));
        None
    }

    /// Returns the bytes of a file, unless all together are more than one file may have: a capture can name one by many paths.
    fn counted(&mut self, read: Result<FileBytes, NoSymbols>) -> Result<FileBytes, GeneratedCodeError> {
        let bytes = read.map_err(GeneratedCodeError::File)?;
        self.read = self.read.saturating_add(bytes.len() as u64);
        if self.read <= self.limits.file { Ok(bytes) } else { Err(GeneratedCodeError::TooMuch) }
    }

    /// Writes a file, unless one has this content already.
    fn written(&mut self, image: &CodeImage, functions: u64) -> io::Result<ImagePath> {
        if let Some(written) = self.written.get(&image.build_id) {
            return Ok(written.clone());
        }
        (self.write)(image)?;
        self.code.images = self.code.images.saturating_add(1);
        self.code.functions = self.code.functions.saturating_add(functions);
        let path = self.folder.join(image.name()).into_os_string().into_encoded_bytes();
        let written = ImagePath { path, build_id: image.build_id };
        self.written.insert(image.build_id, written.clone());
        Ok(written)
    }
}

impl ImagePath {
    /// Returns a record that maps a part of the file.
    fn mapping(&self, (pid, tid): (i32, i32), addr: u64, len: u64, pgoff: u64) -> Mmap2<'_> {
        let id = FileId::BuildId { size: 20, bytes: self.build_id };
        // PROT_READ | PROT_EXEC, MAP_PRIVATE.
        let prot_flags = Some((5, 2));
        let filename = self.path.as_slice();
        Mmap2 { pid, tid, addr, len, pgoff, id, prot_flags, reading: Reading::Certain, filename }
    }

    /// Returns the record of a mapping of memory as one of this file, whose offsets are addresses.
    fn in_place_of(&self, new: &NewMapping<'_>) -> Option<Vec<u8>> {
        let (addr, end) = (new.addresses.start, new.addresses.end);
        let mapping = self.mapping((new.pid, new.tid), addr, end.checked_sub(addr)?, addr);
        let layout = &new.record.event()?.layout;
        let misc = Misc(new.record.misc().0 | Misc::MMAP_BUILD_ID.0);
        reencoded(&new.record.raw(), layout, misc, &Record::Mmap2(mapping))
    }
}
