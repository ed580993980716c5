//! An ELF file in memory.

use std::sync::{Arc, Mutex};

use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, NoteIterator, ProgramHeader, SectionHeader};
use object::{Endianness, SectionIndex};
use perf_session::{BuildId, Segment};

use crate::bytes::FileBytes;
use crate::cancellation::Cancellation;
use crate::decompress;
use crate::decompressed::Decompressed;
use crate::front::Front;
use crate::no_symbols::NoSymbols;
use crate::reservation::Reservation;

/// An ELF file in memory: its headers, and access to its sections.
///
/// Nothing but the headers is read when it is made.
#[derive(Clone, Debug)]
pub struct ElfImage {
    bytes: FileBytes,
    is_little_endian: bool,
    is_64: bool,
    machine: u16,
    kind: u16,
    entry: u64,
    build_id: Option<BuildId>,
    go_build_id: Option<FileBytes>,
    headers: Vec<ProgramSegment>,
    segments: Vec<Segment>,
    eh_frame_header: Option<(u64, u64, u64)>,
    arm_exidx: Option<(u64, u64, u64)>,
    sections: Vec<ElfSection>,
    decompressed: Decompressed,
    /// The part of the file in the memory of a symbolizer.
    _reservation: Option<Arc<Reservation>>,
}

/// A program header of type `PT_LOAD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramSegment {
    /// Offset in the file: `p_offset`.
    pub offset: u64,
    /// Address: `p_vaddr`.
    pub address: u64,
    /// Number of bytes in the file: `p_filesz`.
    pub file_size: u64,
    /// Number of bytes in memory: `p_memsz`.
    pub memory_size: u64,
    /// Bits of `PF_R`, `PF_W` and `PF_X`: `p_flags`.
    pub flags: u32,
}

/// A section header of an [`ElfImage`].
#[derive(Clone, Debug)]
pub struct ElfSection {
    name: FileBytes,
    /// Type, such as `SHT_PROGBITS`: `sh_type`.
    pub kind: u32,
    /// Bits such as `SHF_ALLOC`: `sh_flags`.
    pub flags: u64,
    /// Address: `sh_addr`.
    pub address: u64,
    /// Offset in the file: `sh_offset`.
    pub offset: u64,
    /// Number of bytes: `sh_size`. As they are in the file, so compressed if the section is.
    pub size: u64,
    /// Index of a related section: `sh_link`.
    pub link: u32,
    /// Further information, for relocations the index of the section that they change: `sh_info`.
    pub info: u32,
    /// Number of bytes of an entry, 0 for sections without entries: `sh_entsize`.
    pub entry_size: u64,
}

impl ElfSection {
    /// Returns the name, such as `.text`. At most 255 bytes of it.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// Returns whether the section has bytes in the file: not `.bss`, nor what a debug file has left out.
    #[must_use]
    pub fn has_bytes(&self) -> bool {
        self.kind != elf::SHT_NOBITS.0 && self.kind != elf::SHT_NULL.0
    }
}

impl ElfImage {
    /// Reads the headers of an ELF file.
    ///
    /// Section headers that are damaged count as none: the kernel loads a file without them.
    ///
    /// # Errors
    ///
    /// [`NoSymbols::Malformed`] if the file is not ELF, or if its program headers are not in it.
    pub fn parse(bytes: FileBytes) -> Result<Self, NoSymbols> {
        match bytes.get(4) {
            Some(&1) => Self::parse_as::<FileHeader32<Endianness>>(bytes),
            Some(&2) => Self::parse_as::<FileHeader64<Endianness>>(bytes),
            _ => Err(NoSymbols::Malformed("ELF header")),
        }
    }

    fn parse_as<Elf: FileHeader<Endian = Endianness>>(bytes: FileBytes) -> Result<Self, NoSymbols> {
        let data = &*bytes;
        let header = Elf::parse(data).map_err(|_| NoSymbols::Malformed("ELF header"))?;
        let endian = header.endian().map_err(|_| NoSymbols::Malformed("ELF header"))?;
        let programs =
            header.program_headers(endian, data).map_err(|_| NoSymbols::Malformed("program headers"))?;
        let headers: Vec<_> = programs
            .iter()
            .filter(|program| program.p_type(endian) == elf::PT_LOAD)
            .map(|program| ProgramSegment {
                offset: program.p_offset(endian).into(),
                address: program.p_vaddr(endian).into(),
                file_size: program.p_filesz(endian).into(),
                memory_size: program.p_memsz(endian).into(),
                flags: program.p_flags(endian).0,
            })
            .collect();
        let segments = headers
            .iter()
            .map(|header| Segment {
                offset: header.offset,
                address: header.address,
                size: header.file_size,
                is_executable: header.flags & elf::PF_X.0 != 0,
            })
            .collect();
        let place_of = |kind| {
            let program = programs.iter().find(|program| program.p_type(endian) == kind);
            program
                .map(|it| (it.p_offset(endian).into(), it.p_vaddr(endian).into(), it.p_filesz(endian).into()))
        };
        let (eh_frame_header, arm_exidx) = (place_of(elf::PT_GNU_EH_FRAME), place_of(elf::PT_ARM_EXIDX));
        // Headers may share their bytes, so that each note would be read once for each header.
        let mut unread = (data.len() as u64).saturating_mul(2);
        let mut may_read = |size: u64| {
            let rest = unread.checked_sub(size);
            unread = rest.unwrap_or(unread);
            rest.is_some()
        };
        let mut ids = BuildIdNotes::default();
        for program in programs.iter().filter(|program| program.p_type(endian) == elf::PT_NOTE) {
            if ids.gnu.is_none() && may_read(program.p_filesz(endian).into()) {
                ids.read(program.notes(endian, data).ok().flatten(), endian);
            }
        }
        let mut sections = Vec::new();
        if let Ok(table) = header.sections(endian, data) {
            for section in table.iter().filter(|section| section.sh_type(endian) == elf::SHT_NOTE) {
                if ids.gnu.is_none() && may_read(section.sh_size(endian).into()) {
                    ids.read(section.notes(endian, data).ok().flatten(), endian);
                }
            }
            let strings = header.shstrndx(endian, data).ok().and_then(|index| {
                table.section(SectionIndex(usize::try_from(index).ok()?)).ok()?.data(endian, data).ok()
            });
            let strings = strings.unwrap_or_default();
            sections.extend(table.iter().map(|section| ElfSection {
                name: name_of(&bytes, strings, section.sh_name(endian)),
                kind: section.sh_type(endian).0,
                flags: section.sh_flags(endian).0,
                address: section.sh_addr(endian).into(),
                offset: section.sh_offset(endian).into(),
                size: section.sh_size(endian).into(),
                link: section.sh_link(endian),
                info: section.sh_info(endian),
                entry_size: section.sh_entsize(endian).into(),
            }));
        }
        Ok(Self {
            is_little_endian: header.is_little_endian(),
            is_64: header.is_class_64(),
            machine: header.e_machine(endian).0,
            kind: header.e_type(endian).0,
            entry: header.e_entry(endian).into(),
            build_id: ids.gnu,
            go_build_id: ids.go.filter(|_| ids.gnu.is_none()).and_then(|id| part_of(&bytes, id)),
            headers,
            segments,
            eh_frame_header,
            arm_exidx,
            sections,
            decompressed: Decompressed::default(),
            _reservation: None,
            bytes,
        })
    }

    /// Keeps the reservation of the memory that the file takes as long as the file.
    pub(crate) fn reserved(self, reservation: Reservation) -> Self {
        Self { _reservation: Some(Arc::new(reservation)), ..self }
    }

    /// Returns the bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> &FileBytes {
        &self.bytes
    }

    /// Returns the build id; `None` if the file has none.
    #[must_use]
    pub fn build_id(&self) -> Option<BuildId> {
        self.build_id
    }

    /// Returns the build id of Go's linker, a text such as `go tool buildid` prints. `None` if the file has none, and for a file
    /// that has a [`build_id`](Self::build_id): linkers of Go 1.24 and later make that one of this. It has up to 255 visible
    /// characters of ASCII.
    ///
    /// No capture has it, because neither the kernel nor perf reads it. So it cannot prove that a file is the one that was
    /// mapped. It tells two files apart: a debug file with another one is not used.
    ///
    /// Go: `elfgobuildid`, `cmd/link/internal/ld/elf.go`.
    #[must_use]
    pub fn go_build_id(&self) -> Option<&str> {
        self.go_build_id.as_deref().and_then(|id| std::str::from_utf8(id).ok())
    }

    /// Returns whether the file is of a little-endian machine.
    #[must_use]
    pub fn is_little_endian(&self) -> bool {
        self.is_little_endian
    }

    /// Returns whether the file is of a 64-bit machine.
    #[must_use]
    pub fn is_64(&self) -> bool {
        self.is_64
    }

    /// Returns the machine, such as `EM_X86_64` (62): `e_machine`.
    #[must_use]
    pub fn machine(&self) -> u16 {
        self.machine
    }

    /// Returns the type, such as `ET_DYN` (3): `e_type`.
    #[must_use]
    pub fn kind(&self) -> u16 {
        self.kind
    }

    /// Returns whether the file is relocatable, such as a module of the kernel: its sections have no addresses yet.
    pub(crate) fn is_relocatable(&self) -> bool {
        self.kind == elf::ET_REL.0
    }

    /// Returns the address at which the program starts: `e_entry`. 0 if there is none.
    pub(crate) fn entry(&self) -> u64 {
        self.entry
    }

    /// Returns the program headers of type `PT_LOAD`, in the order of the file.
    #[must_use]
    pub fn headers(&self) -> &[ProgramSegment] {
        &self.headers
    }

    /// Returns the segments as [`address_of`](perf_session::address_of) takes them.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns the place of `.eh_frame_hdr`: its offset in the file, its address and its size in bytes. `None` if the file
    /// has none.
    pub(crate) fn eh_frame_header(&self) -> Option<(u64, u64, u64)> {
        let section = || self.section(".eh_frame_hdr").map(|it| (it.offset, it.address, it.size));
        self.eh_frame_header.or_else(section)
    }

    /// Returns the place of `.ARM.exidx`, as that of [`eh_frame_header`](Self::eh_frame_header).
    pub(crate) fn arm_exidx(&self) -> Option<(u64, u64, u64)> {
        let section = || self.section(".ARM.exidx").map(|it| (it.offset, it.address, it.size));
        self.arm_exidx.or_else(section)
    }

    /// Returns the section headers, the first one, which is empty, included. Empty if the file has none.
    #[must_use]
    pub fn sections(&self) -> &[ElfSection] {
        &self.sections
    }

    /// Returns the first section of a name.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<&ElfSection> {
        self.sections.iter().find(|section| section.name() == name.as_bytes())
    }

    /// Returns the bytes of a section as they are in the file; empty if it has none there.
    #[must_use]
    pub fn raw_data(&self, section: &ElfSection) -> FileBytes {
        if !section.has_bytes() {
            return FileBytes::default();
        }
        let end = section.offset.saturating_add(section.size);
        self.bytes.slice(section.offset..end).unwrap_or_default()
    }

    /// Returns the contents of a section, decompressed if it is compressed: `SHF_COMPRESSED`, or a name such as
    /// `.zdebug_info` in older files. Empty if the section is not in the file.
    ///
    /// A section that is decompressed and still in use, also by a clone or on another thread, is shared.
    ///
    /// # Errors
    ///
    /// [`NoSymbols::TooLarge`] if it is larger than `limit` when decompressed, [`NoSymbols::Malformed`] if it cannot be
    /// decompressed.
    pub fn data(&self, section: &ElfSection, limit: u64) -> Result<FileBytes, NoSymbols> {
        self.data_within(section, limit, &Cancellation::default())
    }

    /// Like [`data`](Self::data), until it is cancelled: [`NoSymbols::Cancelled`].
    pub(crate) fn data_within(
        &self,
        section: &ElfSection,
        limit: u64,
        cancellation: &Cancellation,
    ) -> Result<FileBytes, NoSymbols> {
        let raw = self.raw_data(section);
        let is_compressed = section.flags & elf::SHF_COMPRESSED.0 != 0;
        if !is_compressed && !section.name.starts_with(b".zdebug") {
            return Ok(raw);
        }
        self.decompressed.get((section.offset, section.size, !is_compressed), limit, cancellation, || {
            if is_compressed {
                decompress::section(&raw, (self.is_64, self.is_little_endian), limit, cancellation)
            } else {
                decompress::old_section(&raw, limit, cancellation)
            }
        })
    }

    /// Returns a section that is compressed by zlib, to be decompressed from its front on. `None` for other sections, for one
    /// that claims more than `limit` bytes, and for one that is decompressed already and still in use.
    pub(crate) fn front(&self, section: &ElfSection, limit: u64) -> Option<Arc<Mutex<Front>>> {
        let (stream, size) = self.zlib_stream(section, limit)?;
        self.decompressed.front((section.offset, section.size, false), || Front::new(stream, size))
    }

    /// Returns the number of bytes that a section claims to have that is compressed by zlib. `None` for other sections, and
    /// for one that claims more than `limit` bytes.
    pub(crate) fn claimed_size(&self, section: &ElfSection, limit: u64) -> Option<u64> {
        self.zlib_stream(section, limit).map(|(_, size)| size)
    }

    /// Returns the stream of a section that is compressed by zlib, and the number of bytes that it claims to have.
    fn zlib_stream(&self, section: &ElfSection, limit: u64) -> Option<(FileBytes, u64)> {
        if section.flags & elf::SHF_COMPRESSED.0 == 0 {
            return None;
        }
        let raw = self.raw_data(section);
        let (stream, size) = decompress::zlib_stream(&raw, self.is_64, self.is_little_endian, limit)?;
        Some((raw.slice(stream)?, size))
    }

    /// Returns a number of this file's byte order.
    pub(crate) fn u16(&self, bytes: [u8; 2]) -> u16 {
        if self.is_little_endian { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) }
    }

    /// Returns a number of this file's byte order.
    pub(crate) fn u32(&self, bytes: [u8; 4]) -> u32 {
        if self.is_little_endian { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) }
    }

    /// Returns a number of this file's byte order.
    pub(crate) fn u64(&self, bytes: [u8; 8]) -> u64 {
        if self.is_little_endian { u64::from_le_bytes(bytes) } else { u64::from_be_bytes(bytes) }
    }

    /// Returns a number of this file's byte order, of 2, 4 or 8 bytes; `None` where `at` has too few.
    pub(crate) fn number(&self, data: &[u8], at: u64, size: usize) -> Option<u64> {
        let start = usize::try_from(at).ok()?;
        let bytes = data.get(start..start.checked_add(size)?)?;
        let fold = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        Some(if self.is_little_endian {
            bytes.iter().rev().fold(0, fold)
        } else {
            bytes.iter().fold(0, fold)
        })
    }
}

/// Shares the name that starts at `at` in the section names, which are a part of `bytes`. A long one is cut, because any
/// number of sections may share its bytes: no name that is looked for is as long.
fn name_of(bytes: &FileBytes, strings: &[u8], at: u32) -> FileBytes {
    const LONGEST: usize = 255;
    let rest = usize::try_from(at).ok().and_then(|at| strings.get(at..)).unwrap_or_default();
    let rest = rest.get(..LONGEST).unwrap_or(rest);
    let len = rest.iter().position(|&byte| byte == 0).unwrap_or(rest.len());
    rest.get(..len).and_then(|name| part_of(bytes, name)).unwrap_or_default()
}

/// Shares a part of `bytes`.
fn part_of(bytes: &FileBytes, part: &[u8]) -> Option<FileBytes> {
    let at = (part.as_ptr() as usize).wrapping_sub(bytes.as_ptr() as usize) as u64;
    bytes.slice(at..at.saturating_add(part.len() as u64))
}

/// Number of bytes of the longest build id of Go's linker that is read. Most have 83.
const LONGEST_GO_BUILD_ID: usize = 255;

/// The first build id of each kind in the notes that were read. None is empty.
#[derive(Default)]
struct BuildIdNotes<'a> {
    gnu: Option<BuildId>,
    go: Option<&'a [u8]>,
}

impl<'a> BuildIdNotes<'a> {
    /// Reads notes up to the first build id of GNU's kind.
    fn read<Elf: FileHeader<Endian = Endianness>>(
        &mut self,
        notes: Option<NoteIterator<'a, Elf>>,
        endian: Endianness,
    ) {
        let Some(mut notes) = notes else { return };
        while let Ok(Some(note)) = notes.next() {
            let desc = note.desc();
            match (note.name(), note.n_type(endian)) {
                _ if desc.is_empty() => {}
                (elf::ELF_NOTE_GNU, elf::NT_GNU_BUILD_ID) => {
                    self.gnu = Some(BuildId::new(desc));
                    return;
                }
                (elf::ELF_NOTE_GO, elf::NT_GO_BUILD_ID) => {
                    let is_text = desc.len() <= LONGEST_GO_BUILD_ID && desc.iter().all(u8::is_ascii_graphic);
                    self.go = self.go.or(Some(desc).filter(|_| is_text));
                }
                _ => {}
            }
        }
    }
}
